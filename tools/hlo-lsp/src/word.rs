//! Words that editors highlight.

use lsp_types::{SemanticTokenModifier, SemanticTokenType};

/// A word. It does not contain a line end.
pub struct Word {
    /// The start offset.
    pub start: usize,
    /// The end offset.
    pub end: usize,
    /// The kind of the word.
    pub kind: SemanticTokenType,
    /// The modifier, if there is one.
    pub modifier: Option<SemanticTokenModifier>,
}

impl Word {
    /// Returns the lines of a text that begins at byte `start`, each as one word.
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
