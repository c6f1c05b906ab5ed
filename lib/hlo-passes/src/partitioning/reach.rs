//! The elements of an operand that a part of a factor needs, which may be elements of neighboring parts.

use hlo_ir::attr::WindowDim;

/// A dimension of an operand that is read around an index `i` of a factor. The first position read is
/// `first + step · i`, and `extent` positions are read. Only every `dilation`-th position is an element;
/// positions between elements are padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// The index of the operand.
    pub operand: usize,
    /// The dimension of the operand.
    pub from: usize,
    /// The factor: a dimension of the result, or the positions of a window.
    pub to: usize,
    /// The window dimension, if the factor is over the window's positions.
    pub window: Option<usize>,
    /// The first position that is read at index 0. It may be negative.
    pub first: i64,
    /// The distance of the first positions of two successive indices.
    pub step: i64,
    /// Number of positions that are read.
    pub extent: i64,
    /// The distance of two elements, in positions.
    pub dilation: i64,
}

/// The elements of an operand that the parts of a factor need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needed {
    /// The first needed element of each part.
    pub starts: Vec<i64>,
    /// Number of elements that each part needs.
    pub size: i64,
    /// Number of window positions before the first element and after the last.
    pub padding: [i64; 2],
}

impl Reach {
    /// The operand is read exactly at the index of the result.
    pub const PLAIN: Self =
        Self { operand: 0, from: 0, to: 0, window: None, first: 0, step: 1, extent: 1, dilation: 1 };

    /// Returns the elements that `parts` parts of `part` indices each need. Returns `None` if the number of
    /// elements differs between parts.
    pub fn needed(&self, parts: i64, part: i64) -> Option<Needed> {
        let between = part.checked_mul(self.step)?;
        if between % self.dilation != 0 {
            return None;
        }
        let span = (part - 1).checked_mul(self.step)?.checked_add(self.extent)?;
        let low = (-self.first).rem_euclid(self.dilation);
        // If a window contained no element, the result would have to be computed in another way.
        let size = (span - low + self.dilation - 1).div_euclid(self.dilation);
        if part < 1 || size < 1 {
            return None;
        }
        let start = |n: i64| (self.first + low + n * between).div_euclid(self.dilation);
        let high = span - low - (size - 1) * self.dilation - 1;
        Some(Needed { starts: (0..parts).map(start).collect(), size, padding: [low, high] })
    }

    /// Returns this reach with the positions that a window reads.
    pub(super) fn windowed(self, w: &WindowDim) -> Self {
        Self {
            first: -w.pad_low,
            step: w.stride.max(1),
            extent: (w.size - 1) * w.rhs_dilate + 1,
            dilation: w.lhs_dilate.max(1),
            ..self
        }
    }
}
