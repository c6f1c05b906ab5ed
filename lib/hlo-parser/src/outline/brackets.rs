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

#[cfg(test)]
mod tests {
    use super::*;

    /// Formats the brackets with their names and fields.
    fn brackets(text: &str) -> Vec<String> {
        let at = |s: &Span| &text[s.range()];
        let bracket = |b: &Bracket| {
            let names: Vec<&str> = b.names.iter().map(at).collect();
            let field = b.field.as_ref().map_or("", at);
            format!(
                "{}{}|{field}{}",
                if b.is_brace { "{" } else { "" },
                names.join(" "),
                ["", "="][usize::from(b.awaits_value)]
            )
        };
        open_brackets(text).iter().map(bracket).collect()
    }

    #[test]
    fn what_is_open() {
        assert_eq!(brackets("=").as_slice(), ["|="]);
        assert_eq!(brackets("={"), ["|", "{|"]);
        assert_eq!(brackets("={op_name=\"{a=\" source_line="), ["|", "{op_name source_line|source_line="]);
        assert_eq!(brackets("={a=3, "), ["|", "{a|"]);
        assert_eq!(
            brackets("={{replicated}, {maximal device=0 metadata={a=b c"),
            ["|", "{|", "{maximal device metadata|metadata", "{a c|"]
        );
        assert_eq!(brackets("={mesh['x'=2], [{}], unreduced=sum{"), ["|", "{mesh unreduced|unreduced", "{|"]);
        assert_eq!(brackets("={mesh['x'="), ["|", "{mesh|", "|="]);
        assert_eq!(brackets("=}}]{"), ["|", "{|"]);
    }
}
