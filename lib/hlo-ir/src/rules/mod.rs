//! The table of rules for valid modules. Each rule has a stable code, a reason, an example of a module that
//! violates it, and a fix for the example.
//!
//! The parser and the verifier report rules by code, and `hlo-opt --explain CODE` prints an entry. A
//! violation of an `E` rule is an error, a violation of a `W` rule a warning. The table is split by family
//! like the opcodes, with a range of codes for each family:
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
//! | `E13xx` | additional requirements of `hlo-opt --verify=…` |
//! | `E20xx` | pipelines and command lines |
//! | `E40xx` | the machine that a program runs on |
//! | `E30xx`, `W30xx` | Tile, another language: errors and warnings about its files |
//! | `W00xx` | the text: accepted, but probably not as intended |
//! | `W20xx` | pipelines: passes that have no effect because information is missing |
//!
//! A code is never reused for another rule.

/// An entry of the table of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleInfo {
    /// The stable code, such as `E0123`, or `W0001` for a warning.
    pub code: &'static str,
    /// A short unique name in kebab case.
    pub name: &'static str,
    /// The rule in one sentence.
    pub rule: &'static str,
    /// The reason for the rule, or an explanation of its terms.
    pub why: &'static str,
    /// A module that violates only this rule, or a Tile file ([`RuleInfo::is_of_tile`]). `None` if text
    /// cannot violate the rule: the parser does not produce such a module, but a program that builds one can.
    pub example: Option<&'static str>,
    /// The fix for the example.
    pub fix: &'static str,
    /// The source of the rule.
    pub section: &'static str,
}

impl RuleInfo {
    /// Returns whether this is a rule of Tile. Its example is then a Tile file, and `hlo_tile` reports it.
    pub fn is_of_tile(&self) -> bool {
        self.code[1..].starts_with("30")
    }
}

/// Declares the rules of a family: a constant for each code, and the family's part of the table. Entries must
/// be in the order of their codes.
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

/// The table by family: a title, and the rules in the order of their codes.
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

/// Returns every rule, in the order of the codes.
pub fn all() -> impl Iterator<Item = &'static RuleInfo> {
    FAMILIES.iter().flat_map(|(_, rules)| *rules)
}

/// Finds a rule by its name or its code, in any case.
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
