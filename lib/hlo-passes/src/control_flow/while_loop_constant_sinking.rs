//! `while-loop-constant-sinking`: moves constants from a loop's state into its body.
//!
//! ```text
//! init = (s32[], f32[]) tuple(i, two)                 body { s = (s32[], f32[]) parameter(0)
//! w = (s32[], f32[]) while(init), …              →           two = f32[] constant(2)
//! body { s = (s32[], f32[]) parameter(0)                     … multiply(x, two) …
//!        two = f32[] get-tuple-element(s), index=1
//!        … multiply(x, two) … }
//! ```
//!
//! The pass applies to elements that the body does not change. The element stays in the state until
//! `simplify-while-loops` removes it. The state is not changed if it is sharded, or if the condition or body
//! uses it as a whole.

use crate::pass_info::{OptionInfo, OptionValue, PassInfo};
use crate::rewrites::Rewrites;
use crate::support::constants::literal;
use crate::support::while_loop::{CallCounts, WhileLoop, visit_loops};
use hlo_ir::build::ComputationNamer;
use hlo_ir::{InstrId, Module, Op};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "while-loop-constant-sinking",
    summary: "move constants from a loop's state into its body",
    options: &[
        OptionInfo {
            name: "broadcasts",
            summary: "whether to move broadcasts of constants too",
            default: OptionValue::Switch(false),
        },
        OptionInfo {
            name: "only-scalars",
            summary: "whether to move only constants of one element",
            default: OptionValue::Switch(false),
        },
    ],
    example: "\
HloModule while_loop_constant_sinking

condition {
  s = (f32[], f32[]) parameter(0)
  x = f32[] get-tuple-element(s), index=0
  limit = f32[] constant(1000)
  ROOT more = pred[] compare(x, limit), direction=LT
}

body {
  s = (f32[], f32[]) parameter(0)
  x = f32[] get-tuple-element(s), index=0
  factor = f32[] get-tuple-element(s), index=1
  y = f32[] multiply(x, factor)
  ROOT t = (f32[], f32[]) tuple(y, factor)
}

ENTRY e {
  x = f32[] parameter(0)
  two = f32[] constant(2)
  init = (f32[], f32[]) tuple(x, two)
  w = (f32[], f32[]) while(init), condition=condition, body=body
  ROOT r = f32[] get-tuple-element(w), index=0
}
",
    build: |_, options| {
        let settings = Settings {
            broadcasts: options.switch("broadcasts"),
            only_scalars: options.switch("only-scalars"),
        };
        Box::new(move |module: &mut Module, rewrites: &mut Rewrites| Ok(run(module, settings, rewrites)))
    },
    ..PassInfo::PLAIN
};

/// The option values.
#[derive(Clone, Copy)]
struct Settings {
    broadcasts: bool,
    only_scalars: bool,
}

impl Settings {
    /// Checks whether the value is a constant that these options allow to be sunk.
    fn take(self, module: &Module, id: InstrId) -> bool {
        let scalar = module[id].shape.is_scalar();
        match module[id].op {
            Op::Broadcast(_) => {
                let of = module[id].operands.first();
                self.broadcasts && !self.only_scalars && of.is_some_and(|&o| literal(module, o).is_some())
            }
            _ => literal(module, id).is_some() && (scalar || !self.only_scalars),
        }
    }
}

fn run(module: &mut Module, settings: Settings, rewrites: &mut Rewrites) -> bool {
    let mut namer = ComputationNamer::new(module);
    let mut counts = CallCounts::of(module);
    // Callers come first, because a constant sunk into a body can be sunk further into the loops in that
    // body.
    let order = module.computations_post_order().into_iter().rev();
    visit_loops(module, order, |module, found| {
        let reads = found.reads(module);
        let wanted: Vec<usize> = (0..found.len)
            .filter(|&e| {
                let initial = found.initial(module, e).filter(|_| found.is_invariant(module, e));
                initial.is_some_and(|i| settings.take(module, i)) && reads[e]
            })
            .collect();
        if wanted.is_empty() || !rewrites.allowed() {
            return false;
        }
        counts.make_own(module, &mut namer, found.id);
        if let Some(own) = WhileLoop::of(module, found.id) {
            own.sink_constants(module, &wanted, "sink", rewrites);
        }
        true
    })
}
