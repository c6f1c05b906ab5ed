//! The element types that the variables of a clause can have.

use crate::semantics::is_open;
use hlo_ir::attr::ComparisonType;
use hlo_ir::opcode::ResultType;
use hlo_ir::{ElementType, Opcode};
use hlo_passes::rewriting::{
    Clause, Condition, Direction, Expression, Operation, Relation, Term, Value, class_contains, evaluate,
    is_by_integer, is_by_value, is_ordered, relates, value_bytes,
};

/// Element types for which a clause may apply.
#[derive(Clone, Debug, PartialEq)]
pub struct Typing {
    /// The element type of each variable.
    pub variables: Vec<ElementType>,
    /// The element type of the pattern and of the replacement.
    pub result: ElementType,
    /// The type of the order of the comparisons in the clause.
    pub order: ComparisonType,
    /// The element types that the comparisons of the pattern compare.
    pub compared: Vec<ElementType>,
}

impl std::fmt::Display for Typing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut names: Vec<&str> = Vec::new();
        for ty in &self.variables {
            if !names.contains(&ty.name()) {
                names.push(ty.name());
            }
        }
        f.write_str(&names.join(", "))?;
        match self.order {
            ComparisonType::Default => Ok(()),
            order => write!(f, " {}", order.text()),
        }
    }
}

/// Maximum number of variables with different types. All combinations of types are tried.
const MAX_TYPES: usize = 4;

/// Returns all typings of a clause for which its pattern can match a valid module.
pub fn typings(clause: &Clause) -> Vec<Typing> {
    let count = clause.variables.len();
    // A variable without a name is a part of the pattern, whose type follows from the others.
    let is_named = |v: usize| !clause.variables[v].is_empty();
    let mut classes = Classes((0..count).collect());
    classes.unify(&clause.pattern, &is_named);
    if let Term::Operation(operation) = &clause.replacement {
        classes.unify(operation, &is_named);
    }
    let roots: Vec<usize> = (0..count).filter(|&v| is_named(v) && classes.root(v) == v).collect();
    let mut found = Vec::new();
    if roots.len() > MAX_TYPES {
        return found;
    }
    let mut chosen = vec![0; roots.len()];
    loop {
        let types: Vec<ElementType> = (0..count)
            .map(|v| {
                let class = roots.iter().position(|&root| root == classes.root(v)).unwrap_or(0);
                ElementType::ALL[chosen.get(class).copied().unwrap_or(0)]
            })
            .collect();
        found.extend(valid(clause, &types));
        // The next combination of types.
        let Some(place) = chosen.iter().position(|&n| n + 1 < ElementType::ALL.len()) else { break };
        chosen[..place].fill(0);
        chosen[place] += 1;
    }
    found
}

/// Sets of variables that have the same element type, by union-find.
struct Classes(Vec<usize>);

impl Classes {
    fn root(&self, v: usize) -> usize {
        if self.0[v] == v { v } else { self.root(self.0[v]) }
    }

    /// Joins the variables that must have the same type. Returns a variable that has the type of the result.
    fn unify(&mut self, operation: &Operation, is_named: &dyn Fn(usize) -> bool) -> Option<usize> {
        let skip = usize::from(operation.opcode == Opcode::Select);
        let mut first = None;
        for (n, operand) in operation.operands.iter().enumerate() {
            let variable = match operand {
                Term::Operation(inner) => self.unify(inner, is_named),
                Term::Variable(v) => Some(*v).filter(|v| is_named(*v)),
                _ => None,
            };
            let Some(variable) = variable.filter(|_| n >= skip) else { continue };
            let root = self.root(variable);
            match first {
                Some(first) => self.0[root] = self.root(first),
                None => first = Some(root),
            }
        }
        let is_same = operation.opcode.elementwise().is_some_and(|e| e.result == ResultType::Same);
        first.filter(|_| is_same)
    }
}

/// Returns the typings with these types of the variables, one for each order of comparisons.
fn valid(clause: &Clause, types: &[ElementType]) -> Vec<Typing> {
    let mut typing = Typing {
        variables: types.to_vec(),
        result: ElementType::Pred,
        order: ComparisonType::Default,
        compared: Vec::new(),
    };
    bind_parts(&mut typing, &clause.pattern);
    let mut types = Vec::new();
    compared(&typing, &clause.pattern, &mut types);
    typing.compared = types;
    let Some(result) = typing.type_of(&Term::Operation(clause.pattern.clone()), None) else {
        return Vec::new();
    };
    if typing.type_of(&clause.replacement, Some(result)) != Some(result) {
        return Vec::new();
    }
    typing.result = result;
    // The verifier admits the total order only for floating-point numbers.
    let floats = !typing.compared.is_empty() && typing.compared.iter().all(|ty| ty.is_float());
    let all = [ComparisonType::Default, ComparisonType::TotalOrder];
    let orders = if floats { &all[..] } else { &all[..1] };
    let with = |&order: &ComparisonType| Typing { order, ..typing.clone() };
    orders.iter().map(with).filter(|typing| typing.admits(&clause.condition) != Some(false)).collect()
}

/// Sets the types of the variables that are parts of the pattern.
fn bind_parts(typing: &mut Typing, operation: &Operation) {
    for operand in operation.operands.iter() {
        if let Term::Operation(inner) = operand {
            bind_parts(typing, inner);
        }
    }
    if let (Some(v), Some(ty)) = (operation.bound, typing.type_of(&Term::Operation(operation.clone()), None))
    {
        typing.variables[v] = ty;
    }
}

/// Adds the types that the comparisons of a pattern compare to a list.
fn compared(typing: &Typing, operation: &Operation, found: &mut Vec<ElementType>) {
    if operation.opcode == Opcode::Compare {
        found.extend(operation.operands.iter().find_map(|operand| typing.type_of(operand, None)));
    }
    for operand in operation.operands.iter() {
        if let Term::Operation(inner) = operand {
            compared(typing, inner, found);
        }
    }
}

impl Typing {
    /// Returns the element type of a term, or `None` if it is not valid. `wanted` is the type that the
    /// context requires of a literal or of a conversion.
    pub fn type_of(&self, term: &Term, wanted: Option<ElementType>) -> Option<ElementType> {
        match term {
            Term::Variable(v) => self.variables.get(*v).copied(),
            Term::Literal(value) => {
                let ty = if let Value::Pred(_) = value { ElementType::Pred } else { wanted? };
                value_bytes(*value, ty).map(|_| ty)
            }
            // The interpreter decides for which values the type represents the number.
            Term::Computed(_) => wanted,
            Term::Rest(..) => None,
            Term::Operation(operation) => self.type_of_operation(operation, wanted),
        }
    }

    fn type_of_operation(&self, operation: &Operation, wanted: Option<ElementType>) -> Option<ElementType> {
        let table = operation.opcode.elementwise()?;
        if operation.opcode == Opcode::Convert {
            self.type_of(operation.operands.first()?, None)?;
            return wanted;
        }
        let operand = self.operand_type(operation, wanted)?;
        let all_valid = operation.operands.iter().enumerate().all(|(n, term)| {
            let ty = if operation.opcode == Opcode::Select && n == 0 { ElementType::Pred } else { operand };
            self.type_of(term, Some(ty)) == Some(ty)
        });
        let is_equality = matches!(operation.direction, None | Some(Direction::Eq | Direction::Ne));
        if !all_valid || !table.types.contains(operand) || operand.is_complex() && !is_equality {
            return None;
        }
        match table.result {
            ResultType::Same => Some(operand),
            ResultType::Real => Some(operand.real_type()),
            ResultType::Pred => Some(ElementType::Pred),
            ResultType::Complex => operand.complex_type(),
            ResultType::Written => wanted,
        }
    }

    /// Returns the type of the operands of an operation: of the first one that is neither a literal nor a
    /// conversion, or otherwise that of the result. For a selection, this is the type of the values.
    pub fn operand_type(&self, operation: &Operation, result: Option<ElementType>) -> Option<ElementType> {
        let skip = usize::from(operation.opcode == Opcode::Select);
        let known = operation.operands[skip..].iter().find_map(|operand| self.type_of(operand, None));
        let is_same = operation.opcode.elementwise()?.result == ResultType::Same;
        known.or(result.filter(|_| is_same))
    }

    /// Returns whether all comparisons have a property, as the rewrite driver checks it.
    fn all_compared(&self, has: fn(ElementType, ComparisonType) -> bool) -> Option<bool> {
        Some(!self.compared.is_empty() && self.compared.iter().all(|&ty| has(ty, self.order)))
    }

    /// Returns whether the condition is true for the types, or `None` if that depends on values.
    pub fn admits(&self, condition: &Condition) -> Option<bool> {
        condition.known(&|leaf| match leaf {
            Condition::Type(class, v) => Some(class_contains(*class, self.variables[*v])),
            Condition::SameType(a, b) => Some(self.variables[*a] == self.variables[*b]),
            // The proof does not depend on sizes, and any value may be known or not.
            open if is_open(open) => None,
            Condition::Compare(relation, a, b) => self.relation(*relation, (a, b), is_number),
            // Only integers have ranges.
            Condition::Always(relation, a, b) => {
                self.relation(*relation, (a, b), |ty| ty.is_integer() || ty.is_pred())
            }
            Condition::Ordered => self.all_compared(is_ordered),
            Condition::ByInteger => self.all_compared(is_by_integer),
            Condition::ByValue => self.all_compared(is_by_value),
            // `known` resolves them.
            _ => None,
        })
    }

    /// Compares two numbers that depend only on types. Returns false if `has_numbers` is false for the type of a
    /// variable.
    fn relation(
        &self,
        relation: Relation,
        (a, b): (&Expression, &Expression),
        has_numbers: fn(ElementType) -> bool,
    ) -> Option<bool> {
        let used = [a.variables(), b.variables()].concat();
        if used.iter().any(|&v| !has_numbers(self.variables[v])) {
            return Some(false);
        }
        let number = |expression| evaluate(expression, &|_| None, &|v| self.variables.get(v).copied());
        match (number(a), number(b)) {
            (Some(a), Some(b)) => Some(relates(relation, a, b)),
            // A type without integers has no lowest value.
            _ if used.is_empty() => Some(false),
            _ => None,
        }
    }
}

/// Returns whether rules examine numbers of this type.
fn is_number(ty: ElementType) -> bool {
    ty.is_integer() || ty.is_pred() || is_plain_float(ty)
}

/// Returns whether passes compute with numbers of this floating-point type.
fn is_plain_float(ty: ElementType) -> bool {
    matches!(ty, ElementType::F16 | ElementType::Bf16 | ElementType::F32 | ElementType::F64)
}
