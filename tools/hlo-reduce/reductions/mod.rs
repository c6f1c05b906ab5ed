//! The reductions: ways to make a module smaller, each at many sites.
//!
//! A reduction finds its sites in a module, in an order that depends on the module alone, and changes the module at a
//! range of them. The search (`search.rs`) tries all sites at once, then halves, quarters and so on.

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
    /// What it does, for progress reports.
    pub name: &'static str,
    /// True if it changes parameters or the result of the entry, whatever it does.
    pub changes_interface: bool,
    /// True if the module may grow by it, up to twice its size: what it opens up makes it smaller later.
    pub grows: bool,
    /// Changes the module at a range of sites, and says how many sites there are. Nothing may have changed.
    apply: fn(&mut Module, Range<usize>) -> usize,
}

impl Reduction {
    /// The number of sites.
    pub fn count(&self, module: &Module) -> usize {
        (self.apply)(&mut module.clone(), 0..0)
    }

    /// Changes the module at a range of sites.
    pub fn apply(&self, module: &mut Module, sites: Range<usize>) {
        (self.apply)(module, sites);
    }
}

/// A reduction whose sites are of one type: finds them all, and changes the module at those of the range.
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

/// All of them, in the order in which they are tried: what takes most away comes first.
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
