//! Tests of the kernels of small programs, as text.

use hlo_ir::verify::Verified;
use hlo_kernel::KernelTable;

/// Checks the text of a program's kernels.
fn check(program: &str, expected: &str) {
    let module = hlo_parser::parse_module(program).unwrap_or_else(|e| panic!("{e:?}\n{program}"));
    let module = Verified::new(module).unwrap_or_else(|e| panic!("{e:?}\n{program}"));
    let plan = hlo_plan::plan(module.as_ref(), u64::MAX).unwrap_or_else(|e| panic!("{e:?}\n{program}"));
    let table = KernelTable::new(module.as_ref(), &plan).unwrap_or_else(|e| panic!("{e:?}\n{program}"));
    let described = table.describe();
    assert_eq!(described, expected, "\n{described}");
}

#[test]
fn a_softmax_reduces_each_row_and_keeps_it_on_the_stack() {
    check(
        r#"HloModule m
mx { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] maximum(a, b) }
ad { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
f { p = f32[128,64] parameter(0) lo = f32[] constant(-inf) zero = f32[] constant(0)
 m = f32[128] reduce(p, lo), dimensions={1}, to_apply=mx
 mb = f32[128,64] broadcast(m), dimensions={0}
 d = f32[128,64] subtract(p, mb)
 e = f32[128,64] exponential(d)
 s = f32[128] reduce(e, zero), dimensions={1}, to_apply=ad
 sb = f32[128,64] broadcast(s), dimensions={0}
 ROOT q = f32[128,64] divide(e, sb) }
ENTRY main { p = f32[128,64] parameter(0) ROOT r = f32[128,64] fusion(p), kind=kLoop, calls=f }"#,
        "\
kernel_0.r: rows, 1 call
  for i0 in 0..128 (threads share 128 iterations, 32 per chunk)
    m = maximum as s32 over r0 in 0..64
    s = sum in f32 over r1 in 0..64
    keeps 64 elements of e on the stack
    for i1 in 0..64
      b1[i0, i1] = q
  reads b0[i0, r0]: p f32[128,64]
  reads b0[i0, r1]: p f32[128,64]
  reads b0[i0, i1]: p f32[128,64]
",
    );
}

#[test]
fn a_sum_of_columns_runs_in_tiles_and_in_blocks_of_rows() {
    check(
        r#"HloModule m
ad { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
ENTRY main { p = f32[5000,256] parameter(0) z = f32[] constant(0) ROOT r = f32[256] reduce(p, z), dimensions={0}, to_apply=ad }"#,
        "\
kernel_0.r: columns, 1 call
  for i0 in 2 tiles of 128 (threads share 2 iterations, 1 per chunk)
    keeps 3 x 128 accumulators of f32 on the stack
    r = sum in f32 over r0 in 0..5000, r0 in parts of 2048 and 64
    reads 8 rows together
    b1[i0] = r
  reads b0[r0, i0]: p f32[5000,256]
",
    );
}

#[test]
fn a_transposed_input_is_read_in_tiles() {
    check(
        r#"HloModule m
f { p = f32[512,128] parameter(0) q = f32[128] parameter(1) t = f32[128,512] transpose(p), dimensions={1,0}
 b = f32[128,512] broadcast(q), dimensions={0} ROOT r = f32[128,512] add(t, b) }
ENTRY main { p = f32[512,128] parameter(0) q = f32[128] parameter(1) ROOT r = f32[128,512] fusion(p, q), kind=kLoop, calls=f }"#,
        "\
kernel_0.r: loops, 1 call
  for (i0, i1) in 128 x 512 (threads share 4 iterations, 2 per chunk)
    computes tiles of 32 x 32 along i0, stores them along i1
    b2[i0, i1] = r
  reads b0[i1, i0]: p f32[512,128]
  reads b1[i0]: q f32[128]
",
    );
}

#[test]
fn the_loop_over_a_padded_dimension_has_pieces() {
    check(
        r#"HloModule m
ENTRY main { p = f32[30,100] parameter(0) z = f32[] constant(0) ROOT r = f32[32,120] pad(p, z), padding=1_1x5_15 }"#,
        "\
kernel_0.r: loops, 1 call
  for i0 in 0..32
    for i1 in 0..5, 5..105, 105..120
      b1[i0, i1] = r
  reads b0[i0 - 1, i1 - 5]: p f32[30,100]
",
    );
}

#[test]
fn an_update_in_place_writes_the_update_only() {
    check(
        r#"HloModule m, input_output_alias={ {}: (0, {}, must-alias) }
ENTRY main { p = f32[64,100] parameter(0) u = f32[1,100] parameter(1) i = s32[] parameter(2) z = s32[] constant(0)
 n = f32[64,100] negate(p) ROOT r = f32[64,100] dynamic-update-slice(n, u, i, z) }"#,
        "\
kernel_0.n: loops, 1 call
  for i in 0..6400
    b1[i] = n
  reads b0[i]: p f32[64,100]

kernel_1.r: update, 1 call
  for i1 in 0..100
    b0[start + index] = update of r
",
    );
}

#[test]
fn a_scatter_combines_updates_in_place() {
    check(
        r#"HloModule m
ad { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
ENTRY main { p = f32[64] parameter(0) i = s32[10,1] parameter(1) u = f32[10] parameter(2)
 n = f32[64] negate(p) ROOT r = f32[64] scatter(n, i, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=ad }"#,
        "\
kernel_0.n: loops, 1 call
  for i in 0..64
    b1[i] = n
  reads b0[i]: p f32[64]

kernel_1.r: scatter, 1 call
  for each update of r: combines it with an element of b0
",
    );
}

#[test]
fn a_cumulative_sum_runs_in_blocks() {
    check(
        r#"HloModule m
ad { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
ENTRY main { p = f32[8,1000] parameter(0) z = f32[] constant(0) ROOT r = f32[8,1000] reduce-window(p, z), window={size=1x1000 pad=0_0x999_0}, to_apply=ad }"#,
        "\
kernel_0.r: cumulative, 1 call
  for i0 in 0..8
    for i1 in 0..1000, in blocks of 32
      b1[i0, i1] = r
",
    );
}

#[test]
fn windows_select_elements_one_after_the_other() {
    check(
        r#"HloModule m
ge { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = pred[] compare(a, b), direction=GE }
ad { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
ENTRY main { p = f32[8,16,16] parameter(0) s = f32[8,8,8] parameter(1) z = f32[] constant(0) ROOT r = f32[8,16,16] select-and-scatter(p, s, z), window={size=1x2x2 stride=1x2x2}, select=ge, scatter=ad }"#,
        "\
kernel_0.r: select-and-scatter, 1 call
  for i0 in 0..8
    fills b2 with the initial value
    for (i1, i2) in 8 x 8
      selects an element of the window, and combines the source's element with it
",
    );
}

#[test]
fn results_of_other_dimensions_have_loops_of_their_own() {
    check(
        r#"HloModule m
ad { a = s32[] parameter(0) b = s32[] parameter(1) ROOT r = s32[] add(a, b) }
f { p = s32[16,64] parameter(0) z = s32[] constant(0) n = s32[16,64] negate(p) r = s32[16] reduce(n, z), dimensions={1}, to_apply=ad ROOT t = (s32[16,64], s32[16]) tuple(n, r) }
ENTRY main { p = s32[16,64] parameter(0) ROOT r = (s32[16,64], s32[16]) fusion(p), kind=kLoop, calls=f }"#,
        "\
kernel_0.r: separate, 1 call
  for i0 in 0..16
    for i1 in 0..64
      b1[i0, i1] = n
  reads b0[i0, i1]: p s32[16,64]
  for i0 in 0..16
    r = ad over r0 in 0..64
    b2[i0] = r
  reads b0[i0, r0]: p s32[16,64]
",
    );
}

#[test]
fn a_contraction_runs_in_strips() {
    check(
        r#"HloModule m
ENTRY main { p = f32[64,32] parameter(0) q = f32[32,128] parameter(1) ROOT r = f32[64,128] contraction(p, q), access={(d0,d1) >= (d0,d2) + (d2,d1)} }"#,
        "\
kernel_0.r: contraction, 1 call
  for v0 in 0..64, v1 in 0..128 in 2 parts of 64 (threads share 128 iterations, 32 per chunk)
    computes strips of 32 elements
    for v2 in 0..32
      b2: {(d0,d1) >= (d0,d2) + (d2,d1)} in f32
",
    );
}

#[test]
fn reductions_of_reductions_have_loops_with_names_of_their_own() {
    check(
        r#"HloModule m
ad { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
f { p = f32[16,5000,3] parameter(0) z = f32[] constant(0)
 inner = f32[16,5000] reduce(p, z), dimensions={2}, to_apply=ad
 n = f32[16,5000] negate(inner)
 ROOT outer = f32[16] reduce(n, z), dimensions={1}, to_apply=ad }
ENTRY main { p = f32[16,5000,3] parameter(0) ROOT r = f32[16] fusion(p), kind=kLoop, calls=f }"#,
        "\
kernel_0.r: loops, 1 call
  for i0 in 0..16 (threads share 16 iterations, 2 per chunk)
    inner = sum in f32 over r0 in 0..3
    outer = sum in f32 over r1 in 0..5000, r1 in parts of 2048
    b1[i0] = outer
  reads b0[i0, r1, r0]: p f32[16,5000,3]
",
    );
}

#[test]
fn loops_over_contracting_dimensions_have_names_and_reversed_indices_are_differences() {
    check(
        r#"HloModule m
f { p = f32[4,8] parameter(0) q = f32[8,4] parameter(1)
 d = f32[4,4] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}
 ROOT r = f32[4,4] reverse(d), dimensions={1} }
ENTRY main { p = f32[4,8] parameter(0) q = f32[8,4] parameter(1) ROOT r = f32[4,4] fusion(p, q), kind=kLoop, calls=f }"#,
        "\
kernel_0.d: loops, 1 call
  for i0 in 0..4
    for i1 in 0..4
      d = sum of products over r0 in 0..8
      b2[i0, i1] = d
  reads b0[i0, r0]: p f32[4,8]
  reads b1[r0, i1]: q f32[8,4]

r: loops, in the host function
  for i0 in 0..4
    for i1 in 0..4
      b1[i0, i1] = r
  reads b0[i0, 3 - i1]: d f32[4,4]
",
    );
}

#[test]
fn a_reduction_of_several_arrays_stores_each_result() {
    check(
        r#"HloModule m
first { a = f32[] parameter(0) i = s32[] parameter(1) b = f32[] parameter(2) j = s32[] parameter(3)
 less = pred[] compare(b, a), direction=LT
 v = f32[] select(less, b, a) k = s32[] select(less, j, i) ROOT t = (f32[], s32[]) tuple(v, k) }
ENTRY main { p = f32[6,10] parameter(0) i = s32[6,10] parameter(1) z = f32[] constant(inf) k = s32[] constant(-1)
 ROOT r = (f32[6], s32[6]) reduce(p, i, z, k), dimensions={1}, to_apply=first }"#,
        "\
kernel_0.r: loops, 1 call
  for i0 in 0..6
    r = first over r0 in 0..10
    b2[i0] = r {0}
    b3[i0] = r {1}
  reads b0[i0, r0]: p f32[6,10]
  reads b1[i0, r0]: i s32[6,10]
",
    );
}

#[test]
fn tiny_kernels_are_in_the_host_function() {
    check(
        "HloModule m
ENTRY main { p = f32[2,2] parameter(0) ROOT r = f32[2,2] negate(p) }",
        "\
r: loops, in the host function
  for i in 0..4
    b1[i] = r
  reads b0[i]: p f32[2,2]
",
    );
}
