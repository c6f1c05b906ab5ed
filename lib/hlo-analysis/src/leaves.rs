//! Leaves of shapes by number: the arrays and tokens of a tuple, depth first.

use hlo_ir::{InstrId, Module, Shape};
use std::collections::HashMap;
use std::rc::Rc;

/// Where the leaves of each element of a tuple begin: remembered, as wide tuples are taken apart element by element.
#[derive(Default)]
pub struct Elements {
    of: HashMap<InstrId, Rc<[usize]>>,
}

impl Elements {
    /// The number of leaves before each element of a tuple, then of all of them; `None` if it is none.
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

    /// The first leaf of an element; for the number of elements, one past the last leaf.
    pub fn first_leaf(&mut self, module: &Module, tuple: InstrId, index: usize) -> Option<usize> {
        self.offsets(module, tuple)?.get(index).copied()
    }
}

/// The number of the first leaf of the part that an index names.
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
