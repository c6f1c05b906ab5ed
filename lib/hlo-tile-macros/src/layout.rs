//! Reconstructs the layout of a text from its tokens.

use proc_macro::{Delimiter, Span, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};

/// A text and the locations of its tokens in the program.
pub(crate) struct Layout {
    /// The text. It has the same lines as the tokens, without the indentation of the first line.
    pub(crate) text: String,
    /// The line of the program where the text begins, starting at 1.
    pub(crate) line: usize,
    /// The offset of each token in the text, in order, and its span.
    tokens: Vec<(usize, Span)>,
}

/// An error for a token at a position that Tile does not allow.
pub(crate) struct Misplaced {
    pub(crate) message: String,
    pub(crate) span: Span,
}

impl Layout {
    /// Lays out tokens.
    ///
    /// # Errors
    /// Returns an error if a line is indented less than the first, if a Rust comment follows a token, or if
    /// the tokens have no locations.
    pub(crate) fn of(tokens: TokenStream) -> Result<Self, Misplaced> {
        let layout = Self { text: String::new(), line: 0, tokens: Vec::new() };
        let mut writer = Writer {
            layout,
            line: 0,
            column: 0,
            indent: 0,
            depth: 0,
            ends: BTreeMap::new(),
            commented: BTreeSet::new(),
        };
        writer.stream(tokens)?;
        writer.look_for_comments()?;
        writer.layout.text.push('\n');
        Ok(writer.layout)
    }

    /// Returns the span of the token at an offset of the text, or of the last token before it.
    pub(crate) fn span_at(&self, offset: usize) -> Span {
        let after = self.tokens.partition_point(|(start, _)| *start <= offset);
        self.tokens.get(after.saturating_sub(1)).map_or_else(Span::call_site, |(_, span)| *span)
    }
}

struct Writer {
    layout: Layout,
    /// The position in the program that the text has reached.
    line: usize,
    column: usize,
    /// The column of the first token.
    indent: usize,
    /// The number of open brackets.
    depth: usize,
    /// The end column of the last token on each line, and its span.
    ends: BTreeMap<usize, (usize, Span)>,
    /// The lines that contain a Tile comment. A comment may contain anything.
    commented: BTreeSet<usize>,
}

impl Writer {
    fn stream(&mut self, tokens: TokenStream) -> Result<(), Misplaced> {
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Group(group) => {
                    let (open, close) = match group.delimiter() {
                        Delimiter::Parenthesis => ("(", ")"),
                        Delimiter::Bracket => ("[", "]"),
                        Delimiter::Brace => ("{", "}"),
                        Delimiter::None => ("", ""),
                    };
                    self.token(open, group.span_open())?;
                    self.depth += 1;
                    self.stream(group.stream())?;
                    self.depth -= 1;
                    self.token(close, group.span_close())?;
                }
                TokenTree::Punct(slash) if slash.as_char() == '/' => {
                    // Rust treats `//` as a comment, so programs write `/ /` instead.
                    let second = tokens.next_if(|t| matches!(t, TokenTree::Punct(p) if p.as_char() == '/'));
                    self.token(if second.is_some() { "//" } else { "/" }, slash.span())?;
                }
                other => self.token(&other.to_string(), other.span())?,
            }
        }
        Ok(())
    }

    /// Writes a token at its position in the program.
    fn token(&mut self, text: &str, span: Span) -> Result<(), Misplaced> {
        let (line, column) = (span.line(), span.column());
        if self.layout.tokens.is_empty() {
            self.layout.line = line;
            (self.line, self.column, self.indent) = (line, column, column);
        }
        if line > self.line {
            self.layout.text.extend(std::iter::repeat_n('\n', line - self.line));
            (self.line, self.column) = (line, self.indent.min(column));
        }
        // Inside brackets, lines may have any indentation.
        if column < self.indent && self.depth == 0 {
            let message = "this line is indented less than the first one".to_owned();
            return Err(Misplaced { message, span });
        }
        if line < self.line {
            let message =
                "`tile!` needs the lines and columns of its text: it can't be made by another macro";
            return Err(Misplaced { message: message.to_owned(), span });
        }
        // A token that replaces two tokens, such as `/ /`, may already extend beyond this column.
        self.layout.text.extend(std::iter::repeat_n(' ', column.saturating_sub(self.column)));
        self.column = self.column.max(column);
        self.layout.tokens.push((self.layout.text.len(), span));
        self.layout.text += text;
        match text.rsplit_once('\n') {
            None => self.column += text.chars().count(),
            Some((before, last)) => {
                self.line += before.matches('\n').count() + 1;
                // The lines of a string begin at the first column of the program.
                self.column = 1 + last.chars().count();
            }
        }
        if text == "#" {
            self.commented.insert(line);
        }
        self.ends.insert(self.line, (self.column, span));
        Ok(())
    }

    /// Finds comments that Rust removed after a token. Without this check, the text `N // 2` would silently
    /// become `N`.
    fn look_for_comments(&self) -> Result<(), Misplaced> {
        // If the program is not in a file, there is nothing to check.
        let file = self.ends.values().next().and_then(|(_, span)| span.local_file());
        let Some(program) = file.and_then(|path| std::fs::read_to_string(path).ok()) else { return Ok(()) };
        let ends = self.ends.iter().filter(|(line, _)| !self.commented.contains(line));
        let ends = ends.map(|(line, (column, _))| (*line, *column));
        match comment_after(&program, ends).and_then(|line| self.ends.get(&line)) {
            None => Ok(()),
            Some((_, span)) => {
                let message = "Rust takes `//` for a comment: write `/ /` to divide, and `#` for comments after a statement";
                Err(Misplaced { message: message.to_owned(), span: *span })
            }
        }
    }
}

/// Returns the first of these lines that has a Rust comment after the column where its last token ends.
fn comment_after(program: &str, ends: impl Iterator<Item = (usize, usize)>) -> Option<usize> {
    let lines: Vec<&str> = program.lines().collect();
    ends.filter(|&(line, column)| {
        let rest = lines.get(line - 1).and_then(|l| l.char_indices().nth(column - 1).map(|(at, _)| &l[at..]));
        rest.is_some_and(|rest| rest.trim_start().starts_with("//"))
    })
    .map(|(line, _)| line)
    .next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_after_something_are_found() {
        let program = "tile! {\n  // One of Rust's.\n  é = N // 2\n  y = N / / 2\n}\n";
        // The columns after `N` and `2`.
        assert_eq!(comment_after(program, [(3, 8), (4, 14)].into_iter()), Some(3));
        assert_eq!(comment_after(program, [(4, 14)].into_iter()), None);
        assert_eq!(comment_after(program, [(9, 1)].into_iter()), None);
    }
}
