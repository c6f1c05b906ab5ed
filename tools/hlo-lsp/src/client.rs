//! The editor at the other end.

/// The capabilities of the editor.
#[derive(Default)]
pub struct Client {
    /// Whether it supports completions with placeholders.
    pub snippets: bool,
    /// Whether it supports nested symbols.
    pub nested_symbols: bool,
    /// Whether it supports related locations in diagnostics.
    pub related_information: bool,
    /// Whether it supports code actions that are not commands of the server.
    pub code_actions: bool,
}
