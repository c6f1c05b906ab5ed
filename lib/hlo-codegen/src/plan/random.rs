//! `rng-bit-generator` as a call of the runtime.

use super::classify::is_dense_row_major;
use super::{Argument, BufId, RuntimeCall};
use hlo_ir::attr::RngAlgorithm;
use hlo_ir::{InstrId, Module, Op};

/// The call for an `rng-bit-generator` with the state's buffer as operand, the new state's and the bits' as
/// results, or why there is none.
pub(super) fn lower(
    module: &Module,
    id: InstrId,
    operands: Vec<BufId>,
    results: Vec<BufId>,
) -> Result<RuntimeCall<BufId>, String> {
    let instr = &module[id];
    let Op::RngBitGenerator(attrs) = &instr.op else { return Err("this is not a generator".into()) };
    let state = instr.operands.first().and_then(|&o| module[o].shape.as_array());
    let bits = instr.shape.leaves().last().and_then(|s| s.as_array());
    let (Some(state), Some(bits)) = (state, bits) else { return Err("state or bits are no array".into()) };
    let element = bits.element_type;
    if element.is_pred() || element.is_complex() {
        return Err(format!("random bits of type {element} are not defined"));
    }
    if !is_dense_row_major(bits) {
        return Err("random bits can be made in row-major order only".into());
    }
    let words = (state.byte_size() / 8) as i64;
    let width = i64::from(element.bit_width());
    // Signed integers narrower than a byte are sign-extended in it.
    let width = if element.is_signed_integer() && width < 8 { -width } else { width };
    let (symbol, arguments) = match attrs.algorithm {
        RngAlgorithm::ThreeFry if words == 2 => (
            "hlo_rt_rng_three_fry",
            vec![
                Argument::Operand(0),
                Argument::Result(0),
                Argument::Result(1),
                Argument::Number(width),
                Argument::Descriptor,
                Argument::Number(bits.rank() as i64),
            ],
        ),
        RngAlgorithm::Default | RngAlgorithm::Philox if words == 2 || words == 3 => (
            "hlo_rt_rng_philox",
            vec![
                Argument::Operand(0),
                Argument::Number(words),
                Argument::Result(0),
                Argument::Result(1),
                Argument::Number(width),
                Argument::Number(bits.element_count() as i64),
            ],
        ),
        RngAlgorithm::ThreeFry | RngAlgorithm::Default | RngAlgorithm::Philox => {
            return Err(format!("a state of shape {state} does not fit the algorithm"));
        }
    };
    Ok(RuntimeCall {
        instruction: id,
        symbol,
        arguments,
        descriptor: bits.dims.to_vec(),
        operands,
        results,
        loops: Vec::new(),
    })
}
