//! A line with a pipeline, then a module: whatever the passes do leaves a valid module that prints and reads back.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| {
    if let Err(finding) = hlo_testing::check::hlo_opt(input) {
        panic!("{finding}");
    }
});
