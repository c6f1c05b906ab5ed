//! Proofs of rules that move elements, for all sizes.
//!
//! An [`instance`] of a pattern has arrays of given ranks. Sizes, ranges and padding are integers of the solver, and
//! so is the index of an element of the result. The solver looks for integers for which the element that the
//! pattern contains differs from that of the replacement ([`read`]). All ranks up to [`MAX_RANK`] are
//! checked, with all sets and orders of dimensions. [`ranks`] decides whether these suffice. For some
//! instances, [`program`] also runs the rewrite driver and the interpreter, so that a proof does not depend on
//! the translation alone.
//!
//! TensorRight (POPL 2025) proves rules of XLA's algebraic simplifier in a similar way.

mod instance;
mod number;
mod program;
mod ranks;
mod read;

use crate::semantics::Untranslated;
use crate::{Answer, Counterexample, Finding, Solver, Verdict};
use hlo_ir::Opcode;
use hlo_ir::print::print_literal;
use hlo_passes::rewriting::{Clause, Expression};
use instance::{Instance, MAX_RANK, Node, instances};
use number::Number;
use program::{Values, run, terms};
use read::Reader;
use std::rc::Rc;

/// Maximum number of instances of a clause for which the driver and the interpreter run.
const MAX_RUNS: usize = 8;

/// Bounds of the integers of small counterexamples, in the order in which they are tried.
const BOUNDS: [i64; 3] = [3, 8, 32];

/// Checks a clause for all instances of its pattern.
///
/// # Errors
/// The solver cannot be started.
pub fn check(clause: &Clause, solver: &Solver) -> std::io::Result<Finding> {
    let finding = |types: String, verdict| Finding { clause: clause.text.to_string(), types, verdict };
    let cases = match cases(clause) {
        Ok(cases) => cases,
        Err(Untranslated(why)) => return Ok(finding(String::new(), Verdict::Failed(why))),
    };
    let types = format!("{} forms, ranks to {MAX_RANK}", cases.len());
    let mut verdict = match ranks::suffice(clause) {
        Ok(()) => Verdict::Proved,
        Err(why) => Verdict::Tested(format!("only ranks to {MAX_RANK} are checked, because {why}")),
    };
    for case in &cases {
        match case.decide(clause, solver)? {
            Verdict::Proved => {}
            tested @ Verdict::Tested(_) => verdict = tested,
            other => return Ok(finding(types, other)),
        }
    }
    // The driver must apply the clause to what the solver was asked about.
    let mut runs = 0;
    for case in cases.iter().rev() {
        if runs == MAX_RUNS {
            break;
        }
        let Some(values) = case.example(solver)? else { continue };
        match case.compared(clause, &values) {
            Ok(None) => runs += 1,
            Ok(Some(found)) => return Ok(finding(types, Verdict::Refuted(found))),
            Err(why) => return Ok(finding(types, Verdict::Failed(why))),
        }
    }
    if runs == 0 {
        let why = "the clause applies to no arrays".to_string();
        return Ok(finding(types, Verdict::Failed(why)));
    }
    Ok(finding(types, verdict))
}

/// An instance, and the question whether both sides differ.
struct Case {
    root: Rc<Node>,
    /// The terms of the instance.
    terms: Vec<String>,
    /// Whether the clause needs the values of starts of windows.
    constant_starts: bool,
    /// Number of integers of the instance.
    integers: usize,
    /// The declarations, and the formulas that are true if the clause applies.
    premises: String,
    /// The formula that an element of the result differs.
    differ: String,
}

/// Returns the cases of a clause: the instances to which it may apply.
fn cases(clause: &Clause) -> Result<Vec<Case>, Untranslated> {
    let by_position = clause.operations().iter().any(|operation| operation.opcode == Opcode::Reshape);
    let constant_starts = reads_starts(clause);
    let mut cases = Vec::new();
    for (mut instance, root) in instances(clause)? {
        let condition = instance.condition(&clause.condition)?.unwrap_or_else(|| "true".to_string());
        if condition == "false" {
            continue;
        }
        instance.constraints.push(condition);
        let Some(replacement) = instance.replacement(&clause.replacement, &root.dims)? else { continue };
        // The driver checks that the shapes are equal. It repeats a scalar, such as a constant.
        if !replacement.dims.is_empty() {
            match number::same_list(&root.dims, &replacement.dims).as_str() {
                "false" => continue,
                formula => instance.constraints.push(formula.to_string()),
            }
        }
        let index: Vec<Number> = (0..root.dims.len()).map(|d| Number::Term(format!("k{d}"))).collect();
        let mut reader = Reader::new(by_position);
        let differ = reader.differ(&root, &replacement, &index)?;
        let premises = premises(&instance, &reader, &root, &index);
        let mut all = Vec::new();
        terms(&root, &mut all);
        let integers = instance.integers;
        cases.push(Case { root, terms: all, constant_starts, integers, premises, differ });
    }
    Ok(cases)
}

fn premises(instance: &Instance, reader: &Reader, root: &Node, index: &[Number]) -> String {
    let mut text = reader.declarations();
    (0..instance.integers).for_each(|n| text.push_str(&format!("(declare-const n{n} Int)\n")));
    (0..index.len()).for_each(|d| text.push_str(&format!("(declare-const k{d} Int)\n")));
    let bounds = index.iter().zip(&root.dims).map(|(k, size)| k.is_below(size));
    for formula in instance.constraints.iter().chain(&reader.formulas).cloned().chain(bounds) {
        text.push_str(&format!("(assert {formula})\n"));
    }
    text
}

impl Case {
    /// Decides whether both sides can differ.
    fn decide(&self, clause: &Clause, solver: &Solver) -> std::io::Result<Verdict> {
        if self.differ == "false" {
            return Ok(Verdict::Proved);
        }
        let question = format!("{}(assert {})\n", self.premises, self.differ);
        let answer = solver.ask(&question, &[])?;
        if answer == Answer::Unsatisfiable {
            return Ok(Verdict::Proved);
        }
        let mut bounded = false;
        for bound in BOUNDS {
            let question = format!("{question}{}", self.bounded(bound));
            match self.values(&question, solver)? {
                Answer::Unsatisfiable => bounded = true,
                Answer::Unknown(_) => break,
                Answer::Satisfiable(values) => {
                    return Ok(match self.compared(clause, &self.parsed(&values)) {
                        Ok(Some(found)) => Verdict::Refuted(found),
                        Ok(None) => Verdict::Failed(format!("the interpreter finds no difference: {values}")),
                        Err(why) => Verdict::Failed(why),
                    });
                }
            }
        }
        Ok(match answer {
            Answer::Unknown(_) if bounded => {
                Verdict::Tested("the solver decides in time only for small sizes".to_string())
            }
            Answer::Unknown(text) => Verdict::Failed(format!("the solver does not decide: {}", text.trim())),
            _ => Verdict::Failed("the counterexample is too large".to_string()),
        })
    }

    /// Returns the formulas that all integers have at most this magnitude.
    fn bounded(&self, bound: i64) -> String {
        let bounded = |n| format!("(assert (and (<= (- {bound}) n{n}) (<= n{n} {bound})))\n");
        (0..self.integers).map(bounded).collect()
    }

    /// Asks for the values of the terms of the instance.
    fn values(&self, question: &str, solver: &Solver) -> std::io::Result<Answer> {
        let mut text = question.to_string();
        for (n, term) in self.terms.iter().enumerate() {
            text.push_str(&format!("(define-fun q{n} () Int {term})\n"));
        }
        let names: Vec<String> = (0..self.terms.len()).map(|n| format!("q{n}")).collect();
        solver.ask(&text, &names)
    }

    /// Parses the solver's values: `((q0 3))`, `((q1 (- 2)))`.
    fn parsed(&self, values: &str) -> Values {
        let number = |line: &str| -> Option<i128> {
            let line = line.trim().strip_prefix("((")?.strip_suffix("))")?;
            let (_, value) = line.split_once(' ')?;
            match value.strip_prefix("(- ") {
                Some(value) => value.strip_suffix(')')?.parse::<i128>().ok().map(|n| -n),
                None => value.parse().ok(),
            }
        };
        let lines = values.lines().filter(|line| line.trim_start().starts_with("((q"));
        self.terms.iter().cloned().zip(lines).filter_map(|(term, line)| Some((term, number(line)?))).collect()
    }

    /// Returns small sizes and numbers to which the clause applies, if the solver finds some.
    fn example(&self, solver: &Solver) -> std::io::Result<Option<Values>> {
        for bound in BOUNDS {
            let question = format!("{}{}", self.premises, self.bounded(bound));
            match self.values(&question, solver)? {
                Answer::Satisfiable(values) => return Ok(Some(self.parsed(&values))),
                Answer::Unsatisfiable => {}
                Answer::Unknown(_) => break,
            }
        }
        Ok(None)
    }

    /// Runs the driver and the interpreter. Returns the values of both sides if they differ.
    fn compared(&self, clause: &Clause, values: &Values) -> Result<Option<Counterexample>, String> {
        let run = run(clause, &self.root, values, self.constant_starts)?;
        if run.before == run.after {
            return Ok(None);
        }
        Ok(Some(Counterexample {
            inputs: vec![("the module".to_string(), run.module)],
            pattern: print_literal(&run.before, None),
            replacement: print_literal(&run.after, None),
        }))
    }
}

/// Returns whether a clause needs the values of operands.
fn reads_starts(clause: &Clause) -> bool {
    let operations = clause.operations();
    let numbers = operations.iter().flat_map(|operation| operation.numbers.iter());
    let mut all = numbers.chain(clause.condition.expressions()).flat_map(Expression::all);
    all.any(|part| matches!(part, Expression::Values(_)))
}
