//! The limit on the size of shapes that the text does not contain.

use crate::scan::MAX_DEPTH;
use hlo_ir::Shape;

/// The total size of inferred shapes. A few bytes of text can describe tuples of any size and depth, so the
/// size is limited.
#[derive(Default)]
pub struct Inferred {
    parts: usize,
}

impl Inferred {
    /// Number of parts that may be inferred in addition to one for each byte of the text.
    const EXTRA_INFERRED_PARTS: usize = 1 << 17;
    /// Maximum depth of inferred tuples. The printed text nests as deep and must be readable again.
    const MAX_DEPTH: usize = MAX_DEPTH / 2;

    /// Counts a shape. Returns an error message if the total is too large.
    pub fn too_many(&mut self, shape: &Shape, text: &str) -> Option<String> {
        self.parts = self.parts.saturating_add(shape.node_count());
        let limit = Self::EXTRA_INFERRED_PARTS.saturating_add(text.len());
        (self.parts > limit)
            .then(|| format!("the shapes that are not written have more than {limit} parts in all"))
    }

    /// Counts a shape. Returns an error message if it is too deep or the total is too large.
    pub fn excess(&mut self, shape: &Shape, text: &str) -> Option<String> {
        if let Some(excess) = self.too_many(shape, text) {
            return Some(excess);
        }
        let deep = shape.depth() > Self::MAX_DEPTH;
        deep.then(|| {
            format!("the shape that is not written is a tuple nested more than {} deep", Self::MAX_DEPTH)
        })
    }
}
