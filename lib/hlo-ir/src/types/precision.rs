//! Operations with mixed floating-point types. As in XLA, operands are converted to the widest of the types,
//! and the result is converted to the type in the text.

use crate::ops::float_width;
use crate::{ComputationId, ElementType, InstrId, Module, Op, Opcode, Shape};

impl Opcode {
    /// Returns whether the operands may have several floating-point types, and the result array another one.
    pub(crate) fn mixes_precision(self) -> bool {
        let moves =
            matches!(self, Opcode::Concatenate | Opcode::Copy | Opcode::Pad | Opcode::DynamicUpdateSlice);
        // These operations define their own operand and result types.
        let converts = matches!(
            self,
            Opcode::Complex
                | Opcode::Convert
                | Opcode::Imag
                | Opcode::IsFinite
                | Opcode::Real
                | Opcode::StochasticConvert
        );
        moves || self == Opcode::AllReduce || (self.is_elementwise() && !converts)
    }
}

/// Returns the wider of two floating-point types: the one with the larger numbers or, if these are equal,
/// more digits.
pub(crate) fn wider(a: ElementType, b: ElementType) -> ElementType {
    if float_width(b) > float_width(a) { b } else { a }
}

fn float_type(shape: &Shape) -> Option<ElementType> {
    shape.as_array().map(|a| a.element_type).filter(|t| t.is_float())
}

impl Module {
    /// Returns the type that an instruction computes in, if the floating-point types of its operands and its
    /// result differ.
    pub fn mixed_precision(&self, id: InstrId) -> Option<ElementType> {
        let instr = &self[id];
        // An all-reduce of several arrays has one type for each.
        if !instr.op.opcode().mixes_precision() || instr.shape.is_tuple() {
            return None;
        }
        let types =
            || instr.operands.iter().map(|&o| &self[o].shape).chain([&instr.shape]).filter_map(float_type);
        let first = types().next()?;
        if types().all(|t| t == first) { None } else { types().reduce(wider) }
    }

    /// Returns whether [`Module::make_explicit`] may change something.
    pub fn has_implicit_information(&self) -> bool {
        let unsaid = |&i: &InstrId| self.mixed_precision(i).is_some() || self.binds_operands_late(i);
        self.computations().any(|c| self[c].instructions().iter().any(unsaid))
            || !self.receives_of_other_channels().is_empty()
    }

    /// Makes everything explicit that the text may leave implicit. It inserts conversions where operations
    /// mix floating-point types, binds all operands of an asynchronous operation at its start, and assigns
    /// receives the channels of their sends. Passes and engines require this form. Returns whether something
    /// changed. Takes linear time.
    pub fn make_explicit(&mut self) -> bool {
        let bound = self.bind_async_operands();
        let joined = self.join_channels();
        self.convert_mixed_precision() || bound || joined
    }

    /// Inserts conversions where operands or results have other types than an instruction computes in.
    /// Returns whether there were any. Takes linear time.
    pub fn convert_mixed_precision(&mut self) -> bool {
        let mixed =
            |c: ComputationId| self[c].instructions().iter().any(|&i| self.mixed_precision(i).is_some());
        let computations: Vec<ComputationId> = self.computations().filter(|&c| mixed(c)).collect();
        for &c in &computations {
            let instructions = self[c].instructions().to_vec();
            let mut order = Vec::with_capacity(instructions.len());
            for id in instructions {
                match self.mixed_precision(id) {
                    Some(t) => self.convert_around(id, t, &mut order),
                    None => order.push(id),
                }
            }
            // In a scheduled module, the order is the schedule.
            self.set_order(c, order);
        }
        !computations.is_empty()
    }

    /// Converts the operands and the result of `id`, which computes in the type `t`. Appends the instructions
    /// to `order`.
    fn convert_around(&mut self, id: InstrId, t: ElementType, order: &mut Vec<InstrId>) {
        for n in 0..self[id].operands.len() {
            let operand = self[id].operands[n];
            if let Some(shape) = in_type(&self[operand].shape, t) {
                let convert = self.add_convert(id, operand, shape);
                self.replace_operand(id, n, convert);
                order.push(convert);
            }
        }
        order.push(id);
        if let Some(wide) = in_type(&self[id].shape, t) {
            let narrow = self[id].shape.clone();
            self.set_shape(id, wide);
            let convert = self.add_convert(id, id, narrow);
            self.replace_all_uses_with(id, convert);
            self.replace_operand(convert, 0, id);
            order.push(convert);
        }
    }

    fn add_convert(&mut self, by: InstrId, operand: InstrId, shape: Shape) -> InstrId {
        let name = self.unique_name("convert");
        let convert = self.add(self[by].parent, &name, shape, Op::Convert, [operand]);
        self.copy_provenance(by, convert);
        convert
    }
}

/// Returns the shape with element type `t`, if its element type is another floating-point type.
fn in_type(shape: &Shape, t: ElementType) -> Option<Shape> {
    let array = shape.as_array().filter(|a| a.element_type.is_float() && a.element_type != t)?;
    Some(array.with_element_type(t).into())
}
