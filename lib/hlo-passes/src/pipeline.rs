//! The pipeline language: `algsimp,constant_folding{max-elements=64},fix{limit=10}(cse,dce)`.
//!
//! A pipeline is a list of passes separated by commas; options stand in braces after a name; `fix(…)` repeats
//! its list until nothing changes. White space means nothing. Errors point into the pipeline's text and
//! propose the nearest name.

use crate::registry;
use crate::{OptionInfo, OptionValue, Options, Pass, PassInfo};
use hlo_ir::Span;
use hlo_ir::diag::Diag;
use hlo_ir::rules::code;
use hlo_ir::suggest::nearest;

/// A parsed pipeline, ready to run: see [`Pipeline::run`].
pub struct Pipeline {
    pub(crate) steps: Vec<Step>,
}

/// One element of a pipeline.
pub(crate) enum Step {
    /// A pass.
    Pass {
        /// Its description.
        info: &'static PassInfo,
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
}

/// The options of `fix`.
pub static FIX_OPTIONS: &[OptionInfo] =
    &[OptionInfo { name: "limit", summary: "the largest number of rounds", default: OptionValue::Count(25) }];

/// How deep `fix` may nest: a guard for the parser's recursion.
const MAX_NESTING: usize = 32;

impl Pipeline {
    /// Reads a pipeline. The error's span is a range of `text`. An empty text is an empty pipeline.
    pub fn parse(text: &str) -> Result<Self, Diag> {
        let mut parser = Parser { text, at: 0 };
        parser.skip_space();
        let steps = if parser.at == text.len() { Vec::new() } else { parser.list(0)? };
        match parser.peek() {
            None => Ok(Self { steps }),
            Some(c) => Err(parser.error(format!("expected `,` or the end, found `{c}`"))),
        }
    }

    /// The names of the passes that it runs, in order, those inside `fix` too.
    pub fn pass_names(&self) -> Vec<&'static str> {
        fn walk(steps: &[Step], out: &mut Vec<&'static str>) {
            for step in steps {
                match step {
                    Step::Pass { info, .. } => out.push(info.name),
                    Step::Fix { steps, .. } => walk(steps, out),
                }
            }
        }
        let mut out = Vec::new();
        walk(&self.steps, &mut out);
        out
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at..).and_then(|t| t.chars().next())
    }

    fn skip_space(&mut self) {
        while let Some(c) = self.peek().filter(|c| c.is_whitespace()) {
            self.at += c.len_utf8();
        }
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
            if c.is_whitespace() {
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
            return Err(self.error(format!("`fix` is nested more than {MAX_NESTING} deep")));
        }
        let mut steps = vec![self.step(depth)?];
        while self.eat(',') {
            steps.push(self.step(depth)?);
        }
        Ok(steps)
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
        let Some(info) = registry::find(name) else {
            let names = registry::passes().iter().map(|p| p.name).chain(["fix"]);
            let d = Diag::error(format!("there is no pass `{name}`")).with_code(code::PASS_NAME);
            return Err(propose(d.at(span, "not the name of a pass"), span, name, names)
                .note("`hlo-opt --list-passes` lists them"));
        };
        let options = self.options(name, info.options)?;
        Ok(Step::Pass { info, pass: (info.build)(info, &options) })
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
        assert!(error("constant-folding").notes[0].contains("`constant_folding`"));
        assert!(!error("zzzzzzzzzzzz").notes[0].contains("did you mean"));
        assert!(!error("foo").notes[0].contains("did you mean"));
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
