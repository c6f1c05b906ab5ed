//! `simplify-conditional`: removes conditionals whose taken branch is known, and simplifies the others.
//!
//! ```text
//! p = pred[] constant(true)
//! ROOT c = f32[] conditional(p, x, y),       →    ROOT n = f32[] negate(x)
//!   true_computation=negative, …
//! ```
//!
//! - If the index is constant, there is only one branch, or all branches are equal, the branch replaces the
//!   conditional. It becomes a call if it has effects or control dependencies.
//! - If two branches only return their arguments or scalar constants, the pass replaces the conditional by
//!   selects.
//! - Result elements that are unused are removed, and elements that are equal in every branch are merged.
//! - A branch receives only the elements of its argument that it uses.
//!
//! Conditionals with control dependencies are not replaced, and those with shardings are not changed.

mod operands;
mod results;

use crate::pass_info::PassInfo;
use crate::rewrites::Rewrites;
use crate::simplification::cse::{Representatives, equal_computations};
use crate::support::conditional::{branches, known_branch, select_between, take_branch};
use crate::support::effects::{Effects, add_control_dependent, control_dependent};
use crate::support::places::Places;
use crate::support::while_loop::CallCounts;
use hlo_ir::build::ComputationNamer;
use hlo_ir::diag::Diag;
use hlo_ir::{ComputationId, InstrId, Module, Op};
use std::collections::HashSet;

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "simplify-conditional",
    summary: "remove conditionals whose branch is known, and unused results and arguments of others",
    example: "\
HloModule simplify_conditional

positive {
  p = (f32[], f32[]) parameter(0)
  x = f32[] get-tuple-element(p), index=0
  a = f32[] exponential(x)
  b = f32[] tanh(x)
  ROOT t = (f32[], f32[]) tuple(a, b)
}

negative {
  x = f32[] parameter(0)
  a = f32[] negate(x)
  b = f32[] sine(x)
  ROOT t = (f32[], f32[]) tuple(a, b)
}

ENTRY e {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  which = pred[] parameter(2)
  both = (f32[], f32[]) tuple(x, y)
  c = (f32[], f32[]) conditional(which, both, x), true_computation=positive, false_computation=negative
  ROOT r = f32[] get-tuple-element(c), index=0
}
",
    build: |_, _| Box::new(run),
    ..PassInfo::PLAIN
};

/// Maximum number of rounds. Simplifying an inner conditional may make an outer one simpler.
const MAX_ROUNDS: usize = 16;

fn run(module: &mut Module, rewrites: &mut Rewrites) -> Result<bool, Diag> {
    let mut changed = false;
    for _ in 0..MAX_ROUNDS {
        let conditional = |i: &InstrId| matches!(module[*i].op, Op::Conditional(_));
        let any = module.computations().any(|c| module[c].instructions().iter().any(conditional));
        if !any || !Simplifier::new(module).run(module, rewrites) {
            break;
        }
        changed = true;
    }
    Ok(changed)
}

/// The state of the pass: facts about the module, updated while its conditionals are simplified.
struct Simplifier {
    effects: Effects,
    pinned: HashSet<InstrId>,
    counts: CallCounts,
    namer: ComputationNamer,
    /// Maps each computation to the first computation with an equal body, if it is not that one itself.
    same: Representatives,
    /// The computations that were changed after `same` was computed.
    changed: HashSet<ComputationId>,
}

impl Simplifier {
    fn new(module: &Module) -> Self {
        Self {
            effects: Effects::of(module),
            pinned: control_dependent(module),
            counts: CallCounts::of(module),
            namer: ComputationNamer::new(module),
            same: equal_computations(module),
            changed: HashSet::new(),
        }
    }

    fn run(&mut self, module: &mut Module, rewrites: &mut Rewrites) -> bool {
        let mut changed = false;
        for c in module.computations_post_order() {
            let mut gone = Vec::new();
            let mut places = Places::default();
            for id in module.post_order(c) {
                if !matches!(module[id].op, Op::Conditional(_)) || !rewrites.allowed() {
                    continue;
                }
                let replacement = places.at(module, id, |module| self.replacement(module, id));
                if let Some((value, name)) = replacement {
                    rewrites.made(name, &module[id].name);
                    module.replace_all_uses_with(id, value);
                    module.set_operands(id, []);
                    gone.push(id);
                    changed = true;
                    continue;
                }
                changed |= results::simplify(self, module, id, &mut gone, rewrites);
                changed |= operands::simplify(self, module, id, rewrites);
            }
            places.arrange(module, c);
            module.remove_all(&gone);
        }
        changed
    }

    /// Returns the value that replaces the whole conditional, and the name of the rewrite.
    fn replacement(&mut self, module: &mut Module, id: InstrId) -> Option<(InstrId, &'static str)> {
        if self.pinned.contains(&id) {
            return None;
        }
        if let Some(branch) = known_branch(module, id) {
            let value = take_branch(module, &mut self.namer, &self.effects, id, branch)?;
            return Some((value, "known-branch"));
        }
        let all = branches(module, id)?;
        let first_of = |c: ComputationId| self.same.get(&c).copied().filter(|f| !self.changed.contains(f));
        let body = |c: ComputationId| first_of(c).filter(|_| !self.changed.contains(&c)).unwrap_or(c);
        let &(first, argument) = all.first()?;
        if all.iter().all(|&(c, a)| a == argument && body(c) == body(first)) {
            let value = take_branch(module, &mut self.namer, &self.effects, id, 0)?;
            return Some((value, "equal-branches"));
        }
        if all.iter().all(|&(c, _)| only_returns_argument(module, c)) {
            let value = select_between(module, &mut self.namer, &self.effects, id)?;
            return Some((value, "empty-branches"));
        }
        None
    }

    /// Gives a conditional its own copies of its computations.
    fn unshare_computations(&mut self, module: &mut Module, id: InstrId) {
        if self.counts.make_own(module, &mut self.namer, id) {
            for c in module[id].op.called_computations() {
                add_control_dependent(module, c, &mut self.pinned);
                self.effects.reach(module, c);
            }
        }
        self.changed.extend(module[id].op.called_computations());
    }
}

/// Checks whether a computation only returns its argument, its elements or scalar constants.
fn only_returns_argument(module: &Module, computation: ComputationId) -> bool {
    module[computation].instructions().iter().all(|&i| match module[i].op {
        Op::Parameter(_) | Op::Tuple | Op::GetTupleElement(_) => true,
        Op::Constant(_) => module[i].shape.is_scalar(),
        _ => false,
    })
}

/// Checks whether a value has no per-element sharding, replication or origin.
fn is_plain(module: &Module, id: InstrId) -> bool {
    let common = module[id].common.as_deref();
    common.is_none_or(|c| c.sharding.is_none() && c.parameter_replication.is_empty() && c.origin.is_none())
}
