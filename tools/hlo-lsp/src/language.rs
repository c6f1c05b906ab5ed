//! The languages of documents, and the interface between them and the server.

use crate::check::Checked;
use crate::facts::Facts;
use crate::semantic::Word;
use crate::server::Answer;
use crate::text::Text;
use crate::{hlo, stablehlo, tile};
use lsp_types::{CompletionList, DocumentSymbol, Location, Uri};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// The language of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// HLO text.
    Hlo,
    /// StableHLO, as MLIR prints it.
    StableHlo,
    /// Tile, PlaidML's eDSL in its Python spelling.
    Tile,
}

impl Language {
    /// All languages.
    pub const ALL: [Language; 3] = [Language::Hlo, Language::StableHlo, Language::Tile];

    /// Returns the language of a document: Tile or StableHLO if the editor or the file name says so,
    /// otherwise HLO.
    pub fn of(id: &str, uri: &Uri) -> Self {
        let extension = Path::new(uri.path().as_str()).extension();
        let is = |ids: &[&str], name: &str| {
            ids.contains(&id) || extension.is_some_and(|e| e.eq_ignore_ascii_case(name))
        };
        match () {
            () if is(&["tile"], "tile") => Language::Tile,
            () if is(&["mlir", "stablehlo"], "mlir") => Language::StableHlo,
            () => Language::Hlo,
        }
    }

    /// Returns the name of the language in editors, which is also the source of its diagnostics.
    pub fn name(self) -> &'static str {
        match self {
            Language::Hlo => "hlo",
            Language::StableHlo => "stablehlo",
            Language::Tile => "tile",
        }
    }

    /// Returns the characters after which an editor requests completions automatically.
    pub fn triggers(self) -> &'static [&'static str] {
        match self {
            Language::Hlo => &["(", ",", "=", "%", "[", "{", " "],
            Language::StableHlo => &[".", "%", "@"],
            Language::Tile => &["."],
        }
    }

    /// Parses a text as far as that is fast.
    pub fn read(self, text: Arc<Text>) -> Box<dyn Reading> {
        match self {
            Language::Hlo => Box::new(hlo::Source::new(text)),
            Language::StableHlo => Box::new(stablehlo::Source::new(text)),
            Language::Tile => Box::new(tile::Source::new(text)),
        }
    }

    /// Checks the text of a document, which may take a long time.
    pub fn check(self, uri: &Uri, text: &str) -> Checked {
        match self {
            Language::Hlo => Checked { found: hlo::check(text), facts: Facts::default() },
            Language::StableHlo => Checked { found: stablehlo::check(text), facts: Facts::default() },
            Language::Tile => tile::check(uri.as_str(), text),
        }
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_has_the_language_that_its_editor_or_name_says() {
        let of = |id, uri: &str| Language::of(id, &uri.parse().unwrap()).name();
        assert_eq!(of("tile", "untitled:1"), "tile");
        assert_eq!(of("python", "file:///a/conv.tile"), "tile");
        assert_eq!(of("plaintext", "file:///a/conv.Tile"), "tile");
        assert_eq!(of("mlir", "untitled:1"), "stablehlo");
        assert_eq!(of("plaintext", "file:///a/step.mlir"), "stablehlo");
        assert_eq!(of("hlo", "file:///a/conv"), "hlo");
        assert_eq!(of("", "file:///a.tile/m.hlo"), "hlo");
    }
}
