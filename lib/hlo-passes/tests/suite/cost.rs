//! The estimated costs of operations, fusions, loops and conditionals.

use hlo_ir::Module;
use hlo_ir::attr::WindowDim;
use hlo_passes::analysis::{Cost, ModuleCost};
use hlo_passes::internals::positions;

fn parse(text: &str) -> Module {
    hlo_parser::parse_module(text).expect("a module")
}

/// Returns the cost of an entry with these instructions.
fn total(body: &str) -> Cost {
    let module = parse(&format!(
        "HloModule m\nadd {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }}\nENTRY e {{ {body} }}"
    ));
    ModuleCost::of(&module).total(&module)
}

fn cost(flops: u64, transcendentals: u64, bytes: u64) -> Cost {
    Cost { flops, transcendentals, bytes, ..Cost::default() }
}

#[test]
fn elementwise_operations_count_one_an_element() {
    assert_eq!(total("x = f32[10] parameter(0) ROOT y = f32[10] add(x, x)"), cost(10, 0, 120));
    assert_eq!(total("x = f32[10] parameter(0) ROOT y = f32[10] tanh(x)"), cost(0, 10, 80));
    assert_eq!(total("x = s32[10] parameter(0) ROOT y = s8[10] convert(x)"), cost(10, 0, 50));
}

#[test]
fn products_count_two_a_term() {
    let dot = "a = f32[3,4] parameter(0) b = f32[4,5] parameter(1) ROOT d = f32[3,5] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}";
    assert_eq!(total(dot), cost(2 * 3 * 5 * 4, 0, 4 * (12 + 20 + 15)));
    // At both ends one term is padding.
    let conv = "a = f32[1,8,2] parameter(0) k = f32[3,2,4] parameter(1) ROOT c = f32[1,8,4] convolution(a, k), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f";
    assert_eq!(total(conv).flops, 2 * 4 * 2 * (8 * 3 - 2));
    let long = "a = f32[1,8000,1] parameter(0) k = f32[8000,1,1] parameter(1) ROOT c = f32[1,15999,1] convolution(a, k), window={size=8000 pad=7999_7999}, dim_labels=b0f_0io->b0f";
    assert_eq!(total(long).flops, 2 * 8000 * 8000);
    // Each of the 12 terms is in one of the 3 groups.
    let ragged = "a = f32[4,12] parameter(0) b = f32[12,5] parameter(1) g = s32[3] parameter(2) ROOT d = f32[3,4,5] ragged-dot(a, b, g), lhs_contracting_dims={1}, rhs_contracting_dims={0}, lhs_ragged_dims={1}";
    assert_eq!(total(ragged).flops, 2 * 4 * 5 * 12);
}

#[test]
fn what_moves_is_read_and_written() {
    let slice = "x = f32[100] parameter(0) ROOT y = f32[10] slice(x), slice={[0:10]}";
    assert_eq!(total(slice), cost(0, 0, 80));
    let named_anew = "x = f32[4,6]{0,1} parameter(0) ROOT y = f32[6,4]{1,0} transpose(x), dimensions={1,0}";
    assert_eq!(total(named_anew), cost(0, 0, 0));
    let update = "x = f32[100] parameter(0) u = f32[10] parameter(1) i = s32[] parameter(2) ROOT y = f32[100] dynamic-update-slice(x, u, i)";
    assert_eq!(total(update), cost(0, 0, 84));
}

/// The measures that jaxlib 0.10.2 reports for these modules.
#[test]
fn the_figures_are_those_of_xla() {
    for (body, figures) in [
        // Only half of a triangular matrix is read or written.
        ("a = f32[6,6] parameter(0) ROOT r = f32[6,6] cholesky(a), lower=true", cost(72, 0, 144)),
        ("a = f32[5,7,7] parameter(0) ROOT r = f32[5,7,7] cholesky(a), lower=true", cost(571, 0, 980)),
        ("a = c64[6,6] parameter(0) ROOT r = c64[6,6] cholesky(a), lower=true", cost(72, 0, 288)),
        (
            "a = f32[6,6] parameter(0) b = f32[6,4] parameter(1) ROOT r = f32[6,4] triangular-solve(a, b), left_side=true, lower=true, transpose_a=NO_TRANSPOSE",
            cost(288, 0, 264),
        ),
        (
            "a = f32[5,6,6] parameter(0) b = f32[5,6,4] parameter(1) ROOT r = f32[5,6,4] triangular-solve(a, b), left_side=true, lower=true, transpose_a=NO_TRANSPOSE",
            cost(1440, 0, 1320),
        ),
        (
            "a = f32[4,4] parameter(0) b = f32[6,4] parameter(1) ROOT r = f32[6,4] triangular-solve(a, b), left_side=false, lower=true, transpose_a=NO_TRANSPOSE",
            cost(192, 0, 224),
        ),
        (
            "a = c64[4,8] parameter(0) ROOT r = c64[4,8] fft(a), fft_type=FFT, fft_length={8}",
            cost(768, 0, 512),
        ),
        (
            "a = c64[4,12] parameter(0) ROOT r = c64[4,12] fft(a), fft_type=FFT, fft_length={12}",
            cost(1152, 0, 768),
        ),
        (
            "a = c64[3,7] parameter(0) ROOT r = c64[3,7] fft(a), fft_type=FFT, fft_length={7}",
            cost(336, 0, 336),
        ),
        (
            "a = f32[4,8] parameter(0) ROOT r = c64[4,5] fft(a), fft_type=RFFT, fft_length={8}",
            cost(768, 0, 288),
        ),
        (
            "x = f32[8,6] parameter(0) i = s32[] parameter(1) j = s32[] parameter(2) ROOT r = f32[2,3] dynamic-slice(x, i, j), dynamic_slice_sizes={2,3}",
            cost(0, 0, 52),
        ),
        (
            "x = f32[8,6] parameter(0) u = f32[2,3] parameter(1) i = s32[] parameter(2) j = s32[] parameter(3) ROOT r = f32[8,6] dynamic-update-slice(x, u, i, j)",
            cost(0, 0, 52),
        ),
        ("ROOT r = u32[] replica-id()", cost(0, 0, 4)),
        (
            "x = f32[8,6] parameter(0) z = f32[] parameter(1) ROOT r = f32[8,6] reduce-window(x, z), window={size=3x3 pad=1_1x1_1}, to_apply=add",
            cost(384, 0, 388),
        ),
        (
            "x = f32[8,6] parameter(0) ROOT r = f32[8,6] all-reduce(x), replica_groups={}, to_apply=add",
            cost(48, 0, 384),
        ),
    ] {
        assert_eq!(total(body), figures, "{body}");
    }
}

/// Cases where XLA's figures differ from what an operation actually costs (`docs/seeing.md`).
#[test]
fn the_figures_are_not_those_of_xla() {
    for (body, figures) in [
        // XLA multiplies the logarithms of the lengths and reports 3072.
        (
            "a = c64[2,4,8] parameter(0) ROOT r = c64[2,4,8] fft(a), fft_type=FFT, fft_length={4,8}",
            cost(2560, 0, 1024),
        ),
        // XLA counts no operations.
        ("v = f32[100] parameter(0) ROOT r = (f32[7], s32[7]) topk(v), k=7, largest=true", cost(300, 0, 456)),
        (
            "a = f32[4,5,3] parameter(0) s = f32[3] parameter(1) ROOT r = f32[4,5,3] batch-norm-inference(a, s, s, s, s), epsilon=0.001, feature_index=2",
            cost(240, 0, 528),
        ),
        // XLA counts the table of pointers, 16 bytes here.
        (
            "x = f32[8,6] parameter(0) n = f32[8,6] negate(x) ROOT r = (f32[8,6], f32[8,6]) tuple(n, x)",
            cost(48, 0, 384),
        ),
        // XLA also counts the `all-reduce-done` and reports 768.
        (
            "x = f32[8,6] parameter(0) s = f32[8,6] all-reduce-start(x), replica_groups={}, to_apply=add ROOT r = f32[8,6] all-reduce-done(s)",
            cost(48, 0, 384),
        ),
    ] {
        assert_eq!(total(body), figures, "{body}");
    }
}

#[test]
fn reductions_apply_their_function() {
    let reduce = "x = f32[10,5] parameter(0) z = f32[] constant(0) ROOT y = f32[10] reduce(x, z), dimensions={1}, to_apply=add";
    assert_eq!(total(reduce), cost(40, 0, 4 * (50 + 1 + 10)));
}

#[test]
fn a_fusion_keeps_its_inner_values() {
    let module = parse(
        "HloModule m
         f { p = f32[100] parameter(0)
             s = f32[10] slice(p), slice={[0:10]}
             e = f32[10] exponential(s)
             ROOT r = f32[10] add(e, e) }
         ENTRY e { p = f32[100] parameter(0) ROOT f = f32[10] fusion(p), kind=kLoop, calls=f }",
    );
    let found = ModuleCost::of(&module);
    assert_eq!(found.total(&module), cost(10, 10, 80));
    assert_eq!(found.runs.len(), 1);
}

#[test]
fn a_fusion_reads_its_constants() {
    let fusion = |constant: &str, body: &str| {
        let module = parse(&format!(
            "HloModule m
             f {{ p = f32[8,6] parameter(0) c = {constant} {body} }}
             ENTRY e {{ p = f32[8,6] parameter(0) ROOT f = f32[8,6] fusion(p), kind=kLoop, calls=f }}"
        ));
        ModuleCost::of(&module).total(&module)
    };
    // Same as XLA: the parameter, the constant and the result.
    assert_eq!(fusion("f32[8,6] constant({...})", "ROOT r = f32[8,6] add(p, c)"), cost(48, 0, 3 * 192));
    let scalar = "b = f32[8,6] broadcast(c), dimensions={} ROOT r = f32[8,6] add(p, b)";
    assert_eq!(fusion("f32[] constant(1)", scalar), cost(48, 0, 2 * 192));
    // Only the part that is read counts. XLA counts the whole constant.
    let part = "s = f32[1,6] slice(c), slice={[0:1], [0:6]} v = f32[6] reshape(s)
        b = f32[8,6] broadcast(v), dimensions={1} ROOT r = f32[8,6] add(p, b)";
    assert_eq!(fusion("f32[8,6] constant({...})", part), cost(48, 0, 2 * 192 + 24));
}

#[test]
fn loops_count_as_often_as_they_run() {
    let text = |config: &str, bound: &str| {
        format!(
            "HloModule m
             c {{ s = (s32[], f32[8], s32[]) parameter(0)
                 i = s32[] get-tuple-element(s), index=0
                 n = s32[] {bound}
                 ROOT t = pred[] compare(i, n), direction=LT }}
             b {{ s = (s32[], f32[8], s32[]) parameter(0)
                 i = s32[] get-tuple-element(s), index=0
                 k = s32[] get-tuple-element(s), index=2
                 one = s32[] constant(1)
                 next = s32[] add(i, one)
                 x = f32[8] get-tuple-element(s), index=1
                 y = f32[8] sine(x)
                 ROOT r = (s32[], f32[8], s32[]) tuple(next, y, k) }}
             ENTRY e {{
               z = s32[] constant(0)
               x = f32[8] parameter(0)
               k = s32[] parameter(1)
               init = (s32[], f32[8], s32[]) tuple(z, x, k)
               ROOT w = (s32[], f32[8], s32[]) while(init), condition=c, body=b{config} }}"
        )
    };
    let unknown = "get-tuple-element(s), index=2";
    let module = parse(&text("", "constant(7)"));
    let found = ModuleCost::of(&module);
    assert_eq!((found.total(&module).transcendentals, found.unknown_loops.len()), (56, 0));
    assert_eq!(found.runs.iter().map(|&(_, n)| n).max(), Some(8));
    let module = parse(&text("", unknown));
    let found = ModuleCost::of(&module);
    assert_eq!((found.total(&module).transcendentals, found.unknown_loops.len()), (8, 1));
    let module = parse(&text(", backend_config={\"known_trip_count\":{\"n\":\"5\"}}", unknown));
    let found = ModuleCost::of(&module);
    assert_eq!((found.total(&module).transcendentals, found.unknown_loops.len()), (40, 0));
}

#[test]
fn the_dearest_branch_counts() {
    let module = parse(
        "HloModule m
         t { p = f32[4] parameter(0) ROOT r = f32[4] negate(p) }
         f { p = f32[4] parameter(0) s = f32[4] sine(p) ROOT r = f32[4] cosine(s) }
         ENTRY e { p = pred[] parameter(0) x = f32[4] parameter(1)
           ROOT c = f32[4] conditional(p, x, x), true_computation=t, false_computation=f }",
    );
    assert_eq!(ModuleCost::of(&module).total(&module), cost(4, 8, 64));
}

#[test]
fn huge_sizes_do_not_overflow() {
    let big = "f32[1000000000,1000000000]";
    let found = total(&format!(
        "x = {big} parameter(0) y = {big} add(x, x) z = {big} add(y, x) ROOT d = {big} dot(y, z), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}"
    ));
    assert_eq!(found.flops, u64::MAX);
}
#[test]
fn positions_are_those_that_counting_gives() {
    // Strides and dilations from 1 to 6.
    for n in 0..6 * 6 * 6 {
        let (stride, rhs_dilate, lhs_dilate) = (n % 6 + 1, n / 6 % 6 + 1, n / 36 + 1);
        for (size, output, input, pad_low) in [
            (3, 7, 5, 1),
            (5, 3, 8, -2),
            (4, 4, 1, 3),
            (1, 9, 4, 0),
            (6, 2, 0, 1),
            (0, 3, 3, 0),
            (7, 7, 9, 4),
        ] {
            let window = WindowDim { size, stride, pad_low, rhs_dilate, lhs_dilate, ..WindowDim::default() };
            let mut count = 0;
            for at in (0..output).flat_map(|o| (0..size).map(move |w| o * stride + w * rhs_dilate - pad_low))
            {
                count += u64::from(at >= 0 && at % lhs_dilate == 0 && at / lhs_dilate < input);
            }
            assert_eq!(positions(&window, input, output), count, "{window:?} {input} {output}");
        }
    }
}
