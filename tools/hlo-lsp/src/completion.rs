//! A list of completions under construction.

use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionList, CompletionTextEdit, Documentation, InsertTextFormat,
    MarkupContent, MarkupKind, Range, TextEdit,
};

/// Maximum number of names offered, the nearest first.
pub const MAX_NAMES: usize = 300;

/// The completions to offer.
pub struct List<'a> {
    /// The completions so far.
    pub items: Vec<CompletionItem>,
    /// Whether there are more completions.
    pub incomplete: bool,
    /// The range to replace.
    pub range: Range,
    /// The text in that range.
    pub typed: &'a str,
    /// Whether the editor supports snippets with placeholders.
    pub snippets: bool,
}

impl List<'_> {
    /// Creates an empty list.
    pub fn new(snippets: bool) -> Self {
        List { items: Vec::new(), incomplete: false, range: Range::default(), typed: "", snippets }
    }

    /// Adds an item that inserts `new` at the cursor. `order` is its sort key.
    pub fn add(&mut self, label: &str, kind: CompletionItemKind, detail: &str, new: String, order: usize) {
        let is_snippet = self.snippets && new.contains('$');
        self.items.push(CompletionItem {
            label: label.to_owned(),
            kind: Some(kind),
            detail: (!detail.is_empty()).then(|| detail.to_owned()),
            sort_text: Some(format!("{order:06}")),
            filter_text: Some(label.to_owned()),
            insert_text_format: is_snippet.then_some(InsertTextFormat::SNIPPET),
            text_edit: Some(CompletionTextEdit::Edit(TextEdit::new(self.range, new))),
            ..CompletionItem::default()
        });
    }

    /// Sets the documentation of the last item.
    pub fn describe(&mut self, markdown: String) {
        if let Some(item) = self.items.last_mut() {
            let kind = MarkupKind::Markdown;
            item.documentation = Some(Documentation::MarkupContent(MarkupContent { kind, value: markdown }));
        }
    }

    /// Adds keywords.
    pub fn words(&mut self, words: &[&str], doc: &str) {
        for (n, word) in words.iter().enumerate() {
            self.add(word, CompletionItemKind::KEYWORD, doc, (*word).to_owned(), n);
        }
    }
}

impl From<List<'_>> for CompletionList {
    fn from(list: List<'_>) -> Self {
        CompletionList { is_incomplete: list.incomplete, items: list.items }
    }
}
