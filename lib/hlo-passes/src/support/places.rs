//! Where added instructions stand in a computation's list, which is its schedule if it has one.

use hlo_ir::{ComputationId, InstrId, Module};
use std::ops::Range;

/// Instructions that stand in place of others. Added ones go to the end of the list: effects among them would happen
/// after all that the list has.
#[derive(Default)]
pub(crate) struct Places {
    /// What was added, by number, in the order in which it was, and what it stands in place of.
    added: Vec<(Range<usize>, InstrId)>,
}

impl Places {
    /// Notes that what `add` adds stands in place of `site`.
    pub(crate) fn at<T>(
        &mut self,
        module: &mut Module,
        site: InstrId,
        add: impl FnOnce(&mut Module) -> T,
    ) -> T {
        let first = module.instruction_capacity();
        let out = add(module);
        self.note(module, first, site);
        out
    }

    /// Notes that what was added since the module had `first` instructions stands in place of `site`.
    pub(crate) fn note(&mut self, module: &Module, first: usize, site: InstrId) {
        self.added.push((first..module.instruction_capacity(), site));
    }

    /// Moves what was added to a computation to the places that were noted. What it stands in place of must still be in
    /// the list.
    pub(crate) fn arrange(&self, module: &mut Module, computation: ComputationId) {
        let site_of = |i: InstrId| {
            let n = self.added.partition_point(|(range, _)| range.end <= i.index());
            self.added.get(n).filter(|(range, _)| range.contains(&i.index())).map(|&(_, site)| site)
        };
        let list = module[computation].instructions();
        let mut blocks: std::collections::HashMap<InstrId, Vec<InstrId>> = Default::default();
        for &i in list {
            if let Some(site) = site_of(i) {
                blocks.entry(site).or_default().push(i);
            }
        }
        if blocks.is_empty() {
            return;
        }
        let mut order = Vec::with_capacity(list.len());
        // What stands in place of what was added itself comes before that.
        let mut stack: Vec<(InstrId, bool)> =
            list.iter().rev().filter(|i| site_of(**i).is_none()).map(|&i| (i, false)).collect();
        while let Some((i, placed)) = stack.pop() {
            match blocks.remove(&i).filter(|_| !placed) {
                Some(block) => {
                    stack.push((i, true));
                    stack.extend(block.into_iter().rev().map(|b| (b, false)));
                }
                None => order.push(i),
            }
        }
        if order.len() == list.len() {
            module.set_order(computation, order);
        }
    }
}
