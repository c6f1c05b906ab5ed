//! Parsing of an instruction: shape, opcode, operands, attributes.

use crate::attributes::AttributeTokens;
use crate::hints;
use crate::names::{bare_name, opcode_or_asynchronous};
use crate::parser::{Body, Chain, ModuleParser, Slot};
use crate::syntax::{self, Head, ScannedText, Stop, Text, wanted};
use crate::wrapped::{Wrapped, thread};
use hlo_ir::attr::ComparisonType;
use hlo_ir::diag::Diag;
use hlo_ir::ops::infer_shape;
use hlo_ir::rules::code;
use hlo_ir::{Arity, ArrayShape, InstrId, Op, Opcode, Shape, Span};
use std::collections::hash_map::Entry;

/// The text of an instruction, as slices of [`ModuleParser::text`].
pub struct InstructionText<'t> {
    /// The whole text.
    pub text: &'t str,
    /// The part before the attributes.
    pub statement: &'t str,
    /// The attributes, each with its name.
    pub attributes: AttributeTokens<'t>,
}

impl<'t> ModuleParser<'t> {
    /// Reads an instruction into `body`. Returns an error if the text is not an instruction.
    pub fn instruction(&mut self, mut written: InstructionText<'t>, body: &mut Body<'t>) -> Result<(), Stop> {
        let Span { start, end } = self.span_of(written.statement);
        let mut t = ScannedText::new(&self.text[..end as usize], start as usize);
        let definition = t.definition(!body.single)?;
        let name = bare_name(definition.name);
        let name_span = self.span_of(definition.name);
        let root = definition.root.map(|r| self.span_of(r));
        self.check_instruction_name(definition.name);
        let id = match syntax::head(&mut t) {
            Ok(head) => self.operation(&mut t, head, Some((name, &mut written)), body)?,
            // The end of the instruction is known even if its shape is invalid.
            Err(diag) if t.has_wrong_shape => {
                self.report(*diag);
                None
            }
            Err(diag) => return Err(diag),
        };
        body.failed |= id.is_none();
        match body.names.entry(name) {
            // A single instruction needs no name.
            Entry::Vacant(_) if name.is_empty() => {}
            Entry::Occupied(first) => {
                let first = first.get().span;
                let diag = Diag::error(format!("the name `{name}` is used twice in a computation"));
                let diag = diag.with_code(code::NAME_TWICE);
                self.report(diag.at(name_span, "defined again here").and(first, "first defined here"));
            }
            Entry::Vacant(slot) => {
                slot.insert(Slot { id, span: name_span });
            }
        }
        if id.is_some() {
            body.last = id;
        }
        if let Some(here) = root {
            match body.root {
                // If brackets do not match, it may be the root of another body.
                Some((_, first)) if !self.same_body(first.start as usize, here.start as usize) => {}
                Some((_, first)) => self.report(
                    Diag::error("a computation has one root")
                        .with_code(code::ROOT_TWICE)
                        .at(here, "the second one")
                        .and(first, "the first one"),
                ),
                None => body.root = Some((id, here)),
            }
        }
        Ok(())
    }

    /// Completes attributes like XLA: the shape of a sent value, the list of called computations. Returns
    /// `None` after an error.
    fn complete(&mut self, op: &mut Op, operands: &[InstrId], span: Span) -> Option<()> {
        match op {
            Op::CustomCall(a) => a.normalize(),
            Op::Map(a) if a.dimensions.is_empty() => {
                let rank = operands
                    .first()
                    .and_then(|&o| self.module[o].shape.as_array())
                    .map_or(0, ArrayShape::rank);
                a.dimensions = (0..).take(rank).collect();
            }
            Op::Compare(a) => {
                let ty =
                    operands.first().and_then(|&o| self.module[o].shape.as_array()).map(|s| s.element_type);
                // Like XLA, omits the default comparison type.
                if ty.is_some_and(|ty| a.comparison_type.is_usual_for(ty)) {
                    a.comparison_type = ComparisonType::Default;
                }
            }
            // The main thread is the default, so it is not stored.
            Op::AsyncStart(a) => {
                a.async_execution_thread = thread(a.async_execution_thread.as_ref());
            }
            Op::AsyncUpdate(a) => {
                a.async_execution_thread = thread(a.async_execution_thread.as_ref());
            }
            Op::AsyncDone(a) => {
                a.async_execution_thread = thread(a.async_execution_thread.as_ref());
            }
            Op::Outfeed(a) if a.outfeed_shape.0.is_none() => {
                if let Some(&sent) = operands.first() {
                    a.outfeed_shape.0 = Some(self.unwritten_shape(sent, span)?);
                }
            }
            _ => {}
        }
        Some(())
    }

    /// Reads operands and attributes and adds the instruction. Returns `None` if it is invalid. `t` is at the
    /// opening parenthesis and advances past the closing one. An instruction without `own` is an unnamed
    /// operand.
    pub fn operation(
        &mut self,
        t: &mut ScannedText<'t>,
        head: Head<&'t str>,
        own: Option<(&'t str, &mut InstructionText<'t>)>,
        body: &mut Body<'t>,
    ) -> Result<Option<InstrId>, Stop> {
        let before = self.diags.len();
        let Head { start, shape, opcode: opcode_text, .. } = head;
        let opcode_span = self.span_of(opcode_text);
        let Some((opcode, wrapped)) = opcode_or_asynchronous(opcode_text) else {
            syntax::inside(t, &head, 0)?;
            self.report(hints::unknown_opcode(opcode_text, opcode_span));
            return Ok(None);
        };
        let shape = shape.map(|_| self.shapes.share(std::mem::replace(&mut t.shape, Shape::Token)));
        let mut op = opcode.default_op();
        let arguments = self.arguments(t, &mut op, shape.as_ref(), body)?;
        if own.is_some() && !t.c.at_end() {
            t.unexpected(wanted::NAME)?;
        }
        let is_operand = own.is_none();
        let none = &mut AttributeTokens::new();
        let (name, span, attributes) = match own {
            Some((name, written)) => (name, self.span_of(written.text), &mut written.attributes),
            None => ("", Span::new(start, t.c.offset()), none),
        };
        if let (Some(wrapped), Some(shape), false) = (wrapped, &shape, arguments.failed) {
            let wrapped = Wrapped { opcode: wrapped, span: opcode_span };
            if self.wrap(&mut op, wrapped, &arguments.operands, shape, attributes, body).is_none() {
                return Ok(None);
            }
        }
        let place = opcode_span;
        let mut common = self.read_attributes(&mut op, attributes, place, body);
        if arguments.failed || self.diags.len() > before {
            return Ok(None);
        }
        let Ok(chain) = self.chain(&mut op, wrapped, &arguments.operands, opcode_span) else {
            return Ok(None);
        };
        if let (Some(chain), Some(shape), true) = (&chain, &shape, wrapped.is_some()) {
            self.complete_wrapped(chain, &op, shape);
        }
        // No asynchronous operand precedes it, so it is not an asynchronous update of a `dynamic-slice`.
        if wrapped.is_some() && chain.is_none() && hints::reordered(opcode_text).is_some() {
            self.report(hints::unknown_opcode(opcode_text, opcode_span));
            return Ok(None);
        }
        self.set_number(&mut op, arguments.number, opcode_span);
        self.check_arity(opcode, arguments.operands.len(), opcode_span);
        if self.diags.len() > before {
            return Ok(None);
        }
        // A value has fixed sizes: if the shape of a constant has bounds, they are its sizes.
        let shape = match &op {
            Op::Constant(c) => Some(c.literal.shape().clone()),
            _ => shape.map(|s| self.transfer_shape(&op, &arguments.operands, s, opcode_span)),
        };
        let Some(shape) = shape.or_else(|| self.infer(&op, &arguments.operands, opcode_span)) else {
            return Ok(None);
        };
        if self.complete(&mut op, &arguments.operands, opcode_span).is_none() {
            return Ok(None);
        }
        common.attrs.sharding = common.attrs.sharding.take().map(|s| s.for_shape(&shape));
        let id = self.module.add(body.computation, name, shape, op, arguments.operands);
        if name.is_empty() {
            body.unnamed.push((id, if is_operand { format!("{opcode_text}.anon") } else { "_".into() }));
        }
        self.module.set_span(id, span);
        if let Some(chain) = chain {
            self.chains.insert(id, Chain { start: chain.start.or(Some(id)), ..chain });
        }
        if common.any {
            *self.module.common_mut(id) = common.attrs;
        }
        Ok(Some(id))
    }

    fn set_number(&mut self, op: &mut Op, number: Option<(i64, Span)>, span: Span) {
        let Op::Parameter(p) = op else { return };
        match number {
            Some((n, _)) if n >= 0 => p.number = n,
            Some((n, at)) => {
                let diag = Diag::error(format!("a parameter's number is not negative, found {n}"));
                self.report(diag.with_code(code::PARAMETER_NUMBER).at(at, ""));
            }
            None => {
                let message = "a parameter needs its number, as in `parameter(0)`";
                self.report(Diag::error(message).with_code(code::PARAMETER_NUMBER).at(span, ""));
            }
        }
    }

    fn check_arity(&mut self, opcode: Opcode, found: usize, span: Span) {
        let (fits, wanted) = match opcode.arity() {
            Arity::Exactly(n) => (found == n, n.to_string()),
            Arity::AtLeast(n) => (found >= n, format!("{n} or more")),
        };
        if !fits {
            let plural = if wanted == "1" { "" } else { "s" };
            let message = format!("`{opcode}` takes {wanted} operand{plural}, found {found}");
            self.report(Diag::error(message).with_code(code::ARITY).at(span, ""));
        }
    }

    /// Copies an operand's shape for an instruction without a declared shape. Returns `None` after reporting
    /// that such shapes are too large in total.
    pub fn unwritten_shape(&mut self, operand: InstrId, span: Span) -> Option<Shape> {
        let shape = &self.module[operand].shape;
        match self.inferred.too_many(shape, self.text) {
            None => Some(shape.clone()),
            Some(message) => {
                self.report(Diag::error(message).with_code(code::INFERRED_SIZE).at(span, ""));
                None
            }
        }
    }

    /// Infers the shape of an instruction that is written without one.
    fn infer(&mut self, op: &Op, operands: &[InstrId], span: Span) -> Option<Shape> {
        if !self.diags.is_empty() {
            // The instructions that it depends on may be incomplete.
            return None;
        }
        let shapes: Vec<&Shape> = operands.iter().map(|&o| &self.module[o].shape).collect();
        let diag = match infer_shape(&self.module, op, &shapes) {
            Ok(Some(shape)) => match self.inferred.excess(&shape, self.text) {
                None => return Some(shape),
                Some(excess) => {
                    Diag::error(excess).with_code(code::INFERRED_SIZE).at(span, "write the shape of this one")
                }
            },
            Ok(None) => {
                Diag::error(format!("the shape of `{0}` does not follow from its operands", op.name()))
                    .with_code(code::SHAPE_NOT_INFERRED)
                    .at(span, format!("write it, as in `x = f32[2] {}(…)`", op.name()))
            }
            Err(e) => Diag::error(e.message).with_code(e.code).at(span, ""),
        };
        self.report(diag);
        None
    }
}
