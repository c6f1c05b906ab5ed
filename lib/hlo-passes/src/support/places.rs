//! The positions of added instructions in a computation's list, which is the schedule if there is one.

use hlo_ir::{ComputationId, InstrId, Module};
use std::ops::Range;

/// The instructions that replace others. New instructions are appended to the list, so their side effects
/// would happen after all others. [`Places::arrange`] moves them to the replaced instructions.
#[derive(Default)]
pub struct Places {
    /// The id ranges of added instructions, in increasing order, each with the instruction that they replace.
    added: Vec<(Range<usize>, InstrId)>,
}

impl Places {
    /// Calls `add`, and records that the instructions that it adds replace `site`.
    pub fn at<T>(&mut self, module: &mut Module, site: InstrId, add: impl FnOnce(&mut Module) -> T) -> T {
        let first = module.instruction_capacity();
        let out = add(module);
        self.note(module, first, site);
        out
    }

    /// Records that the instructions with ids from `first` on replace `site`.
    pub fn note(&mut self, module: &Module, first: usize, site: InstrId) {
        self.added.push((first..module.instruction_capacity(), site));
    }

    /// Moves the added instructions of a computation to just before the instructions that they replace, which
    /// must still be in the list.
    pub fn arrange(&self, module: &mut Module, computation: ComputationId) {
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
        // A block that replaces an added instruction comes before that instruction.
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
