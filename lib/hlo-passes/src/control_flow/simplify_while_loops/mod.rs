//! `simplify-while-loops`: removes loops that never run or run once, and reduces the state of the others.
//!
//! ```text
//! w = (s32[], f32[4], f32[4]) while(init), …       w = (s32[], f32[4]) while(init'), …
//!   the body does not change element 1          →    users of element 1 use its initial value
//! ```
//!
//! - A loop whose body never runs is replaced by its initial state. A loop whose body runs once, or at most
//!   as often as the option `full-unroll-up-to` allows, is replaced by copies of its body. With the option
//!   `unroll`, the body of any other loop becomes that number of copies of itself, and the remaining
//!   iterations run before the loop.
//! - Tuple elements of the state are split into their leaves. If the body does not change an element, its
//!   initial value replaces it after the loop. If that value is a constant, the constant also replaces it in
//!   the loop. Two elements that are always equal are merged. Integers that start at constants and grow by
//!   constants are calculated from a counter whose step divides theirs. XLA also adds a counter if no step
//!   divides the others. Unused elements are removed. If the result is used as a whole, it is rebuilt after
//!   the loop.
//!
//! Loops are kept if their condition has side effects. If the body has side effects or control dependencies,
//! only the state is simplified. Loops with control dependencies of their own are not removed. The state is
//! not changed if it is sharded, or if the condition or body uses it as a whole.

mod counters;
mod needed;
mod nested;
mod state;
mod unroll;

use crate::pass_info::{OptionInfo, OptionValue, PassInfo};
use crate::rewrites::Rewrites;
use crate::support::effects::{Effects, add_control_dependent, control_dependent};
use crate::support::rewrite::same_layout;
use crate::support::trip_count::trip_count;
use crate::support::while_loop::{CallCounts, WhileLoop};
use hlo_ir::build::ComputationNamer;
use hlo_ir::{InstrId, Module, Op};
use std::collections::HashSet;

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "simplify-while-loops",
    summary: "remove loops that run at most once, and unneeded elements of the state of others",
    options: &[
        OptionInfo {
            name: "full-unroll-up-to",
            summary: "maximum trip count of the loops to replace by copies of their bodies",
            default: OptionValue::Count(1),
        },
        OptionInfo {
            name: "unroll",
            summary: "number of copies of the body to run per iteration in other loops with a known trip count",
            default: OptionValue::Count(1),
        },
    ],
    example: "\
HloModule simplify_while_loops

condition {
  s = (s32[], f32[4], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(10)
  ROOT more = pred[] compare(i, n), direction=LT
}

body {
  s = (s32[], f32[4], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  same = f32[4] get-tuple-element(s), index=1
  sum = f32[4] get-tuple-element(s), index=2
  more = f32[4] add(sum, sum)
  ROOT t = (s32[], f32[4], f32[4]) tuple(next, same, more)
}

ENTRY e {
  x = f32[4] parameter(0)
  zero = s32[] constant(0)
  init = (s32[], f32[4], f32[4]) tuple(zero, x, x)
  w = (s32[], f32[4], f32[4]) while(init), condition=condition, body=body
  a = f32[4] get-tuple-element(w), index=1
  b = f32[4] get-tuple-element(w), index=2
  ROOT r = f32[4] add(a, b)
}
",
    build: |_, options| {
        let settings = Settings { full: options.count("full-unroll-up-to"), unroll: options.count("unroll") };
        Box::new(move |module: &mut Module, rewrites: &mut Rewrites| Ok(run(module, settings, rewrites)))
    },
    ..PassInfo::PLAIN
};

/// The option values.
#[derive(Clone, Copy)]
struct Settings {
    full: u64,
    unroll: u64,
}

/// Maximum number of rounds. Simplifying an inner loop may make an outer one simpler, and vice versa.
const MAX_ROUNDS: usize = 16;

fn run(module: &mut Module, settings: Settings, rewrites: &mut Rewrites) -> bool {
    let mut changed = false;
    for _ in 0..MAX_ROUNDS {
        let loops = |m: &Module| {
            m.computations().any(|c| m[c].instructions().iter().any(|&i| matches!(m[i].op, Op::While(_))))
        };
        if !loops(module) || !Simplifier::new(module).run(module, settings, rewrites) {
            break;
        }
        changed = true;
    }
    changed
}

/// The state of the pass: facts about the module, updated while its loops are simplified.
struct Simplifier {
    effects: Effects,
    pinned: HashSet<InstrId>,
    counts: CallCounts,
    namer: ComputationNamer,
    /// The number of instructions in the module.
    size: u64,
}

impl Simplifier {
    fn new(module: &Module) -> Self {
        Self {
            effects: Effects::of(module),
            pinned: control_dependent(module),
            counts: CallCounts::of(module),
            namer: ComputationNamer::new(module),
            size: module.computations().map(|c| module[c].instructions().len() as u64).sum(),
        }
    }

    fn run(&mut self, module: &mut Module, settings: Settings, rewrites: &mut Rewrites) -> bool {
        let mut changed = false;
        for c in module.computations_post_order() {
            let mut gone = Vec::new();
            for id in module.post_order(c) {
                if !matches!(module[id].op, Op::While(_)) {
                    continue;
                }
                if self.remove_loop(module, id, settings, rewrites) {
                    gone.push(id);
                    changed = true;
                    continue;
                }
                changed |= unroll::unroll(self, module, id, settings.unroll, rewrites);
                changed |= nested::flatten(self, module, id, rewrites);
                changed |= state::simplify(self, module, id, &mut gone, rewrites);
            }
            module.remove_all(&gone);
        }
        changed
    }

    /// Replaces a loop that never runs, or runs only a few times, by its result. The caller must then remove
    /// the loop.
    fn remove_loop(
        &mut self,
        module: &mut Module,
        id: InstrId,
        settings: Settings,
        rewrites: &mut Rewrites,
    ) -> bool {
        let Op::While(a) = &module[id].op else { return false };
        let (condition, body) = (a.condition, a.body);
        let Some(&init) = module[id].operands.first() else { return false };
        if self.effects.any(condition) || self.pinned.contains(&id) || !rewrites.allowed() {
            return false;
        }
        let (value, name) = match trip_count(module, id).map(|t| t.trips) {
            Some(0) if same_kind(module, init, id) => (init, "never-runs"),
            Some(n) if (1..=settings.full).contains(&n) => {
                let Some(value) = unroll::copies(self, module, id, body, init, n) else { return false };
                (value, "unroll-fully")
            }
            _ => return false,
        };
        rewrites.made(name, &module[id].name);
        module.replace_all_uses_with(id, value);
        module.set_operands(id, []);
        true
    }

    /// Gives a loop its own copies of its computations. Returns the loop if the passes still support its
    /// form.
    fn unshare_computations(&mut self, module: &mut Module, id: InstrId) -> Option<WhileLoop> {
        if self.counts.make_own(module, &mut self.namer, id) {
            for c in module[id].op.called_computations() {
                add_control_dependent(module, c, &mut self.pinned);
                self.effects.reach(module, c);
            }
        }
        WhileLoop::of(module, id)
    }
}

/// Checks whether one value may replace the other.
fn same_kind(module: &Module, a: InstrId, b: InstrId) -> bool {
    let (a, b) = (&module[a].shape, &module[b].shape);
    a.compatible(b) && same_layout(a, b)
}
