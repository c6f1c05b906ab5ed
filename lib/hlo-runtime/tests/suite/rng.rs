//! Tests random bits against XLA's outputs for the same states.

use crate::common::same_on_any_number_of_threads;
use hlo_runtime::{Context, hlo_rt_rng_philox, hlo_rt_rng_three_fry};

const KEY: u64 = 0x0123_4567_89ab_cdef;
const COUNTER: u64 = 0xffff_ffff_ffff_fffd;
const HIGH: u64 = 0x1122_3344_5566_7788;

/// Returns the elements of ThreeFry's output, and the new counter.
fn three_fry(ctx: &Context, bytes: usize, dims: &[i64]) -> (Vec<u64>, u64) {
    let count = dims.iter().product::<i64>() as usize;
    let mut state = [KEY, COUNTER];
    let mut out = vec![0u8; count * bytes];
    // SAFETY: the buffers have the sizes that are passed.
    let status = unsafe {
        let (state, new) = (state.as_ptr(), state.as_mut_ptr());
        hlo_rt_rng_three_fry(
            ctx,
            state,
            new,
            out.as_mut_ptr(),
            8 * bytes as i64,
            dims.as_ptr(),
            dims.len() as i64,
        )
    };
    assert_eq!((status, state[0]), (0, KEY));
    (widen(&out, bytes), state[1])
}

fn philox(ctx: &Context, words: usize, bytes: usize, count: usize) -> (Vec<u64>, [u64; 3]) {
    let state = [KEY, COUNTER, HIGH];
    let mut new = [0; 3];
    let mut out = vec![0u8; count * bytes];
    // SAFETY: the buffers have the sizes that are passed.
    let status = unsafe {
        hlo_rt_rng_philox(
            ctx,
            state.as_ptr(),
            words as i64,
            new.as_mut_ptr(),
            out.as_mut_ptr(),
            8 * bytes as i64,
            count as i64,
        )
    };
    assert_eq!(status, 0);
    (widen(&out, bytes), new)
}

fn widen(out: &[u8], bytes: usize) -> Vec<u64> {
    out.chunks(bytes).map(|c| c.iter().rev().fold(0, |value, &byte| (value << 8) | u64::from(byte))).collect()
}

#[test]
fn three_fry_gives_the_bits_of_xla() {
    let ctx = Context::new(1);
    let words = [
        0x3fc5955f, 0x7e39c6dc, 0xb0f4215b, 0xe19a60b4, 0x0b3d7494, 0xacf8c4dc, 0xaaa4d889, 0x6b35c4f4,
        0x75a52907, 0xd3dd8613, 0x35d0e5f1, 0x8ed17fe4,
    ];
    assert_eq!(three_fry(&ctx, 4, &[7]), (words[..7].to_vec(), 1));
    assert_eq!(three_fry(&ctx, 4, &[3, 4]), (words.to_vec(), 3));
    // The pairs are along the first even dimension.
    let rows = [0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11].map(|i| words[i]);
    assert_eq!(three_fry(&ctx, 4, &[4, 3]), (rows.to_vec(), 3));
    // Without an even dimension, the pairs are along the largest one, and its last element has no partner.
    let odd = [
        0x3fc5955f, 0x7e39c6dc, 0xb0f4215b, 0xe19a60b4, 0x0b3d7494, 0xaaa4d889, 0x6b35c4f4, 0x75a52907,
        0xd3dd8613, 0x35d0e5f1, 0x7c2f19d8, 0x0284dbe3, 0xde79bbbd, 0x1713fd18, 0xb09d029e,
    ];
    assert_eq!(three_fry(&ctx, 4, &[3, 5]), (odd.to_vec(), 6));
    assert_eq!(three_fry(&ctx, 1, &[3, 5]), (odd.map(|w| w & 0xff).to_vec(), 6));
    assert_eq!(three_fry(&ctx, 2, &[5]), (words[..5].iter().map(|w| w & 0xffff).collect(), 0));
    let wide: Vec<u64> = words[..10].chunks(2).map(|w| w[0] | (w[1] << 32)).collect();
    assert_eq!(three_fry(&ctx, 8, &[5]), (wide, 2));
    assert_eq!(three_fry(&ctx, 4, &[]), (vec![words[0]], COUNTER + 1));
    assert_eq!(three_fry(&ctx, 4, &[0]), (vec![], COUNTER));
    // If several odd dimensions have the largest size, the first of them is split.
    let square = three_fry(&ctx, 4, &[3, 3]);
    assert_eq!(square.0[..6], [0, 2, 4, 1, 3, 5].map(|i| words[i]));
    assert_eq!(square.1, 3);
}

#[test]
fn philox_gives_the_bits_of_xla() {
    let ctx = Context::new(1);
    let two = [0x5cce3967, 0x0a44081d, 0xd9ae917c, 0x7bab4396, 0x0a485194, 0x41c5f806, 0xd6822fee];
    assert_eq!(philox(&ctx, 2, 4, 7), (two.to_vec(), [KEY, COUNTER + 2, 0]));
    assert_eq!(philox(&ctx, 2, 2, 6).0, two[..6].iter().map(|w| w & 0xffff).collect::<Vec<_>>());
    let wide =
        [0xbe262c5446ef7d0e, 0xc03eafda2042031a, 0xfc8fde5ebcebe367, 0x644b93f47276a366, 0xf929763b4534f0b4];
    assert_eq!(philox(&ctx, 3, 8, 5), (wide.to_vec(), [KEY, 0, HIGH + 1]));
    let narrow = [0x0e, 0x54, 0x1a, 0xda, 0x67, 0x5e, 0x66, 0xf4, 0xb4, 0x3b, 0x97];
    assert_eq!(philox(&ctx, 3, 1, 11), (narrow.to_vec(), [KEY, 0, HIGH + 1]));
}

#[test]
fn large_outputs_continue_the_stream_on_any_number_of_threads() {
    let bytes = |v: Vec<u64>| v.iter().flat_map(|x| x.to_ne_bytes()).collect::<Vec<u8>>();
    let whole = three_fry(&Context::new(1), 8, &[50_000]).0;
    same_on_any_number_of_threads("three fry", |ctx| bytes(three_fry(ctx, 8, &[50_000]).0));
    same_on_any_number_of_threads("philox", |ctx| bytes(philox(ctx, 3, 4, 100_001).0));
    // An array of 32-bit words with one even dimension is the same stream of pairs.
    let narrow = three_fry(&Context::new(3), 4, &[100_000]).0;
    assert!(narrow.chunks(2).zip(&whole).all(|(n, w)| n[0] | (n[1] << 32) == *w));
    // Pairs along an outer dimension: the second element of each pair is one row further.
    let rows = three_fry(&Context::new(2), 4, &[4, 25_001]).0;
    for (c, w) in whole.iter().enumerate().take(25_001) {
        assert_eq!(rows[c] | (rows[25_001 + c] << 32), *w);
    }
    let prefix = philox(&Context::new(1), 3, 4, 1000).0;
    assert_eq!(philox(&Context::new(2), 3, 4, 70_000).0[..1000], prefix);
}

#[test]
fn impossible_arguments_are_errors() {
    let ctx = Context::new(1);
    let mut state = [0u64; 3];
    let (s, n) = (state.as_ptr(), state.as_mut_ptr());
    // SAFETY: the function fails before it accesses the output.
    unsafe {
        assert_eq!(hlo_rt_rng_philox(&ctx, s, 1, n, std::ptr::null_mut(), 32, 4), 1);
        assert!(ctx.take_error().unwrap().contains("the state has 1 words"));
        assert_eq!(hlo_rt_rng_three_fry(&ctx, s, n, std::ptr::null_mut(), 24, [4].as_ptr(), 1), 1);
        assert!(ctx.take_error().unwrap().contains("no element of 24 bits"));
    }
}
