//! Generates the Rust functions that call the functions of a Tile text.

use crate::layout::Layout;
use hlo_tile_syntax::ast::{ExprKind, File, Function, StatementKind};
use proc_macro::{Literal, Span, TokenStream};
use std::fmt::Write as _;

/// Generates the functions for a file.
pub(crate) fn of(file: &File, layout: &Layout) -> TokenStream {
    let here = Span::call_site();
    let text = format!("__tile_text_{}_{}", layout.line, here.column());
    let mut out = format!(
        "#[doc(hidden)] #[allow(non_snake_case)] fn {text}() -> &'static ::hlo_tile::embedded::Text {{ \
         static TEXT: ::hlo_tile::embedded::Text = ::hlo_tile::embedded::Text::new(file!(), {}, {}); &TEXT }}\n",
        layout.line,
        Literal::string(&layout.text),
    );
    for function in &file.functions {
        out += &one(function, &text);
    }
    // This can only fail because of names that Rust does not accept.
    out.parse().unwrap_or_else(|e| crate::error(&format!("this can't be a function of Rust: {e}"), here))
}

/// Generates the Rust function for one Tile function.
fn one(function: &Function, text: &str) -> String {
    let name = &function.name.text;
    let mut out = documentation(function);
    out += "#[allow(non_snake_case, dead_code)] #[track_caller] ";
    let (mut parameters, mut arguments) = (String::new(), String::new());
    for parameter in &function.parameters {
        let name = identifier(&parameter.name.text);
        let _ = write!(parameters, ", {name}: impl Into<::hlo_tile::FunctionArgument<'b>>");
        let _ = write!(arguments, "{name}.into(), ");
    }
    let count = results(function);
    let result = match count {
        1 => "::hlo_tile::embedded::Value<'b>".to_owned(),
        n => format!("[::hlo_tile::embedded::Value<'b>; {n}]"),
    };
    let only = if count == 1 { "[0]" } else { "" };
    let _ = writeln!(
        out,
        "pub fn {}<'b>(builder: &'b ::hlo_tile::embedded::Builder{parameters}) -> {result} {{ \
         {text}().call::<{count}>(builder, {name:?}, &[{arguments}]){only} }}",
        identifier(name),
    );
    out
}

/// Generates the documentation from the function's doc string and parameters.
fn documentation(function: &Function) -> String {
    let names: Vec<&str> = function.parameters.iter().map(|p| p.name.text.as_str()).collect();
    let mut lines = vec![format!("`{}({})`, a function of Tile.", function.name.text, names.join(", "))];
    if let Some(first) = function.body.first()
        && let StatementKind::Expression(expr) = &first.kind
        && let ExprKind::Text(text) = &expr.kind
    {
        lines.push(String::new());
        // Brackets are shapes, not links.
        lines.extend(text.lines().map(|line| line.trim().replace('[', "\\[")));
    }
    lines.iter().map(|line| format!("#[doc = {}]\n", Literal::string(line))).collect()
}

/// Returns the number of tensors that a function returns, according to its `return` statement.
fn results(function: &Function) -> usize {
    let returned = function.body.iter().find_map(|s| match &s.kind {
        StatementKind::Return(value) => value.as_ref(),
        _ => None,
    });
    match returned.map(|expr| &expr.kind) {
        Some(ExprKind::Sequence(all)) if !all.iter().any(|e| matches!(e.kind, ExprKind::Starred(_))) => {
            all.len()
        }
        _ => 1,
    }
}

/// Returns a Rust identifier for a name, which may be a Rust keyword.
fn identifier(name: &str) -> String {
    match name {
        "self" | "Self" | "super" | "crate" | "_" => format!("{name}_"),
        "builder" => "builder_".to_owned(),
        _ => format!("r#{name}"),
    }
}
