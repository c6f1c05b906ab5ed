//! Tests of comparisons: all pairs of bit patterns of the float types of up to 8 bits, and a sample of the
//! pairs of `f16` and `bf16`, in both orders and every direction. Also tests `sort` and `topk` of all
//! patterns. jaxlib returns the same results for each of these pairs, for the types that it supports.

use super::{compiled_results, module};
use hlo_ir::{AlignedBytes, ElementType, FloatFormat, Literal, Shape, Special};
use std::cmp::Ordering;
use std::fmt::Write;

/// Returns the position of a bit pattern in the total order.
fn place(ty: ElementType, bits: u64) -> i64 {
    let sign = 1u64 << (ty.bit_width() - 1);
    match FloatFormat::of(ty).expect("a float").special {
        Special::PowerOfTwo => bits as i64,
        Special::Fnuz if bits == sign => i64::MIN,
        Special::Fnuz | Special::Ieee | Special::NanOnly | Special::FiniteOnly => {
            if bits < sign {
                bits as i64
            } else {
                sign as i64 - 1 - bits as i64
            }
        }
    }
}

fn literal(ty: ElementType, patterns: &[u64]) -> Literal {
    let mut bytes = AlignedBytes::zeroed(patterns.len() * ty.byte_size());
    for (element, bits) in bytes.chunks_exact_mut(ty.byte_size()).zip(patterns) {
        element.copy_from_slice(&bits.to_le_bytes()[..element.len()]);
    }
    Literal::from_bytes(Shape::array(ty, [patterns.len() as i64]), bytes)
}

type Direction = (&'static str, fn(Ordering) -> bool, fn(&f64, &f64) -> bool);
const DIRECTIONS: [Direction; 6] = [
    ("LT", Ordering::is_lt, f64::lt),
    ("LE", Ordering::is_le, f64::le),
    ("EQ", Ordering::is_eq, f64::eq),
    ("NE", Ordering::is_ne, f64::ne),
    ("GE", Ordering::is_ge, f64::ge),
    ("GT", Ordering::is_gt, f64::gt),
];

/// Returns the results of each engine for a module, as bytes.
fn results(text: &str, inputs: &[Literal]) -> Vec<(&'static str, Vec<Vec<u8>>)> {
    let module = module(text).unwrap_or_else(|| panic!("not a module:\n{text}"));
    let evaluated = hlo_eval::evaluate(&module, inputs, &hlo_eval::Options::default()).expect("a result");
    let evaluated = evaluated.leaves().iter().map(|l| l.bytes().to_vec()).collect();
    let compiled = compiled_results(&module, inputs);
    let engines = [("eval", evaluated), ("jit", compiled)];
    engines.into_iter().filter(|(_, results)| !results.is_empty()).collect()
}

fn check_compare(ty: ElementType, bad: &mut Vec<String>) {
    let format = FloatFormat::of(ty).expect("a float");
    let count = 1u64 << ty.bit_width();
    let (x, y): (Vec<u64>, Vec<u64>) = match ty.bit_width() {
        ..=8 => (0..count).flat_map(|x| (0..count).map(move |y| (x, y))).unzip(),
        _ => (0..count).map(|x| (x, x.wrapping_mul(40503) % count)).unzip(),
    };
    let pairs = x.len();
    let mut text = format!(
        "HloModule m\nENTRY e {{\n  x = {ty}[{pairs}] parameter(0)\n  y = {ty}[{pairs}] parameter(1)\n"
    );
    let mut names = Vec::new();
    for (direction, ..) in DIRECTIONS {
        for order in ["TOTALORDER", "FLOAT"] {
            let name = format!("{direction}_{order}");
            let _ =
                writeln!(text, "  {name} = pred[{pairs}] compare(x, y), direction={direction}, type={order}");
            names.push(name);
        }
    }
    let shapes = vec![format!("pred[{pairs}]"); names.len()];
    let _ = write!(text, "  ROOT all = ({}) tuple({})\n}}\n", shapes.join(", "), names.join(", "));
    for (engine, results) in results(&text, &[literal(ty, &x), literal(ty, &y)]) {
        for (n, result) in results.iter().enumerate() {
            let (_, in_order, in_value) = DIRECTIONS[n / 2];
            let wanted = |i: usize| match n % 2 {
                0 => in_order(place(ty, x[i]).cmp(&place(ty, y[i]))),
                _ => in_value(&format.decode(x[i]), &format.decode(y[i])),
            };
            if let Some(i) = (0..pairs).find(|&i| (result[i] != 0) != wanted(i)) {
                bad.push(format!("{engine}: {ty} {} of {:#x} and {:#x}", names[n], x[i], y[i]));
            }
        }
    }
}

fn check_sort(ty: ElementType, bad: &mut Vec<String>) {
    let n = 1u64 << ty.bit_width();
    let patterns: Vec<u64> = (0..n).map(|i| (i * 5 + 3) % n).collect();
    let pair = format!("({ty}[{n}], s32[{n}])");
    let text = format!(
        "HloModule m
less {{
  a = {ty}[] parameter(0)
  b = {ty}[] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=LT, type=TOTALORDER
}}
ENTRY e {{
  x = {ty}[{n}] parameter(0)
  i = s32[{n}] iota(), iota_dimension=0
  up = {pair} sort(x, i), dimensions={{0}}, is_stable=true, to_apply=less
  down = {pair} topk(x), k={n}, largest=true
  ROOT all = ({pair}, {pair}) tuple(up, down)
}}"
    );
    let mut up: Vec<i32> = (0..n as i32).collect();
    up.sort_by_key(|&i| place(ty, patterns[i as usize]));
    let down: Vec<i32> = up.iter().rev().copied().collect();
    for (engine, results) in results(&text, &[literal(ty, &patterns)]) {
        for (name, wanted, got) in [("sort", &up, &results[1]), ("topk", &down, &results[3])] {
            let got = got.chunks_exact(4).map(|b| i32::from_ne_bytes(b.try_into().expect("four bytes")));
            if !got.eq(wanted.iter().copied()) {
                bad.push(format!("{engine}: {name} of {ty}"));
            }
        }
    }
}

#[test]
fn narrow_floats_have_one_order() {
    let mut bad = Vec::new();
    for &ty in ElementType::ALL.iter().filter(|t| t.is_float() && t.bit_width() <= 16) {
        check_compare(ty, &mut bad);
        check_sort(ty, &mut bad);
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}
