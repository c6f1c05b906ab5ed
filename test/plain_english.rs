//! Checks that no doc comment and no sentence of a page starts with a clause or an object, by the rules of
//! `docs/plain-english.md`.

use crate::files;
use std::fmt::Write as _;
use std::path::Path;

/// Beginnings of sentences whose subject is a clause, and of sentences that start with an object.
const REJECTED_BEGINNINGS: &[&str] = &[
    "Of a ",
    "Of an ",
    "Of each ",
    "Of one ",
    "Of the ",
    "Of those ",
    "Of what ",
    "So many ",
    "That of ",
    "Those ",
    "What ",
    "Who ",
    "Whose ",
];

/// Folders with source code.
const FOLDERS: &[&str] = &["bench", "examples", "fuzz", "lib", "test", "tools"];

/// Returns the prose of a line: of Rust its doc comment, of a page everything outside of tables and code.
fn prose<'l>(line: &'l str, is_rust: bool, in_code: &mut bool) -> Option<&'l str> {
    let text = line.trim_start();
    if is_rust {
        let comment = text.strip_prefix("///").or_else(|| text.strip_prefix("//!"))?;
        return Some(comment.trim());
    }
    if text.starts_with("```") {
        *in_code = !*in_code;
    }
    let is_code = *in_code || line.starts_with("    ") || text.starts_with(['|', '<', '`']);
    (!is_code).then(|| text.trim_start_matches(['*', '>', ' ']))
}

/// Returns the sentences of a text that start with refused words.
fn refused(text: &str, is_rust: bool) -> Vec<(usize, &str)> {
    let (mut found, mut in_code, mut ends) = (Vec::new(), false, true);
    for (number, line) in text.lines().enumerate() {
        let Some(prose) = prose(line, is_rust, &mut in_code) else {
            ends = true;
            continue;
        };
        let (is_heading, is_item) = (prose.starts_with('#'), prose.starts_with("- "));
        let prose = prose.trim_start_matches(['#', '-', ' ']);
        let first = (ends || is_heading || is_item).then_some(prose);
        let others = prose.match_indices(". ").map(|(at, _)| &prose[at + 2..]);
        let sentences = first.into_iter().chain(others);
        found.extend(
            sentences
                .filter(|s| REJECTED_BEGINNINGS.iter().any(|words| s.starts_with(words)))
                .map(|s| (number + 1, s)),
        );
        ends = prose.is_empty() || is_heading || prose.ends_with(['.', ':']);
    }
    found
}

#[test]
fn sentences_start_with_their_subject() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = files::pages();
    let sources = FOLDERS.iter().flat_map(|folder| files::below(&root.join(folder)));
    all.extend(sources.filter(|path| files::has_extension(path, "rs")));
    let mut message = String::new();
    for path in all {
        let text = std::fs::read_to_string(&path).expect("a file of the project");
        let is_rust = files::has_extension(&path, "rs");
        for (line, sentence) in refused(&text, is_rust) {
            let path = path.strip_prefix(root).unwrap_or(&path).display();
            let _ = writeln!(message, "{path}:{line}: {sentence}");
        }
    }
    assert!(message.is_empty(), "docs/plain-english.md: sentences start with their subject\n{message}");
}

#[test]
fn refused_sentences_are_found() {
    assert_eq!(refused("/// What it returns.\nfn f() {}\n", true), [(1, "What it returns.")]);
    assert_eq!(refused("/// Returns it. Of the rest,\n/// those stay.\n", true), [(1, "Of the rest,")]);
    assert!(
        refused("// What is code?\nlet s = \"What\";\n/// Returns\n/// What was there.\n", true).is_empty()
    );
    assert_eq!(refused("# Title\n\nWho waits?\n\n    What is code\n", false), [(3, "Who waits?")]);
}
