//! What stands between the parentheses of an instruction: operands, a parameter's number, a constant's value.

use crate::body::{Body, Slot};
use crate::instruction::{Head, Malformed};
use crate::literal::ReadLiteral;
use crate::module::ModuleParser;
use crate::{literal, shape};
use hlo_ir::attr::GetTupleElementAttrs;
use hlo_ir::blank::{TrimBlanks, is_blank};
use hlo_ir::cursor::{Cursor, token_at};
use hlo_ir::diag::Diag;
use hlo_ir::print::print_shape;
use hlo_ir::rules::code;
use hlo_ir::{InstrId, Op, Shape, Span};
use smallvec::SmallVec;

/// What stands between the parentheses.
#[derive(Default)]
pub struct Arguments {
    /// The operands.
    pub operands: SmallVec<[InstrId; 3]>,
    /// A number, for `parameter`.
    pub number: Option<(i64, Span)>,
    /// True if an operand was wrong.
    pub failed: bool,
}

/// Reads an operand's name: a word that may follow `%`, and the elements `#n` that it picks. Empty if there is none.
fn operand_name<'t>(c: &mut Cursor<'t>) -> &'t str {
    let text = c.remaining();
    let start = c.offset();
    c.eat_next("%");
    if is_blank(c.byte()) || c.word().is_empty() {
        c.rewind(start);
        return "";
    }
    let bytes = c.rest().as_bytes();
    let mut elements = 0;
    while bytes.get(elements) == Some(&b'#') && bytes.get(elements + 1).is_some_and(u8::is_ascii_digit) {
        elements += 2;
        while bytes.get(elements).is_some_and(u8::is_ascii_digit) {
            elements += 1;
        }
    }
    c.advance(elements);
    &text[..c.offset() - start]
}

impl<'t> ModuleParser<'t> {
    /// Reads what stands between the parentheses of `op`; `c` is at the first and comes after the second.
    pub fn arguments(
        &mut self,
        c: &mut Cursor<'t>,
        op: &mut Op,
        shape: Option<&Shape>,
        body: &mut Body<'t>,
    ) -> Result<Arguments, Malformed> {
        let mut out = Arguments::default();
        c.expect("(").map_err(Malformed)?;
        if let Op::Constant(_) = op {
            out.failed = self.literal(c, op, shape).is_none();
            return Ok(out);
        }
        // Commas are needed between operands; more of them do no harm.
        let mut separated = true;
        loop {
            while c.eat(",") {
                separated = true;
            }
            if c.eat(")") {
                return Ok(out);
            }
            if !separated {
                return Err(Malformed(c.expected("`,` or `)`")));
            }
            self.argument(c, op, body, &mut out)?;
            separated = false;
        }
    }

    /// Reads an operand or a parameter's number.
    fn argument(
        &mut self,
        c: &mut Cursor<'t>,
        op: &Op,
        body: &mut Body<'t>,
        out: &mut Arguments,
    ) -> Result<(), Malformed> {
        let first = c.peek();
        if first == b'-' || first.is_ascii_digit() {
            self.number(c, op, body, out);
            return Ok(());
        }
        let start = c.offset();
        let mut word = operand_name(c);
        let mut shape = None;
        if first == b'(' || c.peek() == b'[' || (word == "b" && c.peek() == b'(') {
            c.rewind(start);
            let read = shape::read(c).map_err(Malformed)?;
            shape = Some((read, self.span_of(self.text[start..c.offset()].trim_blanks_end())));
            c.skip_space();
            word = operand_name(c);
        }
        if let (true, true, Some((shape, span))) =
            (body.single, matches!(c.peek(), b',' | b')') && word.is_empty(), &shape)
        {
            out.operands.push(self.parameter_for(body, "", *span, shape.clone()));
            return Ok(());
        }
        if matches!(op, Op::Parameter(_)) && !word.is_empty() {
            let diag = Diag::error(format!("expected the parameter's number, found `{word}`"));
            let diag = diag.with_code(code::PARAMETER_NUMBER);
            self.report(diag.at(self.span_of(word), "parameters are numbered 0, 1, …"));
            out.failed = true;
            return Ok(());
        }
        if let (true, b',' | b')', Some((shape, span))) = (word.is_empty(), c.peek(), &shape) {
            let message = format!("`{shape}` is no operand: no name follows it");
            let diag = Diag::warning(message).with_code(code::UNNAMED_OPERAND).at(*span, "left out");
            self.warn(diag);
            return Ok(());
        }
        if word.is_empty() {
            let wanted = if shape.is_some() { "an operand's name or an opcode" } else { "an operand" };
            return Err(Malformed(c.expected(wanted)));
        }
        let operand = if c.peek() == b'(' {
            let head = Head { shape: shape.map(|(shape, _)| shape), opcode: word };
            self.nested(c, start, head, body)?
        } else {
            self.operand(word, shape, body)
        };
        match operand {
            Some(id) => out.operands.push(id),
            None => out.failed = true,
        }
        Ok(())
    }

    /// Reads an operand that is an operation without a name; `c` is at its parenthesis, `start` is where it
    /// starts. Brackets are checked not to nest deeply: so does this.
    fn nested(
        &mut self,
        c: &mut Cursor<'t>,
        start: usize,
        head: Head<'t>,
        body: &mut Body<'t>,
    ) -> Result<Option<InstrId>, Malformed> {
        let open = c.offset();
        if head.opcode.starts_with('%') {
            return Err(Malformed(c.expected("`,` or `)`")));
        }
        let id = self.operation(c, start, head, None, body)?;
        if id.is_none() {
            c.rewind(crate::scan::matching(self.text, open) + 1);
        }
        Ok(id)
    }

    /// Reads a number, which only a parameter has.
    fn number(&mut self, c: &mut Cursor<'t>, op: &Op, body: &Body<'t>, out: &mut Arguments) {
        let start = c.offset();
        let digits = c.name();
        let span = c.since(start);
        match digits.parse() {
            Ok(n) if matches!(op, Op::Parameter(_)) && out.number.is_none() => out.number = Some((n, span)),
            // It was reported where it is defined.
            _ if body.names.contains_key(digits) => out.failed = true,
            _ => {
                let (found, _) = token_at(digits);
                let diag = Diag::error(format!("expected an operand's name, found {found}"));
                let hint = "a constant is an instruction: `c = f32[] constant(1)`";
                self.report(diag.with_code(code::OPERAND_NUMBER).at(span, hint));
            }
        }
    }

    /// The instruction that an operand names, checked against the shape before it.
    fn operand(
        &mut self,
        written: &'t str,
        shape: Option<(Shape, Span)>,
        body: &mut Body<'t>,
    ) -> Option<InstrId> {
        let name = written.strip_prefix('%').unwrap_or(written);
        if body.single && !body.names.contains_key(name) && !written.contains('#') {
            let span = self.span_of(written);
            let Some((shape, _)) = shape else {
                let diag = self.unshaped_operand(name, span);
                self.report(diag);
                return None;
            };
            return Some(self.parameter_for(body, name, span, shape));
        }
        let id = match written.split_once('#') {
            None => self.resolve(body, written)?,
            Some((tuple, path)) => self.tuple_element(written, tuple, path, body)?,
        };
        let Some((shape, shape_span)) = shape else { return Some(id) };
        let actual = &self.module[id].shape;
        if !shape.compatible_but_dynamic(actual) {
            let diag =
                Diag::error(format!("the operand is written as `{shape}`, but `{written}` has `{actual}`"))
                    .with_code(code::OPERAND_SHAPE)
                    .at(shape_span, "the shape written")
                    .and(self.module.span(id), "the operand");
            self.report(diag);
            return None;
        }
        if let Some((written, own, difference)) = other_details(&shape, actual) {
            let (written, own) = (print_shape(written), print_shape(own));
            let message = format!("the operand is written as `{written}`, but is `{own}`");
            let diag = Diag::warning(message)
                .with_code(code::OPERAND_LAYOUT)
                .at(shape_span, format!("{difference} changes nothing"))
                .and(self.module.span(id), "the operand");
            self.warn(diag);
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
            if index.len() > 1 && index.starts_with('0') {
                // Each element has one spelling: it is kept under it.
                let diag =
                    Diag::error(format!("the number of an element has no leading zeros, found `{index}`"));
                self.report(diag.with_code(code::OPERAND_ELEMENT).at(self.span_of(index), ""));
                return None;
            }
            let elements = self.module[id].shape.as_tuple();
            let number: Option<usize> = index.parse().ok();
            let Some(shape) = number.and_then(|n| elements?.get(n)).cloned() else {
                let shape = &self.module[id].shape;
                let message =
                    format!("`{}` has no element {index}: its shape is `{shape}`", self.module[id].name);
                let diag = Diag::error(message).with_code(code::OPERAND_ELEMENT).at(span, "");
                self.report(diag.and(self.module.span(id), "defined here"));
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

    /// Reads a constant's value and the parenthesis after it; `None` after an error.
    fn literal(&mut self, c: &mut Cursor<'t>, op: &mut Op, shape: Option<&Shape>) -> Option<()> {
        let Some(shape) = shape else {
            let message = "a constant's shape must be written, as in `c = f32[] constant(1)`";
            let rest = c.rest();
            let end = crate::scan::matching(self.text, c.offset() - 1).saturating_sub(c.offset());
            let span = self.span_of(rest.get(..end).unwrap_or(rest));
            self.report(Diag::error(message).with_code(code::CONSTANT_SHAPE_WRITTEN).at(span, ""));
            return None;
        };
        let read = literal::read(c, shape).and_then(|l| match (c.eat(")"), l.lone) {
            (true, lone) => Ok(ReadLiteral { lone, ..l }),
            (false, Some(lone)) => Err(lone.error()),
            (false, None) => Err(c.expected("nothing more")),
        });
        match (read, op) {
            (Ok(l), Op::Constant(a)) => {
                a.literal = l.literal;
                a.elided = l.elided;
                if let Some(lone) = l.lone {
                    self.warn(lone.warning());
                }
                Some(())
            }
            (Ok(_), _) => Some(()),
            (Err(diag), _) => {
                self.report(diag);
                None
            }
        }
    }
}

/// The first arrays in two shapes, the same but for layouts and dynamic dimensions, of which the first is written with
/// others, and what differs. (The layout of a shape without one, and of one with the default, are the same.)
fn other_details<'s>(written: &'s Shape, actual: &'s Shape) -> Option<(&'s Shape, &'s Shape, &'static str)> {
    match (written, actual) {
        (Shape::Array(a), Shape::Array(b)) if a.dynamic != b.dynamic => Some((written, actual, "`<=`")),
        (Shape::Array(a), Shape::Array(b)) => {
            (a.layout.is_some() && a.layout != b.layout).then_some((written, actual, "this layout"))
        }
        (Shape::Tuple(a), Shape::Tuple(b)) => a.iter().zip(b).find_map(|(a, b)| other_details(a, b)),
        (Shape::Buffer(a), Shape::Buffer(b)) => other_details(a, b),
        (Shape::Array(_) | Shape::Tuple(_) | Shape::Token | Shape::Opaque | Shape::Buffer(_), _) => None,
    }
}
