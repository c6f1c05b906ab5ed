//! `hlo-rematerialization`: recomputes values where they are used late instead of keeping them, until the
//! temporaries of a scheduled module fit in a limit.
//!
//! ```text
//! a = f32[1000] broadcast(x)                       a = f32[1000] broadcast(x)
//! b = … a …                                        b = … a …
//! c = … much memory …                         →    c = … much memory …
//! d = … a …                                        a.1 = f32[1000] broadcast(x)
//!                                                  d = … a.1 …
//! ```
//!
//! In each step, the pass finds the moment of peak memory. It considers the values that are live there but
//! neither read nor written, and needed later. It recomputes the cheapest of them first, then those that free
//! most memory, until the excess is gone. If a called computation uses most of the memory, the pass continues
//! in that computation. It never recomputes instructions that have effects, call other computations or have
//! control dependencies, and never recomputes a value twice. If the limit cannot be met, the pass fails. A
//! module without a schedule is not changed, and the pass emits a warning.

mod candidates;

use candidates::Candidate;
use hlo_analysis::{Liveness, ModuleLiveness};
use hlo_ir::diag::Diag;
use hlo_ir::{ComputationId, InstrId, Module, human_bytes};
use hlo_passes::rules;
use hlo_passes::support::clone::clone_instruction;
use hlo_passes::support::effects::{Effects, control_dependent};
use hlo_passes::{OptionInfo, OptionValue, PassInfo, Rewrites, Schedule};
use std::collections::{HashMap, HashSet};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "hlo-rematerialization",
    summary: "recompute values instead of keeping them, until a scheduled module fits in a memory limit",
    options: &[OptionInfo {
        name: "memory-limit",
        summary: "maximum bytes of temporaries that are live at the same time",
        default: OptionValue::Count(16 << 30),
    }],
    schedule: Schedule::Needed,
    example: "\
HloModule hlo_rematerialization, is_scheduled=true

ENTRY e {
  x = f32[] parameter(0)
  a = f32[2000000000] broadcast(x), dimensions={}
  first = f32[1] slice(a), slice={[0:1]}
  b = f32[2000000000] negate(a)
  c = f32[2000000000] exponential(b)
  second = f32[1] slice(c), slice={[0:1]}
  last = f32[1] slice(a), slice={[5:6]}
  s = f32[1] add(first, second)
  ROOT r = f32[1] add(s, last)
}
",
    build: |_, options| {
        let limit = options.count("memory-limit");
        Box::new(move |module: &mut Module, rewrites: &mut Rewrites| run(module, limit, rewrites))
    },
    ..PassInfo::PLAIN
};

/// Maximum number of peaks that are processed. Each requires an analysis of the whole module.
const MAX_PEAKS: usize = 2_000;

fn run(module: &mut Module, limit: u64, rewrites: &mut Rewrites) -> Result<bool, Diag> {
    let mut cx = Context { effects: Effects::of(module), fixed: control_dependent(module) };
    let mut changed = false;
    for _ in 0..MAX_PEAKS {
        let liveness = ModuleLiveness::of(module);
        let Some(place) = Place::of(module, &liveness, limit) else { return Ok(changed) };
        if !rewrites.allowed() {
            return Ok(changed);
        }
        let candidates = place.candidates(module, &liveness, &cx);
        if candidates.is_empty() {
            return Err(too_much(module, &liveness, limit));
        }
        cx.compute_again(module, &candidates, rewrites);
        changed = true;
    }
    match Place::of(module, &ModuleLiveness::of(module), limit) {
        Some(_) => Err(too_much(module, &ModuleLiveness::of(module), limit)),
        None => Ok(changed),
    }
}

/// The facts that stay the same while values are recomputed.
struct Context {
    effects: Effects,
    /// The instructions that are not recomputed.
    fixed: HashSet<InstrId>,
}

impl Context {
    /// Recomputes values of a computation. Each copy is placed before the first of its late users and serves
    /// all of them.
    fn compute_again(&mut self, module: &mut Module, candidates: &[Candidate], rewrites: &mut Rewrites) {
        let Some(computation) = candidates.first().map(|c| module[c.instruction].parent) else { return };
        // The copies to insert before each instruction.
        let mut copies: HashMap<InstrId, Vec<InstrId>> = HashMap::new();
        let list = module[computation].instructions().to_vec();
        for candidate in candidates {
            let Some(&first) = candidate.users.first().filter(|_| rewrites.allowed()) else { break };
            let id = candidate.instruction;
            rewrites.made("compute-again", &module[id].name);
            let (base, operands) = (module[id].name.clone(), module[id].operands.to_vec());
            let name = module.unique_name(&base);
            let copy = clone_instruction(module, id, computation, &name, operands);
            self.fixed.extend([id, copy]);
            for &user in &candidate.users {
                module.replace_operands(user, id, copy);
            }
            copies.entry(first).or_default().push(copy);
        }
        let with_copies = |i| copies.remove(&i).unwrap_or_default().into_iter().chain([i]);
        let order = list.into_iter().flat_map(with_copies).collect();
        module.set_order(computation, order);
    }
}

/// The moments at which too much memory is live, outermost first: in the entry, in the computation called
/// there, and so on.
struct Place {
    /// The computation, the position, and the number of bytes above the limit.
    moments: Vec<(ComputationId, usize, u64)>,
}

impl Place {
    /// Finds these moments. Returns `None` if the limit is met.
    fn of(module: &Module, liveness: &ModuleLiveness, limit: u64) -> Option<Self> {
        let mut computation = module.entry();
        let mut limit = limit;
        let mut moments = Vec::new();
        loop {
            let here = liveness.get(computation)?;
            let position = here.peak_position()?;
            if here.peak() <= limit {
                break;
            }
            moments.push((computation, position, here.peak() - limit));
            let called = here.called.get(position).copied().unwrap_or(0);
            let instruction = *here.order.get(position)?;
            let needs = |c: &ComputationId| liveness.get(*c).map_or(0, Liveness::peak);
            let callees = module[instruction].op.called_computations();
            let Some(largest) = callees.into_iter().max_by_key(needs).filter(|_| called > 0) else { break };
            limit = limit.saturating_sub(here.peak() - called);
            computation = largest;
        }
        (!moments.is_empty()).then_some(Self { moments })
    }

    /// Returns the values to recompute, from the outermost computation that has any.
    fn candidates(&self, module: &Module, liveness: &ModuleLiveness, cx: &Context) -> Vec<Candidate> {
        let fixed = |i| cx.fixed.contains(&i) || cx.effects.has(module, i);
        let found = self.moments.iter().filter_map(|&(computation, position, excess)| {
            Some(candidates::best(module, liveness.get(computation)?, position, excess, fixed))
        });
        found.into_iter().find(|all| !all.is_empty()).unwrap_or_default()
    }
}

/// Returns the diagnostic for a limit that cannot be met.
fn too_much(module: &Module, liveness: &ModuleLiveness, limit: u64) -> Diag {
    let Some(entry) = liveness.get(module.entry()) else {
        return Diag::error("the entry has no memory to look at").with_code(rules::MEMORY_LIMIT);
    };
    let mut diag = Diag::error(format!(
        "the program needs {} of memory at its peak, the limit is {}",
        human_bytes(entry.peak()),
        human_bytes(limit)
    ))
    .with_code(rules::MEMORY_LIMIT);
    if let Some(&at) = entry.peak_position().and_then(|p| entry.order.get(p)) {
        diag = diag.at(module.span(at), "most is live while this runs".to_string());
    }
    diag.note("nothing more can be computed again; `hlo-rematerialization{memory-limit=N}` sets the limit")
}
