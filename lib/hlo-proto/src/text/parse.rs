//! Parser of the text form: converts it to the binary form.

use super::lexer::{Lexer, Token};
use crate::descriptor::{Field, Kind, MessageType};
use crate::wire::{MAX_DEPTH, Value, push_field};
use hlo_ir::Span;
use hlo_ir::diag::Diag;
use std::collections::BTreeMap;

/// The result of parsing a text.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The message in binary form.
    pub bytes: Vec<u8>,
    /// One warning for each unknown field, with the span of its first occurrence.
    pub warnings: Vec<Diag>,
}

/// Parses a message of the given type. Fields that the type does not have are dropped with a warning.
///
/// # Errors
/// Diagnostics with the positions of the errors.
pub fn parse(text: &str, ty: &MessageType) -> Result<Parsed, Vec<Diag>> {
    if u32::try_from(text.len()).is_err() {
        return Err(vec![Diag::error("the text is larger than 4 GiB")]);
    }
    let read = || {
        let mut parser = Parser { lexer: Lexer::new(text)?, unknown: BTreeMap::new() };
        let mut bytes = Vec::new();
        parser.fields(Some(ty), None, 0, &mut bytes)?;
        let warning = |((message, name), (count, span)): ((&str, String), (usize, Span))| {
            let times = if count == 1 { String::new() } else { format!(" ({count} times)") };
            Diag::warning(format!("{message}: field `{name}` is not known, and left out{times}")).at(span, "")
        };
        Ok(Parsed { bytes, warnings: parser.unknown.into_iter().map(warning).collect() })
    };
    read().map_err(|diag| vec![diag])
}

/// Returns the names of a message's outermost fields, or `None` if the text does not start like a message.
pub fn outermost_fields(text: &str) -> Option<Vec<&str>> {
    let mut parser = Parser { lexer: Lexer::new(text).ok()?, unknown: BTreeMap::new() };
    let mut names = Vec::new();
    while let Ok(Token::Name(name)) = parser.lexer.take() {
        let colon = parser.lexer.eat(':').ok()?;
        if !colon && !matches!(parser.lexer.peek(), Token::Symbol('{' | '<')) {
            break;
        }
        if names.last() != Some(&name) {
            names.push(name);
        }
        if parser.skip_value().and_then(|()| parser.separator()).is_err() {
            break;
        }
    }
    (!names.is_empty()).then_some(names)
}

struct Parser<'t> {
    lexer: Lexer<'t>,
    /// The number of occurrences of an unknown field and the span of the first, by message and field name.
    unknown: BTreeMap<(&'static str, String), (usize, Span)>,
}

impl<'t> Parser<'t> {
    /// Reads fields up to the symbol that closes the message, or to the end. In a message of unknown type,
    /// fields are named by numbers.
    fn fields(
        &mut self,
        ty: Option<&MessageType>,
        close: Option<char>,
        depth: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), Diag> {
        if depth > MAX_DEPTH {
            let message = format!("messages nest more than {MAX_DEPTH} deep");
            return Err(Diag::error(message).at(self.lexer.span(), ""));
        }
        loop {
            match (self.lexer.peek(), close) {
                (Token::End, None) => return Ok(()),
                (Token::Symbol(c), Some(close)) if *c == close => return self.lexer.take().map(drop),
                _ => self.field(ty, depth, out)?,
            }
        }
    }

    fn field(&mut self, ty: Option<&MessageType>, depth: usize, out: &mut Vec<u8>) -> Result<(), Diag> {
        let span = self.lexer.span();
        let (field, name) = match self.lexer.peek() {
            Token::Name(name) => (ty.and_then(|ty| ty.field_named(name)).copied(), (*name).to_owned()),
            Token::Number(text) => {
                let Some(number) = text.parse().ok().filter(|n| (1..1 << 29).contains(n)) else {
                    return Err(self.lexer.expected("the name or number of a field"));
                };
                let known = ty.and_then(|ty| ty.field(number)).copied();
                (known.or(Some(unknown_field(number))), (*text).to_owned())
            }
            Token::Symbol('[') => (None, "[…]".to_owned()),
            _ => return Err(self.lexer.expected("the name of a field")),
        };
        if let Token::Symbol(_) = self.lexer.take()? {
            while !self.lexer.eat(']')? {
                if *self.lexer.peek() == Token::End {
                    return Err(self.lexer.expected("`]`"));
                }
                self.lexer.take()?;
            }
        }
        let colon = self.lexer.eat(':')?;
        if !colon && !matches!(self.lexer.peek(), Token::Symbol('{' | '<' | '[')) {
            return Err(self.lexer.expected("`:` and a value, or `{`"));
        }
        match field {
            Some(field) if field.repeated && self.lexer.eat('[')? => self.list(&field, depth, out)?,
            Some(field) => self.value(&field, depth, out)?,
            None => {
                let message = ty.map_or("a message", |ty| ty.name);
                self.unknown.entry((message, name)).or_insert((0, span)).0 += 1;
                self.skip_value()?;
            }
        }
        self.separator()
    }

    fn separator(&mut self) -> Result<(), Diag> {
        let _ = self.lexer.eat(',')? || self.lexer.eat(';')?;
        Ok(())
    }

    /// Reads values up to the closing bracket.
    fn list(&mut self, field: &Field, depth: usize, out: &mut Vec<u8>) -> Result<(), Diag> {
        if self.lexer.eat(']')? {
            return Ok(());
        }
        loop {
            self.value(field, depth, out)?;
            if self.lexer.eat(']')? {
                return Ok(());
            }
            if !self.lexer.eat(',')? {
                return Err(self.lexer.expected("`,` or `]`"));
            }
        }
    }

    fn value(&mut self, field: &Field, depth: usize, out: &mut Vec<u8>) -> Result<(), Diag> {
        let number = field.number;
        let value = match field.kind {
            Kind::Message(ty) => return self.message(Some(ty()), number, depth, out),
            Kind::Opaque => match self.lexer.peek() {
                Token::Symbol('{' | '<') => return self.message(None, number, depth, out),
                _ => return self.untyped(number, out),
            },
            Kind::String | Kind::Bytes => {
                let bytes = self.string()?;
                push_field(out, number, Value::Delimited(&bytes));
                return Ok(());
            }
            Kind::Bool => Value::Varint(self.boolean()?.into()),
            Kind::Enum(values) => Value::Varint(self.name_of(values)? as i64 as u64),
            Kind::Int32 => Value::Varint(self.integer(i32::MIN.into(), i32::MAX.into())? as u64),
            Kind::Int64 => Value::Varint(self.integer(i64::MIN.into(), i64::MAX.into())? as u64),
            Kind::Uint32 => Value::Varint(self.integer(0, u32::MAX.into())? as u64),
            Kind::Uint64 => Value::Varint(self.integer(0, u64::MAX.into())? as u64),
            Kind::Float => Value::Fixed32((self.number::<f32>()?).to_bits()),
            Kind::Double => Value::Fixed64((self.number::<f64>()?).to_bits()),
        };
        push_field(out, number, value);
        Ok(())
    }

    /// Reads a message, starting at its opening brace.
    fn message(
        &mut self,
        ty: Option<&MessageType>,
        number: u32,
        depth: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), Diag> {
        let close = match self.lexer.peek() {
            Token::Symbol('{') => '}',
            Token::Symbol('<') => '>',
            _ => return Err(self.lexer.expected("`{` and a message")),
        };
        self.lexer.take()?;
        let mut bytes = Vec::new();
        self.fields(ty, Some(close), depth + 1, &mut bytes)?;
        push_field(out, number, Value::Delimited(&bytes));
        Ok(())
    }

    /// Reads a value whose type follows only from its spelling. Digits are a varint; `0x` with eight or
    /// sixteen digits is a number of four or eight bytes.
    fn untyped(&mut self, number: u32, out: &mut Vec<u8>) -> Result<(), Diag> {
        match self.lexer.peek() {
            Token::String(_) => {
                let bytes = self.string()?;
                push_field(out, number, Value::Delimited(&bytes));
            }
            Token::Number(text) => {
                let length = text.strip_prefix("0x").map(str::len);
                let value = self.integer(0, u64::MAX.into())? as u64;
                let value = match length {
                    Some(8) => Value::Fixed32(value as u32),
                    Some(16) => Value::Fixed64(value),
                    _ => Value::Varint(value),
                };
                push_field(out, number, value);
            }
            _ => return Err(self.lexer.expected("a number, a string or `{`")),
        }
        Ok(())
    }

    /// Reads one or more adjacent strings and concatenates them.
    fn string(&mut self) -> Result<Vec<u8>, Diag> {
        let mut out = match self.lexer.peek() {
            Token::String(_) => Vec::new(),
            _ => return Err(self.lexer.expected("a string in quotes")),
        };
        while let Token::String(_) = self.lexer.peek() {
            if let Token::String(part) = self.lexer.take()? {
                out.extend(part);
            }
        }
        Ok(out)
    }

    fn boolean(&mut self) -> Result<bool, Diag> {
        let value = match self.lexer.peek() {
            Token::Name("true" | "True" | "t") | Token::Number("1") => true,
            Token::Name("false" | "False" | "f") | Token::Number("0") => false,
            _ => return Err(self.lexer.expected("`true` or `false`")),
        };
        self.lexer.take()?;
        Ok(value)
    }

    fn name_of(&mut self, values: &[(&str, i32)]) -> Result<i32, Diag> {
        let Token::Name(name) = self.lexer.peek() else {
            return self.integer(i32::MIN.into(), i32::MAX.into()).map(|n| n as i32);
        };
        let Some(&(_, number)) = values.iter().find(|(n, _)| n == name) else {
            let names: Vec<&str> = values.iter().map(|&(n, _)| n).collect();
            return Err(self.lexer.expected(&format!("one of {}", names.join(", "))));
        };
        self.lexer.take()?;
        Ok(number)
    }

    fn integer(&mut self, low: i128, high: i128) -> Result<i128, Diag> {
        let span = self.lexer.span();
        let negative = self.lexer.eat('-')?;
        let value = match self.lexer.peek() {
            Token::Number(text) => read_integer(text).map(|n| if negative { -n } else { n }),
            _ => None,
        };
        match value {
            Some(n) if (low..=high).contains(&n) => {
                self.lexer.take()?;
                Ok(n)
            }
            Some(n) => {
                let message = format!("{n} is out of range: it must be from {low} to {high}");
                Err(Diag::error(message).at(span, ""))
            }
            None => Err(self.lexer.expected("an integer")),
        }
    }

    fn number<T: std::str::FromStr + std::ops::Neg<Output = T>>(&mut self) -> Result<T, Diag> {
        let negative = self.lexer.eat('-')?;
        let text = match self.lexer.peek() {
            Token::Name(name) if ["inf", "infinity", "nan"].iter().any(|n| name.eq_ignore_ascii_case(n)) => {
                *name
            }
            Token::Number(text) => text.strip_suffix(['f', 'F']).unwrap_or(text),
            _ => return Err(self.lexer.expected("a number")),
        };
        let Ok(value) = text.parse::<T>() else { return Err(self.lexer.expected("a number")) };
        self.lexer.take()?;
        Ok(if negative { -value } else { value })
    }

    /// Skips a value of any type. The function counts brackets instead of recursing.
    fn skip_value(&mut self) -> Result<(), Diag> {
        let mut depth = 0usize;
        loop {
            match self.lexer.peek() {
                Token::End => return Err(self.lexer.expected("a value")),
                Token::Symbol('{' | '<' | '[') => depth += 1,
                Token::Symbol('}' | '>' | ']') if depth == 0 => return Err(self.lexer.expected("a value")),
                Token::Symbol('}' | '>' | ']') => depth -= 1,
                Token::Symbol('-') if depth == 0 => {
                    self.lexer.take()?;
                    continue;
                }
                _ => {}
            }
            let is_string = matches!(self.lexer.take()?, Token::String(_));
            if depth == 0 && !(is_string && matches!(self.lexer.peek(), Token::String(_))) {
                return Ok(());
            }
        }
    }
}

/// Returns the descriptor of a field that its message type does not contain.
fn unknown_field(number: u32) -> Field {
    Field { number, name: "", kind: Kind::Opaque, repeated: true }
}

/// Parses a decimal number, a hexadecimal number after `0x`, or an octal number after `0`.
fn read_integer(text: &str) -> Option<i128> {
    let (digits, radix) = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&text[2..], 16),
        [b'0', _, ..] => (&text[1..], 8),
        _ => (text, 10),
    };
    u64::from_str_radix(digits, radix).ok().map(i128::from)
}
