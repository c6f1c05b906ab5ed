//! Reading the file that a tool works on, whatever form its module is in.

use crate::Failure;
use crate::format::verified;
use crate::input::{read_bytes, to_text};
use hlo_forms::{Form, Program, text_of_undecided};
use hlo_ir::Span;
use hlo_ir::diag::{Diag, Source};
use hlo_ir::print::{Place, PrintOptions, print_module_with_places};
use hlo_parser::Parsed;

/// What a file has: a text, or a module in a form that nobody reads.
#[derive(Debug)]
pub struct Input {
    /// The text that diagnostics show: the file's; if that is no text, the module's, long constants left out.
    pub source: Source,
    /// What a file says that is no text of a language.
    pub given: Option<Program>,
}

/// Reads a file, or standard input for `-`, that should have a module: HLO text, StableHLO as text or bytecode, a protocol
/// buffer in its binary or text form; or text of another language that the caller knows.
///
/// # Errors
/// There is no such file, it may not be read, is a directory, too large or empty, or of another binary format; a module in
/// bytes is damaged, or has no meaning in HLO.
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
            // Into a protocol buffer's text form diagnostics point, too.
            let text = String::from_utf8(bytes).unwrap_or_default();
            let diags = named(&name, diags);
            Err(Failure::diags(&Source { name, text }, diags))
        }
    }
}

/// Diagnostics without a place, of which file they are.
fn named(name: &str, mut diags: Vec<Diag>) -> Vec<Diag> {
    for diag in diags.iter_mut().filter(|diag| diag.labels.is_empty()) {
        diag.message = format!("{name}: {}", diag.message);
    }
    diags
}

impl Input {
    /// What a module says, with a text that stands for it.
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

    /// The module, verified unless `no_verify`, and normalized.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read_module(&self, no_verify: bool) -> Result<Parsed, Failure> {
        let program = match &self.given {
            None => hlo_forms::read(self.source.text.as_bytes()),
            Some(given) => Ok(given.clone()),
        };
        let verified = program.and_then(|program| verified(program.into(), no_verify));
        let mut parsed = verified.map_err(|diags| Failure::diags(&self.source, diags))?;
        // Not before: diagnostics speak of the names in the text.
        parsed.module.normalize();
        Ok(parsed)
    }
}
