//! Tests of the table of rules. `hlo_tools_common::rules` tests the entries of all tables.

use hlo_ir::diag::Code;
use hlo_ir::rules::all;

#[test]
fn codes_are_sorted_and_unique() {
    let codes: Vec<Code> = all().map(|r| r.code).collect();
    assert!(codes.is_sorted_by(|a, b| a < b), "{codes:?}");
}
