//! Completion at the cursor.

use super::Source;
use super::builtins::{self, Builtin};
use super::description::{code, documentation, signature};
use super::members::members;
use super::outline::{Outline, Role, Symbol, Word};
use super::scan::{Kind, Token, is_name};
use super::structure;
use crate::completion::{List, MAX_NAMES};
use crate::symbol::shortened;
use hlo_tile::library::{LibraryFunction, MODULE, functions};
use lsp_types::{CompletionItemKind, CompletionList};

/// Returns the completions at an offset.
pub fn complete(d: &Source, at: usize, snippets: bool) -> CompletionList {
    let mut list = List::new(snippets);
    let text = d.text.as_str();
    let before = text.get(..at).unwrap_or_default();
    let start = before.trim_end_matches(is_name).len();
    list.range = d.text.range(start, at);
    list.typed = &before[start..];
    // A number is not completed.
    if !list.typed.starts_with(|c: char| c.is_ascii_digit()) {
        fill(&mut list, d, &before[..start], text.get(at..).unwrap_or_default());
    }
    list.into()
}

/// Fills the list with completions that may follow a text.
fn fill(list: &mut List<'_>, d: &Source, before: &str, after: &str) {
    let outline = structure::outline(before);
    let is_called = after.trim_start_matches(is_name).starts_with('(');
    let last = outline.tokens.last();
    let is_within = |t: &Token| t.span.end as usize == before.len();
    match last {
        Some(t) if matches!(t.kind, Kind::Comment | Kind::OpenText) && is_within(t) => return,
        Some(t) if t.kind == Kind::Number && is_within(t) => return,
        Some(t) if before.get(t.span.range()) == Some(".") => {
            for table in members(before, &outline, before.len()) {
                list.builtins(table, is_called);
            }
            if outline.ends_with_library(before, &outline.tokens) {
                list.library(is_called);
            }
            if is_type(before, &outline) {
                for (n, (name, in_hlo)) in builtins::ELEMENT_TYPES.iter().enumerate() {
                    list.add(name, CompletionItemKind::ENUM_MEMBER, in_hlo, (*name).to_owned(), n);
                }
            }
            return;
        }
        _ => {}
    }
    let line = before.rfind('\n').map_or(0, |n| n + 1);
    let begins = last.is_none_or(|t| t.kind == Kind::LineEnd);
    if begins && before[line..].is_empty() {
        list.words(&["def"], "begins a function");
        return list.words(&["from"], "imports functions");
    }
    if let Some(of_module) = import(before, &outline) {
        return if of_module { list.imports() } else { list.words(&[MODULE], "the library") };
    }
    let Some(function) = outline.functions.len().checked_sub(1) else { return };
    // The names in a signature are new ones.
    let f = &outline.functions[function];
    if outline.tokens.last().is_some_and(|t| t.span.end <= f.signature.end) {
        return;
    }
    if begins {
        list.words(&["return"], "ends the function with its result");
    }
    list.variables(before, &outline, function as u32);
    list.arguments(d, before, &outline);
    list.functions(d, is_called);
    list.builtins(builtins::FUNCTIONS, is_called);
    if outline.imports.all {
        list.library(is_called);
    }
}

/// Checks whether a line `from …` expects a name: true for a function of the library, false for a module.
fn import(before: &str, outline: &Outline) -> Option<bool> {
    let line = outline.line_at(before.len());
    let words: Vec<&str> = before.get(line.range())?.split_whitespace().collect();
    match words.as_slice() {
        ["from"] => Some(false),
        ["from", module, "import", ..] if *module == MODULE => Some(true),
        _ => None,
    }
}

/// Whether the text ends with `DType.`.
fn is_type(before: &str, outline: &Outline) -> bool {
    let base = outline.tokens.iter().rev().nth(1);
    base.is_some_and(|t| before.get(t.span.range()) == Some("DType"))
}

/// Returns the number of commas between tokens outside of brackets.
fn commas(text: &str, tokens: &[Token]) -> usize {
    let mut depth = 0_usize;
    let is_one = |t: &&Token| {
        match t.kind {
            Kind::Open => depth += 1,
            Kind::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && text.get(t.span.range()) == Some(",")
    };
    tokens.iter().filter(is_one).count()
}

impl List<'_> {
    /// Adds built-in names.
    fn builtins(&mut self, all: &[Builtin], is_called: bool) {
        for b in all {
            let kind = match b.takes {
                "" => CompletionItemKind::PROPERTY,
                _ => CompletionItemKind::FUNCTION,
            };
            let new = if b.takes.is_empty() { b.name.to_owned() } else { self.call(b.name, is_called) };
            self.add(b.name, kind, b.takes, new, 10_000 + self.items.len());
            self.describe(format!("{}\n\nExample: `{}`", b.doc, b.example));
        }
    }

    /// Returns the text of a call, without parentheses if they already exist.
    fn call(&self, name: &str, is_called: bool) -> String {
        match (is_called, self.snippets) {
            (true, _) => name.to_owned(),
            (false, true) => format!("{name}($0)"),
            (false, false) => format!("{name}("),
        }
    }

    /// Adds the parameters of the function whose arguments are being written, except those that already have
    /// an argument by name.
    fn arguments(&mut self, d: &Source, before: &str, outline: &Outline) {
        let mut depth = 0_usize;
        // Brackets that are closed again do not count.
        let open = outline.tokens.iter().rposition(|t| match t.kind {
            Kind::Close => {
                depth += 1;
                false
            }
            Kind::Open if depth == 0 => true,
            Kind::Open => {
                depth -= 1;
                false
            }
            _ => false,
        });
        let begins = outline.tokens.last().and_then(|t| before.get(t.span.range()));
        let Some(open) = open.filter(|_| matches!(begins, Some("(" | ","))) else { return };
        let Some(callee) = open.checked_sub(1).and_then(|n| outline.tokens.get(n)) else { return };
        let Some(word) = outline.word_at(callee.span.start as usize) else { return };
        let name = before.get(callee.span.range()).unwrap_or_default();
        // The function may be defined further down.
        let of_library = outline.of_library(before, word).map(|f| f.function);
        let parameters: Vec<&str> = match (word.role, of_library, d.outline().function_named(name)) {
            (_, Some(f), _) => f.parameters.iter().map(|p| p.name.text.as_str()).collect(),
            (Role::Callee, None, Some(f)) => f.parameters.iter().map(|p| d.at(p.name)).collect(),
            (Role::Callee, None, None) => {
                builtins::of_name(name).map_or(Vec::new(), |b| builtins::parameters(b).collect())
            }
            _ => return,
        };
        let given = outline.words.iter().filter(|w| w.role == Role::Argument(callee.span));
        let given: Vec<_> = given.filter_map(|w| before.get(w.span.range())).collect();
        let by_position = commas(before, &outline.tokens[open + 1..]).saturating_sub(given.len());
        for parameter in parameters.into_iter().skip(by_position).filter(|p| !given.contains(p)) {
            let label = format!("{parameter}=");
            let detail = format!("argument of {name}");
            self.add(&label, CompletionItemKind::PROPERTY, &detail, label.clone(), 1000 + self.items.len());
        }
    }

    /// Adds the names of the function that are defined before the cursor, the nearest first.
    fn variables(&mut self, before: &str, outline: &Outline, function: u32) {
        for (name, word) in outline.visible(before, function) {
            if !name.starts_with(self.typed) {
                continue;
            }
            if self.items.len() == MAX_NAMES {
                self.incomplete = true;
                return;
            }
            let detail = match word.role {
                Role::Parameter => "parameter".to_owned(),
                _ => {
                    let line = before.get(outline.line_at(word.span.start as usize).range());
                    shortened(line.unwrap_or_default(), 60)
                }
            };
            self.add(name, CompletionItemKind::VARIABLE, &detail, name.to_owned(), self.items.len());
        }
    }

    /// Adds the functions of the library as calls.
    fn library(&mut self, is_called: bool) {
        for f in functions() {
            let new = self.call(&f.function.name.text, is_called);
            self.of_library(&f, new);
        }
    }

    /// Adds the functions of the library as imports.
    fn imports(&mut self) {
        for f in functions() {
            self.of_library(&f, f.function.name.text.clone());
        }
    }

    fn of_library(&mut self, f: &LibraryFunction, new: String) {
        let order = 20_000 + self.items.len();
        self.add(&f.function.name.text, CompletionItemKind::FUNCTION, &f.signature(), new, order);
        self.describe(f.documentation().to_owned());
    }

    /// Adds the functions of the file, including those after the cursor, and imported functions.
    fn functions(&mut self, d: &Source, is_called: bool) {
        let (text, outline) = (d.text.as_str(), d.outline());
        let is_global = |w: &&Word| matches!(w.role, Role::Function | Role::Import);
        for word in outline.words.iter().filter(is_global) {
            let Some(Symbol::Global(name)) = outline.symbol(text, word) else { continue };
            let new = self.call(name, is_called);
            let order = 5000 + self.items.len();
            let Some(f) = outline.function_named(name) else {
                let detail = outline.of_library(text, word).map_or("imported".into(), |f| f.signature());
                self.add(name, CompletionItemKind::FUNCTION, &detail, new, order);
                continue;
            };
            let signature = signature(d, f);
            self.add(name, CompletionItemKind::FUNCTION, &signature, new, order);
            let documentation = documentation(d, f);
            if !documentation.is_empty() {
                self.describe(format!("{}\n\n{documentation}", code(&signature)));
            }
        }
    }
}
