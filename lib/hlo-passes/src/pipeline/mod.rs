//! The pipeline language: `algsimp,constant_folding{max-elements=64},fix{limit=10}(cse,dce)`.
//!
//! A pipeline is a list of passes separated by commas or line breaks:
//!
//! - Options follow a name in braces.
//! - `fix(…)` repeats its list until nothing changes.
//! - The name of a pipeline ([`crate::PIPELINES`]) runs the passes of that pipeline.
//! - `@FILE` or `@"FILE"` runs the passes in a file.
//!
//! Other white space has no meaning, and comments extend from `#` or `//` to the end of the line. The grammar
//! is in `grammar/pipeline.pest`. Errors point into the text of the pipeline or of the file, and suggest the
//! nearest name.

mod classes;
mod files;
mod parse;

pub use classes::{XLA_CLASSES, pass_of_class};
pub use files::{PipelineError, PipelineFile, PipelineFiles};

use crate::pass::Pass;
use crate::pass_info::{OptionInfo, OptionValue, Options, PassInfo};
use crate::pipelines::PipelineInfo;
use crate::rules;
use files::{NoFiles, Reading};
use hlo_ir::diag::Diag;
use std::fmt;

/// A parsed pipeline. [`Pipeline::run`] runs it.
///
/// # Example
/// ```
/// use hlo_passes::Pipeline;
///
/// let error = Pipeline::parse("cse,dec").err().expect("a wrong name");
/// assert_eq!(error.primary().map(|label| label.span.range()), Some(4..7));
/// assert_eq!(error.suggestions[0].text, "dce");
/// ```
pub struct Pipeline {
    pub(crate) steps: Vec<Step>,
    /// Names that were accepted in a different spelling: the written and the registered name.
    respelt: Vec<(String, &'static str)>,
}

/// One element of a pipeline.
pub(crate) enum Step {
    /// A pass.
    Pass {
        /// The description of the pass.
        info: &'static PassInfo,
        /// The options of the pass.
        options: Options,
        /// The pass, created with these options.
        pass: Box<dyn Pass>,
    },
    /// `fix{limit=N}(…)`: repeats the steps until a round changes nothing, for at most `limit` rounds.
    Fix {
        /// Maximum number of rounds.
        limit: u64,
        /// The steps of a round.
        steps: Vec<Step>,
    },
    /// A named pipeline.
    Named {
        /// The description of the pipeline.
        info: &'static PipelineInfo,
        /// The steps of the pipeline.
        steps: Vec<Step>,
    },
}

/// The options of `fix`.
pub static FIX_OPTIONS: &[OptionInfo] =
    &[OptionInfo { name: "limit", summary: "maximum number of rounds", default: OptionValue::Count(25) }];

/// Maximum nesting depth of `fix`, named pipelines and files. It limits recursion.
const MAX_NESTING: usize = 32;

/// Maximum size in bytes of a pipeline's text in [`Pipeline::parse_bounded`].
const MAX_BOUNDED_TEXT: usize = 8 << 10;

/// Maximum value of a count in [`Pipeline::parse_bounded`], unless the default is larger.
const MAX_BOUNDED_COUNT: u64 = 1024;

impl Pipeline {
    /// Parses a pipeline that names no files. An empty text is an empty pipeline.
    ///
    /// # Errors
    /// The first syntax error, unknown pass or option, or named file. Its span is a range of `text`.
    pub fn parse(text: &str) -> Result<Self, Diag> {
        Self::parse_with_files(text, &mut NoFiles).map_err(|e| e.diag)
    }

    /// Parses a pipeline from an untrusted source, such as a client of a server, and limits the work that it
    /// can request. The text may have at most 8 KiB. A count may be at most 1024, or the default of its
    /// option if that is larger.
    ///
    /// # Errors
    /// The errors of [`Pipeline::parse`], and a text or count that is too large.
    pub fn parse_bounded(text: &str) -> Result<Self, Diag> {
        let refused = |what: String| Diag::error(what).with_code(rules::PASS_OPTION_VALUE);
        let length = text.len();
        if length > MAX_BOUNDED_TEXT {
            return Err(refused(format!(
                "expected a pipeline of at most {MAX_BOUNDED_TEXT} bytes, found {length}"
            )));
        }
        let pipeline = Self::parse(text)?;
        match excessive_count(&pipeline.steps) {
            None => Ok(pipeline),
            Some((pass, option, found, most)) => {
                Err(refused(format!("expected at most {most} for `{option}` of `{pass}`, found {found}")))
            }
        }
    }

    /// Parses a pipeline and the files that it names.
    ///
    /// # Errors
    /// The first syntax error, unknown pass or option, or file that cannot be read or that reads itself. The
    /// error contains the file in which it occurred.
    pub fn parse_with_files(text: &str, files: &mut dyn PipelineFiles) -> Result<Self, Box<PipelineError>> {
        let mut reading = Reading::new(files);
        match parse::steps(text, 0, &mut reading) {
            Ok(steps) => Ok(Self { steps, respelt: reading.respelt }),
            Err(diag) => Err(reading.error(diag)),
        }
    }

    /// Returns notes about names that differ from the registered spelling.
    pub fn notes(&self) -> impl Iterator<Item = String> + '_ {
        self.respelt.iter().map(|(written, name)| format!("`{written}` is read as `{name}`"))
    }

    /// Returns the names of the named pipelines that it runs, in order, including nested ones.
    pub fn pipeline_names(&self) -> Vec<&'static str> {
        fn walk(steps: &[Step], out: &mut Vec<&'static str>) {
            for step in steps {
                match step {
                    Step::Pass { .. } => {}
                    Step::Fix { steps, .. } => walk(steps, out),
                    Step::Named { info, steps } => {
                        out.push(info.name);
                        walk(steps, out);
                    }
                }
            }
        }
        let mut out = Vec::new();
        walk(&self.steps, &mut out);
        out
    }

    /// Returns the names of the passes that it runs, in order, including those inside `fix` and named
    /// pipelines.
    pub fn pass_names(&self) -> Vec<&'static str> {
        fn walk(steps: &[Step], out: &mut Vec<&'static str>) {
            for step in steps {
                match step {
                    Step::Pass { info, .. } => out.push(info.name),
                    Step::Fix { steps, .. } | Step::Named { steps, .. } => walk(steps, out),
                }
            }
        }
        let mut out = Vec::new();
        walk(&self.steps, &mut out);
        out
    }
}

/// Returns the first count above the bound of [`Pipeline::parse_bounded`]: the pass, the option, the value
/// and the bound.
fn excessive_count(steps: &[Step]) -> Option<(&'static str, &'static str, u64, u64)> {
    let excessive = |pass, of: &OptionInfo, found: u64| {
        let OptionValue::Count(default) = of.default else { return None };
        let most = default.max(MAX_BOUNDED_COUNT);
        (found > most).then_some((pass, of.name, found, most))
    };
    steps.iter().find_map(|step| match step {
        Step::Pass { info, options, .. } => {
            let counts = info.options.iter().filter(|o| matches!(o.default, OptionValue::Count(_)));
            counts.into_iter().find_map(|o| excessive(info.name, o, options.count(o.name)))
        }
        Step::Fix { limit, steps } => {
            FIX_OPTIONS.iter().find_map(|o| excessive("fix", o, *limit)).or_else(|| excessive_count(steps))
        }
        Step::Named { steps, .. } => excessive_count(steps),
    })
}

/// Writes the whole pipeline, one pass on each line and every option with its value. The passes of a named
/// pipeline follow a comment with its name. [`Pipeline::parse`] accepts the result.
impl fmt::Display for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_steps(f, &self.steps, 0, "")
    }
}

/// Writes steps. `end` follows the last one.
fn write_steps(f: &mut fmt::Formatter<'_>, steps: &[Step], depth: usize, end: &str) -> fmt::Result {
    let indent = "  ".repeat(depth);
    for (n, step) in steps.iter().enumerate() {
        let end = if n + 1 < steps.len() { "," } else { end };
        match step {
            Step::Pass { info, options, .. } => writeln!(f, "{indent}{}{options}{end}", info.name)?,
            Step::Fix { limit, steps } => {
                writeln!(f, "{indent}fix{{limit={limit}}}(")?;
                write_steps(f, steps, depth + 1, "")?;
                writeln!(f, "{indent}){end}")?;
            }
            Step::Named { info, steps } => {
                writeln!(f, "{indent}# {}: {}", info.name, info.summary)?;
                write_steps(f, steps, depth + 1, end)?;
            }
        }
    }
    Ok(())
}
