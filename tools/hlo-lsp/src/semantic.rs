//! Semantic tokens: what each word is, for editors that highlight by it.

use crate::document::Document;
use crate::index::{Part, is_definition};
use hlo_parser::outline::Role;
use lsp_types::{
    Range, SemanticToken, SemanticTokenModifier, SemanticTokenType, SemanticTokens, SemanticTokensLegend,
};

/// The kinds of words, in the order of their numbers.
const KINDS: [SemanticTokenType; 8] = [
    SemanticTokenType::NAMESPACE,
    SemanticTokenType::FUNCTION,
    SemanticTokenType::PARAMETER,
    SemanticTokenType::VARIABLE,
    SemanticTokenType::TYPE,
    SemanticTokenType::PROPERTY,
    SemanticTokenType::NUMBER,
    SemanticTokenType::COMMENT,
];

/// What is said of a word besides its kind, in the order of the bits.
const MODIFIERS: [SemanticTokenModifier; 2] =
    [SemanticTokenModifier::DEFINITION, SemanticTokenModifier::DEFAULT_LIBRARY];

/// What the numbers of the tokens mean.
pub fn legend() -> SemanticTokensLegend {
    SemanticTokensLegend { token_types: KINDS.to_vec(), token_modifiers: MODIFIERS.to_vec() }
}

/// The words of a document, or of those lines of it that a range touches.
pub fn tokens(d: &Document, range: Option<Range>) -> SemanticTokens {
    let all = 0..d.text.as_str().len();
    let wanted = range.map_or(all, |r| d.text.offset(r.start)..d.text.offset(r.end));
    let mut words = Vec::new();
    for part in d.parts().iter().filter(|p| p.start <= wanted.end && wanted.start <= p.end) {
        collect(d.text_of(part), part, &mut words);
    }
    words.retain(|w| w.start <= wanted.end && wanted.start <= w.end);
    words.sort_by_key(|w| w.start);
    SemanticTokens { result_id: None, data: encode(d, &words) }
}

/// A word, which goes over no line end.
struct Word {
    start: usize,
    end: usize,
    kind: SemanticTokenType,
    modifier: Option<SemanticTokenModifier>,
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
        let mut start = comment.start as usize;
        for line in text.get(comment.range()).unwrap_or_default().split_inclusive(['\n', '\r']) {
            add(start, start + line.trim_end().len(), SemanticTokenType::COMMENT, None);
            start += line.len();
        }
    }
}

/// The words before a `[` in a shape, and where they are.
fn element_types(shape: &str) -> impl Iterator<Item = (usize, &str)> {
    shape.match_indices('[').map(|(at, _)| {
        let before = shape[..at].trim_end_matches(|c: char| c.is_ascii_alphanumeric()).len();
        (before, &shape[before..at])
    })
}

/// The words as the protocol wants them: five numbers each, places relative to the word before.
fn encode(d: &Document, words: &[Word]) -> Vec<SemanticToken> {
    let mut out = Vec::with_capacity(words.len());
    let mut last = lsp_types::Position::default();
    for w in words {
        let Range { start, end } = d.text.range(w.start, w.end);
        if start.line != end.line || start == end {
            continue;
        }
        let same_line = start.line == last.line;
        let kind = KINDS.iter().position(|k| *k == w.kind).unwrap_or_default();
        let modifier = w.modifier.as_ref().and_then(|m| MODIFIERS.iter().position(|k| k == m));
        out.push(SemanticToken {
            delta_line: start.line - last.line,
            delta_start: if same_line { start.character - last.character } else { start.character },
            length: end.character - start.character,
            token_type: kind as u32,
            token_modifiers_bitset: modifier.map_or(0, |bit| 1 << bit),
        });
        last = start;
    }
    out
}
