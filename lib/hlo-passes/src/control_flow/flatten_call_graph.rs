//! `flatten-call-graph`: gives every call site a computation of its own, by copying.
//!
//! ```text
//! a = call(x), to_apply=f               a = call(x), to_apply=f
//! b = call(y), to_apply=f          →    b = call(y), to_apply=f.clone
//! ```
//!
//! Call sites are `call`, `while`, `conditional`, `fusion` and asynchronous starts. The small functions that
//! `reduce`, `sort`, … apply to elements may be shared. With `max-growth`, so may what would make the module much larger.

use crate::support::clone::{ComputationNamer, clone_computation, set_callee};
use crate::support::growth::Growth;
use crate::{OptionInfo, OptionValue, PassInfo, Rewrites};
use hlo_ir::diag::Diag;
use hlo_ir::rules::code;
use hlo_ir::{Module, Op};
use std::collections::HashSet;

/// The largest number of instructions that a module may grow to, unless the option says another.
pub(crate) const LIMIT: u64 = 1_000_000;

/// The registry's entry.
pub static INFO: PassInfo = PassInfo {
    name: "flatten-call-graph",
    summary: "copy computations so that each is called from one place",
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
        let (limit, times) = (options.count("max-instructions"), options.count("max-growth"));
        Box::new(move |module: &mut Module, _: &mut Rewrites| run(module, limit, times))
    },
    ..PassInfo::PLAIN
};

/// What a module may always grow to.
const ALWAYS: u64 = 2_000;

/// Gives every call site its own computation. It is an error if the module would grow past `limit` instructions; where it
/// would become more than `times` as large, computations stay shared (0: no bound).
pub(crate) fn run(module: &mut Module, limit: u64, times: u64) -> Result<bool, Diag> {
    let mut namer = ComputationNamer::new(module);
    let mut growth = Growth::new(module, times, ALWAYS);
    let mut claimed = HashSet::from([module.entry()]);
    let mut queue = vec![module.entry()];
    let mut changed = false;
    while let Some(c) = queue.pop() {
        for i in module.post_order(c) {
            if !is_call_site(&module[i].op) {
                continue;
            }
            for (n, callee) in module[i].op.called_computations().into_iter().enumerate() {
                let own = if claimed.insert(callee) {
                    callee
                } else {
                    if !growth.allows(module[callee].instructions().len() as u64) {
                        continue;
                    }
                    if growth.total() > limit {
                        return Err(too_large(module, i, limit));
                    }
                    let name = namer.fresh(&format!("{}.clone", module[callee].name));
                    let copy = clone_computation(module, callee, &name);
                    set_callee(module.op_mut(i), n, copy);
                    claimed.insert(copy);
                    changed = true;
                    copy
                };
                queue.push(own);
            }
        }
    }
    Ok(changed)
}

fn too_large(module: &Module, site: hlo_ir::InstrId, limit: u64) -> Diag {
    Diag::error(format!(
        "with a copy of each computation for each caller the module has more than {limit} instructions"
    ))
    .with_code(code::CALL_GRAPH_SIZE)
    .at(module.span(site), "copying stopped at this call")
    .note("`flatten-call-graph{max-instructions=N}` sets the limit")
}

fn is_call_site(op: &Op) -> bool {
    matches!(
        op,
        Op::Call(_) | Op::While(_) | Op::Conditional(_) | Op::Fusion(_) | Op::AsyncStart(_) | Op::Scan(_)
    )
}
