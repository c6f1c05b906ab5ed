//! The text in a box.

use crate::kind::Kind;
use hlo_ir::attr::ComputationNames;
use hlo_ir::print::{PrintOptions, print_instruction_within, write_value};
use hlo_ir::{ComputationId, InstrId, Literal, Module, Op, Shape};
use std::collections::HashSet;

/// The maximum length of a line in a box.
pub(crate) const MAX_LINE_LENGTH: usize = 42;
/// The maximum length of a shape beside an edge.
const MAX_SHAPE: usize = 30;
/// The maximum length of the text of an instruction.
pub(crate) const MAX_TEXT: usize = 1200;
/// The maximum number of attribute lines.
const MAX_ATTRIBUTES: usize = 4;

/// The attributes that boxes show. The other attributes appear only in the instruction's text.
const SHOWN_ATTRIBUTES: &[&str] = &[
    "dimensions",
    "slice",
    "padding",
    "dynamic_slice_sizes",
    "iota_dimension",
    "lhs_batch_dims",
    "lhs_contracting_dims",
    "rhs_batch_dims",
    "rhs_contracting_dims",
    "window",
    "dim_labels",
    "feature_group_count",
    "slice_sizes",
    "custom_call_target",
    "fft_type",
    "distribution",
    "index",
    "k",
];

/// Returns the text, with the end cut off if it is longer than `max`.
pub(crate) fn cut(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some(_) => text.chars().take(max.saturating_sub(1)).chain(['…']).collect(),
        None => text.to_owned(),
    }
}

/// Returns the text, with the beginning cut off if it is longer than `max`.
pub(crate) fn cut_front(text: &str, max: usize) -> String {
    let count = text.chars().count();
    if count > max {
        ['…'].into_iter().chain(text.chars().skip(count + 1 - max)).collect()
    } else {
        text.to_owned()
    }
}

/// Returns the text of an instruction. If it is long, the shape and the end are shortened, so that the opcode
/// remains visible.
pub(crate) fn instruction(module: &Module, id: InstrId) -> String {
    let options = PrintOptions { print_large_constants: false, percent: false, ..PrintOptions::default() };
    let text = print_instruction_within(module, id, &options, MAX_TEXT);
    text.trim().to_owned()
}

/// Returns the shape for the label of an edge. A long tuple shows only its length.
pub(crate) fn short_shape(shape: &Shape) -> String {
    let text = shape.to_string();
    match shape.as_tuple() {
        Some(elements) if text.chars().count() > MAX_SHAPE => format!("({} elements)", elements.len()),
        _ => cut(&text, MAX_SHAPE),
    }
}

/// Returns the opcode with its most distinctive attribute.
pub(crate) fn head(module: &Module, id: InstrId) -> String {
    let op = &module[id].op;
    let name = op.opcode().name();
    match op {
        Op::Parameter(p) => format!("{name} {}", p.number),
        Op::Compare(_) => format!("{name} {}", attribute(module, op, "direction").unwrap_or_default().0),
        Op::Fusion(_) => {
            let (kind, _) = attribute(module, op, "kind").unwrap_or_default();
            format!("{name} {}", kind.trim_start_matches('k').to_lowercase())
        }
        Op::Constant(a) => {
            format!("{name} {}", cut(&value(&a.literal), MAX_LINE_LENGTH / 2))
        }
        _ => match op.called_computations()[..] {
            [applied] if inside(module, id).is_empty() => format!("{name} by {}", function(module, applied)),
            _ => name.to_string(),
        },
    }
}

/// Returns a one-word description of a small computation: the opcode of its root.
fn function(module: &Module, computation: ComputationId) -> String {
    if module.has_root(computation) {
        module[module[computation].root()].opcode().name().to_string()
    } else {
        module[computation].name.to_string()
    }
}

/// Writes computations by their names.
struct Names<'a>(&'a Module);

impl ComputationNames for Names<'_> {
    fn write_computation(&self, f: &mut dyn std::fmt::Write, id: ComputationId) -> std::fmt::Result {
        f.write_str(&self.0[id].name)
    }
}

/// Returns the text of an attribute, if the opcode has it, and whether it is the default value.
fn attribute(module: &Module, op: &Op, name: &str) -> Option<(String, bool)> {
    let attrs = op.attrs()?;
    let field = attrs.fields().iter().position(|f| f.name == name)?;
    let mut text = String::new();
    attrs.write_field(field, &mut text, &Names(module)).ok()?;
    Some((text, attrs.is_default(field)))
}

/// Returns the important attributes, one per line.
pub(crate) fn attributes(module: &Module, id: InstrId) -> Vec<String> {
    let op = &module[id].op;
    let shown = SHOWN_ATTRIBUTES.iter().filter_map(|name| {
        let (value, _) = attribute(module, op, name).filter(|(v, default)| !default && v != "{}")?;
        Some(cut(&format!("{}={value}", short_name(name)), MAX_LINE_LENGTH))
    });
    shown.take(MAX_ATTRIBUTES).collect()
}

/// Returns a shorter name for an attribute whose name is as wide as a box.
fn short_name(name: &str) -> &str {
    match name {
        "lhs_batch_dims" => "lhs batch",
        "lhs_contracting_dims" => "lhs contracting",
        "rhs_batch_dims" => "rhs batch",
        "rhs_contracting_dims" => "rhs contracting",
        "custom_call_target" => "target",
        other => other,
    }
}

/// Returns the value of a literal. Long values are elided.
fn value(literal: &Literal) -> String {
    let mut text = String::new();
    match write_value(&mut text, literal, Some(4)) {
        Ok(()) => text.replace('\n', " "),
        Err(_) => String::new(),
    }
}

/// The maximum number of opcodes in the summary of a fusion.
const MAX_OPCODES: usize = 6;

/// Summarizes a fused computation by its opcodes, each once. Opcodes that only move elements are omitted if
/// there are others.
pub(crate) fn contents(module: &Module, id: InstrId) -> Option<String> {
    let Op::Fusion(a) = &module[id].op else { return None };
    let order = module.post_order(a.calls);
    let mut seen = HashSet::new();
    let mut opcodes = |moves: bool| -> Vec<&'static str> {
        let kinds = order.iter().map(|&i| &module[i].op).filter(|op| {
            let kind = Kind::of(op);
            !matches!(kind, Kind::Parameter | Kind::Constant) && moves == (kind == Kind::Movement)
        });
        kinds.map(|op| op.opcode().name()).filter(|name| seen.insert(*name)).collect()
    };
    let found = Some(opcodes(false)).filter(|o| !o.is_empty()).unwrap_or_else(|| opcodes(true));
    let more = if found.len() > MAX_OPCODES { ", …" } else { "" };
    let shown = &found[..found.len().min(MAX_OPCODES)];
    (!shown.is_empty()).then(|| cut(&format!("{}{more}", shown.join(", ")), MAX_LINE_LENGTH))
}

/// Returns the value of a scalar constant, or of a broadcast of one.
pub(crate) fn scalar(module: &Module, mut id: InstrId) -> Option<String> {
    loop {
        match &module[id].op {
            Op::Constant(a) => return Some(value(&a.literal)),
            Op::Broadcast(_) => id = *module[id].operands.first()?,
            _ => return None,
        }
    }
}

/// Returns the computations inside an instruction's box, each with its role. Computations with a single
/// operation on scalars, such as most reducers, are named in the box instead.
pub(crate) fn inside(module: &Module, id: InstrId) -> Vec<(String, ComputationId)> {
    let op = &module[id].op;
    let callees = op.called_computations();
    match op {
        Op::While(a) => vec![("condition".to_string(), a.condition), ("body".to_string(), a.body)],
        Op::Conditional(_) => {
            callees.into_iter().enumerate().map(|(n, c)| (format!("branch {n}"), c)).collect()
        }
        Op::Fusion(_) | Op::Call(_) | Op::AsyncStart(_) => {
            callees.into_iter().map(|c| (String::new(), c)).collect()
        }
        _ => {
            let large = |&c: &ComputationId| {
                let parameter = |&&i: &&InstrId| !matches!(module[i].op, Op::Parameter(_));
                module[c].instructions().iter().filter(parameter).count() > 1
            };
            callees.into_iter().filter(large).map(|c| (module[c].name.to_string(), c)).collect()
        }
    }
}
