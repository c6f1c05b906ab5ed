//! Any bytes are a program in one of the forms, or are refused with diagnostics. The text of a valid module that was read, whatever the
//! form, reads back as that module.

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
