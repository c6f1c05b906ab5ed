//! Fuzzes the parser of HLO text. It either accepts a text, and the printed module parses to the same module, or it rejects the text
//! with diagnostics whose spans are inside the text.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Err(finding) = hlo_testing::check::parse(text) {
        panic!("{finding}");
    }
});
