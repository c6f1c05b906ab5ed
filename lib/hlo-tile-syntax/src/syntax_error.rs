//! Syntax errors: describes what was found and what was expected.

use crate::grammar::Rule;
use crate::syntax;
use hlo_ir::Span;
use hlo_ir::cursor::{alternatives, token_at};
use hlo_ir::diag::Diag;
use pest::error::{ErrorVariant, InputLocation};

/// Returns the error for the position where the grammar fails.
pub(crate) fn explain(error: &pest::error::Error<Rule>, text: &str) -> Diag {
    let at = match error.location {
        InputLocation::Pos(p) | InputLocation::Span((p, _)) => p.min(text.len()),
    };
    if let Some(diag) = indented(text, at).or_else(|| other_python(text, at)) {
        return diag;
    }
    let words: Vec<&str> = match &error.variant {
        ErrorVariant::ParsingError { positives, .. } => positives.iter().map(|&r| describe(r)).collect(),
        ErrorVariant::CustomError { .. } => Vec::new(),
    };
    // After a complete expression, any operator may follow. The other alternatives are more helpful.
    let rare = |word: &&str| !matches!(*word, "" | "an operator");
    let mut expected: Vec<&str> = words.iter().copied().filter(rare).collect();
    if expected.is_empty() {
        expected = words.into_iter().filter(|word| !word.is_empty()).collect();
    }
    expected.sort_unstable();
    expected.dedup();
    if expected.is_empty() {
        expected.push("a function: `def name(A, B):`, and its lines indented below");
    }
    let (found, length) = match text[at..].chars().next() {
        None => ("the end of the file".to_owned(), 0),
        Some('\n') => ("the end of the line".to_owned(), 0),
        Some(_) => token_at(&text[at..]),
    };
    let label = format!("expected {}, found {found}", alternatives(&expected));
    syntax(Span::new(at, at + length), "a text that is not Tile", label)
}

/// Returns the description of a rule for messages, or an empty string to omit it.
fn describe(rule: Rule) -> &'static str {
    match rule {
        Rule::function | Rule::signature | Rule::import | Rule::def | Rule::kw_from => {
            "a function: `def name(A, B):`"
        }
        Rule::name | Rule::imported => "a name",
        Rule::path | Rule::module => "the name of a module",
        Rule::kw_import => "`import`",
        Rule::kw_as => "`as`",
        Rule::kw_else => "`else`",
        Rule::expression | Rule::operation | Rule::expression_list | Rule::element => "an expression",
        Rule::tuple | Rule::list => "an expression",
        Rule::float | Rule::integer | Rule::string | Rule::truth => "an expression",
        Rule::statement | Rule::return_ | Rule::pass | Rule::assert | Rule::assignment => "a statement",
        Rule::line | Rule::block => "a statement",
        Rule::power | Rule::floor_divide | Rule::shift_left | Rule::shift_right | Rule::le | Rule::ge => {
            "an operator"
        }
        Rule::eq | Rule::ne | Rule::lt | Rule::gt | Rule::add | Rule::subtract | Rule::multiply => {
            "an operator"
        }
        Rule::divide | Rule::modulo | Rule::bit_and | Rule::bit_or | Rule::bit_xor | Rule::and | Rule::or => {
            "an operator"
        }
        Rule::call | Rule::subscript | Rule::attribute | Rule::assign | Rule::dot => "an operator",
        Rule::kw_if | Rule::until => "an operator",
        Rule::parameter => "a parameter",
        Rule::argument => "an argument",
        Rule::open => "`(`",
        Rule::close => "`)`",
        Rule::open_bracket => "`[`",
        Rule::close_bracket => "`]`",
        Rule::comma => "`,`",
        Rule::colon => "`:`",
        Rule::equals => "`=`",
        Rule::line_end | Rule::semicolon => "the end of the line",
        _ => "",
    }
}

/// Returns the error for a line with unexpected indentation.
fn indented(text: &str, at: usize) -> Option<Diag> {
    let line = text[..at].rfind('\n').map_or(0, |n| n + 1);
    let blanks = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let here = blanks(&text[line..]);
    if at > line + here || text[line + here..].starts_with('\n') || text.len() == line + here {
        return None;
    }
    let before = text[..line].lines().rev().find(|l| !l.trim().is_empty())?;
    let (there, opens) = (blanks(before), before.trim_end().ends_with(':'));
    let place = Span::new(line, line + here.max(1));
    if opens && here <= there {
        let d = syntax(place, "a function without a body", "indent what the function does");
        return Some(d);
    }
    if !opens && here != there && here > 0 {
        let label = format!("indented by {here}, the line before by {there}");
        return Some(syntax(place, "the lines of a function are indented alike", label));
    }
    None
}

/// Returns the error for Python syntax that is not Tile.
fn other_python(text: &str, at: usize) -> Option<Diag> {
    let line = text[..at].rfind('\n').map_or(0, |n| n + 1);
    let statement = text[line..].trim_start();
    let start = text.len() - statement.len();
    let word = statement.split(|c: char| !c.is_alphanumeric()).next()?;
    let what = match word {
        "for" | "while" => "loops: indices of a contraction run over all that is valid",
        "if" | "elif" | "else" => {
            "branches: `select(condition, a, b)` chooses element by element, `a if condition else b` by a number"
        }
        "class" | "lambda" | "with" | "try" | "raise" | "del" | "global" | "yield" | "async" => {
            "statements but assignments, contractions, calls and `return`"
        }
        _ => return None,
    };
    let place = Span::new(start, start + word.len());
    Some(syntax(place, format!("Tile has no {what}"), format!("`{word}` is Python's")))
}
