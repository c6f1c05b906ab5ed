//! The shapes of transfers. As in XLA, they follow from the operands, whatever shape the text declares.

use crate::parser::ModuleParser;
use hlo_ir::diag::Diag;
use hlo_ir::rules::code;
use hlo_ir::{ElementType, InstrId, Op, Shape, Span};

impl ModuleParser<'_> {
    /// Returns the shape of an instruction that the text declares with the shape `written`. For the start or
    /// end of a transfer, the shape follows from the operands.
    pub fn transfer_shape(&mut self, op: &Op, operands: &[InstrId], written: Shape, span: Span) -> Shape {
        let operand = operands.first().map(|&o| &self.module[o].shape);
        let context = || Shape::scalar(ElementType::U32);
        let implied = match (op, operand) {
            (Op::Send(_), Some(value)) => Shape::tuple(vec![value.clone(), context(), Shape::Token]),
            (Op::SendDone(_) | Op::Outfeed(_), _) => Shape::Token,
            (Op::Recv(_), _) => match written.as_tuple() {
                Some([value, ..]) => Shape::tuple(vec![value.clone(), context(), Shape::Token]),
                _ => return written,
            },
            (Op::RecvDone(_), Some(Shape::Tuple(parts))) => match &parts[..] {
                [value, ..] => Shape::tuple(vec![value.clone(), Shape::Token]),
                [] => return written,
            },
            _ => return written,
        };
        if !implied.compatible(&written) {
            // A large operand is declared once but may be sent often, so implied shapes count towards the
            // limit.
            if self.inferred.excess(&implied, self.text).is_some() {
                return written;
            }
            let message = format!("`{}` here gives {implied}, whatever is written", op.opcode());
            let wrong = format!("not {written}");
            self.warn(Diag::warning(message).with_code(code::TRANSFER_SHAPE).at(span, wrong));
        }
        implied
    }
}
