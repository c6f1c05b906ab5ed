//! Rows of reductions, windows, map and sorting.

use super::{accepts, code, infers, refuses};

#[test]
fn reduce() {
    infers(&[
        ("reduce(f32[2,3,4], f32[]), dimensions={1}, to_apply=add", "f32[2,4]"),
        ("reduce(f32[2,3], f32[]), dimensions={1,0}, to_apply=add", "f32[]"),
        ("reduce(f32[2,3], f32[]), dimensions={}, to_apply=add", "f32[2,3]"),
        ("reduce(f32[2,3], s32[2,3], f32[], s32[]), dimensions={0}, to_apply=argmax", "(f32[3], s32[3])"),
    ]);
    refuses(&[
        ("reduce(f32[2], f32[]), dimensions={1}, to_apply=add", code::DIMENSION_RANGE, "names dimension 1"),
        ("reduce(f32[2], f32[]), dimensions={0,0}, to_apply=add", code::DIMENSION_REPEATED, "twice"),
        ("reduce(f32[2], f32[1]), dimensions={0}, to_apply=add", code::OPERAND_KIND, "a scalar as operand 1"),
        ("reduce(f32[2], s32[]), dimensions={0}, to_apply=add", code::MIXED_TYPES, "found f32 and s32"),
        ("reduce(f32[2], f32[], f32[]), dimensions={0}, to_apply=add", code::ARITY, "found 3 operands"),
        ("reduce(f32[2]), dimensions={0}, to_apply=add", code::ARITY, "at least 2 operands"),
        (
            "reduce(s32[2], s32[]), dimensions={0}, to_apply=add",
            code::CALLEE_SIGNATURE,
            "passes s32[] as argument 0 to `add`, whose parameter 0 is f32[]",
        ),
        ("reduce(f32[2], f32[]), dimensions={0}, to_apply=less", code::CALLEE_RESULT, "`less` gives pred[]"),
        (
            "reduce(f32[2], f32[]), dimensions={0}, to_apply=negate",
            code::CALLEE_SIGNATURE,
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
        ("reduce-window(f32[], f32[]), to_apply=add", "f32[]"),
    ]);
    refuses(&[
        (
            "reduce-window(f32[10], f32[]), window={size=3x3}, to_apply=add",
            code::ENTRY_COUNT,
            "needs 1 entries in `window`, found 2",
        ),
        ("reduce-window(f32[10], f32[]), window={size=0}, to_apply=add", code::ATTRIBUTE, "found size 0"),
        (
            "reduce-window(f32[10], f32[]), window={size=1 stride=0}, to_apply=add",
            code::ATTRIBUTE,
            "stride 0",
        ),
        (
            "reduce-window(f32[10], f32[]), window={size=1 rhs_dilate=-1}, to_apply=add",
            code::ATTRIBUTE,
            "rhs_dilate -1",
        ),
        (
            "reduce-window(f32[3], f32[]), window={size=1 pad=-2_-2}, to_apply=add",
            code::ATTRIBUTE,
            "more padding away",
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
    infers(&[(
        "select-and-scatter(f32[4,4], f32[2,2], f32[]), window={size=2x2 stride=2x2}, select=less, scatter=add",
        "f32[4,4]",
    )]);
    refuses(&[
        (
            "select-and-scatter(f32[4,4], f32[2,3], f32[]), window={size=2x2 stride=2x2}, select=less, scatter=add",
            code::OPERAND_SHAPES,
            "needs a source of f32[2,2], one element a window, found f32[2,3]",
        ),
        (
            "select-and-scatter(f32[4], f32[2], f32[]), window={size=2 stride=2}, select=add, scatter=add",
            code::CALLEE_RESULT,
            "gives pred[] in `select`, but `add` gives f32[]",
        ),
        (
            "select-and-scatter(f32[4], f32[2], f32[]), window={size=2 stride=2}, select=less, scatter=less",
            code::CALLEE_RESULT,
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
    ]);
    accepts(&["(f32[4], f32[]) scan(f32[4], f32[]), dimensions={0}, num_carries=1, to_apply=argmax"]);
    refuses(&[
        ("map(f32[2,3]), dimensions={1,0}, to_apply=negate", code::ATTRIBUTE, "all 2 dimensions in order"),
        ("map(f32[2], f32[3]), to_apply=to_s32", code::OPERAND_SHAPES, "operands 0 and 1"),
        ("map(s32[2]), to_apply=negate", code::CALLEE_SIGNATURE, "passes s32[]"),
        ("map(f32[2]), to_apply=add", code::CALLEE_SIGNATURE, "`add` has 2"),
        ("map(), to_apply=negate", code::ARITY, "no operand 0"),
        ("sort(f32[2]), dimensions={1}, to_apply=less", code::DIMENSION_RANGE, "names dimension 1"),
        ("sort(f32[2]), dimensions={0}, to_apply=add", code::CALLEE_RESULT, "gives pred[]"),
        ("sort(f32[2], s32[3]), dimensions={0}, to_apply=less2", code::OPERAND_SHAPES, "operands 0 and 1"),
        ("sort(f32[2], s32[2]), dimensions={0}, to_apply=less", code::CALLEE_SIGNATURE, "of 4 parameters"),
        ("topk(f32[2,5]), k=6, largest=true", code::ATTRIBUTE, "asks for 6 of 5 elements"),
        ("topk(f32[]), k=0, largest=true", code::OPERAND_KIND, "rank 1 or more"),
        (
            "f32[4] scan(f32[4]), dimensions={0}, num_carries=2, to_apply=add",
            code::ATTRIBUTE,
            "num_carries=2",
        ),
    ]);
}
