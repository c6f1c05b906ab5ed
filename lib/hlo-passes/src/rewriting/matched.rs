//! Matches patterns, and checks conditions.

use super::attributes::{Numbers, numbers_of};
use super::numbers::{evaluate, range, relates, value_bytes};
use super::{
    Clause, Condition, Expression, Length, Lists, Operation, Relation, Term, Value, class_contains, common,
    comparison_direction, entry, is_by_integer, is_by_value, is_ordered, length,
};
use crate::support::constants::{
    Number, is_constant, is_splat_all_ones, is_splat_float, is_splat_integer, scalar_integer, splat,
};
use crate::support::integer_range::Range;
use crate::support::rewrite::{Cx, result_accuracy};
use hlo_ir::attr::{ComparisonType, ResultAccuracy};
use hlo_ir::{ElementType, InstrId, Op, Opcode};
use smallvec::SmallVec;

/// The instructions that the parts of a pattern matched.
#[derive(Default)]
pub(super) struct Matched {
    /// The commutative operations with exchanged operands, one bit each. The first one has the highest bit.
    exchanged: u32,
    /// The number of commutative operations that were not visited yet.
    left: usize,
    variables: SmallVec<[Option<InstrId>; 8]>,
    /// The lists of numbers in attributes. Most clauses have none, so they use no space here.
    lists: Vec<Option<Numbers>>,
    /// The lists of operands.
    rests: Vec<Option<SmallVec<[InstrId; 4]>>>,
    /// The type of the order of all comparisons.
    order: Option<ComparisonType>,
    /// The element types of the operands of the comparisons.
    compared: SmallVec<[ElementType; 2]>,
}

/// The opcodes through which constants are found.
pub(super) const MAY_BE_CONSTANT: &[Opcode] =
    &[Opcode::Constant, Opcode::Broadcast, Opcode::Reshape, Opcode::Transpose, Opcode::Copy];

impl Matched {
    /// Returns the state before a match. `exchanged` has a bit for each of the `exchanges` commutative operations.
    pub(super) fn new(clause: &Clause, exchanged: u32, exchanges: usize) -> Self {
        Self {
            exchanged,
            left: exchanges,
            variables: SmallVec::from_elem(None, clause.variables.len()),
            lists: vec![None; clause.lists.len()],
            rests: vec![None; clause.rests.len()],
            ..Self::default()
        }
    }

    /// Returns the operands of a list.
    pub(super) fn rest(&self, rest: usize) -> Option<&[InstrId]> {
        self.rests.get(rest)?.as_deref()
    }

    /// Returns the type of the order of all comparisons.
    pub(super) fn order(&self) -> ComparisonType {
        self.order.unwrap_or(ComparisonType::Default)
    }

    /// Matches an operation, whose opcode is already known to be that of the instruction. `condition` is that of the
    /// clause if the operation is the root of the pattern.
    pub(super) fn operation(
        &mut self,
        cx: &Cx<'_>,
        pattern: &Operation,
        condition: Option<&Condition>,
        id: InstrId,
    ) -> bool {
        let instr = &cx.module[id];
        if let Op::Compare(attrs) = &instr.op {
            let order = *self.order.get_or_insert(attrs.comparison_type);
            if pattern.direction.map(comparison_direction) != Some(attrs.direction)
                || order != attrs.comparison_type
            {
                return false;
            }
            self.compared.extend(instr.operands.first().and_then(|&o| cx.element_type(o)));
        }
        // A new instruction would not have the accuracy that this one requires.
        if instr.opcode().has_accuracy() && result_accuracy(cx.module, id) != ResultAccuracy::Default {
            return false;
        }
        let exchanged = pattern.opcode.is_commutative() && self.next_exchange();
        if exchanged && !cx.element_type(id).is_some_and(|ty| instr.opcode().is_commutative_on(ty)) {
            return false;
        }
        let terms = pattern.operands.iter();
        let matches = match (exchanged, instr.operands.as_slice()) {
            (true, &[a, b]) => terms.zip([b, a]).all(|(term, operand)| self.term(cx, term, operand, id)),
            (_, operands) => self.operands_match(cx, pattern, operands, id),
        };
        if !matches {
            return false;
        }
        if let Some(variable) = pattern.bound {
            self.variables[variable] = Some(id);
        }
        // The conditions on sizes exclude most operations, and take less time than lists of numbers.
        pattern.opcode.is_elementwise()
            || condition.is_none_or(|condition| self.early(cx, condition)) && self.attributes(cx, pattern, id)
    }

    /// Checks the conditions on sizes of a clause that is not elementwise.
    fn early(&self, cx: &Cx<'_>, condition: &Condition) -> bool {
        match condition {
            Condition::All(list) => list.iter().all(|condition| self.early(cx, condition)),
            Condition::SameSizes(..)
            | Condition::SameRank(..)
            | Condition::Empty(_)
            | Condition::Scalar(_) => self.check(cx, condition) == Some(true),
            _ => true,
        }
    }

    /// Matches operands in their order.
    fn operands_match(
        &mut self,
        cx: &Cx<'_>,
        pattern: &Operation,
        operands: &[InstrId],
        user: InstrId,
    ) -> bool {
        let mut terms = &pattern.operands[..];
        let mut operands = operands;
        if let Some((Term::Rest(rest, _), first)) = terms.split_last() {
            let Some((named, others)) = operands.split_at_checked(first.len()) else { return false };
            (terms, operands) = (first, named);
            match &self.rests[*rest] {
                Some(known) if known[..] != *others => return false,
                Some(_) => {}
                None => self.rests[*rest] = Some(SmallVec::from_slice(others)),
            }
        }
        terms.len() == operands.len()
            && terms.iter().zip(operands).all(|(term, &operand)| self.term(cx, term, operand, user))
    }

    /// Matches the attributes of an operation that is not elementwise, on static arrays.
    fn attributes(&mut self, cx: &Cx<'_>, pattern: &Operation, id: InstrId) -> bool {
        let instr = &cx.module[id];
        let is_static = |&of: &InstrId| cx.module[of].shape.as_array().is_some_and(|a| a.is_static());
        if !is_static(&id) || !instr.operands.iter().all(is_static) {
            return false;
        }
        if pattern.numbers.is_empty() {
            return true;
        }
        let inner;
        let found = match cx.examined_numbers(id) {
            Some(known) => known,
            None => {
                inner = numbers_of(cx.module, instr);
                &inner
            }
        };
        let Some(found) = found else { return false };
        pattern.numbers.iter().zip(found).all(|(expression, numbers)| self.list(cx, expression, numbers))
    }

    /// Matches one list of numbers.
    fn list(&mut self, cx: &Cx<'_>, expression: &Expression, numbers: &Numbers) -> bool {
        if let Expression::List(list) = expression
            && let Some(unknown @ None) = self.lists.get_mut(*list)
        {
            *unknown = Some(numbers.clone());
            return true;
        }
        let view = View { cx, matched: self };
        let fits = match length(expression, &view) {
            Some(Length::One) => true,
            Some(Length::List(length)) => length == numbers.len(),
            None => false,
        };
        let has = |(k, &number): (usize, &i64)| entry(expression, k, &view) == Some(i128::from(number));
        fits && numbers.iter().enumerate().all(has)
    }

    /// Returns whether a relation is true for all dimensions, or for some of them.
    fn compare(
        &self,
        cx: &Cx<'_>,
        relation: Relation,
        (a, b): (&Expression, &Expression),
        for_all: bool,
    ) -> Option<bool> {
        let view = View { cx, matched: self };
        let count = match common([a, b], &view)? {
            Length::One => 1,
            Length::List(count) => count,
        };
        for k in 0..count {
            if relation.of(&entry(a, k, &view)?, &entry(b, k, &view)?) != for_all {
                return Some(!for_all);
            }
        }
        Some(for_all)
    }

    /// Returns whether to exchange the operands of the next commutative operation.
    fn next_exchange(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.exchanged >> self.left & 1 == 1
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
            // Patterns contain no expressions, and `operands_match` matches lists of operands.
            Term::Computed(_) | Term::Rest(..) => false,
            Term::Operation(inner) => {
                cx.opcode(id) == inner.opcode
                    && (!inner.once || cx.used_only_by(id, user))
                    && self.operation(cx, inner, None, id)
            }
        }
    }

    pub(super) fn value(&self, variable: usize) -> Option<InstrId> {
        self.variables.get(variable).copied().flatten()
    }

    /// Returns the sizes of a static array.
    fn dims<'c>(&self, cx: &'c Cx<'_>, variable: usize) -> Option<&'c [i64]> {
        let array = cx.module[self.value(variable)?].shape.as_array();
        array.filter(|array| array.is_static()).map(|array| &array.dims[..])
    }

    /// Checks a condition. Returns `None` if it is not known.
    pub(super) fn check(&self, cx: &Cx<'_>, condition: &Condition) -> Option<bool> {
        Some(match condition {
            Condition::All(list) => list.iter().all(|c| self.check(cx, c) == Some(true)),
            Condition::Any(list) => list.iter().any(|c| self.check(cx, c) == Some(true)),
            Condition::Not(inner) => !self.check(cx, inner.first()?)?,
            Condition::Type(class, v) => class_contains(*class, cx.element_type(self.value(*v)?)?),
            Condition::SameType(a, b) => {
                cx.element_type(self.value(*a)?)? == cx.element_type(self.value(*b)?)?
            }
            Condition::SameSizes(a, b) => self.dims(cx, *a)? == self.dims(cx, *b)?,
            Condition::Empty(v) => self.dims(cx, *v)?.contains(&0),
            Condition::Scalar(v) => self.dims(cx, *v)?.is_empty(),
            Condition::SameRank(a, b) => self.dims(cx, *a)?.len() == self.dims(cx, *b)?.len(),
            Condition::Constant(v) => is_constant(cx.module, self.value(*v)?),
            Condition::Some(relation, a, b) => self.compare(cx, *relation, (a, b), false)?,
            Condition::Compare(relation, a, b) if a.has_lists() || b.has_lists() => {
                self.compare(cx, *relation, (a, b), true)?
            }
            Condition::Compare(relation, a, b) => {
                relates(*relation, self.number(cx, a)?, self.number(cx, b)?)
            }
            Condition::Always(relation, a, b) => {
                let high = Number::Integer(self.range(cx, a)?.high);
                relates(*relation, high, Number::Integer(self.range(cx, b)?.low))
            }
            Condition::SameOpcode(a, b) => cx.opcode(self.value(*a)?) == cx.opcode(self.value(*b)?),
            Condition::Ordered => self.all_compared(is_ordered)?,
            Condition::ByInteger => self.all_compared(is_by_integer)?,
            Condition::ByValue => self.all_compared(is_by_value)?,
        })
    }

    /// Returns whether all comparisons have a property, or `None` if there are none.
    fn all_compared(&self, has: fn(ElementType, ComparisonType) -> bool) -> Option<bool> {
        let order = self.order?;
        (!self.compared.is_empty()).then(|| self.compared.iter().all(|&ty| has(ty, order)))
    }

    pub(super) fn number(&self, cx: &Cx<'_>, expression: &Expression) -> Option<Number> {
        if expression.has_lists() {
            let view = View { cx, matched: self };
            let is_one = matches!(length(expression, &view)?, Length::One | Length::List(1));
            return entry(expression, 0, &view).filter(|_| is_one).map(Number::Integer);
        }
        evaluate(expression, &|v| Number::splat(cx.module, self.value(v)?), &|v| {
            cx.element_type(self.value(v)?)
        })
    }

    fn range(&self, cx: &Cx<'_>, expression: &Expression) -> Option<Range> {
        range(expression, &|v| cx.range(self.value(v)?), &|v| cx.element_type(self.value(v)?))
    }
}

/// The lists and arrays that a pattern matched.
pub(super) struct View<'a, 'm> {
    pub(super) cx: &'a Cx<'m>,
    pub(super) matched: &'a Matched,
}

impl Lists<i128> for View<'_, '_> {
    fn entries(&self, list: usize) -> Option<usize> {
        Some(self.matched.lists.get(list)?.as_ref()?.len())
    }

    fn list(&self, list: usize, at: usize) -> Option<i128> {
        self.matched.lists.get(list)?.as_ref()?.get(at).map(|&number| number.into())
    }

    fn rank(&self, variable: usize) -> Option<usize> {
        self.matched.dims(self.cx, variable).map(<[i64]>::len)
    }

    fn size(&self, variable: usize, dimension: usize) -> Option<i128> {
        self.matched.dims(self.cx, variable)?.get(dimension).map(|&size| size.into())
    }

    fn operands(&self, rest: usize) -> Option<usize> {
        Some(self.matched.rest(rest)?.len())
    }

    fn value(&self, rest: usize, at: usize) -> Option<i128> {
        scalar_integer(self.cx.module, *self.matched.rest(rest)?.get(at)?)
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
    MAY_BE_CONSTANT.contains(&cx.opcode(id))
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
