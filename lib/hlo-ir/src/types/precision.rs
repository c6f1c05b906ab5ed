//! Operations on floating-point types that differ: as XLA has it, each operand is converted to the widest of the types,
//! and the result to the one that is written.

use crate::ops::float_width;
use crate::{ComputationId, ElementType, InstrId, Module, Op, Opcode, Shape};

impl Opcode {
    /// True if the operands may be of several floating-point types, and the array that is the result of another one.
    pub(crate) fn mixes_precision(self) -> bool {
        let moves =
            matches!(self, Opcode::Concatenate | Opcode::Copy | Opcode::Pad | Opcode::DynamicUpdateSlice);
        // These say what types they take and give.
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

/// The wider of two floating-point types: the one of larger numbers, of equally large ones the one of more digits.
pub(crate) fn wider(a: ElementType, b: ElementType) -> ElementType {
    if float_width(b) > float_width(a) { b } else { a }
}

fn float_type(shape: &Shape) -> Option<ElementType> {
    shape.as_array().map(|a| a.element_type).filter(|t| t.is_float())
}

impl Module {
    /// The type that an instruction computes in, if the floating-point types of its operands and its result differ.
    pub fn mixed_precision(&self, id: InstrId) -> Option<ElementType> {
        let instr = &self[id];
        // An all-reduce of several arrays has a type for each.
        if !instr.op.opcode().mixes_precision() || instr.shape.is_tuple() {
            return None;
        }
        let types =
            || instr.operands.iter().map(|&o| &self[o].shape).chain([&instr.shape]).filter_map(float_type);
        let first = types().next()?;
        if types().all(|t| t == first) { None } else { types().reduce(wider) }
    }

    /// True if [`Module::make_explicit`] may change something.
    pub fn leaves_unsaid(&self) -> bool {
        let unsaid = |&i: &InstrId| self.mixed_precision(i).is_some() || self.binds_operands_late(i);
        self.computations().any(|c| self[c].instructions().iter().any(unsaid))
            || !self.receives_of_other_channels().is_empty()
    }

    /// Puts conversions where operations mix floating-point types, binds all operands of an asynchronous operation at
    /// once, and gives receives the channels of their sends: what the text may leave to the reader. Passes and engines see modules in which that is done. True if
    /// something was changed. Linear.
    pub fn make_explicit(&mut self) -> bool {
        let bound = self.bind_async_operands();
        let joined = self.join_channels();
        self.convert_mixed_precision() || bound || joined
    }

    /// Puts conversions where operands or results are of other types than those that an instruction computes in. True
    /// if there were such. Linear.
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
            // The schedule, if it is one.
            self.set_order(c, order);
        }
        !computations.is_empty()
    }

    /// Converts the operands and the result of `id`, which computes in the type `t`; `order` has what there is, in
    /// order.
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

/// A shape of a floating-point type other than `t`, in that type.
fn in_type(shape: &Shape, t: ElementType) -> Option<Shape> {
    let array = shape.as_array().filter(|a| a.element_type.is_float() && a.element_type != t)?;
    Some(array.with_element_type(t).into())
}
