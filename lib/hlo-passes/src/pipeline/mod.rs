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

use crate::rules;
use crate::{OptionInfo, OptionValue, Options, Pass, PassInfo, PipelineInfo};
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

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> Diag {
        match Pipeline::parse(text) {
            Ok(_) => panic!("{text} should be refused"),
            Err(d) => d,
        }
    }

    /// Returns the part of the text that the error marks.
    fn marked(text: &str) -> String {
        error(text).labels.iter().map(|l| text[l.span.range()].to_owned()).collect()
    }

    #[test]
    fn reads_names_options_and_fix() {
        let p =
            Pipeline::parse(" algsimp, constant_folding{max-elements=64} ,fix{limit=10}(cse,dce)").unwrap();
        assert_eq!(p.pass_names(), ["algsimp", "constant_folding", "cse", "dce"]);
        assert!(matches!(p.steps[2], Step::Fix { limit: 10, .. }));
        assert!(Pipeline::parse("").unwrap().steps.is_empty());
        assert!(Pipeline::parse("dce{}").is_ok());
    }

    #[test]
    fn an_unknown_pass_is_marked_and_the_nearest_is_proposed() {
        assert_eq!(marked("dce,agsimp"), "agsimp");
        assert!(error("dce,agsimp").notes[0].contains("`algsimp`"));
        assert!(error("simplificatoin").notes[0].contains("`simplification`"));
        assert!(!error("zzzzzzzzzzzz").notes[0].contains("did you mean"));
        assert!(!error("foo").notes[0].contains("did you mean"));
        assert!(error("cse,HloDCE").notes[0].contains("did you mean `dce`"));
        assert!(error("builtin.module(cse,dce)").notes[0].contains("only `fix(…)`"));
    }

    #[test]
    fn all_unknown_passes_are_marked() {
        let text = "agsimp,dce,fix{limit=2}(cse,dcee),foo";
        let error = error(text);
        let marked: Vec<&str> = error.labels.iter().map(|l| &text[l.span.range()]).collect();
        assert_eq!(marked, ["agsimp", "dcee", "foo"]);
        assert_eq!(error.labels.iter().filter(|l| l.primary).count(), 1);
        assert!(error.notes.iter().any(|n| n.contains("`dce`")), "{:?}", error.notes);
    }

    #[test]
    fn names_that_are_spelt_alike_are_read_with_a_note() {
        let p = Pipeline::parse("constant-folding{max-elements=3},Expand_All,dce").unwrap();
        assert_eq!(p.pass_names().first(), Some(&"constant_folding"));
        assert_eq!(p.pass_names().last(), Some(&"dce"));
        let notes: Vec<String> = p.notes().collect();
        assert_eq!(
            notes,
            ["`constant-folding` is read as `constant_folding`", "`Expand_All` is read as `expand-all`"]
        );
        assert_eq!(Pipeline::parse("cpu").unwrap().notes().count(), 0);
    }

    #[test]
    fn comments_and_line_breaks() {
        let text = "# first\nalgsimp // then\ndce,\n\nfix # until\n{limit=2} (\n  cse\n  dce # out\n) # end";
        let p = Pipeline::parse(text).unwrap();
        assert_eq!(p.pass_names(), ["algsimp", "dce", "cse", "dce"]);
        assert!(Pipeline::parse("# nothing").unwrap().steps.is_empty());
        assert_eq!(marked("# dse\nalgsimp\ndse # dse\n"), "dse");
        assert_eq!(marked("algsimp dce"), "dce");
    }

    #[test]
    fn a_pipeline_prints_in_full_and_reads_back() {
        let text = "fix{limit=3}(constant-folding,simplification),cse";
        let printed = Pipeline::parse(text).unwrap().to_string();
        assert!(printed.starts_with("fix{limit=3}(\n  constant_folding{max-elements="), "{printed}");
        assert!(printed.contains("\n  # simplification: "), "{printed}");
        assert!(printed.ends_with("\n),\ncse\n"), "{printed}");
        for text in [text, "cpu", "cpu,dce", "fix(cpu),fix(fix(dce))", "", "simplification\nexpand-all"] {
            let first = Pipeline::parse(text).unwrap();
            let printed = first.to_string();
            let again = Pipeline::parse(&printed).unwrap_or_else(|d| panic!("{printed}\n{d:?}"));
            assert_eq!(first.pass_names(), again.pass_names());
            // The comments with the names of pipelines are lost. The rest is equal.
            let strip = |text: String| {
                let lines = text.lines().map(str::trim).filter(|l| !l.starts_with('#'));
                lines.collect::<Vec<_>>().join("\n")
            };
            assert_eq!(strip(printed), strip(again.to_string()));
        }
    }

    #[test]
    fn pipelines_of_strangers_are_bounded() {
        let refused = |text: &str| Pipeline::parse_bounded(text).err().map(|d| d.message).unwrap_or_default();
        for text in
            ["", "cpu", "expand-all,cpu", "fix{limit=1024}(dce)", "constant_folding{max-elements=4096}"]
        {
            assert_eq!(refused(text), "");
        }
        assert_eq!(
            refused("dce,fix(fix{limit=1000000000}(fusion,defuser))"),
            "expected at most 1024 for `limit` of `fix`, found 1000000000"
        );
        assert_eq!(
            refused("constant_folding{max-operations=1000001}"),
            "expected at most 1000000 for `max-operations` of `constant_folding`, found 1000001"
        );
        assert_eq!(refused(&"dce,".repeat(2049)), "expected a pipeline of at most 8192 bytes, found 8196");
        assert_eq!(refused("@file"), Pipeline::parse("@file").err().unwrap().message);
    }

    #[test]
    fn options_are_checked() {
        assert_eq!(marked("constant_folding{max-element=3}"), "max-element");
        assert!(error("constant_folding{max-element=3}").notes[0].contains("`max-elements`"));
        assert_eq!(marked("constant_folding{max-elements=three}"), "three");
        assert_eq!(marked("constant_folding{max-elements=-1}"), "-1");
        assert_eq!(marked("dce{fast}"), "fast");
        assert_eq!(error("fix{limit=1,limit=2}(dce)").code, Some("E2004"));
        assert_eq!(marked("dce,fix{ limit=0 }(cse)"), "{ limit=0 }");
        assert_eq!(marked("cpu{fast}"), "fast");
    }

    #[test]
    fn broken_syntax_is_marked() {
        assert_eq!(marked("dce,,cse"), ",");
        assert_eq!(marked("dce)"), ")");
        assert_eq!(marked("dce,"), "");
        assert_eq!(marked("fix{limit=2}"), "");
        assert_eq!(marked("fix(dce"), "fix(");
        assert_eq!(marked("constant_folding{max-elements}"), "max-elements");
        assert_eq!(marked("constant_folding{max-elements=}"), "}");
        assert_eq!(marked("dce{"), "");
        // Deep nesting produces one diagnostic, with or without the closing parentheses.
        let open = "fix(".repeat(100_000);
        for text in [open.clone(), format!("{open}dce{}", ")".repeat(100_000))] {
            assert_eq!(error(&text).code, Some("E2001"));
        }
    }
}
