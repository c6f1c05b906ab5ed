//! The words and brackets of a text that may be malformed.

use crate::scan::{scan, string_end};
use hlo_ir::Span;

/// The kinds of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name, keyword or opcode, including its `%` if it has one.
    Word,
    /// Digits and the characters directly after them, such as `2x3`.
    Number,
    /// A string.
    String,
    /// Any other character, as a byte.
    Other(u8),
    /// The end of the text.
    End,
}

/// A token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lexeme {
    pub kind: Kind,
    pub start: usize,
    pub end: usize,
    /// Whether only blanks and comments precede it on its line.
    pub starts_line: bool,
    /// Whether the text ends inside the token or inside a comment before it.
    pub cut: bool,
}

/// An iterator over the tokens of a text.
pub(super) struct Tokens<'t> {
    text: &'t str,
    /// Whether all brackets, strings and comments are closed. Strings may then contain line breaks.
    pub well_formed: bool,
    /// The comments so far.
    pub comments: Vec<Span>,
    /// Whether the rest of the text contains no `*/`.
    no_comment_end: bool,
    /// The end of the last token.
    at: usize,
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-')
}

impl<'t> Tokens<'t> {
    /// Creates the iterator for `text`.
    pub fn new(text: &'t str) -> Self {
        let scanned = scan(text);
        let well_formed = !scanned.fatal && scanned.errors.is_empty();
        Self { text, well_formed, comments: Vec::new(), no_comment_end: false, at: 0 }
    }

    /// Returns the next token.
    pub fn next(&mut self) -> Lexeme {
        let bytes = self.text.as_bytes();
        let (start, new_line, cut) = self.skip_blanks();
        let mut token = Lexeme { kind: Kind::End, start, end: start, starts_line: new_line, cut };
        let Some(&b) = bytes.get(start) else {
            self.at = bytes.len();
            return token;
        };
        let run =
            |from: usize| bytes[from..].iter().position(|&b| !is_word(b)).map_or(bytes.len(), |n| from + n);
        (token.kind, token.end) = match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => (Kind::Word, run(start)),
            b'%' => (Kind::Word, run(start + 1)),
            b'0'..=b'9' => (Kind::Number, run(start)),
            b'"' | b'\'' => {
                let (end, closed) = self.string(start, b);
                token.cut = !closed && end == bytes.len();
                (Kind::String, end)
            }
            other => (Kind::Other(other), start + 1),
        };
        self.at = token.end;
        token
    }

    /// Returns the end of blanks and comments, whether a line starts in them, and whether the text ends in a
    /// comment.
    fn skip_blanks(&mut self) -> (usize, bool, bool) {
        let bytes = self.text.as_bytes();
        let mut at = self.at;
        let mut new_line = at == 0;
        if at == 0 && self.text.starts_with('\u{feff}') {
            at = '\u{feff}'.len_utf8();
        }
        while let Some(&b) = bytes.get(at) {
            match (b, bytes.get(at + 1)) {
                (b'\n' | b'\r', _) => new_line = true,
                (b' ' | b'\t' | 0x0b | 0x0c, _) => {}
                (b'/', Some(b'/' | b'*')) => {
                    let (end, closed) = self.comment_end(at);
                    self.comments.push(Span::new(at, end));
                    at = end;
                    if !closed && at == bytes.len() {
                        return (at, new_line, true);
                    }
                    continue;
                }
                _ => break,
            }
            at += 1;
        }
        (at, new_line, false)
    }

    /// Returns the end of the comment at `at`, and whether it is a closed block comment.
    fn comment_end(&mut self, at: usize) -> (usize, bool) {
        let is_block = self.text.as_bytes().get(at + 1) == Some(&b'*');
        if is_block && !self.no_comment_end {
            if let Some(n) = self.text[at + 2..].find("*/") {
                return (at + n + 4, true);
            }
            // An unclosed comment is assumed to end with its line.
            self.no_comment_end = true;
        }
        (self.line_end(at), false)
    }

    fn line_end(&self, at: usize) -> usize {
        let bytes = self.text.as_bytes();
        bytes[at..].iter().position(|&b| b == b'\n' || b == b'\r').map_or(bytes.len(), |n| at + n)
    }

    /// Returns the end of the string at `start`, and whether it is closed. Strings in single quotes end with
    /// their line at the latest. In a malformed text, so do strings in double quotes.
    fn string(&self, start: usize, quote: u8) -> (usize, bool) {
        let bytes = self.text.as_bytes();
        if self.well_formed && quote == b'"' {
            let end = string_end(bytes, start);
            return ((end + 1).min(bytes.len()), end < bytes.len());
        }
        let mut at = start + 1;
        while let Some(&b) = bytes.get(at) {
            match b {
                b'\n' | b'\r' => return (at, false),
                b'\\' if !matches!(bytes.get(at + 1), Some(b'\n' | b'\r')) => at += 1,
                _ if b == quote => return (at + 1, true),
                _ => {}
            }
            at += 1;
        }
        (bytes.len(), false)
    }
}
