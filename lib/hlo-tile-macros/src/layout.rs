//! From tokens to a text that is laid out as they are.

use proc_macro::{Delimiter, Span, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};

/// A text, and where its parts stand in the program.
pub(crate) struct Layout {
    /// The text: as many lines as the tokens have, indented less by as much as the first one is.
    pub(crate) text: String,
    /// The line of the program where it begins, from 1 on.
    pub(crate) line: usize,
    /// Where each token begins in the text, in order.
    tokens: Vec<(usize, Span)>,
}

/// What stands where Tile can't have it.
pub(crate) struct Misplaced {
    pub(crate) message: String,
    pub(crate) span: Span,
}

impl Layout {
    /// Lays out tokens.
    ///
    /// # Errors
    /// A line is indented less than the first, a comment of Rust follows something, or the tokens have no places.
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

    /// The place of the token at an offset of the text, or of the last one before it.
    pub(crate) fn span_at(&self, offset: usize) -> Span {
        let after = self.tokens.partition_point(|(start, _)| *start <= offset);
        self.tokens.get(after.saturating_sub(1)).map_or_else(Span::call_site, |(_, span)| *span)
    }
}

struct Writer {
    layout: Layout,
    /// Where in the program the text has come to.
    line: usize,
    column: usize,
    /// The column of the first token.
    indent: usize,
    /// How many brackets are open.
    depth: usize,
    /// For each line that has tokens where the last of them ends, and that token.
    ends: BTreeMap<usize, (usize, Span)>,
    /// The lines that have a comment of Tile's, in which anything may stand.
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
                    // Rust takes `//` for a comment; `/ /` is what it can read.
                    let second = tokens.next_if(|t| matches!(t, TokenTree::Punct(p) if p.as_char() == '/'));
                    self.token(if second.is_some() { "//" } else { "/" }, slash.span())?;
                }
                other => self.token(&other.to_string(), other.span())?,
            }
        }
        Ok(())
    }

    /// Writes a token where it stands.
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
        // Within brackets lines begin anywhere.
        if column < self.indent && self.depth == 0 {
            let message = "this line is indented less than the first one".to_owned();
            return Err(Misplaced { message, span });
        }
        if line < self.line {
            let message =
                "`tile!` needs the lines and columns of its text: it can't be made by another macro";
            return Err(Misplaced { message: message.to_owned(), span });
        }
        // Tokens that another one is made of, such as `/ /`, may have come further.
        self.layout.text.extend(std::iter::repeat_n(' ', column.saturating_sub(self.column)));
        self.column = self.column.max(column);
        self.layout.tokens.push((self.layout.text.len(), span));
        self.layout.text += text;
        match text.rsplit_once('\n') {
            None => self.column += text.chars().count(),
            Some((before, last)) => {
                self.line += before.matches('\n').count() + 1;
                // A string's lines begin where those of the program do.
                self.column = 1 + last.chars().count();
            }
        }
        if text == "#" {
            self.commented.insert(line);
        }
        self.ends.insert(self.line, (self.column, span));
        Ok(())
    }

    /// Finds what Rust took for a comment after something else: in `N // 2` it would be a part of the text that is not there.
    fn look_for_comments(&self) -> Result<(), Misplaced> {
        // Where the program is not in a file there is nothing to look at.
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

/// The first of these lines that has a comment of Rust after the column where its last token ends.
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
