//! Parses rewrite rules. `grammar/rules.pest` finds the words, and this module resolves them.

use super::{Condition, Direction, Expression, RuleError, Text, Value};
use pest::Parser as _;
use pest::iterators::Pair;
use std::collections::{HashMap, HashSet};

type Rule = super::Rule<Text>;
type Clause = super::Clause<Text>;
type Term = super::Term<Text>;
type Operation = super::Operation<Text>;

mod expressions;
mod text;

mod grammar {
    #[derive(pest_derive::Parser)]
    #[grammar = "../../grammar/rules.pest"]
    pub struct Grammar;
}
use grammar::{Grammar, Rule as Part};

type Result<T> = std::result::Result<T, RuleError>;

/// Maximum number of clauses that the choices of one clause produce.
const MAX_CHOICES: usize = 64;

/// Maximum number of operations and expressions inside each other. The proofs examine a part again for each that
/// contains it.
const MAX_NESTING: usize = 16;

/// The name of the instruction that the pattern matches.
const RESULT: &str = "result";

/// The name of the list 0, 1, 2, ….
const INDEX: &str = "index";

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
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth = depth.saturating_sub(1),
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
    RuleError {
        line,
        message: error.clone().renamed_rules(|part| words(*part).to_string()).variant.message().into_owned(),
    }
}

/// Returns a part of the grammar in words.
fn words(part: Part) -> &'static str {
    match part {
        Part::EOI => "another rule",
        Part::rule | Part::name => "the name of a rule",
        Part::clause | Part::pattern => "a pattern",
        Part::term | Part::application => "a term",
        Part::computed => "`[`",
        Part::attributes => "`{`",
        Part::at => "`[`",
        Part::once => "`once`",
        Part::choice => "a choice such as `op in add | multiply`",
        Part::condition | Part::any | Part::test | Part::predicate => "a condition",
        Part::not => "`!`",
        Part::comparison => "a comparison",
        Part::always => "`always`",
        Part::some => "`some`",
        Part::relation => "`<`, `<=` or `==`",
        Part::expression | Part::product | Part::factor | Part::choose | Part::call => "a number or a list",
        Part::sum_sign => "`+` or `-`",
        Part::product_sign => "`*`, `/` or `%`",
        Part::word => "a name",
        Part::number => "a number",
        Part::rest => "a list of operands such as `i...`",
        Part::file | Part::choose_word | Part::WHITESPACE | Part::COMMENT | Part::blank => "rules",
    }
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
    lists: Vec<String>,
    rests: Vec<String>,
    /// The variable of the instruction that the pattern matches, if the clause has the word `result`.
    result: Option<usize>,
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
        if self.variables.is_empty() && self.lists.is_empty() {
            return Err(error(&pair, "expected a pattern with a variable"));
        }
        let text = format!("{} → {}", self.text_of(&pattern), self.text(&replacement)).into();
        pattern.bound = self.result;
        self.reuse(&mut pattern, &mut replacement, true);
        if let Some(result) = self.result {
            // A variable without a name is a part of the pattern.
            self.variables[result].clear();
        }
        let texts = |names: Vec<String>| names.into_iter().map(Text::Owned).collect::<Vec<Text>>().into();
        Ok(Clause {
            line: pair.line_col().0,
            text,
            pattern,
            replacement,
            condition,
            variables: texts(self.variables),
            lists: texts(self.lists),
            rests: texts(self.rests),
        })
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
            Part::rest => self.rest(inner),
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
        if name == RESULT && !self.in_pattern {
            self.variables.push(name.to_string());
            self.result = Some(self.variables.len() - 1);
            return Ok(self.variables.len() - 1);
        }
        if !self.in_pattern || name == RESULT {
            return Err(error(pair, format!("expected a variable of the pattern, found `{name}`")));
        }
        self.is_free(pair, name)?;
        self.variables.push(name.to_string());
        Ok(self.variables.len() - 1)
    }

    /// Checks that a name is not used for a value of another kind.
    fn is_free(&self, pair: &Pair<'t, Part>, name: &str) -> Result<()> {
        let all = [&self.variables, &self.lists, &self.rests];
        if all.into_iter().flatten().any(|known| known == name) {
            return Err(error(pair, format!("`{name}` is used for values of two kinds")));
        }
        Ok(())
    }

    /// Reads all other operands: `i...` or `i[p]...`.
    fn rest(&mut self, pair: Pair<'t, Part>) -> Result<Term> {
        let mut parts = pair.clone().into_inner();
        let name = parts.next().map(|word| word.as_str()).unwrap_or_default();
        let at = parts.next().and_then(|at| at.into_inner().next());
        if self.in_pattern && at.is_some() {
            return Err(error(&pair, "a pattern contains all other operands, and no selection of them"));
        }
        let at = at.map(|at| self.expression(at)).transpose()?;
        let known = self.rests.iter().position(|rest| rest == name);
        let rest = match known {
            Some(rest) => rest,
            None if self.in_pattern => {
                self.is_free(&pair, name)?;
                self.rests.push(name.to_string());
                self.rests.len() - 1
            }
            None => return Err(error(&pair, format!("expected operands of the pattern, found `{name}...`"))),
        };
        Ok(Term::Rest(rest, at.into_iter().collect::<Vec<_>>().into()))
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
        let attributes = parts.first().filter(|part| part.as_rule() == Part::attributes).cloned();
        if attributes.is_some() {
            parts.remove(0);
        }
        if name == "convert" && !self.in_pattern {
            let message = "a replacement cannot contain `convert`, whose type would not be known";
            return Err(error(&at, message));
        }
        let operands = parts.into_iter().map(|part| self.term(part)).collect::<Result<Vec<_>>>()?;
        if operands.iter().rev().skip(1).any(|operand| matches!(operand, Term::Rest(..))) {
            return Err(error(&at, "other operands are the last ones"));
        }
        if self.in_pattern && attributes.as_ref().is_some_and(|all| all.clone().into_inner().next().is_none())
        {
            return Err(error(&at, "a pattern contains all lists of numbers of an operation, or no braces"));
        }
        let numbers = attributes.into_iter().flat_map(Pair::into_inner);
        let numbers = numbers.map(|part| self.numbers(part)).collect::<Result<Vec<_>>>()?;
        let opcode = Text::Owned(name.to_string());
        let (numbers, operands) = (numbers.into(), operands.into());
        Ok(Operation { opcode, numbers, operands, direction, once, bound: None })
    }

    /// Reads the numbers of an attribute. In a pattern, a new name is a new list.
    fn numbers(&mut self, pair: Pair<'t, Part>) -> Result<Expression> {
        let name = pair.as_str().trim();
        let is_word = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
            && name.starts_with(|c: char| c.is_ascii_alphabetic());
        if self.in_pattern && is_word && name != INDEX && !self.lists.iter().any(|list| list == name) {
            self.is_free(&pair, name)?;
            self.lists.push(name.to_string());
        }
        self.expression(pair)
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

    /// Binds operations of the pattern that the replacement also contains, so that it uses them again.
    fn reuse(&mut self, pattern: &mut Operation, replacement: &mut Term, is_root: bool) {
        for operand in pattern.operands.to_mut() {
            if let Term::Operation(inner) = operand {
                self.reuse(inner, replacement, false);
            }
        }
        // The sizes of these do not follow from the operands, so the same operation can be another value.
        let is_sized = !matches!(&*pattern.opcode, "broadcast" | "reshape" | "iota" | "convert");
        if is_root || !is_sized {
            return;
        }
        let plain = Operation { once: false, bound: None, ..unbound(pattern) };
        let next = self.variables.len();
        if replace(replacement, &Term::Operation(plain), &Term::Variable(next)) {
            pattern.bound = Some(next);
            self.variables.push(String::new());
        }
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

fn number(pair: &Pair<'_, Part>) -> Result<Value> {
    let text = pair.as_str();
    let value = if text.contains('.') {
        text.parse().ok().map(Value::Float)
    } else {
        text.parse().ok().map(Value::Integer)
    };
    value.ok_or_else(|| error(pair, format!("expected a number of 64 bits, found `{text}`")))
}

fn direction(name: &str) -> Option<Direction> {
    use Direction::*;
    [Eq, Ne, Ge, Gt, Le, Lt].into_iter().find(|d| text::word(*d) == name)
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
