//! The macro `tile!`, which `hlo-tile` exports and describes: functions of Tile as functions of Rust.
//!
//! Rust hands a macro its tokens, with the lines and columns that they stand at; `layout` puts them there again, so that Tile's
//! own grammar reads the text, and `functions` writes a function of Rust for each of Tile's. What is wrong with the text is an
//! error of Rust's compiler at the token that it is about.

mod functions;
mod layout;

use hlo_ir::diag::Diag;
use layout::{Layout, Misplaced};
use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

/// Functions of Tile as functions of Rust: `hlo_tile::tile!` has the description.
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

/// The error for a text that is not Tile.
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

/// `compile_error!` of a message, at a place.
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
