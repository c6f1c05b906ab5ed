//! Builds replacements.

use super::attributes::{Numbers, list_length, operation_of};
use super::matched::{Matched, View};
use super::numbers::{number_bytes, value_bytes};
use super::{Expression, Length, Operation, Term, comparison_direction, entry, length};
use crate::support::rewrite::Cx;
use hlo_ir::attr::CompareAttrs;
use hlo_ir::build::Build;
use hlo_ir::ops::checked_shape;
use hlo_ir::{ArrayShape, InstrId, Op, Opcode, Shape};
use smallvec::SmallVec;

impl Matched {
    /// Builds the value that replaces the instruction `root`. Returns `None` if it would have another shape.
    pub(super) fn replacement(&self, cx: &mut Cx<'_>, term: &Term, root: InstrId) -> Option<InstrId> {
        let shape = cx.shape_of(root);
        let value = match term {
            Term::Literal(_) | Term::Computed(_) => {
                let array = cx.array(root)?;
                self.constant(cx, term, &array)?
            }
            Term::Operation(operation) => {
                let (op, operands) = self.operands(cx, operation, &shape)?;
                if op == cx.module[root].op && operands[..] == *cx.module[root].operands {
                    return None;
                }
                let found = inferred(cx, &op, &operands, &shape)?;
                if found.compatible(&shape) {
                    return Some(cx.add_same_shape(op, &operands));
                }
                cx.add(found, op, &operands)
            }
            Term::Variable(_) | Term::Rest(..) => self.part(cx, term, &shape)?,
        };
        if cx.shape_of(value).compatible(&shape) {
            return Some(value);
        }
        // The predicate of a selection can be a scalar.
        let (from, to) = (cx.array(value)?, cx.array(root)?);
        let repeats = from.rank() == 0 && from.element_type == to.element_type;
        if repeats { cx.broadcast(value, &to.dims, &[]) } else { None }
    }

    /// Builds a constant of a shape.
    fn constant(&self, cx: &mut Cx<'_>, term: &Term, shape: &ArrayShape) -> Option<InstrId> {
        let bytes = match term {
            Term::Literal(value) => value_bytes(*value, shape.element_type)?,
            Term::Computed(expression) => number_bytes(self.number(cx, expression)?, shape.element_type)?,
            _ => return None,
        };
        cx.splat(shape, &bytes)
    }

    /// Builds a part of the replacement. `result` is the shape of the pattern.
    fn part(&self, cx: &mut Cx<'_>, term: &Term, result: &Shape) -> Option<InstrId> {
        match term {
            Term::Variable(v) => self.value(*v),
            // Constants are built after the operands that determine their type, and `operands` adds lists.
            Term::Literal(_) | Term::Computed(_) | Term::Rest(..) => None,
            Term::Operation(operation) => {
                let (op, operands) = self.operands(cx, operation, result)?;
                let shape = inferred(cx, &op, &operands, result)?;
                Some(cx.add(shape, op, &operands))
            }
        }
    }

    /// Builds an operation that is not elementwise, and its operands.
    fn moved(
        &self,
        cx: &mut Cx<'_>,
        operation: &Operation,
        result: &Shape,
    ) -> Option<(Op, SmallVec<[InstrId; 3]>)> {
        let mut operands: SmallVec<[InstrId; 3]> = SmallVec::new();
        for term in operation.operands.iter() {
            match term {
                Term::Rest(rest, at) => {
                    let all = self.rest(*rest)?;
                    let Some(at) = at.first() else {
                        operands.extend_from_slice(all);
                        continue;
                    };
                    let view = View { cx, matched: self };
                    let Length::List(count) = length(at, &view)? else { return None };
                    for k in 0..count {
                        let place = usize::try_from(entry(at, k, &view)?).ok()?;
                        operands.push(*all.get(place)?);
                    }
                }
                term => operands.push(self.part(cx, term, result)?),
            }
        }
        let rank = match operands.first() {
            Some(&first) => cx.array(first)?.rank(),
            None => 0,
        };
        let view = View { cx, matched: self };
        let numbers = |(n, expression): (usize, &Expression)| -> Option<Numbers> {
            let count = list_length(operation.opcode, n, rank);
            (0..count).map(|k| i64::try_from(entry(expression, k, &view)?).ok()).collect()
        };
        // `broadcast{}` of a scalar has no map.
        let lists: SmallVec<[Numbers; 3]> = match &operation.numbers[..] {
            [] => smallvec::smallvec![Numbers::new()],
            lists => lists.iter().enumerate().map(numbers).collect::<Option<_>>()?,
        };
        Some((operation_of(operation.opcode, &lists)?, operands))
    }

    /// Builds the operands of an operation.
    fn operands(
        &self,
        cx: &mut Cx<'_>,
        operation: &Operation,
        result: &Shape,
    ) -> Option<(Op, SmallVec<[InstrId; 3]>)> {
        if !operation.opcode.is_elementwise() {
            return self.moved(cx, operation, result);
        }
        let op = match operation.direction {
            Some(direction) => Op::Compare(CompareAttrs {
                direction: comparison_direction(direction),
                comparison_type: self.order(),
            }),
            None => operation.opcode.default_op(),
        };
        let is_constant = |term: &Term| matches!(term, Term::Literal(_) | Term::Computed(_));
        let mut built: SmallVec<[Option<InstrId>; 3]> = SmallVec::new();
        for (n, term) in operation.operands.iter().enumerate() {
            let same = operation.operands[..n].iter().position(|earlier| earlier == term);
            built.push(match same {
                Some(earlier) => built[earlier],
                None if is_constant(term) => None,
                None => Some(self.part(cx, term, result)?),
            });
        }
        // The predicate of a selection has another type than the values, and may be a scalar.
        let values = usize::from(operation.opcode == Opcode::Select)..built.len();
        let known: SmallVec<[InstrId; 3]> = built[values.clone()].iter().flatten().copied().collect();
        let shapes: SmallVec<[ArrayShape; 3]> = known.iter().map(|&o| cx.array(o)).collect::<Option<_>>()?;
        let like = shapes.iter().max_by_key(|shape| shape.rank())?.clone();
        for (n, term) in operation.operands.iter().enumerate().filter(|(n, _)| values.contains(n)) {
            let value = match (term, built[n]) {
                (Term::Literal(_) | Term::Computed(_), _) => self.constant(cx, term, &like)?,
                // Bounds of `clamp` may be scalars.
                (_, Some(id)) if cx.array(id)?.rank() < like.rank() && operation.opcode != Opcode::Clamp => {
                    cx.broadcast(id, &like.dims, &[])?
                }
                (_, known) => known?,
            };
            built[n] = Some(value);
        }
        Some((op, built.into_iter().collect::<Option<_>>()?))
    }
}

/// Returns the shape of an operation's result, if the operation is valid. `written` is the shape if the operands
/// do not determine it.
fn inferred(cx: &Cx<'_>, op: &Op, operands: &[InstrId], written: &Shape) -> Option<Shape> {
    let shapes: SmallVec<[&Shape; 3]> = operands.iter().map(|&o| &cx.module[o].shape).collect();
    if let Some(shape) = checked_shape(cx.module, op, &shapes, None).ok()? {
        return Some(shape);
    }
    checked_shape(cx.module, op, &shapes, Some(written)).ok()?;
    Some(written.clone())
}
