//! `map-inline`: replaces a `map` by operations on whole arrays.
//!
//! ```text
//! f { x = f32[] parameter(0)                       two = f32[] constant(2)
//!     two = f32[] constant(2)                      twos = f32[8] broadcast(two), dimensions={}
//!     ROOT m = f32[] multiply(x, two) }       →    ROOT m = f32[8] multiply(y, twos)
//! ROOT m = f32[8] map(y), to_apply=f
//! ```
//!
//! The arrays must be static and have the same layout. The function may contain only parameters, constants,
//! and elementwise operations and maps of scalars. A map in the function becomes a map of arrays, which is
//! then inlined too. Each function of a chain is therefore copied only once, not into every function that
//! calls it.

use crate::pass_info::PassInfo;
use crate::rewrites::Rewrites;
use crate::support::constants::literal;
use crate::support::effects::has_control_dependencies;
use crate::support::rewrite::{Cx, Pattern, apply_patterns_in, same_layout};
use hlo_ir::attr::{MapAttrs, ResultAccuracy};
use hlo_ir::{ComputationId, InstrId, Module, Op, Opcode, Shape};
use std::collections::{HashMap, HashSet};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "map-inline",
    summary: "replace maps by operations on whole arrays",
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
    build: |_, _| Box::new(|module: &mut Module, rewrites: &mut Rewrites| Ok(run(module, rewrites))),
    ..PassInfo::PLAIN
};

static PATTERNS: &[Pattern] = &[Pattern::new(
    "inline-map",
    "map(x, …) with elementwise operations only → the same operations on x, …",
    &[Opcode::Map],
    inline_map,
)];

/// Maximum number of instructions of a function, including the functions that it maps. Larger functions are
/// not inlined, because each use copies them.
const MAX_SIZE: usize = 20_000;

fn run(module: &mut Module, rewrites: &mut Rewrites) -> bool {
    let maps = |c: ComputationId| module[c].instructions().iter().filter_map(|&i| applied(module, i));
    let functions: HashSet<ComputationId> = module.computations().flat_map(maps).collect();
    let patterns: Vec<&Pattern> = PATTERNS.iter().collect();
    apply_patterns_in(module, &patterns, rewrites, |c| !functions.contains(&c))
}

/// Returns the function that a map applies.
fn applied(module: &Module, id: InstrId) -> Option<ComputationId> {
    match &module[id].op {
        Op::Map(a) => Some(a.to_apply),
        _ => None,
    }
}

/// Checks whether a function and the functions that it maps are within the size limit.
fn is_small(module: &Module, function: ComputationId) -> bool {
    let (mut size, mut open) = (0, vec![function]);
    while let Some(c) = open.pop() {
        let instructions = module[c].instructions();
        size += instructions.len();
        if size > MAX_SIZE {
            return false;
        }
        open.extend(instructions.iter().filter_map(|&i| applied(module, i)));
    }
    true
}

fn inline_map(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Map(a) = &cx.module[id].op else { return None };
    let function = a.to_apply;
    let shape = cx.array(id)?;
    let whole = Shape::Array(shape.clone());
    let operands = cx.module[id].operands.clone();
    let agree = |&o: &InstrId| cx.array(o).is_some() && same_layout(&cx.module[o].shape, &whole);
    if !operands.iter().all(agree) || !is_elementwise(cx.module, function) || !is_small(cx.module, function) {
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
                    _ => cx.add(wide, Op::broadcast([]), &[constant]),
                }
            }
            _ => {
                let inner = cx.module[i].operands.clone();
                let inner: Option<Vec<InstrId>> = inner.iter().map(|o| values.get(o).copied()).collect();
                let op = match op {
                    Op::Map(a) => Op::Map(MapAttrs { dimensions: (0..shape.rank() as i64).collect(), ..a }),
                    op => op,
                };
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

/// Checks whether a function contains only parameters, constants, and elementwise operations and maps of
/// scalars.
fn is_elementwise(module: &Module, function: ComputationId) -> bool {
    let simple = |&i: &InstrId| {
        let scalar = module[i].shape.is_scalar();
        scalar
            && match module[i].op {
                Op::Parameter(_) => true,
                Op::Map(_) => module[i].operands.iter().all(|&o| module[o].shape.is_scalar()),
                Op::Constant(_) => literal(module, i).is_some(),
                _ => module[i].opcode().is_pointwise(),
            }
    };
    module.has_root(function)
        && module[function].instructions().iter().all(simple)
        && !has_control_dependencies(module, function)
}
