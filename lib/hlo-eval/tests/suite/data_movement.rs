//! Tests of data movement and indexing. They use the examples of the semantics where there are any.

use crate::common::{self, apply, assert_same};

const MATRIX: &str = "f32[2,3] {{1, 2, 3}, {4, 5, 6}}";

#[test]
fn broadcast_maps_and_repeats_dimensions() {
    let r = apply("f32[2,3,2] broadcast($0), dimensions={0,1}", &[MATRIX]);
    assert_same(r, "f32[2,3,2] {{{1, 1}, {2, 2}, {3, 3}}, {{4, 4}, {5, 5}, {6, 6}}}");
    assert_same(apply("f32[3] broadcast($0), dimensions={}", &["f32[] 7"]), "f32[3] {7, 7, 7}");
}

#[test]
fn transpose_reverse_reshape_slice() {
    assert_same(
        apply("f32[3,2] transpose($0), dimensions={1,0}", &[MATRIX]),
        "f32[3,2] {{1, 4}, {2, 5}, {3, 6}}",
    );
    assert_same(
        apply("f32[2,3] reverse($0), dimensions={0,1}", &[MATRIX]),
        "f32[2,3] {{6, 5, 4}, {3, 2, 1}}",
    );
    assert_same(apply("f32[3,2] reshape($0)", &[MATRIX]), "f32[3,2] {{1, 2}, {3, 4}, {5, 6}}");
    // Semantics, "Slice".
    let b = "f32[4,3] {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {9, 10, 11}}";
    assert_same(apply("f32[2,2] slice($0), slice={[2:4], [1:3]}", &[b]), "f32[2,2] {{7, 8}, {10, 11}}");
    assert_same(apply("f32[2,2] slice($0), slice={[0:4:3], [0:3:2]}", &[b]), "f32[2,2] {{0, 2}, {9, 11}}");
}

#[test]
fn bitcast_reads_memory_by_the_layouts() {
    // In column-major order, the memory of the matrix is 1 4 2 5 3 6.
    let text = "HloModule m\nENTRY e {\n p = f32[2,3]{0,1} parameter(0)\n ROOT r = f32[6]{0} bitcast(p)\n}\n";
    assert_same(common::run(text, &[MATRIX]), "f32[6] {1, 4, 2, 5, 3, 6}");
    let text =
        "HloModule m\nENTRY e {\n p = f32[2,3]{1,0} parameter(0)\n ROOT r = f32[3,2]{0,1} bitcast(p)\n}\n";
    assert_same(common::run(text, &[MATRIX]), "f32[3,2] {{1, 4}, {2, 5}, {3, 6}}");
}

#[test]
fn pad_takes_interior_and_negative_padding() {
    let v = "f32[] 9";
    let r = apply("f32[3,6] pad($0, $1), padding=1_0x0_1_1", &[MATRIX, v]);
    assert_same(r, "f32[3,6] {{9, 9, 9, 9, 9, 9}, {1, 9, 2, 9, 3, 9}, {4, 9, 5, 9, 6, 9}}");
    // Interior padding comes first: 1 9 2 9 3. Then two elements are removed in front and one at the end.
    assert_same(apply("f32[2] pad($0, $1), padding=-2_-1_1", &["f32[3] {1, 2, 3}", v]), "f32[2] {2, 9}");
    assert_same(apply("f32[2] pad($0, $1), padding=-1_-2_1", &["f32[3] {1, 2, 3}", v]), "f32[2] {9, 2}");
    assert_same(apply("f32[3] pad($0, $1), padding=-5_5", &["f32[3] {1, 2, 3}", v]), "f32[3] {9, 9, 9}");
    assert_same(apply("f32[2] pad($0, $1), padding=1_1_4", &["f32[0] {}", v]), "f32[2] {9, 9}");
}

#[test]
fn concatenate_and_iota() {
    let r = apply(
        "s32[4,2] concatenate($0, $1), dimensions={0}",
        &["s32[3,2] {{1, 2}, {3, 4}, {5, 6}}", "s32[1,2] {{7, 8}}"],
    );
    assert_same(r, "s32[4,2] {{1, 2}, {3, 4}, {5, 6}, {7, 8}}");
    assert_same(apply("s32[2,3] iota(), iota_dimension=0", &[]), "s32[2,3] {{0, 0, 0}, {1, 1, 1}}");
    assert_same(apply("bf16[3] iota(), iota_dimension=0", &[]), "bf16[3] {0, 1, 2}");
    assert_same(apply("c64[2] iota(), iota_dimension=0", &[]), "c64[2] {(0, 0), (1, 0)}");
}

/// Semantics, "DynamicSlice" and "DynamicUpdateSlice", also with starts that are clamped.
#[test]
fn dynamic_slices_are_clamped() {
    let a = "f32[5] {0, 1, 2, 3, 4}";
    for (start, want) in [("2", "{2, 3}"), ("9", "{3, 4}"), ("-3", "{0, 1}")] {
        let r =
            apply("f32[2] dynamic-slice($0, $1), dynamic_slice_sizes={2}", &[a, &format!("s32[] {start}")]);
        assert_same(r, &format!("f32[2] {want}"));
    }
    let r =
        apply("f32[2] dynamic-slice($0, $1), dynamic_slice_sizes={2}", &[a, "u64[] 18446744073709551615"]);
    assert_same(r, "f32[2] {3, 4}");
    let r = apply("f32[5] dynamic-update-slice($0, $1, $2)", &[a, "f32[2] {5, 6}", "s32[] 2"]);
    assert_same(r, "f32[5] {0, 1, 5, 6, 4}");
    let r = apply("f32[5] dynamic-update-slice($0, $1, $2)", &[a, "f32[2] {5, 6}", "s32[] 4"]);
    assert_same(r, "f32[5] {0, 1, 2, 5, 6}");
}

#[test]
fn gather_takes_rows_and_clamps() {
    let table = "f32[3,2] {{1, 2}, {3, 4}, {5, 6}}";
    let rows = "f32[4,2] gather($0, $1), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,2}";
    assert_same(apply(rows, &[table, "s32[4] {2, 0, -1, 7}"]), "f32[4,2] {{5, 6}, {1, 2}, {1, 2}, {5, 6}}");
    let nd = "f32[2] gather($0, $1), offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={1,0}, index_vector_dim=0, slice_sizes={1,1}";
    assert_same(apply(nd, &[table, "s32[2,2] {{0, 1}, {2, 1}}"]), "f32[2] {5, 4}");
    // Batching dimensions: row b of the indices selects from row b of the operand.
    let batched = "f32[3,1] gather($0, $1), offset_dims={}, collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=2, slice_sizes={1,1}";
    assert_same(apply(batched, &[table, "s32[3,1,1] {{{1}}, {{0}}, {{1}}}"]), "f32[3,1] {{2}, {3}, {6}}");
}

#[test]
fn scatter_combines_and_drops_what_is_outside() {
    let add = "HloModule m\nadd {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b)\n}\n";
    let text = format!(
        "{add}ENTRY e {{\n x = f32[4] parameter(0)\n i = s32[5,1] parameter(1)\n u = f32[5] parameter(2)\n ROOT r = f32[4] scatter(x, i, u), update_window_dims={{}}, inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=add\n}}\n"
    );
    let inputs =
        ["f32[4] {1, 1, 1, 1}", "s32[5,1] {{0}, {3}, {0}, {4}, {-1}}", "f32[5] {10, 20, 30, 40, 50}"];
    assert_same(common::run(&text, &inputs), "f32[4] {41, 1, 1, 21}");
}

#[test]
fn variadic_scatter_updates_all_operands() {
    let text = "HloModule m
swap {
  a = f32[] parameter(0)
  b = s32[] parameter(1)
  c = f32[] parameter(2)
  d = s32[] parameter(3)
  s = s32[] add(b, d)
  ROOT t = (f32[], s32[]) tuple(c, s)
}
ENTRY e {
  x = f32[3] parameter(0)
  y = s32[3] parameter(1)
  i = s32[2] parameter(2)
  u = f32[2] parameter(3)
  v = s32[2] parameter(4)
  ROOT r = (f32[3], s32[3]) scatter(x, y, i, u, v), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=swap
}";
    let inputs =
        ["f32[3] {1, 2, 3}", "s32[3] {1, 2, 3}", "s32[2] {2, 2}", "f32[2] {7, 8}", "s32[2] {10, 20}"];
    assert_same(common::run(text, &inputs), "(f32[3], s32[3]) ({1, 2, 8}, {1, 2, 33})");
}
