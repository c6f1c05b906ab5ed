//! Tests strided copies against element-by-element copies, over ranks, orders of dimensions and element
//! sizes.

use crate::common::same_on_any_number_of_threads;
use hlo_runtime::{Context, CopyDesc, hlo_rt_copy_strided};
use hlo_testing::Numbers;

fn strides(rng: &mut Numbers, sizes: &[usize], gaps: bool) -> (Vec<i64>, usize) {
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    for i in (1..order.len()).rev() {
        order.swap(i, rng.below(i + 1));
    }
    let mut strides = vec![0; sizes.len()];
    let mut next = if gaps { 1 + rng.below(3) } else { 1 };
    for d in order {
        strides[d] = next as i64;
        next *= sizes[d].max(1);
        next += if gaps { rng.below(4) } else { 0 };
    }
    (strides, next)
}

fn case(rng: &mut Numbers, bytes: usize, sizes: &[usize], gaps: bool) {
    let (from_strides, from_span) = strides(rng, sizes, gaps);
    let (to_strides, to_span) = strides(rng, sizes, gaps);
    let from: Vec<u8> = (0..from_span * bytes).map(|_| rng.bits() as u8).collect();
    let mut desc = CopyDesc { element_bytes: bytes as i64, rank: sizes.len() as i64, ..CopyDesc::default() };
    for d in 0..sizes.len() {
        desc.sizes[d] = sizes[d] as i64;
        desc.from_strides[d] = from_strides[d];
        desc.to_strides[d] = to_strides[d];
    }
    let what = format!("{desc:?}");
    let got = same_on_any_number_of_threads(&what, |ctx| {
        let mut to = vec![0xa5u8; to_span * bytes];
        // SAFETY: the buffers cover all elements that the descriptor reaches.
        let status = unsafe { hlo_rt_copy_strided(ctx, &desc, from.as_ptr(), to.as_mut_ptr()) };
        assert_eq!(status, 0, "{:?}", ctx.take_error());
        to
    });
    let mut want = vec![0xa5u8; to_span * bytes];
    let total: usize = sizes.iter().product();
    for mut i in 0..total {
        let (mut f, mut t) = (0, 0);
        for d in (0..sizes.len()).rev() {
            f += i % sizes[d] * from_strides[d] as usize;
            t += i % sizes[d] * to_strides[d] as usize;
            i /= sizes[d];
        }
        want[t * bytes..][..bytes].copy_from_slice(&from[f * bytes..][..bytes]);
    }
    assert!(got == want, "{what}");
}

#[test]
fn boxes_of_every_rank_and_element_size() {
    let mut rng = Numbers::new(9);
    for bytes in [1, 2, 4, 8, 16] {
        for round in 0..60 {
            let sizes: Vec<usize> = (0..round % 6).map(|_| 1 + rng.below(9)).collect();
            case(&mut rng, bytes, &sizes, round % 2 == 0);
        }
        case(&mut rng, bytes, &[3, 0, 4], false);
    }
}

#[test]
fn large_planes_with_whole_and_partial_tiles() {
    let mut rng = Numbers::new(10);
    for bytes in [1, 2, 4, 8, 16] {
        for sizes in [&[128, 256][..], &[70, 133], &[33, 5, 47], &[1500, 90], &[7, 64, 64]] {
            for _ in 0..3 {
                case(&mut rng, bytes, sizes, false);
            }
        }
    }
}

#[test]
fn outputs_beyond_the_cache() {
    let mut rng = Numbers::new(11);
    case(&mut rng, 4, &[2048, 2064], false);
    case(&mut rng, 8, &[1032, 2051], false);
}

#[test]
fn negative_and_zero_strides_reverse_and_broadcast() {
    let from: Vec<u32> = (0..12).collect();
    let mut to = vec![0u32; 24];
    let mut desc = CopyDesc { element_bytes: 4, rank: 3, ..CopyDesc::default() };
    desc.sizes[..3].copy_from_slice(&[2, 3, 4]);
    desc.from_strides[..3].copy_from_slice(&[0, 4, -1]);
    desc.to_strides[..3].copy_from_slice(&[12, 4, 1]);
    // SAFETY: the input starts at its element 3, from which the descriptor reaches elements 0 to 11.
    let status = unsafe {
        let from = from.as_ptr().add(3).cast();
        hlo_rt_copy_strided(&Context::new(2), &desc, from, to.as_mut_ptr().cast())
    };
    assert_eq!(status, 0);
    let want = [3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8];
    assert_eq!((&to[..12], &to[12..]), (&want[..], &want[..]));
}

#[test]
fn impossible_descriptors_are_errors() {
    let ctx = Context::new(1);
    for (desc, message) in [
        (CopyDesc { element_bytes: 3, ..CopyDesc::default() }, "copy: elements of 3 bytes"),
        (CopyDesc { element_bytes: 4, rank: 9, ..CopyDesc::default() }, "copy: the rank is 9"),
    ] {
        // SAFETY: the function fails before it accesses any element.
        let status = unsafe { hlo_rt_copy_strided(&ctx, &desc, std::ptr::null(), std::ptr::null_mut()) };
        assert_eq!(status, 1);
        assert_eq!(ctx.take_error().as_deref(), Some(message));
    }
}
