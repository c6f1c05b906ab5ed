//! The pipeline language: `algsimp,constant_folding{max-elements=64},fix{limit=10}(cse,dce)`.
//!
//! A pipeline is a list of passes separated by commas or line breaks; options stand in braces after a name; `fix(…)`
//! repeats its list until nothing changes; the name of a pipeline ([`crate::PIPELINES`]) stands for its passes, and
//! `@FILE` or `@"FILE"` for those in a file. Other white space means nothing, and comments go from `#` or `//` to the end
//! of the line. Errors point into the pipeline's text, or that of the file, and propose the nearest name.

mod classes;
mod files;

pub use classes::pass_of_class;
pub use files::{PipelineError, PipelineFile, PipelineFiles};

use crate::pipelines::{PIPELINES, find_pipeline, find_pipeline_alike};
use crate::registry;
use crate::{OptionInfo, OptionValue, Options, Pass, PassInfo, PipelineInfo};
use files::{NoFiles, Reading};
use hlo_ir::Span;
use hlo_ir::diag::Diag;
use hlo_ir::rules::code;
use hlo_ir::suggest::nearest;
use std::fmt;

/// A parsed pipeline, ready to run: see [`Pipeline::run`].
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
    /// Names that are read as another: what is written, and what is meant.
    respelt: Vec<(String, &'static str)>,
}

/// One element of a pipeline.
pub(crate) enum Step {
    /// A pass.
    Pass {
        /// Its description.
        info: &'static PassInfo,
        /// Its settings.
        options: Options,
        /// The pass with its settings.
        pass: Box<dyn Pass>,
    },
    /// `fix{limit=N}(…)`: the steps again and again until a round changes nothing, `limit` rounds at most.
    Fix {
        /// The largest number of rounds.
        limit: u64,
        /// What a round does.
        steps: Vec<Step>,
    },
    /// A pipeline with a name.
    Named {
        /// Its description.
        info: &'static PipelineInfo,
        /// What it does.
        steps: Vec<Step>,
    },
}

/// The options of `fix`.
pub static FIX_OPTIONS: &[OptionInfo] =
    &[OptionInfo { name: "limit", summary: "the largest number of rounds", default: OptionValue::Count(25) }];

/// How deep `fix`, named pipelines and files may nest: a guard for the parser's recursion.
const MAX_NESTING: usize = 32;

impl Pipeline {
    /// Reads a pipeline without files. An empty text is an empty pipeline.
    ///
    /// # Errors
    /// The first syntax error, unknown pass or option, or file that is named. Its span is a range of
    /// `text`.
    pub fn parse(text: &str) -> Result<Self, Diag> {
        Self::parse_with_files(text, &mut NoFiles).map_err(|e| e.diag)
    }

    /// Reads a pipeline, with the files that it names.
    ///
    /// # Errors
    /// The first syntax error, unknown pass or option, or file that can't be read or reads itself, with the
    /// file that it is in.
    pub fn parse_with_files(text: &str, files: &mut dyn PipelineFiles) -> Result<Self, Box<PipelineError>> {
        let mut reading = Reading::new(files);
        match Parser::parse(text, 0, &mut reading) {
            Ok(steps) => Ok(Self { steps, respelt: reading.respelt }),
            Err(diag) => Err(reading.error(diag)),
        }
    }

    /// What is to say about it though nothing is wrong: names that are not written as the registry has them.
    pub fn notes(&self) -> impl Iterator<Item = String> + '_ {
        self.respelt.iter().map(|(written, name)| format!("`{written}` is read as `{name}`"))
    }

    /// The pipelines with names that it runs, in order, those inside of others too.
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

    /// The names of the passes that it runs, in order, those inside `fix` and named pipelines too.
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

/// The pipeline in full, one pass a line: named pipelines expanded under a comment with their names, every option with
/// its value. [`Pipeline::parse`] reads it back.
impl fmt::Display for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_steps(f, &self.steps, 0, "")
    }
}

/// Writes steps; `end` comes after the last.
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

/// True if two names differ by `-`, `_` and case only.
pub(crate) fn spelt_alike(a: &str, b: &str) -> bool {
    fn letters(name: &str) -> impl Iterator<Item = char> + '_ {
        name.chars().filter(|c| !matches!(c, '-' | '_')).map(|c| c.to_ascii_lowercase())
    }
    letters(a).eq(letters(b))
}

struct Parser<'a, 'r, 'f> {
    text: &'a str,
    at: usize,
    /// True if the last white space had a line break in it.
    line_break: bool,
    reading: &'r mut Reading<'f>,
}

impl<'a, 'r, 'f> Parser<'a, 'r, 'f> {
    fn parse(text: &'a str, depth: usize, reading: &'r mut Reading<'f>) -> Result<Vec<Step>, Diag> {
        let mut parser = Parser { text, at: 0, line_break: false, reading };
        parser.skip_space();
        let steps = if parser.at == text.len() { Vec::new() } else { parser.list(depth)? };
        match parser.peek() {
            None => Ok(steps),
            Some(c) => Err(parser.error(format!("expected `,` or the end, found `{c}`"))),
        }
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.at..).and_then(|t| t.chars().next())
    }

    fn skip_space(&mut self) {
        self.line_break = false;
        while let Some(c) = self.peek() {
            if self.at_comment() {
                let rest = self.text.get(self.at..).unwrap_or_default();
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if c.is_whitespace() {
                self.line_break |= c == '\n';
                self.at += c.len_utf8();
            } else {
                break;
            }
        }
    }

    fn at_comment(&self) -> bool {
        self.text.get(self.at..).is_some_and(|t| t.starts_with('#') || t.starts_with("//"))
    }

    fn eat(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        if found {
            self.at += c.len_utf8();
            self.skip_space();
        }
        found
    }

    /// An error at the current character.
    fn error(&self, message: impl Into<String>) -> Diag {
        let end = self.at + self.peek().map_or(0, char::len_utf8);
        let message = message.into();
        Diag::error("a pipeline that can't be read")
            .with_code(code::PIPELINE)
            .at(Span::new(self.at, end), message)
    }

    /// A name or value and its range: everything up to a separator.
    fn word(&mut self) -> (&'a str, Span) {
        let start = self.at;
        while let Some(c) = self.peek().filter(|c| !matches!(c, ',' | '{' | '}' | '(' | ')' | '=')) {
            if c.is_whitespace() || self.at_comment() {
                break;
            }
            self.at += c.len_utf8();
        }
        let span = Span::new(start, self.at);
        let word = self.text.get(start..self.at).unwrap_or_default();
        self.skip_space();
        (word, span)
    }

    fn list(&mut self, depth: usize) -> Result<Vec<Step>, Diag> {
        if depth > MAX_NESTING {
            return Err(self.error(format!("pipelines are nested more than {MAX_NESTING} deep")));
        }
        let mut steps = Vec::new();
        loop {
            match self.peek() {
                Some('@') => steps.extend(self.file(depth)?),
                _ => steps.push(self.step(depth)?),
            }
            // The end of a line is as good as a comma, but not before what closes the list.
            let more = self.eat(',') || self.line_break && self.peek().is_some_and(|c| c != ')');
            if !more {
                return Ok(steps);
            }
        }
    }

    /// `@FILE`: what is in the file.
    fn file(&mut self, depth: usize) -> Result<Vec<Step>, Diag> {
        let (path, span) = self.path()?;
        self.options(&format!("@{path}"), &[])?;
        let failed = |message: String| Diag::error(message).with_code(code::PIPELINE).at(span, "");
        if depth >= MAX_NESTING {
            let label = format!("pipelines are nested more than {MAX_NESTING} deep");
            return Err(Diag::error("a pipeline that can't be read")
                .with_code(code::PIPELINE)
                .at(span, label));
        }
        let file = self.reading.open(path).map_err(failed)?;
        let steps = Parser::parse(&file.text, depth + 1, self.reading);
        self.reading.close();
        steps.map_err(|d| self.reading.fail(d, file))
    }

    /// The path after `@`, in quotes or up to a separator, and the range of both.
    fn path(&mut self) -> Result<(&'a str, Span), Diag> {
        let start = self.at;
        let rest = self.text.get(start + 1..).unwrap_or_default();
        let (path, length) = match rest.strip_prefix('"') {
            Some(quoted) => {
                let Some(end) = quoted.find('"') else {
                    return Err(self.error("expected `\"` at the end of the file's name"));
                };
                (&quoted[..end], end + 2)
            }
            None => {
                let separator = |c: char| matches!(c, ',' | '(' | ')' | '{' | '}') || c.is_whitespace();
                let end = rest.find(separator).unwrap_or(rest.len());
                (&rest[..end], end)
            }
        };
        if path.is_empty() {
            return Err(self.error("expected the name of a file after `@`"));
        }
        self.at = start + 1 + length;
        let span = Span::new(start, self.at);
        self.skip_space();
        Ok((path, span))
    }

    fn step(&mut self, depth: usize) -> Result<Step, Diag> {
        let (name, span) = self.word();
        if name.is_empty() {
            return Err(self.error("expected the name of a pass"));
        }
        if name == "fix" {
            let before = self.at;
            let options = self.options("fix", FIX_OPTIONS)?;
            if options.count("limit") == 0 {
                let written = self.text.get(before..self.at).unwrap_or_default().trim_end().len();
                return Err(Diag::error("`fix` repeats its passes at least once, found a `limit` of 0")
                    .with_code(code::PASS_OPTION_VALUE)
                    .at(Span::new(before, before + written), "nothing would run"));
            }
            if !self.eat('(') {
                return Err(self.error("expected `(` and the passes that `fix` repeats"));
            }
            let steps = self.list(depth + 1)?;
            if !self.eat(')') {
                return Err(self.error("expected `,` or `)`"));
            }
            return Ok(Step::Fix { limit: options.count("limit"), steps });
        }
        if let Some(info) = self.pass(name) {
            let options = self.options(info.name, info.options)?;
            let pass = (info.build)(info, &options);
            return Ok(Step::Pass { info, options, pass });
        }
        let Some(info) = self.pipeline(name) else {
            let names = registry::passes().iter().map(|p| p.name).chain(["fix"]);
            let names = names.chain(PIPELINES.iter().map(|p| p.name));
            let d = Diag::error(format!("there is no pass `{name}`")).with_code(code::PASS_NAME);
            let d = d.at(span, "not the name of a pass");
            if self.peek() == Some('(') {
                return Err(d.note("passes run on the whole module; only `fix(…)` has passes in parentheses"));
            }
            let d = match pass_of_class(name) {
                Some(pass) => d.did_you_mean(span, pass),
                None => propose(d, span, name, names),
            };
            return Err(d.note("`hlo-opt --list-passes` lists them"));
        };
        self.options(info.name, &[])?;
        if depth >= MAX_NESTING {
            return Err(self.error(format!("pipelines are nested more than {MAX_NESTING} deep")));
        }
        let inner = Parser::parse(info.text, depth + 1, &mut Reading::new(&mut NoFiles)).map_err(|d| {
            // A defect of the list of pipelines: the place in its text means nothing to whoever wrote this one.
            Diag::error(format!("pipeline `{}` can't be read: {}", info.name, d.message))
                .with_code(code::PIPELINE)
                .at(span, "")
        })?;
        Ok(Step::Named { info, steps: inner })
    }

    /// The pass of a name; one that is spelt a little differently is noted.
    fn pass(&mut self, name: &str) -> Option<&'static PassInfo> {
        registry::find(name).or_else(|| {
            let info = registry::find_alike(name).filter(|_| find_pipeline(name).is_none())?;
            self.reading.respelt.push((name.to_owned(), info.name));
            Some(info)
        })
    }

    /// The pipeline of a name, likewise.
    fn pipeline(&mut self, name: &str) -> Option<&'static PipelineInfo> {
        find_pipeline(name).or_else(|| {
            let info = find_pipeline_alike(name)?;
            self.reading.respelt.push((name.to_owned(), info.name));
            Some(info)
        })
    }

    /// `{name=value,…}`, if there.
    fn options(&mut self, pass: &str, infos: &'static [OptionInfo]) -> Result<Options, Diag> {
        let mut options = Options::defaults(infos);
        let mut seen: Vec<&str> = Vec::new();
        if !self.eat('{') {
            return Ok(options);
        }
        while !self.eat('}') {
            let (name, span) = self.word();
            let Some(info) = infos.iter().find(|o| o.name == name) else {
                if name.is_empty() {
                    return Err(self.error("expected the name of an option or `}`"));
                }
                let d = Diag::error(format!("`{pass}` has no option `{name}`")).with_code(code::PASS_OPTION);
                let d = d.at(span, "not an option of this pass");
                return Err(if infos.is_empty() {
                    d.note(format!("`{pass}` has no options"))
                } else {
                    propose(d, span, name, infos.iter().map(|o| o.name))
                });
            };
            if seen.contains(&name) {
                let d =
                    Diag::error(format!("option `{name}` is given twice")).with_code(code::PASS_OPTION_TWICE);
                return Err(d.at(span, "given before"));
            }
            seen.push(name);
            options.set(name, self.value(info)?);
            if !self.eat(',') && self.peek() != Some('}') {
                return Err(self.error("expected `,` or `}`"));
            }
        }
        Ok(options)
    }

    /// `=value`; a switch may do without.
    fn value(&mut self, info: &OptionInfo) -> Result<OptionValue, Diag> {
        if !self.eat('=') {
            return match info.default {
                OptionValue::Switch(_) => Ok(OptionValue::Switch(true)),
                OptionValue::Count(_) | OptionValue::Choice { .. } => {
                    Err(self.error(format!("expected `=` and a value for `{}`", info.name)))
                }
            };
        }
        let (text, span) = self.word();
        let (value, expected) = match info.default {
            OptionValue::Count(_) => {
                (text.parse().ok().map(OptionValue::Count), "a number, not negative".to_owned())
            }
            OptionValue::Switch(_) => {
                (text.parse().ok().map(OptionValue::Switch), "`true` or `false`".to_owned())
            }
            OptionValue::Choice { of, .. } => {
                let found = of.iter().find(|w| **w == text);
                let words: Vec<String> = of.iter().map(|w| format!("`{w}`")).collect();
                (found.map(|word| OptionValue::Choice { word, of }), words.join(" or "))
            }
        };
        value.ok_or_else(|| {
            Diag::error(format!("`{text}` is no value for `{}`", info.name))
                .with_code(code::PASS_OPTION_VALUE)
                .at(span, format!("expected {expected}"))
        })
    }
}

/// Adds "did you mean" if one of `names` is near.
fn propose(diag: Diag, span: Span, name: &str, names: impl Iterator<Item = &'static str>) -> Diag {
    match nearest(name, names) {
        Some(n) => diag.did_you_mean(span, n),
        None => diag,
    }
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

    /// The part of the text that the error is about.
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
        assert_eq!(marked("algsimp dce"), "d");
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
            // The comments are gone, and what they were for: the rest stays.
            let strip = |text: String| {
                let lines = text.lines().map(str::trim).filter(|l| !l.starts_with('#'));
                lines.collect::<Vec<_>>().join("\n")
            };
            assert_eq!(strip(printed), strip(again.to_string()));
        }
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
        assert_eq!(marked("fix(dce"), "");
        assert_eq!(marked("constant_folding{max-elements}"), "}");
        assert_eq!(error(&"fix(".repeat(1000)).code, Some("E2001"));
    }
}
