//! `call-inliner`: replaces each `call` by the body of the called computation.
//!
//! ```text
//! f { p = f32[] parameter(0)
//!     ROOT n = f32[] negate(p) }         ENTRY e { x = f32[] parameter(0)
//! ENTRY e { x = f32[] parameter(0)   →             ROOT n = f32[] negate(x) }
//!           ROOT c = f32[] call(x), to_apply=f }
//! ```
//!
//! The pass keeps these calls:
//! - calls with a `backend_config`;
//! - calls of a computation of another execution thread;
//! - calls in a computation that an asynchronous operation wraps;
//! - calls marked `inlineable="false"` or `"xla_late"` in their frontend attributes;
//! - calls that would make the module much larger;
//! - with `single-call-site`, calls of computations that several instructions call, unless the call is marked
//!   `inlineable="true"` or `"xla_early"`;
//! - with `keep-composites`, calls with `is_composite=true`.
//!
//! The inlined instructions wait for the call's `control-predecessors`. Instructions that waited for the call
//! then wait for its result and for the effects in the body. The call's `op_name` and origin are prepended to
//! those of the inlined instructions (`origin={{"call/n"}}`), and the call's stack frame encloses theirs. If
//! the call has no origin, the inlined instructions lose theirs. Names and stack frames also change in the
//! bodies of loops and the branches of conditionals, but origins do not. Instructions that can be fused
//! inherit the call's attributes `MUST_FUSE` or `MAXIMAL_FUSE`, and `mosaic_fusion_group`. The pass removes
//! computations that are no longer called.

use crate::pass_info::{OptionInfo, OptionValue, Options, PassInfo, Schedule};
use crate::rewrites::Rewrites;
use crate::simplification::dce;
use crate::support::clone::{inline_at, inlined_size};
use crate::support::control::{carry_control, control_successors};
use crate::support::effects::Effects;
use crate::support::expander::added_since;
use crate::support::growth::Growth;
use crate::support::places::Places;
use crate::support::provenance::{CallSite, CallSites};
use hlo_ir::build::ComputationNamer;
use hlo_ir::{ComputationId, InstrId, Module, Op};
use std::collections::{HashMap, HashSet};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "call-inliner",
    summary: "replace each call by the body of the called computation",
    schedule: Schedule::Own,
    options: &[
        OptionInfo {
            name: "max-instructions",
            summary: "maximum number of instructions in the module; calls that would exceed it are kept",
            default: OptionValue::Count(1_000_000),
        },
        OptionInfo {
            name: "max-growth",
            summary: "maximum growth of the module as a factor, if it exceeds 20,000 instructions; 0: no limit",
            default: OptionValue::Count(8),
        },
        OptionInfo {
            name: "single-call-site",
            summary: "whether to inline only computations with one call site",
            default: OptionValue::Switch(false),
        },
        OptionInfo {
            name: "keep-composites",
            summary: "whether to keep calls with `is_composite=true`",
            default: OptionValue::Switch(false),
        },
    ],
    example: "\
HloModule call_inliner

f {
  p = f32[] parameter(0)
  ROOT n = f32[] negate(p)
}

ENTRY e {
  x = f32[] parameter(0)
  ROOT c = f32[] call(x), to_apply=f
}
",
    build: |_, options| {
        let options = options.clone();
        Box::new(move |module: &mut Module, rewrites: &mut Rewrites| Ok(run(module, &options, rewrites)))
    },
    ..PassInfo::PLAIN
};

/// Number of instructions that a module may always grow to.
const MIN_SIZE_LIMIT: u64 = 20_000;

fn run(module: &mut Module, options: &Options, rewrites: &mut Rewrites) -> bool {
    let limit = options.count("max-instructions");
    let candidates = Candidates::of(module, options);
    let effects = Effects::of(module);
    let mut growth = Growth::new(module, options.count("max-growth"), MIN_SIZE_LIMIT);
    let mut namer = ComputationNamer::new(module);
    let mut sites = CallSites::of(module);
    // The size of each inlined callee, including the computations that it calls.
    let mut sizes: HashMap<ComputationId, u64> = HashMap::new();
    let mut inlined = Vec::new();
    // Callees come first, so that the copied bodies contain no calls that are still to be inlined.
    for c in module.computations_post_order() {
        let mut here = Vec::new();
        let mut places = Places::default();
        let mut waiting = control_successors(module, c);
        for call in module.post_order(c) {
            let Some(callee) = candidates.callee(module, call) else { continue };
            let size = *sizes.entry(callee).or_insert_with(|| inlined_size(module, callee));
            // Each copied instruction gets all control predecessors of the call.
            let edges = size.saturating_mul(module[call].control_predecessors().len() as u64);
            let size = size.saturating_add(edges);
            if !rewrites.allowed() || growth.total().saturating_add(size) > limit || !growth.allows(size) {
                continue;
            }
            let arguments = module[call].operands.to_vec();
            let first = module.instruction_capacity();
            let value =
                places.at(module, call, |module| inline_at(module, &mut namer, call, callee, &arguments));
            let Some(value) = value else { continue };
            let copies = added_since(module, c, first);
            sites.apply(module, &CallSite::of(module, call), callee, &copies);
            let effects = effects.any(callee);
            carry_control(module, call, value, &copies, effects, waiting.remove(&call).unwrap_or_default());
            rewrites.made("inline", &module[call].name);
            module.replace_all_uses_with(call, value);
            here.push(call);
        }
        places.arrange(module, c);
        // Remove the calls before the callers copy this computation.
        module.remove_all(&here);
        inlined.extend(here);
    }
    if !inlined.is_empty() {
        dce::remove_unneeded(module);
    }
    !inlined.is_empty()
}

/// The calls that the pass may inline, regardless of their size.
struct Candidates {
    keep_composites: bool,
    /// The computations that asynchronous operations wrap.
    wrapped: HashSet<ComputationId>,
    /// The computations that several instructions call, if `single-call-site` is set.
    shared: HashSet<ComputationId>,
}

impl Candidates {
    fn of(module: &Module, options: &Options) -> Self {
        let callers = module.callers();
        let which = |wanted: &dyn Fn(&[InstrId]) -> bool| {
            callers.iter().filter(|(_, sites)| wanted(sites)).map(|(&c, _)| c).collect()
        };
        let single = options.switch("single-call-site");
        Self {
            keep_composites: options.switch("keep-composites"),
            wrapped: which(&|sites| sites.iter().any(|&i| matches!(module[i].op, Op::AsyncStart(_)))),
            shared: which(&|sites| single && sites.len() > 1),
        }
    }

    /// Returns the computation that an instruction calls, if the pass may inline that call.
    fn callee(&self, module: &Module, id: InstrId) -> Option<ComputationId> {
        let Op::Call(a) = &module[id].op else { return None };
        let (caller, callee) = (module[id].parent, a.to_apply);
        let common = module[id].common.as_deref();
        let policy = common.and_then(|c| c.frontend_attributes.get("inlineable"));
        let refused = policy.is_some_and(|p| *p == "false" || *p == "xla_late");
        let early = policy.is_some_and(|p| *p == "true" || *p == "xla_early");
        let stays = refused
            || callee == caller
            || module[callee].execution_thread != module[caller].execution_thread
            || common.is_some_and(|c| !c.backend_config.is_empty())
            || self.wrapped.contains(&caller)
            || self.keep_composites && a.is_composite
            || self.shared.contains(&callee) && !early;
        (!stays).then_some(callee)
    }
}
