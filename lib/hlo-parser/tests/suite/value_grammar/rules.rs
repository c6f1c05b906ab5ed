//! Tests that every attribute has a rule, and that every rule has a use and matches a part of a text.

use super::collect::{Value, values};
use super::grammar::{FILES, matches, parts, rule};
use super::read::Target;
use hlo_ir::Opcode;
use std::collections::HashSet;

/// The values that are not values of attributes.
pub const OTHERS: [Target; 7] = [
    Target::TableString,
    Target::FileLocation,
    Target::StackFrame,
    Target::Parameters,
    Target::Shape,
    Target::Thread,
    Target::Operation,
];

/// The definition of a rule.
struct Definition {
    name: &'static str,
    /// Whether the parts that the rule matches are not recorded.
    is_atomic: bool,
    /// The names in the expression.
    uses: HashSet<String>,
}

/// Returns the definitions of the rules of values.
fn definitions() -> Vec<Definition> {
    let mut out: Vec<Definition> = Vec::new();
    let lines = FILES.into_iter().flat_map(str::lines);
    for line in lines.filter(|line| !line.trim_start().starts_with("//")) {
        let mut expression = line;
        if let Some((name, rest)) = line.split_once('=').filter(|_| line.starts_with(char::is_alphabetic)) {
            let is_atomic = rest.trim_start().starts_with('@');
            out.push(Definition { name: name.trim(), is_atomic, uses: HashSet::new() });
            expression = rest;
        }
        // Every second piece is a string.
        let without_escapes = expression.replace(r"\\", "").replace("\\\"", "");
        let code = without_escapes.split('"').step_by(2);
        let words = code.flat_map(|piece| piece.split(|c: char| !(c.is_alphanumeric() || c == '_')));
        if let Some(definition) = out.last_mut() {
            definition.uses.extend(words.map(str::to_owned));
        }
    }
    out
}

/// Returns the names of the rules of all values.
fn roots() -> HashSet<&'static str> {
    Target::attributes().iter().chain(&OTHERS).map(|target| target.rule()).collect()
}

/// Returns the short values that their readers accept.
fn accepted() -> Vec<Value> {
    let mut out = values();
    out.retain(|(target, text)| text.len() <= super::MAX_LENGTH && target.read(text).is_ok());
    out
}

#[test]
fn every_attribute_has_a_rule_and_a_value() {
    let accepted = accepted();
    for target in Target::attributes().into_iter().chain(OTHERS) {
        assert!(rule(target.rule()).is_some(), "{target:?}: no rule `{}`", target.rule());
        assert!(accepted.iter().any(|(t, _)| *t == target), "{target:?}: no text has a value");
    }
}

#[test]
fn every_rule_is_used() {
    let (definitions, roots) = (definitions(), roots());
    assert!(definitions.len() > 150, "{} definitions", definitions.len());
    for Definition { name, .. } in &definitions {
        assert!(*name == "COMMENT" || rule(name).is_some(), "{name}");
        let is_used = definitions.iter().any(|d| d.name != *name && d.uses.contains(*name));
        assert!(*name == "COMMENT" || is_used || roots.contains(name), "`{name}` is not used");
    }
}

#[test]
fn every_rule_matches_a_part_of_a_text() {
    let (definitions, roots) = (definitions(), roots());
    let mut found = HashSet::new();
    for (target, text) in accepted() {
        found.extend(rule(target.rule()).into_iter().flat_map(|rule| parts(rule, &text)));
    }
    let is_recorded =
        |name: &str| definitions.iter().any(|d| !d.is_atomic && d.name != name && d.uses.contains(name));
    let missing: Vec<&str> = definitions
        .iter()
        .map(|d| d.name)
        .filter(|name| {
            (is_recorded(name) || roots.contains(name)) && !rule(name).is_some_and(|r| found.contains(&r))
        })
        .collect();
    assert!(missing.is_empty(), "no text has a part that matches {missing:?}");
}

#[test]
fn the_rules_of_words_match_the_words() {
    let mut count = 0;
    for &opcode in Opcode::ALL {
        let op = opcode.default_op();
        for field in op.attrs().map_or(&[][..], |attrs| attrs.fields()) {
            let rule = rule(field.rule).unwrap_or_else(|| panic!("no rule `{}`", field.rule));
            // The empty word is a default that is never written.
            for word in field.words.iter().filter(|word| !word.is_empty()) {
                assert!(matches(rule, word), "{rule:?}: `{word}`");
                assert!(!matches(rule, &format!("{word}x")), "{rule:?}: `{word}x`");
                count += 1;
            }
        }
    }
    assert!(count > 100, "{count} words");
}
