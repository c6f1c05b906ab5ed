//! The pest grammar, and error messages for its rules.

use hlo_ir::Span;
use hlo_ir::cursor::{alternatives, token_at};
use hlo_ir::diag::Diag;
use hlo_ir::rules::code;
use pest::Parser as _;
use pest::error::{ErrorVariant, InputLocation};
use pest::iterators::Pairs;

#[derive(pest_derive::Parser)]
#[grammar = "../../grammar/stablehlo.pest"]
struct StableHloGrammar;

/// Parses the operations and aliases of a file. `scanned` is the text after the scan; `text` is the original.
///
/// # Errors
/// The first position that does not match the grammar.
pub fn parse<'a>(scanned: &'a str, text: &str) -> Result<Pairs<'a, Rule>, Diag> {
    match StableHloGrammar::parse(Rule::file, scanned) {
        Ok(mut pairs) => Ok(pairs.next().ok_or_else(|| Diag::error("nothing to parse"))?.into_inner()),
        Err(e) => Err(explain(&e, text)),
    }
}

/// Returns the position at which parsing failed, and what was expected there.
fn explain(error: &pest::error::Error<Rule>, text: &str) -> Diag {
    let at = match error.location {
        InputLocation::Pos(p) | InputLocation::Span((p, _)) => hlo_ir::floor_char_boundary(text, p),
    };
    let expected = match &error.variant {
        ErrorVariant::ParsingError { positives, .. } => describe_rules(positives),
        ErrorVariant::CustomError { message } => message.clone(),
    };
    let (found, len) = token_at(&text[at..]);
    Diag::error(format!("expected {expected}, found {found}"))
        .with_code(code::SYNTAX)
        .at(Span::new(at, at + len), "")
}

/// Describes what was expected, from the rules that were tried.
fn describe_rules(rules: &[Rule]) -> String {
    let words: Vec<&str> = rules.iter().map(|&rule| describe(rule)).filter(|word| !word.is_empty()).collect();
    if words.is_empty() { "StableHLO text".into() } else { alternatives(&words) }
}

/// Returns a description of a rule for users. It is empty for rules that are parts of others.
fn describe(rule: Rule) -> &'static str {
    match rule {
        Rule::operation | Rule::head | Rule::operation_name => {
            "an operation such as `%1 = stablehlo.add %0, %0 : …`"
        }
        Rule::region | Rule::enclosed => "a region `{ … }`",
        Rule::block | Rule::label => "a block such as `^bb0(%arg0: tensor<f32>):`",
        Rule::alias => "an alias such as `#loc1 = loc(…)`",
        Rule::resources => "`{-#`",
        Rule::EOI => "the end",
        _ => "",
    }
}
