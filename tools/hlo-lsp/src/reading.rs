//! A parsed text, which answers the questions of an editor. Each language implements it.

use crate::answer::Answer;
use crate::facts::Facts;
use crate::word::Word;
use lsp_types::{CompletionList, DocumentSymbol, Location};
use std::ops::Range;

/// A parsed text, which may contain errors. Positions are byte offsets.
pub trait Reading {
    /// Returns a description, in Markdown, of the word at an offset, and the range of the word. `facts`
    /// contains information about the text.
    fn hover(&self, at: usize, facts: &Facts) -> Option<(String, Range<usize>)>;

    /// Returns the definition of the name at an offset.
    fn definition(&self, at: usize) -> Option<Definition>;

    /// Returns all occurrences of the item named at an offset, in the order of the text.
    fn occurrences(&self, at: usize) -> Vec<Occurrence>;

    /// Returns the text for renaming the item at an offset to `new`.
    ///
    /// # Errors
    /// Returns an error if there is nothing to rename or if the name is not valid.
    fn renamed(&self, at: usize, new: &str) -> Answer<String>;

    /// Returns the definitions, nested as in the text.
    fn symbols(&self) -> Vec<DocumentSymbol>;

    /// Returns the folding ranges, each as its first and last line.
    fn folds(&self) -> Vec<(u32, u32)>;

    /// Returns the completions at an offset, with placeholders if the editor supports `snippets`.
    fn complete(&self, at: usize, snippets: bool) -> CompletionList;

    /// Returns the words that overlap a part of the text, in any order.
    fn words(&self, wanted: Range<usize>) -> Vec<Word>;

    /// Returns the text in its standard form, or `None` if it has errors or if the language has no standard
    /// form.
    ///
    /// # Errors
    /// Returns an error if formatting would lose something.
    fn formatted(&self) -> Answer<Option<String>>;
}

/// The location of a definition.
pub enum Definition {
    /// A range in the same text.
    Here(Range<usize>),
    /// In other files.
    Elsewhere(Vec<Location>),
}

/// A place where an item is named.
#[derive(Clone, Debug)]
pub struct Occurrence {
    /// The range.
    pub range: Range<usize>,
    /// Whether it is the definition.
    pub is_definition: bool,
}
