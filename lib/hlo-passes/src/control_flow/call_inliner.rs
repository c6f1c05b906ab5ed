//! `call-inliner`: puts the body of the called computation in place of each `call`.
//!
//! ```text
//! f { p = f32[] parameter(0)
//!     ROOT n = f32[] negate(p) }         ENTRY e { x = f32[] parameter(0)
//! ENTRY e { x = f32[] parameter(0)   →             ROOT n = f32[] negate(x) }
//!           ROOT c = f32[] call(x), to_apply=f }
//! ```
//!
//! Calls with control dependencies, of computations on another thread, or marked `inlineable="false"` or `"xla_late"` in
//! their frontend attributes stay, and those that would make the module much larger. The bodies are left for `dce`.
//!
//! What is inlined has the call's `op_name` before its own, and its origin before its own (`origin={{"call/n"}}`); without an
//! origin of the call it is not known any more what the values were.

use crate::support::clone::{ComputationNamer, inline_at, inlined_size};
use crate::support::effects::{control_dependent, has_control_dependencies};
use crate::support::expander::added_since;
use crate::support::growth::Growth;
use crate::support::places::Places;
use crate::support::provenance::CallSite;
use crate::{OptionInfo, OptionValue, PassInfo, Rewrites};
use hlo_ir::{ComputationId, InstrId, Module, Op};
use std::collections::{HashMap, HashSet};

/// The registry's entry.
pub static INFO: PassInfo = PassInfo {
    name: "call-inliner",
    summary: "put the called computation in place of each call",
    options: &[
        OptionInfo {
            name: "max-instructions",
            summary: "calls that would make the module larger than this stay",
            default: OptionValue::Count(1_000_000),
        },
        OptionInfo {
            name: "max-growth",
            summary: "calls that would make the module so many times larger, and larger than 20,000 instructions, stay; 0: no bound",
            default: OptionValue::Count(8),
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
        let (limit, times) = (options.count("max-instructions"), options.count("max-growth"));
        Box::new(move |module: &mut Module, rewrites: &mut Rewrites| Ok(run(module, limit, times, rewrites)))
    },
    ..PassInfo::PLAIN
};

/// What a module may always grow to.
const ALWAYS: u64 = 20_000;

fn run(module: &mut Module, limit: u64, times: u64, rewrites: &mut Rewrites) -> bool {
    let pinned = control_dependent(module);
    let mut growth = Growth::new(module, times, ALWAYS);
    let mut namer = ComputationNamer::new(module);
    let mut inlined = Vec::new();
    // What is called by those that are done: how large it is, and whether it has an order of its own.
    let mut callees: HashMap<ComputationId, (u64, bool)> = HashMap::new();
    // Callees come first: what is copied has no calls any more.
    for c in module.computations_post_order() {
        let mut here: HashSet<InstrId> = HashSet::new();
        let mut places = Places::default();
        for call in module.post_order(c) {
            let Some(callee) = inlineable_callee(module, call).filter(|_| !pinned.contains(&call)) else {
                continue;
            };
            let &mut (size, is_ordered) = callees
                .entry(callee)
                .or_insert_with(|| (inlined_size(module, callee), has_control_dependencies(module, callee)));
            // Inlined instructions have no control predecessors in the caller's order.
            if !rewrites.allowed() || growth.total().saturating_add(size) > limit || is_ordered {
                continue;
            }
            if !growth.allows(size) {
                continue;
            }
            let arguments = module[call].operands.to_vec();
            let (site, first) = (CallSite::of(module, call), module.instruction_capacity());
            let value =
                places.at(module, call, |module| inline_at(module, &mut namer, call, callee, &arguments));
            let Some(value) = value else { continue };
            let copies = added_since(module, c, first);
            site.apply(module, &copies);
            rewrites.made("inline", &module[call].name);
            module.replace_all_uses_with(call, value);
            here.insert(call);
        }
        places.arrange(module, c);
        // Removed before the callers copy this computation.
        let gone: Vec<InstrId> =
            module[c].instructions().iter().copied().filter(|i| here.contains(i)).collect();
        module.remove_all(&gone);
        inlined.extend(gone);
    }
    !inlined.is_empty()
}

fn inlineable_callee(module: &Module, id: InstrId) -> Option<ComputationId> {
    let Op::Call(a) = &module[id].op else { return None };
    let caller = module[id].parent;
    let inlineable = module[id].common.as_deref().and_then(|c| c.frontend_attributes.get("inlineable"));
    let refused = inlineable.is_some_and(|value| *value == "false" || *value == "xla_late");
    let same_thread = module[a.to_apply].execution_thread == module[caller].execution_thread;
    (a.to_apply != caller && same_thread && !refused).then_some(a.to_apply)
}
