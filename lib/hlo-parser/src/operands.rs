//! Parsing of the contents of an instruction's parentheses: operands, a parameter's number, a constant's
//! value.

use crate::literal::{self, ReadLiteral};
use crate::parser::{Body, ModuleParser, Slot};
use crate::syntax::{self, Operand, Operands, ScannedText, Stop, Text};
use hlo_ir::cursor::token_at;
use hlo_ir::diag::Diag;
use hlo_ir::print::print_shape;
use hlo_ir::rules::code;
use hlo_ir::{InstrId, Op, Shape, Span};
use smallvec::SmallVec;

/// The contents of the parentheses.
#[derive(Default)]
pub struct Arguments {
    /// The operands.
    pub operands: SmallVec<[InstrId; 3]>,
    /// A number, for `parameter`.
    pub number: Option<(i64, Span)>,
    /// Whether an operand is invalid.
    pub failed: bool,
}

impl<'t> ModuleParser<'t> {
    /// Reads the contents of the parentheses of `op`. `t` is at the opening parenthesis and advances past the
    /// closing one.
    pub fn arguments(
        &mut self,
        t: &mut ScannedText<'t>,
        op: &mut Op,
        shape: Option<&Shape>,
        body: &mut Body<'t>,
    ) -> Result<Arguments, Stop> {
        let mut out = Arguments::default();
        if let Op::Constant(_) = op {
            out.failed = self.literal(t, op, shape)?.is_none();
            return Ok(out);
        }
        let mut operands = Operands::open(t);
        while let Some(operand) = operands.next(t)? {
            let read = match operand {
                Operand::Shape(span) | Operand::Number(Some(span), _) if matches!(op, Op::Parameter(_)) => {
                    let text = self.text;
                    self.report_missing_number(&text[span.range()])
                }
                Operand::Number(_, digits) => {
                    self.number(digits, op, body, &mut out);
                    continue;
                }
                Operand::Shape(span) if body.single => {
                    Some(self.parameter_for(body, "", span, std::mem::replace(&mut t.shape, Shape::Token)))
                }
                Operand::Shape(span) => {
                    let message = format!(
                        "`{}` is no operand: no name follows it",
                        std::mem::replace(&mut t.shape, Shape::Token)
                    );
                    let diag = Diag::warning(message).with_code(code::UNNAMED_OPERAND);
                    self.warn(diag.at(span, "left out"));
                    continue;
                }
                Operand::Name(_, word) if matches!(op, Op::Parameter(_)) => self.report_missing_number(word),
                Operand::Name(shape, word) => {
                    let shape = shape.map(|span| (std::mem::replace(&mut t.shape, Shape::Token), span));
                    self.operand(word, shape, body)
                }
                Operand::Operation(head) if matches!(op, Op::Parameter(_)) => {
                    syntax::inside(t, &head, 0)?;
                    self.report_missing_number(head.opcode)
                }
                Operand::Operation(head) => self.operation(t, head, None, body)?,
            };
            match read {
                Some(id) => out.operands.push(id),
                None => out.failed = true,
            }
        }
        Ok(out)
    }

    /// Reports that `word` is in place of a parameter's number.
    fn report_missing_number(&mut self, word: &'t str) -> Option<InstrId> {
        let diag = Diag::error(format!("expected the parameter's number, found `{word}`"));
        let diag = diag.with_code(code::PARAMETER_NUMBER);
        self.report(diag.at(self.span_of(word), "parameters are numbered 0, 1, …"));
        None
    }

    /// Records a number, which only a parameter has.
    fn number(&mut self, digits: &'t str, op: &Op, body: &Body<'t>, out: &mut Arguments) {
        let span = self.span_of(digits);
        match digits.parse() {
            Ok(n) if matches!(op, Op::Parameter(_)) && out.number.is_none() => out.number = Some((n, span)),
            // The name was reported at its definition.
            _ if body.names.contains_key(digits) => out.failed = true,
            _ => {
                let (found, _) = token_at(digits);
                let diag = Diag::error(format!("expected an operand's name, found {found}"));
                let hint = "a constant is an instruction: `c = f32[] constant(1)`";
                self.report(diag.with_code(code::OPERAND_NUMBER).at(span, hint));
            }
        }
    }

    /// Returns the instruction that an operand names, after checking the shape before it.
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

    /// Reads an operand such as `t#1#0`, element 0 of element 1 of the tuple `t`. Adds the implied
    /// `get-tuple-element` instructions.
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
                // Each element must have one spelling, because it is stored under that name.
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
            let op = Op::get_tuple_element(number.unwrap_or(0) as i64);
            id = self.module.add(body.computation, "", shape, op, [id]);
            self.module.set_span(id, span);
            body.unnamed.push((id, "get-tuple-element".into()));
            body.names.insert(key, Slot { id: Some(id), span });
        }
        Some(id)
    }

    /// Reads a constant's value and the parentheses around it. Returns `None` after an error in the value.
    fn literal(
        &mut self,
        t: &mut ScannedText<'t>,
        op: &mut Op,
        shape: Option<&Shape>,
    ) -> Result<Option<()>, Stop> {
        let open = t.offset();
        let Some(shape) = shape else {
            t.group()?;
            let message = "a constant's shape must be written, as in `c = f32[] constant(1)`";
            let span = Span::new(open + 1, t.c.offset() - 1);
            self.report(Diag::error(message).with_code(code::CONSTANT_SHAPE_WRITTEN).at(span, ""));
            return Ok(None);
        };
        t.c.advance(1);
        let read = literal::read(&mut t.c, shape).and_then(|read| match (t.c.eat(")"), read.lone) {
            (true, lone) => Ok(ReadLiteral { lone, ..read }),
            (false, Some(lone)) => Err(lone.error()),
            (false, None) => Err(t.c.expected("nothing more")),
        });
        match (read, op) {
            (Ok(read), Op::Constant(a)) => {
                a.literal = read.literal;
                a.elided = read.elided;
                if let Some(lone) = read.lone {
                    self.warn(lone.warning());
                }
                Ok(Some(()))
            }
            (Ok(_), _) => Ok(Some(())),
            (Err(diag), _) => {
                t.c.rewind(open);
                t.group()?;
                self.report(diag);
                Ok(None)
            }
        }
    }
}

/// Compares two shapes that are equal except for layouts and dynamic dimensions. Returns the first arrays
/// that differ in a detail that `written` specifies, and the name of the detail. (A shape without a layout
/// equals one with the default layout.)
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
