//! The formulas of `elementary-function-expander` agree with the interpreter's functions, which use other
//! formulas.

use hlo_ir::{Literal, Module};
use std::fmt::Write;

/// Real and imaginary parts of arguments: around the branch points, and where squares and exponentials are
/// large.
const PARTS: &[f64] = &[
    0.0, -0.0, 1e-6, 0.25, -0.5, 0.75, -0.999, 1.0, -1.0, 1.001, 1.5, -2.0, 3.0, -7.5, 20.0, -60.0, 1e5, -3e8,
];

/// Evaluates a function of several arguments, before and after the pass.
fn both(op: &str, ty: &str, arguments: &[String]) -> [Literal; 2] {
    let count = arguments[0].split("; ").count();
    let shape = format!("{ty}[{count}]");
    let mut text = String::from("HloModule m\nENTRY e {\n");
    let mut names = Vec::new();
    for n in 0..arguments.len() {
        writeln!(text, "  x{n} = {shape} parameter({n})").expect("a string");
        names.push(format!("x{n}"));
    }
    writeln!(text, "  ROOT y = {shape} {op}({})\n}}", names.join(", ")).expect("a string");
    let mut module = hlo_parser::parse_module(&text).expect("a module");
    let literal = |list: &String| {
        let value = format!("{shape} {{{}}}", list.replace("; ", ", "));
        hlo_parser::parse_literal(&value).unwrap_or_else(|e| panic!("{value}: {e:?}"))
    };
    let inputs: Vec<Literal> = arguments.iter().map(literal).collect();
    let evaluate = |module: &Module| {
        hlo_eval::evaluate(module, &inputs, &hlo_eval::Options::default()).expect("a value")
    };
    let before = evaluate(&module);
    let pipeline = crate::pipeline("elementary-function-expander");
    pipeline.run(&mut module, &mut ()).expect("a valid module");
    let text = hlo_ir::print::print_module(&module, &Default::default());
    assert!(!text.contains(&format!(" {op}(")), "{text}");
    [before, evaluate(&module)]
}

/// Checks that numbers agree within a tolerance relative to the larger of their magnitude and the root of the
/// tolerance.
fn close(op: &str, at: &str, before: &[f64], after: &[f64], tolerance: f64) {
    for (n, (&want, &found)) in before.iter().zip(after).enumerate() {
        let same = want == found || (want.is_nan() && found.is_nan());
        let near = (want - found).abs() <= tolerance * want.abs().max(tolerance.sqrt());
        assert!(same || near, "{op} {at}, number {n}: {want} before, {found} after");
    }
}

const FUNCTIONS: &[&str] = &["acos", "acosh", "asin", "asinh", "atanh", "cosh", "erf", "sinh"];

#[test]
fn of_real_numbers() {
    let list = PARTS.iter().map(|x| format!("{x:?}")).collect::<Vec<_>>().join("; ");
    for op in FUNCTIONS {
        let [before, after] = both(op, "f32", std::slice::from_ref(&list));
        let wide = |l: &Literal| l.elements::<f32>().iter().map(|&x| f64::from(x)).collect::<Vec<_>>();
        close(op, "of f32", &wide(&before), &wide(&after), 2e-6);
        let [before, after] = both(op, "f64", std::slice::from_ref(&list));
        close(op, "of f64", before.elements::<f64>(), after.elements::<f64>(), 1e-14);
    }
}

#[test]
fn of_complex_numbers() {
    for op in FUNCTIONS.iter().filter(|op| **op != "erf") {
        for &x in PARTS {
            let list = PARTS.iter().map(|y| format!("({x:?}, {y:?})")).collect::<Vec<_>>().join("; ");
            let [before, after] = both(op, "c128", &[list]);
            let parts = |l: &Literal| parts_of(l.bytes());
            let (before, after) = (parts(&before), parts(&after));
            let size =
                |all: &[f64]| all.iter().fold(1f64, |m, x| if x.is_finite() { m.max(x.abs()) } else { m });
            for (n, (want, found)) in before.chunks(2).zip(after.chunks(2)).enumerate() {
                // One part may be much smaller than the other, so the magnitude of the number counts.
                let near = |n: usize| {
                    let (a, b) = (want[n], found[n]);
                    a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-13 * size(want)
                };
                assert!(
                    near(0) && near(1),
                    "{op} of {x:?} + {:?}i: {want:?} before, {found:?} after",
                    PARTS[n]
                );
            }
        }
    }
}

/// Converts bytes to numbers.
fn parts_of(bytes: &[u8]) -> Vec<f64> {
    bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().expect("eight bytes"))).collect()
}

#[test]
fn higher_halves_of_products() {
    let numbers: &[i64] =
        &[0, 1, -1, 2, -3, 0x7fff_ffff, -0x8000_0000, 0x1234_5678, i64::MAX, i64::MIN, 1 << 40];
    for (ty, bits) in [("s8", 8), ("u16", 16), ("s32", 32), ("u32", 32), ("s64", 64), ("u64", 64)] {
        let fits = |n: i64| match &ty[..1] {
            "s" => (n << (64 - bits) >> (64 - bits)).to_string(),
            _ => (n as u64 & (u64::MAX >> (64 - bits))).to_string(),
        };
        let mut lists = [Vec::new(), Vec::new()];
        for &a in numbers {
            for &b in numbers {
                lists[0].push(fits(a));
                lists[1].push(fits(b));
            }
        }
        let [before, after] = both("mulhi", ty, &lists.map(|l| l.join("; ")));
        assert_eq!(before, after, "{ty}");
    }
}
