//! Times the runtime's functions on typical sizes and prints a table: `cargo run --release -p hlo-runtime
//! --example runtime_bench [FILTER]`. Each line is the minimum over several calls, with one thread and with
//! all threads.

use std::time::Instant;

use hlo_runtime::{
    Context, ConvDesc, ConvDim, CopyDesc, DotDesc, ElementCode, KeyKind, KeyOrder, SortDesc, SortKey,
    default_threads, hlo_rt_conv, hlo_rt_copy_strided, hlo_rt_dot, hlo_rt_parallel_for, hlo_rt_rng_philox,
    hlo_rt_rng_three_fry, hlo_rt_sort, hlo_rt_sort_keys,
};

/// A benchmark case: its name, the operations (or bytes) of one call in billions, their unit, and the call.
struct Case {
    name: &'static str,
    giga: f64,
    unit: &'static str,
    call: Box<dyn FnMut(&Context)>,
}

/// Returns the CPU time of this thread in seconds, or NaN if the system does not report it.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    stat.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(f64::NAN) / 1e9
}

/// Returns the minimum elapsed time of a call, and the mean CPU time of this thread per call. On a busy
/// machine the CPU time is more meaningful.
fn measure(case: &mut Case, ctx: &Context) -> (f64, f64) {
    (case.call)(ctx);
    let (before, start) = (cpu_seconds(), Instant::now());
    let (mut best, mut calls) = (f64::INFINITY, 0);
    while start.elapsed().as_secs_f64() < 0.5 {
        let t = Instant::now();
        (case.call)(ctx);
        best = best.min(t.elapsed().as_secs_f64());
        calls += 1;
    }
    (best, (cpu_seconds() - before) / f64::from(calls))
}

/// Returns test data: bytes that are small numbers in every element type.
fn data(code: ElementCode, n: usize) -> Vec<u64> {
    let bytes = n * code.byte_size();
    let pattern: u64 = match code {
        ElementCode::F32 | ElementCode::C64 => 0x3f10_0000_3e80_0000,
        ElementCode::F64 | ElementCode::C128 => 0x3fe0_0000_0000_0000,
        ElementCode::Bf16 | ElementCode::F16 => 0x3e80_3f10_3e00_3f00,
        _ => 0x0102_0304_0506_0708,
    };
    vec![pattern; bytes.div_ceil(8)]
}

fn dot(name: &'static str, types: [ElementCode; 3], sizes: [i64; 4]) -> Case {
    dot_of(name, types, sizes, [false; 2])
}

/// A product whose operands are row-major or transposed in memory.
fn dot_of(
    name: &'static str,
    types: [ElementCode; 3],
    [batch, m, n, k]: [i64; 4],
    transposed: [bool; 2],
) -> Case {
    let strides = |[rows, columns]: [i64; 2], turned: bool| if turned { [1, rows] } else { [columns, 1] };
    let ([lhs_m_stride, lhs_k_stride], [rhs_k_stride, rhs_n_stride]) =
        (strides([m, k], transposed[0]), strides([k, n], transposed[1]));
    let desc = DotDesc {
        lhs_type: types[0] as i64,
        rhs_type: types[1] as i64,
        out_type: types[2] as i64,
        batch,
        m,
        n,
        k,
        lhs_batch_stride: m * k,
        lhs_m_stride,
        lhs_k_stride,
        rhs_batch_stride: k * n,
        rhs_k_stride,
        rhs_n_stride,
        out_batch_stride: m * n,
        out_m_stride: n,
        out_n_stride: 1,
    };
    let lhs = data(types[0], (batch * m * k) as usize);
    let rhs = data(types[1], (batch * k * n) as usize);
    let mut out = data(types[2], (batch * m * n) as usize);
    Case {
        name,
        giga: 2.0 * (batch * m * n * k) as f64 / 1e9,
        unit: "GFLOP/s",
        call: Box::new(move |ctx| {
            // SAFETY: the buffers have the sizes in the descriptor.
            let status = unsafe {
                hlo_rt_dot(ctx, &desc, lhs.as_ptr().cast(), rhs.as_ptr().cast(), out.as_mut_ptr().cast())
            };
            assert_eq!(status, 0, "{:?}", ctx.take_error());
        }),
    }
}

/// A convolution of channels-last f32 with a square window.
#[allow(clippy::too_many_arguments, reason = "a table of sizes reads best on one line")]
fn conv(
    name: &'static str,
    batch: i64,
    size: i64,
    features: [i64; 2],
    window: i64,
    stride: i64,
    pad: i64,
    groups: i64,
) -> Case {
    let [ci, co] = features;
    let out_size = size / stride;
    let mut desc = ConvDesc {
        lhs_type: ElementCode::F32 as i64,
        rhs_type: ElementCode::F32 as i64,
        out_type: ElementCode::F32 as i64,
        spatial_rank: 2,
        batch,
        in_features: ci,
        out_features: co,
        feature_groups: groups,
        batch_groups: 1,
        lhs_batch_stride: size * size * ci,
        lhs_feature_stride: 1,
        rhs_in_stride: co,
        rhs_out_stride: 1,
        out_batch_stride: out_size * out_size * co,
        out_feature_stride: 1,
        ..ConvDesc::default()
    };
    for (d, across) in [(0, size), (1, 1)] {
        desc.dims[d] = ConvDim {
            in_size: size,
            window,
            out_size,
            stride,
            pad_low: pad,
            lhs_dilation: 1,
            rhs_dilation: 1,
            reversed: 0,
            lhs_stride: across * ci,
            rhs_stride: if d == 0 { window } else { 1 } * (ci / groups) * co,
            out_stride: if d == 0 { out_size } else { 1 } * co,
        };
    }
    let lhs = data(ElementCode::F32, (batch * size * size * ci) as usize);
    let rhs = data(ElementCode::F32, (window * window * ci / groups * co) as usize);
    let mut out = data(ElementCode::F32, (batch * out_size * out_size * co) as usize);
    Case {
        name,
        giga: 2.0 * (batch * out_size * out_size * co * window * window * ci / groups) as f64 / 1e9,
        unit: "GFLOP/s",
        call: Box::new(move |ctx| {
            // SAFETY: the buffers have the sizes in the descriptor.
            let status = unsafe {
                hlo_rt_conv(ctx, &desc, lhs.as_ptr().cast(), rhs.as_ptr().cast(), out.as_mut_ptr().cast())
            };
            assert_eq!(status, 0, "{:?}", ctx.take_error());
        }),
    }
}

/// A transposition of a square matrix.
fn transpose(name: &'static str, code: ElementCode, n: i64) -> Case {
    let mut desc = CopyDesc { element_bytes: code.byte_size() as i64, rank: 2, ..CopyDesc::default() };
    desc.sizes[..2].copy_from_slice(&[n, n]);
    desc.from_strides[..2].copy_from_slice(&[n, 1]);
    desc.to_strides[..2].copy_from_slice(&[1, n]);
    let from = data(code, (n * n) as usize);
    let mut to = data(code, (n * n) as usize);
    Case {
        name,
        giga: 2.0 * (n * n) as f64 * code.byte_size() as f64 / 1e9,
        unit: "GB/s",
        call: Box::new(move |ctx| {
            // SAFETY: the buffers have the sizes in the descriptor.
            let status =
                unsafe { hlo_rt_copy_strided(ctx, &desc, from.as_ptr().cast(), to.as_mut_ptr().cast()) };
            assert_eq!(status, 0, "{:?}", ctx.take_error());
        }),
    }
}

/// Random 32-bit words.
fn random(name: &'static str, philox: bool, n: i64) -> Case {
    let mut out = vec![0u32; n as usize];
    Case {
        name,
        giga: 4.0 * n as f64 / 1e9,
        unit: "GB/s",
        call: Box::new(move |ctx| {
            let (state, mut new) = ([1u64, 2, 3], [0u64; 3]);
            let (s, new, out) = (state.as_ptr(), new.as_mut_ptr(), out.as_mut_ptr().cast());
            // SAFETY: the buffers have the sizes that are passed.
            let status = unsafe {
                if philox {
                    hlo_rt_rng_philox(ctx, s, 3, new, out, 32, n)
                } else {
                    hlo_rt_rng_three_fry(ctx, s, new, out, 32, [n].as_ptr(), 1)
                }
            };
            assert_eq!(status, 0, "{:?}", ctx.take_error());
        }),
    }
}

unsafe extern "C" fn less(elements: *const *const u8) -> i8 {
    // SAFETY: the only operand is f32.
    let (a, b) = unsafe { (*(*elements).cast::<f32>(), *(*elements.add(1)).cast::<f32>()) };
    i8::from(a.total_cmp(&b).is_lt())
}

/// A sort of pseudorandom f32.
fn sort(name: &'static str, by_comparator: bool, n: i64) -> Case {
    let mut x = 1u32;
    let values: Vec<f32> = (0..n)
        .map(|_| {
            x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (x >> 8) as f32 - 8_000_000.0
        })
        .collect();
    let mut out = vec![0f32; n as usize];
    Case {
        name,
        giga: n as f64 / 1e9,
        unit: "G elements/s",
        call: Box::new(move |ctx| {
            let desc = SortDesc { outer: 1, size: n, inner: 1, operands: 1, keys: 1 };
            let (bytes, from, to) = ([4], [values.as_ptr().cast()], [out.as_mut_ptr().cast()]);
            let (b, f, t) = (bytes.as_ptr(), from.as_ptr(), to.as_ptr());
            // SAFETY: the buffers have the sizes in the descriptor.
            let status = unsafe {
                if by_comparator {
                    hlo_rt_sort(ctx, &desc, b, f, t, less)
                } else {
                    let (kind, order) = (KeyKind::Float as i64, KeyOrder::AscendingNumbers as i64);
                    let key = SortKey { operand: 0, kind, bits: 32, largest: 0x7f80_0000, order };
                    hlo_rt_sort_keys(ctx, &desc, b, f, t, &key)
                }
            };
            assert_eq!(status, 0, "{:?}", ctx.take_error());
        }),
    }
}

unsafe extern "C" fn nothing(_args: *const *mut u8, _begin: i64, _end: i64) {}

fn cases() -> Vec<Case> {
    use ElementCode::*;
    vec![
        Case {
            name: "parallel_for of 2 empty chunks",
            giga: 1e-9,
            unit: "G/s",
            // SAFETY: the body accesses no memory.
            call: Box::new(|ctx| unsafe { hlo_rt_parallel_for(ctx, nothing, std::ptr::null(), 2, 1) }),
        },
        dot("dot f32 384", [F32; 3], [1, 384, 384, 384]),
        dot("dot bf16 384", [Bf16; 3], [1, 384, 384, 384]),
        dot("dot s8->s32 384", [S8, S8, S32], [1, 384, 384, 384]),
        dot("dot f16 384", [F16; 3], [1, 384, 384, 384]),
        dot("dot f64 256", [F64; 3], [1, 256, 256, 256]),
        dot("dot f32 1024", [F32; 3], [1, 1024, 1024, 1024]),
        dot("dot f32 2048", [F32; 3], [1, 2048, 2048, 2048]),
        dot("dot f32 64x768x3072", [F32; 3], [1, 64, 3072, 768]),
        dot("dot f32 batched 96 x 128x64x128", [F32; 3], [96, 128, 128, 64]),
        dot("dot f32 100x100x100", [F32; 3], [1, 100, 100, 100]),
        dot("dot f32 batched 64 x 32x64x32", [F32; 3], [64, 32, 32, 64]),
        dot("dot f32 1000x40x3", [F32; 3], [1, 1000, 3, 40]),
        dot("dot f32 20000x64x10", [F32; 3], [1, 20000, 10, 64]),
        dot("dot f32 64x20000x10", [F32; 3], [1, 64, 10, 20000]),
        dot("dot f32 4096x4096x4", [F32; 3], [1, 4096, 4, 4096]),
        dot("dot f32 2048x2048x16", [F32; 3], [1, 2048, 16, 2048]),
        dot_of("dot f32 2048x2048^Tx16", [F32; 3], [1, 2048, 16, 2048], [true, false]),
        dot_of("dot f32 2048x2048x16^T", [F32; 3], [1, 2048, 16, 2048], [false, true]),
        dot_of("dot f32 2048x2048^Tx16^T", [F32; 3], [1, 2048, 16, 2048], [true, true]),
        dot("dot f32 16x2048x2048", [F32; 3], [1, 16, 2048, 2048]),
        dot_of("dot f32 16^Tx2048x2048", [F32; 3], [1, 16, 2048, 2048], [true, false]),
        dot_of("dot f32 16x2048x2048^T", [F32; 3], [1, 16, 2048, 2048], [false, true]),
        dot("dot f32 4x4096x4096", [F32; 3], [1, 4, 4096, 4096]),
        dot("dot f32 8x768x3072", [F32; 3], [1, 8, 3072, 768]),
        dot("dot f32 32x128x512", [F32; 3], [1, 32, 512, 128]),
        dot("dot f32 32x784x512", [F32; 3], [1, 32, 512, 784]),
        dot("dot f32 128x784x128", [F32; 3], [1, 128, 128, 784]),
        dot("dot f32 784x128x10", [F32; 3], [1, 784, 10, 128]),
        dot("dot f64 4096x1024x8", [F64; 3], [1, 4096, 8, 1024]),
        dot("dot f64 4096x1024x4", [F64; 3], [1, 4096, 4, 1024]),
        dot("dot f64 4x1024x4096", [F64; 3], [1, 4, 4096, 1024]),
        dot("dot f32 batched 512 x 8x8x8", [F32; 3], [512, 8, 8, 8]),
        dot("dot f32 batched 4096 x 3x3x3", [F32; 3], [4096, 3, 3, 3]),
        dot("dot f32 40x40x3", [F32; 3], [1, 40, 3, 40]),
        dot("dot f32 3x40x40", [F32; 3], [1, 3, 40, 40]),
        dot("dot f32 1x64x64", [F32; 3], [1, 1, 64, 64]),
        dot("dot f32 128x768x768", [F32; 3], [1, 128, 768, 768]),
        dot("dot f64 8x1024x4096", [F64; 3], [1, 8, 4096, 1024]),
        dot_of("dot f64 8x1024x4096^T", [F64; 3], [1, 8, 4096, 1024], [false, true]),
        dot("dot bf16 8x1024x4096", [Bf16; 3], [1, 8, 4096, 1024]),
        dot_of("dot bf16 8x1024x4096^T", [Bf16; 3], [1, 8, 4096, 1024], [false, true]),
        dot("dot bf16 64x768x768", [Bf16; 3], [1, 64, 768, 768]),
        dot("dot bf16 512", [Bf16; 3], [1, 512, 512, 512]),
        dot("dot f32 matvec 4096", [F32; 3], [1, 4096, 1, 4096]),
        dot("dot f32 vecmat 4096", [F32; 3], [1, 1, 4096, 4096]),
        dot("dot bf16 vecmat 4096", [Bf16; 3], [1, 1, 4096, 4096]),
        dot("dot f64 1024", [F64; 3], [1, 1024, 1024, 1024]),
        dot("dot c64 512", [C64; 3], [1, 512, 512, 512]),
        dot("dot bf16 1024", [Bf16; 3], [1, 1024, 1024, 1024]),
        dot("dot bf16->f32 1024", [Bf16, Bf16, F32], [1, 1024, 1024, 1024]),
        dot("dot f16 1024", [F16; 3], [1, 1024, 1024, 1024]),
        dot("dot s8->s32 1024", [S8, S8, S32], [1, 1024, 1024, 1024]),
        dot("dot u8->s32 1024", [U8, U8, S32], [1, 1024, 1024, 1024]),
        dot("dot s32 512", [S32; 3], [1, 512, 512, 512]),
        conv("conv 8x56x56x64 3x3 64", 8, 56, [64, 64], 3, 1, 1, 1),
        conv("conv 8x224x224x3 7x7/2 64", 8, 224, [3, 64], 7, 2, 2, 1),
        conv("conv 8x14x14x256 3x3 256", 8, 14, [256, 256], 3, 1, 1, 1),
        conv("conv 1x7x7x512 3x3 512", 1, 7, [512, 512], 3, 1, 1, 1),
        conv("conv 1x56x56x256 1x1 64", 1, 56, [256, 64], 1, 1, 0, 1),
        conv("conv depthwise 8x56x56x128 3x3", 8, 56, [128, 128], 3, 1, 1, 128),
        transpose("transpose f32 4096", F32, 4096),
        transpose("transpose f64 2048", F64, 2048),
        transpose("transpose bf16 4096", Bf16, 4096),
        random("rng three fry 4M u32", false, 4 << 20),
        random("rng philox 4M u32", true, 4 << 20),
        sort("sort 4M f32 by key", false, 4 << 20),
        sort("sort 4M f32 by comparator", true, 4 << 20),
    ]
}

fn main() {
    let filter = std::env::args().nth(1).unwrap_or_default();
    let contexts = [Context::new(1), Context::new(default_threads())];
    println!("{:36} {:>10} {:>10} {:>10} {:>10}", "", "1 thr cpu", "1 thr ms", "all ms", "all");
    for mut case in cases().into_iter().filter(|c| c.name.contains(&filter)) {
        let [(one, cpu), (all, _)] = [0, 1].map(|i| measure(&mut case, &contexts[i]));
        println!(
            "{:36} {:10.4} {:10.4} {:10.4} {:10.1} {}",
            case.name,
            cpu * 1e3,
            one * 1e3,
            all * 1e3,
            case.giga / all,
            case.unit
        );
    }
}
