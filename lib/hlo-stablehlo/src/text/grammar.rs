//! The pest grammar, and its errors in words.

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

/// The operations and aliases of a file. `scanned` is the text after the scan, `text` as it was.
///
/// # Errors
/// The first place that is none of the grammar's.
pub fn parse<'a>(scanned: &'a str, text: &str) -> Result<Pairs<'a, Rule>, Diag> {
    match StableHloGrammar::parse(Rule::file, scanned) {
        Ok(mut pairs) => Ok(pairs.next().ok_or_else(|| Diag::error("nothing to parse"))?.into_inner()),
        Err(e) => Err(explain(&e, text)),
    }
}

/// The position at which parsing failed and what was tried there, in words.
fn explain(error: &pest::error::Error<Rule>, text: &str) -> Diag {
    let at = match error.location {
        InputLocation::Pos(p) | InputLocation::Span((p, _)) => hlo_ir::floor_char_boundary(text, p),
    };
    let expected = match &error.variant {
        ErrorVariant::ParsingError { positives, .. } => in_words(positives),
        ErrorVariant::CustomError { message } => message.clone(),
    };
    let (found, len) = token_at(&text[at..]);
    Diag::error(format!("expected {expected}, found {found}"))
        .with_code(code::SYNTAX)
        .at(Span::new(at, at + len), "")
}

/// What was expected where one of `rules` was.
fn in_words(rules: &[Rule]) -> String {
    let words: Vec<&str> = rules.iter().map(|&rule| describe(rule)).filter(|word| !word.is_empty()).collect();
    if words.is_empty() { "StableHLO text".into() } else { alternatives(&words) }
}

/// What a person calls a rule; empty for those that are parts of others.
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
