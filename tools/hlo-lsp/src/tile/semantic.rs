//! Classifies words for highlighting.

use super::Source;
use super::builtins;
use super::outline::{Role, Symbol, Word};
use super::scan::Kind;
use crate::word::Word as Highlighted;
use lsp_types::{SemanticTokenModifier, SemanticTokenType};

/// Returns the words of a file.
pub fn words(d: &Source) -> Vec<Highlighted> {
    let mut out = Vec::new();
    for word in &d.outline().words {
        let Some((kind, modifier)) = kind(d, word) else { continue };
        out.push(Highlighted {
            start: word.span.start as usize,
            end: word.span.end as usize,
            kind,
            modifier,
        });
    }
    for token in &d.outline().tokens {
        let kind = match token.kind {
            Kind::Number => SemanticTokenType::NUMBER,
            Kind::Text | Kind::OpenText => SemanticTokenType::STRING,
            Kind::Comment => SemanticTokenType::COMMENT,
            _ => continue,
        };
        // The names in a comment with arguments are separate words.
        let mut start = token.span.start as usize;
        let inside = directives(d, token.span);
        for name in inside
            .map(|w| w.span)
            .chain([hlo_ir::Span::new(token.span.end as usize, token.span.end as usize)])
        {
            let text = d.text.as_str().get(start..name.start as usize).unwrap_or_default();
            out.extend(Highlighted::lines(text, start, &kind));
            start = name.end as usize;
        }
    }
    out
}

/// Returns the names inside a comment.
fn directives(d: &Source, comment: hlo_ir::Span) -> impl Iterator<Item = &Word> {
    let words = &d.outline().words;
    let from = words.partition_point(|w| w.span.start < comment.start);
    let until = words.partition_point(|w| w.span.start < comment.end);
    words.get(from..until).unwrap_or_default().iter().filter(|w| w.role == Role::Directive)
}

fn kind(d: &Source, word: &Word) -> Option<(SemanticTokenType, Option<SemanticTokenModifier>)> {
    let definition = Some(SemanticTokenModifier::DEFINITION);
    let library = Some(SemanticTokenModifier::DEFAULT_LIBRARY);
    Some(match word.role {
        Role::Keyword => (SemanticTokenType::KEYWORD, None),
        Role::Function | Role::Import => (SemanticTokenType::FUNCTION, definition),
        Role::Parameter => (SemanticTokenType::PARAMETER, definition),
        Role::Directive => (SemanticTokenType::PARAMETER, None),
        Role::Argument(_) => (SemanticTokenType::PARAMETER, None),
        Role::Target(_) => (variable(d, word), definition),
        Role::Member(true) => (SemanticTokenType::FUNCTION, library),
        Role::Member(false) => (SemanticTokenType::PROPERTY, None),
        Role::Callee | Role::Use => match d.outline().symbol(d.text.as_str(), word) {
            Some(Symbol::Global(_)) => (SemanticTokenType::FUNCTION, None),
            Some(Symbol::Local(..)) => (variable(d, word), None),
            None => match builtins::of_name(d.at(word.span)) {
                Some(b) if b.takes.is_empty() => (SemanticTokenType::TYPE, library),
                Some(_) => (SemanticTokenType::FUNCTION, library),
                None if d.outline().is_given(d.at(word.span)) => (SemanticTokenType::FUNCTION, library),
                None => (SemanticTokenType::VARIABLE, None),
            },
        },
        Role::Other => return None,
    })
}

/// Returns the kind of a local name: parameter or variable.
fn variable(d: &Source, word: &Word) -> SemanticTokenType {
    match d.outline().definition(d.text.as_str(), word) {
        Some(Word { role: Role::Parameter, .. }) => SemanticTokenType::PARAMETER,
        _ => SemanticTokenType::VARIABLE,
    }
}
