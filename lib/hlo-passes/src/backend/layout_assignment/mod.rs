//! `layout-assignment`: decides in which order the dimensions of each array lie in memory.
//!
//! ```text
//! ENTRY e { x = f32[4,8]{0,1} parameter(0)          ENTRY e { x = f32[4,8]{0,1} parameter(0)
//!           y = f32[4,8] parameter(1)                         y = f32[4,8] parameter(1)
//!           n = f32[4,8] negate(x)             →              n = f32[4,8]{0,1} negate(x)
//!           ROOT s = f32[4,8] add(n, y) }                     c = f32[4,8] copy(n)
//!                                                             ROOT s = f32[4,8] add(c, y) }
//! ```
//!
//! All layouts inside are decided anew, those that are written do not count. What counts:
//!
//! - The entry's parameters and result have the layouts of `entry_computation_layout`. Custom calls get their operands as
//!   `operand_layout_constraints` says, or row-major, and have their results as written. Bitcasts, transfers, collectives,
//!   asynchronous operations and custom fusions keep theirs on both sides, and so do arrays whose layout says more than an
//!   order (tiles, the size of elements, the memory).
//! - Operations that work element by element, and those that take or put together parts, have one order for all arrays.
//!   Loops, branches, calls and fusions have the same on both sides of the call.
//! - Transposes, broadcasts, reshapes and reductions have orders that go together, such that they are walked in memory
//!   order, or move nothing at all: if nothing else says what an order is, they do.
//! - All others (products, sorts, gathers, …) are row-major, and so is what nobody has asked for anything.
//!
//! Where two of these meet there is a copy, unless the orders differ in dimensions of size 1 only: then nothing would move.
//! Tuples, both sides of calls, and what keeps its layouts, have also these dimensions in one order: a bitcast is enough
//! for that. The dearest copies are avoided first: the arrays that would need the most bytes copied between them get one
//! order before the others do. A `copy` of the program may change the order.
//!
//! Results do not depend on layouts: every bit is kept. XLA's CPU backend has constants in products column-major as well,
//! if they are operands on the right; there are no such exceptions here.

mod entry;
mod orders;
mod places;
mod solve;

use crate::support::clone::clone_instruction;
use crate::support::effects::control_dependent;
use crate::support::layouts::{relaid_array, relaid_by};
use crate::{PassInfo, Rewrites};
pub use entry::choose_result_layouts;
use hlo_ir::diag::Diag;
use hlo_ir::{ArrayShape, InstrId, Layout, LayoutItems, Module, Op, Shape};
use orders::{Order, order_of, same_in_memory};
use places::{Place, Places, is_made_of_nothing};
use solve::Slot;
use std::collections::HashSet;

/// The registry's entry.
pub static INFO: PassInfo = PassInfo {
    name: "layout-assignment",
    summary: "decide the layouts inside the module by those of the entry and of custom calls",
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

/// So often is a module looked at again where tuples were taken apart: what their layouts asked for is gone then.
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

/// What one look at a module did.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Round {
    Nothing,
    Changed,
    /// And it removed tuples whose layouts said more than an order, which others had followed.
    TookApart,
}

/// One look at a module. A value gets its layout together with the copies for those that need another one.
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

/// Gives a value the layout that was decided, but for arrays whose layouts say more than an order.
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

/// The shape with other layouts of its arrays: `layout` is asked for each leaf, and `None` leaves it.
fn with_layouts(shape: &Shape, layout: &mut impl FnMut(Option<&ArrayShape>) -> Option<Layout>) -> Shape {
    match shape {
        Shape::Tuple(elements) => Shape::Tuple(elements.iter().map(|e| with_layouts(e, layout)).collect()),
        leaf => match (layout(leaf.as_array()), leaf) {
            (Some(layout), Shape::Array(a)) => Shape::Array(a.clone().with_layout(layout)),
            _ => leaf.clone(),
        },
    }
}

/// Puts copies where a value is used that must lie otherwise there. What is copied twice the same way is copied once.
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

/// The shape that a value must have where it is used, if that isn't its own. Where layouts don't count exactly,
/// sizes of 1 may lie anywhere.
fn asked_shape(
    module: &Module,
    places: &mut Places,
    (value, first): (InstrId, Slot),
    (place, slot): (Place, Slot),
) -> Option<Shape> {
    let is_exact = place.is_exact(module);
    // Only the result of the entry is asked for with all that a layout says.
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
        // The sizes of 1 of the place may be larger here, as in the operand of a slice.
        let want = if exact { places.orders.order(slot + n) } else { places.orders.asked(slot + n) };
        if have == want || have.len() != want.len() {
            return None;
        }
        let stated = stated.filter(|a| order_of(a) == want);
        let layout = match stated {
            Some(stated) => stated.layout.clone().unwrap_or_else(|| Layout::new(want.clone())),
            None => reordered(array, want.clone()),
        };
        // What a bitcast can't make is good enough as it is.
        let matters = exact && (stated.is_some() || layout.items() == array.layout_items());
        if !matters && same_in_memory(&array.dims, &have, &want) {
            return None;
        }
        differs = true;
        Some(layout)
    });
    differs.then_some(shape)
}

/// The layout of a copy of an array: of all that the array's layout says beside the order, elements keep their size.
fn reordered(array: &ArrayShape, order: Order) -> Layout {
    let element_size_bits = array.layout.as_ref().and_then(Layout::element_size_bits).unwrap_or(0);
    Layout::new(order).with_items(LayoutItems { element_size_bits, ..LayoutItems::default() })
}

/// An array in another layout: where only dimensions of size 1 lie elsewhere nothing has to move, and what is made of
/// nothing is made again.
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
    if !is_made_of_nothing(module, id) {
        return relaid_array(module, id, asked, Op::Copy);
    }
    let name = module.unique_name(&module[id].name.clone());
    let operands = module[id].operands.clone();
    let again = clone_instruction(module, id, module[id].parent, &name, operands);
    module.set_shape(again, asked.clone());
    again
}

/// Removes the tuples that copies were made for instead, and nothing else uses. Returns whether the layouts of one said
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
