//! `hlo-prove`: proves the rewrite rules of `hlo-passes`.

use clap::Parser;
use hlo_passes::rewriting::{ALGSIMP, Rule, fingerprint, parse};
use hlo_prove::{Finding, Solver, Verdict, check};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Proves that rewrite rules preserve every bit, for all element types.
///
/// A rule is proved if an SMT solver finds no values for which the pattern and the replacement differ, or if the
/// interpreter computed both for all values. Otherwise it is tested with random values.
#[derive(Parser)]
#[command(
    name = "hlo-prove",
    after_help = "\
Examples:
  hlo-prove                        proves all rules of hlo-passes
  hlo-prove add-zero distribute    proves two rules, and prints the result for each element type
  hlo-prove --rules my.rules       proves the rules of a file"
)]
struct Args {
    /// The names of the rules to prove; all if there are none
    rules: Vec<String>,
    /// Prove the rules of this file
    #[arg(long = "rules", value_name = "FILE")]
    file: Option<String>,
    /// The command of the SMT solver, which reads SMT-LIB from its standard input as z3 does
    #[arg(long, value_name = "COMMAND", default_value = "z3")]
    solver: String,
    /// The time for one question to the solver
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=86400))]
    limit: u64,
    /// Check only rules that this file does not contain with their current text, and update it
    #[arg(long, value_name = "FILE", conflicts_with = "rules")]
    cache: Option<String>,
    /// Fail if a rule that is proved in this file is only tested now
    #[arg(long, value_name = "FILE")]
    expect: Option<String>,
    /// Print the result for each clause and element type
    #[arg(long)]
    verbose: bool,
}

fn main() -> ExitCode {
    let args = Args::parse();
    match run(&args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

/// Proves the rules. Returns whether none was refuted.
fn run(args: &Args) -> Result<bool, String> {
    let all_rules = selected(args)?;
    let known = match &args.cache {
        Some(path) => match std::fs::read_to_string(path) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
            text => text.map_err(|e| format!("{path}: {e}"))?,
        },
        None => String::new(),
    };
    let expected = match &args.expect {
        Some(path) => std::fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?,
        None => String::new(),
    };
    let rules: Vec<Rule> = all_rules.iter().filter(|rule| cached(&known, rule).is_none()).cloned().collect();
    let solver = Solver { command: args.solver.clone(), limit: Duration::from_secs(args.limit) };
    if !solver.is_installed() {
        let hint = "install the Debian package `z3`, or name another solver with --solver";
        return Err(format!("the SMT solver `{}` does not start or does not answer: {hint}", args.solver));
    }
    let start = Instant::now();
    let verbose = args.verbose || !args.rules.is_empty();
    let all = check_all(&rules, &solver).map_err(|e| format!("`{}`: {e}", args.solver))?;
    let (mut proved, mut tested, mut refuted, mut demoted) = (0, 0, 0, 0);
    let mut new = String::new();
    for (rule, findings) in rules.iter().zip(&all) {
        let status = status(findings);
        if status == "tested" && expected.contains(&cache_line(rule, "proved")) {
            println!("{} was proved before", rule.name);
            demoted += 1;
        }
        match status {
            "proved" => proved += 1,
            "tested" => tested += 1,
            _ => refuted += 1,
        }
        new.push_str(&cache_line(rule, status));
        println!("{status:8} {} ({} cases)", rule.name, findings.len());
        findings.iter().filter(|finding| verbose || !finding.verdict.is_proof()).for_each(print_finding);
    }
    if let Some(path) = &args.cache {
        let line = |rule: &Rule| cached(&known, rule).or_else(|| cached(&new, rule));
        let text: String = all_rules.iter().filter_map(line).collect();
        // The file is part of hlo-passes, which is built again if it is written.
        if text != known {
            // A failure must not leave half of a file.
            let new = format!("{path}.new");
            std::fs::write(&new, text).map_err(|e| format!("{new}: {e}"))?;
            std::fs::rename(&new, path).map_err(|e| format!("{path}: {e}"))?;
        }
        println!(
            "{} other rules have not changed since they were added to {path}",
            all_rules.len() - rules.len()
        );
    }
    println!(
        "{} rules: {proved} proved, {tested} tested, {refuted} refuted or failed, in {:.1} s",
        rules.len(),
        start.elapsed().as_secs_f64()
    );
    Ok(refuted == 0 && demoted == 0)
}

/// Returns the line of the cache for a rule.
fn cache_line(rule: &Rule, status: &str) -> String {
    format!("{} {:016x} {status}\n", rule.name, fingerprint(rule))
}

/// Returns the line of a rule in a cache, if the rule is proved or tested there with its current text.
fn cached(cache: &str, rule: &Rule) -> Option<String> {
    ["proved", "tested"].into_iter().map(|status| cache_line(rule, status)).find(|line| cache.contains(line))
}

/// Returns the rules that the arguments select.
fn selected(args: &Args) -> Result<Vec<Rule>, String> {
    let mut rules: Vec<Rule> = match &args.file {
        Some(path) => {
            let text = std::fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?;
            parse(&text).map_err(|e| format!("{path}: {e}"))?
        }
        None => ALGSIMP.iter().cloned().collect(),
    };
    for name in &args.rules {
        if !rules.iter().any(|rule| *rule.name == **name) {
            return Err(format!("there is no rule with the name `{name}`"));
        }
    }
    rules.retain(|rule| args.rules.is_empty() || args.rules.iter().any(|name| *name == *rule.name));
    Ok(rules)
}

/// Checks the rules on all processors.
fn check_all(rules: &[Rule], solver: &Solver) -> std::io::Result<Vec<Vec<Finding>>> {
    let next = AtomicUsize::new(0);
    let found: Mutex<Vec<Option<std::io::Result<Vec<Finding>>>>> =
        Mutex::new(rules.iter().map(|_| None).collect());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    let Some(rule) = rules.get(n) else { break };
                    let findings = check(rule, solver);
                    if let Ok(mut found) = found.lock() {
                        found[n] = Some(findings);
                    }
                }
            });
        }
    });
    let found = found.into_inner().unwrap_or_default();
    found.into_iter().map(|findings| findings.unwrap_or_else(|| Ok(Vec::new()))).collect()
}

/// Returns the status of a rule in a word.
fn status(findings: &[Finding]) -> &'static str {
    let any = |test: fn(&Verdict) -> bool| findings.iter().any(|finding| test(&finding.verdict));
    if any(|v| matches!(v, Verdict::Refuted(_))) {
        "refuted"
    } else if findings.is_empty() || any(|v| matches!(v, Verdict::Failed(_))) {
        "failed"
    } else if any(|v| matches!(v, Verdict::Tested(_))) {
        "tested"
    } else {
        "proved"
    }
}

fn print_finding(finding: &Finding) {
    let (word, detail) = match &finding.verdict {
        Verdict::Proved => ("proved", "by the solver".to_string()),
        Verdict::Exhausted => ("proved", "all values were computed".to_string()),
        Verdict::Vacuous => ("proved", "no values satisfy the condition".to_string()),
        Verdict::Tested(why) => ("tested", why.clone()),
        Verdict::Refuted(found) => ("refuted", found.to_string()),
        Verdict::Failed(why) => ("failed", why.clone()),
    };
    println!("    {word:8} {} [{}]: {detail}", finding.clause, finding.types);
}
