//! Shared helpers of the tests: elements of every type as bytes, and checks of results.

#![allow(dead_code, reason = "each test binary uses its own part")]

use half::{bf16, f16};
use hlo_runtime::{Context, ElementCode};
use hlo_testing::Numbers;

/// Returns `n` random elements of a type, as bytes.
pub fn elements(rng: &mut Numbers, code: ElementCode, n: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(n * code.byte_size());
    for _ in 0..n {
        match code {
            ElementCode::Pred => bytes.push((rng.bits() % 2) as u8),
            ElementCode::F16 => bytes.extend(f16::from_f64(rng.unit()).to_ne_bytes()),
            ElementCode::Bf16 => bytes.extend(bf16::from_f64(rng.unit()).to_ne_bytes()),
            ElementCode::F32 => bytes.extend((rng.unit() as f32).to_ne_bytes()),
            ElementCode::F64 => bytes.extend(rng.unit().to_ne_bytes()),
            ElementCode::C64 => {
                bytes.extend((rng.unit() as f32).to_ne_bytes());
                bytes.extend((rng.unit() as f32).to_ne_bytes());
            }
            ElementCode::C128 => {
                bytes.extend(rng.unit().to_ne_bytes());
                bytes.extend(rng.unit().to_ne_bytes());
            }
            _ => bytes.extend(&rng.bits().to_ne_bytes()[..code.byte_size()]),
        }
    }
    bytes
}

/// Returns an element as an exact integer (for integers and `pred`) and as a complex double (for other
/// types).
pub fn value(code: ElementCode, bytes: &[u8], index: usize) -> (i128, (f64, f64)) {
    let size = code.byte_size();
    let b = &bytes[index * size..][..size];
    let word = |n: usize| {
        let mut w = [0u8; 8];
        w[..n].copy_from_slice(&b[..n]);
        u64::from_ne_bytes(w)
    };
    let part = |at: usize, n: usize| match n {
        4 => f64::from(f32::from_ne_bytes(b[at..at + 4].try_into().unwrap())),
        _ => f64::from_ne_bytes(b[at..at + 8].try_into().unwrap()),
    };
    match code {
        ElementCode::Pred | ElementCode::U8 | ElementCode::U16 | ElementCode::U32 | ElementCode::U64 => {
            (word(size) as i128, (0.0, 0.0))
        }
        ElementCode::S8 => (word(1) as i8 as i128, (0.0, 0.0)),
        ElementCode::S16 => (word(2) as i16 as i128, (0.0, 0.0)),
        ElementCode::S32 => (word(4) as i32 as i128, (0.0, 0.0)),
        ElementCode::S64 => (word(8) as i64 as i128, (0.0, 0.0)),
        ElementCode::F16 => (0, (f16::from_bits(word(2) as u16).to_f64(), 0.0)),
        ElementCode::Bf16 => (0, (bf16::from_bits(word(2) as u16).to_f64(), 0.0)),
        ElementCode::F32 => (0, (part(0, 4), 0.0)),
        ElementCode::F64 => (0, (part(0, 8), 0.0)),
        ElementCode::C64 => (0, (part(0, 4), part(4, 4))),
        ElementCode::C128 => (0, (part(0, 8), part(8, 8))),
    }
}

/// Runs `f` with 1, 2, 3 and 4 threads and checks that it returns the same bytes each time.
pub fn same_on_any_number_of_threads(what: &str, f: impl Fn(&Context) -> Vec<u8>) -> Vec<u8> {
    thread_local!(static CONTEXTS: Vec<Context> = (1..=4).map(Context::new).collect());
    CONTEXTS.with(|contexts| {
        let one = f(&contexts[0]);
        for ctx in &contexts[1..] {
            assert!(f(ctx) == one, "{what}: other bits with {} threads", ctx.threads());
        }
        one
    })
}

/// Checks `got` (an element of type `code`) against an exact sum of `terms` products whose absolute values sum
/// to `magnitude`.
pub fn check(
    what: &str,
    code: ElementCode,
    got: (i128, (f64, f64)),
    exact: (i128, (f64, f64)),
    magnitude: f64,
    float_inputs_bits: u32,
) {
    let bits = 8 * code.byte_size() as u32;
    match code {
        ElementCode::Pred => assert_eq!(got.0 != 0, exact.0 != 0, "{what}"),
        ElementCode::F16
        | ElementCode::Bf16
        | ElementCode::F32
        | ElementCode::F64
        | ElementCode::C64
        | ElementCode::C128 => {
            let out_eps = match code {
                ElementCode::F16 => 2f64.powi(-11),
                ElementCode::Bf16 => 2f64.powi(-8),
                ElementCode::F32 | ElementCode::C64 => 2f64.powi(-24),
                _ => 2f64.powi(-53),
            };
            let sum_eps = if float_inputs_bits == 64 { 1e-14 } else { 3e-6 };
            for (g, e) in [(got.1.0, exact.1.0), (got.1.1, exact.1.1)] {
                let tolerance = out_eps * 1.01 * e.abs() + sum_eps * magnitude + 1e-30;
                assert!((g - e).abs() <= tolerance, "{what}: got {g}, want {e} ± {tolerance}");
            }
        }
        _ => {
            let mask = if bits == 64 { u64::MAX as i128 } else { (1i128 << bits) - 1 };
            assert_eq!(got.0 & mask, exact.0 & mask, "{what}");
        }
    }
}
