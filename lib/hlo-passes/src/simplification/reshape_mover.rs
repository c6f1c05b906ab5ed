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
//!
//! Conversions to more bits are passed on the way to another operation, but never for themselves: the data would be
//! moved in the wider type, and `convert-mover` would move the conversion back.

use super::convert_mover::widens;
use crate::PassInfo;
use crate::support::rewrite::{Cx, Pattern, result_accuracy};
use hlo_ir::attr::ResultAccuracy;
use hlo_ir::{Dims, Family, InstrId, Op, Opcode, Shape};
use smallvec::SmallVec;

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
    "op(reshape(x), reshape(y)) → reshape(op(x, y)) for elementwise op; so transpose, and below conversions to more bits",
    &[],
    sink,
)];

/// What the operands have in common.
#[derive(Clone, PartialEq)]
struct Mover {
    op: Op,
    from: Dims,
}

/// What an operand is made of.
struct Source {
    value: InstrId,
    /// True if it is moved; false for a scalar that is broadcast.
    moved: bool,
    /// The conversions to more bits after that, from the operand up.
    conversions: SmallVec<[InstrId; 1]>,
}

fn sink(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    // Copies are there for their layout; these two change the meaning of sizes.
    let opcode = cx.opcode(id);
    if opcode.family() != Family::Elementwise
        || matches!(opcode, Opcode::Copy | Opcode::BitcastConvert)
        || widens(cx, id)
    {
        return None;
    }
    let to = cx.array(id)?;
    let operands = cx.module[id].operands.clone();
    let mut mover: Option<Mover> = None;
    let mut sources = Vec::with_capacity(operands.len());
    for &o in &operands {
        if cx.array(o)?.dims != to.dims {
            return None; // a scalar predicate or bound
        }
        let (source, this) = source_of(cx, o, id)?;
        if this.is_some() && mover.is_some() && this != mover {
            return None;
        }
        mover = this.or(mover);
        sources.push(source);
    }
    let mover = mover?;
    let mut moved = sources.iter().filter(|s| s.moved);
    if let (Some(only), None) = (moved.next(), moved.next())
        && matches!(cx.opcode(only.value), Opcode::Reshape | Opcode::Transpose)
    {
        return None;
    }
    let mut inner: Vec<InstrId> = Vec::with_capacity(sources.len());
    for (n, source) in sources.into_iter().enumerate() {
        let same = operands[..n].iter().position(|&o| o == operands[n]);
        inner.push(match same {
            Some(before) => inner[before],
            None => unmoved(cx, source, &mover.from)?,
        });
    }
    let value = again(cx, id, &mover.from, &inner)?;
    Some(cx.instead(mover.op, &[value]))
}

/// What an operand of `user` is made of, and how it is moved if it is.
fn source_of(cx: &Cx<'_>, operand: InstrId, user: InstrId) -> Option<(Source, Option<Mover>)> {
    let (mut at, mut user) = (operand, user);
    let mut conversions = SmallVec::new();
    while widens(cx, at) && cx.used_only_by(at, user) {
        conversions.push(at);
        (at, user) = (cx.operand(at, 0)?, at);
    }
    let value = cx.operand(at, 0)?;
    match &cx.module[at].op {
        Op::Broadcast(_) if cx.module[value].shape.is_scalar() => {
            Some((Source { value, moved: false, conversions }, None))
        }
        op @ (Op::Reshape(_) | Op::Transpose(_)) if cx.used_only_by(at, user) => {
            let mover = Mover { op: op.clone(), from: cx.array(value)?.dims };
            Some((Source { value, moved: true, conversions }, Some(mover)))
        }
        _ => None,
    }
}

/// The operand in the sizes before the move.
fn unmoved(cx: &mut Cx<'_>, source: Source, dims: &Dims) -> Option<InstrId> {
    let mut value = match source.moved {
        true => source.value,
        false => cx.broadcast(source.value, dims, &[])?,
    };
    for &conversion in source.conversions.iter().rev() {
        value = again(cx, conversion, dims, &[value])?;
    }
    Some(value)
}

/// An elementwise operation on arrays of other sizes.
fn again(cx: &mut Cx<'_>, id: InstrId, dims: &Dims, operands: &[InstrId]) -> Option<InstrId> {
    let shape = Shape::array(cx.element_type(id)?, dims.iter().copied());
    let (op, accuracy) = (cx.module[id].op.clone(), result_accuracy(cx.module, id));
    let new = cx.add(shape, op, operands);
    if accuracy != ResultAccuracy::Default {
        cx.module.common_mut(new).result_accuracy = accuracy;
    }
    Some(new)
}
