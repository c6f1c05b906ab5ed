//! Rows of tokens and transfers.

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
        ("partition-id()", "u32[]"),
        ("replica-id()", "u32[]"),
    ]);
    accepts(&[
        "(f32[2], token[]) infeed(token[])",
        "(f32[2], u32[], token[]) recv(token[]), channel_id=1",
        "(f32[7], s8[]) custom-call(f32[2]), custom_call_target=\"f\"",
    ]);
    refuses(&[
        ("after-all(f32[])", code::OPERAND_KIND, "needs a token as operand 0, found f32[]"),
        ("add-dependency(f32[2], f32[2])", code::OPERAND_KIND, "needs a token as operand 1"),
        ("copy-done(f32[2])", code::OPERAND_KIND, "needs a tuple"),
        ("copy-done(())", code::OPERAND_SHAPES, "element 0 of a tuple of 0"),
        ("f32[2] infeed(token[])", code::DECLARED_SHAPE, "a value and a token"),
        ("(f32[2]) infeed(token[])", code::DECLARED_SHAPE, "a value and a token"),
        ("(f32[2], token[]) recv(token[]), channel_id=1", code::DECLARED_SHAPE, "a context and a token"),
        ("recv-done(()), channel_id=1", code::OPERAND_SHAPES, "empty tuple"),
        ("outfeed(f32[2], f32[2])", code::OPERAND_KIND, "a token as operand 1"),
        ("s32[] partition-id()", code::DECLARED_SHAPE, "gives u32[]"),
    ]);
}
