//! Checks that the example of each Tile rule breaks this rule and no other.

use hlo_ir::diag::{Diag, Severity};
use hlo_tile::{Tile, rules};

/// Returns the diagnostics of a file for the arguments that it specifies.
fn found(text: &str) -> Vec<Diag> {
    let made = Tile::new("example.tile", text).and_then(|tile| {
        let function = tile.only_function()?.to_owned();
        let arguments = tile.directive(&function).map(|d| d.arguments.clone()).unwrap_or_default();
        Ok([tile.warnings(), tile.specialize(&function, &arguments)?.warnings].concat())
    });
    match made {
        Ok(warnings) => warnings,
        Err(diag) => vec![diag],
    }
}

#[test]
fn each_example_breaks_its_rule_and_no_other() {
    assert!(rules::FAMILY.rules.len() >= 25);
    for rule in rules::FAMILY.rules {
        let example = rule.example.expect("an example");
        let found = found(example);
        let codes: Vec<_> = found.iter().map(|d| d.code).collect();
        assert_eq!(codes, [Some(rule.code)], "{}: {found:#?}", rule.name);
        let severity = if rule.code.as_str().starts_with('E') { Severity::Error } else { Severity::Warning };
        assert_eq!(found[0].severity, severity, "{}", rule.name);
        let place = found[0].labels.iter().find(|l| l.primary).expect("a place").span;
        assert!(!place.is_empty() && place.end as usize <= example.len(), "{}: {place:?}", rule.name);
    }
}
