//! Rules for slices and updates at indices known only at run time, and for dynamic sizes.

rules! {
    START_INDICES = "E0601" "start-indices" {
        rule: "`dynamic-slice` and `dynamic-update-slice` have a start index for each dimension.",
        why: "The indices are integer scalars, one operand each, or one vector of them.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[10,4] parameter(0)
  i = s32[] parameter(1)
  ROOT y = f32[2,4] dynamic-slice(x, i), dynamic_slice_sizes={2,4}
}
"),
        fix: "add the second index: `dynamic-slice(x, i, zero)`",
        section: "Operation semantics, DynamicSlice",
    }
    SLICE_SIZES = "E0602" "slice-sizes" {
        rule: "The slices that `dynamic-slice` and `gather` take are not larger than the operand.",
        why: "Start indices are clamped so that the slice is inside the operand, which a larger slice can't be.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[10] parameter(0)
  i = s32[] parameter(1)
  ROOT y = f32[11] dynamic-slice(x, i), dynamic_slice_sizes={11}
}
"),
        fix: "take at most 10 elements",
        section: "Operation semantics, DynamicSlice",
    }
    UPDATE_FITS = "E0603" "update-fits" {
        rule: "The update of a `dynamic-update-slice` has the operand's rank and fits into it.",
        why: "Start indices are clamped so that the whole update is written.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[10] parameter(0)
  u = f32[11] parameter(1)
  i = s32[] parameter(2)
  ROOT y = f32[10] dynamic-update-slice(x, u, i)
}
"),
        fix: "slice the update to at most 10 elements",
        section: "Operation semantics, DynamicUpdateSlice",
    }
    INDEX_VECTOR_DIM = "E0604" "index-vector-dim" {
        rule: "`index_vector_dim` is a dimension of the indices, or one past the last.",
        why: "That dimension has the components of each index; one past the last, each index has one component.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[10,4] parameter(0)
  i = s32[5,1] parameter(1)
  ROOT y = f32[5,4] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=3, slice_sizes={1,4}
}
"),
        fix: "the components are in the last dimension: `index_vector_dim=1`",
        section: "Operation semantics, Gather",
    }
    INDEX_COMPONENTS = "E0605" "index-components" {
        rule: "`start_index_map` and `scatter_dims_to_operand_dims` have an entry for each component of an index.",
        why: "The entry is the operand dimension that the component counts in.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[10,4] parameter(0)
  i = s32[5,2] parameter(1)
  ROOT y = f32[5,4] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}
}
"),
        fix: "indices of two components need two entries: `start_index_map={0,1}`",
        section: "Operation semantics, Gather",
    }
    BATCHED_COMPONENTS = "E0606" "batched-components" {
        rule: "The dimension of the index components is no batching dimension of the indices.",
        why: "The components of an index belong together.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[1,10] parameter(0)
  i = s32[3,1] parameter(1)
  ROOT y = f32[3] gather(x, i), offset_dims={}, collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0}, start_indices_batching_dims={1}, index_vector_dim=1, slice_sizes={1,1}
}
"),
        fix: "name another dimension in `start_indices_batching_dims`",
        section: "Operation semantics, Gather",
    }
    DROPPED_SIZE = "E0607" "dropped-size" {
        rule: "The slices of a `gather` have size 1 or 0 in the dimensions that the result lacks.",
        why: "`collapsed_slice_dims` and `operand_batching_dims` are left out of the result, so that there must be no more than one element along them.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[10,4] parameter(0)
  i = s32[5,1] parameter(1)
  ROOT y = f32[5,4] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={2,4}
}
"),
        fix: "take one row: `slice_sizes={1,4}`",
        section: "Operation semantics, Gather",
    }
    UPDATE_RANK = "E0608" "update-rank" {
        rule: "The updates of a `scatter` have the window dimensions and the indices' dimensions without that of the components.",
        why: "For each index there is one window of updates.",
        example: Some(r"HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  x = f32[10,4] parameter(0)
  i = s32[5,1] parameter(1)
  u = f32[5] parameter(2)
  ROOT y = f32[10,4] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
}
"),
        fix: "give `u` the shape `f32[5,4]`",
        section: "Operation semantics, Scatter",
    }
    UPDATE_WINDOW = "E0609" "update-window" {
        rule: "A window of the updates of a `scatter` is not larger than the operand.",
        why: "A window that does not fit at any index would never be written.",
        example: Some(r"HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  x = f32[10,4] parameter(0)
  i = s32[5,1] parameter(1)
  u = f32[5,6] parameter(2)
  ROOT y = f32[10,4] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
}
"),
        fix: "give `u` at most 4 columns",
        section: "Operation semantics, Scatter",
    }
    UPDATE_BATCH = "E0610" "update-batch" {
        rule: "The updates of a `scatter` have a window for each index.",
        why: "The dimensions of the updates that are not in `update_window_dims` are those of the indices, in their order.",
        example: Some(r"HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  x = f32[10,4] parameter(0)
  i = s32[5,1] parameter(1)
  u = f32[6,4] parameter(2)
  ROOT y = f32[10,4] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
}
"),
        fix: "give `u` 5 rows, or `i` 6",
        section: "Operation semantics, Scatter",
    }
    SIZE_TYPE = "E0611" "size-type" {
        rule: "The size operand of a `set-dimension-size` is an `s32`.",
        why: "Run-time sizes are `s32` everywhere, as `get-dimension-size` gives them.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  n = s64[] parameter(1)
  ROOT y = f32[<=4] set-dimension-size(x, n), dimensions={0}
}
"),
        fix: "convert the size to `s32[]`",
        section: "Operation semantics, SetDimensionSize",
    }
    RESHAPE_SIZES = "E0612" "reshape-sizes" {
        rule: "`dynamic-reshape` has a size for each dimension of its result.",
        why: "The sizes are operands after the data, as they are known at run time only.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2,3] parameter(0)
  n = s32[] parameter(1)
  ROOT y = f32[<=3,<=2] dynamic-reshape(x, n)
}
"),
        fix: "pass two sizes",
        section: "HLO text, dynamic-reshape",
    }
    DYNAMIC_RESHAPE_COUNT = "E0613" "dynamic-reshape-count" {
        rule: "The bounds of a `dynamic-reshape` have as many elements as the operand's.",
        why: "The elements are those of the operand under other indices.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[2,3] parameter(0)
  n = s32[] parameter(1)
  ROOT y = f32[<=5] dynamic-reshape(x, n)
}
"),
        fix: "write the bound `<=6`",
        section: "HLO text, dynamic-reshape",
    }
}
