//! The ranges of the elements of integer arrays.

use hlo_passes::support::range::{Range, range_of};

/// Returns the range of the root of the entry computation.
fn range(body: &str) -> Option<(i128, i128)> {
    let text = format!("HloModule m\n\nENTRY e {{\n{body}\n}}\n");
    let module = hlo_parser::parse_module(&text).unwrap_or_else(|d| panic!("{}", d[0].message));
    range_of(&module, module[module.entry()].root()).map(|Range { low, high }| (low, high))
}

#[test]
fn follows_operations_and_knows_where_they_wrap() {
    assert_eq!(range("ROOT i = s32[5] iota(), iota_dimension=0"), Some((0, 4)));
    assert_eq!(range("ROOT x = u8[] parameter(0)"), Some((0, 255)));
    assert_eq!(range("ROOT x = f32[] parameter(0)"), None);
    assert_eq!(range("x = u8[] parameter(0)\nROOT y = s32[] convert(x)"), Some((0, 255)));
    assert_eq!(range("x = u8[] parameter(0)\nROOT y = s8[] convert(x)"), Some((-128, 127)));
    let iota = "i = s8[100] iota(), iota_dimension=0\nROOT r = s8[100]";
    assert_eq!(range(&format!("{iota} negate(i)")), Some((-128, 127)));
    assert_eq!(range(&format!("{iota} subtract(i, i)")), Some((-99, 99)));
    assert_eq!(range(&format!("{iota} add(i, i)")), Some((-128, 127)));
    assert_eq!(range(&format!("{iota} and(i, i)")), Some((0, 99)));
    let parts = "x = s32[] parameter(0)\na = s32[] constant(-3)\nb = s32[] constant(7)\nROOT r = s32[]";
    assert_eq!(range(&format!("{parts} clamp(a, x, b)")), Some((-3, 7)));
    assert_eq!(range(&format!("{parts} remainder(x, b)")), Some((-6, 6)));
    assert_eq!(range(&format!("{parts} remainder(x, a)")), Some((-1 << 31, (1 << 31) - 1)));
    assert_eq!(range(&format!("{parts} multiply(a, b)")), Some((-21, -21)));
}
