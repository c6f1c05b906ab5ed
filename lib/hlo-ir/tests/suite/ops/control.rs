//! Table tests of calls, loops, branches and fusions.

use super::{code, infers, refuses};

#[test]
fn calls_and_fusions() {
    infers(&[
        ("call(f32[4]), to_apply=vector", "f32[4]"),
        ("call(f32[4], s32[]), to_apply=vector2", "(f32[4], s32[])"),
        ("fusion(f32[4]), kind=kLoop, calls=grow", "f32[5]"),
        ("call(f32[<=4]), to_apply=vector", "f32[4]"),
        ("opt-barrier((f32[4], token[]))", "(f32[4], token[])"),
    ]);
    refuses(&[
        (
            "call(f32[5]), to_apply=vector",
            code::CALLEE_SIGNATURE,
            "passes f32[5] as argument 0 to `vector` in `to_apply`, whose parameter 0 is f32[4]",
        ),
        (
            "call(), to_apply=vector",
            code::CALLEE_SIGNATURE,
            "needs a computation of 0 parameters in `to_apply`, but `vector` has 1",
        ),
        (
            "f32[4] call(f32[4]), to_apply=grow",
            code::DECLARED_SHAPE,
            "gives f32[5], but its shape is written f32[4]",
        ),
        ("call(f32[4])", code::NO_CALLEE, "`to_apply`"),
        ("f32[4] fusion(f32[4]), kind=kLoop, calls=grow", code::DECLARED_SHAPE, "gives f32[5]"),
        (
            "fusion(f32[4], f32[4]), kind=kLoop, calls=grow",
            code::FUSION_PARAMETERS,
            "of 2 parameters in `calls`",
        ),
    ]);
}

#[test]
fn while_loops() {
    infers(&[
        ("while(f32[4]), condition=go_on, body=vector", "f32[4]"),
        ("while(f32[<=4]), condition=go_on, body=vector", "f32[<=4]"),
    ]);
    refuses(&[
        (
            "while(f32[4]), condition=go_on_vector, body=vector",
            code::CONDITION_RESULT,
            "gives pred[] in `condition`, but `go_on_vector` gives pred[4]",
        ),
        (
            "while(f32[4]), condition=go_on, body=grow",
            code::BODY_RESULT,
            "gives f32[4] in `body`, but `grow` gives f32[5]",
        ),
        ("while(f32[5]), condition=go_on, body=vector", code::CONDITION_PARAMETER, "passes f32[5]"),
        ("while(f32[4]), condition=less, body=vector", code::CONDITION_PARAMETER, "`less` has 2"),
        ("while(f32[4]), condition=go_on", code::NO_CALLEE, "`body`"),
        ("while(f32[4], f32[4]), condition=go_on, body=vector", code::ARITY, "takes 1 operand, found 2"),
    ]);
}

#[test]
fn conditionals() {
    infers(&[
        ("conditional(pred[], f32[4], f32[4]), true_computation=vector, false_computation=vector", "f32[4]"),
        ("conditional(s32[], f32[4]), branch_computations={vector}", "f32[4]"),
        ("conditional(s32[], f32[4], f32[4]), branch_computations={grow, grow}", "f32[5]"),
    ]);
    refuses(&[
        (
            "conditional(pred[], f32[4]), branch_computations={vector}",
            code::PRED_BRANCHES,
            "needs `true_computation` and `false_computation`",
        ),
        (
            "conditional(s32[], f32[4], f32[4]), true_computation=vector, false_computation=vector",
            code::INDEXED_BRANCHES,
            "needs `branch_computations`",
        ),
        ("conditional(s32[]), branch_computations={}", code::INDEXED_BRANCHES, "at least one"),
        (
            "conditional(pred[], f32[4], f32[4]), true_computation=vector",
            code::PRED_BRANCHES,
            "needs `true_computation`",
        ),
        (
            "conditional(s32[], f32[4], f32[4]), branch_computations={vector, grow}",
            code::BRANCH_RESULT,
            "branch 0 gives f32[4] and branch 1 gives f32[5]",
        ),
        (
            "conditional(s32[], f32[4]), branch_computations={vector, vector}",
            code::BRANCH_OPERANDS,
            "each of its 2 branches, found 1",
        ),
        ("conditional(s32[], f32[5]), branch_computations={vector}", code::BRANCH_PARAMETER, "passes f32[5]"),
        ("conditional(f32[], f32[4]), branch_computations={vector}", code::BRANCH_INDEX, "found f32[]"),
        (
            "conditional(s64[], f32[4]), branch_computations={vector}",
            code::BRANCH_INDEX,
            "a pred[] or an s32[], found s64[]",
        ),
        ("conditional(s32[1], f32[4]), branch_computations={vector}", code::BRANCH_INDEX, "found s32[1]"),
        ("conditional()", code::ARITY, "at least 1 operand"),
    ]);
}
