//! Rewrite rules as data. The files in `rules/` contain rules such as
//!
//! ```text
//! negate-subtract:
//!     negate(once subtract(x, y)) => subtract(y, x) where integer(x)
//! ```
//!
//! One text serves the rewrite driver, the documentation and the proofs of `hlo-prove`. The build script
//! translates the texts to tables. `docs/adding-a-rule.md` describes the language.

mod attributes;
mod matched;
mod matcher;
mod numbers;
mod replacement;
mod validate;

use hlo_ir::attr::{ComparisonDirection, ComparisonType};
use hlo_ir::{ElementType, Module, Opcode};
use std::borrow::Cow;
use std::sync::OnceLock;

pub use crate::support::constants::Number;
pub(crate) use attributes::{AllNumbers, numbers_of};
pub use attributes::{FORMS, Form, form, list_length};
pub use hlo_rule_syntax::{
    Arithmetic, Condition, Direction, Entry, Expression, Length, Lists, Relation, RuleError, TypeClass,
    Value, common, entry, length,
};
pub(crate) use matcher::Matcher;
pub use numbers::{evaluate, number_bytes, relates, value_bytes};
pub use validate::validate;

/// A rewrite rule: a name, and clauses that are tried in their order.
pub type Rule = hlo_rule_syntax::Rule<Opcode>;
/// A pattern and the value that replaces what it matches.
pub type Clause = hlo_rule_syntax::Clause<Opcode>;
/// A value in a pattern or in a replacement.
pub type Term = hlo_rule_syntax::Term<Opcode>;
/// An operation in a pattern or in a replacement.
pub type Operation = hlo_rule_syntax::Operation<Opcode>;

/// The tables of the build script.
mod tables {
    #[allow(unused_imports, reason = "the rules may not use all of them")]
    use super::{
        Arithmetic, Clause, Condition, Cow, Direction, Expression, Opcode, Operation, Relation, Rule, Term,
        TypeClass, Value,
    };

    include!(concat!(env!("OUT_DIR"), "/rules.rs"));
}

pub use tables::{ARITHMETIC, BITS, COMPARE, CONVERT, RANGES, SELECT, SHAPE, SLICE, WINDOW};

/// The rules of a pass, in the order in which they are tried.
pub struct RuleSet {
    tables: &'static [&'static [Rule]],
    matchers: OnceLock<Matchers<'static>>,
}

impl RuleSet {
    /// Returns the rules of some tables.
    pub const fn new(tables: &'static [&'static [Rule]]) -> Self {
        Self { tables, matchers: OnceLock::new() }
    }

    /// Returns the rules.
    pub fn iter(&self) -> impl Iterator<Item = &'static Rule> + use<> {
        self.tables.iter().flat_map(|table| table.iter())
    }

    /// Returns the clauses.
    pub(crate) fn matchers(&'static self) -> &'static Matchers<'static> {
        let clauses = |rule: &'static Rule| rule.clauses.iter().map(|clause| (&*rule.name, clause));
        self.matchers.get_or_init(|| Matchers::new(self.iter().flat_map(clauses)))
    }
}

/// The clauses for each opcode, with the names of their rules. They are prepared when a module first contains the
/// opcode, and once in a process.
pub(crate) struct Matchers<'r> {
    clauses: Vec<Vec<(&'static str, &'r Clause)>>,
    prepared: Vec<OnceLock<Vec<(&'static str, Matcher<'r>)>>>,
}

impl<'r> Matchers<'r> {
    /// Sorts clauses by the opcodes of their patterns.
    pub(crate) fn new(all: impl Iterator<Item = (&'static str, &'r Clause)>) -> Self {
        let mut clauses = vec![Vec::new(); Opcode::ALL.len()];
        all.for_each(|(name, clause)| clauses[clause.pattern.opcode as usize].push((name, clause)));
        Self { prepared: clauses.iter().map(|_| OnceLock::new()).collect(), clauses }
    }

    /// Returns the clauses whose patterns have this opcode, in their order.
    pub(crate) fn of(&self, opcode: Opcode) -> &[(&'static str, Matcher<'r>)] {
        let clauses = &self.clauses[opcode as usize];
        let prepare = || clauses.iter().map(|&(name, clause)| (name, Matcher::new(clause))).collect();
        self.prepared[opcode as usize].get_or_init(prepare)
    }
}

/// The rules of `algsimp`.
pub static ALGSIMP: RuleSet =
    RuleSet::new(&[ARITHMETIC, BITS, COMPARE, SELECT, RANGES, CONVERT, SHAPE, SLICE, WINDOW]);

/// Applies rules until none applies. Returns the number of rewrites.
pub fn rewrite(module: &mut Module, rules: &[Rule]) -> u64 {
    crate::support::rewrite::apply_rules(module, rules)
}

/// Parses a text of rules.
///
/// # Errors
/// The first error of syntax, or the first wrong name, number of operands or variable.
pub fn parse(text: &str) -> Result<Vec<Rule>, RuleError> {
    hlo_rule_syntax::parse(text)?.into_iter().map(resolved).collect()
}

/// Returns the rule with opcodes instead of their names.
fn resolved(rule: hlo_rule_syntax::Rule<Cow<'static, str>>) -> Result<Rule, RuleError> {
    let clauses = rule.clauses.iter().map(|clause| {
        let opcode = |operation: &hlo_rule_syntax::Operation<Cow<'static, str>>| {
            let name = &operation.opcode;
            Opcode::from_name(name).ok_or_else(|| format!("expected an opcode, found `{name}`"))
        };
        let error = |message| RuleError { line: clause.line, message };
        let clause = Clause {
            line: clause.line,
            text: clause.text.clone(),
            pattern: clause.pattern.try_map(&opcode).map_err(error)?,
            replacement: clause.replacement.try_map(&opcode).map_err(error)?,
            condition: clause.condition.clone(),
            variables: clause.variables.clone(),
            lists: clause.lists.clone(),
            rests: clause.rests.clone(),
        };
        validate(&clause).map_err(error)?;
        Ok(clause)
    });
    let clauses = clauses.collect::<Result<Vec<_>, _>>()?.into();
    Ok(Rule { name: rule.name, lines: rule.lines, summary: rule.summary, clauses })
}

/// Returns whether all operations of a clause are elementwise.
pub fn is_elementwise(clause: &Clause) -> bool {
    clause.operations().iter().all(|operation| operation.opcode.is_elementwise())
}

/// Returns a number that changes with the text of a rule's clauses (64-bit FNV-1a). The file of proofs contains
/// it, so that it does not apply to a changed rule.
pub fn fingerprint(rule: &Rule) -> u64 {
    rule.summary
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The results of `make prove`: the name of each rule, its fingerprint, and `proved` or `tested`.
pub const PROOFS: &str = include_str!("../../rules/proofs.txt");

/// How a rule was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// For all values of all element types.
    Proved,
    /// For random values of some element types or for small sizes, and for all others.
    Tested,
    /// Not in its current form.
    Unknown,
}

impl Proof {
    /// Returns how a rule was checked, by the file of proofs.
    pub fn of(rule: &Rule) -> Self {
        let line = PROOFS.lines().find_map(|line| line.strip_prefix(&*rule.name)?.strip_prefix(' '));
        match line.and_then(|line| line.split_once(' ')) {
            Some((hash, status)) if hash == format!("{:016x}", fingerprint(rule)) => match status {
                "proved" => Proof::Proved,
                "tested" => Proof::Tested,
                _ => Proof::Unknown,
            },
            _ => Proof::Unknown,
        }
    }
}

/// Returns the direction of a comparison in the IR.
pub fn comparison_direction(direction: Direction) -> ComparisonDirection {
    match direction {
        Direction::Eq => ComparisonDirection::Eq,
        Direction::Ne => ComparisonDirection::Ne,
        Direction::Ge => ComparisonDirection::Ge,
        Direction::Gt => ComparisonDirection::Gt,
        Direction::Le => ComparisonDirection::Le,
        Direction::Lt => ComparisonDirection::Lt,
    }
}

/// Returns whether the class contains the type.
pub fn class_contains(class: TypeClass, ty: ElementType) -> bool {
    match class {
        TypeClass::Integer => ty.is_integer(),
        TypeClass::Signed => ty.is_signed_integer(),
        TypeClass::Unsigned => ty.is_unsigned_integer(),
        TypeClass::Float => ty.is_float(),
        TypeClass::Complex => ty.is_complex(),
        TypeClass::Pred => ty.is_pred(),
        TypeClass::Negatable => ty != ElementType::F8E8M0Fnu,
    }
}

/// Returns whether exactly one of `<`, `=` and `>` is true for two elements of the type in this order.
pub fn is_ordered(ty: ElementType, order: ComparisonType) -> bool {
    ty.is_integer() || ty.is_pred() || ty.is_float() && order == ComparisonType::TotalOrder
}

/// Returns whether the order is that of the values of integers or predicates.
pub fn is_by_integer(ty: ElementType, order: ComparisonType) -> bool {
    match order {
        ComparisonType::Default => ty.is_integer() || ty.is_pred(),
        ComparisonType::Signed => ty.is_signed_integer(),
        ComparisonType::Unsigned => ty.is_unsigned_integer() || ty.is_pred(),
        ComparisonType::Float | ComparisonType::TotalOrder => false,
    }
}

/// Returns whether the order is that of the values of integers, predicates, or floating-point numbers.
pub fn is_by_value(ty: ElementType, order: ComparisonType) -> bool {
    let float = matches!(order, ComparisonType::Default | ComparisonType::Float) && ty.is_float();
    float || is_by_integer(ty, order)
}
