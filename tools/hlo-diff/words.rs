//! Text of instructions and changes.

use hlo_ir::print::{Place, PrintOptions, print_instruction, print_module_with_places};
use hlo_ir::{InstrId, Module};
use hlo_module_diff::{Change, Counts, Ignore, Side};
use std::collections::HashMap;

/// Maximum length of an attribute value that is shown in full.
const MAX_VALUE: usize = 160;

/// The text of each instruction.
pub struct Lines {
    text: String,
    places: HashMap<InstrId, (usize, usize)>,
    options: PrintOptions,
}

/// Prints a module once for all its instructions, without the ignored parts.
pub fn lines(module: &Module, ignore: Ignore) -> Lines {
    let options = PrintOptions {
        metadata: !ignore.metadata,
        layouts: !ignore.layout,
        backend_config: !ignore.backend_config,
        print_large_constants: false,
        index_annotations: false,
        ..PrintOptions::default()
    };
    let (text, all) = print_module_with_places(module, &options);
    let mut places = HashMap::new();
    for (n, &(start, place)) in all.iter().enumerate() {
        let end = all.get(n + 1).map_or(text.len(), |&(next, _)| next);
        if let Place::Instruction(id) = place {
            places.insert(id, (start, end));
        }
    }
    Lines { text, places, options }
}

impl Lines {
    /// Returns the line of an instruction, including `ROOT`.
    pub fn of(&self, module: &Module, id: InstrId) -> String {
        match self.places.get(&id).and_then(|&(start, end)| self.text.get(start..end)) {
            Some(line) => line.trim().to_string(),
            // The instruction belongs to a computation that is printed as an asynchronous operation.
            None => print_instruction(module, id, &self.options),
        }
    }
}

/// Describes a change.
pub fn describe(change: &Change) -> String {
    let name = |n: &Option<String>| n.as_ref().map_or("(none)".to_string(), |n| format!("%{n}"));
    match change {
        Change::Name { left, right } => format!("name: {left} → {right}"),
        Change::Opcode { left, right } => format!("opcode: {left} → {right}"),
        Change::Shape { left, right } => {
            format!("shape: {} → {}", cut(&left.to_string()), cut(&right.to_string()))
        }
        Change::Layout { left, right } => {
            let (left, right) = (left.with_layouts().to_string(), right.with_layouts().to_string());
            format!("layout: {} → {}", cut(&left), cut(&right))
        }
        Change::Operand { index, left, right } => {
            format!("operand {index}: {} → {}", name(left), name(right))
        }
        Change::Attribute { name, left, right } => format!("{name}: {} → {}", value(left), value(right)),
        Change::Value => "value: other elements".to_string(),
        Change::Root { side: Side::Left } => "root: no longer".to_string(),
        Change::Root { side: Side::Right } => "root: now".to_string(),
        Change::Moved => "schedule: at another place".to_string(),
    }
}

fn value(text: &str) -> String {
    if text.is_empty() { "(none)".to_string() } else { cut(text) }
}

/// Truncates a text to the maximum length.
fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_VALUE) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_string(),
    }
}

/// Returns the counts on one line.
pub fn counts(counts: Counts) -> String {
    let Counts { same, added, removed, changed, renamed } = counts;
    format!(
        "instructions: {added} added, {removed} removed, {changed} changed, {renamed} renamed or moved, {same} the same"
    )
}
