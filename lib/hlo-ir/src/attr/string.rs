//! Strings in HLO text: C escapes, and strings printed without quotes because they look like JSON.
//!
//! A string is a sequence of bytes. Escapes such as `\377` represent bytes that are not UTF-8, which
//! serialized configurations contain.

use super::{AttrError, AttrReader, AttrValue, ComputationNames};
use crate::Span;
use crate::names::is_word;
use std::borrow::Cow;
use std::fmt;

/// A string value, unescaped.
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HloString(Box<[u8]>);

impl HloString {
    /// Creates a string from bytes.
    pub fn from_bytes(bytes: impl Into<Box<[u8]>>) -> Self {
        Self(bytes.into())
    }

    /// Returns the bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the text, if it is UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    /// Returns the text, with replacement characters for invalid UTF-8.
    pub fn to_text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }

    /// Returns whether the string is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Prints the string without quotes if it then reads back as a JSON dictionary, and otherwise in quotes.
    /// XLA prints configurations and frontend attributes this way.
    ///
    /// # Errors
    /// The errors of `f`.
    pub fn write_bare_or_quoted(&self, f: &mut dyn fmt::Write) -> fmt::Result {
        match self.as_str() {
            Some(text) if prints_bare(text) => f.write_str(text),
            _ => write_quoted(f, &self.0),
        }
    }
}

impl From<&str> for HloString {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().into())
    }
}

impl PartialEq<str> for HloString {
    fn eq(&self, other: &str) -> bool {
        *self.0 == *other.as_bytes()
    }
}

impl PartialEq<&str> for HloString {
    fn eq(&self, other: &&str) -> bool {
        *self == **other
    }
}

/// Quoted and escaped.
impl fmt::Display for HloString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_quoted(f, &self.0)
    }
}

impl fmt::Debug for HloString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_quoted(f, &self.0)
    }
}

impl AttrValue for HloString {
    const RULE: &'static str = "quoted";

    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        r.string()
    }
    fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
        write_quoted(f, &self.0)
    }
}

/// Prints bytes in double quotes with C escapes: `\n`, `\r`, `\t`, quotes and the backslash by name, all
/// other non-printable bytes as three octal digits.
///
/// # Errors
/// The errors of `f`.
pub fn write_quoted(f: &mut dyn fmt::Write, bytes: &[u8]) -> fmt::Result {
    f.write_str("\"")?;
    write_escaped(f, bytes)?;
    f.write_str("\"")
}

/// Prints the key of an entry, without the `=`: bare if it is a word, otherwise in quotes.
pub(super) fn write_key(f: &mut dyn fmt::Write, key: &str) -> fmt::Result {
    if is_word(key) { f.write_str(key) } else { write_quoted(f, key.as_bytes()) }
}

/// Prints bytes with C escapes as [`write_quoted`] does, without the quotes.
pub(super) fn write_escaped(f: &mut dyn fmt::Write, bytes: &[u8]) -> fmt::Result {
    let plain = |b: u8| (b' '..=b'~').contains(&b) && !matches!(b, b'"' | b'\'' | b'\\');
    let mut rest = bytes;
    while !rest.is_empty() {
        let n = rest.iter().position(|&b| !plain(b)).unwrap_or(rest.len());
        let (run, after) = rest.split_at(n);
        f.write_str(std::str::from_utf8(run).unwrap_or_default())?;
        let Some((&b, after)) = after.split_first() else { break };
        match b {
            b'\n' => f.write_str("\\n")?,
            b'\r' => f.write_str("\\r")?,
            b'\t' => f.write_str("\\t")?,
            b'"' => f.write_str("\\\"")?,
            b'\'' => f.write_str("\\'")?,
            b'\\' => f.write_str("\\\\")?,
            _ => write!(f, "\\{b:03o}")?,
        }
        rest = after;
    }
    Ok(())
}

/// An invalid escape: its range in the text, and the reason.
struct BadEscape {
    range: std::ops::Range<usize>,
    why: &'static str,
}

/// Replaces the escapes of a text by the bytes that they represent.
fn unescape(text: &str) -> Result<Vec<u8>, BadEscape> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&b) = bytes.get(at) {
        if b != b'\\' {
            out.push(b);
            at += 1;
            continue;
        }
        let start = at;
        let bad = |end: usize, why| BadEscape { range: start..end.min(bytes.len()), why };
        at += 2;
        let simple = match bytes.get(start + 1) {
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'a') => 7,
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'v') => 11,
            Some(&c @ (b'\\' | b'?' | b'\'' | b'"')) => c,
            Some(b'0'..=b'7') => {
                let digits = count(&bytes[start + 1..], 3, |b| matches!(b, b'0'..=b'7'));
                at = start + 1 + digits;
                let value = number(&bytes[start + 1..at], 8);
                u8::try_from(value).map_err(|_| bad(at, "an octal escape is at most `\\377`"))?
            }
            Some(b'x' | b'X') => {
                let digits = count(&bytes[start + 2..], usize::MAX, |b| b.is_ascii_hexdigit());
                at = start + 2 + digits;
                if digits == 0 {
                    return Err(bad(at, "`\\x` needs hexadecimal digits"));
                }
                let value = number(&bytes[start + 2..at], 16);
                u8::try_from(value).map_err(|_| bad(at, "a hexadecimal escape is at most `\\xff`"))?
            }
            Some(&kind @ (b'u' | b'U')) => {
                let wanted = if kind == b'u' { 4 } else { 8 };
                let digits = count(&bytes[start + 2..], wanted, |b| b.is_ascii_hexdigit());
                at = start + 2 + digits;
                let scalar = (digits == wanted).then(|| number(&bytes[start + 2..at], 16));
                let Some(c) = scalar.and_then(char::from_u32) else {
                    return Err(bad(at, "`\\u` needs 4 and `\\U` 8 digits of a Unicode character"));
                };
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
            _ => {
                // The range must not split a multi-byte character.
                let end = text[start + 1..].chars().next().map_or(start + 1, |c| start + 1 + c.len_utf8());
                return Err(bad(end, "no such escape: write `\\\\` for a backslash"));
            }
        };
        out.push(simple);
    }
    Ok(out)
}

fn count(bytes: &[u8], limit: usize, keep: impl Fn(u8) -> bool) -> usize {
    bytes.iter().take(limit).take_while(|&&b| keep(b)).count()
}

/// Returns the value of digits, or `u32::MAX` if it is larger.
fn number(digits: &[u8], base: u32) -> u32 {
    digits.iter().fold(0u32, |n, &b| {
        let digit = char::from(b).to_digit(base).unwrap_or(0);
        n.saturating_mul(base).saturating_add(digit)
    })
}

impl AttrReader<'_> {
    /// Reads a string in double or single quotes.
    ///
    /// # Errors
    /// The next token is not in quotes, the quotes are not closed, or an escape is invalid.
    pub fn string(&mut self) -> Result<HloString, AttrError> {
        let start = self.offset_of_next();
        let rest = self.remaining();
        let quote = match rest.as_bytes().first() {
            Some(&q @ (b'"' | b'\'')) => q,
            _ => return Err(self.expected("a string such as `\"x\"`")),
        };
        let Some(end) = closing_quote(rest.as_bytes(), quote) else {
            return Err(self.expected("a string that is closed"));
        };
        let inner = &rest[1..end];
        self.advance(end + 1);
        if !inner.as_bytes().contains(&b'\\') {
            return Ok(inner.into());
        }
        unescape(inner).map(HloString::from_bytes).map_err(|bad| {
            let at = start + 1;
            AttrError::with_message(Span::new(at + bad.range.start, at + bad.range.end), bad.why.into())
        })
    }

    /// Reads the key of an entry and the `=` after it. The key is a word, or any text in quotes.
    ///
    /// # Errors
    /// The next token is not a key, no `=` follows directly, or a quoted key is not UTF-8.
    pub(super) fn key(&mut self) -> Result<Box<str>, AttrError> {
        if self.peek() != b'"' {
            return self.attribute_name().map(Box::from);
        }
        let start = self.offset_of_next();
        let key = self.string()?;
        if !self.eat_next("=") {
            return Err(self.expected("`=`"));
        }
        key.as_str().map(Box::from).ok_or_else(|| self.error_since(start, "a key is UTF-8".into()))
    }

    /// Reads a string in quotes, or a balanced `{…}`, which is stored as written.
    ///
    /// # Errors
    /// The next token is neither, the quotes or braces are not closed, or an escape of the string is invalid.
    pub fn string_or_dict(&mut self) -> Result<HloString, AttrError> {
        match self.peek() {
            b'{' => {
                let rest = self.remaining();
                let Some(end) = dict_end(rest.as_bytes()) else {
                    return Err(self.expected("a dictionary whose braces are closed"));
                };
                self.advance(end);
                Ok(rest[..end].into())
            }
            b'"' | b'\'' => self.string(),
            _ => Err(self.expected("a string such as `\"x\"` or a dictionary such as `{\"k\": 1}`")),
        }
    }
}

/// Returns the position of the quote that closes the string at the start of `bytes`.
fn closing_quote(bytes: &[u8], quote: u8) -> Option<usize> {
    let mut at = 1;
    loop {
        let n = bytes.get(at..)?.iter().position(|&b| b == quote || b == b'\\')?;
        if bytes[at + n] == quote {
            return Some(at + n);
        }
        at += n + 2;
    }
}

/// Returns the end of the `{…}` at the start of `bytes`. Counts braces outside double-quoted strings and
/// ignores everything else. Used for the values of `backend_config=` and of the keys of
/// `frontend_attributes=`.
pub fn dict_end(bytes: &[u8]) -> Option<usize> {
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(&b) = bytes.get(at) {
        match b {
            b'{' => depth += 1,
            b'}' if depth <= 1 => return Some(at + 1),
            b'}' => depth -= 1,
            b'"' => at += closing_quote(&bytes[at..], b'"')?,
            _ => {}
        }
        at += 1;
    }
    None
}

/// Returns whether `text`, printed without quotes, reads back as a dictionary of the same bytes.
fn prints_bare(text: &str) -> bool {
    text.starts_with('{') && dict_end(text.as_bytes()) == Some(text.len()) && !text.contains('\0')
}
