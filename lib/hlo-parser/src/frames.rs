//! The stack-frame tables between a module's header and its computations.
//!
//! XLA wants all four, in its order. Here any may be missing, as they may stand in any order: in print all four are
//! there again.

use crate::grammar::Rule;
use crate::module::ModuleParser;
use hlo_ir::attr::{AttrError, AttrReader};
use hlo_ir::diag::Diag;
use hlo_ir::rules::code;
use hlo_ir::{FileLocation, Span, StackFrame, StackFrames};
use pest::iterators::Pair;

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
        let mut tables = std::mem::take(&mut self.module.stack_frames);
        for entry in parts {
            let span = self.span_of(entry.as_str());
            if let Err(e) = self.entry(name.as_str(), span, &mut tables) {
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

    /// Reads an entry of the table `name` into its place.
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

/// Reads `{name=number …}`, a number for each of the `names`; commas are optional.
fn fields<const N: usize>(
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
