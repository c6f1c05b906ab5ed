//! The trip counts of loops.

use hlo_passes::support::trip_count::{TripCount, trip_count};

/// Returns the trip count of `while (i DIRECTION bound) i = next(i)`, whose counter has the type `ty`.
fn count(ty: &str, first: &str, next: &str, direction: &str, bound: &str) -> Option<u64> {
    let text = format!(
        "HloModule m
             c {{ s = ({ty}[], f32[]) parameter(0)
                 i = {ty}[] get-tuple-element(s), index=0
                 n = {ty}[] constant({bound})
                 ROOT t = pred[] compare(i, n), direction={direction} }}
             b {{ s = ({ty}[], f32[]) parameter(0)
                 i = {ty}[] get-tuple-element(s), index=0
                 one = {ty}[] constant(1)
                 two = {ty}[] constant(2)
                 three = {ty}[] constant(3)
                 x = f32[] get-tuple-element(s), index=1
                 next = {ty}[] {next}
                 ROOT r = ({ty}[], f32[]) tuple(next, x) }}
             ENTRY e {{
               x = f32[] parameter(0)
               z = {ty}[] constant({first})
               init = ({ty}[], f32[]) tuple(z, x)
               ROOT w = ({ty}[], f32[]) while(init), condition=c, body=b
             }}"
    );
    let module = hlo_parser::parse_module(&text).expect("a module");
    trip_count(&module, module[module.entry()].root()).map(|t| t.trips)
}

#[test]
fn counters_by_constants() {
    assert_eq!(count("s32", "0", "add(i, one)", "LT", "10"), Some(10));
    assert_eq!(count("s32", "0", "add(three, i)", "LT", "10"), Some(4));
    assert_eq!(count("s32", "0", "add(i, three)", "LE", "9"), Some(4));
    assert_eq!(count("s64", "10", "subtract(i, two)", "GT", "0"), Some(5));
    assert_eq!(count("s64", "10", "subtract(i, two)", "GE", "0"), Some(6));
    assert_eq!(count("u32", "4", "subtract(i, one)", "NE", "0"), Some(4));
    assert_eq!(count("u8", "4", "add(i, two)", "EQ", "4"), Some(1));
    assert_eq!(count("u8", "4", "add(i, two)", "EQ", "5"), Some(0));
    assert_eq!(count("s32", "5", "add(i, one)", "LT", "5"), Some(0));
    assert_eq!(count("s64", "0", "add(i, one)", "LT", "1000000000000"), Some(1_000_000_000_000));
}

#[test]
fn endless_and_wrapping_loops_have_no_count() {
    assert_eq!(count("s32", "0", "add(i, two)", "NE", "1000001"), None);
    assert_eq!(count("s32", "0", "subtract(i, one)", "LT", "1000000"), None);
    // The counter goes from 126 to -128 and never exceeds 127.
    assert_eq!(count("s8", "0", "add(i, two)", "LE", "127"), None);
    // The counter is 0, 2, ..., 254, 0, ... and never 255.
    assert_eq!(count("u8", "0", "add(i, two)", "LT", "255"), None);
    assert_eq!(count("s32", "0", "subtract(one, i)", "GE", "0"), None);
}

#[test]
fn other_counters_are_run() {
    assert_eq!(count("s32", "1", "multiply(i, two)", "LT", "1000"), Some(10));
    assert_eq!(count("u32", "1000", "divide(i, two)", "GT", "0"), Some(10));
    assert_eq!(count("f32", "0", "add(i, one)", "LT", "7.5"), Some(8));
    assert_eq!(count("f32", "0", "add(i, one)", "LT", "7500"), None);
}

#[test]
fn bounds_may_be_invariant_elements() {
    let text = "HloModule m
             c { s = (s32[], s32[]) parameter(0)
                 i = s32[] get-tuple-element(s), index=0
                 n = s32[] get-tuple-element(s), index=1
                 ROOT t = pred[] compare(n, i), direction=GT }
             b { s = (s32[], s32[]) parameter(0)
                 i = s32[] get-tuple-element(s), index=0
                 n = s32[] get-tuple-element(s), index=1
                 one = s32[] constant(1)
                 next = s32[] add(i, one)
                 ROOT r = (s32[], s32[]) tuple(next, n) }
             ENTRY e {
               z = s32[] constant(0)
               n = s32[] constant(7)
               init = (s32[], s32[]) tuple(z, n)
               ROOT w = (s32[], s32[]) while(init), condition=c, body=b
             }";
    let module = hlo_parser::parse_module(text).expect("a module");
    let found = trip_count(&module, module[module.entry()].root());
    assert_eq!(found, Some(TripCount { trips: 7, element: Some(0), range: Some((0, 1)) }));
}
