//! The open brackets at the end of an incomplete value, and their contents. They determine what can follow.

use super::tokens::{Kind, Tokens};
use hlo_ir::Span;

/// A bracket that is open at the end of a text, or the whole text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bracket {
    /// Whether it is a brace.
    pub is_brace: bool,
    /// The words directly in it, and the names before a `=`.
    pub names: Vec<Span>,
    /// The name before the last `=`, until the next name or comma.
    pub field: Option<Span>,
    /// Whether that `=` is the last token.
    pub awaits_value: bool,
}

/// Returns the whole text, then every bracket that is open at its end, the innermost last. `text` is a value,
/// starting with the `=` before it, or the beginning of one.
pub fn open_brackets(text: &str) -> Vec<Bracket> {
    let mut tokens = Tokens::new(text);
    let mut open = vec![Bracket::default()];
    let mut token = tokens.next();
    while token.kind != Kind::End {
        let next = tokens.next();
        let Some(innermost) = open.last_mut() else { break };
        let awaited = std::mem::take(&mut innermost.awaits_value);
        match token.kind {
            Kind::Other(b'=') => innermost.awaits_value = true,
            Kind::Other(b',') => innermost.field = None,
            Kind::Word if !awaited => {
                let name = Span::new(token.start, token.end);
                innermost.field = (next.kind == Kind::Other(b'=')).then_some(name);
                innermost.names.push(name);
            }
            Kind::Other(b @ (b'{' | b'[' | b'(')) => {
                open.push(Bracket { is_brace: b == b'{', ..Bracket::default() });
            }
            Kind::Other(b'}' | b']' | b')') if open.len() > 1 => {
                open.pop();
            }
            Kind::Word | Kind::Number | Kind::String | Kind::Other(_) | Kind::End => {}
        }
        token = next;
    }
    open
}
