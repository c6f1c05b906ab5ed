//! Semantic tokens: classifies words for editors that highlight them.

use crate::document::Document;
use crate::word::Word;
use lsp_types::{
    Range, SemanticToken, SemanticTokenModifier, SemanticTokenType, SemanticTokens, SemanticTokensLegend,
};

/// The kinds of words, in the order of their numbers.
const KINDS: [SemanticTokenType; 10] = [
    SemanticTokenType::NAMESPACE,
    SemanticTokenType::FUNCTION,
    SemanticTokenType::PARAMETER,
    SemanticTokenType::VARIABLE,
    SemanticTokenType::TYPE,
    SemanticTokenType::PROPERTY,
    SemanticTokenType::NUMBER,
    SemanticTokenType::COMMENT,
    SemanticTokenType::KEYWORD,
    SemanticTokenType::STRING,
];

/// The modifiers of words, in the order of their bits.
const MODIFIERS: [SemanticTokenModifier; 2] =
    [SemanticTokenModifier::DEFINITION, SemanticTokenModifier::DEFAULT_LIBRARY];

/// Returns the meaning of the numbers in tokens.
pub fn legend() -> SemanticTokensLegend {
    SemanticTokensLegend { token_types: KINDS.to_vec(), token_modifiers: MODIFIERS.to_vec() }
}

/// Returns the words of a document, or of the lines that a range overlaps.
pub fn tokens(d: &Document, range: Option<Range>) -> SemanticTokens {
    let all = 0..d.text.as_str().len();
    let wanted = range.map_or(all, |r| d.offset(r.start)..d.offset(r.end));
    let mut words = d.reading().words(wanted.clone());
    words.retain(|w| w.start <= wanted.end && wanted.start <= w.end);
    words.sort_by_key(|w| w.start);
    SemanticTokens { result_id: None, data: encode(d, &words) }
}

/// Encodes words for the protocol: five numbers for each, with positions relative to the previous word.
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
