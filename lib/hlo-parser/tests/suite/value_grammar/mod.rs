//! Tests that the readers of values accept what the rules of the grammar match.
//!
//! The values are those of the texts in `test/`, and damaged copies of them. A reader may reject a text that
//! its rule matches only if the text has no meaning: [`MEANINGS`] lists these errors.

mod collect;
mod edges;
mod grammar;
mod read;
mod rules;

use collect::{Value, values};
use grammar::{Rule, matches, rule};
use hlo_ir::blank::TrimBlanks;
use hlo_testing::{Numbers, mutate};
use read::Target;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Parts of the messages of errors that are not errors of syntax.
const MEANINGS: &[&str] = &[
    // Numbers.
    "does not fit 32 bits",
    "does not fit 63 bits",
    "does not fit 64 bits",
    "do not fit 64 bits",
    "the number is too large",
    "is out of range",
    // Characters of strings.
    "an octal escape is at most",
    "a hexadecimal escape is at most",
    "digits of a Unicode character",
    "a key is UTF-8",
    // Operations, shapes and layouts.
    "unknown opcode",
    "a parameter's number is not negative",
    " is negative: ",
    "the layout names dimension",
    "does not name its dimension",
    "the layout splits dimension",
    "a tile size is not negative",
    // The value of a literal must match its shape.
    "but the text has",
    ", as `",
    "stands for a value that is not written",
    "has no payload",
    "no literal: the sizes",
    "is too large",
    // Dimensions.
    "does not label the dimensions",
    "the window has `",
    "a window needs `size=`",
    "dimensions, `size=` has",
    "`rhs_reversal` is 0 or 1",
    "an index is one of `d0` to",
    // Shardings and groups of devices.
    "a sharding is `replicated`, `maximal`",
    "a replicated sharding has no device",
    "a maximal sharding names its device",
    "tiles lie on more than one device",
    "say the same: give one of them",
    "kinds of further dimensions are given",
    "a size is not negative",
    "the order names each of the",
    "the size of an axis is not negative",
    "the mesh has two axes",
    "the mesh has no axis",
    "devices are given for a mesh of",
    "must divide the size of the axis",
    "is used twice",
    "an axis is named twice",
    "a group along axes has more than one device",
    // Fields.
    "metadata has `",
    "a profile type is from 0 to",
    "a tolerance is not negative",
    "a domain has a `kind=`",
    "the kind of a domain is",
    "an entry of `",
];

/// Parts of the messages of further errors in tuples of constants. The rules of tuples do not know the types.
const MEANINGS_IN_TUPLES: &[&str] = &[
    "after the last element of",
    "no value: ",
    ", as in the complex number",
    "expected an element of type",
    "is a value of pred, not of",
];

/// Maximum length of the values.
const MAX_LENGTH: usize = 400;

/// Maximum number of values of a rule that consist of the same characters.
const MAX_ALIKE: usize = 40;

/// Characters that damage inserts.
const CHARACTERS: &[char] = &[
    '{', '}', '(', ')', '[', ']', ',', ':', '=', '<', '>', '-', '+', '*', '#', '?', '.', '_', '%', '"', '\'',
    '\\', '/', ' ', '\n', '\t', '\r', '0', '1', '7', 'a', 'b', 'd', 'e', 'E', 'f', 'i', 'n', 'o', 'T', 'u',
    'x',
];

/// Pieces of text that damage inserts.
const PIECES: &[&str] = &[
    " ",
    "/*c*/",
    "/*/",
    "// c\n",
    "...",
    "{}",
    "()",
    "[]",
    "{,}",
    "-1",
    "inf",
    "-nan",
    "nan(0x1)",
    "1e5",
    ".5",
    "true",
    "<=",
    "->",
    "\\x41",
    "'x'",
    "\"a\\\"b\"",
    "%",
    "f32[2]{0}",
    "99999999999999999999",
];

/// Selects the values to damage: short ones only, and some of those of a rule that consist of the same
/// characters, apart from names and numbers.
fn selected(values: &[Value]) -> Vec<&Value> {
    let mut alike: HashMap<(&str, BTreeSet<char>), usize> = HashMap::new();
    let mut out: Vec<&Value> = values.iter().collect();
    out.retain(|(target, text)| {
        // The types of elements matter for constants only.
        let is_constant = text.contains("constant(");
        let kind = text
            .chars()
            .filter(|c| !c.is_ascii_alphanumeric() || is_constant && !c.is_ascii_digit())
            .collect();
        let count = alike.entry((target.rule(), kind)).or_default();
        *count += 1;
        text.len() <= MAX_LENGTH && *count <= MAX_ALIKE
    });
    out
}

/// Returns a copy of the text with an error.
fn damaged(text: &str, numbers: &mut Numbers) -> String {
    if numbers.one_in(2) {
        return mutate::damage(text, numbers);
    }
    let mut chars: Vec<char> = text.chars().collect();
    let at = numbers.below(chars.len());
    match numbers.below(6) {
        0 if !chars.is_empty() => {
            chars.remove(at);
        }
        1 if !chars.is_empty() => chars.insert(at, chars[at]),
        2 if chars.len() > 1 => chars.swap(at.max(1) - 1, at.max(1)),
        3 if !chars.is_empty() => chars[at] = numbers.pick(CHARACTERS),
        4 => {
            let piece = numbers.pick(PIECES);
            chars.splice(at..at, piece.chars());
        }
        _ => chars.insert(at, numbers.pick(CHARACTERS)),
    }
    chars.into_iter().collect()
}

/// The results of the comparisons.
#[derive(Default)]
struct Results {
    accepted: usize,
    rejected: usize,
    /// The parts of messages for which a rule matched a text with this error.
    needed: HashSet<&'static str>,
    disagreements: Vec<String>,
}

impl Results {
    /// Compares the reader of a value with its rule.
    fn compare(&mut self, target: Target, rule: Rule, text: &str) {
        let error = target.read(text).err();
        let is_match = matches(rule, text);
        let meaning = error.as_ref().and_then(|error| meaning(text, error));
        match &error {
            None => self.accepted += 1,
            Some(_) => self.rejected += 1,
        }
        if let (Some(meaning), true) = (meaning, is_match) {
            self.needed.insert(meaning);
        }
        if error.is_none() != is_match && meaning.is_none() {
            let reader = error.unwrap_or_else(|| "accepted".into());
            self.disagreements
                .push(format!("{rule:?} {target:?} `{text}`\n    reader: {reader}; rule: {is_match}"));
        }
    }
}

/// Returns the part of the message that says that the error is not an error of syntax.
fn meaning(text: &str, error: &str) -> Option<&'static str> {
    // The shape of a tuple ends with a parenthesis.
    let in_tuple = text.split_once("constant").is_some_and(|(shape, _)| shape.contains(')'));
    let further = if in_tuple { MEANINGS_IN_TUPLES } else { &[] };
    MEANINGS.iter().chain(further).copied().find(|part| error.contains(part))
}

/// Checks whether the parser passes the text to a reader: it rejects unclosed comments and NUL bytes first.
fn is_read(text: &str) -> bool {
    !text.contains('\0') && text.rfind("/*").is_none_or(|at| text[at + 2..].contains("*/"))
}

#[test]
fn the_readers_accept_what_the_rules_match() {
    let mut numbers = Numbers::new(1);
    let mut results = Results::default();
    let rounds = std::env::var("DAMAGED_VALUES").ok().and_then(|n| n.parse().ok()).unwrap_or(20);
    let values = values();
    let rule_of = |target: Target| rule(target.rule()).unwrap_or_else(|| panic!("{target:?} has no rule"));
    for (target, text) in &values {
        results.compare(*target, rule_of(*target), text);
    }
    for &(target, ref text) in selected(&values) {
        let rule = rule_of(target);
        for _ in 0..rounds {
            let mut copy = damaged(text, &mut numbers);
            if numbers.one_in(4) {
                copy = damaged(&copy, &mut numbers);
            }
            if is_read(&copy) {
                results.compare(target, rule, copy.trim_blanks());
            }
        }
    }
    let Results { accepted, rejected, needed, disagreements } = results;
    let shown: Vec<&str> = disagreements.iter().take(20).map(String::as_str).collect();
    assert!(
        shown.is_empty(),
        "{} disagreements of {accepted} + {rejected}:\n{}",
        disagreements.len(),
        shown.join("\n")
    );
    let all = MEANINGS.iter().chain(MEANINGS_IN_TUPLES);
    let needless: Vec<_> = all.filter(|part| !needed.contains(**part)).collect();
    assert!(needless.is_empty(), "no rule matches a text with the error {needless:#?}");
    assert!(accepted > 10_000 && rejected > 50_000, "{accepted} accepted, {rejected} rejected");
}
