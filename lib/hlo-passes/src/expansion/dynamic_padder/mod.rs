//! `dynamic_padder`: converts arrays of bounded dynamic size to static arrays of their bounds, and their
//! sizes to `s32` values.
//!
//! ```text
//! d = f32[<=8] set-dimension-size(x, n)        m = pred[8] compare(iota, broadcast(n)), direction=LT
//! s = f32[] reduce(d, zero), to_apply=add  →   s = f32[] reduce(select(m, x, broadcast(-0)), zero)
//! k = s32[] get-dimension-size(d)              k is n
//! ```
//!
//! The valid elements are at the beginning of each padded dimension. Elements beyond the size are
//! unspecified. If an operation would use these elements in a result (a reduction, a product, a sort, …), the
//! pass masks them or moves the valid ones. Other operations are not changed. Sizes are computed next to the
//! arrays. They are passed along through tuples, and into and out of called computations as additional
//! parameters and results.
//!
//! If the entry's shapes have dynamic dimensions, the module's interface changes:
//! - The parameters are padded. They are followed by an `s32[]` for each of their dynamic dimensions, in the
//!   order of [`hlo_ir::Shape::dynamic_dimensions`].
//! - The results are padded. They are followed by an `s32[]` for each of their dynamic dimensions, and by a
//!   `pred[]`: whether all sizes were consistent. If not, the other results are meaningless, and the
//!   interpreter reports the error.

mod asynchronous;
mod batches;
mod build;
mod control;
mod elementwise;
mod expansion;
mod indexing;
mod interface;
mod loops;
mod movement;
mod products;
mod reduction;
mod relocate;
mod scatter_windows;
mod select_scatter;

use super::{batchnorm_expander, ragged_dot_rewriter};
use crate::pass::Pass;
use crate::pass_info::PassInfo;
use crate::rewrites::Rewrites;
use crate::support::expander::{Emitter, Functions, expand_all};
use hlo_ir::build::Build;
use hlo_ir::diag::Diag;
use hlo_ir::{ArrayShape, ComputationId, ElementType, InstrId, Module, Op, Shape};
use smallvec::SmallVec;
use std::collections::{HashMap, HashSet};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "dynamic_padder",
    summary: "replace dynamic arrays by static arrays of their bounds, and compute the sizes as values",
    example: "\
HloModule dynamic_padder

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

ENTRY e {
  x = f32[4] parameter(0)
  n = s32[] parameter(1)
  d = f32[<=4] set-dimension-size(x, n), dimensions={0}
  zero = f32[] constant(0)
  ROOT sum = f32[] reduce(d, zero), dimensions={0}, to_apply=add
}
",
    build: |_, _| -> Box<dyn Pass> { Box::new(run) },
    ..PassInfo::PLAIN
};

/// The size of a dimension at run time, as an `s32` scalar, or `None` if it equals the bound.
type Size = Option<InstrId>;

/// The sizes of an array's dimensions.
type Sizes = SmallVec<[Size; 4]>;

/// The sizes of a value's leaves. Empty if all sizes equal their bounds.
type Leaves = Vec<Sizes>;

/// The replacement of an instruction: its value and its sizes.
type Padded = (InstrId, Leaves);

type Result<T> = std::result::Result<T, Diag>;

/// For each dimension of each leaf, whether its size is passed with the value.
type Flags = Vec<SmallVec<[bool; 4]>>;

fn run(module: &mut Module, rewrites: &mut Rewrites) -> Result<bool> {
    let all = || module.computations().flat_map(|c| module[c].instructions().iter().copied());
    if !all().any(|id| needs_rewrite(module, id)) {
        return Ok(false);
    }
    if all().all(|id| !needs_rewrite(module, id) || matches!(module[id].op, Op::GetDimensionSize(_))) {
        // No size can be inconsistent, so the interface stays the same.
        let sizes = |op: &Op| matches!(op, Op::GetDimensionSize(_));
        return Ok(expand_all(module, "static-size", sizes, static_size, rewrites));
    }
    if let Some(id) = all().find(|&id| is_unbounded(&module[id].shape)) {
        let (name, shape) = (&module[id].name, &module[id].shape);
        let message = format!("`{name}` has shape {shape}: a dimension without a bound can't be executed");
        return Err(Diag::error(message).at(module.span(id), "this has no bound"));
    }
    // Unused instructions do not run, so their sizes need not be consistent.
    crate::simplification::dce::remove_unneeded(module);
    // The sizes that are passed differ between callers.
    crate::control_flow::flatten_call_graph::flatten_control_flow(module)?;
    control::pad_module(module)?;
    Ok(true)
}

/// Checks whether an instruction returns a dynamic array or works on sizes. The latter are also rewritten for
/// static arrays.
fn needs_rewrite(module: &Module, id: InstrId) -> bool {
    matches!(module[id].op, Op::GetDimensionSize(_) | Op::SetDimensionSize(_) | Op::DynamicReshape)
        || !module[id].shape.dynamic_dimensions().is_empty()
}

/// Returns the size of a dimension of a static array.
fn static_size(e: &mut Emitter<'_>, id: InstrId) -> Option<InstrId> {
    let Op::GetDimensionSize(attrs) = &e.module[id].op else { return None };
    let dimension = usize::try_from(attrs.dimension()).ok()?;
    let size = *e.array(e.operand(0)?)?.dims.get(dimension)?;
    e.scalar(ElementType::S32, &i32::try_from(size).ok()?.to_le_bytes())
}

fn is_unbounded(shape: &Shape) -> bool {
    shape.leaves().iter().filter_map(|s| s.as_array()).any(|a| a.dims.contains(&ArrayShape::UNBOUNDED))
}

/// Returns the shape with the size of every dimension equal to its bound.
fn padded_shape(shape: &Shape) -> Shape {
    match shape {
        Shape::Array(a) => ArrayShape { dynamic: SmallVec::new(), ..a.clone() }.into(),
        Shape::Tuple(t) => Shape::Tuple(t.iter().map(padded_shape).collect()),
        Shape::Token | Shape::Opaque | Shape::Buffer(_) => shape.clone(),
    }
}

/// The state of padding one computation.
struct Padder<'m> {
    module: &'m mut Module,
    functions: &'m mut Functions,
    computation: ComputationId,
    /// The current instruction.
    at: InstrId,
    /// The replacement of each instruction.
    values: HashMap<InstrId, InstrId>,
    sizes: HashMap<InstrId, Leaves>,
    /// The original shapes of instructions whose shape was changed.
    declared: HashMap<InstrId, Shape>,
    /// The instruction of each constant integer.
    constants: HashMap<i64, InstrId>,
    known: HashMap<InstrId, i64>,
    /// The computations called from this one, with their interfaces.
    called: Vec<interface::Interface>,
    /// Instructions that this pass has added and padded like those of the module.
    added: Vec<InstrId>,
    /// Predicates that are true if sizes are consistent, for checks at run time.
    checks: Vec<InstrId>,
    /// The computations that return whether sizes are consistent.
    checked: &'m mut HashSet<ComputationId>,
}

/// Access to the current instruction and its operands.
impl Padder<'_> {
    /// Returns the unpadded operands of the current instruction.
    fn operand_ids(&self) -> SmallVec<[InstrId; 3]> {
        self.module[self.at].operands.clone()
    }

    /// Returns the shape of an instruction before this pass.
    fn declared(&self, id: InstrId) -> Shape {
        self.declared.get(&id).unwrap_or(&self.module[id].shape).clone()
    }

    /// Returns the declared shape of operand `n`.
    fn operand_shape(&self, n: usize) -> Result<Shape> {
        let id = self.operand_ids().get(n).copied();
        id.map(|id| self.declared(id)).ok_or_else(|| self.unsupported_diag("lacks an operand"))
    }

    /// Returns the bounds of operand `n`, which must be an array.
    fn bounds(&self, n: usize) -> Result<ArrayShape> {
        match padded_shape(&self.operand_shape(n)?) {
            Shape::Array(a) => Ok(a),
            other => Err(self.unsupported_diag(&format!("needs an array, found {other}"))),
        }
    }

    /// Returns the bounds of the result, which must be an array.
    fn result_bounds(&self) -> Result<ArrayShape> {
        match padded_shape(&self.module[self.at].shape) {
            Shape::Array(a) => Ok(a),
            other => Err(self.unsupported_diag(&format!("gives an array, found {other}"))),
        }
    }

    /// Returns the replacements of the operands.
    fn operands(&self) -> SmallVec<[InstrId; 3]> {
        self.operand_ids().iter().map(|o| self.value(*o)).collect()
    }

    fn value(&self, id: InstrId) -> InstrId {
        self.values.get(&id).copied().unwrap_or(id)
    }

    /// Returns the sizes of operand `n`'s leaves. Empty if they equal the bounds.
    fn leaves(&self, n: usize) -> Leaves {
        self.operand_ids().get(n).and_then(|o| self.sizes.get(o)).cloned().unwrap_or_default()
    }

    /// Returns the sizes of operand `n`, which must be an array.
    fn sizes(&self, n: usize) -> Result<Sizes> {
        let rank = self.bounds(n)?.rank();
        Ok(self.leaves(n).into_iter().next().unwrap_or_else(|| smallvec::smallvec![None; rank]))
    }

    /// Checks whether an operand has a size other than its bound.
    fn has_sizes(&self) -> bool {
        self.operand_ids().iter().any(|o| self.sizes.contains_key(o))
    }

    /// Returns the diagnostic for an instruction that cannot be compiled.
    fn unsupported_diag(&self, why: &str) -> Diag {
        let instr = &self.module[self.at];
        let message = format!("`{}` on arrays of dynamic sizes {why}", instr.opcode());
        Diag::error(message).at(self.module.span(self.at), format!("`{}` can't be compiled", instr.name))
    }
}

/// Returns the sizes of an array as those of a leaf, or an empty list if all equal their bounds.
fn of_array(sizes: Sizes) -> Leaves {
    if sizes.iter().any(Option::is_some) { vec![sizes] } else { Vec::new() }
}

/// The padding rules, one for each opcode.
impl Padder<'_> {
    /// Converts the current instruction to one on padded arrays.
    fn pad_instruction(&mut self) -> Result<Padded> {
        let op = self.module[self.at].op.clone();
        match &op {
            Op::Tuple | Op::GetTupleElement(_) => self.tuples(&op),
            Op::Call(_) | Op::Fusion(_) | Op::While(_) | Op::Conditional(_) => self.call_site(&op),
            Op::SetDimensionSize(a) => self.set_dimension_size(a.dimension()),
            Op::GetDimensionSize(a) => self.get_dimension_size(a.dimension()),
            Op::DynamicReshape => self.dynamic_reshape(),
            Op::AsyncStart(a) => self.async_start(a),
            Op::AsyncUpdate(_) | Op::AllReduceDone => Ok(self.same_value()),
            Op::AsyncDone(_) | Op::AllGatherDone | Op::CollectivePermuteDone => self.part(1),
            Op::CopyStart(_) => self.copy_start(),
            Op::CopyDone => self.part(0),
            Op::AllGatherStart(_) | Op::AllReduceStart(_) | Op::CollectivePermuteStart(_) => {
                self.exchange_start(&op)
            }
            Op::Scan(a) if self.has_sizes() || self.checked.contains(&a.to_apply) => self.scan(a),
            _ if !self.has_sizes() => Ok(self.keep(Vec::new())),

            Op::Copy | Op::OptBarrier | Op::Domain(_) | Op::AddDependency => {
                let sizes = self.leaves(0);
                Ok(self.keep(sizes))
            }
            hlo_ir::elementwise_op!() | Op::Map(_) | Op::Broadcast(_) | Op::Transpose(_) => self.followed(),
            Op::BitcastConvert => self.bitcast_convert(),

            Op::Reverse(a) => self.reverse(&a.dimensions),
            Op::Slice(a) => self.slice(a),
            Op::Pad(a) => self.pad(a),
            Op::Concatenate(a) => self.concatenate(a.dimension()),
            Op::Reshape(a) => self.reshape(a.inferred_dimension),
            Op::Bitcast => self.bitcast(),

            Op::DynamicSlice(a) => self.dynamic_slice(&a.dynamic_slice_sizes),
            Op::DynamicUpdateSlice => self.dynamic_update_slice(),
            Op::Gather(a) => self.gather(a),
            Op::Scatter(a) => self.scatter(a),

            Op::Reduce(a) => self.reduce(a),
            Op::ReduceWindow(a) => self.reduce_window(a),
            Op::Sort(a) => self.sort(a),
            Op::Dot(_) => self.product(),
            Op::TopK(a) => self.topk(a),
            Op::Cholesky(_) => self.cholesky(),
            Op::Fft(a) => self.fft(a),
            Op::TriangularSolve(a) => self.triangular_solve(a.left_side),
            Op::Convolution(a) => self.convolution(a),
            Op::SelectAndScatter(a) => self.select_and_scatter(a),

            Op::BatchNormGrad(_) | Op::BatchNormInference(_) | Op::BatchNormTraining(_) => {
                self.expanded(batchnorm_expander::expand)
            }
            Op::RaggedDot(_) => self.expanded(ragged_dot_rewriter::expand),
            Op::ScaledDot(_) => self.scaled_dot(),

            Op::AllGather(_)
            | Op::AllReduce(_)
            | Op::AllToAll(_)
            | Op::CollectiveBroadcast(_)
            | Op::CollectivePermute(_)
            | Op::ReduceScatter(_) => self.exchanged(&op),
            Op::RaggedAllToAll(_) => self.ragged_all_to_all(),

            Op::CustomCall(a) => self.custom_call(a.forwards_operands()),

            _ => Err(self.unsupported_diag("is not compiled: interpret the module, or pad the arrays in it")),
        }
    }
}
