//! `map-inline`: what a `map` applies to each element is applied to whole arrays.
//!
//! ```text
//! f { x = f32[] parameter(0)                       two = f32[] constant(2)
//!     two = f32[] constant(2)                      twos = f32[8] broadcast(two), dimensions={}
//!     ROOT m = f32[] multiply(x, two) }       →    ROOT m = f32[8] multiply(y, twos)
//! ROOT m = f32[8] map(y), to_apply=f
//! ```
//!
//! It is done if the function consists of elementwise operations on scalars, constants and its parameters, and the
//! arrays are static and lie in memory the same way.

use crate::PassInfo;
use crate::support::constants::literal;
use crate::support::effects::has_control_dependencies;
use crate::support::rewrite::{Cx, Pattern, broadcast_op, same_layout};
use hlo_ir::attr::ResultAccuracy;
use hlo_ir::{ComputationId, Family, InstrId, Module, Op, Opcode, Shape};
use std::collections::HashMap;

/// The registry's entry.
pub static INFO: PassInfo = PassInfo {
    name: "map-inline",
    summary: "apply to whole arrays what a map applies to each element",
    example: "\
HloModule map_inline

twice {
  x = f32[] parameter(0)
  two = f32[] constant(2)
  ROOT m = f32[] multiply(x, two)
}

ENTRY e {
  y = f32[8] parameter(0)
  ROOT m = f32[8] map(y), dimensions={0}, to_apply=twice
}
",
    patterns: &[PATTERNS],
    ..PassInfo::PLAIN
};

static PATTERNS: &[Pattern] = &[Pattern::new(
    "inline-map",
    "map(x, …) of a function of elementwise operations → these operations on x, …",
    &[Opcode::Map],
    inline_map,
)];

fn inline_map(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Map(a) = &cx.module[id].op else { return None };
    let function = a.to_apply;
    let shape = cx.array(id)?;
    let whole = Shape::Array(shape.clone());
    let operands = cx.module[id].operands.clone();
    let agree = |&o: &InstrId| cx.array(o).is_some() && same_layout(&cx.module[o].shape, &whole);
    if !operands.iter().all(agree) || !is_elementwise(cx.module, function) {
        return None;
    }
    let mut values: HashMap<InstrId, InstrId> = HashMap::new();
    for i in cx.module.post_order(function) {
        let element_type = cx.element_type(i)?;
        let wide = shape.with_element_type(element_type);
        let (op, scalar) = (cx.module[i].op.clone(), cx.module[i].shape.clone());
        let value = match &op {
            Op::Parameter(p) => *operands.get(usize::try_from(p.number).ok()?)?,
            Op::Constant(_) => {
                let constant = cx.add(scalar, op, &[]);
                match shape.rank() {
                    0 => constant,
                    _ => cx.add(wide, broadcast_op([]), &[constant]),
                }
            }
            _ => {
                let inner = cx.module[i].operands.clone();
                let inner: Option<Vec<InstrId>> = inner.iter().map(|o| values.get(o).copied()).collect();
                let new = cx.add(wide, op, &inner?);
                let accuracy = cx.module[i].common.as_deref().map(|c| c.result_accuracy);
                if let Some(accuracy) = accuracy.filter(|a| *a != ResultAccuracy::Default) {
                    cx.module.common_mut(new).result_accuracy = accuracy;
                }
                new
            }
        };
        values.insert(i, value);
    }
    values.get(&cx.module[function].root()).copied()
}

/// True if a function is made of elementwise operations on scalars, constants and parameters.
fn is_elementwise(module: &Module, function: ComputationId) -> bool {
    let simple = |&i: &InstrId| {
        let scalar = module[i].shape.is_scalar();
        scalar
            && match module[i].op {
                Op::Parameter(_) => true,
                Op::Constant(_) => literal(module, i).is_some(),
                _ => module[i].opcode().family() == Family::Elementwise,
            }
    };
    module.has_root(function)
        && module[function].instructions().iter().all(simple)
        && !has_control_dependencies(module, function)
}
