//! The attributes of a typed call: the dictionary `{name = value : type, …}` in `backend_config`.

use half::{bf16, f16};

use hlo_runtime_core::Error;

/// A value of an attribute dictionary.
#[derive(Clone, Debug, PartialEq)]
pub enum Attribute {
    /// A boolean: `true`, `false`, or a name without a value, which is true.
    Bool(bool),
    /// An integer, and the name of its element type in HLO text. The type is `s64` if none is written, and
    /// empty if it has no name in HLO text.
    Integer(i128, &'static str),
    /// A floating-point number, and the name of its element type. The type is `f64` if none is written.
    Float(f64, &'static str),
    /// A string: `"text"`.
    Text(String),
    /// An array such as `array<i64: 1, 2>`: the name of its element type, and the numbers.
    Array(&'static str, Vec<Attribute>),
    /// A list: `[…]`.
    List(Vec<Attribute>),
    /// A nested dictionary.
    Dictionary(Vec<(String, Attribute)>),
}

/// The maximum nesting depth of values.
const MAX_DEPTH: usize = 64;

/// The attributes of a typed call.
///
/// # Example
/// ```
/// use hlo_custom_call::{Attribute, Attributes};
///
/// let text = b"{uplo = 76 : ui8, scale = 0.5 : f32, batched}";
/// let attributes = Attributes::parse(text).expect("a dictionary");
/// assert_eq!(attributes.letter("uplo", "LU"), Ok('L'));
/// assert_eq!(attributes.get("scale"), Some(&Attribute::Float(0.5, "f32")));
/// assert_eq!(attributes.flag("batched"), Ok(true));
/// assert!(attributes.integer("scale").is_err());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attributes(Vec<(String, Attribute)>);

impl Attributes {
    /// Parses a dictionary. An empty text is an empty dictionary.
    ///
    /// # Errors
    /// Returns an error if the bytes are not UTF-8 or not a dictionary, if text follows the dictionary, or if
    /// the values nest too deeply.
    pub fn parse(config: &[u8]) -> Result<Attributes, Error> {
        let text = std::str::from_utf8(config).map_err(|_| Error("the attributes are no UTF-8".into()))?;
        let mut r = Parser { text, at: 0 };
        r.space();
        if r.at == text.len() {
            return Ok(Attributes::default());
        }
        r.expect("{")?;
        let entries = r.entries(0)?;
        r.space();
        if r.at < text.len() {
            return Err(r.error("the end"));
        }
        Ok(Attributes(entries))
    }

    /// Returns the value of an attribute.
    pub fn get(&self, name: &str) -> Option<&Attribute> {
        self.0.iter().find(|(n, _)| n == name).map(|(_, value)| value)
    }

    /// Returns names and values in the order of the text.
    pub fn entries(&self) -> &[(String, Attribute)] {
        &self.0
    }

    /// Returns the value of an integer attribute.
    ///
    /// # Errors
    /// Returns an error if there is no attribute with this name, or if it is not an integer.
    pub fn integer(&self, name: &str) -> Result<i128, Error> {
        match self.get(name) {
            Some(Attribute::Integer(value, _)) => Ok(*value),
            Some(_) => Err(Error(format!("the attribute `{name}` must be an integer"))),
            None => Err(Error(format!("the attribute `{name}` is missing"))),
        }
    }

    /// Returns the value of a boolean attribute.
    ///
    /// # Errors
    /// Returns an error if there is no attribute with this name, or if it is not a boolean.
    pub fn flag(&self, name: &str) -> Result<bool, Error> {
        match self.get(name) {
            Some(Attribute::Bool(value)) => Ok(*value),
            Some(_) => Err(Error(format!("the attribute `{name}` must be true or false"))),
            None => Err(Error(format!("the attribute `{name}` is missing"))),
        }
    }

    /// Returns the letter of an attribute, which contains the ASCII code of the letter, like LAPACK's
    /// options.
    ///
    /// # Errors
    /// Returns an error if there is no attribute with this name, if it is not an integer, or if it is not the
    /// code of a letter in `of`.
    pub fn letter(&self, name: &str, of: &str) -> Result<char, Error> {
        let value = self.integer(name)?;
        let letter = u8::try_from(value).ok().map(char::from).filter(|&c| of.contains(c));
        letter.ok_or_else(|| {
            let known: Vec<String> = of.chars().map(|c| format!("{} (`{c}`)", c as u32)).collect();
            Error(format!("the attribute `{name}` must be {}, found {value}", known.join(" or ")))
        })
    }
}

/// Returns the number with element type `ty`.
fn typed(number: Attribute, ty: &'static str) -> Attribute {
    match number {
        Attribute::Integer(value, _) => Attribute::Integer(value, ty),
        Attribute::Float(value, _) => Attribute::Float(value, ty),
        other => other,
    }
}

/// Returns the name in HLO text of an MLIR element type, or an empty string if HLO has no such number type.
fn element_name(word: &str) -> &'static str {
    match word {
        "i1" => "pred",
        "i8" | "si8" => "s8",
        "i16" | "si16" => "s16",
        "i32" | "si32" => "s32",
        "i64" | "si64" | "index" => "s64",
        "ui8" => "u8",
        "ui16" => "u16",
        "ui32" => "u32",
        "ui64" => "u64",
        "f16" => "f16",
        "bf16" => "bf16",
        "f32" => "f32",
        "f64" => "f64",
        _ => "",
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn error(&self, expected: &str) -> Error {
        let found: String = self.rest().chars().take(20).collect();
        Error(format!("the attributes can't be read: expected {expected} before `{found}`"))
    }

    fn space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn eat(&mut self, token: &str) -> bool {
        self.space();
        let found = self.rest().starts_with(token);
        self.at += if found { token.len() } else { 0 };
        found
    }

    fn expect(&mut self, token: &str) -> Result<(), Error> {
        if self.eat(token) { Ok(()) } else { Err(self.error(&format!("`{token}`"))) }
    }

    /// Consumes and returns characters while `of` returns true.
    fn take(&mut self, of: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !of(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn word(&mut self) -> &'a str {
        self.space();
        self.take(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '-'))
    }

    /// Reads entries up to the closing brace.
    fn entries(&mut self, depth: usize) -> Result<Vec<(String, Attribute)>, Error> {
        let mut entries = Vec::new();
        while !self.eat("}") {
            if !entries.is_empty() {
                self.expect(",")?;
            }
            self.space();
            let name = if self.rest().starts_with('"') { self.string()? } else { self.word().to_string() };
            if name.is_empty() {
                return Err(self.error("a name"));
            }
            let value = if self.eat("=") { self.value(depth + 1)? } else { Attribute::Bool(true) };
            entries.push((name, value));
        }
        Ok(entries)
    }

    fn value(&mut self, depth: usize) -> Result<Attribute, Error> {
        if depth > MAX_DEPTH {
            return Err(self.error("values that nest less deeply"));
        }
        self.space();
        if self.rest().starts_with('"') {
            return self.string().map(Attribute::Text);
        }
        if self.eat("{") {
            return self.entries(depth).map(Attribute::Dictionary);
        }
        if self.eat("[") {
            return self.list("]", depth).map(Attribute::List);
        }
        if self.eat("array<") {
            let ty = element_name(self.word());
            return if self.eat(":") {
                let numbers = self.list(">", depth)?.into_iter().map(|n| typed(n, ty)).collect();
                Ok(Attribute::Array(ty, numbers))
            } else {
                self.expect(">").map(|()| Attribute::Array(ty, Vec::new()))
            };
        }
        self.scalar()
    }

    fn list(&mut self, end: &str, depth: usize) -> Result<Vec<Attribute>, Error> {
        let mut list = Vec::new();
        while !self.eat(end) {
            if !list.is_empty() {
                self.expect(",")?;
            }
            list.push(self.value(depth + 1)?);
        }
        Ok(list)
    }

    /// Reads a number with its type, or a boolean.
    fn scalar(&mut self) -> Result<Attribute, Error> {
        let start = self.at;
        let number = self.take(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
        let value = match number {
            "true" => Some(Attribute::Bool(true)),
            "false" => Some(Attribute::Bool(false)),
            _ => {
                let hexadecimal = number.strip_prefix("0x").and_then(|h| i128::from_str_radix(h, 16).ok());
                let integer =
                    hexadecimal.or_else(|| number.parse().ok()).map(|i| Attribute::Integer(i, "s64"));
                integer.or_else(|| number.parse().ok().map(|f| Attribute::Float(f, "f64")))
            }
        };
        let Some(value) = value else {
            self.at = start;
            return Err(self.error("a value"));
        };
        // The type of a number. Numbers in `array<i64: …>` have none.
        if matches!(value, Attribute::Bool(_)) || !self.eat(":") {
            return Ok(value);
        }
        let ty = element_name(self.word());
        match value {
            // Hexadecimal digits are the bits of a float that has no other text form.
            Attribute::Integer(bits, _) if number.starts_with("0x") && ty.contains('f') => {
                let bits = bits as u64;
                let value = match ty {
                    "f64" => f64::from_bits(bits),
                    "f32" => f64::from(f32::from_bits(bits as u32)),
                    "f16" => f16::from_bits(bits as u16).to_f64(),
                    _ => bf16::from_bits(bits as u16).to_f64(),
                };
                Ok(Attribute::Float(value, ty))
            }
            value => Ok(typed(value, ty)),
        }
    }

    fn string(&mut self) -> Result<String, Error> {
        self.expect("\"")?;
        let mut text = String::new();
        loop {
            text.push_str(self.take(|c| c != '"' && c != '\\'));
            if self.eat_raw('"') {
                return Ok(text);
            }
            if !self.eat_raw('\\') {
                return Err(self.error("the end of the string"));
            }
            match self.rest().chars().next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some(c) => text.push(c),
                None => return Err(self.error("the end of the string")),
            }
            self.at += self.rest().chars().next().map_or(0, char::len_utf8);
        }
    }

    /// As `eat`, for one character and without skipping spaces.
    fn eat_raw(&mut self, c: char) -> bool {
        let found = self.rest().starts_with(c);
        self.at += if found { c.len_utf8() } else { 0 };
        found
    }
}
