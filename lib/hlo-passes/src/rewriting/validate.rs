//! Checks of clauses that the build script cannot make, because it knows opcodes only by name.

use super::{Clause, Expression, Operation, Term, form, is_elementwise};
use hlo_ir::Opcode;

/// Checks that rules support the operations of a clause, and that these have as many operands and lists as they
/// need.
///
/// # Errors
/// The first violation, in words.
pub fn validate(clause: &Clause) -> Result<(), String> {
    clause.operations().into_iter().try_for_each(check_operation)?;
    check_result(clause)?;
    check_computations(clause)?;
    match &clause.replacement {
        Term::Operation(replacement) => replacement.all().into_iter().try_for_each(needs_lists),
        _ => Ok(()),
    }
}

/// Checks the uses of `result`. Elementwise rules have no word for the value that they replace.
fn check_result(clause: &Clause) -> Result<(), String> {
    let Some(result) = clause.pattern.bound else { return Ok(()) };
    if is_elementwise(clause) {
        return Err("only rules with operations that move elements can contain `result`".to_string());
    }
    let is_result = |term: &Term| *term == Term::Variable(result);
    let operations = clause.operations();
    let mut operands = operations.iter().flat_map(|operation| operation.operands.iter());
    if is_result(&clause.replacement) || operands.any(is_result) {
        return Err("the replacement cannot contain `result`".to_string());
    }
    Ok(())
}

/// Checks that computations are names, and that nothing is computed from them.
fn check_computations(clause: &Clause) -> Result<(), String> {
    let mut computations = Vec::new();
    let mut others = clause.condition.expressions();
    let operations = clause.operations();
    for operation in &operations {
        for (n, expression) in operation.numbers.iter().enumerate() {
            match (operation.opcode, n, expression) {
                (Opcode::Reduce, 1, Expression::List(list)) => computations.push(*list),
                (Opcode::Reduce, 1, _) => return Err("the computation of `reduce` is a name".to_string()),
                _ => others.push(expression),
            }
        }
    }
    let operands = operations.iter().flat_map(|operation| operation.operands.iter());
    for term in operands.chain([&clause.replacement]) {
        match term {
            Term::Rest(_, at) => others.extend(at.iter()),
            Term::Computed(expression) => others.push(expression),
            _ => {}
        }
    }
    let mut used = others.into_iter().flat_map(Expression::lists);
    if used.any(|list| computations.contains(&list)) {
        return Err("nothing can be computed from the computation of `reduce`".to_string());
    }
    Ok(())
}

/// Checks that rules support the operation with its numbers of operands and of lists.
fn check_operation(operation: &Operation) -> Result<(), String> {
    let (opcode, found) = (operation.opcode, operation.operands.len());
    let name = opcode.name();
    let rest = usize::from(matches!(operation.operands.last(), Some(Term::Rest(..))));
    let (needed, lists) = match (opcode.elementwise(), form(opcode)) {
        (Some(_), _) if matches!(opcode, Opcode::ReducePrecision | Opcode::StochasticConvert) => {
            return Err(format!("rules do not support `{name}`"));
        }
        (Some(elementwise), _) if rest == 0 => (elementwise.class.operands(), 0),
        // A concatenation may list all of its operands.
        (_, Some(form)) if form.opcode == Opcode::Concatenate => {
            (found.max(1 + rest) - rest, form.lists.len())
        }
        (_, Some(form)) if rest == 0 || form.has_rest => (form.operands, form.lists.len()),
        _ => return Err(format!("rules do not support `{name}` in this form")),
    };
    if found != needed + rest {
        return Err(format!("`{name}` needs {needed} operands, found {}", found - rest));
    }
    match operation.numbers.len() {
        0 => Ok(()),
        found if found == lists => Ok(()),
        found => Err(format!("`{name}` has {lists} lists of numbers, found {found}")),
    }
}

/// Checks that an operation of a replacement has its lists, and no constant operands if it is not elementwise.
fn needs_lists(operation: &Operation) -> Result<(), String> {
    let lists = form(operation.opcode).map_or(0, |form| form.lists.len());
    let name = operation.opcode.name();
    // The map of a scalar's dimensions is empty.
    if operation.numbers.len() != lists && operation.opcode != Opcode::Broadcast {
        return Err(format!("`{name}` of a replacement needs {lists} lists of numbers"));
    }
    let is_constant = |term: &Term| matches!(term, Term::Literal(_) | Term::Computed(_));
    if !operation.opcode.is_elementwise() && operation.operands.iter().any(is_constant) {
        return Err(format!("an operand of `{name}` cannot be a constant"));
    }
    Ok(())
}
