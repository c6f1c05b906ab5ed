//! The stack-frame tables between a module's header and its computations.
//!
//! XLA wants all four, in its order. Here any may be missing, as they may stand in any order: in print all four are
//! there again.

use crate::cursor::Cursor;
use crate::grammar::Rule;
use crate::module::ModuleParser;
use hlo_ir::diag::Diag;
use hlo_ir::rules::code;
use pest::iterators::Pair;

/// What an entry of `FileLocations` says.
const LOCATION: &[&str] = &["file_name_id", "function_name_id", "line", "end_line", "column", "end_column"];
/// What an entry of `StackFrames` says.
const FRAME: &[&str] = &["file_location_id", "parent_frame_id"];

impl<'t> ModuleParser<'t> {
    /// Reads a table; `seen` are the names of those before. As in XLA an entry's place in the table counts, not
    /// the number written before it.
    pub fn table(&mut self, pair: Pair<'t, Rule>, seen: &mut Vec<Pair<'t, Rule>>) {
        let mut parts = pair.into_inner();
        let Some(name) = parts.next() else { return };
        if let Some(first) = seen.iter().find(|s| s.as_str() == name.as_str()) {
            let diag = Diag::error(format!("the module has two tables `{}`", name.as_str()));
            let first = self.span_of(first.as_str());
            let diag = diag.with_code(code::TABLE_ENTRY);
            self.report(diag.at(self.span_of(name.as_str()), "the second one").and(first, "the first one"));
            return;
        }
        seen.push(name.clone());
        let fields: &[&str] = match name.as_str() {
            "FileLocations" => LOCATION,
            "StackFrames" => FRAME,
            _ => &[],
        };
        let mut entries: Vec<Box<str>> = Vec::new();
        for entry in parts {
            let span = self.span_of(entry.as_str());
            let text = self.source_at(span);
            let value = text.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
            let start = span.end as usize - value.len();
            if let Err(diag) = check_entry(name.as_str(), value, start, fields) {
                self.report(diag.with_code(code::TABLE_ENTRY));
                return;
            }
            entries.push(value.into());
        }
        let frames = &mut self.module.stack_frames;
        let table = match name.as_str() {
            "FileNames" => &mut frames.file_names,
            "FunctionNames" => &mut frames.function_names,
            "FileLocations" => &mut frames.file_locations,
            _ => &mut frames.stack_frames,
        };
        *table = entries;
    }
}

/// Checks an entry of the table `name` after its number: a string, or a group of numbers if it has `fields`.
fn check_entry(name: &str, value: &str, start: usize, fields: &[&str]) -> Result<(), Diag> {
    let mut c = Cursor::new(value, start);
    if fields.is_empty() {
        return if matches!(c.peek(), b'"' | b'\'') { Ok(()) } else { Err(c.expected("a string")) };
    }
    c.expect(b'{')?;
    let mut seen = 0u32;
    while !c.eat(b'}') {
        let at = c.offset();
        let word = c.word();
        let Some(index) = fields.iter().position(|f| *f == word) else {
            c.rewind(at);
            return Err(c.expected(&format!("one of {}", fields.join(", "))));
        };
        seen |= 1 << index;
        c.expect(b'=')?;
        if c.take_while(|b| b.is_ascii_digit()).is_empty() {
            return Err(c.expected("a number"));
        }
        c.eat(b',');
    }
    match fields.iter().enumerate().find(|(i, _)| seen & (1 << i) == 0) {
        Some((_, field)) => {
            let message = format!("an entry of `{name}` needs `{field}=`");
            Err(Diag::error(message).at(c.since(start), ""))
        }
        None => Ok(()),
    }
}
