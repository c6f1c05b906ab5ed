//! The reductions: ways to make a module smaller, each at many sites.
//!
//! A reduction finds its sites in a module, in an order that only depends on the module, and changes the
//! module at a range of them. The search (`search.rs`) tries all sites at once, then halves, quarters and so
//! on.

mod attributes;
mod calls;
mod instructions;
mod shapes;
mod tuples;
mod types;
mod variadic;

use hlo_ir::Module;
use std::ops::Range;

/// A way to make a module smaller.
pub struct Reduction {
    /// The name for progress reports.
    pub name: &'static str,
    /// Whether it always changes parameters or the result of the entry.
    pub changes_interface: bool,
    /// Whether the module may grow, up to twice its size, because the change enables other reductions.
    pub grows: bool,
    /// Changes the module at a range of sites, and returns the number of sites. The module may also stay the
    /// same.
    apply: fn(&mut Module, Range<usize>) -> usize,
}

impl Reduction {
    /// Returns the number of sites.
    pub fn count(&self, module: &Module) -> usize {
        (self.apply)(&mut module.clone(), 0..0)
    }

    /// Changes the module at a range of sites.
    pub fn apply(&self, module: &mut Module, sites: Range<usize>) {
        (self.apply)(module, sites);
    }
}

/// Implements a reduction from a list of all its sites: changes the module at those in the range.
fn at_sites<S>(
    module: &mut Module,
    range: Range<usize>,
    sites: Vec<S>,
    change: impl FnOnce(&mut Module, &[S]),
) -> usize {
    if let Some(chosen) = sites.get(range).filter(|s| !s.is_empty()) {
        change(module, chosen);
    }
    sites.len()
}

/// All reductions, in the order in which they are tried. Reductions that remove the most come first.
pub static REDUCTIONS: &[Reduction] = &[
    instructions::ROOT,
    tuples::RESULTS,
    instructions::TO_PARAMETER,
    instructions::UNUSED,
    calls::INLINE,
    instructions::TO_OPERAND,
    instructions::TO_ZERO,
    tuples::SIMPLIFY,
    tuples::STATE,
    tuples::PARAMETERS,
    calls::ARGUMENTS,
    variadic::OPERANDS,
    instructions::PARAMETERS,
    types::TYPES,
    shapes::TO_ONE,
    shapes::TO_TWO,
    shapes::HALVE,
    attributes::ATTRIBUTES,
];
