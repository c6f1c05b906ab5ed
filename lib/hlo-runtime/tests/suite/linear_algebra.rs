//! Tests Cholesky factors and triangular systems: multiplying the result back must reproduce the operand, for
//! every form, element type and size, on one to four threads.

use crate::common::{same_on_any_number_of_threads, value};
use half::{bf16, f16};
use hlo_runtime::{CholeskyDesc, ElementCode, SolveDesc, hlo_rt_cholesky, hlo_rt_triangular_solve};
use hlo_testing::Numbers;
use num_complex::Complex;

use ElementCode::*;

type C = Complex<f64>;

const TYPES: [(ElementCode, f64); 6] =
    [(F16, 2e-2), (Bf16, 2e-1), (F32, 2e-5), (F64, 1e-13), (C64, 2e-5), (C128, 1e-13)];

fn encode(code: ElementCode, values: &[C]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for z in values {
        match code {
            F16 => bytes.extend(f16::from_f64(z.re).to_ne_bytes()),
            Bf16 => bytes.extend(bf16::from_f64(z.re).to_ne_bytes()),
            F32 => bytes.extend((z.re as f32).to_ne_bytes()),
            F64 => bytes.extend(z.re.to_ne_bytes()),
            C64 => [z.re, z.im].iter().for_each(|&x| bytes.extend((x as f32).to_ne_bytes())),
            _ => [z.re, z.im].iter().for_each(|&x| bytes.extend(x.to_ne_bytes())),
        }
    }
    bytes
}

fn decode(code: ElementCode, bytes: &[u8]) -> Vec<C> {
    let n = bytes.len() / code.byte_size();
    (0..n).map(|i| value(code, bytes, i).1).map(|(re, im)| C::new(re, im)).collect()
}

fn made_up(rng: &mut Numbers, code: ElementCode, n: usize) -> Vec<C> {
    let complex = matches!(code, C64 | C128);
    let values: Vec<C> = (0..n).map(|_| C::new(rng.unit(), if complex { rng.unit() } else { 0.0 })).collect();
    // Rounds the values to the element type.
    decode(code, &encode(code, &values))
}

/// Returns element (i, j) of the product of `x` and `y`, with `n` terms.
fn product(x: impl Fn(usize, usize) -> C, y: impl Fn(usize, usize) -> C, i: usize, j: usize, n: usize) -> C {
    (0..n).map(|k| x(i, k) * y(k, j)).sum()
}

#[test]
fn factors_multiply_to_the_matrix() {
    let mut rng = Numbers::new(1);
    for (code, tolerance) in TYPES {
        for (batch, n) in [(1, 1), (3, 2), (2, 7), (1, 33), (0, 3), (2, 0), (1, 150)] {
            for lower in [true, false] {
                let mut a = vec![C::default(); batch * n * n];
                for m in a.chunks_exact_mut((n * n).max(1)) {
                    let g = made_up(&mut rng, code, n * n);
                    for i in 0..n {
                        for j in 0..n {
                            let z = product(|i, k| g[i * n + k], |k, j| g[j * n + k].conj(), i, j, n);
                            m[i * n + j] = z / n as f64 + if i == j { 1.0 } else { 0.0 };
                        }
                    }
                }
                let mut bytes = encode(code, &a);
                // The contents of the other triangle are ignored.
                for m in bytes.chunks_exact_mut((n * n * code.byte_size()).max(1)) {
                    for (at, element) in m.chunks_exact_mut(code.byte_size()).enumerate() {
                        if if lower { at / n < at % n } else { at / n > at % n } {
                            element.fill(0xff);
                        }
                    }
                }
                let desc = CholeskyDesc {
                    element: code as i64,
                    batch: batch as i64,
                    n: n as i64,
                    lower: i64::from(lower),
                };
                let what = format!("{code:?} {batch}x{n} lower={lower}");
                let got = same_on_any_number_of_threads(&what, |ctx| {
                    let mut out = vec![0u8; bytes.len()];
                    // SAFETY: both buffers have the size of the matrices.
                    let status = unsafe { hlo_rt_cholesky(ctx, &desc, bytes.as_ptr(), out.as_mut_ptr()) };
                    assert_eq!((status, ctx.take_error()), (0, None), "{what}");
                    out
                });
                for (l, a) in
                    decode(code, &got).chunks_exact((n * n).max(1)).zip(a.chunks_exact((n * n).max(1)))
                {
                    for i in 0..n {
                        for j in 0..n {
                            let z = if lower {
                                product(|i, k| l[i * n + k], |k, j| l[j * n + k].conj(), i, j, n)
                            } else {
                                product(|i, k| l[k * n + i].conj(), |k, j| l[k * n + j], i, j, n)
                            };
                            let want = a[i * n + j];
                            assert!((z - want).norm() < tolerance, "{what}: {z} at ({i}, {j}), want {want}");
                            let outside = if lower { j > i } else { i > j };
                            assert!(!outside || l[i * n + j] == C::default(), "{what}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn what_is_not_positive_definite_gives_nan() {
    for matrix in [[1.0, 2.0, 2.0, 1.0], [f64::NAN, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, f64::NAN], [0.0; 4]] {
        let a = matrix.map(|x| C::new(x, 0.0));
        for (code, _) in TYPES {
            let desc = CholeskyDesc { element: code as i64, batch: 1, n: 2, lower: 1 };
            let (bytes, ctx) = (encode(code, &a), hlo_runtime::Context::new(1));
            let mut out = vec![0u8; bytes.len()];
            // SAFETY: both buffers have the size of the matrix.
            let status = unsafe { hlo_rt_cholesky(&ctx, &desc, bytes.as_ptr(), out.as_mut_ptr()) };
            assert_eq!(status, 0);
            assert!(decode(code, &out).iter().all(|z| z.re.is_nan()), "{matrix:?} as {code:?}");
        }
    }
}

#[test]
fn solutions_multiply_to_the_right_hand_side() {
    let mut rng = Numbers::new(2);
    for (code, tolerance) in TYPES {
        for (batch, n, width) in
            [(1, 1, 1), (2, 5, 3), (1, 20, 150), (1, 70, 2), (0, 2, 2), (2, 0, 3), (2, 3, 0)]
        {
            for form in 0..24 {
                let (left, lower, unit) = (form & 1 == 0, form & 2 == 0, form & 4 == 0);
                let transpose = form / 8;
                let (rows, columns) = if left { (n, width) } else { (width, n) };
                let mut a = made_up(&mut rng, code, batch * n * n);
                for (at, z) in a.iter_mut().enumerate() {
                    let (i, j) = (at / n % n, at % n);
                    // Keeps the matrix far from singular, and makes the triangle that is not read invalid.
                    *z = if i == j { *z + 4.0 } else { *z / n as f64 };
                    let outside = if lower { i < j } else { i > j };
                    if outside || (unit && i == j) {
                        *z = C::new(f64::NAN, f64::NAN);
                    }
                }
                let a_bytes = encode(code, &a);
                let a = decode(code, &a_bytes);
                let b = made_up(&mut rng, code, batch * rows * columns);
                let b_bytes = encode(code, &b);
                let desc = SolveDesc {
                    element: code as i64,
                    batch: batch as i64,
                    rows: rows as i64,
                    columns: columns as i64,
                    left_side: i64::from(left),
                    lower: i64::from(lower),
                    unit_diagonal: i64::from(unit),
                    transpose,
                };
                let what = format!("{code:?} {desc:?}");
                let got = same_on_any_number_of_threads(&what, |ctx| {
                    let mut x = vec![0u8; b_bytes.len()];
                    // SAFETY: the buffers have the size of the matrices.
                    let status = unsafe {
                        hlo_rt_triangular_solve(
                            ctx,
                            &desc,
                            a_bytes.as_ptr(),
                            b_bytes.as_ptr(),
                            x.as_mut_ptr(),
                        )
                    };
                    assert_eq!((status, ctx.take_error()), (0, None), "{what}");
                    x
                });
                let x = decode(code, &got);
                for s in 0..batch {
                    let at = |i: usize, j: usize| match (i == j, if lower { i < j } else { i > j }) {
                        (true, _) if unit => C::new(1.0, 0.0),
                        (_, true) => C::default(),
                        _ => a[s * n * n + i * n + j],
                    };
                    let op = |i: usize, j: usize| match transpose {
                        0 => at(i, j),
                        1 => at(j, i),
                        _ => at(j, i).conj(),
                    };
                    let x = |i: usize, j: usize| x[(s * rows + i) * columns + j];
                    for i in 0..rows {
                        for j in 0..columns {
                            let z = if left { product(op, x, i, j, n) } else { product(x, op, i, j, n) };
                            let want = b[(s * rows + i) * columns + j];
                            assert!((z - want).norm() < 2.0 * tolerance, "{what}: {z}, want {want}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn singular_systems_divide_by_zero() {
    let ctx = hlo_runtime::Context::new(1);
    let desc = SolveDesc {
        element: F32 as i64,
        batch: 1,
        rows: 2,
        columns: 1,
        left_side: 1,
        lower: 1,
        ..SolveDesc::default()
    };
    let (a, b, mut x) = ([0f32, 0.0, 1.0, 1.0], [1f32, 1.0], [0f32; 2]);
    // SAFETY: the buffers have the size of the matrices.
    let status = unsafe {
        hlo_rt_triangular_solve(&ctx, &desc, a.as_ptr().cast(), b.as_ptr().cast(), x.as_mut_ptr().cast())
    };
    assert_eq!((status, x), (0, [f32::INFINITY, f32::NEG_INFINITY]));
}
