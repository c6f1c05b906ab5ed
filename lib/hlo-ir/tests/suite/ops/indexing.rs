//! Table tests of slices, gathers and scatters.

use super::{accepts, code, infers, refuses};

#[test]
fn dynamic_slice() {
    infers(&[
        ("dynamic-slice(f32[10,4], s32[], s32[]), dynamic_slice_sizes={3,4}", "f32[3,4]"),
        ("dynamic-slice(f32[10,4], s64[2]), dynamic_slice_sizes={3,4}", "f32[3,4]"),
        ("dynamic-slice(f32[]), dynamic_slice_sizes={}", "f32[]"),
        ("dynamic-update-slice(f32[10], f32[3], u8[])", "f32[10]"),
        ("dynamic-update-slice(f32[], f32[])", "f32[]"),
    ]);
    refuses(&[
        (
            "dynamic-slice(f32[10], s32[]), dynamic_slice_sizes={11}",
            code::SLICE_SIZES,
            "takes 11 elements of dimension 0",
        ),
        ("dynamic-slice(f32[10], s32[]), dynamic_slice_sizes={-1}", code::SLICE_SIZES, "takes -1 elements"),
        ("dynamic-slice(f32[10], s32[]), dynamic_slice_sizes={1,1}", code::ENTRY_COUNT, "needs 1 entries"),
        (
            "dynamic-slice(f32[10,2], s32[]), dynamic_slice_sizes={1,1}",
            code::START_INDICES,
            "needs 2 start indices, one a dimension, found 1",
        ),
        ("dynamic-slice(f32[10], f32[]), dynamic_slice_sizes={1}", code::ELEMENT_TYPE, "f32[]"),
        (
            "dynamic-slice(f32[10,2], s32[3]), dynamic_slice_sizes={1,1}",
            code::START_INDICES,
            "needs 2 start indices, found s32[3]",
        ),
        (
            "dynamic-slice(f32[10,2], s32[], s64[]), dynamic_slice_sizes={1,1}",
            code::MIXED_TYPES,
            "found s32 and s64",
        ),
        (
            "dynamic-slice(f32[10,2], s32[], s32[1]), dynamic_slice_sizes={1,1}",
            code::OPERAND_KIND,
            "needs a scalar as operand 2",
        ),
        (
            "dynamic-update-slice(f32[10], f32[11], s32[])",
            code::UPDATE_FITS,
            "fits into f32[10], found f32[11]",
        ),
        ("dynamic-update-slice(f32[10], f32[1,1], s32[])", code::UPDATE_FITS, "found f32[1,1]"),
        ("dynamic-update-slice(f32[10], s32[1], s32[])", code::MIXED_TYPES, "found f32 and s32"),
        ("dynamic-update-slice(f32[10], f32[1])", code::START_INDICES, "needs 1 start indices"),
    ]);
}

#[test]
fn gather() {
    infers(&[
        (
            "gather(f32[10,4], s32[5,1]), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, \
             index_vector_dim=1, slice_sizes={1,4}",
            "f32[5,4]",
        ),
        (
            "gather(f32[10,4], s32[5]), offset_dims={0}, collapsed_slice_dims={0}, start_index_map={0}, \
             index_vector_dim=1, slice_sizes={1,3}",
            "f32[3,5]",
        ),
        (
            "gather(f32[3,10], s32[3,5,1]), offset_dims={}, collapsed_slice_dims={1}, start_index_map={1}, \
             operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=2, slice_sizes={1,1}",
            "f32[3,5]",
        ),
    ]);
    let row = |offset: &str, collapsed: &str, map: &str, vector: &str, sizes: &str, indices: &str| {
        format!(
            "gather(f32[10,4], {indices}), offset_dims={{{offset}}}, collapsed_slice_dims={{{collapsed}}}, \
             start_index_map={{{map}}}, index_vector_dim={vector}, slice_sizes={{{sizes}}}"
        )
    };
    for (text, code, message) in [
        (row("1", "0", "0", "1", "1,4", "f32[5,1]"), code::ELEMENT_TYPE, "operand 1 is f32[5,1]"),
        (
            row("1", "0", "0", "3", "1,4", "s32[5,1]"),
            code::INDEX_VECTOR_DIM,
            "`index_vector_dim` from 0 to 2, found 3",
        ),
        (row("1", "0", "0", "-1", "1,4", "s32[5,1]"), code::INDEX_VECTOR_DIM, "found -1"),
        (
            row("1", "2", "0", "1", "1,4", "s32[5,1]"),
            code::DIMENSION_RANGE,
            "names dimension 2 in `collapsed_slice_dims`",
        ),
        (
            row("1", "0", "0,1", "1", "1,4", "s32[5,1]"),
            code::INDEX_COMPONENTS,
            "indices of 1 components but 2 entries",
        ),
        (row("1", "0", "0", "1", "1", "s32[5,1]"), code::ENTRY_COUNT, "needs 2 entries in `slice_sizes`"),
        (row("1", "0", "0", "1", "1,5", "s32[5,1]"), code::SLICE_SIZES, "takes 5 elements of dimension 1"),
        (
            row("1", "0", "0", "1", "2,4", "s32[5,1]"),
            code::DROPPED_SIZE,
            "of which it needs 1 element in `slice_sizes`, found 2",
        ),
        (row("0,1", "0", "0", "1", "1,4", "s32[5,1]"), code::ENTRY_COUNT, "needs 1 entries in `offset_dims`"),
        (
            row("2", "0", "0", "1", "1,4", "s32[5,1]"),
            code::DIMENSION_RANGE,
            "names dimension 2 in `offset_dims`",
        ),
        (
            row("1,0", "", "0", "1", "1,4", "s32[5,1]"),
            code::DIMENSIONS_SORTED,
            "`offset_dims` in increasing order",
        ),
    ] {
        refuses(&[(&text, code, message)]);
    }
}

#[test]
fn scatter() {
    let row = |operands: &str, window: &str, inserted: &str, map: &str, apply: &str| {
        format!(
            "scatter({operands}), update_window_dims={{{window}}}, inserted_window_dims={{{inserted}}}, \
             scatter_dims_to_operand_dims={{{map}}}, index_vector_dim=1, to_apply={apply}"
        )
    };
    for combiner in ["add", "add_tuple"] {
        infers(&[(&row("f32[10,4], s32[5,1], f32[5,4]", "1", "0", "0", combiner), "f32[10,4]")]);
    }
    infers(&[(
        &row("f32[10], s32[10], s32[5,1], f32[5], s32[5]", "", "0", "0", "argmax"),
        "(f32[10], s32[10])",
    )]);
    for (text, code, message) in [
        (row("f32[10,4], s32[5,1], f32[5,4], f32[5,4]", "1", "0", "0", "add"), code::ARITY, "N operands"),
        (row("f32[10,4], f32[5,1], f32[5,4]", "1", "0", "0", "add"), code::ELEMENT_TYPE, "operand 1"),
        (row("f32[10,4], s32[5,1], s32[5,4]", "1", "0", "0", "add"), code::MIXED_TYPES, "found f32 and s32"),
        (
            row("f32[10,4], s32[5,1], f32[6,4]", "1", "0", "0", "add"),
            code::UPDATE_BATCH,
            "the size of the indices, 5",
        ),
        (row("f32[10,4], s32[5,1], f32[5,5]", "1", "0", "0", "add"), code::UPDATE_WINDOW, "at most 4 fit"),
        (row("f32[10,4], s32[5,1], f32[5]", "1", "0", "0", "add"), code::UPDATE_RANK, "updates of rank 2"),
        (
            row("f32[10,4], s32[5,1], f32[5,4]", "1", "1,0", "0", "add"),
            code::DIMENSIONS_SORTED,
            "increasing order",
        ),
        (
            row("f32[10,4], s32[5,1], f32[5,4]", "", "0", "0", "add"),
            code::ENTRY_COUNT,
            "`update_window_dims`",
        ),
        (
            row("f32[10,4], s32[5,1], f32[5,4]", "1", "0", "2", "add"),
            code::DIMENSION_RANGE,
            "names dimension 2",
        ),
        (
            row("f32[10,4], s32[5,1], f32[5,4]", "1", "0", "0", "negate"),
            code::CALLEE_SIGNATURE,
            "`negate` has 1",
        ),
        (
            row("f32[10,4], s32[5,1], f32[5,4]", "1", "0", "0", "less"),
            code::CALLEE_RESULT,
            "`less` gives pred[]",
        ),
    ] {
        refuses(&[(&text, code, message)]);
    }
}

#[test]
fn dynamic_sizes() {
    infers(&[
        ("get-dimension-size(f32[<=4]), dimensions={0}", "s32[]"),
        ("set-dimension-size(f32[4,2], s32[]), dimensions={0}", "f32[<=4,2]"),
    ]);
    accepts(&["f32[<=6] dynamic-reshape(f32[2,3], s32[])"]);
    refuses(&[
        ("get-dimension-size(f32[4]), dimensions={1}", code::DIMENSION_RANGE, "names dimension 1"),
        ("set-dimension-size(f32[4], s64[]), dimensions={0}", code::SIZE_TYPE, "as an s32"),
        ("set-dimension-size(f32[4], s32[1]), dimensions={0}", code::OPERAND_KIND, "a scalar"),
        ("f32[5] set-dimension-size(f32[4], s32[]), dimensions={0}", code::DECLARED_SHAPE, "gives f32[<=4]"),
        ("f32[<=6] dynamic-reshape(f32[2,3])", code::RESHAPE_SIZES, "a size for each of the 1 dimensions"),
        (
            "f32[<=5] dynamic-reshape(f32[2,3], s32[])",
            code::DYNAMIC_RESHAPE_COUNT,
            "written shape, f32[<=5], 5",
        ),
    ]);
    // If the size equals the bound, the dimension may become static.
    assert_eq!(
        super::Row::read("f32[4] set-dimension-size(f32[<=4], s32[]), dimensions={0}").check(),
        Ok(())
    );
}
