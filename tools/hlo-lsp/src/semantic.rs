//! Semantic tokens: what each word is, for editors that highlight by it.

use crate::document::Document;
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

/// What is said of a word besides its kind, in the order of the bits.
const MODIFIERS: [SemanticTokenModifier; 2] =
    [SemanticTokenModifier::DEFINITION, SemanticTokenModifier::DEFAULT_LIBRARY];

/// What the numbers of the tokens mean.
pub fn legend() -> SemanticTokensLegend {
    SemanticTokensLegend { token_types: KINDS.to_vec(), token_modifiers: MODIFIERS.to_vec() }
}

/// A word, which goes over no line end.
pub struct Word {
    /// Where it begins.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// What it is.
    pub kind: SemanticTokenType,
    /// What else is said of it.
    pub modifier: Option<SemanticTokenModifier>,
}

impl Word {
    /// The words that the lines of a text are which begins at byte `start`.
    pub fn lines(text: &str, mut start: usize, kind: &SemanticTokenType) -> Vec<Word> {
        let mut out = Vec::new();
        for line in text.split_inclusive(['\n', '\r']) {
            let end = start + line.trim_end().len();
            out.push(Word { start, end, kind: kind.clone(), modifier: None });
            start += line.len();
        }
        out
    }
}

/// The words of a document, or of those lines of it that a range touches.
pub fn tokens(d: &Document, range: Option<Range>) -> SemanticTokens {
    let all = 0..d.text.as_str().len();
    let wanted = range.map_or(all, |r| d.offset(r.start)..d.offset(r.end));
    let mut words = d.reading().words(wanted.clone());
    words.retain(|w| w.start <= wanted.end && wanted.start <= w.end);
    words.sort_by_key(|w| w.start);
    SemanticTokens { result_id: None, data: encode(d, &words) }
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
