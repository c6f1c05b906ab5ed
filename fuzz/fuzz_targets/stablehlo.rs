//! Fuzzes the parser of StableHLO text. It either accepts a text, and the printed program parses to the same program in each form,
//! or it rejects the text with diagnostics whose spans are inside the text.

#![no_main]

use hlo_stablehlo::text::{self, PrintOptions};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| {
    let tree = match text::parse(input) {
        Ok(tree) => tree,
        Err(diags) => {
            assert!(!diags.is_empty());
            for label in diags.iter().flat_map(|d| &d.labels) {
                assert!(input.get(label.span.range()).is_some(), "{label:?}");
            }
            return;
        }
    };
    for (is_generic, with_locations) in [(false, false), (true, false), (false, true), (true, true)] {
        let options = PrintOptions { is_generic, with_locations };
        let printed = text::print_with(&tree, &options);
        let again = text::parse(&printed).unwrap_or_else(|diags| panic!("{diags:?}\n{printed}"));
        assert_eq!(text::print_with(&again, &options), printed);
    }
});
