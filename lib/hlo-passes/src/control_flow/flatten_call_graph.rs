//! `flatten-call-graph`: copies computations so that each call site has its own.
//!
//! ```text
//! a = call(x), to_apply=f               a = call(x), to_apply=f
//! b = call(y), to_apply=f          →    b = call(y), to_apply=f.clone
//! ```
//!
//! The pass visits callees before callers. The first instruction that names a computation keeps it. Every
//! other instruction gets a copy of it and of all computations that it calls. An instruction that names a
//! computation several times gets one copy each time. The original is then unused, and `dce` removes it.
//!
//! Every instruction that names a computation is a call site, including `reduce`, `sort` and other
//! instructions that apply a function to elements. With `applied=false`, such functions stay shared. With
//! `keep-calls`, so do computations that only `call` instructions name. With `max-growth`, computations stay
//! shared if copies would make the module much larger.

use crate::pass_info::{OptionInfo, OptionValue, Options, PassInfo, Schedule};
use crate::rewrites::Rewrites;
use crate::rules;
use crate::support::clone::{clone_computation, set_callee};
use crate::support::growth::Growth;
use hlo_ir::build::ComputationNamer;
use hlo_ir::diag::Diag;
use hlo_ir::{ComputationId, InstrId, Module, Op};
use std::collections::HashMap;

/// The default maximum number of instructions that a module may grow to.
const DEFAULT_SIZE_LIMIT: u64 = 1_000_000;

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "flatten-call-graph",
    summary: "copy computations so that each has one call site",
    schedule: Schedule::Own,
    options: &[
        OptionInfo {
            name: "max-instructions",
            summary: "maximum number of instructions in the module",
            default: OptionValue::Count(DEFAULT_SIZE_LIMIT),
        },
        OptionInfo {
            name: "max-growth",
            summary: "maximum growth of the module as a factor, if it exceeds 2,000 instructions; computations then stay shared; 0: no limit",
            default: OptionValue::Count(0),
        },
        OptionInfo {
            name: "applied",
            summary: "whether to also copy functions that are applied to elements",
            default: OptionValue::Switch(true),
        },
        OptionInfo {
            name: "keep-calls",
            summary: "whether computations that only `call` instructions name stay shared",
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

/// Number of instructions that a module may always grow to.
const MIN_SIZE_LIMIT: u64 = 2_000;

/// Gives every loop, branch and call its own computation. Functions applied to elements stay shared. Returns
/// an error if the module would become larger than the pass's default limit.
pub(crate) fn flatten_control_flow(module: &mut Module) -> Result<bool, Diag> {
    let mut options = Options::defaults(INFO.options);
    options.set("applied", OptionValue::Switch(false));
    run(module, &options)
}

fn run(module: &mut Module, options: &Options) -> Result<bool, Diag> {
    let order = module.computations_post_order();
    let mut flattening = Flattening {
        limit: options.count("max-instructions"),
        growth: Growth::new(module, options.count("max-growth"), MIN_SIZE_LIMIT),
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
    /// The number of instructions of each computation, including the computations that it calls, counted once
    /// per call site.
    sizes: HashMap<ComputationId, u64>,
}

impl Flattening {
    /// Checks whether an operation needs its own copy of the computations that it names.
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

    /// Records the call sites in a computation.
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

    /// Returns the computations that an instruction should have for itself, each with its index among the
    /// called computations. The body of a `while` comes before its condition, as in XLA.
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

    /// Checks whether a computation may stay shared.
    fn is_kept(&self, module: &Module, computation: ComputationId) -> bool {
        let sites = || self.sites.get(&computation).into_iter().flatten();
        self.keep_calls && sites().all(|&i| matches!(module[i].op, Op::Call(_)))
    }

    /// Records the size of a computation. The computations that it calls must have been measured.
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

    /// Gives every call site of the computation except the first its own copy.
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
            self.replace_with_copies(module, site, computation, &places);
            if let Some(sites) = self.sites.get_mut(&computation) {
                sites.retain(|&i| i != site);
            }
            changed = true;
        }
        Ok(changed)
    }

    /// Replaces the references to `computation` at the given indices of an instruction by copies. All
    /// computations that it calls are copied too.
    fn replace_with_copies(
        &mut self,
        module: &mut Module,
        site: InstrId,
        computation: ComputationId,
        places: &[usize],
    ) {
        // Only a recursive computation, which the verifier rejects, can need more than the measured size.
        let mut left = self.size(computation).saturating_mul(places.len() as u64);
        let mut work = Vec::new();
        for &place in places {
            work.extend(self.replace_with_copy(module, site, place, computation, &mut left));
        }
        while let Some(copy) = work.pop() {
            for i in module[copy].instructions().to_vec() {
                for (place, callee) in self.callees(module, i) {
                    if self.is_kept(module, callee) {
                        self.sites.entry(callee).or_default().push(i);
                    } else {
                        work.extend(self.replace_with_copy(module, i, place, callee, &mut left));
                    }
                }
            }
        }
    }

    /// Copies `computation` and makes the copy the `place`-th computation that `site` names. Returns `None`
    /// if the computation has more instructions than `left`.
    fn replace_with_copy(
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
    .with_code(rules::CALL_GRAPH_SIZE)
    .at(module.span(site), "copying stopped at this call")
    .note("`flatten-call-graph{max-instructions=N}` sets the limit")
}
