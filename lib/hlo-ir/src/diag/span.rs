//! Byte ranges of the source text.

/// A half-open byte range `start..end` of the text that a module was read from. Instructions that a pass
/// made have the span of what they replace, or the empty default span.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span of `start..end`.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start: start as u32, end: end as u32 }
    }

    /// The same place for a text that starts at byte `base` of another one.
    pub fn moved(self, base: usize) -> Self {
        Self::new(base.saturating_add(self.start as usize), base.saturating_add(self.end as usize))
    }

    /// True for the span of something that no source text stands for.
    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }

    /// The range as `usize`, for slicing.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// The nearest character boundary of `text` at or before byte `at`; the end if `at` is beyond it.
pub fn floor_char_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
