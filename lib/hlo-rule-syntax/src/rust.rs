//! Translates rules to tables in Rust.

use super::{Clause, Condition, Expression, Operation, Relation, Rule, Term, Text, Value};

/// Returns the Rust expression of a table of rules: a slice of `Rule<Opcode>`. The names of the types and
/// `Opcode` must be in scope.
pub fn rust_tables(rules: &[Rule<Text>]) -> String {
    list(rules, rule, "&[", "]")
}

/// Returns the expressions of the elements between two texts.
fn list<T>(elements: &[T], one: impl Fn(&T) -> String, open: &str, close: &str) -> String {
    let elements: Vec<String> = elements.iter().map(one).collect();
    format!("{open}{}{close}", elements.join(", "))
}

/// Returns the expression of a borrowed list.
fn borrowed<T>(elements: &[T], one: impl Fn(&T) -> String) -> String {
    list(elements, one, "Cow::Borrowed(&[", "])")
}

fn text(text: &Text) -> String {
    format!("Cow::Borrowed({text:?})")
}

fn rule(rule: &Rule<Text>) -> String {
    format!(
        "Rule {{ name: {}, lines: {}, summary: {}, clauses: {} }}\n",
        text(&rule.name),
        borrowed(&rule.lines, text),
        text(&rule.summary),
        borrowed(&rule.clauses, clause)
    )
}

fn clause(clause: &Clause<Text>) -> String {
    format!(
        "Clause {{ line: {}, text: {}, pattern: {}, replacement: {}, condition: {}, variables: {}, lists: {}, rests: {} }}\n",
        clause.line,
        text(&clause.text),
        operation(&clause.pattern),
        term(&clause.replacement),
        condition(&clause.condition),
        borrowed(&clause.variables, text),
        borrowed(&clause.lists, text),
        borrowed(&clause.rests, text)
    )
}

fn term(of: &Term<Text>) -> String {
    match of {
        Term::Variable(v) => format!("Term::Variable({v})"),
        Term::Literal(of) => format!("Term::Literal({})", value(*of)),
        Term::Computed(of) => format!("Term::Computed({})", expression(of)),
        Term::Rest(rest, at) => format!("Term::Rest({rest}, {})", borrowed(at, expression)),
        Term::Operation(of) => format!("Term::Operation({})", operation(of)),
    }
}

fn operation(operation: &Operation<Text>) -> String {
    // `shift-left` is the variant `ShiftLeft`.
    let mut opcode = String::new();
    for word in operation.opcode.split('-') {
        let mut letters = word.chars();
        opcode.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        opcode.push_str(letters.as_str());
    }
    let direction = match operation.direction {
        Some(direction) => format!("Some(Direction::{direction:?})"),
        None => "None".to_string(),
    };
    format!(
        "Operation {{ opcode: Opcode::{opcode}, numbers: {}, operands: {}, direction: {direction}, once: {}, bound: {:?} }}",
        borrowed(&operation.numbers, expression),
        borrowed(&operation.operands, term),
        operation.once,
        operation.bound
    )
}

fn value(value: Value) -> String {
    format!("Value::{value:?}")
}

fn expression(of: &Expression) -> String {
    match of {
        Expression::Result(arithmetic, operands) => {
            format!("Expression::Result(Arithmetic::{arithmetic:?}, {})", borrowed(operands, expression))
        }
        Expression::Log2(operand) => format!("Expression::Log2({})", borrowed(operand, expression)),
        Expression::At(parts) => format!("Expression::At({})", borrowed(parts, expression)),
        Expression::Inverse(list) => format!("Expression::Inverse({})", borrowed(list, expression)),
        Expression::Kept(list) => format!("Expression::Kept({})", borrowed(list, expression)),
        Expression::If(relation, parts) => {
            format!("Expression::If(Relation::{relation:?}, {})", borrowed(parts, expression))
        }
        other => format!("Expression::{other:?}"),
    }
}

fn condition(of: &Condition) -> String {
    match of {
        Condition::All(list) => format!("Condition::All({})", borrowed(list, condition)),
        Condition::Any(list) => format!("Condition::Any({})", borrowed(list, condition)),
        Condition::Not(inner) => format!("Condition::Not({})", borrowed(inner, condition)),
        Condition::Type(class, v) => format!("Condition::Type(TypeClass::{class:?}, {v})"),
        Condition::Compare(relation, a, b) => comparison("Compare", *relation, a, b),
        Condition::Some(relation, a, b) => comparison("Some", *relation, a, b),
        Condition::Always(relation, a, b) => comparison("Always", *relation, a, b),
        other => format!("Condition::{other:?}"),
    }
}

fn comparison(name: &str, relation: Relation, a: &Expression, b: &Expression) -> String {
    format!("Condition::{name}(Relation::{relation:?}, {}, {})", expression(a), expression(b))
}
