//! The languages of documents.

use crate::diagnostics::Checked;
use crate::facts::Facts;
use crate::reading::Reading;
use crate::text::Text;
use crate::{hlo, stablehlo, tile};
use lsp_types::Uri;
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
