//! Reproducers: `--reproducer=FILE` writes a module and the passes that fail on it to one file.
//! `--run-reproducer` runs them again.
//!
//! ```text
//! // A reproducer: `hlo-opt FILE --run-reproducer` runs it again.
//! // options: --verify-each
//! // passes:
//! //   algsimp
//! //   flatten-call-graph{max-instructions=100}
//!
//! HloModule m
//! …
//! ```

use hlo_ir::Module;
use hlo_ir::print::{PrintOptions, print_module};
use hlo_passes::Pipeline;
use hlo_tools_common::{Failure, Reporter, write_output};

/// The prefix of the line with the options.
const OPTIONS: &str = "// options:";
/// The line before the passes.
const PASSES: &str = "// passes:";

/// The options of the original run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    /// `--verify-each`.
    pub verify_each: bool,
    /// `--no-verify`.
    pub no_verify: bool,
}

impl Conditions {
    fn options(&self) -> [(&'static str, bool); 2] {
        [("--verify-each", self.verify_each), ("--no-verify", self.no_verify)]
    }
}

/// Returns the text of a reproducer.
pub fn text(module: &Module, pipeline: &Pipeline, conditions: Conditions) -> String {
    let mut out = String::from("// A reproducer: `hlo-opt FILE --run-reproducer` runs it again.\n");
    let options: Vec<&str> =
        conditions.options().into_iter().filter(|(_, on)| *on).map(|(name, _)| name).collect();
    if !options.is_empty() {
        out.push_str(&format!("{OPTIONS} {}\n", options.join(" ")));
    }
    out.push_str(&format!("{PASSES}\n"));
    for line in pipeline.to_string().lines() {
        out.push_str(&format!("//   {line}\n"));
    }
    out.push('\n');
    out.push_str(&print_module(module, &PrintOptions::default()));
    out
}

/// Writes a reproducer and prints a note about it.
pub fn write(file: &str, text: &str, reporter: Reporter) -> Result<(), Failure> {
    write_output(Some(file), text.as_bytes())?;
    reporter.note(&format!(
        "{file} has the module and the passes: `hlo-opt {file} --run-reproducer` runs them again"
    ));
    Ok(())
}

/// Returns the passes of a reproducer and the options of the original run.
pub fn read(name: &str, text: &str, reporter: Reporter) -> Result<(Pipeline, Conditions), Failure> {
    let comments = text.lines().map(str::trim).take_while(|line| line.starts_with("//"));
    let mut conditions = Conditions::default();
    let mut passes: Option<String> = None;
    for line in comments {
        if let Some(list) = &mut passes {
            list.push_str(line.trim_start_matches('/'));
            list.push('\n');
        } else if line == PASSES {
            passes = Some(String::new());
        } else if let Some(options) = line.strip_prefix(OPTIONS) {
            let words: Vec<&str> = options.split_whitespace().collect();
            conditions = Conditions {
                verify_each: words.contains(&"--verify-each"),
                no_verify: words.contains(&"--no-verify"),
            };
        }
    }
    let passes = passes.ok_or_else(|| {
        Failure::file(name, format!("no reproducer: it begins with comments, one of which is `{PASSES}`"))
    })?;
    // A reproducer may come from somebody else. It contains all passes, so it never refers to files.
    let pipeline = Pipeline::parse(&passes).map_err(|d| Failure::argument(PASSES, &passes, vec![d]))?;
    for note in pipeline.notes() {
        reporter.note(&note);
    }
    Ok((pipeline, conditions))
}
