//! Reads the file that a tool processes, in any format of modules.

use crate::Failure;
use crate::format::verified;
use crate::input::{read_bytes, to_text};
use hlo_forms::{Form, Program, text_of_undecided};
use hlo_ir::Span;
use hlo_ir::diag::{Diag, Source};
use hlo_ir::print::{Place, PrintOptions, print_module_with_places};
use hlo_parser::Parsed;

/// The contents of a file: a text, or a module in a binary format.
#[derive(Debug)]
pub struct Input {
    /// The text that diagnostics show: the text of the file, or for a binary file the text of the module
    /// without long constants.
    pub source: Source,
    /// The program in a file that is not a text in one of the languages.
    pub given: Option<Program>,
}

/// Reads a file that contains a module, or standard input for `-`. The module may be HLO text, StableHLO as
/// text or bytecode, or a protocol buffer in its binary or text form. It may also be text in another language
/// that the caller supports.
///
/// # Errors
/// Returns an error if the file does not exist, is not readable, is a directory, is too large or empty, or
/// has another binary format. Also returns an error if a binary module is damaged or cannot be converted to
/// HLO.
pub fn read_input(path: &str) -> Result<Input, Failure> {
    let (name, bytes) = read_bytes(path, "HLO text")?;
    if bytes.is_empty() {
        return Err(Failure::file(&name, "the file is empty; HLO text begins with `HloModule NAME`"));
    }
    let form = Form::of(&bytes);
    if form.is_language() {
        return Ok(Input { source: to_text(name, bytes, "HLO text")?, given: None });
    }
    if form == Form::Bytecode
        && let Some(text) = text_of_undecided(&bytes)
    {
        return Ok(Input { source: Source { name, text }, given: None });
    }
    match form.read(&bytes) {
        Ok(given) => Ok(Input::of_module(name, given)),
        Err(diags) => {
            // Diagnostics can also have spans in the text form of a protocol buffer.
            let text = String::from_utf8(bytes).unwrap_or_default();
            let diags = named(&name, diags);
            Err(Failure::diags(&Source { name, text }, diags))
        }
    }
}

/// Adds the file name to diagnostics without a span.
fn named(name: &str, mut diags: Vec<Diag>) -> Vec<Diag> {
    for diag in diags.iter_mut().filter(|diag| diag.labels.is_empty()) {
        diag.message = format!("{name}: {}", diag.message);
    }
    diags
}

impl Input {
    /// Creates the input for a binary module. Prints the module and assigns spans in that text to its
    /// instructions.
    fn of_module(name: String, mut given: Program) -> Self {
        let options = PrintOptions { print_large_constants: false, ..PrintOptions::default() };
        let (text, places) = print_module_with_places(&given.module, &options);
        for &(start, place) in &places {
            if let Place::Instruction(id) = place {
                let line = text[start..].lines().next().unwrap_or_default();
                let start = start + line.len() - line.trim_start().len();
                given.module.set_span(id, Span::new(start, start + line.trim().len()));
            }
        }
        Self { source: Source { name, text }, given: Some(given) }
    }

    /// Returns the module, verified unless `no_verify`, and normalized.
    ///
    /// # Errors
    /// Returns the errors of the parser or the verifier.
    pub fn read_module(&self, no_verify: bool) -> Result<Parsed, Failure> {
        let program = match &self.given {
            None => hlo_forms::read(self.source.text.as_bytes()),
            Some(given) => Ok(given.clone()),
        };
        let verified = program.and_then(|program| verified(program.into(), no_verify));
        let mut parsed = verified.map_err(|diags| Failure::diags(&self.source, diags))?;
        // Normalize last, because diagnostics use the names in the text.
        parsed.module.normalize();
        Ok(parsed)
    }
}
