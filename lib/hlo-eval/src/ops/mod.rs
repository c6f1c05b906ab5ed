//! The operations: one file per family of the opcode table.

mod accumulate;
mod bitcast_convert;
mod collective;
mod combine;
pub(crate) mod complex;
mod contraction;
mod control;
pub(crate) mod convert;
mod convolution;
mod custom_call;
mod data_movement;
mod dot;
pub(crate) mod dynamic;
mod effects;
pub(crate) mod elementwise;
pub(crate) mod fast;
mod float;
mod indexing;
mod integer;
mod linear_algebra;
mod merge_sort;
mod moved;
mod normalization;
pub(crate) mod pointwise;
mod random;
mod reducer;
mod reduction;
mod scaled_ragged_dot;
mod scan;
mod scatter;
mod sort;
pub(crate) mod structural;
mod top_k;
mod updates;
mod wide;
mod window;

use crate::EvalError;
use crate::evaluator::Evaluator;
use hlo_ir::{ArrayShape, InstrId, Instruction, Literal, Module, Op};

type Result<T> = std::result::Result<T, EvalError>;

/// Computes instruction `id`. `instr` is the same instruction for arrays of the operands' actual sizes.
pub(crate) fn evaluate(
    ev: &mut Evaluator<'_>,
    id: InstrId,
    instr: &Instruction,
    operands: Vec<Literal>,
) -> Result<Literal> {
    match &instr.op {
        Op::Parameter(_) => Err(EvalError::new("a parameter has no value outside of a call")),
        Op::Constant(a) => structural::constant(instr, a),
        Op::Tuple => structural::tuple(instr, operands),
        Op::GetTupleElement(a) => structural::get_tuple_element(ev, operands, a.index),

        hlo_ir::elementwise_op!() => pointwise::elementwise(ev, instr, operands),

        Op::Copy | Op::OptBarrier | Op::Domain(_) => structural::identity(instr, operands),
        Op::BitcastConvert => bitcast_convert::bitcast_convert(ev, instr, operands),

        Op::Bitcast => data_movement::bitcast(ev, instr, operands),
        Op::Broadcast(a) => data_movement::broadcast(ev, instr, operands, a),
        Op::Concatenate(a) => data_movement::concatenate(ev, instr, operands, a.dimension()),
        Op::Iota(a) => data_movement::iota(ev, instr, a.iota_dimension),
        Op::Pad(a) => data_movement::pad(ev, instr, operands, a),
        Op::Reshape(_) => data_movement::reshape(instr, operands),
        Op::Reverse(a) => data_movement::reverse(ev, instr, operands, &a.dimensions),
        Op::Slice(a) => data_movement::slice(ev, instr, operands, a),
        Op::Transpose(a) => data_movement::transpose(ev, instr, operands, &a.dimensions),

        Op::DynamicSlice(_) => indexing::dynamic_slice(ev, instr, operands),
        Op::DynamicUpdateSlice => indexing::dynamic_update_slice(ev, operands),
        Op::Gather(a) => indexing::gather(ev, instr, operands, a),
        Op::Scatter(a) => scatter::scatter(ev, operands, a),

        Op::DynamicReshape => dynamic::dynamic_reshape(instr, operands),
        Op::GetDimensionSize(a) => dynamic::get_dimension_size(ev, instr, &operands, a.dimension()),
        Op::SetDimensionSize(a) => dynamic::set_dimension_size(ev, instr, operands, a.dimension()),

        Op::Map(a) => reduction::map(ev, instr, operands, a.to_apply),
        Op::Reduce(a) => reduction::reduce(ev, instr, operands, a),

        Op::ReduceWindow(a) => window::reduce_window(ev, instr, operands, a),
        Op::SelectAndScatter(a) => window::select_and_scatter(ev, instr, operands, a),
        Op::Sort(a) => sort::sort(ev, instr, operands, a),
        Op::TopK(a) => top_k::top_k(ev, instr, operands, a),

        Op::Contraction(a) => contraction::contraction(ev, instr, operands, &a.access),
        Op::Convolution(a) => convolution::convolution(ev, instr, operands, a),
        Op::Dot(a) => dot::dot(ev, instr, operands, a),
        Op::RaggedDot(a) => scaled_ragged_dot::ragged_dot(ev, instr, operands, a),
        Op::ScaledDot(a) => scaled_ragged_dot::scaled_dot(ev, instr, operands, a),

        Op::Cholesky(a) => linear_algebra::cholesky(ev, instr, operands, a.lower),
        Op::Fft(a) => linear_algebra::fft(ev, instr, operands, a),
        Op::TriangularSolve(a) => linear_algebra::triangular_solve(ev, instr, operands, a),

        Op::BatchNormGrad(a) => normalization::gradient(ev, instr, operands, a),
        Op::BatchNormInference(a) => normalization::inference(ev, instr, operands, a),
        Op::BatchNormTraining(a) => normalization::training(ev, instr, operands, a),

        Op::Rng(a) => random::rng(ev, id, instr, operands, a.distribution),
        Op::RngGetAndUpdateState(a) => random::get_and_update_state(ev, id, instr, a.delta),
        Op::RngBitGenerator(a) => random::rng_bit_generator(ev, instr, operands, a.algorithm),

        Op::Call(a) => ev.run_computation(a.to_apply, operands),
        Op::Conditional(a) => control::conditional(ev, operands, a),
        Op::Fusion(a) => ev.run_computation(a.calls, operands),
        Op::Scan(a) => scan::scan(ev, instr, operands, a),
        Op::While(a) => control::run_while(ev, operands, a),

        Op::AddDependency => structural::identity(instr, operands),
        Op::AfterAll => Ok(Literal::token()),
        Op::CopyStart(_) => effects::copy_start(ev, instr, operands),
        Op::CopyDone => effects::part(ev, instr, operands, 0),
        Op::AsyncStart(a) => effects::async_start(ev, instr, operands, a),
        Op::AsyncUpdate(_) => structural::identity(instr, operands),
        Op::AsyncDone(_) => effects::part(ev, instr, operands, 1),
        Op::Infeed(_) => effects::infeed(ev, instr),
        Op::Outfeed(a) => effects::outfeed(ev, instr, operands, a),
        Op::Send(a) => effects::send(ev, id, operands, a),
        Op::SendDone(_) => Ok(Literal::token()),
        Op::Recv(_) => effects::recv(ev, instr),
        Op::RecvDone(a) => effects::recv_done(ev, id, operands, a),

        Op::PartitionId => collective::own_id(ev, false),
        Op::ReplicaId => collective::own_id(ev, true),
        Op::AllGather(a) => collective::all_gather(ev, id, instr, operands, a),
        Op::AllGatherStart(a) => collective::all_gather_start(ev, id, instr, operands, a),
        Op::AllReduce(a) | Op::AllReduceStart(a) => {
            collective::all_reduce(ev, id, instr, operands, a.to_apply)
        }
        Op::AllReduceDone => structural::identity(instr, operands),
        Op::AllToAll(a) => collective::all_to_all(ev, id, instr, operands, a),
        Op::ReduceScatter(a) => collective::reduce_scatter(ev, id, instr, operands, a),
        Op::AllGatherDone | Op::CollectivePermuteDone => effects::part(ev, instr, operands, 1),
        Op::CollectiveBroadcast(a) => collective::broadcast(ev, id, instr, operands, a),
        Op::CollectivePermute(a) => collective::permute(ev, id, instr, operands, a),
        Op::CollectivePermuteStart(a) => collective::permute_start(ev, id, instr, operands, a),
        Op::RaggedAllToAll(_) => collective::ragged_all_to_all(ev, id, operands),

        Op::CustomCall(_) => custom_call::custom_call(ev, id, operands),
    }
}

fn result_array(instr: &Instruction) -> Result<&ArrayShape> {
    instr
        .shape
        .as_array()
        .ok_or_else(|| EvalError::new(format!("the result of {} must be an array", instr.op.name())))
}

fn array(value: &Literal) -> Result<&ArrayShape> {
    value
        .shape()
        .as_array()
        .ok_or_else(|| EvalError::new(format!("an array was expected, not {}", value.shape())))
}

/// Returns the declared shape of operand `n`, which must be an array.
fn declared_array<'m>(module: &'m Module, instr: &Instruction, n: usize) -> Result<&'m ArrayShape> {
    let declared = instr.operands.get(n).and_then(|&o| module[o].shape.as_array());
    declared.ok_or_else(|| EvalError::internal(format!("operand {n} of {} is no array", instr.op.name())))
}

fn take<const N: usize>(operands: Vec<Literal>) -> Result<[Literal; N]> {
    let found = operands.len();
    <[Literal; N]>::try_from(operands)
        .map_err(|_| EvalError::new(format!("{N} operands were expected, not {found}")))
}

fn dimension(number: i64, rank: usize) -> Result<usize> {
    usize::try_from(number)
        .ok()
        .filter(|&d| d < rank)
        .ok_or_else(|| EvalError::new(format!("dimension {number} of an array of rank {rank}")))
}

fn dimensions(numbers: &[i64], rank: usize) -> Result<smallvec::SmallVec<[usize; 6]>> {
    numbers.iter().map(|&d| dimension(d, rank)).collect()
}
