//! The languages of documents, and what the server asks of each.

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
    /// All of them.
    pub const ALL: [Language; 3] = [Language::Hlo, Language::StableHlo, Language::Tile];

    /// The language of a document: Tile or StableHLO, if the editor or the name says so, else HLO.
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

    /// What editors call it; diagnostics have it as their source.
    pub fn name(self) -> &'static str {
        match self {
            Language::Hlo => "hlo",
            Language::StableHlo => "stablehlo",
            Language::Tile => "tile",
        }
    }

    /// The characters after which an editor asks for completions by itself.
    pub fn triggers(self) -> &'static [&'static str] {
        match self {
            Language::Hlo => &["(", ",", "=", "%", "[", "{", " "],
            Language::StableHlo => &[".", "%", "@"],
            Language::Tile => &["."],
        }
    }

    /// Reads a text, as far as that takes no time.
    pub fn read(self, text: Arc<Text>) -> Box<dyn Reading> {
        match self {
            Language::Hlo => Box::new(hlo::Source::new(text)),
            Language::StableHlo => Box::new(stablehlo::Source::new(text)),
            Language::Tile => Box::new(tile::Source::new(text)),
        }
    }

    /// Finds what is wrong with the text of a document, which may take its time.
    pub fn check(self, uri: &Uri, text: &str) -> Checked {
        match self {
            Language::Hlo => Checked { found: hlo::check(text), facts: Facts::default() },
            Language::StableHlo => Checked { found: stablehlo::check(text), facts: Facts::default() },
            Language::Tile => tile::check(uri.as_str(), text),
        }
    }
}

/// A text that has been read in its language, and may be broken. Places are bytes.
pub trait Reading {
    /// What the word at a place is, in Markdown, and where it stands; `facts` are what is known of the text.
    fn hover(&self, at: usize, facts: &Facts) -> Option<(String, Range<usize>)>;

    /// Where that is defined which a place names.
    fn definition(&self, at: usize) -> Option<Definition>;

    /// All places that name what a place names, in the order of the text.
    fn occurrences(&self, at: usize) -> Vec<Occurrence>;

    /// The name to write where what a place names shall be called `new`.
    ///
    /// # Errors
    /// There is nothing to rename, or it can't have that name.
    fn renamed(&self, at: usize, new: &str) -> Answer<String>;

    /// What is defined, as it is nested.
    fn symbols(&self) -> Vec<DocumentSymbol>;

    /// The first and the last of the lines that fold, for each range of them.
    fn folds(&self) -> Vec<(u32, u32)>;

    /// What may be written at a place; with places to fill in if the editor knows `snippets`.
    fn complete(&self, at: usize, snippets: bool) -> CompletionList;

    /// The words that touch a part of the text, in any order.
    fn words(&self, wanted: Range<usize>) -> Vec<Word>;

    /// The text in its standard form; `None` if it has errors, or the language no such form.
    ///
    /// # Errors
    /// Something would be lost.
    fn formatted(&self) -> Answer<Option<String>>;
}

/// Where something is defined.
pub enum Definition {
    /// In the text.
    Here(Range<usize>),
    /// In other files.
    Elsewhere(Vec<Location>),
}

/// A place that names something.
#[derive(Clone, Debug)]
pub struct Occurrence {
    /// The place.
    pub range: Range<usize>,
    /// True where it is defined.
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
