//! Table tests of tokens and transfers.

use super::{accepts, code, infers, refuses};

#[test]
fn tokens_and_transfers() {
    infers(&[
        ("after-all()", "token[]"),
        ("after-all(token[], token[])", "token[]"),
        ("add-dependency(f32[2], token[])", "f32[2]"),
        ("copy-start(f32[2])", "(f32[2], f32[2], u32[])"),
        ("copy-done((f32[2], f32[2], u32[]))", "f32[2]"),
        ("send(f32[2], token[]), channel_id=1", "(f32[2], u32[], token[])"),
        ("send-done((f32[2], u32[], token[])), channel_id=1", "token[]"),
        ("recv-done((f32[2], u32[], token[])), channel_id=1", "(f32[2], token[])"),
        ("outfeed(f32[2], token[])", "token[]"),
        ("after-all(f32[])", "token[]"),
        ("partition-id()", "u32[]"),
        ("replica-id()", "u32[]"),
    ]);
    accepts(&[
        "(f32[2], token[]) infeed(token[])",
        "(f32[2], u32[], token[]) recv(token[]), channel_id=1",
        "(f32[7], s8[]) custom-call(f32[2]), custom_call_target=\"f\"",
    ]);
    refuses(&[
        ("add-dependency(f32[2], f32[2])", code::OPERAND_KIND, "needs a token as operand 1"),
        ("copy-done(f32[2])", code::OPERAND_KIND, "needs a tuple"),
        ("copy-done(())", code::COPY_STATE, "a copy, its source and a context as one tuple, found ()"),
        ("f32[2] infeed(token[])", code::INFEED_RESULT, "a value and a token"),
        ("(f32[2]) infeed(token[])", code::INFEED_RESULT, "a value and a token"),
        ("(f32[2], token[]) recv(token[]), channel_id=1", code::RECV_RESULT, "a context and a token"),
        ("recv-done(()), channel_id=1", code::TRANSFER_STATE, "found ()"),
        ("(f32[2], u64[], token[]) recv(token[])", code::RECV_RESULT, "u64[]"),
        ("send-done((f32[2], u32[])), channel_id=1", code::TRANSFER_STATE, "found (f32[2], u32[])"),
        ("copy-done((f32[2], f32[3], u32[]))", code::COPY_STATE, "found (f32[2], f32[3], u32[])"),
        ("outfeed(f32[2], f32[2])", code::OPERAND_KIND, "a token as operand 1"),
        ("s32[] partition-id()", code::DECLARED_SHAPE, "gives u32[]"),
    ]);
}

#[test]
fn custom_calls() {
    let row = |result: &str, rest: &str| {
        format!("{result} custom-call(f32[2], (s32[], f32[3])), custom_call_target=\"f\", {rest}")
    };
    for (result, rest) in [
        ("f32[2]", "operand_layout_constraints={f32[2], (s32[], f32[3])}"),
        ("f32[2]", "output_to_operand_aliasing={{}: (0, {})}"),
        ("(f32[3], f32[2])", "output_to_operand_aliasing={{0}: (1, {1}), {1}: (0, {})}"),
    ] {
        accepts(&[&row(result, rest)]);
    }
    for (result, rest, code, message) in [
        (
            "f32[2]",
            "operand_layout_constraints={f32[2]}",
            code::LAYOUT_CONSTRAINT_COUNT,
            "has 1 shapes in `operand_layout_constraints` for 2 operands",
        ),
        (
            "f32[2]",
            "operand_layout_constraints={s32[2], (s32[], f32[3])}",
            code::LAYOUT_CONSTRAINT_SHAPE,
            "has s32[2] in `operand_layout_constraints` for operand 0, which is f32[2]",
        ),
        ("f32[2]", "output_to_operand_aliasing={{0}: (0, {})}", code::ALIASED_RESULT, "names part {0}"),
        ("(f32[2])", "output_to_operand_aliasing={{-1}: (0, {})}", code::ALIASED_RESULT, "names part {-1}"),
        ("f32[2]", "output_to_operand_aliasing={{}: (2, {})}", code::ALIASED_OPERAND, "names operand 2"),
        ("f32[2]", "output_to_operand_aliasing={{}: (-1, {})}", code::ALIASED_OPERAND, "names operand -1"),
        (
            "f32[2]",
            "output_to_operand_aliasing={{}: (1, {2})}",
            code::ALIASED_OPERAND,
            "part {2} of operand 1",
        ),
        (
            "f32[2]",
            "output_to_operand_aliasing={{}: (1, {1})}",
            code::ALIASED_SHAPES,
            "part {} of the result, f32[2], where part {1} of operand 1 is, f32[3]",
        ),
        (
            "f32[2]",
            "output_to_operand_aliasing={{}: (0, {}), {}: (0, {})}",
            code::RESULT_ALIASED_ONCE,
            "names part {} of the result twice",
        ),
    ] {
        refuses(&[(&row(result, rest), code, message)]);
    }
}

#[test]
fn asynchronous_operations() {
    accepts(&[
        "((f32[4]), f32[4], s32[]) async-start(f32[4]), calls=vector",
        "((f32[4]), f32[5]) async-start(f32[4]), calls=grow",
    ]);
    infers(&[
        ("async-update(((f32[4]), f32[5], s32[]))", "((f32[4]), f32[5], s32[])"),
        ("async-done(((f32[4]), f32[5], s32[]))", "f32[5]"),
        ("async-done(((), (f32[5], s32[])))", "(f32[5], s32[])"),
    ]);
    refuses(&[
        ("(f32[4], f32[4]) async-start(f32[4]), calls=vector", code::ASYNC_FORM, "found (f32[4], f32[4])"),
        (
            "((f32[4]), f32[5]) async-start(f32[4]), calls=vector",
            code::ASYNC_RESULT,
            "gives f32[5] in `calls`",
        ),
        ("((f32[5]), f32[4]) async-start(f32[4]), calls=vector", code::ASYNC_OPERANDS, "found (f32[5])"),
        ("((), f32[4]) async-start(f32[4]), calls=vector", code::ASYNC_OPERANDS, "found ()"),
        ("((f32[5]), f32[4]) async-start(f32[5]), calls=vector", code::ASYNC_PARAMETERS, "passes f32[5]"),
        ("async-done(f32[4])", code::ASYNC_FORM, "found f32[4]"),
        ("async-update(((f32[4])))", code::ASYNC_FORM, "found ((f32[4]))"),
        ("f32[4] async-done(((f32[4]), f32[5]))", code::DECLARED_SHAPE, "gives f32[5]"),
    ]);
}
