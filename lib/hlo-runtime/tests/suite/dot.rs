//! Tests matrix products against a direct sum in wider arithmetic, over element types, shapes and strides, on
//! one to four threads.

use crate::common::{check, elements, same_on_any_number_of_threads, value};
use hlo_runtime::{Context, DotDesc, ElementCode, hlo_rt_dot, hlo_rt_dot_narrow};
use hlo_testing::Numbers;

use ElementCode::*;

/// Returns distinct strides for a box of `sizes` in a random order of dimensions, with a random gap in the
/// innermost one, and the number of elements that the box spans.
fn strides(rng: &mut Numbers, sizes: [usize; 3]) -> ([i64; 3], usize) {
    let mut order = [0, 1, 2];
    for i in (1..3).rev() {
        order.swap(i, rng.below(i + 1));
    }
    let mut strides = [0; 3];
    let mut next = if rng.below(4) == 0 { 1 + rng.below(3) } else { 1 };
    for &d in &order {
        strides[d] = next as i64;
        next *= sizes[d].max(1);
        next += if rng.below(3) == 0 { rng.below(5) } else { 0 };
    }
    (strides, next)
}

fn run(ctx: &Context, desc: &DotDesc, lhs: &[u8], rhs: &[u8], out: &mut [u8]) {
    let mut narrow = out.to_vec();
    // SAFETY: the buffers cover all elements that the descriptor reaches.
    let status = unsafe { hlo_rt_dot(ctx, desc, lhs.as_ptr(), rhs.as_ptr(), out.as_mut_ptr()) };
    assert_eq!(status, 0, "{:?}", ctx.take_error());
    // The function without wide sums computes the same result, or fails for wide sums.
    let wide = [F64, C64, C128].map(|t| t as i64);
    let wide = [desc.lhs_type, desc.rhs_type, desc.out_type].iter().any(|t| wide.contains(t));
    // SAFETY: as above.
    let status = unsafe { hlo_rt_dot_narrow(ctx, desc, lhs.as_ptr(), rhs.as_ptr(), narrow.as_mut_ptr()) };
    match ctx.take_error() {
        None => assert!(status == 0 && narrow == out),
        Some(message) => assert!(wide && status == 1, "{message}"),
    }
}

/// Tests one product with random operands and strides. The gaps of the output must not change.
fn case(rng: &mut Numbers, types: [ElementCode; 3], [batch, m, n, k]: [usize; 4]) {
    let what = format!("{types:?} batch {batch} m {m} n {n} k {k}");
    let (ls, lhs_span) = strides(rng, [batch, m, k]);
    let (rs, rhs_span) = strides(rng, [batch, k, n]);
    let (os, out_span) = strides(rng, [batch, m, n]);
    let lhs = elements(rng, types[0], lhs_span);
    let rhs = elements(rng, types[1], rhs_span);
    let desc = DotDesc {
        lhs_type: types[0] as i64,
        rhs_type: types[1] as i64,
        out_type: types[2] as i64,
        batch: batch as i64,
        m: m as i64,
        n: n as i64,
        k: k as i64,
        lhs_batch_stride: ls[0],
        lhs_m_stride: ls[1],
        lhs_k_stride: ls[2],
        rhs_batch_stride: rs[0],
        rhs_k_stride: rs[1],
        rhs_n_stride: rs[2],
        out_batch_stride: os[0],
        out_m_stride: os[1],
        out_n_stride: os[2],
    };
    let size = types[2].byte_size();
    let out = same_on_any_number_of_threads(&what, |ctx| {
        let mut out = vec![0xa5u8; out_span * size];
        run(ctx, &desc, &lhs, &rhs, &mut out);
        out
    });
    let mut written = vec![false; out_span];
    let wide = if types.contains(&F64) || types.contains(&C128) { 64 } else { 32 };
    for b in 0..batch {
        for i in 0..m {
            for j in 0..n {
                let (mut integer, mut re, mut im, mut magnitude) = (0i128, 0.0, 0.0, 0.0);
                for x in 0..k {
                    let at = |s: [i64; 3], d: [usize; 3]| (0..3).map(|q| s[q] as usize * d[q]).sum::<usize>();
                    let p = value(types[0], &lhs, at(ls, [b, i, x]));
                    let q = value(types[1], &rhs, at(rs, [b, x, j]));
                    integer = integer.wrapping_add(p.0.wrapping_mul(q.0));
                    re += p.1.0 * q.1.0 - p.1.1 * q.1.1;
                    im += p.1.0 * q.1.1 + p.1.1 * q.1.0;
                    magnitude += (p.1.0.abs() + p.1.1.abs()) * (q.1.0.abs() + q.1.1.abs());
                }
                let at = os[0] as usize * b + os[1] as usize * i + os[2] as usize * j;
                written[at] = true;
                check(
                    &format!("{what} at [{b}, {i}, {j}]"),
                    types[2],
                    value(types[2], &out, at),
                    (integer, (re, im)),
                    magnitude,
                    wide,
                );
            }
        }
    }
    for (at, _) in written.iter().enumerate().filter(|(_, w)| !**w) {
        assert!(out[at * size..][..size].iter().all(|&b| b == 0xa5), "{what}: a gap was written");
    }
}

const TYPES: &[[ElementCode; 3]] = &[
    [F32, F32, F32],
    [F64, F64, F64],
    [C64, C64, C64],
    [C128, C128, C128],
    [Bf16, Bf16, Bf16],
    [Bf16, Bf16, F32],
    [F16, F16, F16],
    [F16, F16, F32],
    [F32, F32, F64],
    [Bf16, F32, F32],
    [S8, S8, S32],
    [S8, S8, S8],
    [U8, U8, U32],
    [U8, U8, S32],
    [U8, S8, S32],
    [S8, U8, S32],
    [S16, S16, S32],
    [S32, S32, S32],
    [U32, U32, U32],
    [S64, S64, S64],
    [U64, U64, U64],
    [S8, S8, S64],
    [U16, U16, U64],
    [Pred, Pred, Pred],
];

#[test]
fn products_of_every_type_and_small_random_shapes() {
    let mut rng = Numbers::new(1);
    for &types in TYPES {
        for _ in 0..25 {
            let sizes = [1 + rng.below(3), 1 + rng.below(40), 1 + rng.below(40), rng.below(40)];
            case(&mut rng, types, sizes);
        }
    }
}

#[test]
fn vectors_and_thin_matrices() {
    let mut rng = Numbers::new(2);
    for &types in TYPES {
        for sizes in [
            [1, 1, 300, 70],
            [1, 300, 1, 70],
            [1, 1, 1, 1000],
            [1, 3, 517, 33],
            [1, 517, 2, 33],
            [2, 65, 130, 1],
            [70, 4, 4, 4],
        ] {
            case(&mut rng, types, sizes);
        }
    }
}

#[test]
fn thin_products_read_their_large_operand_where_it_lies() {
    let mut rng = Numbers::new(5);
    for types in [[F32; 3], [S32; 3], [F64; 3], [Bf16, Bf16, F32]] {
        for sizes in [
            [1, 301, 3, 150],
            [1, 290, 11, 140],
            [1, 5, 300, 150],
            [2, 33, 210, 130],
            [1, 200, 16, 64],
            [1, 17, 200, 700],
            [1, 9, 1003, 37],
            [40, 8, 19, 40],
        ] {
            // The operands get random layouts: by rows, by columns and with gaps.
            for _ in 0..4 {
                case(&mut rng, types, sizes);
            }
        }
    }
}

#[test]
fn products_that_span_several_blocks() {
    let mut rng = Numbers::new(3);
    for &types in TYPES {
        for sizes in [[1, 131, 200, 300], [1, 40, 700, 90], [3, 150, 49, 70]] {
            case(&mut rng, types, sizes);
        }
    }
}

#[test]
fn large_products_have_the_same_bits_on_any_number_of_threads() {
    let mut rng = Numbers::new(4);
    for types in [[F32; 3], [F64; 3], [C64; 3], [C128; 3], [Bf16; 3], [F16; 3], [S8, S8, S32]] {
        for [m, n, k] in [[700, 650, 500], [64, 768, 1111], [1500, 33, 700], [1, 3000, 600], [2900, 1, 700]] {
            let lhs = elements(&mut rng, types[0], m * k);
            let rhs = elements(&mut rng, types[1], k * n);
            let desc = row_major(types, [1, m, n, k]);
            same_on_any_number_of_threads(&format!("{types:?} {m} {n} {k}"), |ctx| {
                let mut out = vec![0; m * n * types[2].byte_size()];
                run(ctx, &desc, &lhs, &rhs, &mut out);
                out
            });
        }
    }
}

fn row_major(types: [ElementCode; 3], [batch, m, n, k]: [usize; 4]) -> DotDesc {
    let [b, m, n, k] = [batch as i64, m as i64, n as i64, k as i64];
    DotDesc {
        lhs_type: types[0] as i64,
        rhs_type: types[1] as i64,
        out_type: types[2] as i64,
        batch: b,
        m,
        n,
        k,
        lhs_batch_stride: m * k,
        lhs_m_stride: k,
        lhs_k_stride: 1,
        rhs_batch_stride: k * n,
        rhs_k_stride: n,
        rhs_n_stride: 1,
        out_batch_stride: m * n,
        out_m_stride: n,
        out_n_stride: 1,
    }
}

#[test]
fn infinities_and_nans_come_through() {
    let lhs: Vec<u8> = [f32::INFINITY, 0.0, 1.0, f32::NAN].iter().flat_map(|v| v.to_ne_bytes()).collect();
    let rhs: Vec<u8> = [0.0f32, 1.0, 2.0, 3.0].iter().flat_map(|v| v.to_ne_bytes()).collect();
    let mut out = vec![0; 16];
    run(&Context::new(1), &row_major([F32; 3], [1, 2, 2, 2]), &lhs, &rhs, &mut out);
    let got: Vec<f32> = out.chunks(4).map(|b| f32::from_ne_bytes(b.try_into().unwrap())).collect();
    assert!(got[0].is_nan() && got[1] == f32::INFINITY && got[2].is_nan() && got[3].is_nan(), "{got:?}");
}

#[test]
fn what_cannot_be_multiplied_is_an_error() {
    let ctx = Context::new(1);
    for (change, message) in [
        (DotDesc { lhs_type: 99, ..row_major([F32; 3], [1, 1, 1, 1]) }, "unknown element type code 99"),
        (DotDesc { m: -1, ..row_major([F32; 3], [1, 1, 1, 1]) }, "the number of rows is -1"),
        (row_major([F32, C64, C64], [1, 1, 1, 1]), "no product of F32 and C64 gives C64"),
    ] {
        // SAFETY: the function fails before it accesses any element.
        let status =
            unsafe { hlo_rt_dot(&ctx, &change, std::ptr::null(), std::ptr::null(), std::ptr::null_mut()) };
        assert_eq!(status, 1);
        assert_eq!(ctx.take_error(), Some(format!("dot: {message}")));
    }
}

#[test]
fn long_contractions() {
    let mut rng = Numbers::new(9);
    for types in [[F32, F32, F32], [Bf16, Bf16, Bf16], [F16, F16, F32], [Bf16, F32, F32]] {
        for sizes in [[1, 2, 9, 8193], [2, 3, 5, 20_000], [1, 8, 1, 70_000], [1, 1, 1, 300_001]] {
            case(&mut rng, types, sizes);
        }
    }
}

/// A sequential sum of this many equal products has an error of one percent.
#[test]
fn errors_of_long_sums_stay_small() {
    let k = 1 << 20;
    let ones: Vec<u8> = 1f32.to_le_bytes().repeat(k);
    let tenths: Vec<u8> = 0.1f32.to_le_bytes().repeat(k);
    let same = same_on_any_number_of_threads("a long sum", |ctx| {
        let mut out = vec![0u8; 4];
        let desc = row_major([F32; 3], [1, 1, 1, k]);
        run(ctx, &desc, &tenths, &ones, &mut out);
        out
    });
    let (got, want) =
        (f64::from(f32::from_le_bytes([same[0], same[1], same[2], same[3]])), f64::from(0.1f32) * k as f64);
    assert!((got - want).abs() < 1e-4 * want, "{got} for {want}");
}
