//! Determines statically how often a `while` runs its body.
//!
//! There are two methods. If a counter has a constant start, step and bound, the count is calculated. If the
//! condition otherwise depends on only one element of the state, the interpreter runs a few iterations.

use super::constants::literal;
use super::range::wrapped;
use crate::support::while_loop::element_of;
use hlo_ir::attr::ComparisonDirection as Direction;
use hlo_ir::{ComputationId, ElementType, InstrId, Literal, Module, Op};
use std::collections::HashMap;

/// The known facts about a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TripCount {
    /// Number of executions of the body.
    pub trips: u64,
    /// The element of the state that determines the count, or `None` if the condition is a constant.
    pub element: Option<usize>,
    /// The first value of the element and its step, if the step is a constant.
    pub range: Option<(i128, i128)>,
}

/// Returns how often the body of a `while` runs, or `None` if this is not known.
pub fn trip_count(module: &Module, id: InstrId) -> Option<TripCount> {
    let counted = LoopParts::of(module, id)?;
    counted.zero_trip_count().or_else(|| counted.linear()).or_else(|| counted.count_by_simulation())
}

/// Returns a function of an integer element of a `while`'s state. The function returns the first value of the
/// element and the value added in each iteration, if both are constants. The added value is the
/// representative nearest to zero.
pub(crate) fn recurrences(
    module: &Module,
    id: InstrId,
) -> Option<impl Fn(usize, ElementType) -> Option<(i128, i128)>> {
    let counted = LoopParts::of(module, id)?;
    Some(move |element, ty| counted.recurrence(element, ty))
}

/// Maximum number of iterations that are run to count them.
const MAX_SIMULATED_ITERATIONS: u64 = 128;

/// Maximum number of instructions in one of these iterations.
const MAX_ITERATION_INSTRUCTIONS: usize = 32;

/// Maximum depth of sums of constants.
const MAX_DEPTH: usize = 8;

/// The parts of a loop.
struct LoopParts<'m> {
    module: &'m Module,
    init: InstrId,
    condition: ComputationId,
    condition_state: InstrId,
    body_state: InstrId,
    next: &'m [InstrId],
}

/// A value in a condition or body.
#[derive(Clone, Copy)]
enum Term {
    Constant(i128),
    /// An element of the state plus a constant.
    Element(usize, i128),
}

impl<'m> LoopParts<'m> {
    fn of(module: &'m Module, id: InstrId) -> Option<Self> {
        let Op::While(a) = &module[id].op else { return None };
        let parameter = |c: ComputationId| match module.parameters(c)[..] {
            [one] if module.has_root(c) => Some(one),
            _ => None,
        };
        let root = module[a.body].root();
        let next: &[InstrId] = match module[root].op {
            Op::Tuple => &module[root].operands,
            _ => &[],
        };
        Some(Self {
            module,
            init: *module[id].operands.first()?,
            condition: a.condition,
            condition_state: parameter(a.condition)?,
            body_state: parameter(a.body)?,
            next,
        })
    }

    /// Returns the constant initial value of an element of the state.
    fn initial(&self, element: usize) -> Option<&Literal> {
        match self.module[self.init].op {
            Op::Tuple => literal(self.module, *self.module[self.init].operands.get(element)?),
            _ => None,
        }
    }

    /// Returns the value of an element of the state that begins as a constant and never changes.
    fn invariant(&self, element: usize) -> Option<&Literal> {
        let next = *self.next.get(element)?;
        (element_of(self.module, next, self.body_state) == Some(element)).then(|| self.initial(element))?
    }

    /// Returns the value of a scalar integer in terms of `state`.
    fn term(&self, id: InstrId, state: InstrId, depth: usize) -> Option<Term> {
        if let Some(element) = element_of(self.module, id, state) {
            let known = self.invariant(element).and_then(scalar_value);
            return Some(known.map_or(Term::Element(element, 0), Term::Constant));
        }
        if let Some(value) = literal(self.module, id) {
            return scalar_value(value).map(Term::Constant);
        }
        let subtract = matches!(self.module[id].op, Op::Subtract);
        if depth == 0 || !(subtract || matches!(self.module[id].op, Op::Add)) {
            return None;
        }
        let &[a, b] = &self.module[id].operands[..] else { return None };
        let b = self.term(b, state, depth - 1)?;
        match (self.term(a, state, depth - 1)?, b, subtract) {
            (Term::Constant(a), Term::Constant(b), false) => Some(Term::Constant(a + b)),
            (Term::Constant(a), Term::Constant(b), true) => Some(Term::Constant(a - b)),
            (Term::Element(e, a), Term::Constant(b), false)
            | (Term::Constant(b), Term::Element(e, a), false) => Some(Term::Element(e, a + b)),
            (Term::Element(e, a), Term::Constant(b), true) => Some(Term::Element(e, a - b)),
            _ => None,
        }
    }

    /// Returns zero iterations if the condition is the constant false.
    fn zero_trip_count(&self) -> Option<TripCount> {
        let holds = scalar_value(literal(self.module, self.module[self.condition].root())?)?;
        (holds == 0).then_some(TripCount { trips: 0, element: None, range: None })
    }

    /// Returns the first value of an element and the value added in each iteration.
    fn recurrence(&self, element: usize, ty: ElementType) -> Option<(i128, i128)> {
        let next = self.term(*self.next.get(element)?, self.body_state, MAX_DEPTH)?;
        let Term::Element(from, step) = next else { return None };
        if from != element {
            return None;
        }
        let first = scalar_value(self.initial(element)?)?;
        // Adding the largest unsigned number is the same as subtracting 1.
        let (low, high) = limits(ty)?;
        let modulus = high - low + 1;
        let step = wrapped(ty, step)?;
        Some((first, if step > modulus / 2 { step - modulus } else { step }))
    }

    /// Calculates the count if the condition compares a counter with a constant.
    fn linear(&self) -> Option<TripCount> {
        let root = &self.module[self.module[self.condition].root()];
        let Op::Compare(compare) = &root.op else { return None };
        let &[a, b] = &root.operands[..] else { return None };
        let ty = self.module[a].shape.as_array().filter(|s| s.rank() == 0)?.element_type;
        let (low, high) = limits(ty)?;
        let terms = (self.term(a, self.condition_state, 0)?, self.term(b, self.condition_state, 0)?);
        let (element, bound, direction) = match terms {
            (Term::Element(e, 0), Term::Constant(bound)) => (e, bound, compare.direction),
            (Term::Constant(bound), Term::Element(e, 0)) => (e, bound, mirrored(compare.direction)),
            _ => return None,
        };
        let (first, step) = self.recurrence(element, ty)?;
        let trips = iterations(first, step, bound, direction)?;
        let last = trips.checked_mul(step)?.checked_add(first)?;
        // If the counter wraps around, it has other values than those calculated.
        (low..=high).contains(&last).then_some(TripCount {
            trips: u64::try_from(trips).ok()?,
            element: Some(element),
            range: Some((first, step)),
        })
    }

    /// Counts by running the parts of the condition and the body that one element of the state requires.
    fn count_by_simulation(&self) -> Option<TripCount> {
        let mut element = None;
        let condition =
            self.needed(self.module[self.condition].root(), self.condition_state, &mut element)?;
        let counter = element?;
        let next = self.needed(*self.next.get(counter)?, self.body_state, &mut element)?;
        let mut value = self.initial(counter)?.clone();
        for trips in 0..=MAX_SIMULATED_ITERATIONS {
            if self.run(&condition, self.condition_state, &value)?.integer_at(0)? == 0 {
                return Some(TripCount { trips, element: Some(counter), range: None });
            }
            value = self.run(&next, self.body_state, &value)?;
        }
        None
    }

    /// Returns the instructions that a value requires, operands first. There may only be a few elementwise
    /// instructions on scalars, constants and one element of the state.
    fn needed(&self, root: InstrId, state: InstrId, element: &mut Option<usize>) -> Option<Vec<InstrId>> {
        let mut found = Vec::new();
        let mut stack = vec![(root, false)];
        while let Some((id, operands_done)) = stack.pop() {
            if found.contains(&id) {
                continue;
            }
            if operands_done {
                found.push(id);
                continue;
            }
            if found.len() + stack.len() > MAX_ITERATION_INSTRUCTIONS * 3
                || found.len() > MAX_ITERATION_INSTRUCTIONS
            {
                return None;
            }
            let instr = &self.module[id];
            let scalar = instr.shape.is_scalar();
            if let Some(e) = element_of(self.module, id, state).filter(|_| scalar) {
                if self.invariant(e).is_none() && *element.get_or_insert(e) != e {
                    return None;
                }
                found.push(id);
                continue;
            }
            let computed = instr.opcode().is_pointwise() || literal(self.module, id).is_some();
            if !scalar || !computed {
                return None;
            }
            stack.push((id, true));
            stack.extend(instr.operands.iter().map(|&o| (o, false)));
        }
        Some(found)
    }

    /// Returns the value of the last instruction of `needed` if the counter has the value `counter`.
    fn run(&self, needed: &[InstrId], state: InstrId, counter: &Literal) -> Option<Literal> {
        let options = hlo_eval::Options {
            max_operations: Some(MAX_ITERATION_INSTRUCTIONS as u64),
            max_bytes: 1 << 16,
            ..hlo_eval::Options::default()
        };
        let mut values: HashMap<InstrId, Literal> = HashMap::new();
        for &id in needed {
            let value = match (element_of(self.module, id, state), literal(self.module, id)) {
                (Some(e), _) => self.invariant(e).unwrap_or(counter).clone(),
                (None, Some(value)) => value.clone(),
                (None, None) => {
                    let operands = self.module[id].operands.iter();
                    let operands: Option<Vec<Literal>> = operands.map(|o| values.get(o).cloned()).collect();
                    hlo_eval::evaluate_instruction(self.module, id, &operands?, &options).ok()?
                }
            };
            values.insert(id, value);
        }
        values.remove(needed.last()?)
    }
}

/// Returns the value of a scalar integer or predicate.
fn scalar_value(value: &Literal) -> Option<i128> {
    value.shape().is_scalar().then(|| value.integer_at(0))?
}

/// Returns the smallest and the largest value of an integer type.
fn limits(ty: ElementType) -> Option<(i128, i128)> {
    let bits = ty.bit_width();
    match (ty.is_integer(), ty.is_signed_integer()) {
        (false, _) => None,
        (true, true) => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
        (true, false) => Some((0, (1 << bits) - 1)),
    }
}

/// Returns the comparison with exchanged operands.
fn mirrored(direction: Direction) -> Direction {
    match direction {
        Direction::Lt => Direction::Gt,
        Direction::Le => Direction::Ge,
        Direction::Gt => Direction::Lt,
        Direction::Ge => Direction::Le,
        Direction::Eq | Direction::Ne => direction,
    }
}

/// Returns how many of `first`, `first + step`, … satisfy the comparison with `bound` before one does not.
/// Numbers do not wrap around.
fn iterations(first: i128, step: i128, bound: i128, direction: Direction) -> Option<i128> {
    let up_to = |distance: i128, step: i128| match (distance <= 0, step > 0) {
        (true, _) => Some(0),
        (false, true) => Some((distance + step - 1) / step),
        (false, false) => None,
    };
    match direction {
        Direction::Lt => up_to(bound - first, step),
        Direction::Le => up_to(bound - first + 1, step),
        Direction::Gt => up_to(first - bound, -step),
        Direction::Ge => up_to(first - bound + 1, -step),
        Direction::Ne if first == bound => Some(0),
        Direction::Ne => {
            let reached = step != 0 && (bound - first) % step == 0 && (bound - first) / step > 0;
            reached.then(|| (bound - first) / step)
        }
        Direction::Eq if first != bound => Some(0),
        Direction::Eq => (step != 0).then_some(1),
    }
}
