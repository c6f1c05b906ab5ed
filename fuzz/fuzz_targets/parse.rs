//! Any text is a module that prints and reads back as itself, or is refused with diagnostics that point into it.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Err(finding) = hlo_testing::check::parse(text) {
        panic!("{finding}");
    }
});
