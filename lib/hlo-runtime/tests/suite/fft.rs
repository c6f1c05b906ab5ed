//! Tests Fourier transforms against their definition, over kinds, lengths, ranks and precisions, on one to
//! four threads.

use crate::common::same_on_any_number_of_threads;
use hlo_runtime::{ElementCode, FftDesc, FftKind, hlo_rt_fft};
use hlo_testing::Numbers;
use num_complex::Complex;

type C = Complex<f64>;

/// Computes the transform by its definition, along the middle of `[outer, n, inner]` elements.
fn dft(x: &[C], n: usize, inner: usize, sign: f64) -> Vec<C> {
    let mut out = vec![C::default(); x.len()];
    for (at, z) in out.iter_mut().enumerate() {
        let (block, k) = (at / (n * inner) * n * inner + at % inner, at / inner % n);
        for j in 0..n {
            let angle = sign * std::f64::consts::TAU * ((j * k) % n) as f64 / n as f64;
            *z += x[block + j * inner] * C::from_polar(1.0, angle);
        }
    }
    out
}

/// Computes the transform of all dimensions.
fn transform(x: &[C], lengths: &[usize], inverse: bool) -> Vec<C> {
    let (mut out, mut inner) = (x.to_vec(), 1);
    for &n in lengths.iter().rev() {
        out = dft(&out, n, inner, if inverse { 1.0 } else { -1.0 });
        if inverse {
            out.iter_mut().for_each(|z| *z /= n as f64);
        }
        inner *= n;
    }
    out
}

fn encode(values: &[C], real: bool, double: bool) -> Vec<u64> {
    let parts = values.iter().flat_map(|z| if real { vec![z.re] } else { vec![z.re, z.im] });
    let bytes: Vec<u8> = if double {
        parts.flat_map(f64::to_ne_bytes).collect()
    } else {
        parts.flat_map(|x| (x as f32).to_ne_bytes()).collect()
    };
    // Copies the bytes to words, so that they are aligned.
    bytes
        .chunks(8)
        .map(|c| {
            let mut word = [0; 8];
            word[..c.len()].copy_from_slice(c);
            u64::from_ne_bytes(word)
        })
        .collect()
}

fn decode(bytes: &[u8], real: bool, double: bool) -> Vec<C> {
    let parts: Vec<f64> = if double {
        bytes.chunks_exact(8).map(|b| f64::from_ne_bytes(b.try_into().unwrap())).collect()
    } else {
        bytes.chunks_exact(4).map(|b| f64::from(f32::from_ne_bytes(b.try_into().unwrap()))).collect()
    };
    if real {
        parts.iter().map(|&x| C::new(x, 0.0)).collect()
    } else {
        parts.chunks_exact(2).map(|p| C::new(p[0], p[1])).collect()
    }
}

fn check(kind: FftKind, batch: usize, lengths: &[usize], double: bool) {
    let mut rng = Numbers::new(lengths.iter().fold(batch as u64, |h, &n| h * 31 + n as u64));
    let n: usize = batch * lengths.iter().product::<usize>();
    let last = *lengths.last().unwrap();
    let half = last / 2 + 1;
    let cut = |x: &[C]| x.chunks_exact(last.max(1)).flat_map(|l| l[..half].to_vec()).collect::<Vec<_>>();
    let real = matches!(kind, FftKind::ForwardReal | FftKind::InverseReal);
    let time: Vec<C> = (0..n).map(|_| C::new(rng.unit(), if real { 0.0 } else { rng.unit() })).collect();
    let (input, want) = match kind {
        FftKind::Forward => (time.clone(), transform(&time, lengths, false)),
        FftKind::Inverse => (time.clone(), transform(&time, lengths, true)),
        FftKind::ForwardReal => (time.clone(), cut(&transform(&time, lengths, false))),
        FftKind::InverseReal => (cut(&transform(&time, lengths, false)), time),
    };
    let mut desc = FftDesc {
        kind: kind as i64,
        element: if double { ElementCode::C128 } else { ElementCode::C64 } as i64,
        batch: batch as i64,
        rank: lengths.len() as i64,
        lengths: [0; 3],
    };
    for (to, &n) in desc.lengths.iter_mut().zip(lengths) {
        *to = n as i64;
    }
    let from = encode(&input, kind == FftKind::ForwardReal, double);
    let result_real = kind == FftKind::InverseReal;
    let bytes = want.len() * if result_real { 1 } else { 2 } * if double { 8 } else { 4 };
    let what = format!("{kind:?} {batch}x{lengths:?} double={double}");
    let got = same_on_any_number_of_threads(&what, |ctx| {
        let mut out = vec![0u64; bytes.div_ceil(8)];
        // SAFETY: the buffers have the sizes of the descriptor.
        let status = unsafe { hlo_rt_fft(ctx, &desc, from.as_ptr().cast(), out.as_mut_ptr().cast()) };
        assert_eq!((status, ctx.take_error()), (0, None), "{what}");
        let bytes_of: Vec<u8> = out.iter().flat_map(|w| w.to_ne_bytes()).collect();
        bytes_of[..bytes].to_vec()
    });
    let magnitude = want.iter().map(|z| z.norm()).fold(1.0, f64::max);
    let tolerance = magnitude * if double { 1e-14 } else { 2e-6 };
    for (i, (g, w)) in decode(&got, result_real, double).iter().zip(&want).enumerate() {
        assert!((g - w).norm() <= tolerance, "{what}, element {i}: got {g}, want {w}");
    }
}

const KINDS: [FftKind; 4] = [FftKind::Forward, FftKind::Inverse, FftKind::ForwardReal, FftKind::InverseReal];

#[test]
fn lines_of_any_length() {
    for kind in KINDS {
        for n in (1..=40).chain([64, 97, 100, 128, 243, 1009]) {
            check(kind, 3, &[n], false);
            check(kind, 1, &[n], true);
        }
    }
}

#[test]
fn several_dimensions() {
    for kind in KINDS {
        for double in [false, true] {
            check(kind, 2, &[6, 10], double);
            check(kind, 1, &[37, 40], double);
            check(kind, 2, &[3, 4, 5], double);
            check(kind, 1, &[1, 7, 1], double);
            check(kind, 1, &[64, 96], double);
        }
    }
}

#[test]
fn what_is_empty_or_wrong() {
    let run = |desc: &FftDesc| {
        let ctx = hlo_runtime::Context::new(1);
        // SAFETY: the descriptors below have no elements or are invalid.
        let status = unsafe {
            hlo_rt_fft(&ctx, desc, std::ptr::dangling::<u64>().cast(), std::ptr::dangling_mut::<u64>().cast())
        };
        (status, ctx.take_error().unwrap_or_default())
    };
    let desc = FftDesc { element: ElementCode::C64 as i64, batch: 0, rank: 1, lengths: [5, 0, 0], kind: 0 };
    assert_eq!(run(&desc).0, 0);
    assert_eq!(run(&FftDesc { batch: 4, lengths: [0; 3], kind: 3, ..desc }).0, 0);
    for (desc, message) in [
        (FftDesc { rank: 0, ..desc }, "fft: a transform of 0 dimensions"),
        (FftDesc { rank: 4, ..desc }, "fft: a transform of 4 dimensions"),
        (FftDesc { kind: 9, ..desc }, "fft: unknown kind of transform 9"),
        (FftDesc { batch: -1, ..desc }, "fft: a size is -1"),
        (FftDesc { batch: i64::MAX, ..desc }, "fft: the array does not fit the address space"),
        (FftDesc { element: ElementCode::S32 as i64, ..desc }, "fft: no transform of S32"),
    ] {
        assert_eq!(run(&desc), (1, message.to_string()));
    }
}

#[test]
fn imaginary_parts_that_no_spectrum_of_reals_has_do_not_count() {
    let ctx = hlo_runtime::Context::new(1);
    let desc = FftDesc { element: ElementCode::C64 as i64, batch: 1, rank: 1, lengths: [4, 0, 0], kind: 3 };
    let spectrum = [10f32, 77.0, -2.0, 2.0, -2.0, 55.0];
    let mut out = [0f32; 4];
    // SAFETY: three complex numbers give four reals.
    let status = unsafe { hlo_rt_fft(&ctx, &desc, spectrum.as_ptr().cast(), out.as_mut_ptr().cast()) };
    assert_eq!((status, out), (0, [1.0, 2.0, 3.0, 4.0]));
}
