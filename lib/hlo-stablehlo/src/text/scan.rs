//! The pass over the text that runs before the grammar. It blanks comments and the contents of strings, and
//! checks that brackets and quotes are closed and that brackets do not nest too deeply. The grammar can
//! therefore recurse without a limit of its own, and can search for a closing bracket without regard to
//! comments and strings.

use crate::tree::MAX_DEPTH;
use hlo_ir::Span;
use hlo_ir::diag::Diag;
use hlo_ir::rules::code;

/// Maximum nesting depth of brackets. A region may take two, `({`.
const MAX_BRACKETS: usize = 2 * MAX_DEPTH;

/// The bytes that the scan examines.
const SPECIAL: [bool; 256] = {
    let mut table = [false; 256];
    let bytes = b"\"/{}()[]<>\0";
    let mut i = 0;
    while i < bytes.len() {
        table[bytes[i] as usize] = true;
        i += 1;
    }
    table
};

/// Returns the text with comments and the arrows inside angle brackets replaced by blanks, and with the
/// contents of strings replaced by `_`. Positions do not change.
///
/// # Errors
/// A bracket that is not closed or not open, or that nests too deeply; a string without an end; a NUL byte.
pub fn scan(text: &str) -> Result<String, Diag> {
    let mut scanner =
        Scanner { text, bytes: text.as_bytes(), out: text.as_bytes().to_vec(), open: Vec::new() };
    scanner.run()?;
    // Comments and strings are blanked as a whole, so the remaining text is still UTF-8.
    String::from_utf8(scanner.out).map_err(|e| Diag::error(e.to_string()))
}

struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    out: Vec<u8>,
    /// The open brackets: position and kind.
    open: Vec<(usize, u8)>,
}

impl Scanner<'_> {
    fn run(&mut self) -> Result<(), Diag> {
        let mut at = 0;
        while let Some(step) = self.bytes[at..].iter().position(|&b| SPECIAL[usize::from(b)]) {
            at += step;
            at = match self.bytes[at] {
                b'"' => self.string(at)?,
                b'/' => self.comment(at),
                0 => {
                    let diag = Diag::error("the text has a NUL byte: it is not StableHLO text");
                    return Err(diag.with_code(code::NOT_HLO).at(one(at), ""));
                }
                open @ (b'(' | b'[' | b'{' | b'<') => {
                    self.open.push((at, open));
                    if self.open.len() > MAX_BRACKETS {
                        let message = format!("brackets nest more than {MAX_BRACKETS} deep");
                        return Err(Diag::error(message).with_code(code::BRACKET_DEPTH).at(one(at), ""));
                    }
                    at + 1
                }
                b'>' if at > 0 && self.bytes[at - 1] == b'-' => {
                    self.arrow(at);
                    at + 1
                }
                close => {
                    self.close(at, close)?;
                    at + 1
                }
            };
        }
        match self.open.pop() {
            Some((at, _)) => Err(self.unclosed(at)),
            None => Ok(()),
        }
    }

    /// Blanks an arrow inside angle brackets, because its `>` must not look like a closing bracket.
    fn arrow(&mut self, at: usize) {
        if self.open.iter().any(|&(_, open)| open == b'<') {
            self.out[at - 1..=at].fill(b' ');
        }
    }

    fn close(&mut self, at: usize, close: u8) -> Result<(), Diag> {
        let matches =
            |open: u8| matches!((open, close), (b'(', b')') | (b'[', b']') | (b'{', b'}') | (b'<', b'>'));
        match self.open.pop() {
            Some((_, open)) if matches(open) => Ok(()),
            Some((open, _)) => {
                let diag = self.unclosed(open);
                Err(diag.and(one(at), format!("this `{}` does not close it", close as char)))
            }
            None => {
                let message = format!("`{}` closes nothing", close as char);
                Err(Diag::error(message).with_code(code::BRACKET_CLOSE).at(one(at), ""))
            }
        }
    }

    fn unclosed(&self, at: usize) -> Diag {
        let message = format!("`{}` is not closed", self.bytes[at] as char);
        Diag::error(message).with_code(code::BRACKET_OPEN).at(one(at), "")
    }

    /// Blanks a string and returns the position after it. A string cannot contain a line break.
    fn string(&mut self, start: usize) -> Result<usize, Diag> {
        let mut at = start + 1;
        loop {
            let rest = &self.bytes[at.min(self.bytes.len())..];
            match rest.iter().position(|b| matches!(b, b'"' | b'\\' | b'\n')) {
                Some(n) if rest[n] == b'"' => {
                    self.out[start + 1..at + n].fill(b'_');
                    return Ok(at + n + 1);
                }
                Some(n) if rest[n] == b'\\' => at += n + 2,
                found => {
                    let end = found.map_or(self.text.len(), |n| at + n);
                    let diag = Diag::error("the string does not end in its line");
                    return Err(diag.with_code(code::STRING_END).at(Span::new(start, end), ""));
                }
            }
        }
    }

    /// Blanks a comment if there is one, and returns the position after it.
    fn comment(&mut self, start: usize) -> usize {
        if self.bytes.get(start + 1) != Some(&b'/') {
            return start + 1;
        }
        let rest = &self.bytes[start..];
        let end = start + rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
        self.out[start..end].fill(b' ');
        end
    }
}

fn one(at: usize) -> Span {
    Span::new(at, at + 1)
}
