//! `reshape-mover`: reshapes and transposes sink below elementwise operations, where they meet others and
//! vanish.
//!
//! ```text
//! r = f32[6] reshape(x)                    a = f32[2,3] add(x, y)
//! s = f32[6] reshape(y)               →    ROOT r = f32[6] reshape(a)
//! ROOT a = f32[6] add(r, s)
//! ```
//!
//! It is done if every operand comes from arrays of the same sizes by the same reshape or transpose, or is the
//! same everywhere (a broadcast scalar, which fits any sizes), and the moved operations are not used elsewhere. A
//! reshape or transpose of another one sinks only where it meets one: they would pile up below every operation.

use crate::PassInfo;
use crate::support::rewrite::{Cx, Pattern, broadcast_op, result_accuracy};
use hlo_ir::attr::ResultAccuracy;
use hlo_ir::{ArrayShape, Dims, Family, InstrId, Op, Opcode, Shape};

/// The registry's entry.
pub static INFO: PassInfo = PassInfo {
    name: "reshape-mover",
    summary: "move reshapes and transposes below elementwise operations",
    example: "\
HloModule reshape_mover

ENTRY e {
  x = f32[2,3] parameter(0)
  y = f32[2,3] parameter(1)
  r = f32[6] reshape(x)
  s = f32[6] reshape(y)
  ROOT a = f32[6] add(r, s)
}
",
    patterns: &[PATTERNS],
    ..PassInfo::PLAIN
};

static PATTERNS: &[Pattern] = &[Pattern::new(
    "sink-reshape",
    "op(reshape(x), reshape(y)) → reshape(op(x, y)) for elementwise op; so transpose",
    &[],
    sink,
)];

/// What the operands have in common.
#[derive(Clone, PartialEq)]
struct Mover {
    op: Op,
    from: Dims,
}

fn sink(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    // Copies are there for their layout; these two change the meaning of sizes.
    let opcode = cx.opcode(id);
    if opcode.family() != Family::Elementwise || matches!(opcode, Opcode::Copy | Opcode::BitcastConvert) {
        return None;
    }
    let to = cx.array(id)?;
    let operands = cx.module[id].operands.clone();
    let mut mover: Option<Mover> = None;
    let mut inner = Vec::with_capacity(operands.len());
    for &o in &operands {
        if cx.array(o)?.dims != to.dims {
            return None; // a scalar predicate or bound
        }
        match &cx.module[o].op {
            Op::Broadcast(_) if cx.module[cx.operand(o, 0)?].shape.is_scalar() => inner.push(None),
            op @ (Op::Reshape(_) | Op::Transpose(_)) if cx.used_only_by(o, id) => {
                let x = cx.operand(o, 0)?;
                let this = Mover { op: op.clone(), from: cx.array(x)?.dims };
                if mover.as_ref().is_some_and(|m| *m != this) {
                    return None;
                }
                mover = Some(this);
                inner.push(Some(x));
            }
            _ => return None,
        }
    }
    let mover = mover?;
    let mut sources = inner.iter().flatten();
    if let (Some(&x), None) = (sources.next(), sources.next())
        && matches!(cx.opcode(x), Opcode::Reshape | Opcode::Transpose)
    {
        return None;
    }
    let mut moved = Vec::with_capacity(inner.len());
    for (x, &o) in inner.into_iter().zip(&operands) {
        moved.push(match x {
            Some(x) => x,
            None => {
                let scalar = cx.operand(o, 0)?;
                let shape = ArrayShape::new(cx.element_type(o)?, mover.from.iter().copied());
                cx.add(shape, broadcast_op([]), &[scalar])
            }
        });
    }
    let op = cx.module[id].op.clone();
    let accuracy = result_accuracy(cx.module, id);
    let value = cx.add(Shape::array(to.element_type, mover.from.iter().copied()), op, &moved);
    if accuracy != ResultAccuracy::Default {
        cx.module.common_mut(value).result_accuracy = accuracy;
    }
    Some(cx.instead(mover.op, &[value]))
}
