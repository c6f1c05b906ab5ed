//! Printing of computations and instructions.

use super::literal::write_value;
use super::module::{Place, Printer};
use super::shape::{push_integer, push_separator, write_shape};
use crate::attr::ConstantAttrs;
use crate::names::is_keyword;
use crate::{AlignedBytes, ComputationId, InstrId, Literal, Op, Shape};
use std::fmt::{self, Write};

/// The number of elements above which a constant is large, as in XLA.
const LARGE_CONSTANT: usize = 10;

impl Printer<'_> {
    /// Writes a computation with its head, as in a module.
    pub(super) fn computation(&self, out: &mut String, id: ComputationId) -> fmt::Result {
        let c = &self.module[id];
        self.note(out, Place::Head(id));
        if self.module.entry_if_set() == Some(id) {
            out.push_str("ENTRY ");
        }
        if self.options.names {
            out.extend([self.percent(&c.name), &c.name, " "]);
        }
        if self.options.program_shape {
            self.signature(out, id)?;
        }
        let order = if self.fused.contains(&id) {
            self.module.dependency_order(id)
        } else {
            self.module.post_order(id)
        };
        self.body(out, id, &order, 0)?;
        self.execution_thread(out, id)
    }

    pub(super) fn execution_thread(&self, out: &mut String, id: ComputationId) -> fmt::Result {
        if self.options.names
            && let Some(thread) = &self.module[id].execution_thread
        {
            write!(out, ", execution_thread={thread}")?;
        }
        Ok(())
    }

    fn signature(&self, out: &mut String, id: ComputationId) -> fmt::Result {
        out.push('(');
        for (i, p) in self.module.parameters(id).into_iter().enumerate() {
            if i > 0 {
                out.push_str(", ");
            }
            out.push_str(&self.module[p].name);
            out.push_str(": ");
            write_shape(out, &self.module[p].shape, false)?;
        }
        out.push_str(") -> ");
        if self.module.has_root(id) {
            write_shape(out, &self.module[self.module[id].root()].shape, false)?;
        }
        out.push(' ');
        Ok(())
    }

    /// Writes the braces and the instructions in the given order. `depth` is the indentation of the braces.
    pub(super) fn body(
        &self,
        out: &mut String,
        id: ComputationId,
        order: &[InstrId],
        depth: usize,
    ) -> fmt::Result {
        self.number(order);
        out.push_str("{\n");
        let root = self.module.has_root(id).then(|| self.module[id].root());
        for &i in order {
            if self.is_hidden(i) {
                continue;
            }
            if depth == 0 {
                self.note(out, Place::Instruction(i));
            }
            push_indentation(out, depth + 1);
            if Some(i) == root {
                out.push_str("ROOT ");
            }
            self.instruction(out, i, depth + 1)?;
            out.push('\n');
        }
        if depth == 0 {
            self.note(out, Place::End(id));
        }
        push_indentation(out, depth);
        out.push('}');
        Ok(())
    }

    /// Numbers the instructions of a computation for canonical names.
    pub(super) fn number(&self, order: &[InstrId]) {
        let mut numbers = self.numbers.borrow_mut();
        for (n, i) in order.iter().enumerate() {
            if let Some(number) = numbers.get_mut(i.index()) {
                *number = n as u32;
            }
        }
    }

    /// Returns the prefix of the name of a computation or an instruction. A keyword can only be a name after
    /// a `%`.
    pub(super) fn percent(&self, name: &str) -> &'static str {
        if self.options.percent || is_keyword(name) { "%" } else { "" }
    }

    /// Writes the name of an instruction.
    pub(super) fn name(&self, out: &mut String, id: InstrId) {
        match self.numbers.borrow().get(id.index()) {
            Some(&n) => {
                out.extend([self.percent("tmp_"), "tmp_"]);
                push_integer(out, n.into());
            }
            None => {
                let name = &*self.module[id].name;
                out.extend([self.percent(name), name]);
            }
        }
    }

    /// Returns whether an instruction is a `get-tuple-element` that is printed as part of its users'
    /// operands.
    fn is_hidden(&self, id: InstrId) -> bool {
        let i = &self.module[id];
        self.options.compact_gte
            && !self.control_predecessors.contains(&id)
            && matches!(&i.op, Op::GetTupleElement(_))
            && i.common.is_none()
            && !self.module.users(id).is_empty()
            && !self.module.is_root(id)
    }

    /// Writes an operand: its name, or the name of a tuple with the indices of its element.
    fn operand(&self, out: &mut String, id: InstrId) {
        let mut indices = Vec::new();
        let mut at = id;
        while let (true, Op::GetTupleElement(a)) = (self.is_hidden(at), &self.module[at].op)
            && let Some(&tuple) = self.module[at].operands.first()
        {
            indices.push(a.index);
            at = tuple;
        }
        self.name(out, at);
        for index in indices.into_iter().rev() {
            out.push('#');
            push_integer(out, index.max(0) as u64);
        }
    }

    /// Writes an instruction of a computation with the indentation `depth`.
    pub(super) fn instruction(&self, out: &mut String, id: InstrId, depth: usize) -> fmt::Result {
        let i = &self.module[id];
        self.name(out, id);
        out.push_str(" = ");
        self.shape(out, &i.shape)?;
        out.push(' ');
        let wrapped = self.short_forms.wrapped(id);
        match wrapped {
            Some(w) => {
                out.push_str(self.module[w].op.name());
                out.push_str(i.opcode().short_form_suffix().unwrap_or_default());
            }
            None => out.push_str(i.op.name()),
        }
        out.push('(');
        match &i.op {
            Op::Parameter(p) => push_integer(out, p.number.max(0) as u64),
            Op::Constant(c) => self.constant(out, c)?,
            _ => {
                for (n, &operand) in i.operands.iter().enumerate() {
                    push_separator(out, n, self.options.index_annotations);
                    if self.options.operand_shapes {
                        self.shape(out, &self.module[operand].shape)?;
                        out.push(' ');
                    }
                    self.operand(out, operand);
                }
            }
        }
        out.push(')');
        match wrapped {
            Some(w) => self.short_form_attributes(out, &i.op, w, depth)?,
            None => self.attributes(out, &i.op, depth)?,
        }
        match i.common.as_deref() {
            Some(common) => self.common(out, common),
            None => Ok(()),
        }
    }

    fn constant(&self, out: &mut String, constant: &ConstantAttrs) -> fmt::Result {
        let ConstantAttrs { literal, elided } = constant;
        let in_part = self.options.print_large_constants && !self.options.essential_constants_only;
        if constant.is_elided() && !(in_part && elided.contains(&false)) {
            return out.write_str("{...}");
        }
        if constant.is_elided() {
            return write_in_part(out, literal, &mut elided.iter().copied());
        }
        if self.options.essential_constants_only {
            return match uniform_value(literal).as_deref() {
                Some("0" | "false" | "(0, 0)") => out.write_str("0"),
                Some("1" | "true" | "(1, 0)") => out.write_str("1"),
                _ if is_integral(literal.shape()) => write_value(out, literal, None),
                _ => out.write_str("{...}"),
            };
        }
        let large = match literal.shape() {
            Shape::Array(a) => a.element_count() > LARGE_CONSTANT,
            Shape::Tuple(_) => true,
            _ => false,
        };
        if large && !self.options.print_large_constants {
            return out.write_str("{...}");
        }
        write_value(out, literal, None)
    }
}

/// Writes a value in which some arrays are elided. `elided` returns whether to elide the next array.
fn write_in_part(
    out: &mut String,
    literal: &Literal,
    elided: &mut impl Iterator<Item = bool>,
) -> fmt::Result {
    if !matches!(literal.shape(), Shape::Tuple(_)) {
        return match elided.next() {
            Some(true) => out.write_str("{...}"),
            _ => write_value(out, literal, None),
        };
    }
    out.push_str("( ");
    for (i, element) in literal.tuple_elements().iter().enumerate() {
        out.push_str(if i > 0 { ", " } else { "" });
        write_in_part(out, element, elided)?;
    }
    out.push_str(" )");
    Ok(())
}

/// Returns the text of an array's element if all elements are equal; `0` if there are none.
fn uniform_value(literal: &Literal) -> Option<String> {
    let element_type = literal.shape().as_array()?.element_type;
    let bytes = literal.bytes();
    let Some(first) = bytes.get(..element_type.byte_size()).filter(|f| !f.is_empty()) else {
        return Some("0".into());
    };
    if bytes.chunks_exact(first.len()).any(|e| e != first) {
        return None;
    }
    let mut text = String::new();
    write_value(
        &mut text,
        &Literal::from_bytes(Shape::scalar(element_type), AlignedBytes::from_slice(first)),
        None,
    )
    .ok()?;
    Some(text)
}

/// Returns whether all arrays of the shape have integer elements.
fn is_integral(shape: &Shape) -> bool {
    match shape {
        Shape::Array(a) => a.element_type.is_integer(),
        Shape::Tuple(elements) => elements.iter().all(is_integral),
        Shape::Token | Shape::Opaque | Shape::Buffer(_) => false,
    }
}

fn push_indentation(out: &mut String, depth: usize) {
    for _ in 0..depth {
        out.push_str("  ");
    }
}
