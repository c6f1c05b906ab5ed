//! The cost of a single instruction, without the calls, loops and conditionals that run other computations.

use super::{Cost, communication};
use hlo_ir::attr::{ConvolutionAttrs, Covered, DotAttrs, Window, WindowDim};
use hlo_ir::contraction::{Aggregation, Combination, Contraction};
use hlo_ir::{ComputationId, InstrId, Instruction, Module, Op, Shape};

/// Number of operations in a multiply-add.
const FMA_OPERATIONS: u64 = 2;
/// Number of multiply-adds in a product of two complex numbers.
const COMPLEX_PRODUCT_FMAS: u64 = 4;
/// Maximum number of positions of a window or a result that are visited one by one.
const MAX_POSITIONS: i64 = 1 << 20;

/// Returns the cost of an instruction. `callee` returns the cost of a computation that the instruction fuses
/// or applies to elements.
pub(super) fn cost(module: &Module, id: InstrId, callee: &dyn Fn(ComputationId) -> Cost) -> Cost {
    let instruction = &module[id];
    let calculation = calculation(module, instruction, callee);
    Cost { bytes: bytes(module, instruction), sent: communication::sent(module, id), ..calculation }
}

/// Returns the number of elements of a shape, summed over all arrays of a tuple.
fn elements(shape: &Shape) -> u64 {
    let of = |s: &&Shape| s.as_array().map_or(0, |a| a.element_count() as u64);
    shape.leaves().iter().map(of).fold(0, u64::saturating_add)
}

/// Returns the cost of the calculation that an instruction performs.
fn calculation(module: &Module, instruction: &Instruction, callee: &dyn Fn(ComputationId) -> Cost) -> Cost {
    let result = elements(&instruction.shape);
    let operand = |n: usize| instruction.operands.get(n).map_or(0, |&o| elements(&module[o].shape));
    let shape = |n: usize| instruction.operands.get(n).and_then(|&o| module[o].shape.as_array());
    let last = |n: usize| shape(n).and_then(|s| s.dims.last()).map_or(0, |&d| d.max(0) as u64);
    let flops = |n: u64| Cost { flops: n, ..Cost::default() };
    let transcendentals = |n: u64| Cost { transcendentals: n, ..Cost::default() };
    // A variadic reduction takes one step per element, regardless of the number of arrays.
    let first = |s: &Shape| s.leaves().first().map_or(0, |leaf| elements(leaf));
    let applied = |c: ComputationId, times: u64| callee(c).calculation() * times;
    match &instruction.op {
        Op::Copy => Cost::default(),
        op if op.opcode().is_pointwise() => {
            if op.opcode().work().is_transcendental() {
                transcendentals(result)
            } else {
                flops(result)
            }
        }
        Op::Fusion(a) => applied(a.calls, 1),
        Op::Map(a) => applied(a.to_apply, result),
        Op::Reduce(a) => applied(a.to_apply, operand(0).saturating_sub(first(&instruction.shape))),
        Op::ReduceWindow(a) => {
            let steps = most_covered(&a.window, operand(0)).saturating_sub(1);
            applied(a.to_apply, first(&instruction.shape).saturating_mul(steps))
        }
        Op::SelectAndScatter(a) => {
            let source = operand(1);
            let steps = most_covered(&a.window, operand(0)).saturating_sub(1);
            applied(a.select, source.saturating_mul(steps)) + applied(a.scatter, source)
        }
        Op::Scatter(a) => {
            let arrays = instruction.operands.len() / 2;
            applied(a.to_apply, operand(arrays + 1))
        }
        Op::Scan(a) => {
            let dim = a.dimensions.first().and_then(|&d| usize::try_from(d).ok());
            let steps = dim.and_then(|d| shape(0)?.dims.get(d).copied()).map_or(0, |n| n.max(0) as u64);
            applied(a.to_apply, steps)
        }
        Op::Sort(_) => flops(operand(0).saturating_mul(log2(operand(0)))),
        Op::TopK(a) => flops(operand(0).saturating_mul(log2(a.k.max(2) as u64))),
        Op::Dot(a) | Op::ScaledDot(a) => flops(product(result, contracted(a, shape(0).map(|s| &s.dims[..])))),
        Op::RaggedDot(a) => {
            let dims = shape(0).map_or(&[][..], |s| &s.dims[..]);
            // If a contracted dimension is ragged, its terms are divided among the groups, and the result has
            // a part for each.
            let ragged = a.lhs_contracting_dims.iter().any(|d| a.lhs_ragged_dims.contains(d));
            let groups = instruction.shape.as_array().and_then(|s| s.dims.first()).filter(|_| ragged);
            let groups = groups.map_or(1, |&g| g.max(1) as u64);
            flops(product(result / groups, sizes(&a.lhs_contracting_dims, dims)))
        }
        Op::Contraction(a) => flops(contraction(module, instruction, &a.access)),
        Op::Convolution(a) => flops(convolution(module, instruction, a)),
        Op::Fft(a) => {
            let steps: u64 = a.fft_length.iter().map(|&n| u64::from(n.max(1).ilog2())).sum();
            flops((FMA_OPERATIONS * COMPLEX_PRODUCT_FMAS).saturating_mul(steps).saturating_mul(operand(0)))
        }
        Op::Cholesky(_) => flops(last(0).saturating_mul(operand(0)) / 3),
        Op::TriangularSolve(_) => flops(FMA_OPERATIONS.saturating_mul(last(0)).saturating_mul(operand(1))),
        // Per element: a subtraction, two multiplications and an addition. Mean and variance take as many
        // again.
        Op::BatchNormInference(_) => flops(operand(0).saturating_mul(4)),
        Op::BatchNormTraining(_) => flops(operand(0).saturating_mul(8)),
        Op::BatchNormGrad(_) => flops(operand(0).saturating_mul(12)),
        Op::Rng(_) | Op::RngBitGenerator(_) => transcendentals(result),
        // For two devices: each element of the result is the sum of two.
        Op::AllReduce(_) | Op::AllReduceStart(_) | Op::ReduceScatter(_) => flops(result),
        _ => Cost::default(),
    }
}

/// Returns the number of bytes that an instruction reads and writes.
fn bytes(module: &Module, instruction: &Instruction) -> u64 {
    let size = |n: usize| instruction.operands.get(n).map_or(0, |&o| module[o].shape.stored_size() as u64);
    let from = |n: usize| (n..instruction.operands.len()).map(size).fold(0, u64::saturating_add);
    let result = instruction.shape.stored_size() as u64;
    match &instruction.op {
        Op::Parameter(_)
        | Op::Constant(_)
        | Op::Tuple
        | Op::GetTupleElement(_)
        | Op::Bitcast
        | Op::AddDependency
        | Op::AfterAll
        | Op::Domain(_)
        | Op::OptBarrier
        | Op::GetDimensionSize(_)
        | Op::AsyncDone(_)
        | Op::AsyncUpdate(_)
        | Op::CopyDone
        | Op::SendDone(_)
        | Op::RecvDone(_)
        | Op::AllGatherDone
        | Op::AllReduceDone
        | Op::CollectivePermuteDone => 0,
        Op::Transpose(a) if is_bitcast(module, instruction, &a.dimensions) => 0,
        Op::Slice(_) => result.saturating_mul(2),
        // Only the first index operand counts, because the instruction used to have a single index array.
        Op::DynamicSlice(_) => result.saturating_mul(2).saturating_add(size(1)),
        Op::DynamicUpdateSlice => size(1).saturating_mul(2).saturating_add(size(2)),
        // Only half of a triangular matrix is read or written.
        Op::Cholesky(_) => (size(0) / 2).saturating_add(result / 2),
        Op::TriangularSolve(_) => (size(0) / 2).saturating_add(size(1)).saturating_add(result),
        Op::Gather(_) => result.saturating_mul(2).saturating_add(size(1)),
        Op::Scatter(_) => {
            let arrays = instruction.operands.len() / 2;
            from(arrays + 1).saturating_mul(3).saturating_add(size(arrays))
        }
        Op::Fusion(a) => fusion_bytes(module, instruction, a.calls),
        _ => result.saturating_add(from(0)),
    }
}

/// Checks whether a transpose only renames dimensions, so that its result has the same memory layout as its
/// operand.
fn is_bitcast(module: &Module, transpose: &Instruction, dimensions: &[i64]) -> bool {
    let operand = transpose.operands.first().and_then(|&o| module[o].shape.as_array());
    let (Some(from), Some(to)) = (operand, transpose.shape.as_array()) else { return false };
    let (from, to) = (from.minor_to_major(), to.minor_to_major());
    let named = |(&d, &f): (&usize, &usize)| dimensions.get(d).is_some_and(|&n| usize::try_from(n) == Ok(f));
    from.len() == to.len() && to.iter().zip(&from).all(named)
}

/// Returns the number of bytes that a fusion reads from its operands and writes.
fn fusion_bytes(module: &Module, fusion: &Instruction, fused: ComputationId) -> u64 {
    let mut sum = 0u64;
    let parameters = module.parameters(fused);
    // A constant of one element is part of the code and is not read from memory.
    let is_read = |i: &InstrId| matches!(module[*i].op, Op::Constant(_)) && elements(&module[*i].shape) > 1;
    let constants = module[fused].instructions().iter().copied().filter(is_read);
    for p in parameters.iter().copied().chain(constants) {
        let whole = module[p].shape.stored_size() as u64;
        let users = module.users(p);
        // If the users read only parts, these parts count. An array that is updated in place is not read.
        let part = |&user: &InstrId| -> Option<u64> {
            let instruction = &module[user];
            let only_first = instruction.operands.iter().skip(1).all(|&o| o != p);
            match &instruction.op {
                Op::Slice(_) | Op::DynamicSlice(_) | Op::Gather(_) if only_first => {
                    Some(instruction.shape.stored_size() as u64)
                }
                Op::DynamicUpdateSlice if only_first => Some(0),
                _ => None,
            }
        };
        let parts = users.iter().map(part).try_fold(0u64, |n, part| Some(n.saturating_add(part?)));
        let is_result = module.has_root(fused) && module[fused].root() == p;
        let read = if users.is_empty() { 0 } else { parts.unwrap_or(whole).min(whole) };
        sum = sum.saturating_add(if is_result { whole } else { read });
    }
    let written = |id: InstrId| -> u64 {
        let instruction = &module[id];
        match (&instruction.op, instruction.operands.first(), instruction.operands.get(1)) {
            (Op::DynamicUpdateSlice, Some(array), Some(&update)) if parameters.contains(array) => {
                module[update].shape.stored_size() as u64
            }
            _ => instruction.shape.stored_size() as u64,
        }
    };
    if !module.has_root(fused) {
        return sum.saturating_add(fusion.shape.stored_size() as u64);
    }
    let root = module[fused].root();
    let results = match module[root].op {
        Op::Tuple => module[root].operands.iter().map(|&o| written(o)).fold(0, u64::saturating_add),
        _ => written(root),
    };
    sum.saturating_add(results)
}

/// Returns the number of operations of `sums` sums of `terms` products each.
fn product(sums: u64, terms: u64) -> u64 {
    FMA_OPERATIONS.saturating_mul(sums).saturating_mul(terms)
}

fn contracted(dot: &DotAttrs, lhs: Option<&[i64]>) -> u64 {
    sizes(&dot.lhs_contracting_dims, lhs.unwrap_or_default())
}

/// Returns the product of the sizes of the given dimensions.
fn sizes(numbers: &[i64], dims: &[i64]) -> u64 {
    let size = |&n: &i64| usize::try_from(n).ok().and_then(|n| dims.get(n)).map_or(1, |&d| d.max(0) as u64);
    numbers.iter().map(size).fold(1, u64::saturating_mul)
}

/// Returns an upper bound on how many of an array's `elements` elements a window covers.
fn most_covered(window: &Window, elements: u64) -> u64 {
    let size = window.dims.iter().map(|d| d.size.max(0) as u64).fold(1, u64::saturating_mul);
    size.min(elements)
}

/// Returns the number of operations of a contraction. For each index, it counts one operation for the
/// aggregation and one for the combination.
fn contraction(module: &Module, instruction: &Instruction, contraction: &Contraction) -> u64 {
    let operands: Vec<&Shape> = instruction.operands.iter().map(|&o| &module[o].shape).collect();
    let nest = contraction.nest(&instruction.shape, &operands).ok().flatten();
    let of_value = match (contraction.aggregation, contraction.combination) {
        (Aggregation::Assign, combination) => u64::from(combination != Combination::Single),
        (_, Combination::Single) => 1,
        (_, Combination::Multiply | Combination::Add | Combination::Equal | Combination::Select) => 2,
    };
    nest.map_or(0, |nest| nest.most_points().saturating_mul(of_value))
}

/// Returns the number of operations of a convolution. Operations on padding do not count.
fn convolution(module: &Module, instruction: &Instruction, a: &ConvolutionAttrs) -> u64 {
    let dims = |n: usize| {
        let shape = instruction.operands.get(n).and_then(|&o| module[o].shape.as_array());
        shape.map_or(&[][..], |s| &s.dims[..])
    };
    let at = |dims: &[i64], n: i64| usize::try_from(n).ok().and_then(|n| dims.get(n)).copied().unwrap_or(0);
    let (lhs, rhs) = (dims(0), dims(1));
    let out = instruction.shape.as_array().map_or(&[][..], |s| &s.dims[..]);
    let labels = &a.dim_labels;
    let mut terms = at(rhs, labels.kernel_input_feature).max(0) as u64;
    for (n, window) in a.window.dims.iter().enumerate() {
        let size = |dims: &[i64], labels: &[i64]| labels.get(n).map_or(0, |&d| at(dims, d));
        let valid = positions(window, size(lhs, &labels.input_spatial), size(out, &labels.output_spatial));
        terms = terms.saturating_mul(valid);
    }
    let batch = at(out, labels.output_batch).max(0) as u64;
    let features = at(out, labels.output_feature).max(0) as u64;
    let sums = batch.saturating_mul(features);
    product(sums, terms)
}

/// Returns the number of pairs of a result position and a window element, in one dimension, that read an
/// element of the input.
pub fn positions(window: &WindowDim, input: i64, output: i64) -> u64 {
    let (size, output) = (window.size.max(0), output.max(0));
    // Only the smaller range is iterated over.
    let of_window = [size, window.rhs_dilate.max(1)];
    let of_result = [output, window.stride.max(1)];
    let (few, many) = if size <= output { (of_window, of_result) } else { (of_result, of_window) };
    if few[0] > MAX_POSITIONS {
        return (size as u64).saturating_mul(output as u64);
    }
    let counts = (0..few[0]).map(|n| {
        let first = i128::from(n) * i128::from(few[1]) - i128::from(window.pad_low);
        Covered::new(first, many, [input, window.lhs_dilate]).count as u64
    });
    counts.fold(0, u64::saturating_add)
}

/// Returns the number of bits needed to count to `n`: the logarithm to base 2, rounded up.
fn log2(n: u64) -> u64 {
    u64::from(64 - n.saturating_sub(1).leading_zeros())
}
