//! Parses rewrite rules. `grammar/rules.pest` finds the words, and this module resolves them.

use super::{Arithmetic, Condition, Direction, Expression, RuleError, Text, TypeClass, Value};
use pest::Parser as _;
use pest::iterators::Pair;
use std::collections::{HashMap, HashSet};

type Rule = super::Rule<Text>;
type Clause = super::Clause<Text>;
type Term = super::Term<Text>;
type Operation = super::Operation<Text>;

mod grammar {
    #[derive(pest_derive::Parser)]
    #[grammar = "../../grammar/rules.pest"]
    pub struct Grammar;
}
use grammar::{Grammar, Rule as Part};

type Result<T> = std::result::Result<T, RuleError>;

/// Maximum number of clauses that the choices of one clause produce.
const MAX_CHOICES: usize = 64;

/// Maximum number of operations inside each other. The parser uses stack space for each.
const MAX_NESTING: usize = 64;

/// Maximum number of operands and operators of an expression. The functions that examine it recurse for each.
const MAX_TERMS: usize = 32;

/// Parses a text of rules.
///
/// # Errors
/// The first error of syntax, or the first name that is not known.
pub fn parse(text: &str) -> Result<Vec<Rule>> {
    check_nesting(text)?;
    let mut file = Grammar::parse(Part::file, text).map_err(|e| syntax_error(&e))?;
    let parts = file.next().into_iter().flat_map(Pair::into_inner);
    let mut rules: Vec<Rule> = Vec::new();
    let mut names = HashSet::new();
    for pair in parts.filter(|pair| pair.as_rule() == Part::rule) {
        let rule = rule(pair.clone())?;
        if !names.insert(rule.name.clone()) {
            return Err(error(&pair, format!("there is another rule with the name `{}`", rule.name)));
        }
        rules.push(rule);
    }
    Ok(rules)
}

/// Checks that operations are not nested too deeply.
fn check_nesting(text: &str) -> Result<()> {
    let mut depth = 0usize;
    for (n, line) in text.lines().enumerate() {
        let line = line.split("//").next().unwrap_or_default();
        for byte in line.bytes() {
            match byte {
                b'(' => depth += 1,
                b')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth > MAX_NESTING {
                let message = format!("expected at most {MAX_NESTING} operations inside each other");
                return Err(RuleError { line: n + 1, message });
            }
        }
    }
    Ok(())
}

/// Converts an error of the grammar.
fn syntax_error(error: &pest::error::Error<Part>) -> RuleError {
    let line = match error.line_col {
        pest::error::LineColLocation::Pos((line, _)) | pest::error::LineColLocation::Span((line, _), _) => {
            line
        }
    };
    RuleError { line, message: error.variant.message().into_owned() }
}

/// Returns an error at a part of the text.
fn error(at: &Pair<'_, Part>, message: impl Into<String>) -> RuleError {
    RuleError { line: at.line_col().0, message: message.into() }
}

/// Returns the text in one line, without comments, and with `→` for `=>`.
fn one_line(text: &str) -> String {
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    words.join(" ").replace("=>", "→")
}

fn rule(pair: Pair<'_, Part>) -> Result<Rule> {
    let mut parts = pair.into_inner();
    let name = parts.next().map_or_else(String::new, |name| name.as_str().to_string());
    let (mut lines, mut clauses) = (Vec::new(), Vec::new());
    for pair in parts {
        lines.push(Text::Owned(one_line(pair.as_str())));
        for choice in choices(&pair)? {
            clauses.push(Reader { choice, ..Reader::default() }.clause(pair.clone())?);
        }
    }
    let summary = lines.join("; ").into();
    Ok(Rule { name: name.into(), summary, lines: lines.into(), clauses: clauses.into() })
}

/// The words that the variables of a `for` stand for.
type Choice<'t> = HashMap<&'t str, &'t str>;

/// Returns all combinations of the words after `for`.
fn choices<'t>(clause: &Pair<'t, Part>) -> Result<Vec<Choice<'t>>> {
    let mut all = vec![Choice::new()];
    for pair in clause.clone().into_inner().filter(|pair| pair.as_rule() == Part::choice) {
        let mut words = pair.clone().into_inner().map(|word| word.as_str());
        let variable = words.next().unwrap_or_default();
        let words: Vec<&str> = words.collect();
        let with = |choice: &Choice<'t>, word| {
            let mut choice = choice.clone();
            choice.insert(variable, word);
            choice
        };
        all = all.iter().flat_map(|choice| words.iter().map(|word| with(choice, *word))).collect();
        if all.len() > MAX_CHOICES {
            return Err(error(&pair, format!("expected at most {MAX_CHOICES} combinations of choices")));
        }
    }
    Ok(all)
}

/// Reads a clause for one combination of its choices.
#[derive(Default)]
struct Reader<'t> {
    choice: Choice<'t>,
    variables: Vec<String>,
    /// Whether the terms are part of the pattern, where a new name is a new variable.
    in_pattern: bool,
}

impl<'t> Reader<'t> {
    fn clause(mut self, pair: Pair<'t, Part>) -> Result<Clause> {
        let (mut pattern, mut replacement, mut condition) = (None, None, Condition::All(Vec::new().into()));
        for part in pair.clone().into_inner() {
            match part.as_rule() {
                Part::pattern => {
                    self.in_pattern = true;
                    pattern = part.into_inner().next().map(|term| self.term(term)).transpose()?;
                    self.in_pattern = false;
                }
                Part::term => replacement = Some(self.term(part)?),
                Part::condition => condition = self.condition(part)?,
                _ => {}
            }
        }
        let (Some(Term::Operation(mut pattern)), Some(mut replacement)) = (pattern, replacement) else {
            return Err(error(&pair, "expected an operation as the pattern"));
        };
        if pattern.once || has_once(&replacement) {
            return Err(error(&pair, "`once` belongs in front of an operand of the pattern"));
        }
        if self.variables.is_empty() {
            return Err(error(&pair, "expected a pattern with a variable"));
        }
        let text = format!("{} → {}", self.text_of(&pattern), self.text(&replacement));
        self.reuse(&mut pattern, &mut replacement, true);
        let variables: Vec<Text> = self.variables.into_iter().map(Text::Owned).collect();
        let (line, text) = (pair.line_col().0, text.into());
        Ok(Clause { line, text, pattern, replacement, condition, variables: variables.into() })
    }

    /// Returns the word, or the word that it stands for.
    fn chosen(&self, word: &'t str) -> &'t str {
        self.choice.get(word).copied().unwrap_or(word)
    }

    fn term(&mut self, pair: Pair<'t, Part>) -> Result<Term> {
        let Some(inner) = pair.clone().into_inner().next() else {
            return Err(error(&pair, "expected a term"));
        };
        match inner.as_rule() {
            Part::application => self.application(inner).map(Term::Operation),
            Part::number => number(&inner).map(Term::Literal),
            Part::computed if self.in_pattern => {
                Err(error(&inner, "a pattern contains constants and variables, and no expression"))
            }
            Part::computed => {
                let expression = inner.clone().into_inner().next();
                let expression = expression.ok_or_else(|| error(&inner, "expected an expression"))?;
                self.expression(expression).map(Term::Computed)
            }
            _ => Ok(match inner.as_str() {
                "true" => Term::Literal(Value::Pred(true)),
                "false" => Term::Literal(Value::Pred(false)),
                "lowest" => Term::Literal(Value::Lowest),
                "highest" => Term::Literal(Value::Highest),
                "ones" => Term::Literal(Value::Ones),
                _ => Term::Variable(self.variable(&inner)?),
            }),
        }
    }

    /// Returns the index of a variable. In the pattern, a new name is a new variable.
    fn variable(&mut self, pair: &Pair<'t, Part>) -> Result<usize> {
        let name = pair.as_str();
        if let Some(known) = self.variables.iter().position(|v| v == name) {
            return Ok(known);
        }
        if !self.in_pattern {
            return Err(error(pair, format!("expected a variable of the pattern, found `{name}`")));
        }
        self.variables.push(name.to_string());
        Ok(self.variables.len() - 1)
    }

    fn application(&mut self, pair: Pair<'t, Part>) -> Result<Operation> {
        let at = pair.clone();
        let mut parts: Vec<Pair<'t, Part>> = pair.into_inner().collect();
        let once = parts.first().is_some_and(|part| part.as_rule() == Part::once);
        if once {
            parts.remove(0);
        }
        let name = self.chosen(parts.remove(0).as_str());
        let mut direction = None;
        if name == "compare"
            && let Some(last) = parts.pop()
        {
            direction = Some(self.direction(&last)?);
        }
        if name == "convert" && !self.in_pattern {
            let message = "a replacement cannot contain `convert`, whose type would not be known";
            return Err(error(&at, message));
        }
        let operands = parts.into_iter().map(|part| self.term(part)).collect::<Result<Vec<_>>>()?;
        let opcode = Text::Owned(name.to_string());
        Ok(Operation { opcode, operands: operands.into(), direction, once, bound: None })
    }

    /// Reads the direction of a comparison: `EQ`, a choice, `inverted(d)` or `flipped(d)`.
    fn direction(&self, pair: &Pair<'t, Part>) -> Result<Direction> {
        let text = pair.as_str();
        let found = match text.strip_suffix(')').and_then(|text| text.split_once('(')) {
            Some((function, inner)) => {
                let direction = direction(self.chosen(inner.trim()));
                match function.trim() {
                    "inverted" => direction.map(inverted),
                    "flipped" => direction.map(flipped),
                    _ => None,
                }
            }
            None => direction(self.chosen(text)),
        };
        found.ok_or_else(|| error(pair, format!("expected the direction of a comparison, found `{text}`")))
    }

    fn condition(&mut self, pair: Pair<'t, Part>) -> Result<Condition> {
        let all = pair.into_inner().map(|any| {
            let any = any.into_inner().map(|test| self.test(test)).collect::<Result<Vec<_>>>()?;
            Ok(one_or(any, |any| Condition::Any(any.into())))
        });
        Ok(one_or(all.collect::<Result<Vec<_>>>()?, |all| Condition::All(all.into())))
    }

    fn test(&mut self, pair: Pair<'t, Part>) -> Result<Condition> {
        let at = pair.clone();
        let mut parts: Vec<_> = pair.into_inner().collect();
        let not = parts.len() > 1;
        let condition = match parts.pop() {
            Some(part) if part.as_rule() == Part::comparison => self.comparison(part)?,
            Some(part) => self.predicate(part)?,
            None => Condition::All(Vec::new().into()),
        };
        if not && matches!(condition, Condition::Always(..)) {
            // A range that is not known does not say that an element is outside of it.
            return Err(error(&at, "`always` cannot be negated"));
        }
        Ok(if not { Condition::Not(vec![condition].into()) } else { condition })
    }

    fn comparison(&mut self, pair: Pair<'t, Part>) -> Result<Condition> {
        let mut parts: Vec<_> = pair.clone().into_inner().collect();
        let always = parts.first().is_some_and(|part| part.as_rule() == Part::always);
        if always {
            parts.remove(0);
        }
        let [low, relation, high] = &parts[..] else { return Err(error(&pair, "expected a comparison")) };
        let or_equal = relation.as_str() == "<=";
        let (low, high) = (self.expression(low.clone())?, self.expression(high.clone())?);
        Ok(if always {
            Condition::Always(low, high, or_equal)
        } else {
            Condition::Below(low, high, or_equal)
        })
    }

    /// Reads sums and products. Operators associate to the left.
    fn expression(&mut self, pair: Pair<'t, Part>) -> Result<Expression> {
        if pair.clone().into_inner().count() > MAX_TERMS {
            return Err(error(
                &pair,
                format!("expected at most {} operands of an expression", MAX_TERMS / 2),
            ));
        }
        let mut result: Option<Expression> = None;
        let mut arithmetic = Arithmetic::Add;
        for part in pair.clone().into_inner() {
            let next = match part.as_rule() {
                Part::sum_sign | Part::product_sign => {
                    arithmetic = match part.as_str() {
                        "+" => Arithmetic::Add,
                        "-" => Arithmetic::Subtract,
                        "*" => Arithmetic::Multiply,
                        _ => Arithmetic::Remainder,
                    };
                    continue;
                }
                Part::product => self.expression(part)?,
                _ => self.factor(part)?,
            };
            result = Some(match result {
                Some(left) => Expression::Result(arithmetic, vec![left, next].into()),
                None => next,
            });
        }
        result.ok_or_else(|| error(&pair, "expected an expression"))
    }

    fn factor(&mut self, pair: Pair<'t, Part>) -> Result<Expression> {
        let parts: Vec<_> = pair.clone().into_inner().collect();
        match &parts[..] {
            [part] if part.as_rule() == Part::number => match number(part)? {
                Value::Integer(value) => Ok(Expression::Integer(value)),
                _ => Err(error(part, "expected an integer")),
            },
            [variable] => Ok(Expression::Variable(self.variable(variable)?)),
            [function, operand] => {
                let operand = self.expression(operand.clone())?;
                match (function.as_str(), operand) {
                    ("log2", operand) if has_log2(&operand) => {
                        Err(error(function, "`log2` of an expression with `log2` is not supported"))
                    }
                    ("log2", operand) => Ok(Expression::Log2(vec![operand].into())),
                    ("width", Expression::Variable(v)) => Ok(Expression::Width(v)),
                    ("lowest", Expression::Variable(v)) => Ok(Expression::Lowest(v)),
                    ("highest", Expression::Variable(v)) => Ok(Expression::Highest(v)),
                    ("reciprocal", Expression::Variable(v)) => Ok(Expression::Reciprocal(v)),
                    _ => {
                        let found = pair.as_str().trim();
                        Err(error(function, format!("expected a function of constants, found `{found}`")))
                    }
                }
            }
            _ => Err(error(&pair, "expected a number")),
        }
    }

    fn predicate(&mut self, pair: Pair<'t, Part>) -> Result<Condition> {
        let mut parts = pair.clone().into_inner();
        let name = parts.next().map(|word| word.as_str()).unwrap_or_default();
        let variables = parts.map(|word| self.variable(&word)).collect::<Result<Vec<_>>>()?;
        let class = TypeClass::ALL.iter().find(|(word, _)| *word == name);
        match (name, &variables[..]) {
            (_, &[variable]) if class.is_some() => {
                Ok(Condition::Type(class.map_or(TypeClass::Integer, |class| class.1), variable))
            }
            ("constant", &[variable]) => Ok(Condition::Constant(variable)),
            ("same-type", &[a, b]) => Ok(Condition::SameType(a, b)),
            ("same-sizes", &[a, b]) => Ok(Condition::SameSizes(a, b)),
            ("same-opcode", &[a, b]) => Ok(Condition::SameOpcode(a, b)),
            ("ordered", []) => Ok(Condition::Ordered),
            ("by-integer", []) => Ok(Condition::ByInteger),
            ("by-value", []) => Ok(Condition::ByValue),
            _ => Err(error(&pair, format!("expected a condition, found `{}`", pair.as_str()))),
        }
    }

    /// Binds operations of the pattern that the replacement also contains, so that it uses them again.
    fn reuse(&mut self, pattern: &mut Operation, replacement: &mut Term, is_root: bool) {
        for operand in pattern.operands.to_mut() {
            if let Term::Operation(inner) = operand {
                self.reuse(inner, replacement, false);
            }
        }
        if is_root {
            return;
        }
        let plain = Operation { once: false, bound: None, ..unbound(pattern) };
        let next = self.variables.len();
        if replace(replacement, &Term::Operation(plain), &Term::Variable(next)) {
            pattern.bound = Some(next);
            self.variables.push(String::new());
        }
    }

    fn text(&self, term: &Term) -> String {
        match term {
            Term::Variable(v) => self.variables[*v].clone(),
            Term::Literal(Value::Integer(n)) => n.to_string(),
            Term::Literal(Value::Float(x)) => format!("{x:?}"),
            Term::Literal(Value::Pred(p)) => p.to_string(),
            Term::Literal(Value::Lowest) => "lowest".to_string(),
            Term::Literal(Value::Highest) => "highest".to_string(),
            Term::Literal(Value::Ones) => "ones".to_string(),
            Term::Computed(expression) => format!("[{}]", self.text_of_expression(expression)),
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
            Expression::Log2(operand) => {
                let operand: Vec<String> = operand.iter().map(|o| self.text_of_expression(o)).collect();
                format!("log2({})", operand.concat())
            }
            Expression::Reciprocal(v) => format!("reciprocal({})", self.variables[*v]),
            Expression::Result(arithmetic, operands) => {
                let sign = match arithmetic {
                    Arithmetic::Add => " + ",
                    Arithmetic::Subtract => " - ",
                    Arithmetic::Multiply => " * ",
                    Arithmetic::Remainder => " % ",
                };
                let operands: Vec<String> = operands.iter().map(|o| self.text_of_expression(o)).collect();
                operands.join(sign)
            }
        }
    }

    fn text_of(&self, operation: &Operation) -> String {
        let mut operands: Vec<String> = operation.operands.iter().map(|o| self.text(o)).collect();
        operands.extend(operation.direction.map(|d| word(d).to_string()));
        format!("{}({})", operation.opcode, operands.join(", "))
    }
}

/// Returns whether an expression contains `log2`.
fn has_log2(expression: &Expression) -> bool {
    match expression {
        Expression::Log2(_) => true,
        Expression::Result(_, operands) => operands.iter().any(has_log2),
        _ => false,
    }
}

/// Returns whether a term contains an operation with `once`.
fn has_once(term: &Term) -> bool {
    match term {
        Term::Operation(operation) => operation.once || operation.operands.iter().any(has_once),
        _ => false,
    }
}

/// Returns the operation without its bindings, as the replacement contains it.
fn unbound(operation: &Operation) -> Operation {
    let operands = operation.operands.iter().map(|operand| match operand {
        Term::Operation(inner) => Term::Operation(unbound(inner)),
        other => other.clone(),
    });
    let operands: Vec<Term> = operands.collect();
    Operation { operands: operands.into(), once: false, bound: None, ..operation.clone() }
}

/// Replaces all occurrences of `old` in a term. Returns whether there were any.
fn replace(term: &mut Term, old: &Term, new: &Term) -> bool {
    if term == old {
        *term = new.clone();
        return true;
    }
    match term {
        Term::Operation(operation) => {
            let mut any = false;
            for operand in operation.operands.to_mut() {
                any |= replace(operand, old, new);
            }
            any
        }
        _ => false,
    }
}

/// Returns the only condition of a list, or the list as one condition.
fn one_or(mut list: Vec<Condition>, all: fn(Vec<Condition>) -> Condition) -> Condition {
    match list.len() {
        1 => list.remove(0),
        _ => all(list),
    }
}

fn number(pair: &Pair<'_, Part>) -> Result<Value> {
    let text = pair.as_str();
    let value = if text.contains('.') {
        text.parse().ok().map(Value::Float)
    } else {
        text.parse().ok().map(Value::Integer)
    };
    value.ok_or_else(|| error(pair, format!("expected a number of 64 bits, found `{text}`")))
}

/// Returns the word of a direction in HLO text.
fn word(direction: Direction) -> &'static str {
    match direction {
        Direction::Eq => "EQ",
        Direction::Ne => "NE",
        Direction::Ge => "GE",
        Direction::Gt => "GT",
        Direction::Le => "LE",
        Direction::Lt => "LT",
    }
}

fn direction(text: &str) -> Option<Direction> {
    use Direction::*;
    [Eq, Ne, Ge, Gt, Le, Lt].into_iter().find(|d| word(*d) == text)
}

/// Returns the direction that is true exactly where this one is false, without NaN.
fn inverted(direction: Direction) -> Direction {
    use Direction::*;
    match direction {
        Eq => Ne,
        Ne => Eq,
        Ge => Lt,
        Lt => Ge,
        Gt => Le,
        Le => Gt,
    }
}

/// Returns the direction for exchanged operands.
fn flipped(direction: Direction) -> Direction {
    use Direction::*;
    match direction {
        Eq => Eq,
        Ne => Ne,
        Lt => Gt,
        Gt => Lt,
        Le => Ge,
        Ge => Le,
    }
}
