//! A document's text with the places of its lines: bytes here, lines and UTF-16 units in the protocol.

use hlo_ir::Span;
use lsp_types::{Position, Range};

/// A text.
#[derive(Clone, Debug)]
pub struct Text {
    text: String,
    /// Where lines start, the first one included.
    lines: Vec<usize>,
    /// For every character that is not ASCII: where it ends, and by how much the bytes up to there outnumber
    /// the UTF-16 units.
    wide: Vec<(usize, usize)>,
}

impl Text {
    /// A text; lines end with LF, CR LF or CR.
    pub fn new(text: String) -> Self {
        let bytes = text.as_bytes();
        let mut lines = vec![0];
        let ends =
            |at: usize| bytes[at] == b'\n' || (bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n'));
        lines.extend((0..bytes.len()).filter(|&at| ends(at)).map(|at| at + 1));
        let mut wide = Vec::new();
        if !text.is_ascii() {
            let mut extra = 0;
            for (at, c) in text.char_indices().filter(|(_, c)| !c.is_ascii()) {
                extra += c.len_utf8() - c.len_utf16();
                wide.push((at + c.len_utf8(), extra));
            }
        }
        Self { text, lines, wide }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// By how much bytes outnumber UTF-16 units before `offset`, and how many wide characters that are.
    fn extra(&self, offset: usize) -> (usize, usize) {
        let n = self.wide.partition_point(|w| w.0 <= offset);
        (n.checked_sub(1).and_then(|n| self.wide.get(n)).map_or(0, |w| w.1), n)
    }

    /// The position of a byte, which starts a character.
    pub fn position(&self, offset: usize) -> Position {
        let offset = offset.min(self.text.len());
        let line = self.lines.partition_point(|&start| start <= offset).saturating_sub(1);
        let start = self.lines.get(line).copied().unwrap_or(0);
        let extra = self.extra(offset).0 - self.extra(start).0;
        Position::new(line as u32, (offset - start - extra) as u32)
    }

    /// The range of a part of the text.
    pub fn range(&self, start: usize, end: usize) -> Range {
        Range::new(self.position(start), self.position(end.max(start)))
    }

    /// The range of a span of the part of the text that starts at `base`.
    pub fn span_range(&self, base: usize, span: Span) -> Range {
        self.range(base + span.start as usize, base + span.end as usize)
    }

    /// The byte at a position; one that is not in the text is moved to the end of the line or of the text.
    pub fn offset(&self, position: Position) -> usize {
        let line = position.line as usize;
        let Some(&start) = self.lines.get(line) else { return self.text.len() };
        let next = self.lines.get(line + 1).copied().unwrap_or(self.text.len());
        let content = self.text.get(start..next).unwrap_or_default();
        let content = content.strip_suffix('\n').unwrap_or(content);
        let end = start + content.strip_suffix('\r').unwrap_or(content).len();
        let (base, first) = self.extra(start);
        // The column of the end of each wide character of the line.
        let column = |w: &(usize, usize)| w.0 - start - (w.1 - base);
        let line_wide = &self.wide[first..];
        let wanted = position.character as usize;
        let before = line_wide.partition_point(|w| w.0 <= end && column(w) <= wanted);
        let extra = before.checked_sub(1).and_then(|n| line_wide.get(n)).map_or(0, |w| w.1 - base);
        let mut at = start.saturating_add(wanted).saturating_add(extra).min(end);
        // Inside of a wide character: its start.
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }

    /// The text after changes, each of which counts its positions after those before it.
    pub fn edited(mut self, changes: &[(Range, &str)]) -> Self {
        let mut rest = changes;
        while !rest.is_empty() {
            // Editors send many changes from the end of the text to its start, as none moves the next one then:
            // these are made at once.
            let backwards = rest.windows(2).take_while(|w| w[1].0.end <= w[0].0.start).count();
            let (run, later) = rest.split_at(backwards + 1);
            self = self.edited_backwards(run);
            rest = later;
        }
        self
    }

    /// The text after changes, the last one first.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_utf16() {
        let text = Text::new("aé😀b\r\nx\ry\n€".into());
        let at = |needle: &str| text.position(text.as_str().find(needle).unwrap());
        assert_eq!(at("😀"), Position::new(0, 2));
        assert_eq!(at("b"), Position::new(0, 4));
        assert_eq!(at("x"), Position::new(1, 0));
        assert_eq!(at("y"), Position::new(2, 0));
        assert_eq!(at("€"), Position::new(3, 0));
        assert_eq!(text.position(text.as_str().len()), Position::new(3, 1));
    }

    #[test]
    fn offsets_invert_positions() {
        let text = Text::new("aé😀b\r\nx\ry\n\n€é a\u{10ffff}\n".into());
        for (at, c) in text.as_str().char_indices() {
            if c != '\n' || !text.as_str()[..at].ends_with('\r') {
                assert_eq!(text.offset(text.position(at)), at, "{c:?}");
            }
        }
    }

    #[test]
    fn positions_outside_are_moved_inside() {
        let text = Text::new("é😀\r\nx".into());
        assert_eq!(text.offset(Position::new(0, 2)), 2);
        assert_eq!(text.offset(Position::new(0, 99)), 6);
        assert_eq!(text.offset(Position::new(1, u32::MAX)), 9);
        assert_eq!(text.offset(Position::new(9, 0)), 9);
        assert_eq!(Text::new(String::new()).offset(Position::new(0, 5)), 0);
    }

    fn range(a: (u32, u32), b: (u32, u32)) -> Range {
        Range::new(Position::new(a.0, a.1), Position::new(b.0, b.1))
    }

    #[test]
    fn edits() {
        let text = Text::new("one\ntwö\nthree".into());
        let text = text.edited(&[(range((0, 3), (1, 3)), " é")]);
        assert_eq!(text.as_str(), "one é\nthree");
        assert_eq!(text.position(7), Position::new(1, 0));
        assert_eq!(text.edited(&[(range((1, 0), (0, 5)), "")]).as_str(), "one éthree");
    }

    #[test]
    fn edits_count_after_those_before_them() {
        let edit = |changes: &[(Range, &str)]| Text::new("abc\ndef".into()).edited(changes).text;
        let first = (range((1, 1), (1, 2)), "\n\n");
        let second = (range((0, 1), (0, 2)), "XYZ");
        assert_eq!(edit(&[first, second]), "aXYZc\nd\n\nf");
        assert_eq!(edit(&[second, (range((0, 4), (0, 4)), "!"), first]), "aXYZ!c\nd\n\nf");
        assert_eq!(edit(&[(range((0, 0), (0, 0)), "\n"), first]), "\na\n\nc\ndef");
        assert_eq!(edit(&[(range((0, 1), (0, 1)), "1"), (range((0, 1), (0, 1)), "2")]), "a21bc\ndef");
    }
}
