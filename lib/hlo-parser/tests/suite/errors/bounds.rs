//! Tests of limits: nesting depth, number of errors, line length.

use super::errors;
use hlo_parser::{MAX_ERRORS, parse_module};

/// Groups of one kind may nest deeply when brackets of another kind cross them.
#[test]
fn crossing_brackets_are_bounded() {
    let text = format!("HloModule m, x=({} ENTRY e {{ a = f32[] parameter(0) }}", "{ ( } ".repeat(100_000));
    assert!(errors(&text).contains("nest more than"));
    let strings = r##""(
 b = (" } { ( "##
        .repeat(100_000);
    let text = format!("HloModule m e {{ a = f32[] add({strings}");
    assert!(errors(&text).contains("error"));
    // Many strings in one line, after an unclosed bracket.
    let text = format!("ENTRY e {{\n  a = f32[] tanh(b), x={{{}", "\"\"".repeat(500_000));
    assert!(errors(&text).contains("error"));
}

/// The number of reported errors is limited.
#[test]
fn errors_are_counted() {
    let mut text = String::from("HloModule m\n\nENTRY e {\n");
    for n in 0..100 {
        text += &format!("  a{n} = f32[] foo()\n");
    }
    text += "}\n";
    let found = parse_module(&text).unwrap_err();
    assert_eq!(found.len(), MAX_ERRORS);
    assert_eq!(found[MAX_ERRORS - 1].notes, [format!("there are more errors than these {MAX_ERRORS}")]);
}

/// A line of a megabyte is cut around the error.
#[test]
fn long_lines_are_cut() {
    let text = format!(
        "HloModule m\nENTRY e {{ c = f32[{0}] constant({{{1}x}}) }}\n",
        300_001,
        "1, ".repeat(300_000)
    );
    let shown = errors(&text);
    assert!(shown.len() < 1500, "{} bytes: {}", shown.len(), &shown[..1500]);
    assert!(shown.contains("expected an element of type f32, found `x`"), "{shown}");
    assert!(shown.contains(":2:900037"), "{shown}");
}

/// Nesting is limited wherever code recurses.
#[test]
fn nesting_is_bounded() {
    let nests = [
        ("(", ")"),
        ("{", "}"),
        ("[", "]"),
        ("(f32[], ", ")"),
        ("negate(", ")"),
        ("to_apply={ a = f32[] call(), ", "}"),
    ];
    for (open, close) in nests {
        for depth in [120, 100_000] {
            let nest = format!("{}f32[]{}", open.repeat(depth), close.repeat(depth));
            for text in [
                nest.clone(),
                format!("HloModule m, x={nest}"),
                format!("HloModule m ENTRY e {{ a = {nest} parameter(0) }}"),
                format!("HloModule m ENTRY e {{ a = f32[] {nest} }}"),
                format!("HloModule m ENTRY e {{ a = f32[] constant({nest}) }}"),
                format!("HloModule m ENTRY e {{ a = f32[] negate(b), {nest} }}"),
                format!("HloModule m ENTRY e (a: {nest}) -> {nest} {{ a = {nest} parameter(0) }}"),
            ] {
                let found = errors(&text);
                assert_eq!(
                    found.contains("nest more than"),
                    depth > 1000,
                    "{}",
                    &found[..found.len().min(600)]
                );
            }
        }
    }
}
