//! The text of a document and its lines. Offsets are bytes here, and lines and UTF-16 units in the protocol.

use hlo_ir::Span;
use hlo_tools_common::lines::{self, Lines};
use lsp_types::{Position, Range};

/// A text and its lines.
#[derive(Clone, Debug)]
pub struct Text {
    text: String,
    lines: Lines,
}

impl Text {
    /// Creates a text. Lines end with LF, CR LF or CR.
    pub fn new(text: String) -> Self {
        let lines = Lines::new(&text);
        Self { text, lines }
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the position of an offset, which must be at the start of a character.
    pub fn position(&self, offset: usize) -> Position {
        let place = self.lines.position(offset.min(self.text.len()));
        Position::new(place.line, place.character)
    }

    /// Returns the range of a part of the text.
    pub fn range(&self, start: usize, end: usize) -> Range {
        Range::new(self.position(start), self.position(end.max(start)))
    }

    /// Returns the range of a span in the part of the text that starts at `base`.
    pub fn span_range(&self, base: usize, span: Span) -> Range {
        self.range(base + span.start as usize, base + span.end as usize)
    }

    /// Returns the offset of a position. A position outside the text is moved to the end of the line or of
    /// the text.
    pub fn offset(&self, position: Position) -> usize {
        self.lines.offset(&self.text, lines::Position::new(position.line, position.character))
    }

    /// Returns the text after changes. The positions of each change refer to the text after the previous
    /// ones.
    pub fn edited(mut self, changes: &[(Range, &str)]) -> Self {
        let mut rest = changes;
        while !rest.is_empty() {
            // Editors often send many changes from the end of the text to its start, because then no change
            // moves the next one. These are applied together.
            let backwards = rest.windows(2).take_while(|w| w[1].0.end <= w[0].0.start).count();
            let (run, later) = rest.split_at(backwards + 1);
            self = self.edited_backwards(run);
            rest = later;
        }
        self
    }

    /// Returns the text after changes that are ordered from the end to the start.
    fn edited_backwards(self, changes: &[(Range, &str)]) -> Self {
        let mut out = String::with_capacity(self.text.len());
        let mut at = 0;
        for (range, new) in changes.iter().rev() {
            let (start, end) = (self.offset(range.start), self.offset(range.end));
            let (start, end) = (start.min(end).max(at), start.max(end).max(at));
            out.push_str(self.text.get(at..start).unwrap_or_default());
            out.push_str(new);
            at = end;
        }
        out.push_str(self.text.get(at..).unwrap_or_default());
        Self::new(out)
    }
}
