//! Damages modules in ways that an incorrect program which edits modules might.

use crate::Numbers;
use hlo_ir::attr::{EntryLayout, InputOutputAlias};
use hlo_ir::{ArrayShape, ComputationId, Dims, InstrId, Module, Op, Shape};

/// Sizes that no array in memory has.
const EXTREME_SIZES: [i64; 6] = [-1, 0, 1 << 31, 1 << 62, i64::MAX, ArrayShape::UNBOUNDED];

/// An id that does not exist in the modules of tests.
const NO_SUCH_ID: usize = 1_000_000;

/// Changes a part of the module so that it does not match the rest. Most results violate a rule.
///
/// With a `donor`, ids may become invalid, too: operations are taken from the donor, where their ids refer to
/// other items, and some ids refer to nothing. No text can express such a module.
pub fn damage(module: &mut Module, donor: Option<&Module>, numbers: &mut Numbers) {
    let all = instructions(module);
    let (id, other) = (numbers.pick(&all), numbers.pick(&all));
    if let Some(donor) = donor
        && numbers.one_in(3)
    {
        return damage_ids(module, (id, other), donor, numbers);
    }
    let is_beside = module[id].parent == module[other].parent;
    let mut operands = module[id].operands.to_vec();
    match numbers.below(13) {
        0 => module.set_shape(id, module[other].shape.clone()),
        1 => module.set_op(id, module[other].op.clone()),
        2 => module.set_shape(id, extreme(&module[id].shape, numbers)),
        3 if !operands.is_empty() => {
            operands.remove(numbers.below(operands.len()));
            module.set_operands(id, operands);
        }
        4 if is_beside => {
            operands.push(other);
            module.set_operands(id, operands);
        }
        5 if is_beside && !operands.is_empty() => {
            module.replace_operand(id, numbers.below(operands.len()), other);
        }
        6 if is_beside => module.set_root(module[id].parent, other),
        7 => module.set_entry(module[other].parent),
        8 => module.header.is_scheduled = true,
        9 => module.header.num_partitions.0 = numbers.pick(&EXTREME_SIZES),
        10 => module.header.replica_count.0 = numbers.pick(&EXTREME_SIZES),
        11 => {
            let parameter = numbers.pick(&[-1, 0, 1, i64::MAX]);
            let output = vec![numbers.below(3) as i64];
            let alias = InputOutputAlias { output, parameter, parameter_index: Vec::new(), must: true };
            module.header.input_output_alias.push(alias);
        }
        _ => {
            let number = numbers.pick(&[-1, 0, 1, 7, i64::MAX]);
            module.set_op(id, Op::parameter(number));
        }
    }
}

/// Inserts an id that refers to another item or to nothing.
fn damage_ids(module: &mut Module, (id, other): (InstrId, InstrId), donor: &Module, numbers: &mut Numbers) {
    match numbers.below(4) {
        0 => {
            let foreign = numbers.pick(&instructions(donor));
            module.set_op(id, donor[foreign].op.clone());
        }
        1 => module.set_entry(ComputationId::new(NO_SUCH_ID)),
        2 => {
            let predecessor = numbers.pick(&[other, InstrId::new(NO_SUCH_ID)]);
            module.common_mut(id).control_predecessors.push(predecessor);
        }
        _ => {
            let (parameters, result) = donor.entry_shapes();
            let layout =
                EntryLayout { parameters: parameters.into_iter().cloned().collect(), result: result.clone() };
            module.header.entry_computation_layout = Some(layout);
        }
    }
}

fn instructions(module: &Module) -> Vec<InstrId> {
    module.computations().flat_map(|c| module[c].instructions().to_vec()).collect()
}

/// Returns a shape with an extreme size in one dimension, or with an additional dimension.
fn extreme(shape: &Shape, numbers: &mut Numbers) -> Shape {
    let Some(array) = shape.as_array() else { return Shape::tuple(vec![shape.clone(); 2]) };
    let mut dims: Dims = array.dims.clone();
    let size = numbers.pick(&EXTREME_SIZES);
    match dims.len() {
        0 => dims.push(size),
        rank => dims[numbers.below(rank)] = size,
    }
    ArrayShape { dims, ..array.clone() }.into()
}
