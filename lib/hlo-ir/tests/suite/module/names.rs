//! Tests of unique and valid names.

use hlo_ir::names::sanitized;
use hlo_ir::{ComputationId, Module};

/// Returns the new names of computations that have these names, in order.
fn names(given: &[&str]) -> Vec<String> {
    let mut module = Module::new("m");
    let computations: Vec<ComputationId> = given.iter().map(|_| module.add_computation("c")).collect();
    for (&c, &name) in computations.iter().zip(given) {
        // The names that `add_computation` gives are valid in the text already.
        module[c].name = name.into();
    }
    module.make_names_unique();
    computations.iter().map(|&c| module[c].name.to_string()).collect()
}

#[test]
fn a_name_that_is_taken_gets_the_next_free_number() {
    assert_eq!(names(&["p", "p", "p.2", "p.1", "p"]), ["p", "p.1", "p.2", "p.3", "p.4"]);
    assert_eq!(names(&["p.0", "p", "p.0"]), ["p.0", "p.1", "p.2"]);
    // Numbers start at 0, the number of a name without one.
    assert_eq!(names(&["p.1", "p.1", "p.1", "p"]), ["p.1", "p.0", "p.2", "p.3"]);
}

#[test]
fn a_number_is_printed_as_a_number() {
    assert_eq!(names(&["a.007", "a.7", "a.-5", "a.-5", "a.-0"]), ["a.7", "a.0", "a.-5", "a.1", "a.2"]);
}

#[test]
fn what_is_no_number_belongs_to_the_stem() {
    assert_eq!(names(&["a.b", "a.b", "a.", "a.", ".5", ".5"]), ["a.b", "a.b.1", "a.", "a..1", ".5", ".5.1"]);
    assert_eq!(names(&["a.99999999999999999999", "", ""]), ["a.99999999999999999999", "name", "name.1"]);
}

#[test]
fn names_that_the_text_lacks_are_changed_as_xla_does() {
    for (name, wanted) in [
        ("", ""),
        ("x.1", "x.1"),
        ("1", "_"),
        ("-1", "_1"),
        (".5", "_5"),
        ("<lambda>", "_lambda_"),
        ("a b\n\"\0%", "a_b____"),
        ("é", "a_"),
        ("__x", "a_x"),
        ("//x", "a_x"),
        ("__xla_x", "__xla_x"),
        ("s8", "s8_"),
        ("token", "token_"),
        ("tuple", "tuple"),
        ("true", "true"),
    ] {
        assert_eq!(sanitized(name), wanted, "{name:?}");
        assert_eq!(sanitized(wanted), wanted);
    }
}

#[test]
fn the_largest_number_is_no_trap() {
    assert_eq!(names(&["a.9223372036854775807", "a.9223372036854775807"]), ["a.9223372036854775807", "a.0"]);
}
