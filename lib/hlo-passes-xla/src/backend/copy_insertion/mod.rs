//! `copy-insertion`: copies values that would otherwise share memory with another value while both are
//! needed.
//!
//! ```text
//! ENTRY e { x = f32[4] parameter(0)             ENTRY e { x = f32[4] parameter(0)
//!           i = (f32[4]) tuple(x)          →              c = f32[4] copy(x)
//!           ROOT w = (f32[4]) while(i), … }               i = (f32[4]) tuple(c)
//!                                                         ROOT w = (f32[4]) while(i), … }
//! ```
//!
//! The state of a loop occupies the same memory throughout: the initial value, the body's parameter, the
//! body's result and the loop's result share it. After the pass, these rules hold for every order of the
//! instructions that their dependencies allow:
//! - If the body changes an array of the state, the initial value of that array belongs to the computation
//!   and is read only before the loop.
//! - An array of the next state is written only after every reader of the present array has run. Its own
//!   instruction may read the present array element by element, or update a part of it without reading the
//!   rest. The pass adds control dependencies where no other dependency ensures this.
//! - If a result of a fusion or custom call shares memory with an operand, that operand belongs to the
//!   computation and is read only before.
//! - Every result of the entry, of a branch or of a called computation is a value that the computation makes,
//!   and no value is returned twice. A result is never a constant, and it is a parameter only where
//!   `input_output_alias` allows it.
//!
//! State elements that the body does not change need no copies, and neither do tokens.

mod results;
mod values;

use hlo_analysis::in_place::{InPlace, aliased};
use hlo_analysis::{Invariants, Roles};
use hlo_ir::diag::Diag;
use hlo_ir::{ComputationId, InstrId, Module, Op, Shape};
use hlo_passes::support::expander::added_since;
use hlo_passes::support::while_loop::add_element;
use hlo_passes::{PassInfo, Rewrites};
use std::collections::HashMap;
use values::Values;

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "copy-insertion",
    summary: "copy values that would otherwise share memory with others while both are needed",
    example: "\
HloModule copy_insertion

condition {
  s = (f32[4], f32[]) parameter(0)
  y = f32[] get-tuple-element(s), index=1
  limit = f32[] constant(1000)
  ROOT more = pred[] compare(y, limit), direction=LT
}

body {
  s = (f32[4], f32[]) parameter(0)
  x = f32[4] get-tuple-element(s), index=0
  y = f32[] get-tuple-element(s), index=1
  z = f32[] add(y, y)
  ROOT t = (f32[4], f32[]) tuple(x, z)
}

ENTRY e {
  x = f32[4] parameter(0)
  y = f32[] parameter(1)
  init = (f32[4], f32[]) tuple(x, y)
  w = (f32[4], f32[]) while(init), condition=condition, body=body
  ROOT r = f32[] get-tuple-element(w), index=1
}
",
    build: |_, _| Box::new(run),
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, rewrites: &mut Rewrites) -> Result<bool, Diag> {
    let roles = Roles::of(module);
    let mut changed = false;
    for c in module.computations_post_order() {
        if !roles.run.contains(&c) {
            continue;
        }
        let mut known = None;
        for id in module.post_order(c) {
            changed |= separate_operands(module, c, id, &roles, &mut known, rewrites);
        }
        changed |= results::separate(module, c, &roles, rewrites);
    }
    Ok(changed)
}

/// Copies the operands that an instruction would overwrite although another instruction needs them.
fn separate_operands(
    module: &mut Module,
    computation: ComputationId,
    id: InstrId,
    roles: &Roles,
    known: &mut Option<Values>,
    rewrites: &mut Rewrites,
) -> bool {
    let changes = aliased(module, id, &mut Invariants::default());
    if changes.is_empty() || !rewrites.allowed() {
        return false;
    }
    let values =
        known.get_or_insert_with(|| Values::of(module, computation, roles.owns_parameters(computation)));
    let operands = module[id].operands.iter();
    let all: Vec<usize> = operands.flat_map(|&o| values.leaves(o)).copied().collect();
    let mut count: HashMap<usize, usize> = HashMap::new();
    for &value in &all {
        *count.entry(value).or_default() += 1;
    }
    let mut copied: Vec<(usize, Vec<bool>)> = Vec::new();
    for InPlace { operand, leaf, .. } in changes {
        let Some(&argument) = module[id].operands.get(operand) else { continue };
        let leaves = values.leaves(argument);
        let Some(&value) = leaves.get(leaf) else { continue };
        let readers = values.readers(value);
        let read_before = || {
            let before = values.before(module, id, readers);
            readers.iter().all(|r| *r == id || before.contains(r))
        };
        let own = values.is_own(value) && count.get(&value) == Some(&1) && !values.in_result(value);
        if own && read_before() {
            continue;
        }
        if !copied.iter().any(|(n, _)| *n == operand) {
            copied.push((operand, vec![false; leaves.len()]));
        }
        for (_, flags) in copied.iter_mut().filter(|(n, _)| *n == operand) {
            flags[leaf] = true;
        }
    }
    let first_new = module.instruction_capacity();
    for (operand, flags) in &copied {
        let argument = module[id].operands[*operand];
        let name = if matches!(module[id].op, Op::While(_)) { "initial-state" } else { "changed-operand" };
        rewrites.made(name, &module[id].name);
        let copy = with_copies(module, argument, flags);
        module.replace_operand(id, *operand, copy);
    }
    if !copied.is_empty() {
        values.note_copies(module, id, &all, &added_since(module, computation, first_new));
    }
    !copied.is_empty()
}

/// Returns a value in which the leaves marked in `flags` are replaced by copies.
fn with_copies(module: &mut Module, value: InstrId, flags: &[bool]) -> InstrId {
    if !flags.contains(&true) {
        return value;
    }
    let shape = module[value].shape.clone();
    let (op, operands) = match &shape {
        Shape::Tuple(parts) => {
            let mut rest = flags;
            let mut copies = Vec::with_capacity(parts.len());
            for (n, part) in parts.iter().enumerate() {
                let (own, after) = rest.split_at(part.leaf_count().min(rest.len()));
                rest = after;
                let element = match module[value].op {
                    // Skip an operand of another shape: a tuple that contains itself, which the verifier
                    // rejects, would recurse forever.
                    Op::Tuple => {
                        let operand = module[value].operands.get(n).copied();
                        operand.filter(|&o| module[o].shape.compatible(part))
                    }
                    _ => None,
                };
                let element = element.unwrap_or_else(|| add_element(module, value, n, part.clone()));
                copies.push(with_copies(module, element, own));
            }
            (Op::Tuple, copies)
        }
        _ => (Op::Copy, vec![value]),
    };
    module.add_like(value, shape, op, operands)
}
