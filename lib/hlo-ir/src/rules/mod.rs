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
//! | `E08xx` | products, transforms, factorizations, normalization, random numbers |
//! | `E09xx` | calls, loops, branches, fusions |
//! | `E10xx` | tokens, transfers, asynchronous operations, custom calls |
//! | `E11xx` | collectives |
//! | `E12xx` | shardings, aliasing and donation, the rest of the header |
//! | `E13xx` | additional requirements of `hlo-opt --verify=…` |
//! | `E40xx` | the machine that a program runs on |
//! | `W00xx` | the text: accepted, but probably not as intended |
//!
//! Other crates declare rules of their own with [`rules!`](crate::rules!):
//!
//! | codes | rules of |
//! |---|---|
//! | `E200x`, `E201x`, `W20xx` | pipelines and passes (`hlo_passes::rules`) |
//! | `E202x` | files with several modules (`hlo_tools_common::rules`) |
//! | `E30xx`, `W30xx` | Tile, another language (`hlo_tile::rules`) |
//!
//! A code is never reused for another rule.

use crate::diag::Code;

/// An entry of the table of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleInfo {
    /// The stable code, such as `E0123`, or `W0001` for a warning.
    pub code: Code,
    /// A short unique name in kebab case.
    pub name: &'static str,
    /// The rule in one sentence.
    pub rule: &'static str,
    /// The reason for the rule, or an explanation of its terms.
    pub why: &'static str,
    /// A file that violates only this rule. `None` if text cannot violate the rule: the parser does not produce such a
    /// module, but a program that builds one can.
    pub example: Option<&'static str>,
    /// The fix for the example.
    pub fix: &'static str,
    /// The source of the rule.
    pub section: &'static str,
}

/// The rules of one subject, in the order of their codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Family {
    /// The title of the family.
    pub title: &'static str,
    /// The name of a file with an example of a rule. Its extension determines the language.
    pub example: &'static str,
    /// The rules.
    pub rules: &'static [RuleInfo],
}

impl Family {
    /// Finds a rule by its code, in any case, or by its name.
    pub fn find(&self, text: &str) -> Option<&'static RuleInfo> {
        self.rules.iter().find(|r| r.code.as_str().eq_ignore_ascii_case(text) || r.name == text)
    }
}

/// Declares the rules of a [`Family`]: a constant for each code, and `TABLE`, the list of the rules. Entries must be in
/// the order of their codes.
#[macro_export]
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
            pub const $constant: $crate::diag::Code = $crate::diag::Code::new($code);
        )*

        /// The rules of the family.
        pub(crate) const TABLE: &[$crate::rules::RuleInfo] = &[$($crate::rules::RuleInfo {
            code: $constant,
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
mod warnings;

/// The codes by name, for the checks that report them.
#[allow(unused_imports, reason = "a family may have no rules of its own")]
pub mod code {
    pub use super::{
        collective::*, common::*, control::*, data_movement::*, devices::*, effects::*, elementwise::*,
        header::*, indexing::*, linear_algebra::*, machine::*, module::*, reduction::*, strict::*, syntax::*,
        warnings::*,
    };
}

/// Returns a family whose examples are modules.
const fn family(title: &'static str, rules: &'static [RuleInfo]) -> Family {
    Family { title, example: "example.hlo", rules }
}

/// The families of this crate, in the order of their codes.
pub const FAMILIES: &[Family] = &[
    family("Text", syntax::TABLE),
    family("Modules and computations", module::TABLE),
    family("Instructions of every opcode", common::TABLE),
    family("Structural and elementwise opcodes", elementwise::TABLE),
    family("Data movement", data_movement::TABLE),
    family("Indexing", indexing::TABLE),
    family("Reductions and sorting", reduction::TABLE),
    family("Linear algebra, normalization, random numbers", linear_algebra::TABLE),
    family("Control", control::TABLE),
    family("Effects", effects::TABLE),
    family("Collectives", collective::TABLE),
    family("Device groups and channels", devices::TABLE),
    family("Shardings, aliasing, header", header::TABLE),
    family("Requirements of `--verify`", strict::TABLE),
    family("The machine", machine::TABLE),
    family("Warnings", warnings::TABLE),
];

/// Returns the rules of this crate, in the order of the codes.
pub fn all() -> impl Iterator<Item = &'static RuleInfo> {
    FAMILIES.iter().flat_map(|family| family.rules)
}
