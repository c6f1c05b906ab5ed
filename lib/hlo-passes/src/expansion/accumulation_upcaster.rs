//! `accumulation_upcaster`: computes sums and products of narrow floats in `f32` and rounds them once.
//!
//! ```text
//! r = bf16[8] scatter(x, i, u), to_apply=add  →  w = f32[8] convert(x)
//!                                                v = f32[64] convert(u)
//!                                                s = f32[8] scatter(w, i, v), to_apply=add
//!                                                r = bf16[8] convert(s)
//! ```
//!
//! The pass also applies to `select-and-scatter`, and to `reduce` and `reduce-window` of several arrays, if
//! they compute sums or products. Code generation does the same for reductions of a single array, unless the
//! computation rounds in steps, as `float-normalization-bf16` leaves it. A scatter that updates each element
//! at most once is not changed, because it rounds no sum twice.

use crate::pass_info::{PassInfo, Preservation};
use crate::rewrites::Rewrites;
use crate::support::combiner::binary_combiner;
use crate::support::expander::{Emitter, expand_all};
use hlo_ir::accumulation::{is_accumulated_wide, sums_and_products};
use hlo_ir::attr::{ReduceAttrs, ReduceWindowAttrs, ScatterAttrs, SelectAndScatterAttrs};
use hlo_ir::build::Build;
use hlo_ir::{ComputationId, ElementType, InstrId, Module, Op, Shape};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "accumulation_upcaster",
    summary: "compute sums and products of narrow floats in scatters and reductions in f32, rounded once",
    keeps: Preservation::Values,
    example: "\
HloModule accumulation_upcaster

add {
  a = bf16[] parameter(0)
  b = bf16[] parameter(1)
  ROOT s = bf16[] add(a, b)
}

ENTRY e {
  x = bf16[8] parameter(0)
  i = s32[64,1] parameter(1)
  u = bf16[64] parameter(2)
  ROOT r = bf16[8] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
}
",
    build: |_, _| {
        Box::new(|module: &mut Module, rewrites: &mut Rewrites| Ok(upcast(module, accumulates, rewrites)))
    },
    ..PassInfo::PLAIN
};

/// Checks whether an operation combines many elements into one.
fn accumulates(op: &Op) -> bool {
    matches!(op, Op::Reduce(_) | Op::ReduceWindow(_) | Op::Scatter(_) | Op::SelectAndScatter(_))
}

/// Rewrites the operations that `wanted` selects. Returns whether anything changed.
pub(crate) fn upcast(module: &mut Module, wanted: fn(&Op) -> bool, rewrites: &mut Rewrites) -> bool {
    expand_all(module, "accumulate-in-f32", wanted, expand, rewrites)
}

/// An operation that combines elements with accumulators.
struct Combination {
    computation: ComputationId,
    /// The indices of the operands that contain initial accumulator values, elements, or other data of their
    /// type. There is one list for each result of the computation.
    operands: Vec<Vec<usize>>,
}

impl Combination {
    fn of(e: &Emitter<'_>, id: InstrId) -> Option<Self> {
        let operands = e.module[id].operands.len();
        let n = operands / 2;
        let pairs = |second: usize| (0..n).map(|k| vec![k, second + k]).collect();
        Some(match &e.module[id].op {
            // Code generation uses `f32` accumulators for a single array with a single operation.
            Op::Reduce(a) if n > 1 || binary_combiner(e.module, a.to_apply).is_none() => {
                Self { computation: a.to_apply, operands: pairs(n) }
            }
            Op::ReduceWindow(a) if n > 1 || binary_combiner(e.module, a.to_apply).is_none() => {
                Self { computation: a.to_apply, operands: pairs(n) }
            }
            Op::Scatter(a) if !is_single(e, id, a) => {
                Self { computation: a.to_apply, operands: pairs(n + 1) }
            }
            Op::SelectAndScatter(a) => Self { computation: a.scatter, operands: vec![vec![0, 1, 2]] },
            _ => return None,
        })
    }
}

/// Checks whether a scatter combines each element with at most one update.
fn is_single(e: &Emitter<'_>, id: InstrId, a: &ScatterAttrs) -> bool {
    let indices = e.operand(e.module[id].operands.len() / 2).and_then(|i| e.array(i));
    let windows = indices.map(|i| {
        let sizes = i.dims.iter().enumerate().filter(|&(d, _)| d as i64 != a.index_vector_dim);
        sizes.fold(1i64, |n, (_, &size)| n.saturating_mul(size))
    });
    a.unique_indices || windows.is_none_or(|n| n <= 1)
}

fn expand(e: &mut Emitter<'_>, id: InstrId) -> Option<InstrId> {
    let combination = Combination::of(e, id).filter(|_| e.is_static(id))?;
    let mut operands = e.module[id].operands.to_vec();
    let n = combination.operands.len();
    let found = sums_and_products(e.module, combination.computation, n);
    let mut wide: Vec<Option<Op>> = Vec::with_capacity(n);
    for (sum, places) in found.into_iter().zip(&combination.operands) {
        let is = |&k: &usize, ty| {
            operands.get(k).and_then(|&o| e.module[o].shape.as_array()).is_some_and(|a| a.element_type == ty)
        };
        let sum = sum.filter(|&(_, ty)| is_accumulated_wide(ty) && places.iter().all(|k| is(k, ty)));
        wide.push(sum.map(|(op, _)| op.clone()));
    }
    if wide.iter().all(Option::is_none) {
        return None;
    }
    let to_apply = in_f32(e, combination.computation, &wide)?;
    let op = match e.module[id].op.clone() {
        Op::Reduce(a) => Op::Reduce(ReduceAttrs { to_apply, ..a }),
        Op::ReduceWindow(a) => Op::ReduceWindow(Box::new(ReduceWindowAttrs { to_apply, ..*a })),
        Op::Scatter(a) => Op::Scatter(Box::new(ScatterAttrs { to_apply, ..*a })),
        Op::SelectAndScatter(a) => {
            let ty = e.array(*operands.first()?)?.element_type;
            let select = on_f32(e, a.select, ty)?;
            Op::SelectAndScatter(Box::new(SelectAndScatterAttrs { select, scatter: to_apply, ..*a }))
        }
        _ => return None,
    };
    for (_, places) in wide.iter().zip(&combination.operands).filter(|(op, _)| op.is_some()) {
        for &k in places {
            let operand = operands.get_mut(k)?;
            *operand = e.convert(*operand, ElementType::F32)?;
        }
    }
    let widened = |(part, op): (&Shape, &Option<Op>)| match (part, op) {
        (Shape::Array(a), Some(_)) => Shape::Array(a.with_element_type(ElementType::F32)),
        _ => part.clone(),
    };
    let shape = match (e.shape(), wide.as_slice()) {
        // A combiner of a single array does not return a tuple.
        (one, [op]) => widened((one.leaves().first().copied()?, op)),
        (Shape::Tuple(parts), _) => Shape::Tuple(parts.iter().zip(&wide).map(widened).collect()),
        _ => return None,
    };
    let combined = e.add(shape, op, &operands);
    let values = e.elements(combined)?;
    e.results(&values)
}

/// Returns the computation with the accumulators and elements of the sums and products in `wide` converted to
/// `f32`.
fn in_f32(e: &mut Emitter<'_>, computation: ComputationId, wide: &[Option<Op>]) -> Option<ComputationId> {
    if let [Some(op)] = wide {
        return Some(e.combiner(op, ElementType::F32));
    }
    let parameters = e.module.parameters(computation);
    let shapes: Vec<Shape> = parameters.iter().map(|&p| e.module[p].shape.clone()).collect();
    e.computation("accumulate", |e| {
        let (mut given, mut narrow) = (Vec::new(), Vec::new());
        for (k, (shape, op)) in shapes.iter().zip(wide.iter().cycle()).enumerate() {
            let shape_in = if op.is_some() { Shape::scalar(ElementType::F32) } else { shape.clone() };
            let parameter = e.parameter(k, shape_in);
            given.push(parameter);
            narrow.push(match op {
                Some(_) => e.add(shape.clone(), Op::Convert, &[parameter]),
                None => parameter,
            });
        }
        let mut results = e.call(computation, &narrow)?;
        for (k, op) in wide.iter().enumerate() {
            if let Some(op) = op {
                results[k] = e.same(op.clone(), &[*given.get(k)?, *given.get(wide.len() + k)?]);
            }
        }
        Some(e.tuple(&results))
    })
}

/// Returns a variant of a computation on two scalars of type `ty` that takes them as `f32`.
fn on_f32(e: &mut Emitter<'_>, computation: ComputationId, ty: ElementType) -> Option<ComputationId> {
    e.computation("select", |e| {
        let narrow = [0, 1].map(|k| {
            let parameter = e.parameter(k, Shape::scalar(ElementType::F32));
            e.add(Shape::scalar(ty), Op::Convert, &[parameter])
        });
        e.call(computation, &narrow)?.first().copied()
    })
}
