//! A compiled program does not allocate memory from its second run on. This is a separate test program,
//! because its allocator counts allocations and no other test may allocate at the same time.

use hlo_codegen::{CompileOptions, Executable, compile};
use hlo_ir::AlignedBytes;
use hlo_ir::host::NoHost;
use hlo_ir::verify::Verified;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The system's allocator, which counts allocations.
struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: all calls are passed on unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: guaranteed by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: guaranteed by the caller.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: guaranteed by the caller.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns the number of allocations of each of several runs.
fn allocations(executable: &Executable, runs: usize) -> Vec<usize> {
    let buffer = |shape: &hlo_ir::Shape| AlignedBytes::try_zeroed(shape.stored_size()).unwrap();
    let parameters: Vec<AlignedBytes> =
        executable.parameters().iter().flat_map(|p| p.leaves()).map(buffer).collect();
    let mut results: Vec<AlignedBytes> = executable.result().leaves().into_iter().map(buffer).collect();
    let inputs: Vec<&[u8]> = parameters.iter().map(|b| &**b).collect();
    let mut outputs: Vec<&mut [u8]> = results.iter_mut().map(|b| &mut **b).collect();
    let mut counts = Vec::with_capacity(runs);
    for _ in 0..runs {
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        executable.run_into(&inputs, &mut outputs, &mut NoHost).unwrap();
        counts.push(ALLOCATIONS.load(Ordering::Relaxed) - before);
    }
    counts
}

/// Modules of all kinds: a name, computations besides the entry, and the entry's instructions.
const MODULES: &[(&str, &str, &str)] = &[
    ("elementwise", "", "x = f32[70] parameter(0) s = f32[70] sine(x) ROOT a = f32[70] add(s, x)"),
    (
        "constant",
        "",
        "x = f32[3] parameter(0) c = f32[3] constant({1, 2, 3}) t = f32[3] dot(x, c), lhs_batch_dims={0}, rhs_batch_dims={0} ROOT a = f32[3] add(t, c)",
    ),
    (
        "transpose",
        "",
        "x = f32[5,40,30,3] parameter(0) ROOT t = f32[3,30,5,40] transpose(x), dimensions={3,2,0,1}",
    ),
    (
        "product",
        "",
        "x = f32[90,70] parameter(0) y = f32[70,80] parameter(1) ROOT d = f32[90,80] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    ),
    (
        "product of integers",
        "",
        "x = s32[9,70] parameter(0) y = s32[70,8] parameter(1) ROOT d = s32[9,8] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    ),
    (
        "convolution",
        "",
        "x = f32[2,12,12,8] parameter(0) k = f32[3,3,8,16] parameter(1) ROOT c = f32[2,10,10,16] convolution(x, k), window={size=3x3}, dim_labels=b01f_01io->b01f",
    ),
    (
        "depthwise convolution",
        "",
        "x = f32[2,12,12,8] parameter(0) k = f32[3,3,1,8] parameter(1) ROOT c = f32[2,10,10,8] convolution(x, k), window={size=3x3}, dim_labels=b01f_01io->b01f, feature_group_count=8",
    ),
    ("fft", "", "x = c64[4,6,15] parameter(0) ROOT f = c64[4,6,15] fft(x), fft_type=FFT, fft_length={6,15}"),
    (
        "irfft",
        "",
        "x = c128[3,4,9] parameter(0) ROOT f = f64[3,4,16] fft(x), fft_type=IRFFT, fft_length={4,16}",
    ),
    ("rfft", "", "x = f32[3,16] parameter(0) ROOT f = c64[3,9] fft(x), fft_type=RFFT, fft_length={16}"),
    (
        "sort by a key",
        "c { a = s32[] parameter(0) b = s32[] parameter(1) ROOT l = pred[] compare(a, b), direction=LT }",
        "x = s32[3,500] parameter(0) ROOT s = s32[3,500] sort(x), dimensions={1}, is_stable=true, to_apply=c",
    ),
    (
        "sort of a long slice by a key",
        "c { a = f32[] parameter(0) b = f32[] parameter(1) e = s32[] parameter(2) f = s32[] parameter(3) ROOT l = pred[] compare(a, b), direction=GT, type=TOTALORDER }",
        "x = f32[20000] parameter(0) i = s32[20000] iota(), iota_dimension=0 ROOT s = (f32[20000], s32[20000]) sort(x, i), dimensions={0}, is_stable=true, to_apply=c",
    ),
    (
        "sort by a comparator",
        "c { a = f32[] parameter(0) b = f32[] parameter(1) t = f32[] multiply(a, a) u = f32[] sine(b) ROOT l = pred[] compare(t, u), direction=LT }",
        "x = f32[300] parameter(0) ROOT s = f32[300] sort(x), dimensions={0}, is_stable=true, to_apply=c",
    ),
    (
        "sort of a long slice by a comparator",
        "c { a = f32[] parameter(0) b = f32[] parameter(1) t = f32[] multiply(a, a) u = f32[] sine(b) ROOT l = pred[] compare(t, u), direction=LT }",
        "x = f32[20000] parameter(0) ROOT s = f32[20000] sort(x), dimensions={0}, is_stable=true, to_apply=c",
    ),
    ("topk", "", "x = f32[4,900] parameter(0) ROOT t = (f32[4,5], s32[4,5]) topk(x), k=5, largest=true"),
    (
        "reduce",
        "c { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }",
        "x = f32[40,70] parameter(0) z = f32[] constant(0) ROOT r = f32[70] reduce(x, z), dimensions={0}, to_apply=c",
    ),
    (
        "gather and scatter",
        "c { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }",
        "x = f32[9,4] parameter(0) i = s32[5] parameter(1) g = f32[5,4] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,4} ROOT s = f32[9,4] scatter(x, i, g), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=c",
    ),
    (
        "random bits",
        "",
        "k = u64[2] parameter(0) p = (u64[2], u32[70]) rng-bit-generator(k), algorithm=rng_philox t = (u64[2], u32[6,7]) rng-bit-generator(k), algorithm=rng_three_fry ROOT r = ((u64[2], u32[70]), (u64[2], u32[6,7])) tuple(p, t)",
    ),
    ("cholesky", "", "x = f32[2,6,6] parameter(0) ROOT c = f32[2,6,6] cholesky(x), lower=true"),
    (
        "triangular solve",
        "",
        "a = f32[2,6,6] parameter(0) b = f32[2,6,3] parameter(1) ROOT c = f32[2,6,3] triangular-solve(a, b), left_side=true, lower=true, transpose_a=NO_TRANSPOSE",
    ),
    (
        "loop",
        "condition { s = (s32[], f32[9]) parameter(0) i = s32[] get-tuple-element(s), index=0 n = s32[] constant(5) ROOT l = pred[] compare(i, n), direction=LT } body { s = (s32[], f32[9]) parameter(0) i = s32[] get-tuple-element(s), index=0 x = f32[9] get-tuple-element(s), index=1 one = s32[] constant(1) j = s32[] add(i, one) y = f32[9] cosine(x) ROOT t = (s32[], f32[9]) tuple(j, y) }",
        "x = f32[9] parameter(0) zero = s32[] constant(0) s = (s32[], f32[9]) tuple(zero, x) ROOT w = (s32[], f32[9]) while(s), condition=condition, body=body",
    ),
    (
        "branches",
        "f { x = f32[9] parameter(0) ROOT y = f32[9] cosine(x) } g { x = f32[9] parameter(0) ROOT y = f32[9] sine(x) }",
        "p = pred[] parameter(0) x = f32[9] parameter(1) ROOT w = f32[9] conditional(p, x, x), true_computation=f, false_computation=g",
    ),
    (
        "exchange",
        "c { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }",
        "x = f32[9] parameter(0) ROOT r = f32[9] all-reduce(x), replica_groups={}, to_apply=c",
    ),
];

#[test]
fn nothing_is_allocated_from_the_second_run_on() {
    let mut failures = Vec::new();
    for (name, computations, entry) in MODULES {
        let text = format!("HloModule m\n{computations}\nENTRY main {{ {entry} }}");
        let module = hlo_parser::parse_module(&text).unwrap_or_else(|e| panic!("{name}: {}", e[0].message));
        let module = Verified::new(module).unwrap_or_else(|e| panic!("{name}: {}", e[0].message));
        // On one thread. With several threads, it is unspecified which of them takes part in a loop and
        // allocates working memory for the first time.
        let options = CompileOptions { threads: 1, optimize: false, ..CompileOptions::default() };
        let executable =
            compile(module.as_ref(), &options).unwrap_or_else(|e| panic!("{name}: {}", e[0].message));
        let counts = allocations(&executable, 4);
        if counts[1..].iter().any(|&n| n > 0) {
            failures.push(format!("{name}: {counts:?} allocations"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
