//! Tests that the grammar's `statement` and the reader accept the same instructions, or that the parser
//! reports an error.

use crate::test_files;
use hlo_ir::blank::TrimBlanks;
use hlo_ir::rules::code;
use hlo_parser::internals::{Rule, ScannedText, parse_rule, scan, starts_instruction};
use hlo_testing::{Numbers, mutate};
use std::collections::HashSet;

/// Returns single-line instructions of the tests, at most one for each length class and beginning.
fn instructions() -> Vec<String> {
    let (mut out, mut seen) = (Vec::new(), HashSet::new());
    for path in ["test", "lib/hlo-parser/tests"].into_iter().flat_map(test_files::below) {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        for line in text.lines().map(|l| l.trim().trim_matches('"')).filter(|l| starts_instruction(l)) {
            let operation = line.split_once('=').map_or(line, |(_, o)| o).trim_start();
            let start: String = operation.chars().filter(|c| !c.is_ascii_digit()).take(20).collect();
            let is_one = line.matches(" = ").count() == 1 && !line.contains('\\');
            if is_one && line.len() < 600 && seen.insert((line.len() / 16, start)) {
                out.push(line.to_owned());
            }
        }
    }
    out
}

/// Returns the end of the statement at the start of `text`, according to the grammar and to the reader.
fn ends(text: &str) -> (Option<usize>, Option<usize>) {
    let mut exact = ScannedText::new(text, 0);
    let read = exact.skip_to_attributes(true).ok().map(|()| exact.c.offset());
    (parse_rule(Rule::statement, text, 0).ok().map(|p| p.as_str().len()), read)
}

/// Compares the results of the grammar, the reader and the parser for a line. Returns whether those of the
/// first two differ.
fn check(line: &str) -> bool {
    let text = format!("HloModule m\n\nENTRY e {{\n  {line}\n}}\n");
    let parsed = hlo_parser::parse(&text);
    let scanned = scan(&text);
    // Brackets and comments have their own errors.
    let is_block = scanned.errors.is_empty() && scanned.top_level_ends == [text.len() - 2];
    if !is_block || line.contains(['\n', '\r']) || line.contains("//") {
        return false;
    }
    let inside = scanned.text[text.len() - line.len() - 3..text.len() - 3].trim_blanks_start();
    let (grammar, reader) = ends(inside);
    if grammar.is_some() && grammar == reader {
        return false;
    }
    let mut diags = parsed.map(|_| ()).expect_err(line);
    if diags.len() > 1 && diags[0].code == Some(code::RESERVED_NAME) {
        diags.remove(0);
    }
    let [diag] = &diags[..] else {
        panic!("{line}: {:#?}", diags.iter().map(|d| &d.message).collect::<Vec<_>>())
    };
    let place = diag.primary().unwrap_or_else(|| panic!("{line}: {diag:#?}")).span;
    assert!(place.end as usize <= text.len() && text.get(place.range()).is_some(), "{line}: {diag:#?}");
    assert!(diag.code.is_some() && diag.message.len() > 10, "{line}: {diag:#?}");
    // The grammar must accept every instruction that the reader accepts.
    assert!(reader.is_none() || grammar == reader, "{line}: {grammar:?}, {reader:?}");
    true
}

#[test]
fn the_grammar_and_the_reader_agree() {
    let lines = instructions();
    assert!(lines.len() > 1000, "{}", lines.len());
    let mut numbers = Numbers::new(1);
    let (mut differ, mut damaged) = (0, 0);
    let rounds = std::env::var("DAMAGED_LINES").ok().and_then(|n| n.parse().ok()).unwrap_or(3);
    for line in &lines {
        check(line);
        for _ in 0..rounds {
            differ += usize::from(check(&mutate::damage(line, &mut numbers)));
            damaged += 1;
        }
    }
    assert!(differ * 20 > damaged, "{differ} of {damaged}");
}
