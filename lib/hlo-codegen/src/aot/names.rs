//! Names that are identifiers in C, C++ and Rust.

use std::collections::HashSet;

/// Reserved words of C, C++ and Rust, which cannot be used as names.
const KEYWORDS: [&str; 118] = [
    "abstract",
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "as",
    "asm",
    "async",
    "auto",
    "await",
    "become",
    "bitand",
    "bitor",
    "bool",
    "box",
    "break",
    "case",
    "catch",
    "char",
    "class",
    "compl",
    "concept",
    "const",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "crate",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dyn",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "final",
    "float",
    "fn",
    "for",
    "friend",
    "gen",
    "goto",
    "if",
    "impl",
    "in",
    "inline",
    "int",
    "let",
    "long",
    "loop",
    "macro",
    "match",
    "mod",
    "module",
    "move",
    "mut",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "override",
    "priv",
    "private",
    "protected",
    "pub",
    "public",
    "ref",
    "register",
    "requires",
    "restrict",
    "return",
    "self",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "struct",
    "super",
    "switch",
    "template",
    "this",
    "throw",
    "trait",
    "true",
    "try",
    "type",
    "typedef",
    "typeid",
    "typename",
    "typeof",
    "union",
    "unsafe",
    "unsigned",
    "unsized",
    "use",
    "using",
    "virtual",
    "void",
    "volatile",
    "where",
    "while",
    "xor",
    "xor_eq",
    "yield",
    "linux",
    "unix",
];

/// Checks that a program may have a name. The name becomes a function, the prefix of other names, and part of
/// file names.
///
/// # Errors
/// Describes the problem and the expected form.
pub fn check_program_name(name: &str) -> Result<(), String> {
    let expected = "expected letters, digits and `_`, with a letter first, such as `my_model`";
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(fits) {
        return Err(format!("`{name}` can't be the name of a C function: {expected}"));
    }
    if KEYWORDS.contains(&name) {
        return Err(format!("`{name}` is a word of C, C++ or Rust: {expected}"));
    }
    if name == "main" || name.starts_with("hlo_") {
        return Err(format!(
            "`{name}` is taken: `main` is the C program's, `hlo_` begins names of the runtime"
        ));
    }
    if name.len() > 128 {
        return Err(format!("a name of {} letters is too long: at most 128 are expected", name.len()));
    }
    Ok(())
}

/// Returns a similar identifier for each name. No two identifiers are equal, even if case is ignored. None of
/// them equals a name in `taken`, which must be in lower case.
pub fn identifiers<'n>(names: impl Iterator<Item = &'n str>, taken: &[&str]) -> Vec<String> {
    let mut used: HashSet<String> = taken.iter().map(|t| (*t).to_string()).collect();
    names
        .map(|name| {
            let stem = identifier(name);
            let mut out = stem.clone();
            let mut number = 2;
            while !used.insert(out.to_ascii_lowercase()) {
                out = format!("{stem}_{number}");
                number += 1;
            }
            out
        })
        .collect()
}

fn identifier(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut out = words.collect::<Vec<_>>().join("_");
    if !out.starts_with(|c: char| c.is_ascii_alphabetic()) {
        out.insert_str(0, if out.is_empty() { "x" } else { "x_" });
    }
    if KEYWORDS.contains(&out.as_str()) {
        out.push('_');
    }
    out
}
