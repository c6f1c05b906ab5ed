//! Numbering of leaves: the arrays and tokens of a tuple shape, numbered depth first.

use hlo_ir::{InstrId, Module, Shape};
use std::collections::HashMap;
use std::rc::Rc;

/// The number of the first leaf of each tuple element. Results are cached, because wide tuples are accessed
/// element by element.
#[derive(Default)]
pub struct Elements {
    of: HashMap<InstrId, Rc<[usize]>>,
}

impl Elements {
    /// Returns the number of leaves before each element of a tuple, followed by the total number of leaves.
    /// Returns `None` if the instruction is not a tuple.
    pub fn offsets(&mut self, module: &Module, tuple: InstrId) -> Option<Rc<[usize]>> {
        if let Some(known) = self.of.get(&tuple) {
            return Some(Rc::clone(known));
        }
        let mut sum = 0;
        let after = module[tuple].shape.as_tuple()?.iter().map(|element| {
            sum += element.leaf_count();
            sum
        });
        let offsets: Rc<[usize]> = std::iter::once(0).chain(after).collect();
        self.of.insert(tuple, Rc::clone(&offsets));
        Some(offsets)
    }

    /// Returns the first leaf of an element. If `index` is the number of elements, returns one past the last
    /// leaf.
    pub fn first_leaf(&mut self, module: &Module, tuple: InstrId, index: usize) -> Option<usize> {
        self.offsets(module, tuple)?.get(index).copied()
    }
}

/// Returns the number of the first leaf of the subshape at an index.
pub fn first_leaf_at(shape: &Shape, index: &[i64]) -> Option<usize> {
    let (mut at, mut leaf) = (shape, 0);
    for &i in index {
        let parts = at.as_tuple()?;
        let i = usize::try_from(i).ok().filter(|&i| i < parts.len())?;
        leaf += parts[..i].iter().map(Shape::leaf_count).sum::<usize>();
        at = &parts[i];
    }
    Some(leaf)
}
