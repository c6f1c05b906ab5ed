//! Tests of attributes: how each value prints, and the errors for invalid values. The samples are in
//! `samples/*.txt`, by subject. `walk.rs` finds attributes without a sample.
//!
//! A sample is a line that contains an instruction or a module's first line (`¶` represents a line break).
//! Below it is the printed text, after `-> `, or each error with carets under its span:
//!
//! ```text
//! f32[4,6] copy(a), metadata={op_nam="x"}
//!                             ^^^^^^ expected …
//! ```
//!
//! Lines with `#` are comments. A comment above a sample says where jaxlib 0.10.2 reads or prints something
//! else; all other samples print as in jaxlib. `BLESS=1 cargo test -p hlo-parser attributes::` writes the
//! actual output and errors into the files.

use hlo_ir::Module;
use hlo_ir::diag::Diag;
use hlo_ir::print::{PrintOptions, print_module};
use std::path::{Path, PathBuf};

mod walk;

/// A sample: a line of a file, and the expected output below it.
pub struct Sample {
    /// The text to read.
    pub text: String,
    /// The expected output, line by line.
    expected: Vec<String>,
}

/// A file of samples, as a list of its parts.
struct File {
    path: PathBuf,
    parts: Vec<Part>,
}

enum Part {
    /// A comment or an empty line.
    Other(String),
    Sample(Sample),
}

fn files() -> Vec<File> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/attributes/samples");
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
        .into_iter()
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            let mut parts = Vec::new();
            for line in text.lines() {
                match parts.last_mut() {
                    Some(Part::Sample(sample)) if line.starts_with([' ', '^']) || line.starts_with("-> ") => {
                        sample.expected.push(line.to_owned());
                    }
                    _ if line.is_empty() || line.starts_with('#') => parts.push(Part::Other(line.to_owned())),
                    _ => parts.push(Part::Sample(Sample { text: line.to_owned(), expected: Vec::new() })),
                }
            }
            File { path, parts }
        })
        .collect()
}

/// Returns every sample of every file.
pub fn samples() -> Vec<Sample> {
    let parts = files().into_iter().flat_map(|file| file.parts);
    let samples = parts.filter_map(|part| match part {
        Part::Sample(sample) => Some(sample),
        Part::Other(_) => None,
    });
    samples.collect()
}

/// Reads a module, and makes some of the changes that XLA makes when it reads one.
fn read(text: &str) -> Result<Module, Vec<Diag>> {
    let mut module = hlo_parser::parse_module(text)?;
    module.renumber_stack_frames();
    Ok(module)
}

impl Sample {
    /// Returns whether it is a module's first line.
    pub fn is_header(&self) -> bool {
        self.text.starts_with("HloModule")
    }

    /// Returns a module that contains the sample, and the byte offset of the sample.
    fn module(&self) -> (String, usize) {
        let sample = self.text.replace('¶', "\n");
        let on_thread = |name| {
            format!(
                "\n{name} {{\n  x = f32[4,6] parameter(0)\n  ROOT s = f32[4,6] negate(x)\n}}, \
                 execution_thread=\"t\"\n"
            )
        };
        let computations = "\n\nadd {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  \
            ROOT s = f32[] add(x, y)\n}\n"
            .to_owned()
            + &on_thread("work")
            + &on_thread("more")
            + "\nENTRY e {\n  a = f32[4,6] parameter(0)\n  b = f32[4,6] parameter(1)\n";
        if self.is_header() {
            let entry = "  c = (f32[4,6], f32[4,6]) tuple(a, b)\n  \
                ROOT t = (f32[4,6], (f32[4,6], f32[4,6])) tuple(a, c)\n}\n";
            return (format!("{sample}{computations}{entry}"), 0);
        }
        let start = format!(
            "HloModule m{computations}  tok = token[] after-all()\n  \
             tt = (f32[4,6], (f32[4,6], f32[4,6])) parameter(2)\n  \
             go = ((f32[4,6]), f32[4,6], s32[]) async-start(a), async_execution_thread=\"t\", calls=work\n  ROOT r = "
        );
        (format!("{start}{sample}\n}}\n"), start.len())
    }

    /// Returns the module, if there is no error.
    pub fn read(&self) -> Option<Module> {
        hlo_parser::parse_module(&self.module().0).ok()
    }

    /// Returns the printed text or the errors, line by line.
    fn result(&self) -> Vec<String> {
        let (text, start) = self.module();
        let module = match read(&text) {
            Ok(module) => module,
            Err(diags) => return diags.iter().map(|diag| self.under(diag, &text, start)).collect(),
        };
        let printed = print_module(&module, &PrintOptions::default());
        let again = match read(&printed) {
            Ok(again) => again,
            Err(diags) => return vec![format!("not read back: {printed}\n{diags:?}")],
        };
        if let Some(difference) = module.difference(&again) {
            return vec![format!("not the same read back: {printed}\n{difference}")];
        }
        assert_eq!(print_module(&again, &PrintOptions::default()), printed, "{}", self.text);
        let part = if self.is_header() {
            printed.split("\n\n%add (").next()
        } else {
            let after = printed.split_once("ROOT %r = ").map(|(_, after)| after);
            after.and_then(|after| after.strip_suffix("\n}\n\n").or(after.strip_suffix("\n}\n")))
        };
        let part = part.unwrap_or_else(|| panic!("{}\nis printed as\n{printed}", self.text));
        vec![format!("-> {}", part.replace('\n', "¶"))]
    }

    /// Formats an error with carets under its span in the sample, or under the start of the sample if the
    /// span is elsewhere.
    fn under(&self, diag: &Diag, text: &str, start: usize) -> String {
        let span = diag.labels.iter().find(|l| l.primary).map_or_else(Default::default, |l| l.span);
        let column = |at: u32| {
            let at = (at as usize).clamp(start, text.len());
            text[start..at].chars().count().min(self.text.chars().count())
        };
        let (from, to) = (column(span.start), column(span.end));
        let mut line = " ".repeat(from) + &"^".repeat(to.saturating_sub(from).max(1));
        for said in
            std::iter::once(&diag.message).chain(diag.notes.iter().filter(|n| n.starts_with("did you")))
        {
            line += " ";
            line += &said.replace('\n', "¶");
        }
        line
    }
}

#[test]
fn each_sample_is_printed_or_refused_as_expected() {
    let mut failed = String::new();
    for mut file in files() {
        for part in &mut file.parts {
            let Part::Sample(sample) = part else { continue };
            let result = sample.result();
            let lossy = result.iter().any(|line| line.starts_with("not "));
            assert!(!lossy, "{}\n{}", sample.text, result.join("\n"));
            if result != sample.expected {
                let show = |lines: &[String]| lines.join("\n");
                failed +=
                    &format!("{}\n{}\nexpected\n{}\n\n", sample.text, show(&result), show(&sample.expected));
                sample.expected = result;
            }
        }
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&file.path, file.text()).unwrap();
        }
    }
    assert!(failed.is_empty() || std::env::var_os("BLESS").is_some(), "{failed}");
}

impl File {
    fn text(&self) -> String {
        let mut out = String::new();
        for part in &self.parts {
            let (line, under) = match part {
                Part::Other(line) => (line, [].as_slice()),
                Part::Sample(sample) => (&sample.text, sample.expected.as_slice()),
            };
            for line in std::iter::once(line).chain(under) {
                out += line;
                out += "\n";
            }
        }
        out
    }
}
