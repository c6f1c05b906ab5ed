//! Source excerpts for diagnostics. Long lines are cut around the marked ranges, and line and column numbers
//! stay those of the whole text.

use crate::floor_char_boundary;
use codespan_reporting::files::{Error, Files};
use std::borrow::Cow;
use std::ops::Range;

/// Maximum number of bytes of a line. Longer lines are cut.
const MAX_LINE: usize = 200;
/// Number of bytes of a cut line that are shown before the first mark.
const BYTES_BEFORE_MARK: usize = 60;
/// The replacement for omitted text.
const ELLIPSIS: &str = "…";

/// Replaces characters that would affect a terminal: control characters except tabs and line breaks, and
/// those that change the text direction. Each is replaced by a character of as many bytes, so positions stay
/// the same.
pub fn printable(text: &str) -> Cow<'_, str> {
    let substitute = |c: char| match c {
        '\t' | '\n' => c,
        c if c.is_ascii_control() => '?',
        c if c.is_control() => '\u{bf}',
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        c => c,
    };
    if text.chars().any(|c| substitute(c) != c) {
        Cow::Owned(text.chars().map(substitute).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// A line of the whole text and its shown part.
struct Line {
    /// The line, without its line break.
    whole: Range<usize>,
    /// The part that is shown.
    shown: Range<usize>,
    /// The start of the line in the shown text.
    start: usize,
    /// The start of the shown part in the shown text.
    part: usize,
}

/// A text whose long lines are cut.
pub struct Excerpt<'a> {
    name: &'a str,
    whole: &'a str,
    shown: String,
    lines: Vec<Line>,
}

impl<'a> Excerpt<'a> {
    /// Creates the excerpt of `whole` for a diagnostic that marks the given ranges.
    pub fn new(name: &'a str, whole: &'a str, marks: &[Range<usize>]) -> Self {
        let mut out = Self { name, whole, shown: String::new(), lines: Vec::new() };
        let mut start = 0;
        for line in whole.split_inclusive('\n') {
            out.push_line(start..start + line.trim_end_matches(['\n', '\r']).len(), marks);
            start += line.len();
        }
        if out.lines.is_empty() || whole.ends_with('\n') {
            out.push_line(start..start, marks);
        }
        out
    }

    fn push_line(&mut self, line: Range<usize>, marks: &[Range<usize>]) {
        let mut shown = line.clone();
        if line.len() > MAX_LINE {
            let in_line = marks.iter().map(|m| m.start).filter(|&m| (line.start..=line.end).contains(&m));
            let first = in_line.min().unwrap_or(line.start);
            shown.start =
                floor_char_boundary(self.whole, first.saturating_sub(BYTES_BEFORE_MARK).max(line.start));
            // Limits the length of the cut line to about `MAX_LINE`.
            shown.end = floor_char_boundary(self.whole, (shown.start + MAX_LINE).min(line.end));
        }
        let start = self.shown.len();
        if shown.start > line.start {
            self.shown.push_str(ELLIPSIS);
        }
        let part = self.shown.len();
        self.shown.push_str(&printable(&self.whole[shown.clone()]));
        if shown.end < line.end {
            self.shown.push_str(ELLIPSIS);
        }
        self.shown.push('\n');
        self.lines.push(Line { whole: line, shown, start, part });
    }

    /// Converts a position in the whole text to one in the shown text. A position that was cut becomes the
    /// edge of the cut.
    pub fn position(&self, at: usize) -> usize {
        let at = floor_char_boundary(self.whole, at);
        let line = self.lines.partition_point(|l| l.whole.start <= at).saturating_sub(1);
        let Some(line) = self.lines.get(line) else { return 0 };
        if at < line.shown.start {
            return line.start;
        }
        let end_of_part = line.part + line.shown.len();
        if at > line.shown.end { end_of_part } else { line.part + (at - line.shown.start) }
    }
}

impl<'a> Files<'a> for Excerpt<'a> {
    type FileId = ();
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, (): ()) -> Result<&'a str, Error> {
        Ok(self.name)
    }

    fn source(&'a self, (): ()) -> Result<&'a str, Error> {
        Ok(&self.shown)
    }

    fn line_index(&'a self, (): (), byte_index: usize) -> Result<usize, Error> {
        Ok(self.lines.partition_point(|l| l.start <= byte_index).saturating_sub(1))
    }

    fn line_range(&'a self, (): (), line_index: usize) -> Result<Range<usize>, Error> {
        let error = Error::LineTooLarge { given: line_index, max: self.lines.len().saturating_sub(1) };
        let line = self.lines.get(line_index).ok_or(error)?;
        let end = self.lines.get(line_index + 1).map_or(self.shown.len(), |next| next.start);
        Ok(line.start..end)
    }

    fn column_number(&'a self, (): (), line_index: usize, byte_index: usize) -> Result<usize, Error> {
        let error = Error::LineTooLarge { given: line_index, max: self.lines.len().saturating_sub(1) };
        let line = self.lines.get(line_index).ok_or(error)?;
        let at = line.shown.start + byte_index.saturating_sub(line.part).min(line.shown.len());
        let before =
            self.whole.get(line.whole.start..floor_char_boundary(self.whole, at)).unwrap_or_default();
        Ok(before.chars().count() + 1)
    }
}
