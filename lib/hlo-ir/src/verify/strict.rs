//! Checks for compiler stages that require more than a valid module.

use super::{Verifier, label};
use crate::diag::{Diag, Part};
use crate::ops::unwrapped;
use crate::rules::code;
use crate::{ArrayShape, InstrId, Module, Op, Shape};

/// A set of rules that [`verify_strictly`] checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// Layouts change only at instructions that may change them.
    Layouts,
    /// The dimensions of broadcasts are in increasing order.
    Order,
    /// No instruction mixes floating-point types.
    Precision,
    /// Every dimension has a size or a bound.
    Sizes,
    /// Computations of asynchronous operations contain one instruction.
    Asynchronous,
    /// In a schedule, no collective runs between the two sides of a transfer between devices.
    Transfers,
    /// Loops and conditionals have the same shardings as the corresponding values in the called computations.
    Shardings,
}

impl Strictness {
    /// All sets of rules.
    pub const ALL: [Strictness; 7] = [
        Strictness::Layouts,
        Strictness::Order,
        Strictness::Precision,
        Strictness::Sizes,
        Strictness::Asynchronous,
        Strictness::Shardings,
        Strictness::Transfers,
    ];

    /// Returns the name for command lines.
    pub fn name(self) -> &'static str {
        match self {
            Strictness::Layouts => "layouts",
            Strictness::Order => "order",
            Strictness::Precision => "precision",
            Strictness::Sizes => "sizes",
            Strictness::Asynchronous => "async",
            Strictness::Shardings => "shardings",
            Strictness::Transfers => "transfers",
        }
    }
}

/// Returns the violations of the chosen rules in a valid module. Time is almost linear in the module.
pub fn verify_strictly(module: &Module, chosen: &[Strictness]) -> Vec<Diag> {
    let mut verifier = Verifier::new(module);
    if chosen.contains(&Strictness::Layouts) {
        verifier.check_bitcasts();
        verifier.check_entry_layouts();
    }
    if chosen.contains(&Strictness::Transfers) {
        verifier.check_transfers();
    }
    for i in module.computations().flat_map(|c| module[c].instructions()).copied() {
        for &rule in chosen {
            if verifier.full() {
                return verifier.finish();
            }
            match rule {
                Strictness::Layouts => verifier.check_layouts(i),
                Strictness::Order => verifier.check_order_of_broadcast(i),
                Strictness::Precision => verifier.check_one_precision(i),
                Strictness::Sizes => verifier.check_bounded(i),
                Strictness::Asynchronous => verifier.check_body(i),
                Strictness::Shardings => verifier.check_consistent_shardings(i),
                Strictness::Transfers => {}
            }
        }
    }
    verifier.finish()
}

/// Returns the shapes, before and after, of a value that an instruction only moves: the copy that a
/// `copy-done` returns, or a copy to another memory space.
fn moved(module: &Module, i: InstrId) -> Option<(&Shape, &Shape)> {
    let (to, from) = (&module[i].shape, &module[*module[i].operands.first()?].shape);
    match module[i].op {
        Op::CopyDone => from.as_tuple()?.first().map(|made| (made, to)),
        Op::Copy => {
            let space = |shape: &Shape| shape.as_array().map(crate::ArrayShape::memory_space);
            (space(from) != space(to)).then_some((from, to))
        }
        _ => None,
    }
}

/// Returns whether corresponding arrays of two shapes of the same structure have the same layouts.
fn same_layouts(a: &Shape, b: &Shape) -> bool {
    a.leaves().into_iter().zip(b.leaves()).all(|(a, b)| match (a, b) {
        (Shape::Array(a), Shape::Array(b)) => a.minor_to_major() == b.minor_to_major(),
        _ => true,
    })
}

/// Returns the text of an array's layout.
fn layout(array: &ArrayShape) -> String {
    let order: Vec<String> = array.minor_to_major().iter().map(usize::to_string).collect();
    format!("{{{}}}", order.join(","))
}

/// Returns the text of the layouts of a shape's arrays.
fn layouts(shape: &Shape) -> String {
    shape.leaves().into_iter().filter_map(|s| s.as_array().map(layout)).collect::<Vec<_>>().join(", ")
}

/// Returns whether an instruction's result has the layout of its operands.
fn keeps_layout(op: &Op) -> bool {
    op.opcode().is_pointwise() && !matches!(op, Op::Copy | Op::Bitcast | Op::BitcastConvert | Op::Iota(_))
        || matches!(
            op,
            Op::Slice(_)
                | Op::DynamicSlice(_)
                | Op::DynamicUpdateSlice
                | Op::Concatenate(_)
                | Op::Pad(_)
                | Op::Reverse(_)
                | Op::ReduceWindow(_)
                | Op::SelectAndScatter(_)
                | Op::Sort(_)
                | Op::AllReduce(_)
                | Op::AllToAll(_)
                | Op::CollectivePermute(_)
        )
}

impl Verifier<'_> {
    fn check_layouts(&mut self, i: InstrId) {
        let module = self.module;
        let instruction = &module[i];
        let aliases = match &instruction.op {
            Op::CustomCall(a) => &a.output_to_operand_aliasing[..],
            Op::AsyncStart(a) => &a.output_to_operand_aliasing[..],
            Op::AsyncUpdate(a) => &a.output_to_operand_aliasing[..],
            _ => &[][..],
        };
        for alias in aliases {
            let operand = usize::try_from(alias.operand).ok().and_then(|n| instruction.operands.get(n));
            let from = operand.and_then(|&o| module[o].shape.part(&alias.operand_index));
            let Some((from, to)) = from.zip(instruction.shape.part(&alias.output)) else { continue };
            if !same_layouts(unwrapped(from), unwrapped(to)) {
                let message = format!(
                    "what shares memory has one layout, found {} and {}",
                    layouts(unwrapped(from)),
                    layouts(unwrapped(to))
                );
                self.report_attribute(code::KEPT_LAYOUT, i, "output_to_operand_aliasing", message);
            }
        }
        if let Some((from, to)) = moved(module, i).filter(|(from, to)| !same_layouts(from, to)) {
            let name = instruction.op.name();
            let message = format!(
                "`{name}` has the layout of what it moves, found {} of {}",
                layouts(to),
                layouts(from)
            );
            self.report_part(code::KEPT_LAYOUT, i, Part::Shape, message);
        }
        if !keeps_layout(&instruction.op) {
            return;
        }
        let leaves = instruction.shape.leaves();
        for (n, &o) in instruction.operands.iter().enumerate() {
            let Some(from) = module[o].shape.as_array() else { continue };
            // Each operand of a sort or a collective has its own result.
            let to = if leaves.len() > 1 { leaves.get(n) } else { leaves.first() };
            let Some(Shape::Array(to)) = to else { continue };
            if from.rank() == to.rank() && from.minor_to_major() != to.minor_to_major() {
                let message = format!(
                    "`{}` has the layout of its operands, found {} of {}",
                    instruction.op.name(),
                    layout(to),
                    layout(from)
                );
                let diag = self.report_part(code::KEPT_LAYOUT, i, Part::Shape, message);
                label(diag, module.span(o), format!("this is {}", module[o].shape));
                return;
            }
        }
    }

    /// Checks that the entry has the layouts that the header declares.
    fn check_entry_layouts(&mut self) {
        let module = self.module;
        let (Some(layout), Some(entry)) = (&module.header.entry_computation_layout, module.entry_if_set())
        else {
            return;
        };
        let parameters = module.parameters(entry);
        let mut pairs: Vec<(InstrId, &Shape)> = parameters.into_iter().zip(&layout.parameters).collect();
        if module.has_root(entry) {
            pairs.push((module[entry].root(), &layout.result));
        }
        for (i, expected) in pairs {
            if !same_layouts(&module[i].shape, expected) {
                let message = format!(
                    "`entry_computation_layout` says {}, but `{}` has {}",
                    layouts(expected),
                    module[i].name,
                    layouts(&module[i].shape)
                );
                self.report_by_header(code::KEPT_LAYOUT, i, "entry_computation_layout", message);
            }
        }
    }

    fn check_order_of_broadcast(&mut self, i: InstrId) {
        let Op::Broadcast(a) = &self.module[i].op else { return };
        if !a.dimensions.is_sorted() {
            let message =
                format!("the dimensions of a broadcast are in order, found {:?}", &a.dimensions[..]);
            self.report_attribute(code::BROADCAST_ORDER, i, "dimensions", message);
        }
    }

    fn check_one_precision(&mut self, i: InstrId) {
        if self.module.mixed_precision(i).is_some() {
            let message = format!("`{}` mixes floating-point types", self.module[i].op.name());
            self.report(code::ONE_PRECISION, i, message);
        }
    }

    fn check_bounded(&mut self, i: InstrId) {
        let module = self.module;
        let is_unbounded = |s: &&Shape| s.as_array().is_some_and(|a| a.dims.contains(&ArrayShape::UNBOUNDED));
        if let Some(shape) = module[i].shape.leaves().into_iter().find(is_unbounded) {
            let message = format!("every dimension has a size or a bound, found {shape}");
            self.report_part(code::BOUNDED, i, Part::Shape, message);
        }
    }
}
