//! `while-loop-invariant-code-motion`: computes values that are the same in every iteration before the loop.
//!
//! ```text
//! body { s = (f32[4], f32[4]) parameter(0)              y = f32[4] exponential(x)
//!        x = f32[4] get-tuple-element(s), index=1  →    init = (f32[4], f32[4], f32[4]) tuple(a, x, y)
//!        y = f32[4] exponential(x)                      w = (f32[4], f32[4], f32[4]) while(init), …
//!        … }
//! ```
//!
//! Cheap instructions (constants, broadcasts, slices, …) move only together with an instruction that uses
//! them. The pass does not move instructions with side effects or control dependencies, random numbers,
//! custom calls or barriers. It does not move inner loops either, because they may run forever even if the
//! outer loop never runs. Nothing is moved out of a loop that runs at most once. The state is not changed if
//! it is sharded, or if the condition or body uses it as a whole.

use crate::pass_info::PassInfo;
use crate::rewrites::Rewrites;
use crate::support::clone::clone_instruction;
use crate::support::effects::{
    Effects, add_control_dependent, control_dependent, is_impure, remove_taken, take_unused,
};
use crate::support::trip_count::trip_count;
use crate::support::while_loop::{CallCounts, WhileLoop, add_element, element_of, visit_loops};
use hlo_ir::build::ComputationNamer;
use hlo_ir::diag::Diag;
use hlo_ir::{ComputationId, InstrId, Module, Moves, Op, Role, Traits};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "while-loop-invariant-code-motion",
    summary: "move loop-invariant computations in front of the loop",
    example: "\
HloModule while_loop_invariant_code_motion

condition {
  s = (f32[], f32[]) parameter(0)
  x = f32[] get-tuple-element(s), index=0
  limit = f32[] constant(1000)
  ROOT more = pred[] compare(x, limit), direction=LT
}

body {
  s = (f32[], f32[]) parameter(0)
  x = f32[] get-tuple-element(s), index=0
  y = f32[] get-tuple-element(s), index=1
  z = f32[] exponential(y)
  sum = f32[] add(x, z)
  ROOT t = (f32[], f32[]) tuple(sum, y)
}

ENTRY e {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  init = (f32[], f32[]) tuple(x, y)
  w = (f32[], f32[]) while(init), condition=condition, body=body
  ROOT r = f32[] get-tuple-element(w), index=0
}
",
    build: |_, _| Box::new(run),
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, rewrites: &mut Rewrites) -> Result<bool, Diag> {
    let mut cx = Context {
        effects: Effects::of(module),
        pinned: control_dependent(module),
        counts: CallCounts::of(module),
        namer: ComputationNamer::new(module),
        keeps: HashMap::new(),
    };
    // Callees come first, because an instruction moved out of an inner loop may also move out of the outer
    // one.
    let order = module.computations_post_order();
    Ok(visit_loops(module, order, |module, found| hoist(&mut cx, module, found, rewrites)))
}

struct Context {
    effects: Effects,
    pinned: HashSet<InstrId>,
    counts: CallCounts,
    namer: ComputationNamer,
    /// Whether a computation, or one that it calls, contains an instruction that keeps its caller in the
    /// loop: an inner loop, or an instruction whose result may differ each time.
    keeps: HashMap<ComputationId, bool>,
}

impl Context {
    /// Fills `keeps` for the computations that the instructions call.
    fn look_into_callees(&mut self, module: &Module, instructions: &[InstrId]) {
        for callee in instructions.iter().flat_map(|&i| module[i].op.called_computations()) {
            if self.keeps.contains_key(&callee) {
                continue;
            }
            let (mut found, mut seen, mut work) = (false, HashSet::from([callee]), vec![callee]);
            while let Some(c) = work.pop().filter(|_| !found) {
                for &i in module[c].instructions() {
                    found |= matches!(module[i].op, Op::While(_)) || is_impure(&module[i].op);
                    work.extend(module[i].op.called_computations().into_iter().filter(|c| seen.insert(*c)));
                }
            }
            self.keeps.insert(callee, found);
        }
    }

    /// Checks whether the instruction calls a computation that keeps it in the loop, or one missing from
    /// `keeps`.
    fn is_kept(&self, module: &Module, id: InstrId) -> bool {
        module[id].op.called_computations().iter().any(|c| self.keeps.get(c) != Some(&false))
    }
}

/// The instructions of a body that compute the same value in every iteration.
struct Invariant {
    /// The instructions, operands before users. The list includes instructions that read elements of the
    /// state.
    order: Vec<InstrId>,
    all: HashSet<InstrId>,
    /// The instructions whose results justify an additional element of the state.
    worth: Vec<InstrId>,
}

/// Moves invariant instructions before the loop if this is worthwhile.
fn hoist(cx: &mut Context, module: &mut Module, found: WhileLoop, rewrites: &mut Rewrites) -> bool {
    if invariant(cx, module, &found).worth.is_empty()
        || trip_count(module, found.id).is_some_and(|t| t.trips <= 1)
        || !rewrites.allowed()
    {
        return false;
    }
    if cx.counts.make_own(module, &mut cx.namer, found.id) {
        for c in module[found.id].op.called_computations() {
            add_control_dependent(module, c, &mut cx.pinned);
            cx.effects.reach(module, c);
        }
    }
    let Some(mut own) = WhileLoop::of(module, found.id) else { return true };
    let invariant = invariant(cx, module, &own);
    let mut taken = Vec::new();
    for &id in &invariant.worth {
        if rewrites.allowed() {
            rewrites.made("hoist", &module[id].name);
            taken.push(id);
        }
    }
    let needed = closure(module, &taken, &invariant.all);
    let mut outside: HashMap<InstrId, InstrId> = HashMap::new();
    for &id in invariant.order.iter().filter(|i| needed.contains(i)) {
        let copy = match element_of(module, id, own.body_state) {
            Some(element) => initial(module, &own, element),
            None => {
                let operands: Vec<InstrId> =
                    module[id].operands.iter().map(|o| outside.get(o).copied().unwrap_or(*o)).collect();
                let base = module[id].name.clone();
                let name = module.unique_name(&base);
                let parent = module[own.id].parent;
                Some(clone_instruction(module, id, parent, &name, operands))
            }
        };
        outside.extend(copy.map(|copy| (id, copy)));
    }
    let values: Vec<InstrId> = taken.iter().filter_map(|i| outside.get(i)).copied().collect();
    let Some(inside) = own.add_invariants(module, &values).filter(|inside| inside.len() == taken.len())
    else {
        return true;
    };
    for (&id, &inside) in taken.iter().zip(&inside) {
        module.replace_all_uses_with(id, inside);
    }
    let mut gone = BTreeSet::new();
    for &id in &invariant.order {
        take_unused(module, &cx.effects, &cx.pinned, id, &mut gone);
    }
    remove_taken(module, gone);
    true
}

/// Returns the initial value of an element of the state.
fn initial(module: &mut Module, own: &WhileLoop, element: usize) -> Option<InstrId> {
    if let Some(value) = own.initial(module, element) {
        return Some(value);
    }
    let init = *module[own.id].operands.first()?;
    let shape = module[init].shape.as_tuple()?.get(element)?.clone();
    Some(add_element(module, init, element, shape))
}

/// Finds the invariant instructions of a body, and those worth moving.
fn invariant(cx: &mut Context, module: &Module, found: &WhileLoop) -> Invariant {
    let mut out = Invariant { order: Vec::new(), all: HashSet::new(), worth: Vec::new() };
    let order = module.post_order(found.body);
    cx.look_into_callees(module, &order);
    for &id in &order {
        let from_state = element_of(module, id, found.body_state).map(|e| found.is_invariant(module, e));
        let movable = || {
            can_move(&module[id].op)
                && !cx.is_kept(module, id)
                && !cx.effects.has(module, id)
                && module[id].operands.iter().all(|o| out.all.contains(o))
        };
        let fits = id != found.next && module[id].shape.leaves().iter().all(|s| s.as_array().is_some());
        if fits && from_state.unwrap_or_else(movable) && !cx.pinned.contains(&id) {
            out.all.insert(id);
            out.order.push(id);
        }
    }
    // An invariant value stays available in the body if a varying instruction uses it, or a cheap instruction
    // that stays itself. It is worth an element of the state unless it is cheap to compute.
    let mut stay = HashSet::new();
    for &id in out.order.iter().rev() {
        let stays =
            |user: &InstrId| !out.all.contains(user) || is_cheap(&module[*user].op) && stay.contains(user);
        if !module.users(id).iter().any(stays) {
            continue;
        }
        stay.insert(id);
        let source = match module[id].op {
            Op::GetTupleElement(_) => module[id].operands.first().copied().unwrap_or(id),
            _ => id,
        };
        if module[id].shape.as_array().is_some() && !is_cheap(&module[source].op) {
            out.worth.push(id);
        }
    }
    out.worth.reverse();
    out
}

/// Checks whether an operation may run once before the loop instead of in every iteration, even if the loop
/// never runs. The computations that it calls are checked separately.
fn can_move(op: &Op) -> bool {
    let calls_back = matches!(op, Op::While(_) | Op::Conditional(_) | Op::Call(_) | Op::Map(_) | Op::Scan(_));
    let effectful = is_impure(op) || matches!(op, Op::Parameter(_) | Op::AfterAll | Op::AddDependency);
    !effectful && !calls_back
}

/// Checks whether computing an operation where its result is used costs almost nothing.
fn is_cheap(op: &Op) -> bool {
    let Traits { moves, role, .. } = op.opcode().traits();
    moves == Moves::View
        || matches!(role, Role::Parameter | Role::Constant | Role::Tuple | Role::DeviceId)
        || matches!(op, Op::Bitcast | Op::GetTupleElement(_) | Op::Iota(_))
}

/// Returns the instructions in `of` and all their transitive operands, restricted to `all`.
fn closure(module: &Module, of: &[InstrId], all: &HashSet<InstrId>) -> HashSet<InstrId> {
    let mut out = HashSet::new();
    let mut stack = of.to_vec();
    while let Some(id) = stack.pop() {
        if all.contains(&id) && out.insert(id) {
            stack.extend(module[id].operands.iter().copied());
        }
    }
    out
}
