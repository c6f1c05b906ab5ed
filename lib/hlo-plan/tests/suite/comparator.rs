//! Tests of the recognition of comparators that order by keys.

use hlo_ir::{ElementType, Op};
use hlo_plan::internals::{key, keys};
use hlo_runtime_core::{KeyKind, KeyOrder};

/// Returns the operands and orders of the keys of a comparator with the given body on the parameters `a`,
/// `b` (`f32`), `i` and `j` (`s32`).
fn orders(body: &str) -> Option<Vec<(i64, i64)>> {
    let text = format!(
        "HloModule m\n\
         before {{\n\
           a = f32[] parameter(0)\n\
           b = f32[] parameter(1)\n\
           i = s32[] parameter(2)\n\
           j = s32[] parameter(3)\n\
           zero = f32[] constant(0)\n\
           {body}\n\
         }}\n\
         ENTRY e {{\n\
           x = f32[4] parameter(0)\n\
           y = s32[4] parameter(1)\n\
           ROOT s = (f32[4], s32[4]) sort(x, y), dimensions={{0}}, to_apply=before\n\
         }}"
    );
    let module = hlo_parser::parse_module(&text).unwrap_or_else(|d| panic!("{d:?}"));
    let root = module[module.entry()].root();
    let Op::Sort(attrs) = &module[root].op else { panic!("no sort") };
    let keys = keys(&module, attrs.to_apply)?;
    Some(keys.iter().map(|k| (k.operand, k.order)).collect())
}

#[test]
fn one_comparison_is_one_key() {
    let (up, down) = (KeyOrder::Ascending as i64, KeyOrder::Descending as i64);
    let (less, greater) = (KeyOrder::Less as i64, KeyOrder::Greater as i64);
    assert_eq!(orders("ROOT r = pred[] compare(a, b), direction=LT"), Some(vec![(0, less)]));
    assert_eq!(orders("ROOT r = pred[] compare(b, a), direction=LT"), Some(vec![(0, greater)]));
    assert_eq!(orders("ROOT r = pred[] compare(b, a), direction=LT, type=TOTALORDER"), Some(vec![(0, down)]));
    assert_eq!(orders("ROOT r = pred[] compare(i, j), direction=LT"), Some(vec![(1, up)]));
    assert_eq!(orders("ROOT r = pred[] compare(a, b), direction=LE"), None);
    assert_eq!(orders("ROOT r = pred[] compare(a, zero), direction=LT"), None);
}

/// Returns a comparator of canonical values whose NaN is `nan`.
fn canonical(nan: &str) -> String {
    format!(
        "n = f32[] constant({nan})\n\
         an = pred[] compare(a, a), direction=NE\n\
         az = pred[] compare(a, zero), direction=EQ\n\
         a0 = f32[] select(az, zero, a)\n\
         a1 = f32[] select(an, n, a0)\n\
         bn = pred[] compare(b, b), direction=NE\n\
         bz = pred[] compare(zero, b), direction=EQ\n\
         b0 = f32[] select(bn, n, b)\n\
         b1 = f32[] select(bz, zero, b0)\n\
         ROOT r = pred[] compare(a1, b1), direction=GT, type=TOTALORDER"
    )
}

#[test]
fn canonical_values_are_recognized() {
    let numbers = KeyOrder::DescendingNumbers as i64;
    assert_eq!(orders(&canonical("nan")), Some(vec![(0, numbers)]));
    assert_eq!(orders(&canonical("-nan")), None);
    assert_eq!(orders(&canonical("1")), None);
}

#[test]
fn equal_first_keys_leave_it_to_the_others() {
    let body = |equal: &str| {
        format!(
            "first = pred[] compare(i, j), direction=GT\n\
             equal = pred[] {equal}\n\
             second = pred[] compare(a, b), direction=LT, type=TOTALORDER\n\
             both = pred[] and(second, equal)\n\
             ROOT r = pred[] or(first, both)"
        )
    };
    let (up, down) = (KeyOrder::Ascending as i64, KeyOrder::Descending as i64);
    assert_eq!(orders(&body("compare(j, i), direction=EQ")), Some(vec![(1, down), (0, up)]));
    assert_eq!(orders(&body("compare(i, j), direction=NE")), None);
    assert_eq!(orders(&body("compare(a, b), direction=EQ, type=TOTALORDER")), None);
}

#[test]
fn formats_have_their_largest_numbers() {
    let largest = |ty| key(0, ty, KeyOrder::Ascending).map(|k| (k.kind, k.bits, k.largest));
    let float = KeyKind::Float as i64;
    assert_eq!(largest(ElementType::F32), Some((float, 32, 0x7f80_0000)));
    assert_eq!(largest(ElementType::Bf16), Some((float, 16, 0x7f80)));
    assert_eq!(largest(ElementType::F8E4M3Fn), Some((float, 8, 0x7e)));
    assert_eq!(largest(ElementType::F6E2M3Fn), Some((float, 6, 0x1f)));
    let without_zero = KeyKind::FloatWithoutNegativeZero as i64;
    assert_eq!(largest(ElementType::F8E5M2Fnuz), Some((without_zero, 8, 0x7f)));
    assert_eq!(largest(ElementType::C64), None);
}
