//! Rules for slices and updates at indices known only at run time, and for dynamic sizes.

rules! {
    START_INDICES = "E0601" "start-indices" {
        rule: "`dynamic-slice` and `dynamic-update-slice` have one start index for each dimension.",
        why: "The indices are integer scalars, one operand for each, or one vector of integers.",
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
        rule: "A slice of `dynamic-slice` or `gather` is not larger than the operand.",
        why: "Start indices are clamped so that the slice is inside the operand. A larger slice cannot be.",
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
        rule: "The update of a `dynamic-update-slice` has the operand's rank and is not larger than the operand.",
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
        rule: "`index_vector_dim` is a dimension of the indices, or their rank.",
        why: "That dimension contains the components of each index. If `index_vector_dim` is the rank, each index has one component.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[10,4] parameter(0)
  i = s32[5,1] parameter(1)
  ROOT y = f32[5,4] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=3, slice_sizes={1,4}
}
"),
        fix: "write `index_vector_dim=1`: the components are in the last dimension",
        section: "Operation semantics, Gather",
    }
    INDEX_COMPONENTS = "E0605" "index-components" {
        rule: "`start_index_map` and `scatter_dims_to_operand_dims` have an entry for each component of an index.",
        why: "The entry is the operand dimension that the component indexes.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[10,4] parameter(0)
  i = s32[5,2] parameter(1)
  ROOT y = f32[5,4] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}
}
"),
        fix: "write two entries for two components: `start_index_map={0,1}`",
        section: "Operation semantics, Gather",
    }
    BATCHED_COMPONENTS = "E0606" "batched-components" {
        rule: "The dimension of the index components is not a batching dimension of the indices.",
        why: "All components of an index belong to one batch.",
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
        rule: "The slices of a `gather` have size 0 or 1 in the dimensions that the result omits.",
        why: "The result omits `collapsed_slice_dims` and `operand_batching_dims`, so a slice has at most one element along them.",
        example: Some(r"HloModule m

ENTRY main {
  x = f32[10,4] parameter(0)
  i = s32[5,1] parameter(1)
  ROOT y = f32[5,4] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={2,4}
}
"),
        fix: "read one row: `slice_sizes={1,4}`",
        section: "Operation semantics, Gather",
    }
    UPDATE_RANK = "E0608" "update-rank" {
        rule: "The updates of a `scatter` have the window dimensions and all dimensions of the indices except that of the components.",
        why: "There is one window of updates for each index.",
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
        why: "A window that fits at no index would never be written.",
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
        rule: "The updates of a `scatter` have one window for each index.",
        why: "The dimensions of the updates that are not in `update_window_dims` are those of the indices, in the same order.",
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
        fix: "give `u` 5 rows, or `i` 6 rows",
        section: "Operation semantics, Scatter",
    }
    SIZE_TYPE = "E0611" "size-type" {
        rule: "The size operand of a `set-dimension-size` is an `s32`.",
        why: "Sizes known at run time are always `s32`, as `get-dimension-size` returns them.",
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
        rule: "`dynamic-reshape` has a size operand for each dimension of its result.",
        why: "The sizes are operands after the data, because they are known only at run time.",
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
        rule: "The bounds of a `dynamic-reshape` have as many elements as those of its operand.",
        why: "The result has the elements of the operand at other indices.",
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
