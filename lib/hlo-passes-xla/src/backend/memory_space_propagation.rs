//! `memory-space-propagation`: gives values inside a fusion the memory spaces of the fusion's operands and
//! results.
//!
//! ```text
//! f { p = f32[4] parameter(0)                f { p = f32[4]{0:S(1)} parameter(0)
//!     ROOT n = f32[4] negate(p) }       →        ROOT n = f32[4] negate(p) }
//! a = f32[4]{0:S(1)} copy(x)                 a = f32[4]{0:S(1)} copy(x)
//! r = f32[4] fusion(a), calls=f              r = f32[4] fusion(a), calls=f
//! ```
//!
//! The pass copies the memory space (`S(1)`) and the split of the layout (`SC(0:8)`) of each operand to its
//! parameter. It copies those of each result to the instruction that computes the result. It propagates them
//! through tuples and their elements, to the array that a `dynamic-update-slice` updates, and into and out of
//! nested fusions. It does not change other parts of layouts. Memory is assigned after layouts and fusion,
//! and only to values outside fusions.

use hlo_ir::diag::Diag;
use hlo_ir::{ArrayShape, ComputationId, InstrId, Layout, Module, Op, Shape, SplitConfig};
use hlo_passes::support::fusions::fused_computations;
use hlo_passes::{PassInfo, Rewrites};
use std::collections::{HashMap, HashSet};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "memory-space-propagation",
    summary: "copy the memory spaces of a fusion's operands and results to the values inside",
    example: "\
HloModule memory_space_propagation

f {
  p = f32[4] parameter(0)
  ROOT n = f32[4] negate(p)
}

ENTRY e {
  x = f32[4] parameter(0)
  a = f32[4]{0:S(1)} copy(x)
  ROOT r = f32[4] fusion(a), kind=kLoop, calls=f
}
",
    build: |_, _| Box::new(run),
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, _: &mut Rewrites) -> Result<bool, Diag> {
    let mut fusions = HashMap::new();
    for c in module.computations() {
        for &i in module[c].instructions() {
            if let Op::Fusion(a) = &module[i].op {
                fusions.insert(a.calls, i);
            }
        }
    }
    let fused = fused_computations(module);
    let mut outer: Vec<(InstrId, ComputationId)> =
        fusions.iter().map(|(&c, &i)| (i, c)).filter(|&(i, _)| !fused.contains(&module[i].parent)).collect();
    outer.sort_unstable();
    let mut spread = Propagation { fusions, changed: false };
    for (fusion, body) in outer {
        let operands = module[fusion].operands.to_vec();
        for (parameter, operand) in module.parameters(body).into_iter().zip(operands) {
            spread.all(module, operand, parameter);
        }
        spread.all(module, fusion, module[body].root());
    }
    Ok(spread.changed)
}

/// A part of an instruction's value, given by the indices of nested tuple elements, outermost first.
type Part = (InstrId, Vec<usize>);

/// The memory space and the splits of an array.
type Memory = (i32, Vec<SplitConfig>);

struct Propagation {
    /// The fusion that contains each computation.
    fusions: HashMap<ComputationId, InstrId>,
    changed: bool,
}

impl Propagation {
    /// Copies the memory of the arrays of `outside` to those of `inside`, which has the same shape.
    fn all(&mut self, module: &mut Module, outside: InstrId, inside: InstrId) {
        for (index, array) in arrays(&module[outside].shape) {
            let memory = memory(&array);
            self.one(module, (inside, index), &memory);
        }
    }

    /// Sets the memory of an array, of all values that it is passed on as, and of all values that must share
    /// its memory.
    fn one(&mut self, module: &mut Module, part: Part, memory: &Memory) {
        let mut seen = HashSet::new();
        let mut work = vec![definition(module, part)];
        while let Some(part) = work.pop() {
            if !seen.insert(part.clone()) {
                continue;
            }
            let (id, index) = &part;
            self.set(module, &part, memory);
            // The parts that it becomes where it is used.
            for &user in module.users(*id) {
                let places = module[user].operands.iter().enumerate().filter(|(_, o)| *o == id);
                for (n, _) in places {
                    match &module[user].op {
                        Op::Tuple => {
                            let mut index = index.clone();
                            index.insert(0, n);
                            work.push((user, index));
                        }
                        Op::GetTupleElement(a) if index.first().is_some_and(|&i| i as i64 == a.index) => {
                            work.push((user, index[1..].to_vec()));
                        }
                        Op::Fusion(a) => {
                            let parameter = module.parameters(a.calls).get(n).copied();
                            work.extend(parameter.map(|p| (p, index.clone())));
                        }
                        _ => {}
                    }
                }
            }
            work.extend(self.beside(module, &part).map(|part| definition(module, part)));
        }
    }

    /// Returns another value that must be in the same memory as a part.
    fn beside(&self, module: &Module, (id, index): &Part) -> Option<Part> {
        let body = module[*id].parent;
        let around = self.fusions.get(&body).filter(|&&f| self.fusions.contains_key(&module[f].parent));
        let other = match (&module[*id].op, around) {
            (Op::DynamicUpdateSlice, _) => module[*id].operands.first().copied(),
            (Op::Fusion(a), _) => Some(module[a.calls].root()),
            (Op::Parameter(p), Some(&fusion)) => {
                usize::try_from(p.number).ok().and_then(|n| module[fusion].operands.get(n).copied())
            }
            (_, Some(&fusion)) if module.is_root(*id) => Some(fusion),
            _ => None,
        };
        other.map(|other| (other, index.clone()))
    }

    fn set(&mut self, module: &mut Module, (id, index): &Part, to: &Memory) {
        let mut shape = module[*id].shape.clone();
        let Some(array) = part_mut(&mut shape, index) else { return };
        if memory(array) == *to {
            return;
        }
        let layout = array.layout.clone().unwrap_or_else(|| Layout::row_major(array.rank()));
        let mut items = layout.items().cloned().unwrap_or_default();
        (items.memory_space, items.split_configs) = to.clone();
        *array = array.clone().with_layout(layout.with_items(items));
        module.set_shape(*id, shape);
        self.changed = true;
    }
}

/// Returns the part that defines a part, looking through tuples and their elements.
fn definition(module: &Module, (mut id, mut index): Part) -> Part {
    loop {
        let operands = &module[id].operands;
        let below = match &module[id].op {
            Op::Tuple if !index.is_empty() => operands.get(index[0]).copied(),
            Op::GetTupleElement(_) => operands.first().copied(),
            _ => None,
        };
        match (below, &module[id].op) {
            (Some(below), Op::GetTupleElement(a)) => {
                let Ok(element) = usize::try_from(a.index) else { return (id, index) };
                index.insert(0, element);
                id = below;
            }
            (Some(below), _) => {
                index.remove(0);
                id = below;
            }
            (None, _) => return (id, index),
        }
    }
}

fn memory(array: &ArrayShape) -> Memory {
    let splits = array.layout_items().map_or_else(Vec::new, |i| i.split_configs.clone());
    (array.memory_space(), splits)
}

/// Returns the arrays of a shape with their indices.
fn arrays(shape: &Shape) -> Vec<(Vec<usize>, ArrayShape)> {
    let mut out = Vec::new();
    let mut work = vec![(Vec::new(), shape)];
    while let Some((index, shape)) = work.pop() {
        match shape {
            Shape::Array(a) => out.push((index, a.clone())),
            Shape::Tuple(parts) => work.extend(parts.iter().enumerate().rev().map(|(n, part)| {
                let index = [&index[..], &[n]].concat();
                (index, part)
            })),
            _ => {}
        }
    }
    out
}

fn part_mut<'s>(shape: &'s mut Shape, index: &[usize]) -> Option<&'s mut ArrayShape> {
    let part = index.iter().try_fold(shape, |s, &i| match s {
        Shape::Tuple(parts) => parts.get_mut(i),
        _ => None,
    })?;
    match part {
        Shape::Array(a) => Some(a),
        _ => None,
    }
}
