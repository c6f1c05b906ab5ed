//! `excess-precision`: computes chains of operations on `bf16` and `f16` in `f32`, and rounds only their
//! results.
//!
//! ```text
//! x = bf16[4] parameter(0)             w = f32[4] convert(x)
//! p = bf16[4] multiply(x, x)     →     p = f32[4] multiply(w, w)
//! ROOT r = bf16[4] tanh(p)             t = f32[4] tanh(p)
//!                                      ROOT r = bf16[4] convert(t)
//! ```
//!
//! A value is not rounded if all of its users are arithmetic, reductions, or data movements whose users are.
//! Values that matrix products, loops, tuples or callers use are rounded as in the program. Roundings to `f8`
//! and narrower types stay, because programs use them to quantize.
//!
//! The results differ from those that the program specifies and are nearer to results in `f32`, as with XLA's
//! option `xla_allow_excess_precision`.

use crate::pass_info::{PassInfo, Preservation};
use crate::rewrites::Rewrites;
use crate::support::combiner::{Combiners, binary_combiner};
use crate::support::retype::is_arithmetic;
use hlo_ir::build::ComputationNamer;
use hlo_ir::{ComputationId, ElementType, InstrId, Module, Moves, Op, Opcode, Shape};
use std::collections::{HashMap, HashSet};

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "excess-precision",
    summary: "compute chains of bf16 and f16 operations in f32, and round only at the end",
    keeps: Preservation::Values,
    example: "\
HloModule excess_precision

ENTRY e {
  x = bf16[4] parameter(0)
  p = bf16[4] multiply(x, x)
  ROOT r = bf16[4] tanh(p)
}
",
    build: |_, _| Box::new(|module: &mut Module, rewrites: &mut Rewrites| Ok(run(module, rewrites))),
    ..PassInfo::PLAIN
};

const WIDE: ElementType = ElementType::F32;

fn run(module: &mut Module, rewrites: &mut Rewrites) -> bool {
    let mut changed = false;
    let mut functions = Functions { namer: ComputationNamer::new(module), combiners: Combiners::default() };
    for computation in module.computations_post_order() {
        if !rewrites.allowed() {
            break;
        }
        changed |= Chains::new(module, computation).widen(module, &mut functions, rewrites);
    }
    changed
}

/// Returns whether the array has a type whose roundings may be omitted.
fn is_narrow(shape: &Shape) -> bool {
    matches!(shape.as_array().map(|a| a.element_type), Some(ElementType::Bf16 | ElementType::F16))
}

/// Returns whether the instruction computes with numbers and can do so in any type.
fn computes(module: &Module, id: InstrId) -> bool {
    let op = &module[id].op;
    match op {
        Op::Select | Op::Clamp | Op::Copy => module[id].shape.as_array().is_some(),
        Op::Convert => true,
        Op::Reduce(_) => is_plain_reduction(module, id),
        Op::Complex | Op::Real | Op::Imag => false,
        _ => op.opcode().is_elementwise() && is_arithmetic(op),
    }
}

/// Returns whether the instruction is a reduction of one array by an operation with the same meaning in every
/// type.
fn is_plain_reduction(module: &Module, id: InstrId) -> bool {
    let Op::Reduce(a) = &module[id].op else { return false };
    let combiner = binary_combiner(module, a.to_apply);
    let plain = [Opcode::Add, Opcode::Multiply, Opcode::Maximum, Opcode::Minimum];
    module[id].operands.len() == 2 && combiner.is_some_and(|op| plain.contains(&op))
}

/// Returns whether the operation moves elements at no cost.
fn moves(op: &Op) -> bool {
    op.opcode().traits().moves == Moves::View
}

/// The unrounded values of a computation.
struct Chains {
    computation: ComputationId,
    /// The instructions, operands first.
    order: Vec<InstrId>,
    /// The instructions whose results are not rounded.
    unrounded: HashSet<InstrId>,
}

impl Chains {
    fn new(module: &Module, computation: ComputationId) -> Self {
        let order = module.post_order(computation);
        let live: HashSet<InstrId> = order.iter().copied().collect();
        let mut unrounded: HashSet<InstrId> = HashSet::new();
        for &id in order.iter().rev() {
            let takes = |user: &InstrId| match &module[*user].op {
                op if moves(op) => unrounded.contains(user),
                Op::Reduce(_) => computes(module, *user) && module[*user].operands.get(1) != Some(&id),
                _ => computes(module, *user),
            };
            let candidate = is_narrow(&module[id].shape) && (moves(&module[id].op) || computes(module, id));
            let users = module.users(id);
            let taken = !users.is_empty() && users.iter().all(|u| live.contains(u) && takes(u));
            if candidate && taken && !module.is_root(id) {
                unrounded.insert(id);
            }
        }
        // A moved value that was not computed is converted only where it is needed.
        for &id in &order {
            let first = module[id].operands.first();
            if moves(&module[id].op) && !first.is_some_and(|o| unrounded.contains(o)) {
                unrounded.remove(&id);
            }
        }
        Self { computation, order, unrounded }
    }

    /// Computes these values in `f32`. Returns whether the module changed.
    fn widen(self, module: &mut Module, functions: &mut Functions, rewrites: &mut Rewrites) -> bool {
        if self.unrounded.is_empty() {
            return false;
        }
        let mut edit = Edit::default();
        // Collect the instructions first, because removed conversions are replaced by their operands.
        let is_unrounded = |id: &InstrId| self.unrounded.contains(id);
        let changed = |id: &&InstrId| is_unrounded(id) || module[**id].operands.iter().any(is_unrounded);
        for id in self.order.iter().filter(changed).copied().collect::<Vec<_>>() {
            edit.widen(module, functions, id, is_unrounded(&id));
        }
        rewrites.made("unrounded", &module[module[self.computation].root()].name);
        module.remove_all(&edit.gone);
        true
    }
}

/// The computations that reductions in `f32` apply.
struct Functions {
    namer: ComputationNamer,
    combiners: Combiners,
}

/// The state of editing a computation.
#[derive(Default)]
struct Edit {
    /// Converted values.
    wide: HashMap<InstrId, InstrId>,
    /// Conversions that became unnecessary.
    gone: Vec<InstrId>,
}

impl Edit {
    /// Computes an instruction in `f32`, and rounds its result unless `is_unrounded` is true.
    fn widen(&mut self, module: &mut Module, functions: &mut Functions, id: InstrId, is_unrounded: bool) {
        let operands = module[id].operands.to_vec();
        for (k, operand) in operands.into_iter().enumerate() {
            if is_narrow(&module[operand].shape) {
                let wide = *self.wide.entry(operand).or_insert_with(|| convert(module, id, operand, WIDE));
                module.replace_operand(id, k, wide);
            }
        }
        let shape = module[id].shape.clone();
        if let Some(array) = shape.as_array().filter(|_| is_narrow(&shape)) {
            if let Op::Reduce(mut a) = module[id].op.clone() {
                let op = module[module[a.to_apply].root()].op.clone();
                let Functions { namer, combiners } = functions;
                a.to_apply = combiners.get(module, namer, &op, WIDE, module[id].parent);
                module.set_op(id, Op::Reduce(a));
            }
            module.set_shape(id, Shape::Array(array.with_element_type(WIDE)));
            if !is_unrounded {
                let rounded = convert(module, id, id, array.element_type);
                module.copy_annotations(id, rounded);
                module.replace_all_uses_with(id, rounded);
                module.set_operands(rounded, [id]);
            }
        }
        // The conversion is unnecessary because its operand is no longer rounded.
        let from = module[id].operands.first().copied().filter(|_| matches!(module[id].op, Op::Convert));
        if let Some(from) = from.filter(|&from| module[from].shape == module[id].shape) {
            module.replace_all_uses_with(id, from);
            self.gone.push(id);
        }
    }
}

/// Adds a conversion of a value, with the provenance of `site`.
fn convert(module: &mut Module, site: InstrId, value: InstrId, to: ElementType) -> InstrId {
    let shape = match &module[value].shape {
        Shape::Array(a) => Shape::Array(a.with_element_type(to)),
        other => other.clone(),
    };
    let base = module[value].name.clone();
    let name = module.unique_name(&base);
    let added = module.add(module[site].parent, &name, shape, Op::Convert, [value]);
    module.copy_provenance(site, added);
    added
}
