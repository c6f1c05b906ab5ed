//! Reads single tokens of MLIR's text from the parts that the grammar finds.

use hlo_ir::Span;
use hlo_ir::cursor::{self, Context, Unexpected};
use hlo_ir::diag::Diag;
use hlo_ir::rules::code;

/// A position in the text. Reading skips blanks and comments between tokens.
pub type Cursor<'a> = cursor::Cursor<'a, Text>;

/// The result of reading.
pub type Result<T> = std::result::Result<T, Fault>;

/// The reason why something could not be read.
#[derive(Debug)]
pub enum Fault {
    /// An error to report.
    Error(Box<Diag>),
    /// An error that was already reported, such as the use of a value whose operation could not be read.
    Reported,
}

impl From<Diag> for Fault {
    fn from(diag: Diag) -> Self {
        Self::Error(Box::new(diag))
    }
}

/// The context of a cursor, which is empty.
#[derive(Clone, Copy, Debug)]
pub struct Text;

impl Context for Text {
    type Error = Fault;

    fn error(Unexpected { span, expected, found }: Unexpected) -> Fault {
        let label = if expected.len() <= 40 { format!("expected {expected}") } else { String::new() };
        let diag = Diag::error(format!("expected {expected}, found {found}"));
        diag.with_code(code::SYNTAX).at(span, label).into()
    }
}

/// Returns an error for the text from `start` to the cursor.
#[cold]
pub fn error_since(c: &Cursor<'_>, start: usize, message: impl Into<String>) -> Fault {
    Diag::error(message).with_code(code::SYNTAX).at(c.since(start), "").into()
}

/// Returns an error for a span.
#[cold]
pub fn error_at(span: Span, message: impl Into<String>) -> Fault {
    Diag::error(message).with_code(code::SYNTAX).at(span, "").into()
}

/// Checks whether a word can contain the byte after its first one.
const fn in_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'$')
}

/// Checks whether a name after `%`, `#`, `!` or `^` can contain the byte.
const fn in_suffix(b: u8) -> bool {
    in_word(b) || b == b'-'
}

/// Reads a word such as `dim` or `stablehlo.add`. The result is empty if no word comes next.
pub fn word<'a>(c: &mut Cursor<'a>) -> &'a str {
    let first = c.peek();
    if first.is_ascii_alphabetic() || first == b'_' { c.take_while(in_word) } else { "" }
}

/// Returns the next word without consuming it.
pub fn peek_word<'a>(c: &mut Cursor<'a>) -> &'a str {
    let start = c.offset_of_next();
    let found = word(c);
    c.rewind(start);
    found
}

/// Reads a word that must be present.
pub fn some_word<'a>(c: &mut Cursor<'a>, what: &str) -> Result<&'a str> {
    match word(c) {
        "" => Err(c.expected(what)),
        found => Ok(found),
    }
}

/// Consumes the given word if it comes next. Returns whether it did.
pub fn eat_word(c: &mut Cursor<'_>, wanted: &str) -> bool {
    let found = peek_word(c) == wanted;
    if found {
        c.advance(wanted.len());
    }
    found
}

/// Reads the name after `%`, `#`, `!` or `^`, without blanks in between.
pub fn suffix<'a>(c: &mut Cursor<'a>, what: &str) -> Result<&'a str> {
    let rest = c.rest();
    let len = rest.bytes().position(|b| !in_suffix(b)).unwrap_or(rest.len());
    if len == 0 {
        return Err(c.expected(what));
    }
    c.advance(len);
    Ok(&rest[..len])
}

/// Checks whether a number of any kind comes next.
pub fn at_number(c: &mut Cursor<'_>) -> bool {
    c.peek().is_ascii_digit()
        || c.byte() == b'-' && c.rest().as_bytes().get(1).is_some_and(u8::is_ascii_digit)
}

/// Reads the text of a number: digits, a point, letters and signs. Letters after an integer, as in `2xf32`,
/// are not part of it.
pub fn number<'a>(c: &mut Cursor<'a>, what: &str) -> Result<&'a str> {
    if !at_number(c) {
        return Err(c.expected(what));
    }
    let text = c.rest();
    let len = number_len(text.as_bytes());
    c.advance(len);
    Ok(&text[..len])
}

/// Returns the length of the number at the start of a text.
pub fn number_len(text: &[u8]) -> usize {
    let mut at = usize::from(text.first() == Some(&b'-'));
    let digits = |at: usize| text[at..].iter().take_while(|b| b.is_ascii_digit()).count();
    let is_hex = text[at..].starts_with(b"0x") && text.get(at + 2).is_some_and(u8::is_ascii_hexdigit);
    if is_hex {
        return at + 2 + text[at + 2..].iter().take_while(|b| b.is_ascii_hexdigit()).count();
    }
    at += digits(at);
    if text.get(at) != Some(&b'.') {
        return at;
    }
    at += 1;
    at += digits(at);
    if matches!(text.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
        let exponent = digits((at + 1 + sign).min(text.len()));
        at += if exponent > 0 { 1 + sign + exponent } else { 0 };
    }
    at
}

/// Returns the value of an integer's digits, or `None` if it is too large.
pub fn integer_value(digits: &str) -> Option<i128> {
    let (sign, magnitude) = match digits.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, digits),
    };
    let value = match magnitude.strip_prefix("0x") {
        Some(hex) => i128::from_str_radix(hex, 16).ok()?,
        None => magnitude.parse::<i128>().ok()?,
    };
    Some(sign * value)
}

/// Reads an integer in the range of a type.
pub fn integer<T: TryFrom<i128>>(c: &mut Cursor<'_>) -> Result<T> {
    let start = c.offset_of_next();
    let digits = number(c, "an integer")?;
    if digits.contains('.') {
        return Err(error_since(c, start, format!("`{digits}` is no integer")));
    }
    let value = integer_value(digits).and_then(|v| T::try_from(v).ok());
    value.ok_or_else(|| error_since(c, start, format!("{digits} is out of range")))
}

/// Reads `true` or `false`.
pub fn boolean(c: &mut Cursor<'_>) -> Result<bool> {
    match peek_word(c) {
        found @ ("true" | "false") => {
            c.advance(found.len());
            Ok(found == "true")
        }
        _ => Err(c.expected("`true` or `false`")),
    }
}

/// Reads the bytes of a string. `\n`, `\t`, `\\`, `\"` and `\0A` are escapes of one byte.
pub fn string(c: &mut Cursor<'_>) -> Result<Vec<u8>> {
    let start = c.offset_of_next();
    if !c.eat("\"") {
        return Err(c.expected("a string"));
    }
    let text = c.rest().as_bytes();
    let mut out = Vec::new();
    let mut at = 0;
    loop {
        let plain = text[at..].iter().position(|b| matches!(b, b'"' | b'\\'));
        let Some(plain) = plain else { return Err(error_since(c, start, "the string is not closed")) };
        out.extend_from_slice(&text[at..at + plain]);
        at += plain + 1;
        if text[at - 1] == b'"' {
            c.advance(at);
            return Ok(out);
        }
        let hex = |i: usize| text.get(i).and_then(|&b| (b as char).to_digit(16));
        let byte = match (text.get(at), hex(at), hex(at + 1)) {
            (Some(b'n'), ..) => b'\n',
            (Some(b't'), ..) => b'\t',
            (Some(&b @ (b'"' | b'\\')), ..) => b,
            (_, Some(high), Some(low)) => {
                at += 1;
                (high * 16 + low) as u8
            }
            _ => {
                c.advance(at);
                let span = Span::new(c.offset() - 1, c.offset());
                return Err(error_at(
                    span,
                    "`\\` is followed by none of `n`, `t`, `\"`, `\\` and two hexadecimal digits",
                ));
            }
        };
        out.push(byte);
        at += 1;
    }
}

/// Reads a string that is UTF-8.
pub fn text(c: &mut Cursor<'_>) -> Result<String> {
    let start = c.offset_of_next();
    let bytes = string(c)?;
    String::from_utf8(bytes).map_err(|_| error_since(c, start, "the string is not UTF-8"))
}

/// Reads `@name` or `@"name"` and returns the name.
pub fn symbol(c: &mut Cursor<'_>) -> Result<String> {
    if !c.eat("@") {
        return Err(c.expected("a symbol such as `@main`"));
    }
    if c.byte() == b'"' { text(c) } else { suffix(c, "a symbol's name").map(str::to_owned) }
}
