//! Checks that docs/builder.md lists each method that XLA's documents name, and that the methods it lists
//! exist in this crate.

use crate::sources::public_methods;
use std::collections::{BTreeMap, BTreeSet};

const DOCUMENT: &str = include_str!("../../../../docs/builder.md");

/// The method names in XLA's documents.
const NAMES: &str = include_str!("../data/xla-names.txt");

/// The entries of the table that are not methods of this crate: the operators of values.
const OPERATORS: &[&str] = &[
    "a + b", "a - b", "a * b", "a / b", "a % b", "a & b", "a \\| b", "a ^ b", "a << b", "a >> b", "-a", "!a",
];

/// Returns the rows of the table: XLA's name and our names.
fn rows() -> BTreeMap<&'static str, Vec<&'static str>> {
    let table = DOCUMENT.split_once("| XLA | here | |\n|---|---|---|\n").expect("the table").1;
    let mut rows = BTreeMap::new();
    for row in table.lines().take_while(|line| line.starts_with('|')) {
        // A bar in a name is escaped as `\|`.
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [xla, here, ..] = cells.as_slice() else { panic!("{row}") };
        let names = here.split("`, `").map(|name| name.trim_matches('`')).collect();
        assert!(rows.insert(xla.trim_matches('`'), names).is_none(), "{xla} is there twice");
    }
    rows
}

#[test]
fn the_table_has_each_name_of_the_documents() {
    let rows = rows();
    let names: Vec<&str> = NAMES.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let unique: BTreeSet<&str> = names.iter().copied().collect();
    assert_eq!(unique.len(), names.len(), "a name is there twice");
    assert!(names.len() > 150, "{}", names.len());
    let missing: Vec<&str> = names.into_iter().filter(|name| !rows.contains_key(name)).collect();
    assert!(missing.is_empty(), "docs/builder.md lacks {missing:?}");
}

#[test]
fn what_the_table_names_is_public() {
    let methods = public_methods();
    for (xla, here) in rows() {
        // A builder has no client.
        let none = here == ["none"];
        assert_eq!(none, xla == "client", "{xla}");
        for name in here.iter().filter(|_| !none) {
            assert!(methods.contains(*name) || OPERATORS.contains(name), "`{xla}`: there is no `{name}`");
        }
    }
}

/// Compiling this function checks that values have the operators.
#[test]
fn values_have_the_operators() {
    let builder = hlo_builder::Builder::new("operators");
    let (a, b) = (builder.constant_r0(6i32), builder.constant_r0(2i32));
    let results = [a + b, a - b, a * b, a / b, a % b, a & b, a | b, a ^ b, a << b, a >> b, -a, !a];
    assert_eq!(results.len(), OPERATORS.len());
    let results =
        results.map(|value| builder.compute_constant(value).expect("a constant").elements::<i32>()[0]);
    assert_eq!(results, [8, 4, 12, 3, 0, 2, 6, 4, 24, 1, -6, -7]);
}
