//! The table of rules: what a valid module obeys, each rule with a stable code, the reason for it, a module
//! that breaks it and what to change there.
//!
//! The parser and the verifier report rules by code; `hlo-opt --explain CODE` prints an entry. What breaks an `E` rule
//! is refused, what breaks a `W` rule is warned of. The table is split by family
//! as the opcodes are, with a range of codes for each:
//!
//! | codes | rules of |
//! |---|---|
//! | `E01xx` | the text: what the parser reports |
//! | `E02xx` | modules, computations, calls between them |
//! | `E03xx` | instructions of every opcode |
//! | `E04xx` | structural and elementwise opcodes |
//! | `E05xx` | data movement |
//! | `E06xx` | slices, gathers and scatters at indices known at run time |
//! | `E07xx` | reductions and sorting |
//! | `E08xx` | products, transforms, factorisations, normalisation, random numbers |
//! | `E09xx` | calls, loops, branches, fusions |
//! | `E10xx` | tokens, transfers, asynchronous operations, custom calls |
//! | `E11xx` | collectives |
//! | `E12xx` | shardings, aliasing and donation, the rest of the header |
//! | `E13xx` | what `hlo-opt --verify=…` asks for beyond a valid module |
//! | `E20xx` | pipelines and command lines |
//! | `E40xx` | the machine that a program runs on |
//! | `E30xx`, `W30xx` | Tile, another language: its files' errors and warnings |
//! | `W00xx` | the text: what is accepted though likely not meant |
//! | `W20xx` | pipelines: passes that have nothing to go by |
//!
//! A code is never used again for another rule.

/// One rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleInfo {
    /// The stable code, `E0123`; `W0001` if it is warned of only.
    pub code: &'static str,
    /// A short name in kebab case, unique as well.
    pub name: &'static str,
    /// The rule in one sentence.
    pub rule: &'static str,
    /// Why it holds, or what is meant by its words.
    pub why: &'static str,
    /// A module that breaks this rule and no other, or a file of Tile ([`RuleInfo::is_of_tile`]); `None` if text can't: the
    /// parser gives no such module, but a program that builds one may.
    pub example: Option<&'static str>,
    /// What to change in the example.
    pub fix: &'static str,
    /// Where the rule comes from.
    pub section: &'static str,
}

impl RuleInfo {
    /// True for a rule of Tile: its example is a file of Tile, and `hlo_tile` reports it.
    pub fn is_of_tile(&self) -> bool {
        self.code[1..].starts_with("30")
    }
}

/// Declares the rules of a family: a constant with each code, and the family's part of the table. Entries
/// stand in the order of their codes.
macro_rules! rules {
    ($($constant:ident = $code:literal $name:literal {
        rule: $rule:literal,
        why: $why:literal,
        example: $example:expr,
        fix: $fix:literal,
        section: $section:literal $(,)?
    })*) => {
        $(
            #[doc = $rule]
            pub const $constant: &str = $code;
        )*

        /// The family's part of the table.
        pub(in crate::rules) const TABLE: &[$crate::rules::RuleInfo] = &[$($crate::rules::RuleInfo {
            code: $code,
            name: $name,
            rule: $rule,
            why: $why,
            example: $example,
            fix: $fix,
            section: $section,
        },)*];
    };
}

mod collective;
mod common;
mod control;
mod data_movement;
mod devices;
mod effects;
mod elementwise;
mod header;
mod indexing;
mod linear_algebra;
mod machine;
mod module;
mod reduction;
mod strict;
mod syntax;
mod tile;
mod tools;
mod warnings;

/// The codes by name, for the checks that report them.
#[allow(unused_imports, reason = "a family may have no rules of its own")]
pub mod code {
    pub use super::{
        collective::*, common::*, control::*, data_movement::*, devices::*, effects::*, elementwise::*,
        header::*, indexing::*, linear_algebra::*, machine::*, module::*, reduction::*, strict::*, syntax::*,
        tile::*, tools::*, warnings::*,
    };
}

/// The table by family: a title and its rules in the order of their codes.
pub const FAMILIES: &[(&str, &[RuleInfo])] = &[
    ("Text", syntax::TABLE),
    ("Modules and computations", module::TABLE),
    ("Instructions of every opcode", common::TABLE),
    ("Structural and elementwise opcodes", elementwise::TABLE),
    ("Data movement", data_movement::TABLE),
    ("Indexing", indexing::TABLE),
    ("Reductions and sorting", reduction::TABLE),
    ("Linear algebra, normalisation, random numbers", linear_algebra::TABLE),
    ("Control", control::TABLE),
    ("Effects", effects::TABLE),
    ("Collectives", collective::TABLE),
    ("Device groups and channels", devices::TABLE),
    ("Shardings, aliasing, header", header::TABLE),
    ("What `--verify` asks for", strict::TABLE),
    ("Pipelines and command lines", tools::TABLE),
    ("Tile", tile::TABLE),
    ("The machine", machine::TABLE),
    ("Warnings", warnings::TABLE),
];

/// Every rule, in the order of the codes.
pub fn all() -> impl Iterator<Item = &'static RuleInfo> {
    FAMILIES.iter().flat_map(|(_, rules)| *rules)
}

/// The rule of that code (in any case) or name.
pub fn find(text: &str) -> Option<&'static RuleInfo> {
    all().find(|r| r.code.eq_ignore_ascii_case(text) || r.name == text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn codes_are_sorted_and_unique() {
        let codes: Vec<&str> = all().map(|r| r.code).collect();
        assert!(codes.is_sorted_by(|a, b| a < b), "{codes:?}");
    }

    #[test]
    fn names_are_unique_and_entries_complete() {
        let mut names = HashSet::new();
        for r in all() {
            assert!(names.insert(r.name), "{}: {} stands twice", r.code, r.name);
            assert!(
                r.name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'),
                "{}",
                r.name
            );
            assert!(r.code.len() == 5 && r.code.starts_with(['E', 'W']), "{}", r.code);
            for text in [r.rule, r.why, r.fix, r.section] {
                assert!(!text.is_empty() && !text.contains('\n'), "{}: `{text}`", r.code);
            }
        }
    }

    #[test]
    fn found_by_code_and_name() {
        assert_eq!(find("e0301").map(|r| r.name), Some("operand-count"));
        assert_eq!(find("operand-count").map(|r| r.code), Some(code::ARITY));
        assert_eq!(find("E0000"), None);
    }
}
