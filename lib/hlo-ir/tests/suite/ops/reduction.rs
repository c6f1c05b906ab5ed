//! Table tests of reductions, windows, `map` and sorting.

use super::{code, infers, refuses};

#[test]
fn reduce() {
    infers(&[
        ("reduce(f32[2,3,4], f32[]), dimensions={1}, to_apply=add", "f32[2,4]"),
        ("reduce(f32[2,3], f32[]), dimensions={1,0}, to_apply=add", "f32[]"),
        ("reduce(f32[2,3], f32[]), dimensions={}, to_apply=add", "f32[2,3]"),
        ("reduce(f32[2,3], s32[2,3], f32[], s32[]), dimensions={0}, to_apply=argmax", "(f32[3], s32[3])"),
        ("reduce(f32[2,3], f32[]), dimensions={1}, to_apply=add_tuple", "(f32[2])"),
        ("reduce(f32[<=2,?], f32[]), dimensions={1}, to_apply=add", "f32[<=2]"),
        (
            "reduce(f32[<=4,8], s32[4,8], f32[], s32[]), dimensions={1}, to_apply=argmax",
            "(f32[<=4], s32[<=4])",
        ),
    ]);
    refuses(&[
        ("reduce(f32[2], f32[]), dimensions={1}, to_apply=add", code::DIMENSION_RANGE, "names dimension 1"),
        ("reduce(f32[2], f32[]), dimensions={0,0}, to_apply=add", code::DIMENSION_REPEATED, "twice"),
        (
            "reduce(f32[2], f32[1]), dimensions={0}, to_apply=add",
            code::INITIAL_VALUE_SCALAR,
            "a scalar as initial value 0, found f32[1]",
        ),
        (
            "reduce(f32[2], s32[]), dimensions={0}, to_apply=add",
            code::INITIAL_VALUE_TYPE,
            "starts from s32 in operand 1 where array 0 has f32",
        ),
        ("reduce(f32[2], f32[], f32[]), dimensions={0}, to_apply=add", code::ARITY, "found 3 operands"),
        ("reduce(f32[2]), dimensions={0}, to_apply=add", code::ARITY, "at least 2 operands"),
        (
            "reduce(s32[2], s32[]), dimensions={0}, to_apply=add",
            code::REDUCER_PARAMETERS,
            "passes s32[] as argument 0 to `add` in `to_apply`, whose parameter 0 is f32[]",
        ),
        ("reduce(f32[2], f32[]), dimensions={0}, to_apply=less", code::REDUCER_RESULT, "`less` gives pred[]"),
        (
            "reduce(f32[2], f32[]), dimensions={0}, to_apply=add_tuple2",
            code::REDUCER_RESULT,
            "gives (f32[]) in `to_apply`, but `add_tuple2` gives (f32[], f32[])",
        ),
        (
            "reduce(f32[2], f32[]), dimensions={0}, to_apply=negate",
            code::REDUCER_PARAMETERS,
            "computation of 2 parameters in `to_apply`, but `negate` has 1",
        ),
        (
            "reduce(f32[2], s32[3], f32[], s32[]), dimensions={0}, to_apply=argmax",
            code::OPERAND_SHAPES,
            "operands 0 and 1",
        ),
        ("reduce(f32[2], f32[]), dimensions={0}", code::NO_CALLEE, "`to_apply` that is not there"),
    ]);
}

#[test]
fn reduce_window() {
    infers(&[
        ("reduce-window(f32[10], f32[]), window={size=3}, to_apply=add", "f32[8]"),
        (
            "reduce-window(f32[10,10], f32[]), window={size=1x3 stride=1x2 pad=0_0x1_1}, to_apply=add",
            "f32[10,5]",
        ),
        ("reduce-window(f32[10], f32[]), window={size=3 lhs_dilate=2 rhs_dilate=3}, to_apply=add", "f32[13]"),
        ("reduce-window(f32[2], f32[]), window={size=3}, to_apply=add", "f32[0]"),
        ("reduce-window(f32[2], s32[2], f32[], s32[]), window={size=2}, to_apply=argmax", "(f32[1], s32[1])"),
        ("reduce-window(f32[10], f32[]), window={size=3}, to_apply=add_tuple", "(f32[8])"),
        ("reduce-window(f32[], f32[]), to_apply=add", "f32[]"),
        ("reduce-window(f32[<=4,?], f32[]), window={size=2x2}, to_apply=add", "f32[<=3,?]"),
    ]);
    refuses(&[
        (
            "reduce-window(f32[10], f32[]), window={size=3x3}, to_apply=add",
            code::WINDOW_RANK,
            "needs a window of 1 dimensions in `window`, found 2",
        ),
        (
            "reduce-window(f32[10], f32[]), window={size=0}, to_apply=add",
            code::WINDOW_POSITIVE,
            "found size 0",
        ),
        (
            "reduce-window(f32[10], f32[]), window={size=1 stride=0}, to_apply=add",
            code::WINDOW_POSITIVE,
            "stride 0",
        ),
        (
            "reduce-window(f32[10], f32[]), window={size=1 rhs_dilate=-1}, to_apply=add",
            code::WINDOW_POSITIVE,
            "rhs_dilate -1",
        ),
        (
            "reduce-window(f32[3], f32[]), window={size=1 pad=-2_-2}, to_apply=add",
            code::WINDOW_PADDING,
            "takes away more than the size 3",
        ),
        (
            "reduce-window(f32[3], f32[]), window={size=1 lhs_dilate=9223372036854775807}, to_apply=add",
            code::OVERFLOW,
            "64 bits",
        ),
        (
            "reduce-window(f32[3], f32[]), window={size=3 rhs_dilate=9223372036854775807}, to_apply=add",
            code::OVERFLOW,
            "64 bits",
        ),
    ]);
}

#[test]
fn select_and_scatter() {
    for scatter in ["add", "add_tuple"] {
        let row = format!(
            "select-and-scatter(f32[4,4], f32[2,2], f32[]), window={{size=2x2 stride=2x2}}, select=less, \
             scatter={scatter}"
        );
        infers(&[(&row, "f32[4,4]")]);
    }
    refuses(&[
        (
            "select-and-scatter(f32[4,4], f32[2,3], f32[]), window={size=2x2 stride=2x2}, select=less, scatter=add",
            code::SELECT_SOURCE,
            "needs a source of f32[2,2], one element a window, found f32[2,3]",
        ),
        (
            "select-and-scatter(f32[4], f32[2], f32[]), window={size=2 stride=2}, select=add, scatter=add",
            code::SELECT_RESULT,
            "gives pred[] in `select`, but `add` gives f32[]",
        ),
        (
            "select-and-scatter(f32[4], f32[2], f32[]), window={size=2 stride=2}, select=less, scatter=less",
            code::SCATTER_FUNCTION_RESULT,
            "in `scatter`",
        ),
    ]);
}

#[test]
fn map_and_sort() {
    infers(&[
        ("map(f32[2,3]), dimensions={0,1}, to_apply=negate", "f32[2,3]"),
        ("map(f32[2], f32[2]), to_apply=to_s32", "s32[2]"),
        ("sort(f32[2,3]), dimensions={1}, to_apply=less", "f32[2,3]"),
        ("sort(f32[2], s32[2]), dimensions={0}, to_apply=less2", "(f32[2], s32[2])"),
        ("topk(f32[2,5]), k=3, largest=true", "(f32[2,3], s32[2,3])"),
        ("topk(f32[<=2,<=5]), k=3, largest=false", "(f32[<=2,3], s32[<=2,3])"),
        ("map(f32[4,5]{0,1}), dimensions={0,1}, to_apply=negate", "f32[4,5]"),
        ("sort(f32[4]{0}, s32[<=4]), dimensions={0}, to_apply=less2", "(f32[4], s32[<=4])"),
    ]);
    refuses(&[
        (
            "map(f32[2,3]), dimensions={1,0}, to_apply=negate",
            code::MAP_DIMENSIONS,
            "all 2 dimensions in order",
        ),
        ("map(f32[2], f32[3]), to_apply=to_s32", code::OPERAND_SHAPES, "operands 0 and 1"),
        ("map(s32[2]), to_apply=negate", code::MAP_PARAMETERS, "passes s32[]"),
        ("map(f32[2]), to_apply=add", code::MAP_PARAMETERS, "`add` has 2"),
        ("map(), to_apply=negate", code::ARITY, "no operand 0"),
        ("sort(f32[2]), dimensions={1}, to_apply=less", code::DIMENSION_RANGE, "names dimension 1"),
        ("sort(f32[2]), dimensions={0}, to_apply=add", code::COMPARATOR_RESULT, "gives pred[]"),
        ("sort(f32[2], s32[3]), dimensions={0}, to_apply=less2", code::OPERAND_SHAPES, "operands 0 and 1"),
        (
            "sort(f32[2], s32[2]), dimensions={0}, to_apply=less",
            code::COMPARATOR_PARAMETERS,
            "of 4 parameters",
        ),
        ("topk(f32[2,5]), k=6, largest=true", code::TOPK_COUNT, "asks for 6 of 5 elements"),
        ("topk(f32[]), k=0, largest=true", code::TOPK_RANK, "found a scalar"),
    ]);
}

#[test]
fn scan() {
    infers(&[
        ("scan(f32[2,4], f32[4]), dimensions={0}, num_carries=1, to_apply=scan_step", "(f32[2,4], f32[4])"),
        ("scan(f32[4,2]), dimensions={1}, num_carries=0, to_apply=vector", "f32[4,2]"),
        ("scan(f32[4,<=2]), dimensions={1}, num_carries=0, to_apply=vector", "f32[4,2]"),
        ("scan(f32[4,2]), dimensions={1}, num_carries=0, to_apply=grow", "f32[5,2]"),
        ("scan(f32[2,4], f32[4]), dimensions={0}, num_carries=1, to_apply=add_vector", "f32[4]"),
        ("scan(f32[2,4], s32[]), dimensions={0}, num_carries=1, to_apply=vector2", "(f32[2,4], s32[])"),
    ]);
    refuses(&[
        (
            "f32[4] scan(f32[4]), dimensions={0}, num_carries=2, to_apply=add",
            code::SCAN_CARRIES,
            "there are 2 of 1 operands by `num_carries`",
        ),
        (
            "f32[4] scan(f32[4]), dimensions={0}, num_carries=1, to_apply=add",
            code::SCAN_CARRIES,
            "there are 1 of 1 operands by `num_carries`",
        ),
        (
            "f32[4] scan(f32[4]), dimensions={0}, num_carries=-1, to_apply=add",
            code::SCAN_CARRIES,
            "there are -1 of 1 operands by `num_carries`",
        ),
        (
            "scan(f32[4]), dimensions={1}, num_carries=0, to_apply=vector",
            code::DIMENSION_RANGE,
            "dimension 1",
        ),
        (
            "scan(f32[4], f32[4]), dimensions={0,1}, num_carries=0, to_apply=add",
            code::ONE_DIMENSION,
            "found 2",
        ),
        (
            "scan(f32[2,4], f32[3,4]), dimensions={0}, num_carries=0, to_apply=scan_step",
            code::SCAN_LENGTH,
            "found 2 in operand 0 and 3 in operand 1",
        ),
        (
            "scan(f32[2,5], f32[4]), dimensions={0}, num_carries=1, to_apply=scan_step",
            code::SCAN_PARAMETERS,
            "passes f32[5] as argument 0 to `scan_step`",
        ),
        (
            "scan(f32[2,4]), dimensions={0}, num_carries=0, to_apply=scan_step",
            code::SCAN_PARAMETERS,
            "of 1 parameter in `to_apply`, but `scan_step` has 2",
        ),
        (
            "scan(f32[4], f32[]), dimensions={0}, num_carries=1, to_apply=to_s32",
            code::SCAN_RESULT,
            "starts carry 0 as f32[], but the computation in `to_apply` gives s32[] as the next one",
        ),
        (
            "scan(f32[2,4], f32[4], f32[4]), dimensions={0}, num_carries=2, to_apply=add_vector3",
            code::SCAN_RESULT,
            "that gives its 2 carries, found f32[4]",
        ),
    ]);
}
