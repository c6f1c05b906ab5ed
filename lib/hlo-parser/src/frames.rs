//! Parsing of the stack-frame tables between a module's header and its computations.
//!
//! XLA requires all four tables, in its order. Here tables may be absent and in any order. The printer writes
//! all four.

use crate::grammar::Rule;
use crate::parser::ModuleParser;
use hlo_ir::attr::{AttrError, AttrReader};
use hlo_ir::diag::{Diag, Part};
use hlo_ir::rules::code;
use hlo_ir::{FileLocation, InstrId, Span, StackFrame, StackFrames};
use pest::iterators::{Pair, Pairs};

/// A table.
pub struct Table<'t> {
    name: &'t str,
    entries: Pairs<'t, Rule>,
}

impl<'t> ModuleParser<'t> {
    /// Reads a table. `seen` contains the previous tables.
    pub fn table(&mut self, pair: Pair<'t, Rule>, seen: &mut Vec<Table<'t>>) {
        let mut parts = pair.into_inner();
        let Some(name) = parts.next().map(|p| p.as_str()) else { return };
        if let Some(first) = seen.iter().find(|s| s.name == name) {
            let diag = Diag::error(format!("the module has two tables `{name}`"));
            let first = self.span_of(first.name);
            let diag = diag.with_code(code::TABLE_ENTRY);
            self.report(diag.at(self.span_of(name), "the second one").and(first, "the first one"));
            return;
        }
        seen.push(Table { name, entries: parts.clone() });
        let mut tables = std::mem::take(&mut self.module.stack_frames);
        for entry in parts {
            let span = self.span_of(entry.as_str());
            if let Err(e) = self.entry(name, span, &mut tables) {
                let diag = match e.found.as_str() {
                    "" => Diag::error(e.expected).at(e.span, ""),
                    found => Diag::error(format!("expected {}, found {found}", e.expected)).at(e.span, ""),
                };
                self.report(diag.with_code(code::TABLE_ENTRY));
                break;
            }
        }
        self.module.stack_frames = tables;
    }

    /// Warns of references to entries that do not exist, and of entry numbers that are ignored.
    pub fn check_tables(&mut self, tables: &[Table<'t>]) {
        for table in tables {
            let number = |e: &Pair<'t, Rule>| {
                e.as_str().split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default()
            };
            let mut wrong =
                (1usize..).zip(table.entries.clone()).filter(|(n, e)| number(e).parse() != Ok(*n));
            let Some((n, first)) = wrong.next() else { continue };
            let written = number(&first);
            let message =
                format!("entry {n} of `{}` has the number {written}, which is not looked at", table.name);
            let diag = Diag::warning(message).with_code(code::TABLE_NUMBER).at(self.span_of(written), "");
            self.warn(with_error_count(diag, wrong.count(), "entry", "entries"));
        }
        for d in self.module.stack_frames.dangling() {
            let table = tables.iter().find(|t| t.name == d.table);
            let Some(entry) = table.and_then(|t| t.entries.clone().nth(d.entry)) else { continue };
            let diag = Diag::warning(d.message).with_code(code::STACK_FRAME);
            let diag =
                diag.at(self.span_of(entry.as_str().trim_end()), "dropped, with the frames that use it");
            self.warn(with_error_count(diag, d.count - 1, "entry", "entries"));
        }
    }

    /// Warns of instructions that refer to frames that do not exist.
    pub fn check_frames_of_instructions(&mut self) {
        let frames = self.module.stack_frames.stack_frames.len();
        let frame_of = |i: &InstrId| self.module[*i].common.as_ref().map_or(0, |c| c.metadata.stack_frame_id);
        let in_table = |n: i32| usize::try_from(n).is_ok_and(|n| n <= frames);
        let all = self.module.computations().flat_map(|c| self.module[c].instructions());
        let mut wrong = all.filter(|i| !in_table(frame_of(i)));
        let Some(&first) = wrong.next() else { return };
        let message = format!(
            "`stack_frame_id` in `metadata` of `{}` names an entry of `StackFrames`, which has {frames}: found {}",
            self.module[first].name,
            frame_of(&first)
        );
        let diag = Diag::warning(message).with_code(code::STACK_FRAME);
        let diag =
            diag.at_instruction(self.module.span(first), Part::Attribute("metadata"), "the frame is dropped");
        self.warn(with_error_count(diag, wrong.count(), "instruction", "instructions"));
    }

    /// Reads an entry of the table `name`. As in XLA, its position in the table determines its number, not
    /// the number before it.
    fn entry(&self, name: &str, span: Span, tables: &mut StackFrames) -> Result<(), AttrError> {
        let text = self.source_at(span);
        let value = text.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
        let mut r = self.names.reader(value, span.end as usize - value.len(), &[]);
        match name {
            "FileNames" => tables.file_names.push(r.string()?),
            "FunctionNames" => tables.function_names.push(r.string()?),
            "FileLocations" => {
                let fields = fields(&mut r, name, FileLocation::FIELDS)?;
                tables.file_locations.push(FileLocation::from_fields(fields));
            }
            _ => {
                let fields = fields(&mut r, name, StackFrame::FIELDS)?;
                tables.stack_frames.push(StackFrame::from_fields(fields));
            }
        }
        r.expect_end()
    }
}

/// Returns the diagnostic with a note that `count` others have the same error.
fn with_error_count(diag: Diag, count: usize, one: &str, several: &str) -> Diag {
    match count {
        0 => diag,
        1 => diag.note(format!("the same goes for 1 more {one}")),
        n => diag.note(format!("the same goes for {n} more {several}")),
    }
}

/// Reads `{name=number …}`, with one number for each of the `names`. Commas are optional.
///
/// # Errors
/// The text does not have this form, a name is unknown or missing, or a number does not fit 32 bits.
pub fn fields<const N: usize>(
    r: &mut AttrReader<'_>,
    table: &str,
    names: &'static [&'static str; N],
) -> Result<[i32; N], AttrError> {
    let start = r.offset_of_next();
    r.expect("{")?;
    let mut values = [None; N];
    while !r.eat("}") {
        let field = r.one_of(names)?;
        r.expect("=")?;
        let value = r.integer32()?;
        if let Some(place) = values.get_mut(field) {
            *place = Some(value);
        }
        r.eat(",");
    }
    let mut out = [0; N];
    for ((out, value), name) in out.iter_mut().zip(values).zip(names) {
        *out = value.ok_or_else(|| r.error_since(start, format!("an entry of `{table}` needs `{name}=`")))?;
    }
    Ok(out)
}
