//! `tuple-simplifier`: replaces elements of tuples by the values from which the tuples are built.
//!
//! ```text
//! t = (f32[], s32[]) tuple(a, b)
//! x = f32[] get-tuple-element(t), index=0    →    a
//!
//! x = f32[] get-tuple-element(t), index=0
//! y = s32[] get-tuple-element(t), index=1
//! u = (f32[], s32[]) tuple(x, y)             →    t
//! ```

use crate::pass_info::PassInfo;
use crate::support::rewrite::{Cx, Pattern};
use hlo_ir::{InstrId, Op, Opcode};

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "tuple-simplifier",
    summary: "replace get-tuple-element of a tuple by the element, and a rebuilt tuple by the original",
    example: "\
HloModule tuple_simplifier

ENTRY e {
  p = f32[] parameter(0)
  q = s32[] parameter(1)
  t = (f32[], s32[]) tuple(p, q)
  ROOT g = f32[] get-tuple-element(t), index=0
}
",
    patterns: &[ELEMENT_OF_TUPLE, TUPLE_OF_ELEMENTS],
    ..PassInfo::PLAIN
};

/// The pattern for elements of tuples, which `algsimp` uses too.
pub(crate) static ELEMENT_OF_TUPLE: &[Pattern] = &[Pattern::new(
    "element-of-tuple",
    "get-tuple-element(tuple(…, x, …)) → x",
    &[Opcode::GetTupleElement],
    element_of_tuple,
)];

static TUPLE_OF_ELEMENTS: &[Pattern] =
    &[Pattern::new("tuple-again", "tuple of all elements of t, in order → t", &[Opcode::Tuple], tuple_again)];

fn element_of_tuple(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::GetTupleElement(a) = &cx.module[id].op else { return None };
    let index = usize::try_from(a.index).ok()?;
    let tuple = cx.operand(id, 0)?;
    match cx.module[tuple].op {
        Op::Tuple => cx.operand(tuple, index),
        _ => None,
    }
}

fn tuple_again(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let first = cx.operand(id, 0)?;
    let source = match cx.module[first].op {
        Op::GetTupleElement(_) => cx.operand(first, 0)?,
        _ => return None,
    };
    let all = cx.module[id].operands.iter().enumerate().all(|(n, &o)| match &cx.module[o].op {
        Op::GetTupleElement(a) => a.index == n as i64 && cx.module[o].operands.first() == Some(&source),
        _ => false,
    });
    let whole = cx.module[source].shape.as_tuple()?.len() == cx.module[id].operands.len();
    (all && whole).then_some(source)
}
