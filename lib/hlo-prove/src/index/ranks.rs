//! Decides whether a proof for small ranks is one for all ranks.
//!
//! A rule that treats all dimensions alike and is wrong for arrays of some rank is also wrong for arrays of a small
//! rank: remove each dimension in which the two different elements have the same index, unless a `some` needs it.
//! This argument has limits. A rule can ask for a dimension by its number. Orders of few dimensions have special
//! properties: every order of three dimensions, applied six times, is the identity. A product of at most five
//! orders has no such property.

use hlo_ir::Opcode;
use hlo_passes::rewriting::{Clause, Condition, Expression, Operation, Relation, Term};

/// Maximum number of uses of lists of dimensions: in the pattern and in the replacement together.
const MAX_USES: usize = 5;

/// Maximum number of conditions that some dimension must satisfy.
const MAX_WITNESSES: usize = 2;

/// Returns whether arrays of ranks to 3 suffice to check a clause.
///
/// # Errors
/// The reason why they do not.
pub fn suffice(clause: &Clause) -> Result<(), &'static str> {
    let mut lists = Vec::new();
    for operation in clause.pattern.all().iter().filter(|operation| has_dimensions(operation.opcode)) {
        lists.extend(operation.numbers.iter().flat_map(Expression::lists));
    }
    let mut uses = Uses { lists: &lists, count: 0, is_uniform: true };
    uses.operation(&clause.pattern);
    uses.term(&clause.replacement);
    uses.condition(&clause.condition);
    if !uses.is_uniform {
        return Err("it computes with the numbers of dimensions");
    }
    if uses.count > MAX_USES {
        return Err("it composes many lists of dimensions");
    }
    if witnesses(&clause.condition) > MAX_WITNESSES {
        return Err("it has many conditions that some dimension must satisfy");
    }
    Ok(())
}

/// Returns whether an attribute of an operation contains numbers of dimensions.
fn has_dimensions(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::Broadcast | Opcode::Transpose | Opcode::Iota | Opcode::Concatenate)
}

/// The uses of numbers of dimensions.
struct Uses<'l> {
    /// The lists that contain them.
    lists: &'l [usize],
    count: usize,
    /// Whether no number of a dimension is compared with other numbers, or computed with.
    is_uniform: bool,
}

impl Uses<'_> {
    fn term(&mut self, term: &Term) {
        match term {
            Term::Operation(operation) => self.operation(operation),
            Term::Rest(_, at) => at.iter().for_each(|at| self.dimensions(at)),
            Term::Computed(expression) => self.number(expression),
            Term::Variable(_) | Term::Literal(_) => {}
        }
    }

    fn operation(&mut self, operation: &Operation) {
        for expression in operation.numbers.iter() {
            if has_dimensions(operation.opcode) {
                self.dimensions(expression);
            } else {
                self.number(expression);
            }
        }
        operation.operands.iter().for_each(|operand| self.term(operand));
    }

    /// Visits an expression whose entries are numbers of dimensions.
    fn dimensions(&mut self, expression: &Expression) {
        match expression {
            Expression::List(list) if self.lists.contains(list) => self.count += 1,
            Expression::Index => {}
            Expression::Kept(parts) => parts.iter().for_each(|part| self.number(part)),
            Expression::Inverse(parts) | Expression::At(parts) => {
                parts.iter().for_each(|part| self.dimensions(part));
            }
            // The number of `iota` and `concatenate`.
            Expression::Integer(0) => {}
            _ => self.is_uniform = false,
        }
    }

    /// Visits an expression whose entries are other numbers.
    fn number(&mut self, expression: &Expression) {
        match expression {
            Expression::List(list) if self.lists.contains(list) => self.is_uniform = false,
            Expression::Index | Expression::Inverse(_) | Expression::Kept(_) => self.is_uniform = false,
            Expression::At(parts) => {
                if let [list, at] = &parts[..] {
                    self.number(list);
                    self.dimensions(at);
                }
            }
            Expression::If(Relation::Equal, parts) if self.compares_dimensions(parts) => {
                parts.iter().take(2).for_each(|part| self.dimensions(part));
                parts.iter().skip(2).for_each(|part| self.number(part));
            }
            Expression::If(_, parts) | Expression::Result(_, parts) | Expression::Log2(parts) => {
                parts.iter().for_each(|part| self.number(part));
            }
            _ => {}
        }
    }

    /// Returns whether two sides of an equation are numbers of dimensions.
    fn compares_dimensions(&self, sides: &[Expression]) -> bool {
        sides.iter().take(2).all(|side| self.is_dimension(side))
    }

    fn is_dimension(&self, expression: &Expression) -> bool {
        match expression {
            Expression::List(list) => self.lists.contains(list),
            Expression::Index | Expression::Kept(_) => true,
            Expression::Inverse(parts) | Expression::At(parts) => {
                parts.first().is_some_and(|list| self.is_dimension(list))
            }
            _ => false,
        }
    }

    fn condition(&mut self, condition: &Condition) {
        match condition {
            Condition::Compare(Relation::Equal, a, b) | Condition::Some(Relation::Equal, a, b)
                if self.is_dimension(a) && self.is_dimension(b) =>
            {
                self.dimensions(a);
                self.dimensions(b);
            }
            Condition::Compare(_, a, b) | Condition::Some(_, a, b) | Condition::Always(_, a, b) => {
                self.number(a);
                self.number(b);
            }
            other => other.parts().iter().for_each(|part| self.condition(part)),
        }
    }
}

/// Returns the number of conditions that one dimension satisfies alone.
fn witnesses(condition: &Condition) -> usize {
    match condition {
        Condition::All(list) | Condition::Any(list) => list.iter().map(witnesses).sum(),
        Condition::Some(..) => 1,
        Condition::Not(list) => list.iter().map(opposites).sum(),
        // A dimension of size 0.
        Condition::Empty(_) => 1,
        _ => 0,
    }
}

/// Returns the number of dimensions that make a condition false.
fn opposites(condition: &Condition) -> usize {
    match condition {
        Condition::All(list) | Condition::Any(list) => list.iter().map(opposites).sum(),
        Condition::Not(list) => list.iter().map(witnesses).sum(),
        Condition::Compare(..) | Condition::SameSizes(..) | Condition::Scalar(_) => 1,
        _ => 0,
    }
}
