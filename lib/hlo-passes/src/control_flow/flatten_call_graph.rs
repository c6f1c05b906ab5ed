//! `flatten-call-graph`: gives every call site a computation of its own, by copying.
//!
//! ```text
//! a = call(x), to_apply=f               a = call(x), to_apply=f
//! b = call(y), to_apply=f          →    b = call(y), to_apply=f.clone
//! ```
//!
//! Computations are looked at with callees before callers. The first instruction that names one keeps it, each other one
//! gets a copy, and copies of all that is called there. An instruction that names one several times gets a copy for each,
//! and the computation itself is called no more (`dce` removes it).
//!
//! Every instruction that names a computation is a place, functions that `reduce`, `sort`, … apply to elements included; with
//! `applied=false` these may be shared. With `keep-calls` so may computations that only `call` names, and with `max-growth`
//! what would make the module much larger.

use crate::support::clone::{clone_computation, set_callee};
use crate::support::growth::Growth;
use crate::{OptionInfo, OptionValue, Options, PassInfo, Rewrites, Schedule};
use hlo_ir::build::ComputationNamer;
use hlo_ir::diag::Diag;
use hlo_ir::rules::code;
use hlo_ir::{ComputationId, InstrId, Module, Op};
use std::collections::HashMap;

/// The largest number of instructions that a module may grow to, unless the option says another.
const LIMIT: u64 = 1_000_000;

/// The registry's entry.
pub static INFO: PassInfo = PassInfo {
    name: "flatten-call-graph",
    summary: "copy computations so that each is called from one place",
    schedule: Schedule::Own,
    options: &[
        OptionInfo {
            name: "max-instructions",
            summary: "the largest number of instructions that the module may grow to",
            default: OptionValue::Count(LIMIT),
        },
        OptionInfo {
            name: "max-growth",
            summary: "computations stay shared where copies would make the module so many times larger, and larger than 2,000 instructions; 0: no bound",
            default: OptionValue::Count(0),
        },
        OptionInfo {
            name: "applied",
            summary: "functions that are applied to elements get copies too",
            default: OptionValue::Switch(true),
        },
        OptionInfo {
            name: "keep-calls",
            summary: "computations that only `call` names stay shared",
            default: OptionValue::Switch(false),
        },
    ],
    example: "\
HloModule flatten_call_graph

f {
  p = f32[] parameter(0)
  ROOT n = f32[] negate(p)
}

ENTRY e {
  x = f32[] parameter(0)
  a = f32[] call(x), to_apply=f
  ROOT b = f32[] call(a), to_apply=f
}
",
    build: |_, options| {
        let options = options.clone();
        Box::new(move |module: &mut Module, _: &mut Rewrites| run(module, &options))
    },
    ..PassInfo::PLAIN
};

/// What a module may always grow to.
const ALWAYS: u64 = 2_000;

/// Gives every loop, branch and call its own computation; functions applied to elements stay shared. It is an error if the
/// module would become larger than the pass's default allows.
pub(crate) fn flatten_control_flow(module: &mut Module) -> Result<bool, Diag> {
    let mut options = Options::defaults(INFO.options);
    options.set("applied", OptionValue::Switch(false));
    run(module, &options)
}

fn run(module: &mut Module, options: &Options) -> Result<bool, Diag> {
    let order = module.computations_post_order();
    let mut flattening = Flattening {
        limit: options.count("max-instructions"),
        growth: Growth::new(module, options.count("max-growth"), ALWAYS),
        applied: options.switch("applied"),
        keep_calls: options.switch("keep-calls"),
        namer: ComputationNamer::new(module),
        sites: HashMap::new(),
        sizes: HashMap::new(),
    };
    for &c in &order {
        flattening.note_sites(module, c);
    }
    let mut changed = false;
    for c in order {
        flattening.measure(module, c);
        changed |= flattening.flatten(module, c)?;
    }
    Ok(changed)
}

struct Flattening {
    limit: u64,
    growth: Growth,
    applied: bool,
    keep_calls: bool,
    namer: ComputationNamer,
    /// The instructions that name each computation.
    sites: HashMap<ComputationId, Vec<InstrId>>,
    /// The instructions of each computation with all that it calls, once for each place where it does.
    sizes: HashMap<ComputationId, u64>,
}

impl Flattening {
    /// True for what needs a computation of its own.
    fn is_site(&self, op: &Op) -> bool {
        self.applied
            || matches!(
                op,
                Op::Call(_)
                    | Op::While(_)
                    | Op::Conditional(_)
                    | Op::Fusion(_)
                    | Op::AsyncStart(_)
                    | Op::Scan(_)
            )
    }

    /// Notes what the instructions of a computation name.
    fn note_sites(&mut self, module: &Module, computation: ComputationId) {
        for &i in module[computation].instructions() {
            for (_, callee) in self.callees(module, i) {
                let sites = self.sites.entry(callee).or_default();
                if sites.last() != Some(&i) {
                    sites.push(i);
                }
            }
        }
    }

    /// The computations that an instruction names and should have for itself, each with its place among all. Of a `while`
    /// the body comes first, as in XLA.
    fn callees(&self, module: &Module, id: InstrId) -> Vec<(usize, ComputationId)> {
        let op = &module[id].op;
        if !self.is_site(op) {
            return Vec::new();
        }
        let mut all: Vec<_> = op.called_computations().into_iter().enumerate().collect();
        if let Op::While(_) = op {
            all.reverse();
        }
        all
    }

    /// True for a computation that may be shared.
    fn is_kept(&self, module: &Module, computation: ComputationId) -> bool {
        let sites = || self.sites.get(&computation).into_iter().flatten();
        self.keep_calls && sites().all(|&i| matches!(module[i].op, Op::Call(_)))
    }

    /// Notes how large a computation is; what it calls must have been measured.
    fn measure(&mut self, module: &Module, computation: ComputationId) {
        let list = module[computation].instructions();
        let callees = list.iter().flat_map(|&i| self.callees(module, i));
        let called = callees.map(|(_, c)| self.size(c));
        let size = called.fold(list.len() as u64, u64::saturating_add);
        self.sizes.insert(computation, size);
    }

    fn size(&self, computation: ComputationId) -> u64 {
        self.sizes.get(&computation).copied().unwrap_or(0)
    }

    /// Gives each instruction that names the computation, but the first, copies of it.
    fn flatten(&mut self, module: &mut Module, computation: ComputationId) -> Result<bool, Diag> {
        let mut sites = self.sites.get(&computation).cloned().unwrap_or_default();
        sites.sort_unstable();
        sites.dedup();
        let mut changed = false;
        for (n, site) in sites.into_iter().enumerate() {
            let named = self.callees(module, site).into_iter();
            let places: Vec<usize> =
                named.filter(|&(_, c)| c == computation).map(|(place, _)| place).collect();
            if n == 0 && places.len() <= 1 || self.is_kept(module, computation) {
                continue;
            }
            let size = self.size(computation);
            if !self.growth.allows(size.saturating_mul(places.len() as u64)) {
                continue;
            }
            if self.growth.total() > self.limit {
                return Err(too_large(module, site, self.limit));
            }
            self.give_copies(module, site, computation, &places);
            if let Some(sites) = self.sites.get_mut(&computation) {
                sites.retain(|&i| i != site);
            }
            changed = true;
        }
        Ok(changed)
    }

    /// Gives an instruction copies of a computation, with copies of all that is called there, in some of the places where
    /// it names it.
    fn give_copies(
        &mut self,
        module: &mut Module,
        site: InstrId,
        computation: ComputationId,
        places: &[usize],
    ) {
        // Only one that calls itself, which the verifier reports, has more than was measured.
        let mut left = self.size(computation).saturating_mul(places.len() as u64);
        let mut work = Vec::new();
        for &place in places {
            work.extend(self.give_copy(module, site, place, computation, &mut left));
        }
        while let Some(copy) = work.pop() {
            for i in module[copy].instructions().to_vec() {
                for (place, callee) in self.callees(module, i) {
                    if self.is_kept(module, callee) {
                        self.sites.entry(callee).or_default().push(i);
                    } else {
                        work.extend(self.give_copy(module, i, place, callee, &mut left));
                    }
                }
            }
        }
    }

    /// Gives an instruction a copy of a computation in place of the `place`-th that it names; nothing if it has more
    /// instructions than are left.
    fn give_copy(
        &mut self,
        module: &mut Module,
        site: InstrId,
        place: usize,
        computation: ComputationId,
        left: &mut u64,
    ) -> Option<ComputationId> {
        *left = left.checked_sub(module[computation].instructions().len() as u64)?;
        let name = self.namer.fresh(&format!("{}.clone", module[computation].name));
        let copy = clone_computation(module, computation, &name);
        set_callee(module.op_mut(site), place, copy);
        self.sites.insert(copy, vec![site]);
        self.sizes.insert(copy, self.size(computation));
        Some(copy)
    }
}

fn too_large(module: &Module, site: InstrId, limit: u64) -> Diag {
    Diag::error(format!(
        "with a copy of each computation for each caller the module has more than {limit} instructions"
    ))
    .with_code(code::CALL_GRAPH_SIZE)
    .at(module.span(site), "copying stopped at this call")
    .note("`flatten-call-graph{max-instructions=N}` sets the limit")
}
