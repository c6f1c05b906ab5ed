//! The scan that runs before the grammar. It blanks comments and the contents of strings. It checks that
//! brackets, quotes and comments are closed and how deep brackets nest. The grammar can therefore recurse
//! without its own limit, and can search for a closing bracket without considering comments and strings.

use crate::errors::MAX_ERRORS;
use hlo_ir::Span;
use hlo_ir::attr::dict_end;
use hlo_ir::diag::Diag;
use hlo_ir::rules::code;
use std::borrow::Cow;

/// Maximum nesting depth of brackets. It is much deeper than any real module, and shallow enough for
/// recursive code to print, compare and drop the result.
pub const MAX_DEPTH: usize = 1024;

/// The nesting depth from which the text is read on a separate stack.
pub const SEPARATE_STACK_DEPTH: usize = 100;

/// The result of the scan.
pub struct Scanned<'a> {
    /// The text with comments replaced by blanks and string contents by `_`. Positions are unchanged.
    pub text: Cow<'a, str>,
    /// Unclosed, unopened or too deep brackets, unterminated strings and comments, NUL bytes.
    pub errors: Vec<Diag>,
    /// The positions of unmatched brackets, in ascending order. A syntax error of an instruction that
    /// contains one is a consequence of it.
    pub broken: Vec<usize>,
    /// The positions of the braces that close top-level blocks, in ascending order.
    pub top_level_ends: Vec<usize>,
    /// Whether the rest of the text could not be scanned.
    pub fatal: bool,
    /// The maximum number of open brackets.
    pub depth: usize,
}

/// The byte order mark that some editors write at the start of a UTF-8 text.
pub const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Returns whether the scan must handle this byte.
const fn is_special(b: u8) -> bool {
    matches!(b, b'"' | b'\'' | b'/' | b'{' | b'}' | b'(' | b')' | b'[' | b']' | 0)
}

const SPECIAL: [bool; 256] = {
    let mut table = [false; 256];
    let mut b = 0;
    while b < 256 {
        table[b] = is_special(b as u8);
        b += 1;
    }
    table
};

/// Scans `text`.
pub fn scan(text: &str) -> Scanned<'_> {
    let mut s = Scanner {
        bytes: text.as_bytes(),
        blanked: None,
        open: Vec::new(),
        long_string: None,
        depths: [0; 3],
        frontend_attributes: None,
        unclosed_dictionary: false,
        out: Scanned {
            text: Cow::Borrowed(text),
            errors: Vec::new(),
            broken: Vec::new(),
            top_level_ends: Vec::new(),
            fatal: false,
            depth: 0,
        },
    };
    s.run();
    let Scanner { blanked, mut out, .. } = s;
    out.broken.sort_unstable();
    // Whole comments and strings are blanked byte by byte, so the text remains valid UTF-8.
    if let Some(text) = blanked.and_then(|b| String::from_utf8(b).ok()) {
        out.text = Cow::Owned(text);
    }
    out
}

struct Scanner<'a> {
    bytes: &'a [u8],
    blanked: Option<Vec<u8>>,
    /// The open brackets: position and kind.
    open: Vec<(usize, u8)>,
    /// The start of the last string that contains line breaks. Its first quote may be a mistake.
    long_string: Option<usize>,
    /// The number of open brackets of each kind, counted separately as the grammar's groups do. If brackets
    /// do not match, there may be more than in `open`.
    depths: [usize; 3],
    /// The last opening brace of front-end attributes, whose values may be dictionaries.
    frontend_attributes: Option<usize>,
    /// Whether a dictionary is unclosed.
    unclosed_dictionary: bool,
    out: Scanned<'a>,
}

impl Scanner<'_> {
    fn run(&mut self) {
        let mut at = 0;
        if self.bytes.starts_with(BYTE_ORDER_MARK) {
            at = BYTE_ORDER_MARK.len();
            self.blank(0, at);
        }
        while at < self.bytes.len() && !self.out.fatal {
            let b = self.bytes[at];
            if !SPECIAL[b as usize] {
                at += 1;
                continue;
            }
            at = match b {
                b'"' | b'\'' => self.string(at),
                b'/' => self.comment(at),
                b'{' if self.starts_dictionary(at) => self.dictionary(at),
                b'{' | b'(' | b'[' => self.open(at, b),
                0 => {
                    let diag = Diag::error("the text has a NUL byte: it is not HLO text");
                    self.fail(diag.with_code(code::NOT_HLO).at(one(at), ""))
                }
                _ => self.close(at, b),
            };
        }
        if self.out.fatal {
            return;
        }
        if let Some(&(at, b)) = self.open.last() {
            let end = self.bytes.trim_ascii_end().len();
            // The last character with all its bytes.
            let is_first_byte = |&i: &usize| self.bytes[i] & 0xc0 != 0x80;
            let last = (0..end).rev().find(is_first_byte).unwrap_or(0);
            self.out.broken.push(at);
            self.out.errors.truncate(MAX_ERRORS - 1);
            self.out.errors.push(
                Diag::error(format!("the text ends before this `{}` is closed", b as char))
                    .with_code(code::BRACKET_OPEN)
                    .at(one(at), format!("a `{}` is missing", closing(b) as char))
                    .and(Span::new(last, end), "the text ends here"),
            );
        }
    }

    /// Reports a fatal error and ends the scan.
    fn fail(&mut self, diag: Diag) -> usize {
        self.out.errors.truncate(MAX_ERRORS - 1);
        self.out.errors.push(diag);
        self.out.fatal = true;
        self.bytes.len()
    }

    fn string(&mut self, start: usize) -> usize {
        let end = string_end(self.bytes, start);
        if end < self.bytes.len() {
            if self.bytes[start..end].contains(&b'\n') {
                self.long_string = Some(start);
            }
            self.blanked()[start + 1..end].fill(b'_');
            return end + 1;
        }
        self.fail(
            Diag::error("the text ends inside a string")
                .with_code(code::STRING_END)
                .at(one(start), "the string starts here"),
        )
    }

    /// Returns whether the brace at `at` starts a dictionary. A dictionary contains no comments, no brackets
    /// except braces, and only strings in double quotes.
    fn starts_dictionary(&mut self, at: usize) -> bool {
        let Some(before) = self.bytes[..at].trim_ascii_end().strip_suffix(b"=") else { return false };
        if before.ends_with(b"frontend_attributes") {
            self.frontend_attributes = Some(at);
            return false;
        }
        let around = self.open.last().map(|&(outer, _)| outer);
        before.ends_with(b"backend_config") || (around.is_some() && around == self.frontend_attributes)
    }

    /// Blanks a dictionary. An unclosed dictionary is scanned like other text, to find its errors. All
    /// dictionaries after it are too, because none of them is closed before the text ends.
    fn dictionary(&mut self, start: usize) -> usize {
        let end = if self.unclosed_dictionary { None } else { dict_end(&self.bytes[start..]) };
        match end {
            Some(length) => {
                self.blanked()[start + 1..start + length - 1].fill(b'_');
                start + length
            }
            None => {
                self.unclosed_dictionary = true;
                self.open(start, b'{')
            }
        }
    }

    fn comment(&mut self, start: usize) -> usize {
        let Some(end) = comment_end(self.bytes, start) else {
            let span = Span::new(start, start + 2);
            let diag = Diag::error("the text ends inside a comment").with_code(code::COMMENT_END);
            return self.fail(diag.at(span, "the comment starts here"));
        };
        if end == start + 1 {
            return end;
        }
        self.blank(start, end);
        end
    }

    /// Replaces bytes by blanks, but keeps line breaks.
    fn blank(&mut self, start: usize, end: usize) {
        for b in &mut self.blanked()[start..end] {
            if !matches!(*b, b'\n' | b'\r') {
                *b = b' ';
            }
        }
    }

    fn blanked(&mut self) -> &mut [u8] {
        let bytes = self.bytes;
        self.blanked.get_or_insert_with(|| bytes.to_vec())
    }

    fn open(&mut self, at: usize, b: u8) -> usize {
        let depth = &mut self.depths[kind(b)];
        *depth += 1;
        if self.open.len() == MAX_DEPTH || *depth > MAX_DEPTH {
            return self.fail(
                Diag::error(format!("brackets nest more than {MAX_DEPTH} deep"))
                    .with_code(code::BRACKET_DEPTH)
                    .at(one(at), "one level too deep"),
            );
        }
        self.out.depth = self.out.depth.max(self.open.len() + 1).max(*depth);
        self.open.push((at, b));
        at + 1
    }

    fn close(&mut self, at: usize, b: u8) -> usize {
        let depth = &mut self.depths[kind(b)];
        *depth = depth.saturating_sub(1);
        // The nearest open bracket of this kind. Brackets opened inside it are unclosed.
        let Some(depth) = self.open.iter().rposition(|&(_, o)| closing(o) == b) else {
            self.out.broken.push(at);
            if self.out.errors.len() < MAX_ERRORS {
                let found = format!("nothing is open that this `{}` could close", b as char);
                let mut diag = Diag::error(found).with_code(code::BRACKET_CLOSE).at(one(at), "");
                if let Some(&(o, open)) = self.open.last() {
                    diag = diag.and(
                        one(o),
                        format!("the `{}` open here needs `{}`", open as char, closing(open) as char),
                    );
                }
                if let Some(start) = self.long_string {
                    diag = diag.and(one(start), "the string that starts here goes on over line ends");
                }
                self.out.errors.push(diag);
            }
            return at + 1;
        };
        if let Some(&(inner, o)) = self.open.get(depth + 1) {
            self.out.broken.push(inner);
            if self.out.errors.len() < MAX_ERRORS {
                self.out.errors.push(
                    Diag::error(format!("this `{}` is not closed", o as char))
                        .with_code(code::BRACKET_OPEN)
                        .at(one(inner), format!("a `{}` is missing", closing(o) as char))
                        .and(one(at), format!("before this `{}`", b as char)),
                );
            }
        }
        self.open.truncate(depth);
        if depth == 0 && b == b'}' {
            self.out.top_level_ends.push(at);
        }
        at + 1
    }
}

/// The number of open brackets.
#[derive(Default)]
pub struct Depth(pub usize);

impl Depth {
    /// Counts the brackets in a part of the scanned text.
    pub fn count(&mut self, text: &str) {
        for b in text.bytes() {
            match b {
                b'{' | b'(' | b'[' => self.0 += 1,
                b'}' | b')' | b']' => self.0 = self.0.saturating_sub(1),
                _ => {}
            }
        }
    }
}

/// Returns the span of one byte.
pub fn one(at: usize) -> Span {
    Span::new(at, at + 1)
}

/// Returns the index of a bracket's kind.
pub fn kind(bracket: u8) -> usize {
    match bracket {
        b'(' | b')' => 0,
        b'[' | b']' => 1,
        _ => 2,
    }
}

/// Returns the bracket that closes `open`.
pub fn closing(open: u8) -> u8 {
    match open {
        b'(' => b')',
        b'[' => b']',
        _ => b'}',
    }
}

/// Returns the position of the bracket that closes the one at `open` in a scanned text, or the end of the
/// text if it is unclosed.
pub fn matching(text: &str, open: usize) -> usize {
    let bytes = text.as_bytes();
    let mut depth = 0usize;
    let mut at = open;
    while let Some(&b) = bytes.get(at) {
        match b {
            b'{' | b'(' | b'[' => depth += 1,
            b'}' | b')' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

/// Returns the end of the comment that starts with the slash at `start`, or the offset after the slash if it
/// starts none. Returns `None` if the comment is unclosed.
pub fn comment_end(bytes: &[u8], start: usize) -> Option<usize> {
    let rest = &bytes[start..];
    match rest.get(1) {
        Some(b'/') => Some(rest.iter().position(|&b| b == b'\n' || b == b'\r').unwrap_or(rest.len()) + start),
        Some(b'*') => rest[2..].windows(2).position(|w| w == b"*/").map(|n| start + 2 + n + 2),
        _ => Some(start + 1),
    }
}

/// Returns the position of the quote that ends the string at `start`, or the end of the text.
pub fn string_end(bytes: &[u8], start: usize) -> usize {
    let quote = bytes[start];
    let mut at = start + 1;
    while let Some(&b) = bytes.get(at) {
        match b {
            b'\\' => at += 1,
            b if b == quote => return at,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}
