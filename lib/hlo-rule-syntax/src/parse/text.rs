//! Texts of the parts of a clause, for the documentation.

use super::{INDEX, Operation, Reader, Term};
use crate::{Arithmetic, Direction, Expression, Relation, Value};

impl Reader<'_> {
    pub(super) fn text(&self, term: &Term) -> String {
        match term {
            Term::Variable(v) => self.variables[*v].clone(),
            Term::Literal(Value::Integer(n)) => n.to_string(),
            Term::Literal(Value::Float(x)) => format!("{x:?}"),
            Term::Literal(Value::Pred(p)) => p.to_string(),
            Term::Literal(Value::Lowest) => "lowest".to_string(),
            Term::Literal(Value::Highest) => "highest".to_string(),
            Term::Literal(Value::Ones) => "ones".to_string(),
            Term::Computed(expression) => format!("[{}]", self.text_of_expression(expression)),
            Term::Rest(rest, at) => {
                let at: Vec<String> =
                    at.iter().map(|at| format!("[{}]", self.text_of_expression(at))).collect();
                format!("{}{}...", self.rests[*rest], at.concat())
            }
            Term::Operation(operation) => self.text_of(operation),
        }
    }

    fn text_of_expression(&self, expression: &Expression) -> String {
        match expression {
            Expression::Integer(n) => n.to_string(),
            Expression::Variable(v) => self.variables[*v].clone(),
            Expression::Width(v) => format!("width({})", self.variables[*v]),
            Expression::Lowest(v) => format!("lowest({})", self.variables[*v]),
            Expression::Highest(v) => format!("highest({})", self.variables[*v]),
            Expression::Log2(operand) => format!("log2({})", self.texts(operand).concat()),
            Expression::Inverse(operand) => format!("inverse({})", self.texts(operand).concat()),
            Expression::Kept(operand) => format!("kept({})", self.texts(operand).concat()),
            Expression::List(list) => self.lists[*list].clone(),
            Expression::Sizes(v) => format!("size({})", self.variables[*v]),
            Expression::Values(rest) => format!("value({})", self.rests[*rest]),
            Expression::Index => INDEX.to_string(),
            Expression::At(parts) => match &self.texts(parts)[..] {
                [list, at] => format!("{list}[{at}]"),
                _ => String::new(),
            },
            Expression::If(relation, parts) => match &self.texts(parts)[..] {
                [a, b, yes, no] => format!("if({a} {} {b}, {yes}, {no})", sign_of(*relation)),
                _ => String::new(),
            },
            Expression::Reciprocal(v) => format!("reciprocal({})", self.variables[*v]),
            Expression::Result(Arithmetic::Minimum, operands) => {
                format!("min({})", self.texts(operands).join(", "))
            }
            Expression::Result(Arithmetic::Maximum, operands) => {
                format!("max({})", self.texts(operands).join(", "))
            }
            Expression::Result(arithmetic, operands) => {
                let sign = match arithmetic {
                    Arithmetic::Add => " + ",
                    Arithmetic::Subtract => " - ",
                    Arithmetic::Multiply => " * ",
                    Arithmetic::Divide => " / ",
                    Arithmetic::Remainder => " % ",
                    Arithmetic::Minimum | Arithmetic::Maximum => ", ",
                };
                let is_sum = |arithmetic| matches!(arithmetic, Arithmetic::Add | Arithmetic::Subtract);
                let parts = operands.iter().enumerate().map(|(n, part)| {
                    let text = self.text_of_expression(part);
                    // Operators of the same kind associate to the left.
                    let is_other = |inner| {
                        is_sum(inner) && !is_sum(*arithmetic) || n > 0 && is_sum(inner) == is_sum(*arithmetic)
                    };
                    match part {
                        Expression::Result(inner, _) if is_other(*inner) => format!("({text})"),
                        _ => text,
                    }
                });
                parts.collect::<Vec<_>>().join(sign)
            }
        }
    }

    fn texts(&self, expressions: &[Expression]) -> Vec<String> {
        expressions.iter().map(|e| self.text_of_expression(e)).collect()
    }

    pub(super) fn text_of(&self, operation: &Operation) -> String {
        let mut operands: Vec<String> = operation.operands.iter().map(|o| self.text(o)).collect();
        operands.extend(operation.direction.map(|d| word(d).to_string()));
        let numbers = match &operation.numbers[..] {
            [] => String::new(),
            numbers => format!("{{{}}}", self.texts(numbers).join(", ")),
        };
        format!("{}{numbers}({})", operation.opcode, operands.join(", "))
    }
}

fn sign_of(relation: Relation) -> &'static str {
    match relation {
        Relation::Below => "<",
        Relation::AtMost => "<=",
        Relation::Equal => "==",
    }
}

/// Returns the word of a direction in HLO text.
pub(super) fn word(direction: Direction) -> &'static str {
    match direction {
        Direction::Eq => "EQ",
        Direction::Ne => "NE",
        Direction::Ge => "GE",
        Direction::Gt => "GT",
        Direction::Le => "LE",
        Direction::Lt => "LT",
    }
}
