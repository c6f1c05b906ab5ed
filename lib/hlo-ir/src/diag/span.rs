//! Byte ranges of the source text.

/// A half-open byte range `start..end` of the text from which a module was read. An instruction created by a
/// pass has the span of the instruction that it replaces, or the empty default span.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// Creates the span `start..end`.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start: start as u32, end: end as u32 }
    }

    /// Returns the span moved by `base`, for a text that starts at byte `base` of another one.
    pub fn moved(self, base: usize) -> Self {
        Self::new(base.saturating_add(self.start as usize), base.saturating_add(self.end as usize))
    }

    /// Returns whether the span is empty, so that no source text belongs to it.
    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }

    /// Returns the range as `usize`, for slicing.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// Returns the span as a range inside the text, on character boundaries.
pub fn clamp(span: Span, text: &str) -> std::ops::Range<usize> {
    let start = floor_char_boundary(text, span.start as usize);
    start..floor_char_boundary(text, span.end as usize).max(start)
}

/// Returns the nearest character boundary of `text` at or before byte `at`; the end of `text` if `at` is
/// beyond it.
pub fn floor_char_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
