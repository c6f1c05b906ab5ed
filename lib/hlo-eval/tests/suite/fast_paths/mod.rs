//! Tests of the fast paths against the definitions. Random small cases of every operation that has both, for
//! every element type that it accepts, must produce the same bits. NaN bits are unspecified
//! (docs/numerics.md), so NaNs only need to be in the same elements.

mod cases;

use crate::common::module;
use hlo_eval::{Options, evaluate};
use hlo_ir::{ElementType, FloatFormat, Literal};
use hlo_testing::Numbers;

/// A random number generator that produces the same numbers in every run.
pub struct Random(Numbers);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0.bits()
    }

    /// Returns a number from `low` to `high`, inclusive.
    pub fn within(&mut self, low: i64, high: i64) -> i64 {
        low + (self.next() % (high - low + 1) as u64) as i64
    }

    pub fn one_in(&mut self, n: u64) -> bool {
        self.next().is_multiple_of(n)
    }

    pub fn choose<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.within(0, from.len() as i64 - 1) as usize]
    }

    /// Returns the numbers below `n` in random order.
    pub fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            all.swap(i, self.within(0, i as i64) as usize);
        }
        all
    }

    pub fn sizes(&mut self, rank: usize, low: i64, high: i64) -> Vec<i64> {
        (0..rank).map(|_| self.within(low, high)).collect()
    }
}

/// A module, and its inputs as text.
pub struct Case {
    pub text: String,
    pub inputs: Vec<String>,
}

/// Returns an array of random numbers as text: mostly small numbers with many bits, sometimes zeros of both
/// signs, infinities and NaNs.
pub fn array(r: &mut Random, ty: ElementType, dims: &[i64]) -> String {
    fn real(r: &mut Random, ty: ElementType) -> String {
        match ty {
            ElementType::Pred => ["false", "true"][r.within(0, 1) as usize].into(),
            t if t.is_signed_integer() => {
                let half = 1i64 << (t.bit_width() - 1).min(40);
                r.within(-half, half - 1).to_string()
            }
            t if t.is_integer() => r.within(0, (1i64 << t.bit_width().min(40)) - 1).to_string(),
            // The type has no sign, or no bits to spare for one.
            ElementType::F8E8M0Fnu => ["0.5", "1", "2", "4"][r.within(0, 3) as usize].into(),
            _ if r.one_in(30) => "-0.0".into(),
            t if r.one_in(40) && t.bit_width() >= 16 => {
                ["inf", "-inf", "nan"][r.within(0, 2) as usize].into()
            }
            _ => format!("{:.6}", r.within(-3_000_000, 3_000_000) as f64 / 1e6),
        }
    }
    fn nested(r: &mut Random, ty: ElementType, dims: &[i64]) -> String {
        match dims {
            [] if ty.is_complex() => format!("({}, {})", real(r, ty.real_type()), real(r, ty.real_type())),
            [] => real(r, ty),
            [n, rest @ ..] => {
                let parts: Vec<String> = (0..*n).map(|_| nested(r, ty, rest)).collect();
                format!("{{{}}}", parts.join(", "))
            }
        }
    }
    format!("{} {}", shape(ty, dims), nested(r, ty, dims))
}

pub fn shape(ty: ElementType, dims: &[i64]) -> String {
    format!("{}[{}]", ty.name(), list(dims))
}

pub fn list<T: ToString>(numbers: &[T]) -> String {
    numbers.iter().map(T::to_string).collect::<Vec<_>>().join(",")
}

/// Runs a case with the fast paths and with the definitions only, and compares the results.
#[track_caller]
fn compare(case: &Case) {
    let module = module(&case.text);
    if let Some(wrong) = hlo_ir::verify::verify(&module).first() {
        panic!("{}\n{}", wrong.message, case.text);
    }
    let inputs: Vec<Literal> = case.inputs.iter().map(|i| crate::common::literal(i)).collect();
    let run = |definitions_only| {
        let options = Options { definitions_only, ..Options::default() };
        evaluate(&module, &inputs, &options).unwrap_or_else(|e| panic!("{}\n{}", e.message, case.text))
    };
    let (fast, defined) = (run(false), run(true));
    assert_eq!(fast.shape(), defined.shape(), "{}", case.text);
    for (f, d) in fast.leaves().into_iter().zip(defined.leaves()) {
        if !same(f, d) {
            let show = |value: &Literal| hlo_ir::print::print_literal(value, None);
            panic!("fast: {}\ndefined: {}\n{}\n{:#?}", show(f), show(d), case.text, case.inputs);
        }
    }
}

/// Checks whether both have the same bits, where any NaN equals any other NaN.
fn same(a: &Literal, b: &Literal) -> bool {
    let Some(shape) = a.shape().as_array() else { return a == b };
    let ty = shape.element_type.real_type();
    let numbers = |of: &Literal| -> Vec<u64> {
        let wide = |bytes: &[u8]| bytes.iter().rev().fold(0, |bits, &b| bits << 8 | u64::from(b));
        of.bytes().chunks_exact(ty.byte_size()).map(wide).collect()
    };
    let is_nan = |bits: u64| FloatFormat::of(ty).is_some_and(|f| f.decode(bits).is_nan());
    let pairs = numbers(a).into_iter().zip(numbers(b));
    a.bytes().len() == b.bytes().len() && pairs.into_iter().all(|(a, b)| a == b || is_nan(a) && is_nan(b))
}

/// Compares `count` cases for each element type that `takes` accepts.
fn for_types(
    seed: u64,
    count: usize,
    takes: fn(ElementType) -> bool,
    of: fn(&mut Random, ElementType) -> Case,
) {
    let mut r = Random(Numbers::new(seed));
    for &ty in ElementType::ALL.iter().filter(|t| takes(**t)) {
        for _ in 0..count {
            compare(&of(&mut r, ty));
        }
    }
}

#[test]
fn reduce() {
    for_types(1, 12, |_| true, cases::reduce);
}

#[test]
fn reduce_of_pairs() {
    for_types(2, 12, |t| !t.is_complex(), cases::reduce_of_pairs);
}

#[test]
fn reduce_window() {
    for_types(3, 12, |_| true, cases::reduce_window);
}

#[test]
fn cumulative_reduce_window() {
    for_types(4, 6, |_| true, cases::cumulative);
}

#[test]
fn map() {
    for_types(5, 6, |_| true, cases::map);
}

#[test]
fn dot() {
    for_types(6, 8, |_| true, cases::dot);
}

#[test]
fn convolution() {
    for_types(7, 16, |_| true, cases::convolution);
}

#[test]
fn gather() {
    for_types(8, 10, |_| true, cases::gather);
}

#[test]
fn pad() {
    for_types(9, 8, |_| true, cases::pad);
}

#[test]
fn iota() {
    for_types(10, 4, |t| !t.is_pred(), cases::iota);
}

#[test]
fn moves() {
    for_types(11, 40, |_| true, cases::moves);
}

#[test]
fn loops_on_scalars() {
    for_types(12, 3, |t| t.is_integer() && t.bit_width() >= 8, cases::scalar_while);
}
