//! Classifies words for highlighting.

use super::Source;
use super::index::{Part, is_definition};
use crate::word::Word;
use hlo_parser::outline::Role;
use lsp_types::{SemanticTokenModifier, SemanticTokenType};
use std::ops::Range;

/// Returns the words of the modules that overlap a part of the text.
pub fn words(d: &Source, wanted: &Range<usize>) -> Vec<Word> {
    let mut words = Vec::new();
    for part in d.parts().iter().filter(|p| p.start <= wanted.end && wanted.start <= p.end) {
        collect(d.text_of(part), part, &mut words);
    }
    words
}

fn collect(text: &str, part: &Part, out: &mut Vec<Word>) {
    let mut add = |start: usize, end: usize, kind: SemanticTokenType, modifier| {
        out.push(Word { start: part.start + start, end: part.start + end, kind, modifier });
    };
    for t in &part.outline.tokens {
        let kind = match t.role {
            Role::Module => SemanticTokenType::NAMESPACE,
            Role::Computation | Role::Callee | Role::Opcode => SemanticTokenType::FUNCTION,
            Role::SignatureParameter => SemanticTokenType::PARAMETER,
            Role::Instruction | Role::Operand | Role::Predecessor => SemanticTokenType::VARIABLE,
            Role::HeaderAttribute | Role::Attribute => SemanticTokenType::PROPERTY,
            Role::Element => SemanticTokenType::NUMBER,
            Role::Shape => {
                for (start, word) in element_types(text.get(t.span.range()).unwrap_or_default()) {
                    let start = t.span.start as usize + start;
                    add(start, start + word.len(), SemanticTokenType::TYPE, None);
                }
                continue;
            }
        };
        let modifier = match t.role {
            Role::Opcode => Some(SemanticTokenModifier::DEFAULT_LIBRARY),
            role if is_definition(role) => Some(SemanticTokenModifier::DEFINITION),
            _ => None,
        };
        add(t.span.start as usize, t.span.end as usize, kind, modifier);
    }
    for comment in &part.outline.comments {
        let lines = text.get(comment.range()).unwrap_or_default();
        out.extend(Word::lines(lines, part.start + comment.start as usize, &SemanticTokenType::COMMENT));
    }
}

/// Returns the words before `[` in a shape, with their offsets.
fn element_types(shape: &str) -> impl Iterator<Item = (usize, &str)> {
    shape.match_indices('[').map(|(at, _)| {
        let before = shape[..at].trim_end_matches(|c: char| c.is_ascii_alphanumeric()).len();
        (before, &shape[before..at])
    })
}
