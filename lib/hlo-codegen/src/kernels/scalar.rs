//! Computations on scalars: the functions that `reduce`, `map`, `sort`, `scatter` and similar operations
//! apply.

use crate::builder::{Builder, FastMath, IntPredicate, V};
use crate::elem::{self, Elem, flatten, regroup};
use crate::ops::reducer::emit_reducer_op;
use crate::ops::{convert, elementwise};
use hlo_analysis::first_leaf_at;
use hlo_ir::attr::{ConditionalAttrs, WhileAttrs};
use hlo_ir::{ComputationId, ElementType, InstrId, Module, Op};
use hlo_kernel::{accumulator_type, single_binary_op};
use hlo_plan::{Refusal, array};
use std::collections::HashMap;

/// Emits a computation on scalar arguments. The results are the leaves of its root.
///
/// A `reduction` may apply the computation in any order (operation semantics, "Reduce"). Its additions and
/// multiplications may therefore be reassociated, and `f16` and `bf16` are accumulated in `f32`.
pub fn apply<'c>(
    b: &Builder<'c>,
    module: &Module,
    computation: ComputationId,
    arguments: &[Elem<'c>],
    reduction: bool,
) -> Result<Vec<Elem<'c>>, Refusal> {
    if reduction && let (Some((op, ty)), [x, y]) = (single_binary_op(module, computation), arguments) {
        return Ok(vec![emit_reducer_op(b, op, accumulator_type(ty), *x, *y, FastMath::Reassoc)?]);
    }
    let arguments: Vec<Vec<Elem<'c>>> = arguments.iter().map(|&e| vec![e]).collect();
    apply_to(b, module, computation, &arguments)
}

/// Like [`apply`], but each argument may have any number of leaves.
fn apply_to<'c>(
    b: &Builder<'c>,
    module: &Module,
    computation: ComputationId,
    arguments: &[Vec<Elem<'c>>],
) -> Result<Vec<Elem<'c>>, Refusal> {
    let mut values: HashMap<InstrId, Vec<Elem<'c>>> = HashMap::new();
    for id in module.post_order(computation) {
        let value = b.at(module, id, || value_of(b, module, id, arguments, &values));
        let value = value.map_err(|refusal| refusal.at(module, id))?;
        values.insert(id, value);
    }
    Ok(values[&module[computation].root()].clone())
}

/// Computes the leaves of an instruction from those of its operands.
fn value_of<'c>(
    b: &Builder<'c>,
    module: &Module,
    id: InstrId,
    arguments: &[Vec<Elem<'c>>],
    values: &HashMap<InstrId, Vec<Elem<'c>>>,
) -> Result<Vec<Elem<'c>>, Refusal> {
    let instr = &module[id];
    Ok(match &instr.op {
        Op::Parameter(p) => {
            let argument = arguments.get(p.number as usize);
            argument.ok_or_else(|| format!("parameter {} has no argument", p.number))?.clone()
        }
        Op::Constant(c) => {
            let a = array(module, id)?;
            if a.rank() != 0 {
                return Err(unsupported(module, id));
            }
            vec![elem::constant(b, a.element_type, c.literal.bytes())]
        }
        Op::Tuple => instr.operands.iter().flat_map(|o| values[o].clone()).collect(),
        Op::GetTupleElement(g) => {
            let tuple = instr.operands[0];
            let first =
                first_leaf_at(&module[tuple].shape, &[g.index]).ok_or_else(|| unsupported(module, id))?;
            let leaves = values[&tuple].get(first..first + instr.shape.leaf_count());
            leaves.ok_or_else(|| unsupported(module, id))?.to_vec()
        }
        Op::Call(c) => {
            let arguments: Vec<_> = instr.operands.iter().map(|o| values[o].clone()).collect();
            apply_to(b, module, c.to_apply, &arguments)?
        }
        Op::Map(m) if instr.shape.is_scalar() => {
            let arguments: Vec<_> = instr.operands.iter().map(|o| values[o].clone()).collect();
            apply_to(b, module, m.to_apply, &arguments)?
        }
        Op::Fusion(f) => {
            let arguments: Vec<_> = instr.operands.iter().map(|o| values[o].clone()).collect();
            apply_to(b, module, f.calls, &arguments)?
        }
        Op::Conditional(c) => conditional(b, module, id, c, values)?,
        Op::While(w) => while_loop(b, module, id, w, values)?,
        // These instructions return their operand unchanged.
        Op::Copy | Op::OptBarrier | Op::Domain(_) | Op::AddDependency => {
            let operand = instr.operands.first().ok_or_else(|| unsupported(module, id))?;
            values[operand].clone()
        }
        // The same bits, possibly as another type: XLA sorts floats by an order on their bits.
        Op::Bitcast | Op::BitcastConvert
            if instr.shape.is_scalar() && module[instr.operands[0]].shape.is_scalar() =>
        {
            let operand = instr.operands[0];
            let from = array(module, operand)?.element_type;
            let to = array(module, id)?.element_type;
            let same_bits = convert::bitcast_convert(b, to, values[&operand][0], from);
            vec![same_bits?]
        }
        // These instructions do nothing on scalars.
        Op::Broadcast(_) | Op::Reshape(_) | Op::Transpose(_) | Op::Reverse(_)
            if instr.shape.is_scalar() && module[instr.operands[0]].shape.is_scalar() =>
        {
            values[&instr.operands[0]].clone()
        }
        op if instr.shape.is_scalar() => {
            let op = op.elementwise().ok_or_else(|| unsupported(module, id))?;
            let operands = instr
                .operands
                .iter()
                .map(|&o| Ok((values[&o][0], array(module, o)?.element_type)))
                .collect::<Result<Vec<_>, Refusal>>()?;
            let ty = array(module, id)?.element_type;
            vec![elementwise::emit(b, op, ty, &operands)?]
        }
        _ => return Err(unsupported(module, id)),
    })
}

/// Returns the element types of a value that consists of scalars.
fn leaf_types(module: &Module, id: InstrId) -> Result<Vec<ElementType>, Refusal> {
    let scalar = |s: &hlo_ir::Shape| s.as_array().filter(|a| a.rank() == 0).map(|a| a.element_type);
    module[id]
        .shape
        .leaves()
        .into_iter()
        .map(scalar)
        .collect::<Option<_>>()
        .ok_or_else(|| unsupported(module, id))
}

/// Emits the branch that the selector selects, or the last one if the selector is out of range.
fn conditional<'c>(
    b: &Builder<'c>,
    module: &Module,
    id: InstrId,
    attrs: &ConditionalAttrs,
    values: &HashMap<InstrId, Vec<Elem<'c>>>,
) -> Result<Vec<Elem<'c>>, Refusal> {
    let types = leaf_types(module, id)?;
    let flat: Vec<_> = types.iter().flat_map(|&t| elem::types(b, t)).collect();
    let operands = &module[id].operands;
    let selector = values[operands.first().ok_or_else(|| unsupported(module, id))?][0].first();
    let branches = attrs.branches();
    let branch = |n: usize| match (branches.get(n), operands.get(n + 1)) {
        (Some(&c), Some(o)) => apply_to(b, module, c, std::slice::from_ref(&values[o])).map(|r| flatten(&r)),
        _ => Err(unsupported(module, id)),
    };
    let chosen = if attrs.true_computation.is_some() {
        b.if_else(selector, &flat, || branch(0), || branch(1))?
    } else {
        branch_by_index(b, selector, &flat, 0..branches.len(), &branch)?
    };
    Ok(regroup(&types, &chosen))
}

/// Emits branches selected by binary search, so that many of them do not nest deeply. The comparison is
/// unsigned: a negative selector selects the last branch.
fn branch_by_index<'c>(
    b: &Builder<'c>,
    selector: V<'c>,
    types: &[melior::ir::Type<'c>],
    range: std::ops::Range<usize>,
    branch: &dyn Fn(usize) -> Result<Vec<V<'c>>, Refusal>,
) -> Result<Vec<V<'c>>, Refusal> {
    if range.len() <= 1 {
        return branch(range.start);
    }
    let middle = range.start + range.len() / 2;
    let below = b.cmpi(IntPredicate::Ult, selector, b.const_int(b.int(32), middle as i64));
    let half = |part: std::ops::Range<usize>| branch_by_index(b, selector, types, part, branch);
    b.if_else(below, types, || half(range.start..middle), || half(middle..range.end))
}

/// Emits a loop whose loop-carried values are scalars.
fn while_loop<'c>(
    b: &Builder<'c>,
    module: &Module,
    id: InstrId,
    attrs: &WhileAttrs,
    values: &HashMap<InstrId, Vec<Elem<'c>>>,
) -> Result<Vec<Elem<'c>>, Refusal> {
    let types = leaf_types(module, id)?;
    let init = &values[module[id].operands.first().ok_or_else(|| unsupported(module, id))?];
    let done = b.while_loop(
        &flatten(init),
        |state| {
            let go_on = apply_to(b, module, attrs.condition, &[regroup(&types, state)])?;
            go_on.first().map(Elem::first).ok_or_else(|| unsupported(module, id))
        },
        |state| {
            let next = apply_to(b, module, attrs.body, &[regroup(&types, state)])?;
            Ok(flatten(&next))
        },
    )?;
    Ok(regroup(&types, &done))
}

fn unsupported(module: &Module, id: InstrId) -> Refusal {
    let instr = &module[id];
    format!(
        "`{}` ({} of shape {}) is no function of scalars: the pass `applied_computation_expander` has to run before",
        instr.name,
        instr.op.name(),
        instr.shape
    )
    .into()
}
