//! Prepares clauses for many attempts, and excludes most instructions by their opcodes and element types.

use super::matched::{MAY_BE_CONSTANT, Matched};
use super::{Clause, Condition, Operation, Term, class_contains, comparison_direction};
use crate::support::rewrite::Cx;
use hlo_ir::attr::ComparisonDirection;
use hlo_ir::opcode::ResultType;
use hlo_ir::{ElementType, InstrId, Module, Op, Opcode};
use smallvec::SmallVec;

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
        let operands = pattern.operands.iter().filter_map(|term| match term {
            Term::Operation(inner) => Some(opcodes(&[inner.opcode])),
            Term::Literal(_) | Term::Computed(_) => Some(opcodes(MAY_BE_CONSTANT)),
            Term::Variable(_) => Some([u64::MAX; _]),
            Term::Rest(..) => None,
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
            // `found` contains the first operands.
            (sets, found) => sets.iter().zip(found).all(|(set, o)| has(set, o)),
        }
    }

    /// Applies the clause to an instruction with the opcode of its pattern. Returns the value that replaces
    /// it, or `None` if the pattern does not match.
    pub(crate) fn apply(&self, cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
        let clause = self.clause;
        for &order in &self.orders {
            let mut matched = Matched::new(clause, order, self.exchanges);
            if matched.operation(cx, &clause.pattern, Some(&clause.condition), id)
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
    if matches!(&clause.condition, Condition::All(list) if list.is_empty()) {
        return (0, ALL);
    }
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
        Term::Literal(_) | Term::Computed(_) | Term::Rest(..) => None,
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
        Term::Literal(_) | Term::Computed(_) | Term::Rest(..) => 0,
    };
    pattern.operands.iter().map(of).sum()
}

/// Returns whether a condition examines the value of a variable, and not only its type.
fn examines(condition: &Condition, variable: usize) -> bool {
    matches!(condition, Condition::Constant(v) if *v == variable)
        || condition.parts().iter().any(|part| examines(part, variable))
        || condition.expressions().iter().any(|expression| expression.variables().contains(&variable))
}

fn opcodes(list: &[Opcode]) -> Opcodes {
    let mut set = Opcodes::default();
    for &opcode in list {
        set[opcode as usize / 64] |= 1 << (opcode as usize % 64);
    }
    set
}
