//! The lines of a text: converts byte offsets to positions in editors and back. Positions are those of the
//! Language Server Protocol: lines and columns start at 0, and columns count UTF-16 units.

use hlo_ir::floor_char_boundary;

/// A position in a text. Both numbers start at 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The number of UTF-16 units between the start of the line and the position.
    pub character: u32,
}

impl Position {
    /// Creates a position.
    pub fn new(line: u32, character: u32) -> Self {
        Self { line, character }
    }
}

/// The starts of the lines of a text, and the characters that have more bytes than UTF-16 units. A position
/// is computed in logarithmic time.
#[derive(Clone, Debug)]
pub struct Lines {
    /// The offsets of the lines, including the first one.
    starts: Vec<usize>,
    /// For every character that is not ASCII: the offset of its end, and the difference between the numbers
    /// of bytes and of UTF-16 units up to there.
    wide: Vec<(usize, usize)>,
}

impl Lines {
    /// Finds the lines of a text. They end with LF, CR LF or CR.
    pub fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        let ends =
            |at: usize| bytes[at] == b'\n' || (bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n'));
        starts.extend((0..bytes.len()).filter(|&at| ends(at)).map(|at| at + 1));
        let mut wide = Vec::new();
        if !text.is_ascii() {
            let mut extra = 0;
            for (at, c) in text.char_indices().filter(|(_, c)| !c.is_ascii()) {
                extra += c.len_utf8() - c.len_utf16();
                wide.push((at + c.len_utf8(), extra));
            }
        }
        Self { starts, wide }
    }

    /// Returns the difference between the numbers of bytes and of UTF-16 units before `offset`, and the
    /// number of characters there that are not ASCII.
    fn extra(&self, offset: usize) -> (usize, usize) {
        let n = self.wide.partition_point(|w| w.0 <= offset);
        (n.checked_sub(1).and_then(|n| self.wide.get(n)).map_or(0, |w| w.1), n)
    }

    /// Returns the position of an offset, which must be at the start of a character.
    pub fn position(&self, offset: usize) -> Position {
        let line = self.starts.partition_point(|&start| start <= offset).saturating_sub(1);
        let start = self.starts.get(line).copied().unwrap_or(0);
        let extra = self.extra(offset).0 - self.extra(start).0;
        Position::new(line as u32, (offset - start - extra) as u32)
    }

    /// Returns the offset of a position in `text`, which must be the text of these lines. A position outside
    /// the text is moved to the end of the line or of the text.
    pub fn offset(&self, text: &str, position: Position) -> usize {
        let line = position.line as usize;
        let Some(&start) = self.starts.get(line) else { return text.len() };
        let next = self.starts.get(line + 1).copied().unwrap_or(text.len());
        let content = text.get(start..next).unwrap_or_default();
        let content = content.strip_suffix('\n').unwrap_or(content);
        let end = start + content.strip_suffix('\r').unwrap_or(content).len();
        let (base, first) = self.extra(start);
        // The column of the end of each character of the line that is not ASCII.
        let column = |w: &(usize, usize)| w.0 - start - (w.1 - base);
        let line_wide = &self.wide[first..];
        let wanted = position.character as usize;
        let before = line_wide.partition_point(|w| w.0 <= end && column(w) <= wanted);
        let extra = before.checked_sub(1).and_then(|n| line_wide.get(n)).map_or(0, |w| w.1 - base);
        let at = start.saturating_add(wanted).saturating_add(extra).min(end);
        // If the position is inside a character, use its start.
        floor_char_boundary(text, at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_utf16() {
        let text = "aé😀b\r\nx\ry\n€";
        let lines = Lines::new(text);
        let at = |needle: &str| lines.position(text.find(needle).unwrap());
        assert_eq!(at("😀"), Position::new(0, 2));
        assert_eq!(at("b"), Position::new(0, 4));
        assert_eq!(at("x"), Position::new(1, 0));
        assert_eq!(at("y"), Position::new(2, 0));
        assert_eq!(at("€"), Position::new(3, 0));
        assert_eq!(lines.position(text.len()), Position::new(3, 1));
    }

    #[test]
    fn offsets_invert_positions() {
        let text = "aé😀b\r\nx\ry\n\n€é a\u{10ffff}\n";
        let lines = Lines::new(text);
        for (at, c) in text.char_indices() {
            if c != '\n' || !text[..at].ends_with('\r') {
                assert_eq!(lines.offset(text, lines.position(at)), at, "{c:?}");
            }
        }
    }
}
