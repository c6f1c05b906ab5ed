//! One instruction: shape, opcode, operands, attributes.

use crate::attributes::Place;
use crate::body::{Body, Slot};
use crate::cursor::Cursor;
use crate::grammar::Rule;
use crate::module::ModuleParser;
use crate::suggest::nearest;
use crate::wrapped::{Wrapped, asynchronous};
use crate::{literal, shape};
use hlo_ir::attr::GetTupleElementAttrs;
use hlo_ir::diag::Diag;
use hlo_ir::ops::infer_shape;
use hlo_ir::{Arity, InstrId, Op, Opcode, Shape, Span};
use pest::iterators::{Pair, Pairs};
use smallvec::SmallVec;
use std::iter::Peekable;

/// What stands between the parentheses.
#[derive(Default)]
struct Arguments {
    operands: SmallVec<[InstrId; 3]>,
    /// A number, for `parameter`.
    number: Option<(i64, Span)>,
    /// True if an operand was wrong.
    failed: bool,
}

impl<'t> ModuleParser<'t> {
    /// Reads an instruction into `body`.
    pub fn instruction(&mut self, pair: Pair<'t, Rule>, body: &mut Body<'t>) {
        let span = self.span_of(pair.as_str().trim_end());
        let mut parts = pair.into_inner().peekable();
        let root = parts.next_if(|p| p.as_rule() == Rule::root).map(|p| self.span_of(p.as_str()));
        let Some(written) = parts.next().map(|p| p.as_str()) else { return };
        let name = written.strip_prefix('%').unwrap_or(written);
        let name_span = self.span_of(written);
        parts.next_if(|p| p.as_rule() == Rule::equals);

        let id = self.operation(parts, Some(name), span, body);
        body.failed |= id.is_none();
        match body.names.get(name).map(|s| s.span) {
            Some(first) => {
                let diag = Diag::error(format!("the name `{name}` is used twice in a computation"));
                self.report(diag.at(name_span, "defined again here").and(first, "first defined here"));
            }
            None => {
                body.names.insert(name, Slot { id, span: name_span });
            }
        }
        if id.is_some() {
            body.last = id;
        }
        if let Some(here) = root {
            match body.root {
                Some((_, first)) => self.report(
                    Diag::error("a computation has one root")
                        .at(here, "the second one")
                        .and(first, "the first one"),
                ),
                None => body.root = Some((id, here)),
            }
        }
    }

    /// Reads `shape? opcode(operands), attributes` and adds the instruction; `None` if it is wrong.
    fn operation(
        &mut self,
        mut parts: Peekable<Pairs<'t, Rule>>,
        name: Option<&str>,
        span: Span,
        body: &mut Body<'t>,
    ) -> Option<InstrId> {
        let before = self.diags.len();
        let shape = match parts.next_if(|p| p.as_rule() == Rule::shape) {
            Some(p) => match self.shape(p.as_str()) {
                Ok(s) => Some(s),
                Err(diag) => {
                    self.report(diag);
                    return None;
                }
            },
            None => None,
        };
        let opcode_text = parts.next()?.as_str();
        let opcode_span = self.span_of(opcode_text);
        let (opcode, wrapped) = match (Opcode::from_name(opcode_text), asynchronous(opcode_text)) {
            (Some(opcode), _) => (opcode, None),
            (None, Some((opcode, wrapped))) => (opcode, Some(wrapped)),
            (None, None) => {
                let diag = self.unknown_opcode(opcode_text, opcode_span);
                self.report(diag);
                return None;
            }
        };
        let mut op = opcode.default_op();
        parts.next_if(|p| p.as_rule() == Rule::open_paren);
        let arguments = self.arguments(&mut parts, &mut op, shape.as_ref(), body);
        let attributes = parts.filter(|p| p.as_rule() == Rule::attribute);
        let mut attributes: Vec<_> = attributes.map(|p| p.as_str()).collect();
        if let (Some(wrapped), Some(shape), false) = (wrapped, &shape, arguments.failed) {
            let wrapped = Wrapped { opcode: wrapped, span: opcode_span };
            self.wrap(&mut op, wrapped, &arguments.operands, shape, &mut attributes, body)?;
        }
        let place = Place { name: name.unwrap_or(opcode_text), span: opcode_span };
        let common = self.read_attributes(&mut op, attributes, place, body);
        if arguments.failed || self.diags.len() > before {
            return None;
        }
        self.set_number(&mut op, arguments.number, opcode_span);
        self.check_arity(opcode, arguments.operands.len(), opcode_span);
        if self.diags.len() > before {
            return None;
        }
        let shape = match shape {
            Some(s) => s,
            None => self.infer(&op, &arguments.operands, opcode_span)?,
        };
        let id = self.module.add(body.computation, name.unwrap_or(""), shape, op, arguments.operands);
        if name.is_none() {
            body.unnamed.push((id, opcode_text.to_owned()));
        }
        self.module.set_span(id, span);
        if common.any {
            *self.module.common_mut(id) = common.attrs;
        }
        Some(id)
    }

    /// Reads the shape token `token`.
    fn shape(&self, token: &str) -> Result<Shape, Diag> {
        let span = self.span_of(token);
        let mut c = Cursor::new(self.source_at(span), span.start as usize);
        let shape = shape::read(&mut c)?;
        c.expect_end()?;
        Ok(shape)
    }

    fn unknown_opcode(&self, name: &str, span: Span) -> Diag {
        let diag = Diag::error(format!("unknown opcode `{name}`")).at(span, "");
        match nearest(name, Opcode::ALL.iter().map(|o| o.name())) {
            Some(n) => diag.note(format!("did you mean `{n}`?")),
            None => diag,
        }
    }

    /// Reads operands, a parameter's number or a constant's literal, up to the closing parenthesis.
    fn arguments(
        &mut self,
        parts: &mut Peekable<Pairs<'t, Rule>>,
        op: &mut Op,
        shape: Option<&Shape>,
        body: &mut Body<'t>,
    ) -> Arguments {
        let mut out = Arguments::default();
        let mut operand_shape = None;
        while let Some(part) = parts.next_if(|p| p.as_rule() != Rule::attribute) {
            match part.as_rule() {
                Rule::close_paren => break,
                Rule::shape => operand_shape = Some(part.as_str()),
                Rule::operand_name | Rule::nested => {
                    let operand = if part.as_rule() == Rule::nested {
                        let span = self.span_of(part.as_str().trim_end());
                        self.operation(part.into_inner().peekable(), None, span, body)
                    } else {
                        self.operand(part.as_str(), operand_shape.take(), body)
                    };
                    match operand {
                        Some(id) => out.operands.push(id),
                        None => out.failed = true,
                    }
                }
                Rule::number => {
                    let span = self.span_of(part.as_str());
                    match part.as_str().parse() {
                        Ok(n) if matches!(op, Op::Parameter(_)) && out.number.is_none() => {
                            out.number = Some((n, span));
                        }
                        _ => {
                            let diag = Diag::error("expected an operand's name, found a number");
                            let hint = "a constant is an instruction: `c = f32[] constant(1)`";
                            self.report(diag.at(span, hint));
                        }
                    }
                }
                Rule::literal => self.literal(part.as_str(), op, shape),
                _ => {}
            }
        }
        out
    }

    /// The instruction that an operand names, checked against the shape before it.
    fn operand(&mut self, written: &'t str, shape: Option<&'t str>, body: &mut Body<'t>) -> Option<InstrId> {
        let id = match written.split_once('#') {
            None => self.resolve(body, written)?,
            Some((tuple, path)) => self.tuple_element(written, tuple, path, body)?,
        };
        let Some(token) = shape else { return Some(id) };
        let shape = match self.shape(token) {
            Ok(s) => s,
            Err(diag) => {
                self.report(diag);
                return None;
            }
        };
        let actual = &self.module[id].shape;
        if !shape.compatible(actual) {
            let diag =
                Diag::error(format!("the operand is written as `{shape}`, but `{written}` has `{actual}`"))
                    .at(self.span_of(token), "the shape written")
                    .and(self.module.span(id), "the operand");
            self.report(diag);
            return None;
        }
        Some(id)
    }

    /// `t#1#0`: element 0 of element 1 of the tuple `t`, by instructions that the text leaves out.
    fn tuple_element(
        &mut self,
        written: &'t str,
        tuple: &'t str,
        path: &'t str,
        body: &mut Body<'t>,
    ) -> Option<InstrId> {
        let span = self.span_of(written);
        let mut id = self.resolve(body, tuple)?;
        for index in path.split('#') {
            let key_end = self.span_of(index).end as usize;
            let key = self.text[span.start as usize..key_end].trim_start_matches('%');
            if let Some(slot) = body.names.get(key) {
                id = slot.id?;
                continue;
            }
            let elements = self.module[id].shape.as_tuple();
            let number: Option<usize> = index.parse().ok();
            let Some(shape) = number.and_then(|n| elements?.get(n)).cloned() else {
                let shape = &self.module[id].shape;
                let message =
                    format!("`{}` has no element {index}: its shape is `{shape}`", self.module[id].name);
                self.report(Diag::error(message).at(span, ""));
                return None;
            };
            let op = Op::GetTupleElement(GetTupleElementAttrs { index: number.unwrap_or(0) as i64 });
            id = self.module.add(body.computation, "", shape, op, [id]);
            self.module.set_span(id, span);
            body.unnamed.push((id, "get-tuple-element".into()));
            body.names.insert(key, Slot { id: Some(id), span });
        }
        Some(id)
    }

    /// Reads a constant's value.
    fn literal(&mut self, token: &'t str, op: &mut Op, shape: Option<&Shape>) {
        let span = self.span_of(token);
        let Some(shape) = shape else {
            self.report(
                Diag::error("a constant's shape must be written, as in `c = f32[] constant(1)`").at(span, ""),
            );
            return;
        };
        let mut c = Cursor::new(self.source_at(span), span.start as usize);
        let read = literal::read(&mut c, shape).and_then(|l| c.expect_end().map(|()| l));
        match (read, op) {
            (Ok(l), Op::Constant(a)) => {
                a.literal = l.literal;
                a.elided = l.elided;
            }
            (Ok(_), _) => {}
            (Err(diag), _) => self.report(diag),
        }
    }

    fn set_number(&mut self, op: &mut Op, number: Option<(i64, Span)>, span: Span) {
        let Op::Parameter(p) = op else { return };
        match number {
            Some((n, _)) if n >= 0 => p.number = n,
            Some((_, at)) => self.report(Diag::error("a parameter's number is not negative").at(at, "")),
            None => {
                let message = "a parameter needs its number, as in `parameter(0)`";
                self.report(Diag::error(message).at(span, ""));
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
            self.report(Diag::error(message).at(span, ""));
        }
    }

    /// The shape of an instruction that is written without one.
    fn infer(&mut self, op: &Op, operands: &[InstrId], span: Span) -> Option<Shape> {
        if !self.diags.is_empty() {
            // What it depends on may be half built.
            return None;
        }
        let shapes: Vec<&Shape> = operands.iter().map(|&o| &self.module[o].shape).collect();
        let diag = match infer_shape(&self.module, op, &shapes) {
            Ok(Some(shape)) => return Some(shape),
            Ok(None) => {
                Diag::error(format!("the shape of `{0}` does not follow from its operands", op.name()))
                    .at(span, format!("write it, as in `x = f32[2] {}(…)`", op.name()))
            }
            Err(message) => Diag::error(message).at(span, ""),
        };
        self.report(diag);
        None
    }
}
