//! The macro `tile!`, which `hlo-tile` exports and documents: defines Tile functions as Rust functions.
//!
//! Rust passes tokens with their lines and columns to a macro. `layout` reconstructs the text from them, so
//! that Tile's grammar can parse it. `functions` generates a Rust function for each Tile function. The Rust
//! compiler reports errors at the corresponding token.

mod functions;
mod layout;

use hlo_ir::diag::Diag;
use layout::{Layout, Misplaced};
use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

/// Defines Tile functions as Rust functions. `hlo_tile::tile!` is the documented name.
#[proc_macro]
pub fn tile(tokens: TokenStream) -> TokenStream {
    let layout = match Layout::of(tokens) {
        Ok(layout) => layout,
        Err(Misplaced { message, span }) => return error(&message, span),
    };
    match hlo_tile_syntax::parse(&layout.text) {
        Ok(file) => functions::of(&file, &layout),
        Err(diag) => syntax_error(&diag, &layout),
    }
}

/// Returns the error for a text that is not Tile.
fn syntax_error(diag: &Diag, layout: &Layout) -> TokenStream {
    let mut message = diag.message.clone();
    for label in diag.labels.iter().filter(|l| !l.message.is_empty()) {
        message += &format!("\n{}", label.message);
    }
    for note in &diag.notes {
        message += &format!("\n= note: {note}");
    }
    let at = diag.labels.iter().find(|l| l.primary).map_or(0, |l| l.span.start as usize);
    error(&message, layout.span_at(at))
}

/// Returns a `compile_error!` with a message at a span.
fn error(message: &str, span: Span) -> TokenStream {
    let punct = |c| TokenTree::Punct(Punct::new(c, Spacing::Alone));
    let text = TokenStream::from(TokenTree::Literal(Literal::string(message)));
    let tokens = [
        TokenTree::Ident(Ident::new("compile_error", span)),
        punct('!'),
        TokenTree::Group(Group::new(Delimiter::Brace, text)),
    ];
    tokens
        .into_iter()
        .map(|mut token| {
            token.set_span(span);
            token
        })
        .collect()
}
