//! Tests of the proofs of rewrite rules. They need an SMT solver: `sh scripts/deps.sh --prove` installs it.

mod definitions;
mod moves;
mod verdicts;

use hlo_passes::rewriting::{Rule, parse};
use hlo_prove::Solver;
use std::time::Duration;

/// Returns the solver of the tests.
fn solver() -> Solver {
    let solver = Solver { limit: Duration::from_secs(30), ..Solver::default() };
    assert!(solver.is_installed(), "the tests need the SMT solver z3: sh scripts/deps.sh --prove");
    solver
}

/// Returns the only rule of a text.
fn rule(clauses: &str) -> Rule {
    let mut rules = parse(&format!("rule: {clauses}")).unwrap_or_else(|e| panic!("{clauses}: {e}"));
    rules.remove(0)
}
