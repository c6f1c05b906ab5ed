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
mod support;
mod top_k;
mod updates;
mod wide;
mod window;

use crate::context::Context;
use crate::error::EvalError;
use hlo_ir::{InstrId, Instruction, Literal, Op};
use support::Result;

/// Computes instruction `id`. `instr` is the same instruction for arrays of the operands' actual sizes.
pub(crate) fn evaluate(
    cx: &mut Context<'_>,
    id: InstrId,
    instr: &Instruction,
    operands: Vec<Literal>,
) -> Result<Literal> {
    match &instr.op {
        Op::Parameter(_) => Err(EvalError::new("a parameter has no value outside of a call")),
        Op::Constant(a) => structural::constant(instr, a),
        Op::Tuple => structural::tuple(instr, operands),
        Op::GetTupleElement(a) => structural::get_tuple_element(cx, operands, a.index),

        hlo_ir::elementwise_op!() => pointwise::elementwise(cx, instr, operands),

        Op::Copy | Op::OptBarrier | Op::Domain(_) => structural::identity(instr, operands),
        Op::BitcastConvert => bitcast_convert::bitcast_convert(cx, instr, operands),

        Op::Bitcast => data_movement::bitcast(cx, instr, operands),
        Op::Broadcast(a) => data_movement::broadcast(cx, instr, operands, a),
        Op::Concatenate(a) => data_movement::concatenate(cx, instr, operands, a.dimension()),
        Op::Iota(a) => data_movement::iota(cx, instr, a.iota_dimension),
        Op::Pad(a) => data_movement::pad(cx, instr, operands, a),
        Op::Reshape(_) => data_movement::reshape(instr, operands),
        Op::Reverse(a) => data_movement::reverse(cx, instr, operands, &a.dimensions),
        Op::Slice(a) => data_movement::slice(cx, instr, operands, a),
        Op::Transpose(a) => data_movement::transpose(cx, instr, operands, &a.dimensions),

        Op::DynamicSlice(_) => indexing::dynamic_slice(cx, instr, operands),
        Op::DynamicUpdateSlice => indexing::dynamic_update_slice(cx, operands),
        Op::Gather(a) => indexing::gather(cx, instr, operands, a),
        Op::Scatter(a) => scatter::scatter(cx, operands, a),

        Op::DynamicReshape => dynamic::dynamic_reshape(instr, operands),
        Op::GetDimensionSize(a) => dynamic::get_dimension_size(cx, instr, &operands, a.dimension()),
        Op::SetDimensionSize(a) => dynamic::set_dimension_size(cx, instr, operands, a.dimension()),

        Op::Map(a) => reduction::map(cx, instr, operands, a.to_apply),
        Op::Reduce(a) => reduction::reduce(cx, instr, operands, a),

        Op::ReduceWindow(a) => window::reduce_window(cx, instr, operands, a),
        Op::SelectAndScatter(a) => window::select_and_scatter(cx, instr, operands, a),
        Op::Sort(a) => sort::sort(cx, instr, operands, a),
        Op::TopK(a) => top_k::top_k(cx, instr, operands, a),

        Op::Contraction(a) => contraction::contraction(cx, instr, operands, &a.access),
        Op::Convolution(a) => convolution::convolution(cx, instr, operands, a),
        Op::Dot(a) => dot::dot(cx, instr, operands, a),
        Op::RaggedDot(a) => scaled_ragged_dot::ragged_dot(cx, instr, operands, a),
        Op::ScaledDot(a) => scaled_ragged_dot::scaled_dot(cx, instr, operands, a),

        Op::Cholesky(a) => linear_algebra::cholesky(cx, instr, operands, a.lower),
        Op::Fft(a) => linear_algebra::fft(cx, instr, operands, a),
        Op::TriangularSolve(a) => linear_algebra::triangular_solve(cx, instr, operands, a),

        Op::BatchNormGrad(a) => normalization::gradient(cx, instr, operands, a),
        Op::BatchNormInference(a) => normalization::inference(cx, instr, operands, a),
        Op::BatchNormTraining(a) => normalization::training(cx, instr, operands, a),

        Op::Rng(a) => random::rng(cx, id, instr, operands, a.distribution),
        Op::RngGetAndUpdateState(a) => random::get_and_update_state(cx, id, instr, a.delta),
        Op::RngBitGenerator(a) => random::rng_bit_generator(cx, instr, operands, a.algorithm),

        Op::Call(a) => cx.call(a.to_apply, operands),
        Op::Conditional(a) => control::conditional(cx, operands, a),
        Op::Fusion(a) => cx.call(a.calls, operands),
        Op::Scan(a) => scan::scan(cx, instr, operands, a),
        Op::While(a) => control::run_while(cx, operands, a),

        Op::AddDependency => structural::identity(instr, operands),
        Op::AfterAll => Ok(Literal::token()),
        Op::CopyStart(_) => effects::copy_start(cx, instr, operands),
        Op::CopyDone => effects::part(cx, instr, operands, 0),
        Op::AsyncStart(a) => effects::async_start(cx, instr, operands, a),
        Op::AsyncUpdate(_) => structural::identity(instr, operands),
        Op::AsyncDone(_) => effects::part(cx, instr, operands, 1),
        Op::Infeed(_) => effects::infeed(cx, instr),
        Op::Outfeed(a) => effects::outfeed(cx, instr, operands, a),
        Op::Send(a) => effects::send(cx, id, operands, a),
        Op::SendDone(_) => Ok(Literal::token()),
        Op::Recv(_) => effects::recv(cx, instr),
        Op::RecvDone(a) => effects::recv_done(cx, id, operands, a),

        Op::PartitionId => collective::own_id(cx, false),
        Op::ReplicaId => collective::own_id(cx, true),
        Op::AllGather(a) => collective::all_gather(cx, id, instr, operands, a),
        Op::AllGatherStart(a) => collective::all_gather_start(cx, id, instr, operands, a),
        Op::AllReduce(a) | Op::AllReduceStart(a) => {
            collective::all_reduce(cx, id, instr, operands, a.to_apply)
        }
        Op::AllReduceDone => structural::identity(instr, operands),
        Op::AllToAll(a) => collective::all_to_all(cx, id, instr, operands, a),
        Op::ReduceScatter(a) => collective::reduce_scatter(cx, id, instr, operands, a),
        Op::AllGatherDone | Op::CollectivePermuteDone => effects::part(cx, instr, operands, 1),
        Op::CollectiveBroadcast(a) => collective::broadcast(cx, id, instr, operands, a),
        Op::CollectivePermute(a) => collective::permute(cx, id, instr, operands, a),
        Op::CollectivePermuteStart(a) => collective::permute_start(cx, id, instr, operands, a),
        Op::RaggedAllToAll(_) => collective::ragged_all_to_all(cx, id, operands),

        Op::CustomCall(_) => custom_call::custom_call(cx, id, operands),
    }
}
