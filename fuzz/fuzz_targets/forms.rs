//! Fuzzes the readers of all forms of programs. They accept any bytes or reject them with diagnostics. If the module is valid, its
//! printed text must parse to the same module.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let module = match hlo_forms::read(bytes) {
        Ok(program) => program.module,
        Err(diags) => return assert!(!diags.is_empty()),
    };
    if !hlo_ir::verify::verify(&module).is_empty() {
        return;
    }
    if let Err(finding) = hlo_testing::check::reads_back(&module) {
        panic!("{finding}");
    }
});
