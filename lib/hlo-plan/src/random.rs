//! Random numbers as runtime calls: `rng-bit-generator`, `rng` and `rng-get-and-update-state`.

use crate::Refusal;
use crate::{Argument, BufId, RuntimeCall};
use hlo_ir::attr::{RngAlgorithm, RngDistribution};
use hlo_ir::{ElementType, InstrId, Module, Op, streams};

/// Returns the runtime call for an `rng-bit-generator`, or the reason why there is none. The operand is the
/// buffer of the state. The results are the buffers of the new state and of the bits.
pub(super) fn lower(
    module: &Module,
    id: InstrId,
    operands: Vec<BufId>,
    results: Vec<BufId>,
) -> Result<RuntimeCall<BufId>, Refusal> {
    let instr = &module[id];
    let Op::RngBitGenerator(attrs) = &instr.op else { return Err("this is not a generator".into()) };
    let state = instr.operands.first().and_then(|&o| module[o].shape.as_array());
    let bits = instr.shape.leaves().last().and_then(|s| s.as_array());
    let (Some(state), Some(bits)) = (state, bits) else { return Err("state or bits are no array".into()) };
    let element = bits.element_type;
    if element.is_pred() || element.is_complex() {
        return Err(format!("random bits of type {element} are not defined").into());
    }
    let words = (state.byte_size() / 8) as i64;
    let width = i64::from(element.bit_width());
    // Signed integers narrower than a byte are sign-extended to a byte.
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
            return Err(format!("a state of shape {state} does not fit the algorithm").into());
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

/// Returns the runtime call for an `rng` of type f64 or an `rng-get-and-update-state`.
pub(super) fn draw(
    module: &Module,
    id: InstrId,
    operands: Vec<BufId>,
    results: Vec<BufId>,
) -> Result<RuntimeCall<BufId>, Refusal> {
    let instr = &module[id];
    let shape = instr.shape.as_array().ok_or("random numbers that are no array")?;
    let stream = streams::noted(module, id).ok_or("the pass `rng_expander` has to run before")?;
    let operand = |n: usize| operands.get(n).map(|_| Argument::Operand(n)).ok_or("an operand is missing");
    let (symbol, arguments, descriptor) = match &instr.op {
        Op::Rng(attrs) if shape.element_type == ElementType::F64 => {
            let distribution = match attrs.distribution {
                RngDistribution::Uniform => 0,
                RngDistribution::Normal => 1,
                RngDistribution::Invalid => return Err("there is no distribution to draw from".into()),
            };
            // The fields in the order of `DrawDesc`.
            let descriptor = vec![stream as i64, shape.element_count() as i64, distribution];
            let (a, b) = (operand(0)?, operand(1)?);
            let arguments = vec![Argument::Descriptor, Argument::Draws(stream), a, b, Argument::Result(0)];
            ("hlo_rt_rng", arguments, descriptor)
        }
        Op::Rng(_) => return Err("the pass `rng_expander` has to run before".into()),
        Op::RngGetAndUpdateState(attrs) => {
            let numbers = [stream as i64, attrs.delta].map(Argument::Number);
            let arguments = vec![Argument::Draws(stream), numbers[0], numbers[1], Argument::Result(0)];
            ("hlo_rt_rng_state", arguments, Vec::new())
        }
        _ => return Err("this draws no random numbers".into()),
    };
    Ok(RuntimeCall { instruction: id, symbol, arguments, descriptor, operands, results, loops: Vec::new() })
}
