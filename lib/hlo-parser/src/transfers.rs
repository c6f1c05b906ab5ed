//! The shapes of transfers: as in XLA they follow from the operands, whatever is written.

use crate::module::ModuleParser;
use hlo_ir::diag::Diag;
use hlo_ir::rules::code;
use hlo_ir::{ElementType, InstrId, Op, Shape, Span};

impl ModuleParser<'_> {
    /// The shape of an end of a transfer that is written with a shape; another instruction's is the one that is written.
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
            // An operand of many parts is written once only, and may be sent often.
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
