//! Codes of rules.

use std::fmt;
use std::str::FromStr;

/// The stable code of a rule, such as `E0123` for an error or `W0001` for a warning: a letter and four digits.
///
/// # Example
/// ```
/// use hlo_ir::diag::Code;
///
/// const ARITY: Code = Code::new("E0301");
/// assert_eq!("E0301".parse(), Ok(ARITY));
/// assert_eq!(ARITY.to_string(), "E0301");
/// assert!("operand-count".parse::<Code>().is_err());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code([u8; Self::LEN]);

/// The error of a text that is not a [`Code`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotACode;

impl Code {
    /// Number of bytes of a code.
    const LEN: usize = 5;

    /// Returns the code with a text.
    ///
    /// # Panics
    /// The text is not `E` or `W` with four digits. Parse a text that may have another form.
    pub const fn new(text: &str) -> Self {
        match Self::checked(text.as_bytes()) {
            Some(code) => code,
            None => panic!("a code is `E` or `W` with four digits"),
        }
    }

    const fn checked(text: &[u8]) -> Option<Self> {
        match *text {
            [letter @ (b'E' | b'W'), a, b, c, d]
                if a.is_ascii_digit() && b.is_ascii_digit() && c.is_ascii_digit() && d.is_ascii_digit() =>
            {
                Some(Self([letter, a, b, c, d]))
            }
            _ => None,
        }
    }

    /// Returns the text of the code.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl FromStr for Code {
    type Err = NotACode;

    fn from_str(text: &str) -> Result<Self, NotACode> {
        Self::checked(text.as_bytes()).ok_or(NotACode)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl PartialEq<&str> for Code {
    fn eq(&self, text: &&str) -> bool {
        self.as_str() == *text
    }
}
