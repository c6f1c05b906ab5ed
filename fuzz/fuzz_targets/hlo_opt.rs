//! Fuzzes hlo-opt. The input is a line with a pipeline, then a module. After the passes, the module must be valid, and its printed
//! text must parse to the same module.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| {
    if let Err(finding) = hlo_testing::check::hlo_opt(input) {
        panic!("{finding}");
    }
});
