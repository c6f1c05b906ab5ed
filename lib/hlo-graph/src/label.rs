//! What stands in a box.

use crate::kind::Kind;
use hlo_ir::attr::ComputationNames;
use hlo_ir::print::{PrintOptions, print_instruction_within, write_value};
use hlo_ir::{ComputationId, InstrId, Literal, Module, Op, Shape};
use std::collections::HashSet;

/// The longest line of a box.
pub(crate) const MAX_LINE: usize = 42;
/// The longest shape beside a line.
const MAX_SHAPE: usize = 30;
/// The longest text of an instruction.
pub(crate) const MAX_TEXT: usize = 1200;
/// The most lines of attributes.
const MAX_ATTRIBUTES: usize = 4;

/// The attributes that stand in boxes; all others are in the instruction's text only.
const SHOWN: &[&str] = &[
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

/// The text, cut if it is longer.
pub(crate) fn cut(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some(_) => text.chars().take(max.saturating_sub(1)).chain(['…']).collect(),
        None => text.to_owned(),
    }
}

/// The text, without its beginning if it is longer.
pub(crate) fn cut_front(text: &str, max: usize) -> String {
    let count = text.chars().count();
    match count > max {
        true => ['…'].into_iter().chain(text.chars().skip(count + 1 - max)).collect(),
        false => text.to_owned(),
    }
}

/// The text of an instruction; of a long one the shape and the end are cut, so that the opcode is there.
pub(crate) fn instruction(module: &Module, id: InstrId) -> String {
    let options = PrintOptions { print_large_constants: false, percent: false, ..PrintOptions::default() };
    let text = print_instruction_within(module, id, &options, MAX_TEXT);
    text.trim().to_owned()
}

/// The shape beside a line; of a long tuple only its length.
pub(crate) fn short_shape(shape: &Shape) -> String {
    let text = shape.to_string();
    match shape.as_tuple() {
        Some(elements) if text.chars().count() > MAX_SHAPE => format!("({} elements)", elements.len()),
        _ => cut(&text, MAX_SHAPE),
    }
}

/// The opcode, with what distinguishes it most.
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
            format!("{name} {}", cut(&value(&a.literal), MAX_LINE / 2))
        }
        _ => match op.called_computations()[..] {
            [applied] if inside(module, id).is_empty() => format!("{name} by {}", function(module, applied)),
            _ => name.to_string(),
        },
    }
}

/// A small computation in a word: the opcode of its root.
fn function(module: &Module, computation: ComputationId) -> String {
    match module.has_root(computation) {
        true => module[module[computation].root()].opcode().name().to_string(),
        false => module[computation].name.to_string(),
    }
}

/// Computations are called by their names.
struct Names<'a>(&'a Module);

impl ComputationNames for Names<'_> {
    fn write_computation(&self, f: &mut dyn std::fmt::Write, id: ComputationId) -> std::fmt::Result {
        f.write_str(&self.0[id].name)
    }
}

/// The text of an attribute, if the opcode has it, and whether it is the default value.
fn attribute(module: &Module, op: &Op, name: &str) -> Option<(String, bool)> {
    let attrs = op.attrs()?;
    let field = attrs.fields().iter().position(|f| f.name == name)?;
    let mut text = String::new();
    attrs.write_field(field, &mut text, &Names(module)).ok()?;
    Some((text, attrs.is_default(field)))
}

/// The important attributes, a line each.
pub(crate) fn attributes(module: &Module, id: InstrId) -> Vec<String> {
    let op = &module[id].op;
    let shown = SHOWN.iter().filter_map(|name| {
        let (value, _) = attribute(module, op, name).filter(|(v, default)| !default && v != "{}")?;
        Some(cut(&format!("{}={value}", short_name(name)), MAX_LINE))
    });
    shown.take(MAX_ATTRIBUTES).collect()
}

/// A shorter name for an attribute whose own takes the width of a box.
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

/// The value of a literal; of a long one only that there is one.
fn value(literal: &Literal) -> String {
    let mut text = String::new();
    match write_value(&mut text, literal, Some(4)) {
        Ok(()) => text.replace('\n', " "),
        Err(_) => String::new(),
    }
}

/// The most opcodes that tell what a fusion does.
const MAX_OPCODES: usize = 6;

/// What a fused computation does: its opcodes, each once, those that only move elements left out where there are others.
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
    (!shown.is_empty()).then(|| cut(&format!("{}{more}", shown.join(", ")), MAX_LINE))
}

/// The value of a scalar constant, or of what is broadcast from one.
pub(crate) fn scalar(module: &Module, mut id: InstrId) -> Option<String> {
    loop {
        match &module[id].op {
            Op::Constant(a) => return Some(value(&a.literal)),
            Op::Broadcast(_) => id = *module[id].operands.first()?,
            _ => return None,
        }
    }
}

/// The computations inside of an instruction's box, each with what it is to the instruction. Those of one operation on
/// scalars, as most reductions have, are named in the box instead.
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
