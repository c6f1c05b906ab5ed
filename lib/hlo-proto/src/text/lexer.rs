//! Tokens of the text form.

use hlo_ir::Span;
use hlo_ir::diag::Diag;

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub enum Token<'t> {
    /// A name of a field or of an enumeration value.
    Name(&'t str),
    /// A number as written, without its sign.
    Number(&'t str),
    /// A string after unescaping.
    String(Vec<u8>),
    /// One of `{}<>[]:,;-`, or any other single character.
    Symbol(char),
    /// The end of the text.
    End,
}

/// A lexer with one token of lookahead.
pub struct Lexer<'t> {
    text: &'t str,
    at: usize,
    /// The next token.
    next: Token<'t>,
    /// The span of the next token.
    span: Span,
}

impl<'t> Lexer<'t> {
    /// Creates a lexer at the first token of a text.
    pub fn new(text: &'t str) -> Result<Self, Diag> {
        let mut lexer = Self { text, at: 0, next: Token::End, span: Span::default() };
        lexer.advance()?;
        Ok(lexer)
    }

    /// Returns the next token without consuming it.
    pub fn peek(&self) -> &Token<'t> {
        &self.next
    }

    /// Returns the span of the next token.
    pub fn span(&self) -> Span {
        self.span
    }

    /// Consumes the next token.
    pub fn take(&mut self) -> Result<Token<'t>, Diag> {
        let token = std::mem::replace(&mut self.next, Token::End);
        self.advance()?;
        Ok(token)
    }

    /// Consumes the next token if it is the given symbol. Returns whether it did.
    pub fn eat(&mut self, symbol: char) -> Result<bool, Diag> {
        let found = self.next == Token::Symbol(symbol);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    /// Returns the error that `what` is expected here.
    pub fn expected(&self, what: &str) -> Diag {
        let found = match &self.next {
            Token::Name(text) | Token::Number(text) => format!("`{text}`"),
            Token::String(_) => "a string".into(),
            Token::Symbol(c) => format!("`{c}`"),
            Token::End => "the end of the text".into(),
        };
        Diag::error(format!("expected {what}, found {found}")).at(self.span, "")
    }

    fn advance(&mut self) -> Result<(), Diag> {
        self.skip_blanks();
        let start = self.at;
        let rest = &self.text[start..];
        let length_of = |keep: fn(char) -> bool| rest.find(|c| !keep(c)).unwrap_or(rest.len());
        self.next = match rest.chars().next() {
            None => Token::End,
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let length = length_of(|c| c.is_ascii_alphanumeric() || c == '_');
                self.at += length;
                Token::Name(&rest[..length])
            }
            Some(c) if c.is_ascii_digit() || c == '.' => {
                self.at += number_length(rest);
                Token::Number(&rest[..self.at - start])
            }
            Some(quote @ ('"' | '\'')) => Token::String(self.string(quote)?),
            Some(c) => {
                self.at += c.len_utf8();
                Token::Symbol(c)
            }
        };
        self.span = Span::new(start, self.at);
        Ok(())
    }

    /// Skips whitespace, and comments from `#` to the end of the line.
    fn skip_blanks(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            let blanks = rest.len() - rest.trim_start().len();
            self.at += blanks;
            if !self.text[self.at..].starts_with('#') {
                return;
            }
            let rest = &self.text[self.at..];
            self.at += rest.find('\n').unwrap_or(rest.len());
        }
    }

    /// Reads a string, starting at its opening quote.
    fn string(&mut self, quote: char) -> Result<Vec<u8>, Diag> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut out = Vec::new();
        self.at += 1;
        loop {
            match bytes.get(self.at) {
                None | Some(b'\n') => {
                    return Err(Diag::error("a string does not end").at(Span::new(start, self.at), ""));
                }
                Some(&b) if b == quote as u8 => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => self.escape(&mut out)?,
                Some(&b) => {
                    out.push(b);
                    self.at += 1;
                }
            }
        }
    }

    /// Reads an escape, starting at its backslash.
    fn escape(&mut self, out: &mut Vec<u8>) -> Result<(), Diag> {
        let start = self.at;
        let rest = &self.text.as_bytes()[start + 1..];
        let digits = |from: usize, most: usize, radix: u32| {
            let is_digit = |b: &&u8| char::from(**b).is_digit(radix);
            let length = rest.iter().skip(from).take(most).take_while(is_digit).count();
            let text = std::str::from_utf8(&rest[from..from + length]).unwrap_or_default();
            u32::from_str_radix(text, radix).ok().map(|n| (n, 1 + from + length))
        };
        let wrong = |end: usize| {
            Diag::error("a string has an escape that there is not").at(Span::new(start, end), "")
        };
        let first = rest.first().copied();
        let (value, length) = match first {
            Some(b'0'..=b'7') => digits(0, 3, 8).ok_or_else(|| wrong(start + 2))?,
            Some(b'x' | b'X') => digits(1, 2, 16).ok_or_else(|| wrong(start + 2))?,
            Some(c @ (b'u' | b'U')) => {
                let most = if c == b'u' { 4 } else { 8 };
                let read = digits(1, most, 16).filter(|&(_, length)| length == most + 2);
                let (value, length) = read.ok_or_else(|| wrong(start + 2))?;
                let c = char::from_u32(value).ok_or_else(|| wrong(start + length))?;
                out.extend(c.encode_utf8(&mut [0; 4]).bytes());
                self.at += length;
                return Ok(());
            }
            Some(b'n') => (10, 2),
            Some(b'r') => (13, 2),
            Some(b't') => (9, 2),
            Some(b'a') => (7, 2),
            Some(b'b') => (8, 2),
            Some(b'f') => (12, 2),
            Some(b'v') => (11, 2),
            Some(c @ (b'"' | b'\'' | b'\\' | b'?')) => (c.into(), 2),
            _ => return Err(wrong(start + 1)),
        };
        out.push(u8::try_from(value).map_err(|_| wrong(start + length))?);
        self.at += length;
        Ok(())
    }
}

/// Returns the length of the number at the start of a text: digits, a fraction, and an exponent with its
/// sign.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let hex = text.starts_with("0x") || text.starts_with("0X");
    let in_number = |(i, b): (usize, &u8)| {
        let after_exponent = i > 0 && matches!(bytes[i - 1], b'e' | b'E') && !hex;
        b.is_ascii_alphanumeric() || *b == b'.' || (matches!(b, b'+' | b'-') && after_exponent)
    };
    bytes.iter().enumerate().position(|(i, b)| !in_number((i, b))).unwrap_or(bytes.len())
}
