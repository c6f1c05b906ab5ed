//! Language support for StableHLO, as MLIR prints it.

mod complete;
pub mod outline;
pub mod scan;

use crate::answer::{Answer, request_error};
use crate::diagnostics::{PartDiagnostic, modules};
use crate::facts::Facts;
use crate::reading::{Definition, Occurrence, Reading};
use crate::symbol::{shortened, symbol};
use crate::text::Text;
use crate::word::Word;
use hlo_forms::{Form, Opened};
use hlo_ir::diag::Diag;
use hlo_stablehlo::{dialect, text};
use hlo_tools_common::format::verified;
use lsp_types::{CompletionList, DocumentSymbol, SemanticTokenModifier, SemanticTokenType, SymbolKind};
use outline::{Outline, Value};
use scan::{Kind, Token, is_name};
use std::cell::OnceCell;
use std::ops::Range;
use std::sync::Arc;

/// Maximum length of a line.
const MAX_SHOWN: usize = 240;

/// A file of StableHLO.
pub struct Source {
    text: Arc<Text>,
    outline: OnceCell<Outline>,
}

impl Source {
    /// Creates the file for a text.
    pub fn new(text: Arc<Text>) -> Self {
        Self { text, outline: OnceCell::new() }
    }

    fn outline(&self) -> &Outline {
        self.outline.get_or_init(|| Outline::new(self.text.as_str()))
    }

    fn at(&self, range: &Range<usize>) -> &str {
        self.text.as_str().get(range.clone()).unwrap_or_default()
    }

    /// Returns the definition of the value or symbol at an offset.
    fn defined(&self, at: usize) -> Option<Range<usize>> {
        let (text, outline) = (self.text.as_str(), self.outline());
        let word = outline.word_at(at)?;
        match word.kind {
            Kind::Value => outline.value(text, word).map(|v| v.name.clone()),
            Kind::Symbol => outline.symbol(text, self.at(&word.range)),
            _ => None,
        }
    }

    /// Returns the line at an offset as a code block.
    fn line(&self, at: usize) -> String {
        let text = self.text.as_str();
        let start = text[..at].rfind('\n').map_or(0, |n| n + 1);
        let line = text[start..].lines().next().unwrap_or_default().trim();
        format!("```mlir\n{}\n```", shortened(line, MAX_SHOWN))
    }
}

impl Reading for Source {
    fn hover(&self, at: usize, _: &Facts) -> Option<(String, Range<usize>)> {
        let word = self.outline().word_at(at)?;
        if word.kind == Kind::Word {
            let info = dialect::operation(self.at(&word.range))?;
            return Some((described(info), word.range.clone()));
        }
        let place = self.defined(at)?;
        let mut shown = self.line(place.start);
        if place != word.range {
            let line = self.text.position(place.start).line + 1;
            shown.push_str(&format!("\n\nDefined in line {line}."));
        }
        Some((shown, word.range.clone()))
    }

    fn definition(&self, at: usize) -> Option<Definition> {
        self.defined(at).map(Definition::Here)
    }

    fn occurrences(&self, at: usize) -> Vec<Occurrence> {
        let (text, outline) = (self.text.as_str(), self.outline());
        let Some(place) = self.defined(at) else { return Vec::new() };
        let name = self.at(&place);
        let is_same = |t: &&Token| {
            self.at(&t.range) == name
                && match t.kind {
                    Kind::Value => outline.value(text, t).is_some_and(|v| v.name == place),
                    Kind::Symbol => true,
                    _ => false,
                }
        };
        let found = outline.tokens.iter().filter(is_same);
        found.map(|t| Occurrence { range: t.range.clone(), is_definition: t.range == place }).collect()
    }

    fn renamed(&self, at: usize, new: &str) -> Answer<String> {
        let Some(place) = self.defined(at) else {
            return Err(request_error("there is no name of this file here"));
        };
        let mark = &self.at(&place)[..1];
        let bare = new.strip_prefix(mark).unwrap_or(new);
        if bare.is_empty() || !bare.chars().all(is_name) || bare.ends_with('-') {
            return Err(request_error(format!(
                "`{new}` is no name: it is letters, digits and `_`, `$`, `.`, `-`"
            )));
        }
        let name = format!("{mark}{bare}");
        let same = self.outline().tokens.iter().find(|t| self.at(&t.range) == name && t.range != place);
        match same.filter(|_| name != self.at(&place)) {
            Some(other) => {
                let line = self.text.position(other.range.start).line + 1;
                Err(request_error(format!("`{name}` is the name of something else already, in line {line}")))
            }
            None => Ok(name),
        }
    }

    fn symbols(&self) -> Vec<DocumentSymbol> {
        let outline = self.outline();
        let of_value = |v: &Value| {
            let range = self.text.range(v.name.start, v.name.end);
            symbol((self.at(&v.name), range), "", SymbolKind::VARIABLE, range, None)
        };
        let of_function = |f: &outline::Function| {
            let (name, range) =
                (self.text.range(f.name.start, f.name.end), self.text.range(f.range.start, f.range.end));
            let within = outline.values_in(&f.range).iter().map(of_value);
            symbol((self.at(&f.name), name), "", SymbolKind::FUNCTION, range, Some(within.collect()))
        };
        outline.functions.iter().map(of_function).collect()
    }

    fn folds(&self) -> Vec<(u32, u32)> {
        let lines = self.outline().regions.iter().map(|r| self.text.range(r.start, r.end));
        let mut folds: Vec<_> =
            lines.map(|r| (r.start.line, r.end.line)).filter(|(from, to)| from < to).collect();
        folds.dedup_by_key(|(from, _)| *from);
        folds
    }

    fn complete(&self, at: usize, snippets: bool) -> CompletionList {
        complete::complete(self, at, snippets)
    }

    fn words(&self, wanted: Range<usize>) -> Vec<Word> {
        let outline = self.outline();
        let touched = outline.tokens.iter().enumerate();
        let touched = touched.filter(|(_, t)| t.range.start <= wanted.end && wanted.start <= t.range.end);
        touched.filter_map(|(n, token)| word(self, n, token)).collect()
    }

    fn formatted(&self) -> Answer<Option<String>> {
        let source = self.text.as_str();
        if let Some(comment) = self.outline().tokens.iter().find(|t| t.kind == Kind::Comment) {
            let line = self.text.position(comment.range.start).line + 1;
            return Err(request_error(format!("not formatted: the comment in line {line} would be lost")));
        }
        Ok(text::parse(source).ok().map(|tree| text::print(&tree)))
    }
}

/// Returns the highlighting of a word.
fn word(d: &Source, number: usize, token: &Token) -> Option<Word> {
    let (text, outline) = (d.text.as_str(), d.outline());
    let definition = |is_it: bool| is_it.then_some(SemanticTokenModifier::DEFINITION);
    let (kind, modifier) = match token.kind {
        Kind::Value => {
            let value = outline.value(text, token);
            let kind = if value.is_some_and(|v| v.is_argument) {
                SemanticTokenType::PARAMETER
            } else {
                SemanticTokenType::VARIABLE
            };
            (kind, definition(value.is_some_and(|v| v.name == token.range)))
        }
        Kind::Symbol => (SemanticTokenType::FUNCTION, definition(outline.defines(text, number))),
        Kind::Block => (SemanticTokenType::NAMESPACE, None),
        Kind::Number => (SemanticTokenType::NUMBER, None),
        Kind::Text => (SemanticTokenType::STRING, None),
        Kind::Comment => (SemanticTokenType::COMMENT, None),
        Kind::Word => match d.at(&token.range) {
            "tensor" | "tuple" | "complex" => (SemanticTokenType::TYPE, None),
            "module" | "return" | "call" | "public" | "private" | "attributes" | "cond" | "do"
            | "reducer" => (SemanticTokenType::KEYWORD, None),
            name if dialect::operation(name).is_some() => {
                (SemanticTokenType::FUNCTION, Some(SemanticTokenModifier::DEFAULT_LIBRARY))
            }
            _ => (SemanticTokenType::PROPERTY, None),
        },
        Kind::Mark(_) => return None,
    };
    Some(Word { start: token.range.start, end: token.range.end, kind, modifier })
}

/// Describes an operation.
fn described(info: &dialect::OperationInfo) -> String {
    let mut out = format!("```mlir\n{}\n```", info.name);
    if !info.attributes.is_empty() {
        let names = info.attributes.iter().map(|a| {
            if a.is_optional { format!("`{}` (optional)", a.name) } else { format!("`{}`", a.name) }
        });
        out.push_str(&format!("\n\nAttributes: {}.", names.collect::<Vec<_>>().join(", ")));
    }
    out
}

/// Returns all diagnostics of a file.
pub fn check(text: &str) -> Vec<PartDiagnostic> {
    modules(text, check_module)
}

fn check_module(text: &str) -> Vec<Diag> {
    let verified = match Form::StableHlo.open(text.as_bytes(), None) {
        Ok(Opened::Program(program)) => verified((*program).into(), false),
        // The module depends on the shapes of its arguments.
        Ok(Opened::Polymorphic(_)) => return Vec::new(),
        Err(diags) => Err(diags),
    };
    match verified {
        Ok(parsed) => parsed.warnings,
        Err(diags) => diags,
    }
}
