//! Matches patterns of rules, and builds their replacements.

use super::numbers::{evaluate, is_below, number_bytes, range, value_bytes};
use super::{
    Clause, Condition, Expression, Operation, Term, Value, class_contains, comparison_direction,
    is_by_integer, is_by_value, is_ordered,
};
use crate::support::constants::{
    Number, is_constant, is_splat_all_ones, is_splat_float, is_splat_integer, splat,
};
use crate::support::integer_range::Range;
use crate::support::rewrite::{Cx, result_accuracy};
use hlo_ir::attr::{CompareAttrs, ComparisonDirection, ComparisonType, ResultAccuracy};
use hlo_ir::build::Build;
use hlo_ir::opcode::ResultType;
use hlo_ir::ops::checked_shape;
use hlo_ir::{ArrayShape, ElementType, InstrId, Module, Op, Opcode, Shape};
use smallvec::SmallVec;

/// The instructions that the parts of a pattern matched.
#[derive(Default)]
struct Matched {
    /// The commutative operations with exchanged operands, one bit each. The first one has the highest bit.
    exchanged: u32,
    /// The number of commutative operations that were not visited yet.
    left: usize,
    variables: SmallVec<[Option<InstrId>; 8]>,
    /// The type of the order of all comparisons.
    order: Option<ComparisonType>,
    /// The element types of the operands of the comparisons.
    compared: SmallVec<[ElementType; 2]>,
}

/// A clause, prepared for many attempts.
pub(crate) struct Matcher<'r> {
    clause: &'r Clause,
    /// The opcodes of operands with which the pattern may match. Most attempts end here.
    operands: SmallVec<[Opcodes; 3]>,
    /// The first two operands of the pattern are the same variable.
    is_same: bool,
    direction: Option<ComparisonDirection>,
    /// An operand, and the element types that the condition allows for it, one bit each.
    types: (usize, u64),
    /// Number of commutative operations in the pattern.
    exchanges: usize,
    /// The orders of operands to try: [`Matched::exchanged`]. The root has the highest bit, so its operands are
    /// exchanged last.
    orders: SmallVec<[u32; 4]>,
}

/// A set of opcodes, one bit each.
type Opcodes = [u64; Opcode::ALL.len().div_ceil(64)];

/// Maximum number of commutative operations whose operands a pattern may match in both orders.
const MAX_EXCHANGES: usize = 6;

impl<'r> Matcher<'r> {
    pub(crate) fn new(clause: &'r Clause) -> Self {
        let pattern = &clause.pattern;
        let operands = pattern.operands.iter().map(|term| match term {
            Term::Operation(inner) => opcodes(&[inner.opcode]),
            Term::Literal(_) | Term::Computed(_) => opcodes(MAY_BE_CONSTANT),
            Term::Variable(_) => [u64::MAX; _],
        });
        let mut exchanges = Vec::new();
        commutative(pattern, clause, &mut exchanges);
        let count = exchanges.len().min(MAX_EXCHANGES);
        // An exchange of two variables that occur nowhere else makes no difference.
        let different = |order: &u32| {
            let bit = |n: usize| order >> (count - 1 - n) & 1;
            exchanges.iter().take(count).enumerate().all(|(n, matters)| *matters || bit(n) == 0)
        };
        Self {
            clause,
            operands: operands.collect(),
            is_same: matches!(&pattern.operands[..], [Term::Variable(x), Term::Variable(y)] if x == y),
            direction: pattern.direction.map(comparison_direction),
            types: operand_types(clause),
            exchanges: count,
            orders: (0..1u32 << count).filter(different).collect(),
        }
    }

    /// Returns the opcode of the pattern.
    pub(crate) fn opcode(&self) -> Opcode {
        self.clause.pattern.opcode
    }

    /// Returns whether the clause may match an instruction with the opcode of its pattern, whose operands have
    /// these opcodes.
    pub(crate) fn admits(&self, module: &Module, id: InstrId, found: &[Opcode]) -> bool {
        let instr = &module[id];
        let (operand, types) = self.types;
        if let Some(&operand) = instr.operands.get(operand)
            && let Some(array) = module[operand].shape.as_array()
            && types >> (array.element_type as u64) & 1 == 0
        {
            return false;
        }
        if let (Some(direction), Op::Compare(attrs)) = (self.direction, &instr.op)
            && direction != attrs.direction
        {
            return false;
        }
        let has =
            |set: &Opcodes, &opcode: &Opcode| set[opcode as usize / 64] >> (opcode as usize % 64) & 1 == 1;
        match (&self.operands[..], found) {
            ([_, _], [a, b]) if self.is_same => {
                // Two constants may be equal.
                instr.operands[0] == instr.operands[1]
                    || MAY_BE_CONSTANT.contains(a) && MAY_BE_CONSTANT.contains(b)
            }
            ([x, y], [a, b]) => {
                has(x, a) && has(y, b) || instr.opcode().is_commutative() && has(x, b) && has(y, a)
            }
            (sets, found) => sets.len() == found.len() && sets.iter().zip(found).all(|(set, o)| has(set, o)),
        }
    }

    /// Applies the clause to an instruction with the opcode of its pattern. Returns the value that replaces
    /// it, or `None` if the pattern does not match.
    pub(crate) fn apply(&self, cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
        let clause = self.clause;
        for &order in &self.orders {
            let mut matched = Matched { exchanged: order, left: self.exchanges, ..Matched::default() };
            matched.variables.resize(clause.variables.len(), None);
            if matched.operation(cx, &clause.pattern, id)
                && matched.check(cx, &clause.condition) == Some(true)
                && let Some(value) = matched.replacement(cx, &clause.replacement, id)
            {
                return Some(value);
            }
        }
        None
    }
}

/// Returns an operand whose type is that of a variable, and the element types that the condition allows for it.
fn operand_types(clause: &Clause) -> (usize, u64) {
    const ALL: u64 = u64::MAX;
    let operand = clause.pattern.operands.iter().enumerate().find_map(|(n, o)| Some((n, variable_of(o)?)));
    let Some((operand, variable)) = operand else { return (0, ALL) };
    let allowed = |&&ty: &&ElementType| {
        let leaf = |condition: &Condition| match condition {
            Condition::Type(class, v) if *v == variable => Some(class_contains(*class, ty)),
            _ => None,
        };
        clause.condition.known(&leaf) != Some(false)
    };
    (operand, ElementType::ALL.iter().filter(allowed).map(|&ty| 1 << (ty as u64)).sum())
}

/// Returns a variable that has the element type of a term.
fn variable_of(term: &Term) -> Option<usize> {
    match term {
        Term::Variable(v) => Some(*v),
        Term::Literal(_) | Term::Computed(_) => None,
        Term::Operation(operation) => {
            let same = operation.opcode.elementwise()?.result == ResultType::Same;
            let values = if operation.opcode == Opcode::Select { 1 } else { 0 };
            if same { operation.operands[values..].iter().find_map(variable_of) } else { None }
        }
    }
}

/// Lists for each commutative operation of a pattern whether exchanging its operands matters, in the order in
/// which [`Matched::operation`] visits them.
fn commutative(pattern: &Operation, clause: &Clause, found: &mut Vec<bool>) {
    if pattern.opcode.is_commutative() {
        let is_free = |term: &Term| match term {
            Term::Variable(v) => occurrences(&clause.pattern, *v) == 1 && !examines(&clause.condition, *v),
            _ => false,
        };
        found.push(!pattern.operands.iter().all(is_free));
    }
    for operand in pattern.operands.iter() {
        if let Term::Operation(inner) = operand {
            commutative(inner, clause, found);
        }
    }
}

/// Returns how often a pattern contains a variable.
fn occurrences(pattern: &Operation, variable: usize) -> usize {
    let of = |term: &Term| match term {
        Term::Variable(v) => usize::from(*v == variable),
        Term::Operation(inner) => occurrences(inner, variable),
        Term::Literal(_) | Term::Computed(_) => 0,
    };
    pattern.operands.iter().map(of).sum()
}

/// Returns whether a condition examines the value of a variable, and not only its type.
fn examines(condition: &Condition, variable: usize) -> bool {
    match condition {
        Condition::All(list) | Condition::Any(list) | Condition::Not(list) => {
            list.iter().any(|condition| examines(condition, variable))
        }
        Condition::Constant(v) => *v == variable,
        Condition::Below(a, b, _) | Condition::Always(a, b, _) => {
            [a, b].into_iter().any(|expression| expression.variables().contains(&variable))
        }
        _ => false,
    }
}

fn opcodes(list: &[Opcode]) -> Opcodes {
    let mut set = Opcodes::default();
    for &opcode in list {
        set[opcode as usize / 64] |= 1 << (opcode as usize % 64);
    }
    set
}

/// The opcodes through which constants are found.
const MAY_BE_CONSTANT: &[Opcode] =
    &[Opcode::Constant, Opcode::Broadcast, Opcode::Reshape, Opcode::Transpose, Opcode::Copy];

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
            // Patterns contain no expressions.
            Term::Computed(_) => false,
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
            Condition::SameSizes(a, b) => cx.array(self.value(*a)?)?.dims == cx.array(self.value(*b)?)?.dims,
            Condition::Constant(v) => is_constant(cx.module, self.value(*v)?),
            Condition::Below(a, b, or_equal) => is_below(self.number(cx, a)?, self.number(cx, b)?, *or_equal),
            Condition::Always(a, b, or_equal) => {
                let high = Number::Integer(self.range(cx, a)?.high);
                is_below(high, Number::Integer(self.range(cx, b)?.low), *or_equal)
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

    fn number(&self, cx: &Cx<'_>, expression: &Expression) -> Option<Number> {
        evaluate(expression, &|v| Number::splat(cx.module, self.value(v)?), &|v| {
            cx.element_type(self.value(v)?)
        })
    }

    fn range(&self, cx: &Cx<'_>, expression: &Expression) -> Option<Range> {
        range(expression, &|v| cx.range(self.value(v)?), &|v| cx.element_type(self.value(v)?))
    }

    /// Builds the value that replaces the instruction `root`. Returns `None` if it would have another shape.
    fn replacement(&self, cx: &mut Cx<'_>, term: &Term, root: InstrId) -> Option<InstrId> {
        let shape = cx.shape_of(root);
        let value = match term {
            Term::Literal(_) | Term::Computed(_) => {
                let array = cx.array(root)?;
                self.constant(cx, term, &array)?
            }
            Term::Operation(operation) => {
                let (op, operands) = self.operands(cx, operation)?;
                let inferred = inferred(cx, &op, &operands)?;
                if inferred.compatible(&shape) {
                    return Some(cx.add_same_shape(op, &operands));
                }
                cx.add(inferred, op, &operands)
            }
            Term::Variable(_) => self.part(cx, term)?,
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

    /// Builds a part of the replacement.
    fn part(&self, cx: &mut Cx<'_>, term: &Term) -> Option<InstrId> {
        match term {
            Term::Variable(v) => self.value(*v),
            // Constants are built after the operands that determine their type.
            Term::Literal(_) | Term::Computed(_) => None,
            Term::Operation(operation) => {
                let (op, operands) = self.operands(cx, operation)?;
                let shape = inferred(cx, &op, &operands)?;
                Some(cx.add(shape, op, &operands))
            }
        }
    }

    /// Builds the operands of an operation.
    fn operands(&self, cx: &mut Cx<'_>, operation: &Operation) -> Option<(Op, SmallVec<[InstrId; 3]>)> {
        let op = match operation.direction {
            Some(direction) => Op::Compare(CompareAttrs {
                direction: comparison_direction(direction),
                comparison_type: self.order.unwrap_or(ComparisonType::Default),
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
                None => Some(self.part(cx, term)?),
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

/// Returns the shape of an operation's result, if the operation is valid.
fn inferred(cx: &Cx<'_>, op: &Op, operands: &[InstrId]) -> Option<Shape> {
    let shapes: SmallVec<[Shape; 3]> = operands.iter().map(|&o| cx.shape_of(o)).collect();
    let shapes: SmallVec<[&Shape; 3]> = shapes.iter().collect();
    checked_shape(cx.module, op, &shapes, None).ok()?
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
