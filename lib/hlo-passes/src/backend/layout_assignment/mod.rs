//! `layout-assignment`: decides the order of the dimensions of each array in memory.
//!
//! ```text
//! ENTRY e { x = f32[4,8]{0,1} parameter(0)          ENTRY e { x = f32[4,8]{0,1} parameter(0)
//!           y = f32[4,8] parameter(1)                         y = f32[4,8] parameter(1)
//!           n = f32[4,8] negate(x)             →              n = f32[4,8]{0,1} negate(x)
//!           ROOT s = f32[4,8] add(n, y) }                     c = f32[4,8] copy(n)
//!                                                             ROOT s = f32[4,8] add(c, y) }
//! ```
//!
//! The pass recomputes all layouts inside the module and ignores the existing ones. It follows these rules:
//!
//! - The entry's parameters and result have the layouts of `entry_computation_layout`. A custom call gets its
//!   operands in the layouts of `operand_layout_constraints`, or row-major, and keeps the layouts of its
//!   results. Bitcasts, transfers, collectives, asynchronous operations and custom fusions keep the layouts
//!   of operands and results. So do arrays whose layout contains more than an order (tiles, element size,
//!   memory space).
//! - Elementwise operations, and operations that read or combine parts of arrays, use one order for all their
//!   arrays. Loops, branches, calls and fusions have the same layouts in the caller and the callee.
//! - Transposes, broadcasts, reshapes and reductions relate the order of the operand to that of the result.
//!   With related orders, they read both arrays in memory order or move no data. These relations decide an
//!   order if no other rule does.
//! - All other operations (products, sorts, gathers, …) are row-major, and so are arrays without constraints.
//!
//! If two of these rules conflict, the pass inserts a copy. It inserts none if the orders differ only in
//! dimensions of size 1, because no data would move. Tuples, calls, and operations that keep their layouts
//! also require the same order of these dimensions, which a bitcast can provide. The pass avoids the most
//! expensive copies first: arrays between which the most bytes would be copied get a common order first. A
//! `copy` in the program may change the order.
//!
//! Results do not depend on layouts: every bit stays the same. XLA's CPU backend also makes constants
//! column-major if they are the right operand of a product. This pass has no such exceptions.

mod entry;
pub(crate) mod orders;
mod places;
pub(crate) mod solve;

use crate::pass_info::PassInfo;
use crate::rewrites::Rewrites;
use crate::support::clone::clone_instruction;
use crate::support::effects::control_dependent;
use crate::support::layouts::{relaid_array, relaid_by};
pub use entry::choose_result_layouts;
use hlo_ir::diag::Diag;
use hlo_ir::{ArrayShape, InstrId, Layout, LayoutItems, Module, Op, Shape};
use orders::{Order, order_of, same_in_memory};
use places::{Place, Places, is_recomputable};
use solve::Slot;
use std::collections::HashSet;

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "layout-assignment",
    summary: "choose the layouts inside the module from those of the entry and of custom calls",
    example: "\
HloModule layout_assignment

ENTRY e {
  x = f32[4,8]{0,1} parameter(0)
  y = f32[4,8] parameter(1)
  n = f32[4,8] negate(x)
  ROOT s = f32[4,8] add(n, y)
}
",
    build: |_, _| Box::new(run),
    ..PassInfo::PLAIN
};

/// Maximum number of rounds. A round that removes tuples is followed by another, because the constraints from
/// their layouts are gone.
const MAX_ROUNDS: usize = 8;

fn run(module: &mut Module, rewrites: &mut Rewrites) -> Result<bool, Diag> {
    let mut changed = false;
    for _ in 0..MAX_ROUNDS {
        let round = assign(module, rewrites);
        changed |= round != Round::Nothing;
        if round != Round::TookApart {
            break;
        }
    }
    Ok(changed)
}

/// The result of one round.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Round {
    Nothing,
    Changed,
    /// The round also removed tuples whose layouts contained more than an order, which other values had
    /// followed.
    TookApart,
}

/// Runs one round over a module. Each value gets its layout together with the copies for uses that need
/// another one.
fn assign(module: &mut Module, rewrites: &mut Rewrites) -> Round {
    let mut places = Places::of(module);
    places.orders.solve();
    let mut copied = Vec::new();
    let mut changed = false;
    for (id, first) in places.results() {
        if !rewrites.allowed() {
            break;
        }
        let set = set_layout(module, &mut places, id, first);
        let copies = add_copies(module, &mut places, id, first);
        if copies {
            copied.push(id);
        }
        if set || copies {
            changed = true;
            rewrites.made(if copies { "copy" } else { "layout" }, &module[id].name);
        }
    }
    match (changed, remove_tuples(module, &copied)) {
        (false, _) => Round::Nothing,
        (true, true) => Round::TookApart,
        (true, false) => Round::Changed,
    }
}

/// Sets the layout of a value to the decided one, except for arrays whose layouts contain more than an order.
fn set_layout(module: &mut Module, places: &mut Places, id: InstrId, first: Slot) -> bool {
    let mut next = first;
    let shape = with_layouts(&module[id].shape, &mut |array| {
        let slot = next;
        next += 1;
        let own = array?;
        own.layout_items().is_none().then(|| Layout::new(places.orders.order(slot)))
    });
    let changed = shape != module[id].shape;
    if changed {
        module.set_shape(id, shape);
    }
    changed
}

/// Returns the shape with other layouts. `layout` is called for each leaf, and `None` keeps the leaf's
/// layout.
fn with_layouts(shape: &Shape, layout: &mut impl FnMut(Option<&ArrayShape>) -> Option<Layout>) -> Shape {
    match shape {
        Shape::Tuple(elements) => Shape::Tuple(elements.iter().map(|e| with_layouts(e, layout)).collect()),
        leaf => match (layout(leaf.as_array()), leaf) {
            (Some(layout), Shape::Array(a)) => Shape::Array(a.clone().with_layout(layout)),
            _ => leaf.clone(),
        },
    }
}

/// Inserts copies for the uses of a value that need another layout. Uses that need the same layout share a
/// copy.
fn add_copies(module: &mut Module, places: &mut Places, value: InstrId, first: Slot) -> bool {
    let mut copies: Vec<(Shape, InstrId)> = Vec::new();
    for (place, slot) in places.take_uses(value) {
        let Some(shape) = asked_shape(module, places, (value, first), (place, slot)) else { continue };
        let copy = match copies.iter().find(|(known, _)| *known == shape) {
            Some((_, copy)) => *copy,
            None => {
                let copy = relaid_by(module, value, &shape, &in_layout);
                copies.push((shape, copy));
                copy
            }
        };
        match place {
            Place::Operand(user, n) => module.replace_operand(user, n, copy),
            Place::Root(computation) => module.set_root(computation, copy),
        }
    }
    !copies.is_empty()
}

/// Returns the shape that a value must have at a use, or `None` if its own shape is suitable. At uses without
/// exact layouts, the order of dimensions of size 1 does not matter.
fn asked_shape(
    module: &Module,
    places: &mut Places,
    (value, first): (InstrId, Slot),
    (place, slot): (Place, Slot),
) -> Option<Shape> {
    let is_exact = place.is_exact(module);
    // Only the entry's result requires a complete layout.
    let stated = match place {
        Place::Root(c) if c == module.entry() => module.entry_layout().map(|l| l.into_owned().result),
        _ => None,
    };
    let stated: Vec<&Shape> = stated.iter().flat_map(Shape::leaves).collect();
    let (mut leaf, mut differs) = (0, false);
    let shape = with_layouts(&module[value].shape, &mut |array| {
        let n = leaf;
        leaf += 1;
        let array = array?;
        let have = places.orders.order(first + n);
        let stated = stated.get(n).and_then(|s| s.as_array());
        let exact = is_exact && (array.is_static() || stated.is_some());
        // A dimension of size 1 at the use may be larger in this value, for example in the operand of a
        // slice.
        let want = if exact { places.orders.order(slot + n) } else { places.orders.group_order(slot + n) };
        if have == want || have.len() != want.len() {
            return None;
        }
        let stated = stated.filter(|a| order_of(a) == want);
        let layout = match stated {
            Some(stated) => stated.layout.clone().unwrap_or_else(|| Layout::new(want.clone())),
            None => reordered(array, want.clone()),
        };
        // If a bitcast cannot produce the layout, the value's own layout is accepted.
        let matters = exact && (stated.is_some() || layout.items() == array.layout_items());
        if !matters && same_in_memory(&array.dims, &have, &want) {
            return None;
        }
        differs = true;
        Some(layout)
    });
    differs.then_some(shape)
}

/// Returns the layout of a copy of an array. Apart from the order, the copy keeps only the element size.
fn reordered(array: &ArrayShape, order: Order) -> Layout {
    let element_size_bits = array.layout.as_ref().and_then(Layout::element_size_bits).unwrap_or(0);
    Layout::new(order).with_items(LayoutItems { element_size_bits, ..LayoutItems::default() })
}

/// Returns an array in another layout. If only dimensions of size 1 move, this is a bitcast. Constants, iotas
/// and broadcasts of scalars are computed again. All other arrays are copied.
fn in_layout(module: &mut Module, id: InstrId, asked: &Shape) -> InstrId {
    let renamed = match (module[id].shape.as_array(), asked.as_array()) {
        (Some(own), Some(asked)) => {
            own.is_static()
                && own.layout_items() == asked.layout_items()
                && same_in_memory(&own.dims, &order_of(own), &order_of(asked))
        }
        _ => false,
    };
    if renamed {
        return relaid_array(module, id, asked, Op::Bitcast);
    }
    if !is_recomputable(module, id) {
        return relaid_array(module, id, asked, Op::Copy);
    }
    let name = module.unique_name(&module[id].name.clone());
    let operands = module[id].operands.clone();
    let again = clone_instruction(module, id, module[id].parent, &name, operands);
    module.set_shape(again, asked.clone());
    again
}

/// Removes unused tuples that copies have replaced. Returns whether the layout of a removed tuple contained
/// more than an order.
fn remove_tuples(module: &mut Module, candidates: &[InstrId]) -> bool {
    let pinned = control_dependent(module);
    let mut stack = candidates.to_vec();
    let mut gone = HashSet::new();
    while let Some(id) = stack.pop() {
        let unused = matches!(module[id].op, Op::Tuple)
            && !module.is_used(id)
            && !pinned.contains(&id)
            && !gone.contains(&id);
        if unused {
            stack.extend(module[id].operands.to_vec());
            module.set_operands(id, []);
            gone.insert(id);
        }
    }
    let mut gone: Vec<InstrId> = gone.into_iter().collect();
    gone.sort_unstable();
    module.remove_all(&gone);
    gone.iter().any(|&g| orders::arrays(&module[g].shape).any(|(_, a)| a.layout_items().is_some()))
}
