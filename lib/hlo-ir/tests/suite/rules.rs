//! Tests of the table of rules.

use hlo_ir::diag::Code;
use hlo_ir::rules::all;
use std::collections::HashSet;

#[test]
fn codes_are_sorted_and_unique() {
    let codes: Vec<Code> = all().map(|r| r.code).collect();
    assert!(codes.is_sorted_by(|a, b| a < b), "{codes:?}");
}

#[test]
fn names_are_unique_and_entries_complete() {
    let mut names = HashSet::new();
    for r in all() {
        assert!(names.insert(r.name), "{}: {} stands twice", r.code, r.name);
        assert!(
            r.name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'),
            "{}",
            r.name
        );
        for text in [r.rule, r.why, r.fix, r.section] {
            assert!(!text.is_empty() && !text.contains('\n'), "{}: `{text}`", r.code);
        }
    }
}
