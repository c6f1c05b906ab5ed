//! Collectives of several devices as runtime calls. A call contains the collective's number in the plan, by
//! which the run's communicator finds the group of each device.
//!
//! An array that is split or concatenated is stored with that dimension outermost. The pieces of the members
//! are then contiguous.

use super::{Expander, Frame, Leaves};
use crate::{Argument, BufId, RuntimeCall, Step, applied};
use hlo_ir::devices::DeviceCounts;
use hlo_ir::{ArrayShape, ComputationId, ElementType, InstrId, Layout, Op, Shape};
use hlo_runtime_core::Exchange;

/// Returns the shape with dimension `d` outermost and otherwise row-major.
fn outermost(shape: &Shape, d: Option<i64>) -> Shape {
    let array = |a: &ArrayShape| {
        let rank = a.rank();
        let plain = ArrayShape::new(a.element_type, a.dims.iter().copied());
        match d.and_then(|d| usize::try_from(d).ok()).filter(|&d| 0 < d && d < rank) {
            Some(d) => {
                let others = (0..rank).rev().filter(|&k| k != d);
                plain.with_layout(Layout::new(others.chain([d]).map(|k| k as u32)))
            }
            None => plain,
        }
    };
    match shape {
        Shape::Array(a) => Shape::Array(array(a)),
        Shape::Tuple(parts) => Shape::Tuple(parts.iter().map(|part| outermost(part, d)).collect()),
        other => other.clone(),
    }
}

/// The operation that a collective applies to the leaves of its operands.
enum CollectiveAction {
    Exchange(Exchange),
    /// All-reduce with this computation.
    Reduce(ComputationId),
    /// Reduce-scatter with this computation: each member receives its piece.
    ReduceScatter(ComputationId),
}

/// A collective that combines arrays with a computation.
struct Combined {
    /// The function of the runtime.
    symbol: &'static str,
    computation: ComputationId,
    /// The element type of each array.
    types: Vec<ElementType>,
    operands: Vec<BufId>,
    results: Vec<BufId>,
}

impl Expander<'_> {
    /// Whether the program runs on several devices.
    pub(super) fn has_others(&self) -> bool {
        DeviceCounts::of(self.module).is_some_and(|counts| counts.devices() > 1)
    }

    /// Expands `replica-id` and `partition-id`.
    pub(super) fn device_id(&mut self, id: InstrId, steps: &mut Vec<Step<BufId>>) -> Leaves {
        let instr = &self.module[id];
        let Some(counts) = DeviceCounts::of(self.module).filter(|counts| counts.devices() > 1) else {
            return self.zeros(id, &instr.shape, steps);
        };
        let (divisor, modulus) = match instr.op {
            Op::ReplicaId => (counts.partitions, counts.replicas),
            _ => (1, counts.partitions),
        };
        let leaves = self.fresh(id, &instr.shape);
        let results: Vec<BufId> = leaves.iter().flatten().copied().collect();
        steps.push(Step::Runtime(RuntimeCall {
            instruction: id,
            symbol: "hlo_rt_device_id",
            arguments: vec![
                Argument::Number(divisor as i64),
                Argument::Number(modulus as i64),
                Argument::Result(0),
            ],
            descriptor: Vec::new(),
            operands: Vec::new(),
            results,
            loops: Vec::new(),
        }));
        leaves
    }

    /// Expands a collective of several devices. `result` is the shape of its result, which for a start
    /// operation is a part of the state.
    pub(super) fn expand_among_devices(
        &mut self,
        id: InstrId,
        result: &Shape,
        frame: &Frame<'_>,
        steps: &mut Vec<Step<BufId>>,
    ) -> Leaves {
        let (what, along) = match &self.module[id].op {
            Op::AllReduce(a) | Op::AllReduceStart(a) => (CollectiveAction::Reduce(a.to_apply), None),
            Op::ReduceScatter(a) => {
                (CollectiveAction::ReduceScatter(a.to_apply), a.dimensions.first().copied())
            }
            Op::AllGather(a) | Op::AllGatherStart(a) => {
                (CollectiveAction::Exchange(Exchange::AllGather), a.dimensions.first().copied())
            }
            Op::AllToAll(a) => match a.dimensions.first() {
                Some(&d) => (CollectiveAction::Exchange(Exchange::AllToAll), Some(d)),
                None => (CollectiveAction::Exchange(Exchange::AllToAllTuple), None),
            },
            Op::CollectiveBroadcast(_) => (CollectiveAction::Exchange(Exchange::Broadcast), None),
            Op::CollectivePermute(a) | Op::CollectivePermuteStart(a) if a.slice_sizes.0.is_empty() => {
                (CollectiveAction::Exchange(Exchange::Permute), None)
            }
            Op::RaggedAllToAll(_) => return self.ragged_rows(id, frame, steps),
            _ => {
                self.reject(id, "the pass `collective_permute_expander` has to run before");
                return self.fresh(id, result);
            }
        };
        let (operands, types) = self.laid_out(id, along, frame, steps);
        let shape = outermost(result, along);
        let leaves = self.fresh(id, &shape);
        let results: Vec<BufId> = leaves.iter().flatten().copied().collect();
        match what {
            CollectiveAction::Exchange(kind) => self.exchange_call(id, kind, operands, results, steps),
            CollectiveAction::Reduce(computation) => {
                let symbol = "hlo_rt_all_reduce";
                self.combining_calls(id, Combined { symbol, computation, types, operands, results }, steps);
            }
            CollectiveAction::ReduceScatter(computation) => {
                let symbol = "hlo_rt_reduce_scatter";
                self.combining_calls(id, Combined { symbol, computation, types, operands, results }, steps);
            }
        }
        self.relaid(id, leaves, &shape, result, steps)
    }

    /// Returns the operands' arrays with a dimension outermost, and their element types.
    fn laid_out(
        &mut self,
        id: InstrId,
        along: Option<i64>,
        frame: &Frame<'_>,
        steps: &mut Vec<Step<BufId>>,
    ) -> (Vec<BufId>, Vec<ElementType>) {
        let (mut buffers, mut types) = (Vec::new(), Vec::new());
        for n in 0..self.module[id].operands.len() {
            let shape = outermost(&self.module[self.module[id].operands[n]].shape, along);
            let leaves = self.operand_as(id, n, Some(&shape), frame, steps);
            buffers.extend(leaves.iter().flatten().copied());
            types.extend(shape.leaves().into_iter().filter_map(|l| l.as_array()).map(|a| a.element_type));
        }
        (buffers, types)
    }

    /// Returns the number of a collective in the plan.
    pub(super) fn collective_number(&mut self, id: InstrId) -> Argument {
        let next = self.collectives.len();
        let number = *self.collective_numbers.entry(id).or_insert(next);
        if number == next {
            self.collectives.push(id);
        }
        Argument::Number(number as i64)
    }

    fn sizes(&self, buffers: &[BufId]) -> impl Iterator<Item = i64> {
        let sizes: Vec<i64> = buffers.iter().map(|&b| self.buffers[b].bytes as i64).collect();
        sizes.into_iter()
    }

    /// Adds one call for all arrays. Its descriptor contains the kind of exchange, the number of operands and
    /// results, and the size of each in bytes.
    fn exchange_call(
        &mut self,
        id: InstrId,
        kind: Exchange,
        operands: Vec<BufId>,
        results: Vec<BufId>,
        steps: &mut Vec<Step<BufId>>,
    ) {
        let site = self.collective_number(id);
        // With a dynamic root, the last operand contains the positions of the sending members. Otherwise the
        // first member sends.
        let roots = match &self.module[id].op {
            Op::CollectiveBroadcast(a) if a.has_dynamic_root => {
                let roots = self.module[id].operands.last().and_then(|&o| self.module[o].shape.as_array());
                roots.map_or(0, |a| {
                    let bytes = a.element_type.byte_size() as i64;
                    if a.element_type.is_signed_integer() { -bytes } else { bytes }
                })
            }
            _ => 0,
        };
        let mut descriptor = vec![kind as i64, operands.len() as i64, results.len() as i64, roots];
        descriptor.extend(self.sizes(&operands));
        descriptor.extend(self.sizes(&results));
        steps.push(Step::Runtime(RuntimeCall {
            instruction: id,
            symbol: "hlo_rt_exchange",
            arguments: vec![site, Argument::Descriptor, Argument::Operands, Argument::Results],
            descriptor,
            operands,
            results,
            loops: Vec::new(),
        }));
    }

    /// Adds one call for the arrays of each element type. Its descriptor contains the size of an element in
    /// bytes, the number of arrays, and the size of each operand and result in bytes.
    fn combining_calls(&mut self, id: InstrId, combined: Combined, steps: &mut Vec<Step<BufId>>) {
        let Combined { symbol, computation, types, operands, results } = combined;
        if let Err(refusal) = applied::check_size(self.module, &[id]) {
            return self.reject(id, refusal);
        }
        if operands.len() != results.len() || operands.len() != types.len() {
            return self.reject(id, "internal error: there are not as many results as operands");
        }
        let mut left: Vec<usize> = (0..types.len()).collect();
        while let Some(&first) = left.first() {
            let ty = types[first];
            let (now, later): (Vec<usize>, Vec<usize>) = left.into_iter().partition(|&n| types[n] == ty);
            left = later;
            let site = self.collective_number(id);
            let pick = |all: &[BufId]| now.iter().map(|&n| all[n]).collect::<Vec<BufId>>();
            let (operands, results) = (pick(&operands), pick(&results));
            let mut descriptor = vec![ty.byte_size() as i64, operands.len() as i64];
            descriptor.extend(self.sizes(&operands));
            descriptor.extend(self.sizes(&results));
            let combiner = Argument::Combiner(computation, ty);
            steps.push(Step::Runtime(RuntimeCall {
                instruction: id,
                symbol,
                arguments: vec![site, Argument::Descriptor, Argument::Operands, Argument::Results, combiner],
                descriptor,
                operands,
                results,
                loops: Vec::new(),
            }));
        }
    }
}
