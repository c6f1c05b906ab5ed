//! Maps opcodes to methods of the builder.

use super::elementwise::{binary, unary};
use super::{Called, collective};
use hlo_builder::{Builder, Computation, ScatterDimensions, Value};
use hlo_ir::attr::*;
use hlo_ir::{ComputationId, InstrId, Module, Op, elementwise_op};

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
        Op::Parameter(ParameterAttrs { number }) => b.parameter(*number, shape.clone(), &module[id].name),
        Op::Constant(a) => {
            // The builder has no elided constants.
            let ConstantAttrs { literal, elided: _ } = &**a;
            b.constant(literal.clone())
        }
        Op::Tuple => b.tuple(x),
        Op::GetTupleElement(GetTupleElementAttrs { index }) => x[0].get_tuple_element(*index),

        Op::Convert => x[0].convert(array()?.element_type),
        Op::ReducePrecision(ReducePrecisionAttrs { exponent_bits, mantissa_bits }) => {
            x[0].reduce_precision(*exponent_bits, *mantissa_bits)
        }
        Op::Compare(CompareAttrs { direction, comparison_type }) => {
            x[0].compare(x[1], *direction, *comparison_type)
        }
        Op::StochasticConvert => x[0].stochastic_convert(x[1], array()?.element_type),
        Op::Clamp => x[1].clamp(x[0], x[2]),
        Op::Select => x[0].select(x[1], x[2]),
        op @ elementwise_op!() => match *x {
            [x] => unary(op.opcode(), x)?,
            [x, y] => binary(op.opcode(), x, y)?,
            _ => return None,
        },

        Op::Bitcast => x[0].bitcast(shape.clone()),
        Op::BitcastConvert => x[0].bitcast_convert(array()?.element_type),
        // The builder adds nothing for a broadcast to the sizes of the operand.
        Op::Broadcast(_) if shape.compatible(&module[module[id].operands[0]].shape) => x[0].copy(),
        Op::Broadcast(BroadcastAttrs { dimensions }) => x[0].broadcast_in_dim(&array()?.dims, dimensions),
        Op::Concatenate(DimensionAttrs { dimensions }) => b.concat_in_dim(x, dimensions[0]),
        Op::Copy => x[0].copy(),
        Op::Iota(IotaAttrs { iota_dimension }) => b.iota(shape.clone(), *iota_dimension),
        Op::Pad(PadAttrs { padding }) => x[0].pad(x[1], padding),
        Op::Reshape(ReshapeAttrs { inferred_dimension }) => match inferred_dimension {
            Some(inferred) => x[0].reshape_with_inferred_dimension(&array()?.dims, *inferred),
            None => x[0].reshape(&array()?.dims),
        },
        Op::Reverse(DimensionsAttrs { dimensions }) => x[0].rev(dimensions),
        Op::Slice(SliceAttrs { slice }) => {
            let list = |of: fn(&SliceDim) -> i64| slice.iter().map(of).collect::<Vec<_>>();
            x[0].slice(&list(|d| d.start), &list(|d| d.limit), &list(|d| d.stride))
        }
        Op::Transpose(DimensionsAttrs { dimensions }) => x[0].transpose(dimensions),

        Op::DynamicReshape => {
            let a = array()?;
            let dynamic: Vec<bool> = (0..a.rank()).map(|d| a.is_dynamic_dim(d)).collect();
            x[0].dynamic_reshape(&x[1..], &a.dims, &dynamic)
        }
        Op::DynamicSlice(DynamicSliceAttrs { dynamic_slice_sizes }) => {
            x[0].dynamic_slice(&x[1..], dynamic_slice_sizes)
        }
        Op::DynamicUpdateSlice => x[0].dynamic_update_slice(x[1], &x[2..]),
        Op::Gather(a) => x[0].gather(x[1], a),
        Op::GetDimensionSize(DimensionAttrs { dimensions }) => x[0].get_dimension_size(dimensions[0]),
        Op::Scatter(a) => {
            let n = x.len() / 2;
            let (dimensions, to_apply) = scattered_of(a);
            b.scatter(&x[..n], x[n], &x[n + 1..], &called.get(to_apply), &dimensions)
        }
        Op::SetDimensionSize(DimensionAttrs { dimensions }) => x[0].set_dimension_size(x[1], dimensions[0]),

        // The builder lists all dimensions.
        Op::Map(MapAttrs { dimensions: _, to_apply }) => b.map(x, &called.get(*to_apply), &[]),
        Op::Reduce(ReduceAttrs { dimensions, to_apply }) => {
            let (operands, inits) = x.split_at(x.len() / 2);
            b.reduce(operands, inits, &called.get(*to_apply), dimensions)
        }
        Op::ReduceWindow(a) => {
            let ReduceWindowAttrs { window, to_apply } = &**a;
            let (operands, inits) = x.split_at(x.len() / 2);
            b.reduce_window(operands, inits, &called.get(*to_apply), window)
        }
        Op::Scan(ScanAttrs { dimensions, num_carries, is_reverse, is_associative, to_apply }) => {
            let (inputs, carries) = x.split_at(x.len() - *num_carries as usize);
            let to_apply = called.get(*to_apply);
            b.scan(inputs, carries, &to_apply, dimensions[0], *is_reverse, *is_associative)
        }
        Op::SelectAndScatter(a) => {
            let SelectAndScatterAttrs { window: Window { dims }, select, scatter } = &**a;
            let list = |of: fn(&WindowDim) -> i64| dims.iter().map(of).collect::<Vec<_>>();
            let padding: Vec<(i64, i64)> = dims.iter().map(|d| (d.pad_low, d.pad_high)).collect();
            let (select, scatter) = (called.get(*select), called.get(*scatter));
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
        Op::Sort(SortAttrs { dimensions, is_stable, to_apply }) => {
            b.sort(x, &called.get(*to_apply), dimensions[0], *is_stable)
        }
        // The builder has no promise about the order of equal elements.
        Op::TopK(TopkAttrs { k, largest, is_stable: _ }) => x[0].top_k(*k, largest.0),

        Op::Cholesky(CholeskyAttrs { lower }) => x[0].cholesky(*lower),
        Op::Contraction(a) => {
            let ContractionAttrs { access } = &**a;
            let (operands, default) = x.split_at(access.operands.len());
            b.contraction(shape.clone(), access.clone(), operands, default.first().copied())
        }
        Op::Convolution(a) => x[0].convolve_with(x[1], (**a).clone(), element_type()),
        Op::Dot(a) => x[0].dot_with(x[1], (**a).clone(), element_type()),
        Op::Fft(FftAttrs { fft_type, fft_length }) => x[0].fft(*fft_type, fft_length),
        Op::RaggedDot(a) => x[0].ragged_dot(x[1], x[2], (**a).clone(), element_type()),
        Op::ScaledDot(a) => x[0].scaled_dot(x[1], x[2], x[3], (**a).clone(), element_type()),
        Op::TriangularSolve(TriangularSolveAttrs { left_side, lower, unit_diagonal, transpose_a }) => {
            x[0].triangular_solve(x[1], *left_side, *lower, *unit_diagonal, *transpose_a)
        }

        Op::BatchNormGrad(BatchNormAttrs { epsilon, feature_index }) => {
            x[0].batch_norm_grad(x[1], x[2], x[3], x[4], *epsilon, *feature_index)
        }
        Op::BatchNormInference(BatchNormAttrs { epsilon, feature_index }) => {
            x[0].batch_norm_inference(x[1], x[2], x[3], x[4], *epsilon, *feature_index)
        }
        Op::BatchNormTraining(BatchNormAttrs { epsilon, feature_index }) => {
            x[0].batch_norm_training(x[1], x[2], *epsilon, *feature_index)
        }

        Op::Rng(RngAttrs { distribution }) => match distribution {
            RngDistribution::Normal => b.rng_normal(x[0], x[1], array()?),
            _ => b.rng_uniform(x[0], x[1], array()?),
        },
        Op::RngBitGenerator(RngBitGeneratorAttrs { algorithm }) => {
            let bits = shape.as_tuple()?[1].as_array()?.clone();
            b.rng_bit_generator(*algorithm, x[0], bits)
        }
        Op::RngGetAndUpdateState(RngGetAndUpdateStateAttrs { delta }) => {
            b.rng_get_and_update_state(*delta, array()?)
        }

        Op::Call(CallAttrs { to_apply, is_composite }) => {
            let to_apply = called.get(*to_apply);
            if *is_composite {
                b.composite_call(&to_apply, x, "dialect.operation", "{}", 1)
            } else {
                b.call(&to_apply, x)
            }
        }
        Op::Conditional(ConditionalAttrs { true_computation, false_computation, branch_computations }) => {
            match (*true_computation, *false_computation) {
                (Some(yes), Some(no)) => x[0].conditional(x[1], &called.get(yes), x[2], &called.get(no)),
                _ => {
                    let branches: Vec<Computation> =
                        branch_computations.iter().map(|&c| called.get(c)).collect();
                    x[0].switch(&branches.iter().zip(x[1..].iter().copied()).collect::<Vec<_>>())
                }
            }
        }
        Op::Fusion(FusionAttrs { kind, output_to_operand_aliasing, calls }) => {
            b.fusion(*kind, &called.get(*calls), x, output_to_operand_aliasing)
        }
        Op::OptBarrier => x[0].opt_barrier(),
        Op::While(WhileAttrs { condition, body }) => {
            b.while_loop(&called.get(*condition), &called.get(*body), x[0])
        }

        Op::AddDependency => x[0].add_dependency(x[1]),
        Op::AfterAll => b.after_all(x),
        // The builder uses the thread and the computation of the start.
        Op::AsyncDone(AsyncDoneAttrs { async_execution_thread: _, calls: _ }) => b.async_done(x[0]),
        Op::AsyncStart(AsyncStartAttrs { async_execution_thread, output_to_operand_aliasing, calls }) => {
            let thread = async_execution_thread.as_ref().and_then(|t| t.as_str());
            b.async_start(&called.get((*calls)?), x, thread, output_to_operand_aliasing)
        }
        // The builder uses the thread and the computation of the start, and shares no memory.
        Op::AsyncUpdate(AsyncUpdateAttrs {
            async_execution_thread: _,
            output_to_operand_aliasing: _,
            calls: _,
        }) => b.async_update(x[0]),
        Op::CopyDone => x[0].copy_done(),
        Op::CopyStart(CopyStartAttrs { cross_program_prefetch_index }) => {
            x[0].copy_start(*cross_program_prefetch_index)
        }
        Op::CustomCall(a) => {
            let computations: Vec<Computation> =
                a.called_computations.iter().map(|&c| called.get(c)).collect();
            let all: Vec<&Computation> = computations.iter().collect();
            b.custom_call_of((**a).clone(), &all, x, shape.clone())
        }
        Op::Domain(a) => {
            let DomainAttrs { domain } = &**a;
            x[0].domain(domain.clone())
        }
        Op::Infeed(InfeedAttrs { infeed_config }) => {
            let data = shape.as_tuple()?[0].clone();
            b.infeed_with_token(x[0], data, &infeed_config.to_text())
        }
        Op::Outfeed(a) => {
            // The builder uses the operand's shape.
            let OutfeedAttrs { outfeed_shape: _, outfeed_config } = &**a;
            b.outfeed_with_token(x[0], x[1], &outfeed_config.to_text())
        }
        Op::PartitionId => b.partition_id(),
        Op::ReplicaId => b.replica_id(),
        Op::Recv(a) => {
            let data = shape.as_tuple()?[0].clone();
            let (channel, is_host_transfer) = channel_of(a);
            b.recv_start(data, x[0], channel, is_host_transfer)
        }
        Op::RecvDone(a) => {
            let (channel, is_host_transfer) = channel_of(a);
            b.recv_done(x[0], channel, is_host_transfer)
        }
        Op::Send(a) => {
            let (channel, is_host_transfer) = channel_of(a);
            b.send_start(x[0], x[1], channel, is_host_transfer)
        }
        Op::SendDone(a) => {
            let (channel, is_host_transfer) = channel_of(a);
            b.send_done(x[0], channel, is_host_transfer)
        }

        Op::AllGather(_)
        | Op::AllGatherDone
        | Op::AllGatherStart(_)
        | Op::AllReduce(_)
        | Op::AllReduceDone
        | Op::AllReduceStart(_)
        | Op::AllToAll(_)
        | Op::CollectiveBroadcast(_)
        | Op::CollectivePermute(_)
        | Op::CollectivePermuteDone
        | Op::CollectivePermuteStart(_)
        | Op::RaggedAllToAll(_)
        | Op::ReduceScatter(_) => collective::rebuilt(b, module, id, x, called)?,
    })
}

/// Returns the arguments of `scatter`: the dimensions, and the computation.
fn scattered_of(a: &ScatterAttrs) -> (ScatterDimensions, ComputationId) {
    let ScatterAttrs {
        update_window_dims,
        inserted_window_dims,
        scatter_dims_to_operand_dims,
        input_batching_dims,
        scatter_indices_batching_dims,
        index_vector_dim,
        indices_are_sorted,
        unique_indices,
        to_apply,
    } = a.clone();
    let dimensions = ScatterDimensions {
        update_window_dims,
        inserted_window_dims,
        scatter_dims_to_operand_dims,
        input_batching_dims,
        scatter_indices_batching_dims,
        index_vector_dim,
        indices_are_sorted,
        unique_indices,
    };
    (dimensions, to_apply)
}

/// Returns the channel of a transfer, and whether the other end is the host.
fn channel_of(a: &ChannelAttrs) -> (i64, bool) {
    let ChannelAttrs { channel_id, is_host_transfer } = *a;
    (channel_id.unwrap_or(0), is_host_transfer)
}
