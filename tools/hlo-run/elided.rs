//! Generates values for constants whose values the text omits (`{...}`).

use crate::generate::Spec;
use crate::index_bounds::bounds_of;
use hlo_ir::{InstrId, Literal, Module, Op};
use hlo_tools_common::Failure;

/// Fills each elided constant of the module with small values that depend on `seed`. Indices are in range.
/// Returns the number of constants.
pub fn fill_elided_constants(module: &mut Module, seed: u64) -> Result<usize, Failure> {
    let elided = |i: &InstrId| matches!(&module[*i].op, Op::Constant(a) if a.is_elided());
    let constants: Vec<InstrId> =
        module.computations().flat_map(|c| module[c].instructions().iter().copied().filter(elided)).collect();
    let mut made = 0u64;
    let bounds = bounds_of(module, &constants);
    for (&id, bounds) in constants.iter().zip(bounds) {
        let Op::Constant(attrs) = module.op_mut(id) else { continue };
        let flags = std::mem::take(&mut attrs.elided);
        for (n, leaf) in attrs.literal.leaves_mut().into_iter().enumerate() {
            let Some(array) = leaf.shape().as_array().filter(|_| flags.get(n) == Some(&true)).cloned() else {
                continue;
            };
            let bound = bounds.get(n).copied().flatten();
            // These sequences differ from those of the inputs.
            let spec =
                Spec::small(array.element_type, bound, seed.wrapping_mul(1 << 20).wrapping_sub(made + 1));
            made += 1;
            let shape = leaf.shape().clone();
            let values = spec
                .generate(&array)
                .ok_or_else(|| Failure::Message(format!("there is no memory for a constant of {array}")))?;
            *leaf = Literal::with_shape(values, shape);
        }
    }
    Ok(constants.len())
}
