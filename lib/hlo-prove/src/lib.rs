//! Proofs of the rewrite rules of `hlo-passes`.
//!
//! A clause of a rule replaces a pattern by another value. For each element type that its conditions admit,
//! [`check`] decides whether both have the same value for all operands:
//!
//! - If the variables have at most 16 bits together, the interpreter computes both for all values.
//! - Otherwise an SMT solver looks for values for which they differ. Integers are bit vectors and
//!   floating-point numbers are those of IEEE 754, so a proof covers overflow, infinities, NaN and signed
//!   zeros. All NaNs count as equal.
//! - If the solver does not decide in time, or has no such operation, the interpreter compares random values.
//!   The clause then counts as tested.
//!
//! Elementwise operations compute each element from the elements at the same index, so a proof for one element
//! is a proof for all sizes. The rewrite driver checks that a replacement has the shape of the pattern.

mod check;
mod index;
mod semantics;
mod solver;
mod types;

pub use check::{Comparison, Counterexample, Values, find_difference};
pub use solver::{Answer, Solver};
pub use types::{Typing, typings};

use hlo_passes::rewriting::{Clause, Rule, is_elementwise, validate};
use semantics::{Translation, Untranslated};

/// The result for a clause and an element type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The solver found no values for which both sides differ.
    Proved,
    /// The interpreter computed both sides for all values.
    Exhausted,
    /// No values of these types satisfy the condition.
    Vacuous,
    /// The interpreter found no difference in random values. Contains the reason why there is no proof.
    Tested(String),
    /// The interpreter computed different values.
    Refuted(Counterexample),
    /// The check itself failed. Contains the reason.
    Failed(String),
}

impl Verdict {
    /// Returns whether the verdict covers all values.
    pub fn is_proof(&self) -> bool {
        matches!(self, Verdict::Proved | Verdict::Exhausted | Verdict::Vacuous)
    }
}

/// The verdict for one clause and its element types.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The text of the clause.
    pub clause: String,
    /// The element types of the variables.
    pub types: String,
    /// The result.
    pub verdict: Verdict,
}

/// Compares the solver's definition of a clause's pattern with the interpreter for random values. Returns the
/// first values for which they differ, or `None` if they agree or the solver has no complete definition. The
/// number is that of compared values.
///
/// # Errors
/// The solver cannot be started, or the interpreter does not support the clause for these types.
pub fn compare_definition(
    clause: &Clause,
    typing: &Typing,
    solver: &Solver,
) -> Result<(usize, Option<String>), String> {
    /// Number of values. The solver needs more time for more.
    const ROWS: usize = 64;
    let mut values = check::random_values(clause, typing);
    values.iter_mut().for_each(|column| column.truncate(ROWS));
    let [expected, _] = check::both_sides(clause, typing, &values)?;
    let mut text = format!("{}\n", semantics::COMPLEX_SORTS);
    for (row, &expected) in expected.iter().enumerate() {
        let inputs = check::named(clause).zip(&values).map(|(v, column)| (v, column[row]));
        let mut translation = Translation::of_values(typing, inputs);
        let Ok(term) = translation.operation(&clause.pattern, typing.result) else { return Ok((0, None)) };
        if translation.is_abstract {
            return Ok((0, None));
        }
        let expected = semantics::value_of(typing.result, expected);
        let lines = translation.text;
        text.push_str(&format!("(push)\n{lines}(assert (not (= {term} {expected})))\n(check-sat)\n(pop)\n"));
    }
    let answers = solver.run(&text).map_err(|e| e.to_string())?;
    let answers: Vec<&str> = answers.lines().collect();
    let different = (0..expected.len()).find(|&row| answers.get(row) != Some(&"unsat"));
    let inputs = |row: usize| values.iter().map(|column| format!("{:#x}", column[row])).collect::<Vec<_>>();
    let describe = |row| format!("{}: {:?}", inputs(row).join(", "), answers.get(row));
    Ok((expected.len(), different.map(describe)))
}

/// Checks all clauses of a rule for all element types that they admit.
///
/// # Errors
/// The solver cannot be started.
pub fn check(rule: &Rule, solver: &Solver) -> std::io::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for clause in rule.clauses.iter() {
        let text = clause.text.to_string();
        let failed = |why: String| Finding {
            clause: text.clone(),
            types: String::new(),
            verdict: Verdict::Failed(why),
        };
        if let Err(why) = validate(clause) {
            findings.push(failed(why));
            continue;
        }
        if !is_elementwise(clause) {
            findings.push(index::check(clause, solver)?);
            continue;
        }
        let mut applies = false;
        for typing in typings(clause) {
            let verdict = check_typing(clause, &typing, solver)?;
            applies |= match verdict {
                Verdict::Vacuous => false,
                // A proof says nothing if the condition is never true.
                Verdict::Proved if !applies => has_values(clause, &typing, solver)?,
                _ => true,
            };
            findings.push(Finding { clause: text.clone(), types: typing.to_string(), verdict });
        }
        if !applies {
            findings.push(failed("no values of any element types satisfy the condition".to_string()));
        }
    }
    Ok(findings)
}

/// Returns whether the solver finds values that satisfy the condition of a clause.
fn has_values(clause: &Clause, typing: &Typing, solver: &Solver) -> std::io::Result<bool> {
    let mut translation = Translation::new(typing, check::named(clause), false);
    let Ok(condition) = translation.condition(&clause.condition) else { return Ok(true) };
    translation.line(&format!("(assert {condition})"));
    Ok(solver.ask(&translation.script(), &[])? != Answer::Unsatisfiable)
}

/// Number of bits of all variables together for which all values are computed, if the solver can also decide.
const FEW_BITS: u32 = 16;

/// Number of bits of all variables together for which all values are computed, if the solver cannot decide.
const MANY_BITS: u32 = 24;

/// Checks a clause for one typing.
///
/// # Errors
/// The solver cannot be started.
pub fn check_typing(clause: &Clause, typing: &Typing, solver: &Solver) -> std::io::Result<Verdict> {
    if let Some(verdict) = exhaust(clause, typing, FEW_BITS) {
        return Ok(verdict);
    }
    let mut reason = String::new();
    // A proof from facts is often faster. Without a proof, the solver gets the definitions.
    for by_facts in [true, false] {
        let question = match question(clause, typing, by_facts) {
            Ok(question) => question,
            Err(Untranslated(why)) => {
                reason = why;
                break;
            }
        };
        let names: Vec<String> = check::named(clause).map(|v| format!("b{v}")).collect();
        match solver.ask(&question.text, &names)? {
            Answer::Unsatisfiable => return Ok(Verdict::Proved),
            Answer::Satisfiable(values) => match confirmed(clause, typing, &values) {
                // A function of which the solver knows only facts differs from the function of its model.
                Verdict::Failed(_) if question.is_abstract => {
                    reason = "the solver knows too little about an operation".to_string();
                }
                verdict => return Ok(verdict),
            },
            Answer::Unknown(text) => match text.lines().next() {
                Some("unknown") => reason = "the solver does not decide in time".to_string(),
                Some(line) => return Ok(Verdict::Failed(format!("the solver printed: {line}"))),
                None => return Ok(Verdict::Failed("the solver printed nothing".to_string())),
            },
        }
    }
    if let Some(verdict) = exhaust(clause, typing, MANY_BITS) {
        return Ok(verdict);
    }
    Ok(match find_difference(clause, typing, &check::random_values(clause, typing)) {
        Ok(Comparison::Same) => Verdict::Tested(reason),
        Ok(Comparison::NoValues) => Verdict::Failed("no random values satisfy the condition".to_string()),
        Ok(Comparison::Different(found)) => Verdict::Refuted(found),
        Err(why) => Verdict::Failed(why),
    })
}

/// Computes both sides for all values, if the variables have at most `limit` bits together.
fn exhaust(clause: &Clause, typing: &Typing, limit: u32) -> Option<Verdict> {
    let mut verdict = Verdict::Vacuous;
    for values in check::all_values(clause, typing, limit)? {
        match find_difference(clause, typing, &values) {
            Ok(Comparison::NoValues) => {}
            Ok(Comparison::Same) => verdict = Verdict::Exhausted,
            Ok(Comparison::Different(found)) => return Some(Verdict::Refuted(found)),
            Err(why) => return Some(Verdict::Failed(why)),
        }
    }
    Some(verdict)
}

/// The text of a question to the solver.
struct Question {
    text: String,
    is_abstract: bool,
}

/// Returns the question whether both sides of a clause can differ.
///
/// # Errors
/// An operation or a type has no translation.
fn question(clause: &Clause, typing: &Typing, by_facts: bool) -> Result<Question, Untranslated> {
    let mut translation = Translation::new(typing, check::named(clause), by_facts);
    let pattern = translation.operation(&clause.pattern, typing.result)?;
    let replacement = translation.term(&clause.replacement, typing.result)?;
    let condition = translation.condition(&clause.condition)?;
    translation.line(&format!("(assert {condition})"));
    translation.line(&format!("(assert (not (= {pattern} {replacement})))"));
    Ok(Question { is_abstract: translation.is_abstract, text: translation.script() })
}

/// Computes both sides for the solver's values with the interpreter, which must find the same difference.
fn confirmed(clause: &Clause, typing: &Typing, values: &str) -> Verdict {
    let lines = values.lines().filter(|line| !line.is_empty());
    let row: Option<Values> = lines.map(|line| Some(vec![value_of(line)?])).collect();
    let Some(row) = row else { return Verdict::Failed(format!("the solver printed: {values}")) };
    match find_difference(clause, typing, &row) {
        Ok(Comparison::Different(found)) => Verdict::Refuted(found),
        Ok(_) => Verdict::Failed(format!("the interpreter finds no difference for {}", values.trim())),
        Err(why) => Verdict::Failed(why),
    }
}

/// Parses the solver's line for a value: `((b0 #x00ff))`.
fn value_of(line: &str) -> Option<u128> {
    let value = line.trim().trim_start_matches('(').trim_end_matches(')').split_whitespace().nth(1)?;
    match value {
        "true" => Some(1),
        "false" => Some(0),
        _ => match value.strip_prefix("#x") {
            Some(digits) => u128::from_str_radix(digits, 16).ok(),
            None => u128::from_str_radix(value.strip_prefix("#b")?, 2).ok(),
        },
    }
}
