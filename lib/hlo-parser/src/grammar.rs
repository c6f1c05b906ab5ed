//! The pest grammar, and the conversion of its errors to words.

use hlo_ir::Span;
use hlo_ir::cursor::{alternatives, token_at};
use hlo_ir::diag::Diag;
use hlo_ir::rules::code;
use pest::Parser as _;
use pest::error::{ErrorVariant, InputLocation};
use pest::iterators::Pair;

#[derive(pest_derive::Parser)]
#[grammar = "../../grammar/lexical.pest"]
#[grammar = "../../grammar/hlo.pest"]
struct HloGrammar;

/// Parses `rule` at the start of `text`, which is at byte `base` of the whole text.
///
/// # Errors
/// The rule does not match.
pub fn parse(rule: Rule, text: &str, base: usize) -> Result<Pair<'_, Rule>, Diag> {
    match HloGrammar::parse(rule, text) {
        Ok(mut pairs) => pairs.next().ok_or_else(|| Diag::error("nothing to parse")),
        Err(e) => Err(explain(&e, text, base)),
    }
}

/// Converts an error of the grammar: its position, and the rules tried there in words.
fn explain(error: &pest::error::Error<Rule>, text: &str, base: usize) -> Diag {
    let at = match error.location {
        InputLocation::Pos(p) | InputLocation::Span((p, _)) => p.min(text.len()),
    };
    let expected = match &error.variant {
        ErrorVariant::ParsingError { positives, .. } => describe_rules(positives),
        ErrorVariant::CustomError { message } => message.clone(),
    };
    syntax_error(&expected, text, at, base)
}

/// Creates the error that `expected` was expected at byte `at` of `text`.
pub fn syntax_error(expected: &str, text: &str, at: usize, base: usize) -> Diag {
    let rest = &text[at..];
    let (found, len) = token_at(rest);
    // A long list is not repeated in the label.
    let label = if expected.len() <= 40 { format!("expected {expected}") } else { String::new() };
    Diag::error(format!("expected {expected}, found {found}"))
        .with_code(code::SYNTAX)
        .at(Span::new(base + at, base + at + len), label)
}

/// Describes the text that one of `rules` would match.
fn describe_rules(rules: &[Rule]) -> String {
    let words: Vec<&str> = rules.iter().map(|&rule| describe(rule)).filter(|word| !word.is_empty()).collect();
    if words.is_empty() { "HLO text".into() } else { alternatives(&words) }
}

/// Returns the name of a rule for users. Empty for rules that are parts of others, and for text that
/// [`crate::syntax`] describes.
fn describe(rule: Rule) -> &'static str {
    match rule {
        Rule::module_name => "the module's name",
        Rule::hlo_module | Rule::header => "`HloModule`",
        Rule::computation_head | Rule::computation | Rule::computations => {
            "a computation such as `ENTRY main {`"
        }
        Rule::computation_name => "a computation's name",
        Rule::parameter_list => "the parameters in parentheses",
        Rule::entry => "`ENTRY`",
        Rule::arrow => "`->`",
        Rule::comma => "`,`",
        Rule::shape_token => "a shape such as `f32[2,3]`",
        Rule::open_brace => "`{`",
        Rule::statement | Rule::operation | Rule::single_instruction => "an instruction `name = …`",
        Rule::attribute => "an attribute `name=value`",
        Rule::execution_thread => "`execution_thread=\"…\"`",
        _ => "",
    }
}
