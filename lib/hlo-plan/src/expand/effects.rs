//! Asynchronous operations, transfers, and the collectives of a program with one device.
//!
//! An asynchronous operation completes at its start. The leaves of its state are those of the operands, those
//! of the result, and zeros for the contexts. A transfer is one runtime call for each leaf, which is
//! row-major. The call contains the transfer's number in the plan. The other end is the host or a channel of
//! the program.

use super::{Expander, Frame, Leaves};
use crate::{Argument, BufId, RuntimeCall, Step, layouts};
use hlo_ir::attr::CollectivePermuteAttrs;
use hlo_ir::{InstrId, Op, Shape};

/// A value under construction: its leaves, and the shape with their layouts.
type Part = (Leaves, Shape);

impl Expander<'_> {
    /// Expands the start of an asynchronous operation.
    pub(super) fn start(
        &mut self,
        id: InstrId,
        frame: &Frame<'_>,
        steps: &mut Vec<Step<BufId>>,
        depth: usize,
    ) -> Leaves {
        let instr = &self.module[id];
        let given = self.operands(id, frame);
        let made = match &instr.op {
            Op::AllGatherStart(_) | Op::CollectivePermuteStart(_) if self.has_others() => {
                let whole = Shape::tuple(Vec::new());
                let result = instr.shape.as_tuple().and_then(|t| t.get(1)).unwrap_or(&whole);
                let exchanged = self.expand_among_devices(id, result, frame, steps);
                vec![given, (exchanged, result.clone())]
            }
            Op::AsyncStart(a) => match a.calls {
                Some(calls) => {
                    let shape = layouts::result(self.module, calls);
                    let result = self.call(id, calls, shape, frame, steps, depth);
                    vec![given, (result, shape.clone())]
                }
                None => {
                    self.reject(id, "there is no computation to start");
                    return self.fresh(id, &instr.shape);
                }
            },
            Op::CollectivePermuteStart(a) => {
                let whole = Shape::tuple(Vec::new());
                let result = instr.shape.as_tuple().and_then(|t| t.get(1)).unwrap_or(&whole);
                let permuted = self.permuted(id, a, given.clone(), result, steps);
                vec![given, permuted]
            }
            // For a copy: the copy and the source. For other operations: operands and results.
            _ => vec![given.clone(), given],
        };
        let parts = instr.shape.as_tuple().unwrap_or_default();
        let mut state = Vec::with_capacity(instr.shape.leaf_count());
        for (n, part) in parts.iter().enumerate() {
            let leaves = match made.get(n) {
                Some((leaves, from)) => self.relaid(id, leaves.clone(), from, part, steps),
                None => self.zeros(id, part, steps),
            };
            state.extend(leaves.iter().copied());
        }
        state.into()
    }

    /// Returns the leaves of all operands.
    fn operands(&mut self, id: InstrId, frame: &Frame<'_>) -> Part {
        let operands = &self.module[id].operands;
        let mut leaves = Vec::new();
        for n in 0..operands.len() {
            leaves.extend(self.operand(id, n, frame).iter().copied());
        }
        let shapes = operands.iter().map(|&o| self.module[o].shape.clone());
        (leaves.into(), Shape::Tuple(shapes.collect()))
    }

    /// Expands a collective. In a program with one device, the device exchanges data with itself.
    pub(super) fn exchange(
        &mut self,
        id: InstrId,
        frame: &Frame<'_>,
        steps: &mut Vec<Step<BufId>>,
    ) -> Leaves {
        let instr = &self.module[id];
        if self.has_others() {
            return self.expand_among_devices(id, &instr.shape, frame, steps);
        }
        if let Op::RaggedAllToAll(_) = &instr.op {
            return self.ragged_rows(id, frame, steps);
        }
        let (mut leaves, mut shape) = self.operands(id, frame);
        match &instr.op {
            Op::CollectivePermute(a) => {
                (leaves, shape) = self.permuted(id, a, (leaves, shape), &instr.shape, steps);
            }
            // The last operand contains the sending device.
            Op::CollectiveBroadcast(a) if a.has_dynamic_root => {
                if let Shape::Tuple(shapes) = &mut shape {
                    shapes.to_mut().pop();
                }
                leaves = leaves.split_last().map_or(&[][..], |(_, values)| values).into();
            }
            _ => {}
        }
        if leaves.len() != instr.shape.leaf_count() {
            self.reject(id, format!("{} of {shape} can't be compiled", instr.op.name()));
            return self.fresh(id, &instr.shape);
        }
        self.relaid(id, leaves, &shape, &instr.shape, steps)
    }

    /// Expands a ragged all-to-all: a copy of the output into which rows of the input are written. All arrays
    /// are row-major.
    pub(super) fn ragged_rows(
        &mut self,
        id: InstrId,
        frame: &Frame<'_>,
        steps: &mut Vec<Step<BufId>>,
    ) -> Leaves {
        let instr = &self.module[id];
        let shapes: Vec<Shape> =
            instr.operands.iter().map(|&o| self.module[o].shape.without_layout()).collect();
        let mut operands = Vec::with_capacity(shapes.len());
        for (n, shape) in shapes.iter().enumerate() {
            let leaves = self.operand_as(id, n, Some(shape), frame, steps);
            operands.extend(leaves.iter().flatten().copied());
        }
        let arrays: Vec<_> = shapes.iter().filter_map(Shape::as_array).collect();
        let (&[input, output, from, sizes, to, received], [source, target, list, ..]) =
            (&operands[..], &arrays[..])
        else {
            self.reject(id, "this takes two arrays, offsets and sizes");
            return self.fresh(id, &instr.shape);
        };
        let row_major = instr.shape.without_layout();
        let result = self.fresh(id, &row_major);
        let Some(&Some(moved)) = result.first() else { return result };
        steps.push(Step::Copy { from: output, to: moved, bytes: self.buffers[moved].bytes });
        let rows = |shape: &hlo_ir::ArrayShape| shape.dims.first().copied().unwrap_or(0);
        let row_bytes = (target.byte_size() as i64).checked_div(rows(target)).unwrap_or(0);
        let index = list.element_type;
        let descriptor = vec![
            row_bytes,
            rows(source),
            rows(target),
            list.element_count() as i64,
            index.byte_size() as i64,
            i64::from(index.is_signed_integer()),
        ];
        // The copy of the output is also an operand, because the rows that are not replaced keep their
        // values.
        let operands = vec![input, from, sizes, to, received, moved];
        let (symbol, arguments) = if self.has_others() {
            let site = self.collective_number(id);
            let arguments = vec![site, Argument::Descriptor, Argument::Operands, Argument::Result(0)];
            ("hlo_rt_exchange_rows", arguments)
        } else {
            let arguments = (0..5).map(Argument::Operand).chain([Argument::Result(0)]);
            ("hlo_rt_move_rows", std::iter::once(Argument::Descriptor).chain(arguments).collect())
        };
        steps.push(Step::Runtime(RuntimeCall {
            instruction: id,
            symbol,
            arguments,
            descriptor,
            operands,
            results: vec![moved],
            loops: Vec::new(),
        }));
        self.relaid(id, result, &row_major, &instr.shape, steps)
    }

    fn permuted(
        &mut self,
        id: InstrId,
        attrs: &CollectivePermuteAttrs,
        operands: Part,
        result: &Shape,
        steps: &mut Vec<Step<BufId>>,
    ) -> Part {
        if !attrs.slice_sizes.0.is_empty() {
            let message = "the pass `collective_permute_expander` has to run before";
            self.reject(id, message);
            return (self.fresh(id, result), result.clone());
        }
        if attrs.source_target_pairs.0.contains(&(0, 0)) {
            operands
        } else {
            (self.zeros(id, result, steps), result.clone())
        }
    }

    /// Creates a value of zeros.
    pub(super) fn zeros(&mut self, id: InstrId, shape: &Shape, steps: &mut Vec<Step<BufId>>) -> Leaves {
        let leaves = self.fresh(id, shape);
        for to in leaves.iter().flatten().copied() {
            let bytes = Argument::Number(self.buffers[to].bytes as i64);
            steps.push(Step::Runtime(RuntimeCall {
                instruction: id,
                symbol: "hlo_rt_zero",
                arguments: vec![Argument::Result(0), bytes],
                descriptor: Vec::new(),
                operands: Vec::new(),
                results: vec![to],
                loops: Vec::new(),
            }));
        }
        leaves
    }

    /// Expands an infeed or outfeed, or one of the instructions of a transfer within the program.
    pub(super) fn transfer(
        &mut self,
        id: InstrId,
        frame: &Frame<'_>,
        steps: &mut Vec<Step<BufId>>,
    ) -> Leaves {
        let instr = &self.module[id];
        let none = Shape::tuple(Vec::new());
        let value = instr.shape.as_tuple().and_then(<[Shape]>::first).unwrap_or(&none);
        match &instr.op {
            Op::Infeed(_) | Op::RecvDone(_) => {
                let received = self.receive(id, value, steps);
                received.iter().copied().chain([None]).collect()
            }
            Op::Outfeed(_) => {
                self.transmit(id, frame, steps);
                Leaves::from([None])
            }
            Op::Send(_) => {
                self.transmit(id, frame, steps);
                let sent = self.operand_as(id, 0, Some(value), frame, steps);
                let context = instr.shape.as_tuple().and_then(|t| t.get(1)).unwrap_or(&none);
                let context = self.zeros(id, context, steps);
                sent.iter().chain(context.iter()).copied().chain([None]).collect()
            }
            // The buffer for the received data.
            _ => self.zeros(id, &instr.shape, steps),
        }
    }

    /// Returns the number of a transfer in the plan.
    fn transfer_number(&mut self, id: InstrId) -> Argument {
        let next = self.transfers.len();
        let number = *self.transfer_numbers.entry(id).or_insert(next);
        if number == next {
            self.transfers.push(id);
        }
        Argument::Number(number as i64)
    }

    /// Adds runtime calls that receive the leaves of a value.
    fn receive(&mut self, id: InstrId, shape: &Shape, steps: &mut Vec<Step<BufId>>) -> Leaves {
        let row_major = shape.without_layout();
        let leaves = self.fresh(id, &row_major);
        self.transfer_calls(id, "hlo_rt_receive", &leaves, steps);
        self.relaid(id, leaves, &row_major, shape, steps)
    }

    /// Adds runtime calls that send the leaves of operand 0.
    fn transmit(&mut self, id: InstrId, frame: &Frame<'_>, steps: &mut Vec<Step<BufId>>) {
        let row_major = self.module[id].operands.first().map(|&o| self.module[o].shape.without_layout());
        let leaves = self.operand_as(id, 0, row_major.as_ref(), frame, steps);
        self.transfer_calls(id, "hlo_rt_transmit", &leaves, steps);
    }

    fn transfer_calls(
        &mut self,
        id: InstrId,
        symbol: &'static str,
        leaves: &Leaves,
        steps: &mut Vec<Step<BufId>>,
    ) {
        let number = self.transfer_number(id);
        let receives = symbol == "hlo_rt_receive";
        for (part, buffer) in leaves.iter().flatten().copied().enumerate() {
            let pointer = if receives { Argument::Result(0) } else { Argument::Operand(0) };
            let (part, bytes) = (part as i64, self.buffers[buffer].bytes as i64);
            steps.push(Step::Runtime(RuntimeCall {
                instruction: id,
                symbol,
                arguments: vec![number, Argument::Number(part), pointer, Argument::Number(bytes)],
                descriptor: Vec::new(),
                operands: if receives { Vec::new() } else { vec![buffer] },
                results: if receives { vec![buffer] } else { Vec::new() },
                loops: Vec::new(),
            }));
        }
    }
}
