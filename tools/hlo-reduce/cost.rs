//! How far a module is from being small: each step of a reduction makes this less, so that reducing ends.

use hlo_ir::{ElementType, Module, Op, Shape};

/// The size of a module; the first part that differs decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost {
    /// Instructions and their operands; what only brings a value in counts little.
    structure: usize,
    /// How unusual the element types are.
    types: usize,
    /// The logarithms of the sizes of the arrays.
    sizes: u64,
    /// The bytes of the text.
    text: usize,
}

impl Cost {
    /// The cost of a module with that text.
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
                    // Dimensions count one by one: a factor less anywhere is less.
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

/// What an instruction counts.
fn weight(op: &Op) -> usize {
    match op {
        Op::Parameter(_) | Op::Constant(_) => 2,
        Op::Broadcast(_) | Op::Iota(_) | Op::AfterAll => 3,
        Op::Tuple | Op::GetTupleElement(_) => 4,
        _ => 8,
    }
}

/// 0 for the types that a person thinks in, more for others.
fn rank(ty: ElementType) -> usize {
    match ty {
        ElementType::F32 | ElementType::S32 | ElementType::Pred => 0,
        ElementType::U32 => 1,
        ElementType::F64 | ElementType::S64 | ElementType::C64 => 2,
        _ => 3,
    }
}

/// The number of instructions of a module.
pub fn instructions(module: &Module) -> usize {
    module.computations().map(|c| module[c].instructions().len()).sum()
}
