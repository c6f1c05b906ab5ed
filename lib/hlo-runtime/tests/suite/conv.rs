//! Tests convolutions against direct sums in wider arithmetic, over element types, ranks, windows, groups and
//! layouts, on one to four threads.

use crate::common::{check, elements, same_on_any_number_of_threads, value};
use hlo_runtime::{Context, ConvDesc, ConvDim, ElementCode, hlo_rt_conv};
use hlo_testing::Numbers;

use ElementCode::*;

/// Returns dense strides for `sizes` in a random order of dimensions, or in the given order with `in_order`.
fn strides(rng: &mut Numbers, sizes: &[usize], in_order: bool) -> Vec<i64> {
    let mut order: Vec<usize> = (0..sizes.len()).rev().collect();
    if !in_order {
        for i in (1..order.len()).rev() {
            order.swap(i, rng.below(i + 1));
        }
    }
    let mut strides = vec![0; sizes.len()];
    let mut next = 1;
    for d in order {
        strides[d] = next as i64;
        next *= sizes[d].max(1);
    }
    strides
}

struct Sizes {
    rank: usize,
    batch: usize,
    group_in: usize,
    group_out: usize,
    feature_groups: usize,
    batch_groups: usize,
    spatial: usize,
    dilate: bool,
}

/// Returns a random convolution. Its logical dimension orders are (batch, spatial…, feature) and (spatial…,
/// in, out).
fn made_up(rng: &mut Numbers, types: [ElementCode; 3], s: &Sizes) -> (ConvDesc, [usize; 3]) {
    let mut desc = ConvDesc {
        lhs_type: types[0] as i64,
        rhs_type: types[1] as i64,
        out_type: types[2] as i64,
        spatial_rank: s.rank as i64,
        batch: (s.batch * s.batch_groups) as i64,
        in_features: (s.group_in * s.feature_groups) as i64,
        out_features: (s.group_out * s.feature_groups * s.batch_groups) as i64,
        feature_groups: s.feature_groups as i64,
        batch_groups: s.batch_groups as i64,
        ..ConvDesc::default()
    };
    let (mut lhs, mut rhs, mut out) = (vec![desc.batch as usize], vec![], vec![s.batch]);
    for d in 0..s.rank {
        let dilation = |rng: &mut Numbers| if s.dilate { 1 + rng.below(3) as i64 } else { 1 };
        let window = 1 + rng.below(4) as i64;
        let (lhs_dilation, rhs_dilation) = (dilation(rng), dilation(rng));
        let in_size = 1 + rng.below(s.spatial) as i64;
        let stride = 1 + rng.below(3) as i64;
        let pad_low = rng.below(5) as i64 - if s.dilate { 2 } else { 0 };
        let pad_high = rng.below(5) as i64 - if s.dilate { 2 } else { 0 };
        let space = (in_size - 1) * lhs_dilation + 1 + pad_low + pad_high;
        let reach = (window - 1) * rhs_dilation + 1;
        let out_size = if space < reach { 0 } else { (space - reach) / stride + 1 };
        desc.dims[d] = ConvDim {
            in_size,
            window,
            out_size,
            stride,
            pad_low,
            lhs_dilation,
            rhs_dilation,
            reversed: (s.dilate && rng.below(2) == 1) as i64,
            ..ConvDim::default()
        };
        lhs.push(in_size as usize);
        rhs.push(window as usize);
        out.push(out_size as usize);
    }
    lhs.push(desc.in_features as usize);
    rhs.extend([s.group_in, desc.out_features as usize]);
    out.push(desc.out_features as usize);
    let in_order = rng.below(2) == 0;
    let (l, r, o) =
        (strides(rng, &lhs, in_order), strides(rng, &rhs, in_order), strides(rng, &out, in_order));
    for d in 0..s.rank {
        desc.dims[d].lhs_stride = l[d + 1];
        desc.dims[d].rhs_stride = r[d];
        desc.dims[d].out_stride = o[d + 1];
    }
    (desc.lhs_batch_stride, desc.lhs_feature_stride) = (l[0], l[s.rank + 1]);
    (desc.rhs_in_stride, desc.rhs_out_stride) = (r[s.rank], r[s.rank + 1]);
    (desc.out_batch_stride, desc.out_feature_stride) = (o[0], o[s.rank + 1]);
    let count = |v: &[usize]| v.iter().product::<usize>();
    (desc, [count(&lhs), count(&rhs), count(&out)])
}

/// Advances `at` to the next index of a box. Returns false after the last index.
fn next(at: &mut [usize], sizes: impl Fn(usize) -> usize) -> bool {
    for d in (0..at.len()).rev() {
        at[d] += 1;
        if at[d] < sizes(d) {
            return true;
        }
        at[d] = 0;
    }
    false
}

fn verify(what: &str, types: [ElementCode; 3], desc: &ConvDesc, lhs: &[u8], rhs: &[u8], out: &[u8]) {
    let rank = desc.spatial_rank as usize;
    let dims = &desc.dims[..rank];
    let group_in = desc.in_features / desc.feature_groups;
    let group_out = desc.out_features / desc.feature_groups / desc.batch_groups;
    let out_batch = desc.batch / desc.batch_groups;
    if out_batch == 0 || dims.iter().any(|d| d.out_size == 0) {
        return;
    }
    for b in 0..out_batch {
        for f in 0..desc.out_features {
            let mut o = vec![0usize; rank];
            loop {
                let (mut integer, mut re, mut im, mut magnitude) = (0i128, 0.0, 0.0, 0.0);
                let group = f / group_out;
                let (first_z, first_b) =
                    if desc.feature_groups > 1 { (group * group_in, 0) } else { (0, group * out_batch) };
                let mut w = vec![0usize; rank];
                loop {
                    let mut l = (first_b + if desc.batch_groups > 1 { b } else { 0 }) * desc.lhs_batch_stride;
                    if desc.batch_groups == 1 {
                        l = b * desc.lhs_batch_stride;
                    }
                    let mut r = f * desc.rhs_out_stride;
                    let mut inside = dims.iter().all(|d| d.window > 0);
                    for (d, dim) in dims.iter().enumerate() {
                        let at = o[d] as i64 * dim.stride - dim.pad_low + w[d] as i64 * dim.rhs_dilation;
                        inside &= at.rem_euclid(dim.lhs_dilation) == 0;
                        let at = at.div_euclid(dim.lhs_dilation);
                        inside &= (0..dim.in_size).contains(&at);
                        l += at * dim.lhs_stride;
                        let tap = if dim.reversed != 0 { dim.window - 1 - w[d] as i64 } else { w[d] as i64 };
                        r += tap * dim.rhs_stride;
                    }
                    for z in 0..if inside { group_in } else { 0 } {
                        let p = value(types[0], lhs, (l + (first_z + z) * desc.lhs_feature_stride) as usize);
                        let q = value(types[1], rhs, (r + z * desc.rhs_in_stride) as usize);
                        integer = integer.wrapping_add(p.0.wrapping_mul(q.0));
                        re += p.1.0 * q.1.0 - p.1.1 * q.1.1;
                        im += p.1.0 * q.1.1 + p.1.1 * q.1.0;
                        magnitude += (p.1.0.abs() + p.1.1.abs()) * (q.1.0.abs() + q.1.1.abs());
                    }
                    if !next(&mut w, |d| dims[d].window as usize) {
                        break;
                    }
                }
                let mut at = b * desc.out_batch_stride + f * desc.out_feature_stride;
                at += dims.iter().zip(&o).map(|(d, &o)| o as i64 * d.out_stride).sum::<i64>();
                let wide = if types.contains(&F64) || types.contains(&C128) { 64 } else { 32 };
                let got = value(types[2], out, at as usize);
                check(
                    &format!("{what} at {b} {o:?} {f}"),
                    types[2],
                    got,
                    (integer, (re, im)),
                    magnitude,
                    wide,
                );
                if !next(&mut o, |d| dims[d].out_size as usize) {
                    break;
                }
            }
        }
    }
}

fn case(rng: &mut Numbers, types: [ElementCode; 3], sizes: &Sizes) {
    let (desc, counts) = made_up(rng, types, sizes);
    run(rng, types, &desc, counts);
}

/// Runs a convolution with the given numbers of input, filter and output elements, and verifies the result.
fn run(rng: &mut Numbers, types: [ElementCode; 3], desc: &ConvDesc, [lhs, rhs, out]: [usize; 3]) {
    let (lhs, rhs) = (elements(rng, types[0], lhs), elements(rng, types[1], rhs));
    let what = format!("{desc:?}");
    let got = same_on_any_number_of_threads(&what, |ctx| {
        let mut bytes = vec![0xa5; out * types[2].byte_size()];
        // SAFETY: the buffers cover all elements that the descriptor reaches.
        let status = unsafe { hlo_rt_conv(ctx, desc, lhs.as_ptr(), rhs.as_ptr(), bytes.as_mut_ptr()) };
        assert_eq!(status, 0, "{:?}", ctx.take_error());
        bytes
    });
    verify(&what, types, desc, &lhs, &rhs, &got);
}

const TYPES: &[[ElementCode; 3]] = &[
    [F32, F32, F32],
    [F64, F64, F64],
    [F16, F16, F16],
    [Bf16, Bf16, Bf16],
    [Bf16, Bf16, F32],
    [C64, C64, C64],
    [C128, C128, C128],
    [S8, S8, S32],
    [U8, U8, U8],
    [S32, S32, S32],
    [U64, U64, U64],
    [Pred, Pred, Pred],
];

#[test]
fn every_type_with_small_windows() {
    let mut rng = Numbers::new(5);
    for &types in TYPES {
        for round in 0..16 {
            let sizes = Sizes {
                rank: round % 4,
                batch: 1 + rng.below(3),
                group_in: 1 + rng.below(9),
                group_out: 1 + rng.below(9),
                feature_groups: 1,
                batch_groups: 1,
                spatial: 7,
                dilate: round % 2 == 1,
            };
            case(&mut rng, types, &sizes);
        }
    }
}

#[test]
fn feature_and_batch_groups() {
    let mut rng = Numbers::new(6);
    for types in [[F32; 3], [F64; 3], [S8, S8, S32], [F16; 3]] {
        for round in 0..16 {
            let groups = 2 + rng.below(3);
            let by_features = round % 2 == 0;
            let sizes = Sizes {
                rank: 1 + round % 2,
                batch: 1 + rng.below(3),
                group_in: 1 + rng.below(6),
                group_out: 1 + rng.below(3),
                feature_groups: if by_features { groups } else { 1 },
                batch_groups: if by_features { 1 } else { groups },
                spatial: 7,
                dilate: round % 4 > 1,
            };
            case(&mut rng, types, &sizes);
        }
    }
}

#[test]
fn many_small_groups_in_every_layout() {
    let mut rng = Numbers::new(7);
    for (round, &types) in TYPES.iter().cycle().take(4 * TYPES.len()).enumerate() {
        for (group_in, group_out) in [(1, 1), (1, 2), (3, 1), (2, 5), (4, 4)] {
            let groups = 6 + rng.below(if group_in * group_out == 1 { 140 } else { 40 });
            let by_features = rng.below(2) == 0;
            let sizes = Sizes {
                rank: round % 4,
                batch: 1 + rng.below(2),
                group_in,
                group_out,
                feature_groups: if by_features { groups } else { 1 },
                batch_groups: if by_features { 1 } else { groups },
                spatial: if round % 4 == 3 { 5 } else { 9 },
                dilate: rng.below(3) == 0,
            };
            case(&mut rng, types, &sizes);
        }
    }
}

/// One or a few features on either side, with partially filled vectors of features and of pixels.
#[test]
fn few_features_of_every_type_in_every_layout() {
    let mut rng = Numbers::new(10);
    for (round, &types) in TYPES.iter().cycle().take(3 * TYPES.len()).enumerate() {
        for (group_in, group_out) in [(1, 1), (1, 33), (3, 16), (2, 50), (17, 1), (33, 3), (20, 11)] {
            let sizes = Sizes {
                rank: 1 + rng.below(3),
                batch: 1 + rng.below(4),
                group_in,
                group_out,
                feature_groups: 1,
                batch_groups: 1,
                spatial: if round % 3 == 0 { 5 } else { 13 },
                dilate: rng.below(2) == 0,
            };
            case(&mut rng, types, &sizes);
        }
    }
}

/// Returns a convolution with one spatial dimension, with the features or the positions last. `dim` has no
/// strides.
fn one_dimension(
    types: [ElementCode; 3],
    [batch, z, f]: [i64; 3],
    dim: ConvDim,
    features_last: bool,
) -> (ConvDesc, [usize; 3]) {
    let strides = |features: i64, size: i64| if features_last { (1, features) } else { (size, 1) };
    let (lhs, rhs, out) = (strides(z, dim.in_size), strides(f, dim.window), strides(f, dim.out_size));
    let desc = ConvDesc {
        lhs_type: types[0] as i64,
        rhs_type: types[1] as i64,
        out_type: types[2] as i64,
        spatial_rank: 1,
        batch,
        in_features: z,
        out_features: f,
        feature_groups: 1,
        batch_groups: 1,
        lhs_batch_stride: z * dim.in_size,
        lhs_feature_stride: lhs.0,
        rhs_in_stride: f * dim.window,
        rhs_out_stride: rhs.0,
        out_batch_stride: f * dim.out_size,
        out_feature_stride: out.0,
        dims: std::array::from_fn(|_| ConvDim {
            lhs_stride: lhs.1,
            rhs_stride: rhs.1,
            out_stride: out.1,
            ..dim
        }),
    };
    (desc, [batch * z * dim.in_size, z * f * dim.window, batch * f * dim.out_size].map(|n| n as usize))
}

/// Sums in several parts, split by the window and by the features; blocks along every axis; wide gaps between
/// window positions.
#[test]
fn long_windows_and_long_lines() {
    let mut rng = Numbers::new(11);
    let dim = ConvDim { stride: 1, lhs_dilation: 1, rhs_dilation: 1, ..ConvDim::default() };
    for (sizes, dim) in [
        ([1, 1, 3], ConvDim { in_size: 9100, window: 9000, out_size: 110, pad_low: 5, ..dim }),
        (
            [2, 2, 17],
            ConvDim { in_size: 5001, window: 4500, out_size: 502, lhs_dilation: 3, stride: 21, ..dim },
        ),
        ([1, 3000, 5], ConvDim { in_size: 20, window: 5, out_size: 18, pad_low: 1, ..dim }),
        ([1, 1, 2], ConvDim { in_size: 150_000, window: 3, out_size: 149_998, ..dim }),
        ([1, 2, 2], ConvDim { in_size: 9000, window: 2, out_size: 1000, rhs_dilation: 8000, ..dim }),
        ([3, 5, 20], ConvDim { in_size: 301, window: 7, out_size: 99, stride: 3, reversed: 1, ..dim }),
    ] {
        for types in [[F32; 3], [F64; 3], [C64; 3], [S8, S8, S32]] {
            for features_last in [false, true] {
                let (desc, counts) = one_dimension(types, sizes, dim, features_last);
                run(&mut rng, types, &desc, counts);
            }
        }
    }
}

#[test]
fn empty_batches_features_windows_and_inputs() {
    let mut rng = Numbers::new(12);
    let dim = ConvDim {
        in_size: 4,
        window: 3,
        out_size: 6,
        stride: 1,
        pad_low: 2,
        lhs_dilation: 1,
        rhs_dilation: 1,
        ..ConvDim::default()
    };
    for types in TYPES {
        for features_last in [false, true] {
            for lhs_dilation in [1, 2] {
                let dim = ConvDim { lhs_dilation, ..dim };
                for (sizes, dim) in [
                    ([0, 2, 3], dim),
                    ([2, 0, 3], dim),
                    ([2, 3, 0], dim),
                    ([2, 3, 20], ConvDim { in_size: 0, ..dim }),
                    ([2, 3, 4], ConvDim { window: 0, ..dim }),
                    ([2, 3, 4], ConvDim { out_size: 0, ..dim }),
                ] {
                    let (desc, counts) = one_dimension(*types, sizes, dim, features_last);
                    run(&mut rng, *types, &desc, counts);
                }
            }
        }
    }
}

/// Windows that cover their input, with groups as the batch.
#[test]
fn gradients_of_depthwise_filters() {
    let mut rng = Numbers::new(9);
    for (round, types) in [[F32; 3], [Bf16; 3], [F64; 3], [F32; 3]].into_iter().cycle().take(12).enumerate() {
        let (groups, entries) = (7 + rng.below(60), 1 + rng.below(4));
        let (size, kernel) = ([[41, 60], [130, 3], [1, 300]][round % 3], [3, [1, 2, 5][round % 3]]);
        // In the input, groups are the batch and entries are features. In the filter, entries are input
        // features and groups are output features.
        let mut desc = ConvDesc {
            lhs_type: types[0] as i64,
            rhs_type: types[1] as i64,
            out_type: types[2] as i64,
            spatial_rank: 2,
            batch: groups as i64,
            in_features: entries as i64,
            out_features: groups as i64,
            feature_groups: 1,
            batch_groups: groups as i64,
            ..ConvDesc::default()
        };
        let (mut lhs, mut rhs, mut out) = (vec![groups], vec![], vec![1]);
        for d in 0..2 {
            let dilation = 1 + (round / 6) as i64;
            let (in_size, out_size) = (size[d] as i64, kernel[d] as i64);
            let window = (in_size + dilation - 1) / dilation;
            desc.dims[d] = ConvDim {
                in_size,
                window,
                out_size,
                stride: 1,
                pad_low: (out_size - 1) / 2,
                lhs_dilation: 1,
                rhs_dilation: dilation,
                ..ConvDim::default()
            };
            lhs.push(in_size as usize);
            rhs.push(window as usize);
            out.push(out_size as usize);
        }
        lhs.push(entries);
        rhs.extend([entries, groups]);
        out.push(groups);
        let in_order = rng.below(2) == 0;
        let [l, r, o] = [&lhs, &rhs, &out].map(|sizes| strides(&mut rng, sizes, in_order));
        for d in 0..2 {
            desc.dims[d].lhs_stride = l[d + 1];
            desc.dims[d].rhs_stride = r[d];
            desc.dims[d].out_stride = o[d + 1];
        }
        (desc.lhs_batch_stride, desc.lhs_feature_stride) = (l[0], l[3]);
        (desc.rhs_in_stride, desc.rhs_out_stride) = (r[2], r[3]);
        (desc.out_batch_stride, desc.out_feature_stride) = (o[0], o[3]);
        let [lhs, rhs, out] = [lhs, rhs, out].map(|sizes| sizes.iter().product::<usize>());
        run(&mut rng, types, &desc, [lhs, rhs, out]);
    }
}

/// Zeros between the input's elements, multiplied by infinite weights, produce NaN.
#[test]
fn infinite_weights_meet_the_gaps_of_a_dilated_input() {
    for groups in [1, 3, 40] {
        let desc = ConvDesc {
            lhs_type: F32 as i64,
            rhs_type: F32 as i64,
            out_type: F32 as i64,
            spatial_rank: 1,
            batch: 1,
            in_features: groups,
            out_features: groups,
            feature_groups: groups,
            batch_groups: 1,
            lhs_batch_stride: 4 * groups,
            lhs_feature_stride: 4,
            rhs_in_stride: 2,
            rhs_out_stride: 2,
            out_batch_stride: 8 * groups,
            out_feature_stride: 8,
            dims: std::array::from_fn(|_| ConvDim {
                in_size: 4,
                window: 2,
                out_size: 8,
                stride: 1,
                pad_low: 1,
                lhs_dilation: 2,
                rhs_dilation: 1,
                reversed: 0,
                lhs_stride: 1,
                rhs_stride: 1,
                out_stride: 1,
            }),
        };
        let lhs = vec![1f32; 4 * groups as usize];
        let rhs: Vec<f32> = (0..groups).flat_map(|_| [2.0, f32::INFINITY]).collect();
        let mut out = vec![0f32; 8 * groups as usize];
        let ctx = Context::new(1);
        // SAFETY: the buffers cover all elements that the descriptor reaches.
        let status = unsafe {
            hlo_rt_conv(&ctx, &desc, lhs.as_ptr().cast(), rhs.as_ptr().cast(), out.as_mut_ptr().cast())
        };
        assert_eq!(status, 0);
        for line in out.chunks(8) {
            for (o, &value) in line.iter().enumerate() {
                // The infinite weight is on an element at even positions, and on a zero at odd ones.
                assert!(
                    if o % 2 == 0 { value == f32::INFINITY } else { value.is_nan() },
                    "{groups}: {line:?}"
                );
            }
        }
    }
}

#[test]
fn convolutions_that_span_several_blocks() {
    let mut rng = Numbers::new(8);
    for (types, spatial) in [([F32; 3], 24), ([Bf16; 3], 20), ([S8, S8, S32], 20)] {
        for round in 0..6 {
            let sizes = Sizes {
                rank: 2,
                batch: 2,
                group_in: [3, 40, 70][round % 3],
                group_out: [64, 50, 17][round / 2],
                feature_groups: 1,
                batch_groups: 1,
                spatial,
                dilate: round == 5,
            };
            case(&mut rng, types, &sizes);
        }
    }
}

#[test]
fn impossible_descriptors_are_errors() {
    let ctx = Context::new(1);
    let fine = ConvDesc {
        lhs_type: F32 as i64,
        rhs_type: F32 as i64,
        out_type: F32 as i64,
        feature_groups: 1,
        batch_groups: 1,
        ..ConvDesc::default()
    };
    for (desc, message) in [
        (ConvDesc { spatial_rank: 9, ..fine }, "the spatial rank is 9, more than 8"),
        (ConvDesc { in_features: 3, feature_groups: 2, ..fine }, "2 groups do not divide the sizes"),
        (ConvDesc { batch_groups: 0, ..fine }, "the number of batch groups is 0"),
        (ConvDesc { spatial_rank: 1, ..fine }, "a window stride is 0"),
    ] {
        // SAFETY: the function fails before it accesses any element.
        let status =
            unsafe { hlo_rt_conv(&ctx, &desc, std::ptr::null(), std::ptr::null(), std::ptr::null_mut()) };
        assert_eq!(status, 1);
        assert_eq!(ctx.take_error(), Some(format!("convolution: {message}")));
    }
}
