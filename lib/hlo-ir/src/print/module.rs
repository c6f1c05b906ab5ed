//! Printing of modules: the header, the stack-frame tables, and the computations in order.

use super::PrintOptions;
use super::asynchronous::ShortForms;
use super::shape::{push_integer, push_separator, write_shape};
use crate::attr::{Attrs, ComputationNames, EntryLayout};
use crate::names::is_keyword;
use crate::{ArrayShape, ComputationId, InstrId, Layout, Module, Op, Shape, StackFrames};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt::{self, Write};

/// Maximum nesting depth of computations printed inline.
const MAX_INLINE_DEPTH: usize = 100;
/// Maximum average number of times that each instruction is printed when computations are printed inline.
const MAX_INLINE_GROWTH: usize = 100;
/// Number of instructions that may be printed inline even if that exceeds [`MAX_INLINE_GROWTH`].
const MAX_INLINE_SMALL: usize = 1_000_000;

/// Returns the text of the whole module: header, tables, and computations with callees before callers.
pub fn print_module(module: &Module, options: &PrintOptions) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = Printer::new(module, options).module(&mut out);
    out
}

/// The content of a line of a printed module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// `HloModule` with the attributes.
    Header,
    /// The stack-frame tables; empty if there are none.
    Tables,
    /// The head of a computation, up to its `{`.
    Head(ComputationId),
    /// An instruction.
    Instruction(InstrId),
    /// The `}` at the end of a computation.
    End(ComputationId),
}

/// Returns the text of [`print_module`] with the offset of each line of its computations and instructions, in
/// order. Computations that are printed inline have no lines of their own.
pub fn print_module_with_places(module: &Module, options: &PrintOptions) -> (String, Vec<(usize, Place)>) {
    let mut out = String::new();
    let printer = Printer { places: Some(RefCell::default()), ..Printer::new(module, options) };
    let _ = printer.module(&mut out);
    (out, printer.places.map(RefCell::into_inner).unwrap_or_default())
}

/// Returns the text of a computation as in its module, without a line break at the end.
pub fn print_computation(module: &Module, id: ComputationId, options: &PrintOptions) -> String {
    let mut out = String::new();
    let _ = Printer::new(module, options).computation(&mut out, id);
    out
}

/// Returns the text of an instruction as in its computation, without indentation and without `ROOT`.
pub fn print_instruction(module: &Module, id: InstrId, options: &PrintOptions) -> String {
    let mut out = String::new();
    let printer = Printer::new(module, options);
    printer.number(&module.post_order(module[id].parent));
    let _ = printer.instruction(&mut out, id, 1);
    out
}

/// Returns the text of [`print_instruction`] in at most `max` characters, but at least 100. If the text is
/// longer, the shape of the result is first cut to a third of `max`, so that the opcode is always shown. Then
/// the end is cut.
pub fn print_instruction_within(module: &Module, id: InstrId, options: &PrintOptions, max: usize) -> String {
    let text = print_instruction(module, id, options);
    let max = max.max(100);
    if text.chars().count() <= max {
        return text;
    }
    let cut = |text: &str, max: usize| match text.char_indices().nth(max.saturating_sub(1)) {
        Some((end, _)) if text.chars().count() > max => format!("{}…", text.get(..end).unwrap_or_default()),
        _ => text.to_string(),
    };
    // The shape is between the equals sign and the opcode.
    let opcode = format!(" {}(", module[id].opcode().name());
    let shape = text.split_once(" = ").and_then(|(name, rest)| Some((name, rest.split_once(&opcode)?)));
    let text = match shape {
        Some((name, (shape, rest))) => format!("{name} = {}{opcode}{rest}", cut(shape, max / 3)),
        None => text,
    };
    cut(&text, max)
}

/// The printer's view of a module. Every method writes to the text that it receives.
pub(super) struct Printer<'m> {
    pub(super) module: &'m Module,
    pub(super) options: &'m PrintOptions,
    /// Whether called computations are printed inline.
    pub(super) inline: bool,
    pub(super) short_forms: ShortForms,
    /// In a scheduled module, the computations without a schedule.
    pub(super) fused: HashSet<ComputationId>,
    /// If tuple elements are printed compactly: the instructions that others name as control predecessors.
    pub(super) control_predecessors: HashSet<InstrId>,
    /// If names are canonical: the number of each instruction, by id, in the computations that are being
    /// printed.
    pub(super) numbers: RefCell<Vec<u32>>,
    /// The offsets of the lines, if requested.
    places: Option<RefCell<Vec<(usize, Place)>>>,
}

impl<'m> Printer<'m> {
    pub(super) fn new(module: &'m Module, options: &'m PrintOptions) -> Self {
        let numbered = if options.canonical_names { module.instruction_capacity() } else { 0 };
        let mut control_predecessors = HashSet::new();
        if options.compact_gte {
            let all = module.computations().flat_map(|c| module[c].instructions());
            let common = all.filter_map(|&i| module[i].common.as_deref());
            control_predecessors.extend(common.flat_map(|c| c.control_predecessors.iter().copied()));
        }
        Self {
            module,
            options,
            control_predecessors,
            inline: options.inline_computations && can_inline(module),
            short_forms: ShortForms::of(module),
            fused: if module.header.is_scheduled { module.fused_computations() } else { HashSet::new() },
            numbers: RefCell::new(vec![0; numbered]),
            places: None,
        }
    }

    fn module(&self, out: &mut String) -> fmt::Result {
        self.note(out, Place::Header);
        self.header(out)?;
        out.push_str("\n\n");
        self.note(out, Place::Tables);
        self.tables(out)?;
        let mut order = if self.options.text_order {
            self.module.completion_order()
        } else {
            self.module.computations_post_order()
        };
        order.retain(|&c| self.short_forms.only_operation(c).is_none());
        for id in order {
            self.computation(out, id)?;
            out.push_str("\n\n");
        }
        Ok(())
    }

    fn header(&self, out: &mut String) -> fmt::Result {
        let header = &self.module.header;
        out.push_str("HloModule ");
        if self.options.names {
            out.push_str(if is_keyword(&self.module.name) { "%" } else { "" });
            out.push_str(&self.module.name);
        }
        for (index, field) in header.fields().iter().enumerate() {
            if field.name == "entry_computation_layout" {
                self.entry_layout(out)?;
            } else if !header.is_default(index) {
                out.push_str(", ");
                out.push_str(field.name);
                out.push('=');
                header.write_field(index, out, &NoNames)?;
            }
        }
        Ok(())
    }

    /// Writes the layout of the entry's parameters and result: that of the header, or else that of the
    /// instructions.
    fn entry_layout(&self, out: &mut String) -> fmt::Result {
        let Some(layout) = self.module.entry_layout() else { return Ok(()) };
        out.push_str(", entry_computation_layout={(");
        for (i, shape) in layout.parameters.iter().enumerate() {
            push_separator(out, i, true);
            self.shape(out, shape)?;
        }
        out.push_str(")->");
        self.shape(out, &layout.result)?;
        out.push('}');
        Ok(())
    }

    fn tables(&self, out: &mut String) -> fmt::Result {
        if !self.options.metadata {
            return Ok(());
        }
        let f = &self.module.stack_frames;
        if *f == StackFrames::default() {
            return Ok(());
        }
        write_table(out, "FileNames", &f.file_names)?;
        write_table(out, "FunctionNames", &f.function_names)?;
        write_table(out, "FileLocations", &f.file_locations)?;
        write_table(out, "StackFrames", &f.stack_frames)?;
        out.push('\n');
        Ok(())
    }

    /// Records that a line begins at the end of `out`.
    pub(super) fn note(&self, out: &str, place: Place) {
        if let Some(places) = &self.places {
            places.borrow_mut().push((out.len(), place));
        }
    }

    /// Writes a shape, with its layout if layouts are printed.
    pub(super) fn shape(&self, out: &mut String, shape: &Shape) -> fmt::Result {
        write_shape(out, shape, self.options.layouts)
    }
}

/// Writes a table of stack frames: its name, then the numbered entries.
fn write_table(out: &mut String, name: &str, entries: &[impl fmt::Display]) -> fmt::Result {
    writeln!(out, "{name}")?;
    for (i, entry) in entries.iter().enumerate() {
        push_integer(out, i as u64 + 1);
        writeln!(out, " {entry}")?;
    }
    out.push('\n');
    Ok(())
}

/// Writes no computation names. Header attributes cannot contain any.
struct NoNames;

impl ComputationNames for NoNames {
    fn write_computation(&self, _: &mut dyn fmt::Write, _: ComputationId) -> fmt::Result {
        Ok(())
    }
}

impl Module {
    /// Returns the layout of the entry's parameters and result: that of the header if it has one, otherwise
    /// the shapes of the instructions. With several replicas or partitions, XLA uses row-major layouts,
    /// whatever those of the instructions are. Returns `None` if the module is not finished.
    pub fn entry_layout(&self) -> Option<Cow<'_, EntryLayout>> {
        if let Some(layout) = &self.header.entry_computation_layout {
            return Some(Cow::Borrowed(layout));
        }
        let entry = self.entry_if_set().filter(|&e| self.has_root(e))?;
        let ignore = self.header.replica_count.0 != 1 || self.header.num_partitions.0 != 1;
        let layout = |i: InstrId| {
            let shape = &self[i].shape;
            if ignore { row_major(shape) } else { shape.clone() }
        };
        let parameters = self.parameters(entry).into_iter().map(layout).collect();
        Some(Cow::Owned(EntryLayout { parameters, result: layout(self[entry].root()) }))
    }
}

/// Returns the shape with all arrays in row-major order. Other parts of their layouts stay.
fn row_major(shape: &Shape) -> Shape {
    match shape {
        Shape::Array(a) => {
            let items = a.layout.as_ref().and_then(|l| l.items());
            let layout = items.map(|i| Layout::row_major(a.rank()).with_items(i.clone()));
            Shape::Array(ArrayShape { layout, ..a.clone() })
        }
        Shape::Tuple(elements) => Shape::Tuple(elements.iter().map(row_major).collect()),
        Shape::Token | Shape::Opaque | Shape::Buffer(_) => shape.clone(),
    }
}

/// Returns whether the text with all computations printed inline has an acceptable size and depth.
fn can_inline(module: &Module) -> bool {
    let mut sizes: Vec<Option<(usize, usize)>> = Vec::new();
    let (mut total, mut instructions) = (0usize, 0usize);
    for c in module.computations_post_order() {
        let (mut size, mut depth) = (0usize, 0usize);
        for &i in module[c].instructions() {
            instructions += 1;
            size = size.saturating_add(1);
            // Parameters and constants are not printed inline.
            if matches!(module[i].op, Op::Parameter(_) | Op::Constant(_)) {
                continue;
            }
            for callee in module[i].op.called_computations() {
                // A callee that has not been visited is part of a cycle.
                let Some((s, d)) = sizes.get(callee.index()).copied().flatten() else { return false };
                size = size.saturating_add(s);
                depth = depth.max(d + 1);
            }
        }
        if sizes.len() <= c.index() {
            sizes.resize(c.index() + 1, None);
        }
        sizes[c.index()] = Some((size, depth));
        total = total.saturating_add(size);
        if depth > MAX_INLINE_DEPTH {
            return false;
        }
    }
    total <= instructions.saturating_mul(MAX_INLINE_GROWTH).max(MAX_INLINE_SMALL)
}
