//! Matches patterns of rules, and builds their replacements.

use super::{
    Amount, Clause, Condition, Operation, Term, Value, class_contains, comparison_direction, is_by_integer,
    is_by_value, is_ordered,
};
use crate::support::constants::{
    ElementBytes, Number, all_ones, float_bytes, integer_bytes, is_constant, is_splat_all_ones,
    is_splat_float, is_splat_integer, splat, wide_integer_bytes,
};
use crate::support::integer_range::type_range;
use crate::support::rewrite::Cx;
use hlo_ir::attr::{CompareAttrs, ComparisonType};
use hlo_ir::build::Build;
use hlo_ir::ops::infer_shape;
use hlo_ir::{ArrayShape, ElementType, InstrId, Op, Opcode};
use smallvec::SmallVec;

/// The instructions that the parts of a pattern matched.
#[derive(Default)]
struct Matched {
    /// The bits that say which commutative operations have exchanged operands.
    left: u32,
    variables: SmallVec<[Option<InstrId>; 8]>,
    /// The type of the order of all comparisons.
    order: Option<ComparisonType>,
    /// The element type of the operands of the comparisons.
    compared: Option<ElementType>,
}

/// Applies a clause to an instruction with the opcode of its pattern. Returns the value that replaces it, or
/// `None` if the pattern does not match.
pub(crate) fn apply(clause: &Clause, cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    if !may_match(cx, &clause.pattern, id) {
        return None;
    }
    let exchanges = commutative(&clause.pattern);
    // Each bit of `order` exchanges the operands of a commutative operation.
    for order in 0..1u32 << exchanges.min(MAX_EXCHANGES) {
        let mut matched = Matched { left: order, ..Matched::default() };
        matched.variables.resize(clause.variables.len(), None);
        if matched.operation(cx, &clause.pattern, id) && matched.check(cx, &clause.condition) == Some(true) {
            return matched.replacement(cx, &clause.replacement, id);
        }
    }
    None
}

/// Maximum number of commutative operations whose operands a pattern may match in both orders.
const MAX_EXCHANGES: u32 = 6;

/// Returns the number of commutative operations in a pattern.
fn commutative(pattern: &Operation) -> u32 {
    let inner = pattern.operands.iter().map(|operand| match operand {
        Term::Operation(inner) => commutative(inner),
        _ => 0,
    });
    u32::from(pattern.opcode.is_commutative()) + inner.sum::<u32>()
}

/// Returns whether the opcodes of the operands allow a match. Most attempts end here.
fn may_match(cx: &Cx<'_>, pattern: &Operation, id: InstrId) -> bool {
    let operands = cx.module[id].operands.as_slice();
    let fits = |term: &Term, operand: InstrId| match term {
        Term::Operation(inner) => cx.opcode(operand) == inner.opcode,
        Term::Literal(_) => may_be_constant(cx, operand),
        Term::Variable(_) => true,
    };
    match (&*pattern.operands, operands) {
        ([x, y], &[a, b]) => {
            fits(x, a) && fits(y, b) || pattern.opcode.is_commutative() && fits(x, b) && fits(y, a)
        }
        (terms, operands) => {
            terms.len() == operands.len() && terms.iter().zip(operands).all(|(t, &o)| fits(t, o))
        }
    }
}

/// Returns whether the opcode is one through which constants are found.
fn may_be_constant(cx: &Cx<'_>, id: InstrId) -> bool {
    matches!(
        cx.opcode(id),
        Opcode::Constant | Opcode::Broadcast | Opcode::Reshape | Opcode::Transpose | Opcode::Copy
    )
}

impl Matched {
    /// Matches an operation, whose opcode is already known to be that of the instruction.
    fn operation(&mut self, cx: &Cx<'_>, pattern: &Operation, id: InstrId) -> bool {
        let instr = &cx.module[id];
        if let Op::Compare(attrs) = &instr.op {
            let order = *self.order.get_or_insert(attrs.comparison_type);
            if pattern.direction.map(comparison_direction) != Some(attrs.direction)
                || order != attrs.comparison_type
            {
                return false;
            }
            self.compared = instr.operands.first().and_then(|&o| cx.element_type(o));
        }
        let exchanged = pattern.opcode.is_commutative() && self.next_exchange();
        let terms = pattern.operands.iter();
        let matches = match (exchanged, instr.operands.as_slice()) {
            (true, &[a, b]) => terms.zip([b, a]).all(|(term, operand)| self.term(cx, term, operand, id)),
            (_, operands) => {
                terms.len() == operands.len()
                    && terms.zip(operands).all(|(term, &operand)| self.term(cx, term, operand, id))
            }
        };
        if !matches {
            return false;
        }
        if let Some(variable) = pattern.bound {
            self.variables[variable] = Some(id);
        }
        true
    }

    /// Returns whether to exchange the operands of the next commutative operation.
    fn next_exchange(&mut self) -> bool {
        let exchange = self.left & 1 == 1;
        self.left >>= 1;
        exchange
    }

    fn term(&mut self, cx: &Cx<'_>, term: &Term, id: InstrId, user: InstrId) -> bool {
        match term {
            Term::Variable(v) => match self.variables[*v] {
                Some(known) => known == id || same_constant(cx, known, id),
                None => {
                    self.variables[*v] = Some(id);
                    true
                }
            },
            Term::Literal(value) => is_literal(cx, *value, id),
            Term::Operation(inner) => {
                cx.opcode(id) == inner.opcode
                    && (!inner.once || cx.used_only_by(id, user))
                    && self.operation(cx, inner, id)
            }
        }
    }

    fn value(&self, variable: usize) -> Option<InstrId> {
        self.variables.get(variable).copied().flatten()
    }

    /// Checks a condition. Returns `None` if it is not known.
    fn check(&self, cx: &Cx<'_>, condition: &Condition) -> Option<bool> {
        Some(match condition {
            Condition::All(list) => list.iter().all(|c| self.check(cx, c) == Some(true)),
            Condition::Any(list) => list.iter().any(|c| self.check(cx, c) == Some(true)),
            Condition::Not(inner) => !self.check(cx, inner.first()?)?,
            Condition::Type(class, v) => class_contains(*class, cx.element_type(self.value(*v)?)?),
            Condition::SameType(a, b) => {
                cx.element_type(self.value(*a)?)? == cx.element_type(self.value(*b)?)?
            }
            Condition::Constant(v) => is_constant(cx.module, self.value(*v)?),
            Condition::Below(a, b, or_equal) => below(self.amount(cx, *a)?, self.amount(cx, *b)?, *or_equal),
            Condition::Ordered => is_ordered(self.compared?, self.order?),
            Condition::ByInteger => is_by_integer(self.compared?, self.order?),
            Condition::ByValue => is_by_value(self.compared?, self.order?),
        })
    }

    fn amount(&self, cx: &Cx<'_>, amount: Amount) -> Option<Number> {
        match amount {
            Amount::Integer(value) => Some(Number::Integer(value.into())),
            Amount::Constant(v) => Number::splat(cx.module, self.value(v)?),
            Amount::Width(v) => Some(Number::Integer(cx.element_type(self.value(v)?)?.bit_width().into())),
        }
    }

    /// Builds the value that replaces the instruction `root`.
    fn replacement(&self, cx: &mut Cx<'_>, term: &Term, root: InstrId) -> Option<InstrId> {
        match term {
            Term::Variable(v) => {
                let value = self.value(*v)?;
                let (from, to) = (cx.array(value), cx.array(root));
                // A scalar predicate of a selection between arrays.
                match (from, to) {
                    (Some(from), Some(to)) if from.rank() == 0 && to.rank() > 0 => {
                        cx.broadcast(value, &to.dims, &[])
                    }
                    _ => Some(value),
                }
            }
            Term::Literal(value) => {
                let shape = cx.array(root)?;
                cx.splat(&shape, &value_bytes(*value, shape.element_type)?)
            }
            Term::Operation(operation) => {
                let (op, operands) = self.operands(cx, operation, root)?;
                Some(cx.add_same_shape(op, &operands))
            }
        }
    }

    /// Builds a part of the replacement.
    fn part(&self, cx: &mut Cx<'_>, term: &Term, root: InstrId) -> Option<InstrId> {
        match term {
            Term::Variable(v) => self.value(*v),
            // Literals are built after the operands that determine their type.
            Term::Literal(_) => None,
            Term::Operation(operation) => {
                let (op, operands) = self.operands(cx, operation, root)?;
                let shapes: SmallVec<[_; 3]> = operands.iter().map(|&o| cx.shape_of(o)).collect();
                let shapes: SmallVec<[_; 3]> = shapes.iter().collect();
                let shape = infer_shape(cx.module, &op, &shapes).ok()??;
                Some(cx.add(shape, op, &operands))
            }
        }
    }

    /// Builds the operands of an operation.
    fn operands(
        &self,
        cx: &mut Cx<'_>,
        operation: &Operation,
        root: InstrId,
    ) -> Option<(Op, SmallVec<[InstrId; 3]>)> {
        let op = match operation.direction {
            Some(direction) => Op::Compare(CompareAttrs {
                direction: comparison_direction(direction),
                comparison_type: self.order.unwrap_or(ComparisonType::Default),
            }),
            None => operation.opcode.default_op(),
        };
        let is_literal = |term: &Term| matches!(term, Term::Literal(_));
        let mut built: SmallVec<[Option<InstrId>; 3]> = SmallVec::new();
        for (n, term) in operation.operands.iter().enumerate() {
            let same = operation.operands[..n].iter().position(|earlier| earlier == term);
            built.push(match same {
                Some(earlier) => built[earlier],
                None if is_literal(term) => None,
                None => Some(self.part(cx, term, root)?),
            });
        }
        // The predicate of a selection has another type than the values, and may be a scalar.
        let values = usize::from(operation.opcode == Opcode::Select)..built.len();
        let known: SmallVec<[InstrId; 3]> = built[values.clone()].iter().flatten().copied().collect();
        let shapes: SmallVec<[ArrayShape; 3]> = known.iter().map(|&o| cx.array(o)).collect::<Option<_>>()?;
        let like = shapes.iter().max_by_key(|shape| shape.rank())?.clone();
        for (n, term) in operation.operands.iter().enumerate().filter(|(n, _)| values.contains(n)) {
            let value = match (term, built[n]) {
                (Term::Literal(value), _) => cx.splat(&like, &value_bytes(*value, like.element_type)?)?,
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

/// Returns whether both values are constants with the same elements and shape.
fn same_constant(cx: &Cx<'_>, a: InstrId, b: InstrId) -> bool {
    let may_be = |id| matches!(cx.opcode(id), Opcode::Constant | Opcode::Broadcast);
    may_be(a)
        && may_be(b)
        && cx.module[a].shape == cx.module[b].shape
        && splat(cx.module, a).is_some_and(|x| splat(cx.module, b) == Some(x))
}

/// Returns whether all elements of `id` are this value.
fn is_literal(cx: &Cx<'_>, value: Value, id: InstrId) -> bool {
    may_be_constant(cx, id)
        && match value {
            Value::Integer(n) => is_splat_integer(cx.module, id, n),
            Value::Float(x) => is_splat_float(cx.module, id, x),
            Value::Pred(p) => {
                cx.element_type(id).is_some_and(ElementType::is_pred)
                    && is_splat_integer(cx.module, id, p.into())
            }
            Value::Ones => is_splat_all_ones(cx.module, id),
            Value::Lowest | Value::Highest => splat(cx.module, id)
                .is_some_and(|(ty, found)| value_bytes(value, ty).is_some_and(|bytes| bytes == found)),
        }
}

/// Returns the bytes of a value in an element type, if the type has it.
pub fn value_bytes(value: Value, ty: ElementType) -> Option<ElementBytes> {
    match value {
        Value::Integer(n) => integer_bytes(ty, n),
        Value::Float(x) => float_bytes(ty, x),
        Value::Pred(p) if ty.is_pred() => Some(SmallVec::from_slice(&[p.into()])),
        Value::Pred(_) => None,
        Value::Ones => all_ones(ty),
        Value::Lowest if ty.is_float() => float_bytes(ty, f64::NEG_INFINITY),
        Value::Highest if ty.is_float() => float_bytes(ty, f64::INFINITY),
        Value::Lowest => wide_integer_bytes(ty, type_range(ty)?.low),
        Value::Highest => wide_integer_bytes(ty, type_range(ty)?.high),
    }
}

/// Returns whether the first number is below the second one. -0 is below +0, and NaN is not ordered.
fn below(a: Number, b: Number, or_equal: bool) -> bool {
    let order = match (a, b) {
        (Number::Integer(a), Number::Integer(b)) => a.cmp(&b),
        (Number::Float(a), Number::Float(b)) if !a.is_nan() && !b.is_nan() => a.total_cmp(&b),
        _ => return false,
    };
    order.is_lt() || or_equal && order.is_eq()
}
