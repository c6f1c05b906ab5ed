//! Dispatch of instructions by opcode.

use super::exporter::Exporter;
use super::failure::Outcome;
use super::value::Value;
use hlo_ir::attr::{
    DimensionAttrs, DimensionsAttrs, GetTupleElementAttrs, IotaAttrs, ParameterAttrs, RngAttrs,
    RngBitGeneratorAttrs,
};
use hlo_ir::{InstrId, Op, elementwise_op};

/// Returns how to change a module whose operation StableHLO and CHLO lack.
fn advice(op: &Op) -> Option<&'static str> {
    Some(match op {
        Op::Contraction(_) => {
            "`contraction-raising` makes what it can of contractions products, convolutions and reductions; others can't be \
             exported"
        }
        Op::ScaledDot(_) => "`scaled-dot-rewriter` makes it products",
        Op::RngGetAndUpdateState(_) => "`rng-bit-generator` has a state that the program hands on",
        _ => return None,
    })
}

impl Exporter<'_> {
    /// Exports an instruction and records its value.
    pub(super) fn translate(&mut self, id: InstrId) {
        if let Op::Parameter(_) = self.instruction(id).op {
            // The parameter already has a value.
            return;
        }
        self.start_instruction(id);
        let before = self.block_len();
        let value = match self.value_of(id) {
            Ok(value) => Some(self.annotate(id, value, before)),
            Err(failure) => {
                self.report(id, failure);
                None
            }
        };
        self.set_value(id, value);
    }

    /// Adds the operations of an instruction and returns its value.
    fn value_of(&mut self, id: InstrId) -> Outcome<Value> {
        match &self.instruction(id).op {
            // The position in the list of the function's arguments is the number.
            Op::Parameter(ParameterAttrs { number: _ }) => self.value(id),
            Op::Constant(a) => self.constant(id, a),
            Op::Tuple => self.tuple(id),
            Op::GetTupleElement(GetTupleElementAttrs { index }) => self.get_tuple_element(id, *index),

            elementwise_op!() => self.elementwise(id),

            // A copy affects only memory. The value is that of the operand.
            Op::Copy => self.operand(id, 0),
            Op::Bitcast => self.bitcast(id),
            Op::BitcastConvert => self.plain(id, "stablehlo.bitcast_convert"),
            Op::Broadcast(a) => self.broadcast(id, a),
            Op::Concatenate(DimensionAttrs { dimensions }) => self.concatenate(id, dimensions),
            Op::Iota(IotaAttrs { iota_dimension }) => self.iota(id, *iota_dimension),
            Op::Pad(a) => self.pad(id, a),
            Op::Reshape(a) => self.reshape(id, a),
            Op::Reverse(DimensionsAttrs { dimensions }) => self.reverse(id, dimensions),
            Op::Slice(a) => self.slice(id, a),
            Op::Transpose(DimensionsAttrs { dimensions }) => self.transpose(id, dimensions),

            Op::DynamicReshape => self.dynamic_reshape(id),
            Op::DynamicSlice(a) => self.dynamic_slice(id, a),
            Op::DynamicUpdateSlice => self.dynamic_update_slice(id),
            Op::Gather(a) => self.gather(id, a),
            Op::Scatter(a) => self.scatter(id, a),
            Op::GetDimensionSize(DimensionAttrs { dimensions }) => {
                self.dimension_size(id, "stablehlo.get_dimension_size", dimensions)
            }
            Op::SetDimensionSize(DimensionAttrs { dimensions }) => {
                self.dimension_size(id, "stablehlo.set_dimension_size", dimensions)
            }

            Op::Map(a) => self.map(id, a),
            Op::Reduce(a) => self.reduce(id, a),
            Op::ReduceWindow(a) => self.reduce_window(id, a),
            Op::SelectAndScatter(a) => self.select_and_scatter(id, a),
            Op::Sort(a) => self.sort(id, a),
            Op::Scan(a) => self.scan(id, a),
            Op::TopK(a) => self.top_k(id, a),

            Op::Convolution(a) => self.convolution(id, a),
            Op::Dot(a) => self.dot(id, a),
            Op::RaggedDot(a) => self.ragged_dot(id, a),
            Op::Cholesky(a) => self.cholesky(id, a),
            Op::Fft(a) => self.fft(id, a),
            Op::TriangularSolve(a) => self.triangular_solve(id, a),
            Op::BatchNormGrad(a) => self.batch_norm(id, "stablehlo.batch_norm_grad", a),
            Op::BatchNormInference(a) => self.batch_norm(id, "stablehlo.batch_norm_inference", a),
            Op::BatchNormTraining(a) => self.batch_norm(id, "stablehlo.batch_norm_training", a),

            Op::Rng(RngAttrs { distribution }) => self.rng(id, *distribution),
            Op::RngBitGenerator(RngBitGeneratorAttrs { algorithm }) => self.rng_bit_generator(id, *algorithm),

            Op::Call(a) => self.call(id, a),
            Op::Conditional(a) => self.conditional(id, a),
            Op::Fusion(a) => self.fusion(id, a),
            Op::OptBarrier => self.barrier(id),
            Op::While(a) => self.while_loop(id, a),

            Op::AddDependency => self.add_dependency(id),
            Op::AfterAll => self.after_all(id),
            Op::CustomCall(a) => self.custom_call(id, a),
            Op::Domain(a) => self.domain(id, a),
            Op::Infeed(a) => self.infeed(id, a),
            Op::Outfeed(a) => self.outfeed(id, a),
            Op::PartitionId => self.plain(id, "stablehlo.partition_id"),
            Op::ReplicaId => self.plain(id, "stablehlo.replica_id"),
            Op::Recv(a) => self.recv(id, a),
            Op::Send(a) => self.send(id, a),
            Op::RecvDone(a) => self.recv_done(id, a),
            Op::SendDone(a) => self.send_done(id, a),

            Op::AsyncStart(a) => self.async_start(id, a),
            Op::AsyncUpdate(a) => self.async_update(id, a),
            Op::AsyncDone(a) => self.async_done(id, a),
            Op::CopyStart(a) => self.copy_start(id, a),
            Op::CopyDone => self.part_of_state(id, 0),

            Op::AllGather(a) => self.all_gather(id, a),
            Op::AllGatherStart(a) => self.all_gather_start(id, a),
            Op::AllGatherDone | Op::CollectivePermuteDone => self.part_of_state(id, 1),
            Op::AllReduce(a) | Op::AllReduceStart(a) => self.all_reduce(id, a),
            Op::AllReduceDone => self.operand(id, 0),
            Op::AllToAll(a) => self.all_to_all(id, a),
            Op::CollectiveBroadcast(a) => self.collective_broadcast(id, a),
            Op::CollectivePermute(a) => self.collective_permute(id, a),
            Op::CollectivePermuteStart(a) => self.collective_permute_start(id, a),
            Op::RaggedAllToAll(a) => self.ragged_all_to_all(id, a),
            Op::ReduceScatter(a) => self.reduce_scatter(id, a),

            other => match advice(other) {
                Some(advice) => self.reject_without_form(id, advice),
                None => self.reject(id, "is no operation of StableHLO or CHLO"),
            },
        }
    }
}
