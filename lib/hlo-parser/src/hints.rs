//! Hints for errors that state what is missing but not why: notes about likely causes, especially for users
//! who know other languages.

use crate::grammar::syntax_error;
use crate::line_starts::starts_instruction;
use crate::other_names;
use hlo_ir::blank::TrimBlanks;
use hlo_ir::cursor::token_at;
use hlo_ir::diag::Diag;
use hlo_ir::rules::code;
use hlo_ir::suggest::nearest;
use hlo_ir::{ElementType, Opcode, Span};

/// Returns the opcode nearest to `written`.
pub fn opcode(written: &str) -> Option<&'static str> {
    // No opcode is longer than this, and the limit bounds the search for very long words.
    let short = written.get(..64).unwrap_or(written);
    let mut kebab = String::new();
    for (at, c) in short.char_indices() {
        // Converts `DynamicSlice`, but not `NEGATE`.
        if c.is_ascii_uppercase() && short[..at].ends_with(|p: char| p.is_ascii_lowercase()) {
            kebab.push('-');
        }
        kebab.push(if c == '_' { '-' } else { c.to_ascii_lowercase() });
    }
    let kebab = other_names::without_dialect(&kebab);
    let same = Opcode::from_name(kebab).or_else(|| other_names::opcode(kebab)).map(Opcode::name);
    same.or_else(|| reordered(kebab)).or_else(|| nearest(kebab, Opcode::ALL.iter().map(|o| o.name())))
}

/// Returns the opcode with the same words in another order.
pub fn reordered(written: &str) -> Option<&'static str> {
    let words = |name: &str| {
        let mut words: Vec<String> = name.split('-').map(str::to_owned).collect();
        words.sort_unstable();
        words
    };
    let short = written.get(..64).unwrap_or(written);
    let meant = words(short);
    Opcode::ALL.iter().map(|o| o.name()).find(|name| name.len() == short.len() && words(name) == meant)
}

/// Returns the error for an unknown opcode. A type before a `(` is read as an opcode too.
pub fn unknown_opcode(name: &str, span: Span) -> Diag {
    if let Some(t) = ElementType::from_name(name) {
        let place = Span::new(span.end as usize, span.end as usize + 1);
        return Diag::error(format!("expected `[` after the type `{t}`, found `(`"))
            .with_code(code::SHAPE_SYNTAX)
            .at(place, format!("a shape is written `{t}[2,3]`"));
    }
    let diag = Diag::error(format!("unknown opcode `{name}`")).with_code(code::UNKNOWN_OPCODE).at(span, "");
    match opcode(name) {
        Some(n) => diag.did_you_mean(span, n),
        None => diag,
    }
}

/// Returns the error with a hint about its likely cause. The instruction at byte `at` of `text` does not
/// parse.
pub fn instruction(diag: Diag, text: &str, at: usize) -> Diag {
    if diag.code != Some(code::SYNTAX) {
        // The error of a shape is already specific.
        return diag;
    }
    let rest = &text[at..];
    let place = diag.primary().map_or(at, |l| l.span.start as usize).clamp(at, text.len());
    if diag.message.starts_with("expected `(`")
        && let Some(better) = operation(text, place).or_else(|| end_of_line("`(`", text, place))
    {
        return better;
    }
    let (word, after_root) = match rest.strip_prefix("ROOT") {
        Some(r) if r.starts_with(|c: char| c.is_ascii_whitespace()) => (r.trim_blanks_start(), true),
        _ => (rest, false),
    };
    let word = &word[..token_at(word).1];
    let found = text.get(place..).unwrap_or_default();
    let followed = &found[token_at(found).1..];
    let bare = word.strip_prefix('%').unwrap_or(word);
    if !after_root && root_misspelt(rest).is_some() {
        let start = text.len() - rest.len();
        let diag = syntax_error("`=` after the instruction's name", text, place, 0);
        return diag.did_you_mean(Span::new(start, start + word.len()), "ROOT");
    }
    let note = if bare.starts_with(|c: char| c.is_ascii_digit()) {
        "a name begins with a letter or `_`"
    } else if followed.starts_with('=') {
        "a blank goes before the `=` of an instruction; `name=value` is an attribute"
    } else if ElementType::from_name(word).is_some() {
        "an instruction begins with its name: `name = f32[2] opcode(…)`"
    } else if matches!(word, "let" | "var" | "const" | "auto") {
        "an instruction begins with its name, without a word before it"
    } else if word == "return" && !after_root {
        "a computation's result is the instruction marked `ROOT`: `ROOT name = …`"
    } else if found.starts_with("ROOT") && place > at {
        "`ROOT` goes before the name"
    } else {
        return diag;
    };
    diag.note(note)
}

/// Returns the rest of `rest` after a first word that is a misspelt `ROOT`, if an instruction follows it.
pub fn root_misspelt(rest: &str) -> Option<&str> {
    let (word, after) = rest.split_at(token_at(rest).1);
    let after = after.trim_start_matches([' ', '\t']);
    let near = word.len() <= 5 && word != "ROOT" && nearest(word, ["ROOT"]).is_some();
    (near && starts_instruction(after)).then_some(after)
}

/// Returns the error that `expected` is missing at the end of a line, if byte `place` of `text` is on a later
/// line.
fn end_of_line(expected: &str, text: &str, place: usize) -> Option<Diag> {
    let end = text[..place].trim_end().len();
    if !text[end..place].contains(['\n', '\r']) {
        return None;
    }
    let found = match token_at(&text[place..]) {
        (found, 0) => found,
        (found, _) => format!("{found} in a later line"),
    };
    let diag = Diag::error(format!("expected {expected}, found {found}")).with_code(code::SYNTAX);
    Some(diag.at(Span::new(end, end), format!("expected {expected} here")))
}

/// Returns the error for byte `place` of `text`, where an opcode's parenthesis is expected, if the word
/// before it was probably not intended as an opcode.
fn operation(text: &str, place: usize) -> Option<Diag> {
    let before = text[..place].trim_blanks_end();
    let start =
        before.rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_')).map_or(0, |n| n + 1);
    let word = before.get(start..)?;
    let (found, length) = token_at(&text[place..]);
    let next = &text[place..place + length];
    if ElementType::from_name(word).is_some() {
        let message = format!("expected `[` after the type `{word}`, found {found}");
        let label = format!("a shape is written `{word}[2,3]`, a scalar's `{word}[]`");
        let place = Span::new(place, place + length);
        return Some(Diag::error(message).with_code(code::SHAPE_SYNTAX).at(place, label));
    }
    let expected = "a shape such as `f32[2,3]`";
    if let Some(note) = shape_note(word).filter(|_| next == "<") {
        return Some(syntax_error(expected, text, start, 0).with_code(code::SHAPE_SYNTAX).note(note));
    }
    let swapped = Opcode::from_name(word).is_some() && ElementType::from_name(next).is_some();
    swapped.then(|| syntax_error("`(`", text, place, 0).note("the shape goes before the opcode"))
}

/// Returns the error for the text at `start`, which is neither a header nor a computation. `diag` is the
/// syntax error, if part of a module precedes it.
pub fn module(diag: Option<Diag>, text: &str, start: usize) -> Diag {
    let rest = &text[start..];
    let word = &rest[..token_at(rest).1];
    let span = Span::new(start, start + word.len());
    if diag.is_none() && word == "HloModule" {
        let at = text.len() - rest[word.len()..].trim_blanks_start().len();
        return syntax_error("the module's name", text, at, 0);
    }
    if rest.starts_with("```") {
        return Diag::error("expected HLO text, found a fence of Markdown")
            .with_code(code::SYNTAX)
            .at(Span::new(start, start + 3), "")
            .note("leave this line out");
    }
    let after = rest[word.len()..].trim_start_matches([' ', '\t']);
    let named = after.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '%'));
    let near = word.eq_ignore_ascii_case("entry") || named && nearest(word, ["ENTRY"]).is_some();
    if word != "ENTRY" && near {
        return syntax_error("a computation such as `ENTRY main {`", text, start, 0)
            .did_you_mean(span, "ENTRY");
    }
    if starts_instruction(rest) {
        let expected = "a computation such as `ENTRY main {`";
        return Diag::error(format!("expected {expected}, found an instruction"))
            .with_code(code::SYNTAX)
            .at(span, "")
            .note("instructions stand in the braces of a computation");
    }
    diag.unwrap_or_else(|| {
        let expected = "`HloModule` and a name, or a computation such as `ENTRY main {`";
        let diag = syntax_error(expected, text, start, 0);
        match nearest(word, ["HloModule"]) {
            Some(n) => diag.did_you_mean(span, n),
            None => diag,
        }
    })
}

/// Returns the error for text at byte `at`, after an instruction on the same line.
pub fn after_instruction(text: &str, at: usize) -> Diag {
    after_attributes("`,` and an attribute `name=value`, or the next instruction", text, at)
}

/// Returns the error at byte `at` of `text`, where `expected` (a comma and an attribute, or something else)
/// is missing.
pub fn after_attributes(expected: &str, text: &str, at: usize) -> Diag {
    let Some(rest) = text[at..].strip_prefix(',') else { return syntax_error(expected, text, at, 0) };
    let line = rest.split(['\n', '\r']).next().unwrap_or_default();
    let name = line.trim_blanks_start();
    if name.is_empty() {
        return Diag::error("expected an attribute `name=value` after the `,`, found the end of the line")
            .with_code(code::SYNTAX)
            .at(Span::new(at, at + 1), "");
    }
    let start = at + 1 + (line.len() - name.len());
    let length =
        name.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))).unwrap_or(name.len());
    if length == 0 || length == name.len() {
        return syntax_error("an attribute `name=value`", text, start, 0);
    }
    syntax_error(&format!("`=` after the attribute's name `{}`", &name[..length]), text, start + length, 0)
}

/// Returns a note for `word`, which is in place of a shape.
fn shape_note(word: &str) -> Option<&'static str> {
    match word {
        "tensor" | "memref" | "vector" => Some("MLIR's `tensor<2x3xf32>` is written `f32[2,3]`"),
        "Tensor" | "array" | "ndarray" | "Array" => {
            Some("an array is written as its element type and sizes: `f32[2,3]`")
        }
        _ => None,
    }
}
