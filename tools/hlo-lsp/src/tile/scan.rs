//! Splits a Tile text into tokens, even if it contains errors.

use hlo_ir::Span;

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// The kind.
    pub kind: Kind,
    /// The span.
    pub span: Span,
}

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A name or a keyword.
    Name,
    /// A number.
    Number,
    /// A string with its quotes.
    Text,
    /// A string without an end.
    OpenText,
    /// A comment, from `#` to the end of the line.
    Comment,
    /// An opening bracket.
    Open,
    /// A closing bracket.
    Close,
    /// An operator, or any other character.
    Operator,
    /// The end of a logical line.
    LineEnd,
}

/// The operators of several characters. Longer operators precede their prefixes.
const OPERATORS: [&str; 21] = [
    "**=", "//=", "<<=", ">>=", "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "+=", "-=", "*=", "/=", "%=",
    "&=", "|=", "^=", "->",
];

/// Words at the start of a line that close all open brackets, because the user forgot to close them.
const STATEMENT_KEYWORDS: [&str; 3] = ["def ", "from ", "import "];

/// Returns the tokens of a text in order.
pub fn scan(text: &str) -> Vec<Token> {
    let mut out = Vec::new();
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let (kind, length) = match c {
            '\n' => {
                if depth > 0 && STATEMENT_KEYWORDS.iter().any(|b| rest[1..].starts_with(b)) {
                    depth = 0;
                }
                at += 1;
                if depth == 0 {
                    out.push(Token { kind: Kind::LineEnd, span: Span::new(at - 1, at) });
                }
                continue;
            }
            '\\' => {
                at += continued(rest).unwrap_or(1);
                continue;
            }
            c if c.is_whitespace() => {
                at += c.len_utf8();
                continue;
            }
            '#' => (Kind::Comment, rest.find('\n').unwrap_or(rest.len())),
            '"' | '\'' => string(rest),
            '(' | '[' | '{' => {
                depth += 1;
                (Kind::Open, 1)
            }
            ')' | ']' | '}' => {
                depth = depth.saturating_sub(1);
                (Kind::Close, 1)
            }
            c if is_name_start(c) => (Kind::Name, rest.find(|c| !is_name(c)).unwrap_or(rest.len())),
            c if c.is_ascii_digit() => (Kind::Number, number(rest)),
            '.' if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => (Kind::Number, number(rest)),
            c => {
                let operator = OPERATORS.iter().find(|o| rest.starts_with(**o));
                (Kind::Operator, operator.map_or(c.len_utf8(), |o| o.len()))
            }
        };
        out.push(Token { kind, span: Span::new(at, at + length) });
        at += length;
    }
    out
}

/// Whether the character can begin a name.
pub fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// Whether the character can continue a name.
pub fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the length of a backslash and the line break after it.
fn continued(text: &str) -> Option<usize> {
    let blanks = text[1..].len() - text[1..].trim_start_matches([' ', '\t', '\r']).len();
    text[1 + blanks..].starts_with('\n').then_some(blanks + 2)
}

/// Scans a string at the start of a text. Returns whether it ends, and its length.
fn string(text: &str) -> (Kind, usize) {
    let quote = &text[..1];
    let long = text[1..].starts_with(quote) && text[2..].starts_with(quote);
    let end = if long { quote.repeat(3) } else { quote.to_owned() };
    let mut at = end.len();
    while let Some(c) = text[at..].chars().next() {
        match c {
            '\n' if !long => return (Kind::OpenText, at),
            '\\' => at += text[at + 1..].chars().next().map_or(0, char::len_utf8),
            _ if text[at..].starts_with(&end) => return (Kind::Text, at + end.len()),
            _ => {}
        }
        at += c.len_utf8();
    }
    (Kind::OpenText, text.len())
}

/// Returns the length of a number at the start of a text, including letters that follow.
fn number(text: &str) -> usize {
    let is_part = |(at, c): &(usize, char)| {
        let exponent = || text[..*at].ends_with(['e', 'E']);
        is_name(*c) || *c == '.' || (matches!(c, '+' | '-') && exponent())
    };
    text.char_indices().find(|x| !is_part(x)).map_or(text.len(), |(at, _)| at)
}
