//! The methods and attributes of expressions.

use super::builtins::{self, Builtin};
use super::outline::{Origin, Outline, Role};
use super::scan::{Kind, Token};

/// Returns the methods and attributes of the expression before the dot that precedes an offset.
pub fn members(text: &str, outline: &Outline, at: usize) -> Vec<&'static [Builtin]> {
    let end = outline.tokens.partition_point(|t| (t.span.start as usize) < at);
    let tokens = &outline.tokens[..end];
    if outline.ends_with_library(text, tokens) {
        return Vec::new();
    }
    let Some((_dot, tokens)) = tokens.split_last() else { return Vec::new() };
    let Some(base) = tokens.last() else { return Vec::new() };
    if base.kind == Kind::Close {
        return members_of_call(text, outline, tokens);
    }
    let Some(word) = outline.word_at(base.span.start as usize) else { return Vec::new() };
    match (word.role, text.get(word.span.range())) {
        (Role::Member(false), Some("shape")) => vec![builtins::OF_SHAPES],
        (Role::Member(_), _) | (_, Some("DType")) => Vec::new(),
        _ => match outline.definition(text, word).map(|w| w.role) {
            Some(Role::Target(Origin::Output)) => vec![builtins::OF_OUTPUTS, builtins::OF_TENSORS],
            Some(Role::Target(Origin::Contraction)) => {
                vec![builtins::OF_CONTRACTIONS, builtins::OF_OUTPUTS]
            }
            Some(Role::Target(Origin::Dim | Origin::Index)) => Vec::new(),
            _ => vec![builtins::OF_TENSORS],
        },
    }
}

/// Returns the members of the result of a call that ends with the last token.
fn members_of_call(text: &str, outline: &Outline, tokens: &[Token]) -> Vec<&'static [Builtin]> {
    let mut depth = 0_usize;
    let open = tokens.iter().rposition(|t| {
        match t.kind {
            Kind::Close => depth += 1,
            Kind::Open => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    });
    let callee = open.and_then(|n| n.checked_sub(1)).and_then(|n| tokens.get(n));
    let Some(name) = callee.and_then(|t| text.get(t.span.range())) else { return vec![builtins::OF_TENSORS] };
    let is_method = callee
        .and_then(|t| outline.word_at(t.span.start as usize))
        .is_some_and(|w| w.role == Role::Member(true));
    match name {
        "Contraction" => vec![builtins::OF_CONTRACTIONS, builtins::OF_OUTPUTS],
        "TensorOutput" => vec![builtins::OF_OUTPUTS, builtins::OF_TENSORS],
        "build" if is_method => vec![builtins::OF_OUTPUTS, builtins::OF_TENSORS],
        // Methods of a contraction return the contraction.
        _ if is_method => vec![builtins::OF_CONTRACTIONS, builtins::OF_OUTPUTS],
        _ => vec![builtins::OF_TENSORS],
    }
}
