//! Maps opcodes to methods of the builder.

use super::elementwise::{binary, unary};
use super::{Called, collective};
use hlo_builder::{Builder, Computation, ScatterDimensions, Value};
use hlo_ir::attr::*;
use hlo_ir::{InstrId, Module, Op};

/// Adds an instruction of a valid module with the method of its opcode. `x` contains its operands. Returns
/// `None` if its shape is not a valid result of the opcode.
pub(super) fn rebuilt<'b>(
    b: &'b Builder,
    module: &Module,
    id: InstrId,
    x: &[Value<'b>],
    called: &mut Called<'_>,
) -> Option<Value<'b>> {
    let shape = module[id].shape.without_layout();
    let array = || shape.as_array().cloned();
    let element_type = || array().map(|a| a.element_type);
    Some(match &module[id].op {
        Op::Parameter(p) => b.parameter(p.number, shape.clone(), &module[id].name),
        Op::Constant(a) => b.constant(a.literal.clone()),
        Op::Tuple => b.tuple(x),
        Op::GetTupleElement(a) => x[0].get_tuple_element(a.index),

        op @ (Op::Abs
        | Op::Acos
        | Op::Acosh
        | Op::Asin
        | Op::Asinh
        | Op::Atanh
        | Op::Cbrt
        | Op::Ceil
        | Op::Cosine
        | Op::Cosh
        | Op::CountLeadingZeros
        | Op::Erf
        | Op::Exponential
        | Op::ExponentialMinusOne
        | Op::Floor
        | Op::Imag
        | Op::IsFinite
        | Op::Log
        | Op::LogPlusOne
        | Op::Logistic
        | Op::Negate
        | Op::Not
        | Op::PopulationCount
        | Op::Real
        | Op::RoundNearestAfz
        | Op::RoundNearestEven
        | Op::Rsqrt
        | Op::Sign
        | Op::Sine
        | Op::Sinh
        | Op::Sqrt
        | Op::Tan
        | Op::Tanh) => unary(op.opcode(), x[0])?,
        Op::Convert => x[0].convert(array()?.element_type),
        Op::ReducePrecision(a) => x[0].reduce_precision(a.exponent_bits, a.mantissa_bits),
        op @ (Op::Add
        | Op::And
        | Op::Atan2
        | Op::Complex
        | Op::Divide
        | Op::Maximum
        | Op::Minimum
        | Op::Mulhi
        | Op::Multiply
        | Op::Or
        | Op::Power
        | Op::Remainder
        | Op::ShiftLeft
        | Op::ShiftRightArithmetic
        | Op::ShiftRightLogical
        | Op::Subtract
        | Op::Xor) => binary(op.opcode(), x[0], x[1])?,
        Op::Compare(a) => x[0].compare(x[1], a.direction, a.comparison_type),
        Op::StochasticConvert => x[0].stochastic_convert(x[1], array()?.element_type),
        Op::Clamp => x[1].clamp(x[0], x[2]),
        Op::Select => x[0].select(x[1], x[2]),

        Op::Bitcast => x[0].bitcast(shape.clone()),
        Op::BitcastConvert => x[0].bitcast_convert(array()?.element_type),
        // The builder adds nothing for a broadcast to the sizes of the operand.
        Op::Broadcast(_) if shape.compatible(&module[module[id].operands[0]].shape) => x[0].copy(),
        Op::Broadcast(a) => x[0].broadcast_in_dim(&array()?.dims, &a.dimensions),
        Op::Concatenate(a) => b.concat_in_dim(x, a.dimension()),
        Op::Copy => x[0].copy(),
        Op::Iota(a) => b.iota(shape.clone(), a.iota_dimension),
        Op::Pad(a) => x[0].pad(x[1], &a.padding),
        Op::Reshape(a) => match a.inferred_dimension {
            Some(inferred) => x[0].reshape_with_inferred_dimension(&array()?.dims, inferred),
            None => x[0].reshape(&array()?.dims),
        },
        Op::Reverse(a) => x[0].rev(&a.dimensions),
        Op::Slice(a) => {
            let list = |of: fn(&SliceDim) -> i64| a.slice.iter().map(of).collect::<Vec<_>>();
            x[0].slice(&list(|d| d.start), &list(|d| d.limit), &list(|d| d.stride))
        }
        Op::Transpose(a) => x[0].transpose(&a.dimensions),

        Op::DynamicReshape => {
            let a = array()?;
            let dynamic: Vec<bool> = (0..a.rank()).map(|d| a.is_dynamic_dim(d)).collect();
            x[0].dynamic_reshape(&x[1..], &a.dims, &dynamic)
        }
        Op::DynamicSlice(a) => x[0].dynamic_slice(&x[1..], &a.dynamic_slice_sizes),
        Op::DynamicUpdateSlice => x[0].dynamic_update_slice(x[1], &x[2..]),
        Op::Gather(a) => x[0].gather(x[1], a),
        Op::GetDimensionSize(a) => x[0].get_dimension_size(a.dimension()),
        Op::Scatter(a) => {
            let n = x.len() / 2;
            let dimensions = ScatterDimensions {
                update_window_dims: a.update_window_dims.clone(),
                inserted_window_dims: a.inserted_window_dims.clone(),
                scatter_dims_to_operand_dims: a.scatter_dims_to_operand_dims.clone(),
                input_batching_dims: a.input_batching_dims.clone(),
                scatter_indices_batching_dims: a.scatter_indices_batching_dims.clone(),
                index_vector_dim: a.index_vector_dim,
                indices_are_sorted: a.indices_are_sorted,
                unique_indices: a.unique_indices,
            };
            b.scatter(&x[..n], x[n], &x[n + 1..], &called.get(a.to_apply), &dimensions)
        }
        Op::SetDimensionSize(a) => x[0].set_dimension_size(x[1], a.dimension()),

        Op::Map(a) => b.map(x, &called.get(a.to_apply), &[]),
        Op::Reduce(a) => {
            let (operands, inits) = x.split_at(x.len() / 2);
            b.reduce(operands, inits, &called.get(a.to_apply), &a.dimensions)
        }
        Op::ReduceWindow(a) => {
            let (operands, inits) = x.split_at(x.len() / 2);
            b.reduce_window(operands, inits, &called.get(a.to_apply), &a.window)
        }
        Op::Scan(a) => {
            let (inputs, carries) = x.split_at(x.len() - a.num_carries as usize);
            b.scan(inputs, carries, &called.get(a.to_apply), a.dimensions[0], a.is_reverse, a.is_associative)
        }
        Op::SelectAndScatter(a) => {
            let list = |of: fn(&WindowDim) -> i64| a.window.dims.iter().map(of).collect::<Vec<_>>();
            let padding: Vec<(i64, i64)> = a.window.dims.iter().map(|d| (d.pad_low, d.pad_high)).collect();
            let (select, scatter) = (called.get(a.select), called.get(a.scatter));
            x[0].select_and_scatter(
                &select,
                &list(|d| d.size),
                &list(|d| d.stride),
                padding,
                x[1],
                x[2],
                &scatter,
            )
        }
        Op::Sort(a) => b.sort(x, &called.get(a.to_apply), a.dimensions[0], a.is_stable),
        Op::TopK(a) => x[0].top_k(a.k, a.largest.0),

        Op::Cholesky(a) => x[0].cholesky(a.lower),
        Op::Contraction(a) => {
            let (operands, default) = x.split_at(a.access.operands.len());
            b.contraction(shape.clone(), a.access.clone(), operands, default.first().copied())
        }
        Op::Convolution(a) => x[0].convolve_with(x[1], (**a).clone(), element_type()),
        Op::Dot(a) => x[0].dot_with(x[1], (**a).clone(), element_type()),
        Op::Fft(a) => x[0].fft(a.fft_type, &a.fft_length),
        Op::RaggedDot(a) => x[0].ragged_dot(x[1], x[2], (**a).clone(), element_type()),
        Op::ScaledDot(a) => x[0].scaled_dot(x[1], x[2], x[3], (**a).clone(), element_type()),
        Op::TriangularSolve(a) => {
            x[0].triangular_solve(x[1], a.left_side, a.lower, a.unit_diagonal, a.transpose_a)
        }

        Op::BatchNormGrad(a) => x[0].batch_norm_grad(x[1], x[2], x[3], x[4], a.epsilon, a.feature_index),
        Op::BatchNormInference(a) => {
            x[0].batch_norm_inference(x[1], x[2], x[3], x[4], a.epsilon, a.feature_index)
        }
        Op::BatchNormTraining(a) => x[0].batch_norm_training(x[1], x[2], a.epsilon, a.feature_index),

        Op::Rng(a) if a.distribution == RngDistribution::Normal => b.rng_normal(x[0], x[1], array()?),
        Op::Rng(_) => b.rng_uniform(x[0], x[1], array()?),
        Op::RngBitGenerator(a) => {
            let bits = shape.as_tuple()?[1].as_array()?.clone();
            b.rng_bit_generator(a.algorithm, x[0], bits)
        }
        Op::RngGetAndUpdateState(a) => b.rng_get_and_update_state(a.delta, array()?),

        Op::Call(a) if a.is_composite => {
            b.composite_call(&called.get(a.to_apply), x, "dialect.operation", "{}", 1)
        }
        Op::Call(a) => b.call(&called.get(a.to_apply), x),
        Op::Conditional(a) => match (a.true_computation, a.false_computation) {
            (Some(yes), Some(no)) => x[0].conditional(x[1], &called.get(yes), x[2], &called.get(no)),
            _ => {
                let branches: Vec<Computation> =
                    a.branch_computations.iter().map(|&c| called.get(c)).collect();
                x[0].switch(&branches.iter().zip(x[1..].iter().copied()).collect::<Vec<_>>())
            }
        },
        Op::Fusion(a) => b.fusion(a.kind, &called.get(a.calls), x, &a.output_to_operand_aliasing),
        Op::OptBarrier => x[0].opt_barrier(),
        Op::While(a) => b.while_loop(&called.get(a.condition), &called.get(a.body), x[0]),

        Op::AddDependency => x[0].add_dependency(x[1]),
        Op::AfterAll => b.after_all(x),
        Op::AsyncDone(_) => b.async_done(x[0]),
        Op::AsyncStart(a) => {
            let thread = a.async_execution_thread.as_ref().and_then(|t| t.as_str());
            b.async_start(&called.get(a.calls?), x, thread, &a.output_to_operand_aliasing)
        }
        Op::AsyncUpdate(_) => b.async_update(x[0]),
        Op::CopyDone => x[0].copy_done(),
        Op::CopyStart(a) => x[0].copy_start(a.cross_program_prefetch_index),
        Op::CustomCall(a) => {
            let computations: Vec<Computation> =
                a.called_computations.iter().map(|&c| called.get(c)).collect();
            let all: Vec<&Computation> = computations.iter().collect();
            b.custom_call_of((**a).clone(), &all, x, shape.clone())
        }
        Op::Domain(a) => x[0].domain(a.domain.clone()),
        Op::Infeed(a) => {
            let data = shape.as_tuple()?[0].clone();
            b.infeed_with_token(x[0], data, &a.infeed_config.to_text())
        }
        Op::Outfeed(a) => b.outfeed_with_token(x[0], x[1], &a.outfeed_config.to_text()),
        Op::PartitionId => b.partition_id(),
        Op::ReplicaId => b.replica_id(),
        Op::Recv(a) => {
            let data = shape.as_tuple()?[0].clone();
            b.recv_start(data, x[0], a.channel_id.unwrap_or(0), a.is_host_transfer)
        }
        Op::RecvDone(a) => b.recv_done(x[0], a.channel_id.unwrap_or(0), a.is_host_transfer),
        Op::Send(a) => b.send_start(x[0], x[1], a.channel_id.unwrap_or(0), a.is_host_transfer),
        Op::SendDone(a) => b.send_done(x[0], a.channel_id.unwrap_or(0), a.is_host_transfer),

        _ => return collective::rebuilt(b, module, id, x, called),
    })
}
