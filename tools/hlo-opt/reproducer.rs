//! Reproducers: a module and the passes that fail on it in one file, `--reproducer=FILE`, which `--run-reproducer` runs again.
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

/// The line before the options that passes were run with.
const OPTIONS: &str = "// options:";
/// The line before the passes.
const PASSES: &str = "// passes:";

/// What a reproducer says of how its module was run.
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

/// The text of a reproducer.
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

/// Writes a reproducer, and says so.
pub fn write(file: &str, text: &str, reporter: Reporter) -> Result<(), Failure> {
    write_output(Some(file), text.as_bytes())?;
    reporter.note(&format!(
        "{file} has the module and the passes: `hlo-opt {file} --run-reproducer` runs them again"
    ));
    Ok(())
}

/// The passes of a reproducer, and how they were run.
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
    // A reproducer comes from somebody else, and names no files: it is written with the passes of all of them.
    let pipeline = Pipeline::parse(&passes).map_err(|d| Failure::argument(PASSES, &passes, vec![d]))?;
    for note in pipeline.notes() {
        reporter.note(&note);
    }
    Ok((pipeline, conditions))
}
