//! The rules of values: `values.pest`, `literals.pest`, `attributes.pest` and `shardings.pest`.

use hlo_ir::blank::blanks_and_comments;
use pest::Parser as _;
use pest::iterators::Pairs;

#[derive(pest_derive::Parser)]
#[grammar = "../../grammar/lexical.pest"]
#[grammar = "../../grammar/values.pest"]
#[grammar = "../../grammar/literals.pest"]
#[grammar = "../../grammar/attributes.pest"]
#[grammar = "../../grammar/shardings.pest"]
struct ValueGrammar;

/// The text of the files with rules of values.
pub const FILES: [&str; 4] = [
    include_str!("../../../../../grammar/values.pest"),
    include_str!("../../../../../grammar/literals.pest"),
    include_str!("../../../../../grammar/attributes.pest"),
    include_str!("../../../../../grammar/shardings.pest"),
];

/// Returns the rule with this name, if there is one.
pub fn rule(name: &str) -> Option<Rule> {
    Rule::all_rules().iter().copied().find(|rule| format!("{rule:?}") == name)
}

/// Returns the rules that match parts of the text, if `rule` matches at its start.
pub fn parts(rule: Rule, text: &str) -> Vec<Rule> {
    let start = blanks_and_comments(text.as_bytes());
    let pairs = ValueGrammar::parse(rule, &text[start..]).into_iter().flat_map(Pairs::flatten);
    pairs.map(|pair| pair.as_rule()).collect()
}

/// Checks whether `rule` matches the whole text, except for blanks and comments around it.
pub fn matches(rule: Rule, text: &str) -> bool {
    let start = blanks_and_comments(text.as_bytes());
    let Ok(pairs) = ValueGrammar::parse(rule, &text[start..]) else { return false };
    let end = start + pairs.map(|pair| pair.as_span().end()).max().unwrap_or(0);
    end + blanks_and_comments(&text.as_bytes()[end..]) == text.len()
}
