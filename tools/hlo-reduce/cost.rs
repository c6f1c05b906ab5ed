//! The cost of a module. Each step of a reduction lowers it, so the reduction terminates.

use hlo_ir::{ElementType, Module, Op, Shape};

/// The size of a module, compared field by field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost {
    /// The weighted number of instructions and their operands. Instructions that only provide values have a
    /// small weight.
    structure: usize,
    /// The total rank of the element types; common types have rank 0.
    types: usize,
    /// The sum of the logarithms of the dimensions.
    sizes: u64,
    /// The size of the text in bytes.
    text: usize,
}

impl Cost {
    /// Returns the cost of a module with the given text.
    pub fn of(module: &Module, text: &str) -> Self {
        let mut cost = Cost { structure: 0, types: 0, sizes: 0, text: text.len() };
        for c in module.computations() {
            cost.structure += 4;
            for &i in module[c].instructions() {
                let instr = &module[i];
                cost.structure += weight(&instr.op) + instr.operands.len();
                for leaf in instr.shape.leaves() {
                    let Shape::Array(array) = leaf else { continue };
                    cost.types += rank(array.element_type);
                    // Each dimension counts separately, so that dividing any of them lowers the cost.
                    cost.sizes += array
                        .dims
                        .iter()
                        .map(|&d| u64::from(64 - d.unsigned_abs().leading_zeros()))
                        .sum::<u64>();
                    cost.sizes += array.dims.len() as u64;
                }
            }
        }
        cost
    }
}

/// Returns the weight of an operation.
fn weight(op: &Op) -> usize {
    match op {
        Op::Parameter(_) | Op::Constant(_) => 2,
        Op::Broadcast(_) | Op::Iota(_) | Op::AfterAll => 3,
        Op::Tuple | Op::GetTupleElement(_) => 4,
        _ => 8,
    }
}

/// Returns 0 for common types, and more for others.
fn rank(ty: ElementType) -> usize {
    match ty {
        ElementType::F32 | ElementType::S32 | ElementType::Pred => 0,
        ElementType::U32 => 1,
        ElementType::F64 | ElementType::S64 | ElementType::C64 => 2,
        _ => 3,
    }
}

/// Returns the number of instructions of a module.
pub fn instructions(module: &Module) -> usize {
    module.computations().map(|c| module[c].instructions().len()).sum()
}
