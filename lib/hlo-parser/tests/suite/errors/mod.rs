//! Tests of rendered error messages.

use hlo_ir::diag::{Source, render};
use hlo_parser::parse_module;

mod bounds;
mod instructions;
mod syntax;
mod tables;

fn errors(text: &str) -> String {
    let source = Source { name: "m.hlo".into(), text: text.into() };
    match parse_module(text) {
        Ok(_) => "no error".into(),
        Err(diags) => {
            let shown: String = diags.iter().map(|d| render(d, &source, false)).collect();
            // Without blanks at line ends, which editors remove from this file.
            shown.lines().map(|l| l.trim_end().to_owned() + "\n").collect::<String>().trim_end().into()
        }
    }
}

fn check(text: &str, expected: &str) {
    let found = errors(text);
    assert_eq!(found, expected.trim(), "\n{found}\n");
}
