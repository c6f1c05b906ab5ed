//! Rewrite rules as data. The files in `rules/` contain rules such as
//!
//! ```text
//! negate-subtract:
//!     negate(once subtract(x, y)) => subtract(y, x) where integer(x)
//! ```
//!
//! One text serves the rewrite driver, the documentation and the proofs of `hlo-prove`. The build script
//! translates the texts to tables. `docs/adding-a-rule.md` describes the language.

mod apply;
mod numbers;

use hlo_ir::attr::{ComparisonDirection, ComparisonType};
use hlo_ir::{ElementType, Opcode};
use std::borrow::Cow;
use std::sync::OnceLock;

pub use crate::support::constants::Number;
pub(crate) use apply::Matcher;
pub use hlo_rule_syntax::{Arithmetic, Condition, Direction, Expression, RuleError, TypeClass, Value};
pub use numbers::{evaluate, is_below, number_bytes, value_bytes};

/// A rewrite rule: a name, and clauses that are tried in their order.
pub type Rule = hlo_rule_syntax::Rule<Opcode>;
/// A pattern and the value that replaces what it matches.
pub type Clause = hlo_rule_syntax::Clause<Opcode>;
/// A value in a pattern or in a replacement.
pub type Term = hlo_rule_syntax::Term<Opcode>;
/// An elementwise operation in a pattern or in a replacement.
pub type Operation = hlo_rule_syntax::Operation<Opcode>;

/// The tables of the build script.
mod tables {
    #[allow(unused_imports, reason = "the rules may not use all of them")]
    use super::{
        Arithmetic, Clause, Condition, Cow, Direction, Expression, Opcode, Operation, Rule, Term, TypeClass,
        Value,
    };

    include!(concat!(env!("OUT_DIR"), "/rules.rs"));
}

pub use tables::{ARITHMETIC, BITS, COMPARE, CONVERT, RANGES, SELECT};

/// The rules of a pass, in the order in which they are tried.
pub struct RuleSet {
    tables: &'static [&'static [Rule]],
    matchers: OnceLock<Vec<(&'static str, Matcher<'static>)>>,
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

    /// Returns the prepared clauses with the names of their rules. They are prepared once in a process.
    pub(crate) fn matchers(&'static self) -> &'static [(&'static str, Matcher<'static>)] {
        let clauses = |rule: &'static Rule| rule.clauses.iter().map(|c| (&*rule.name, Matcher::new(c)));
        self.matchers.get_or_init(|| self.iter().flat_map(clauses).collect())
    }
}

/// The rules of `algsimp`.
pub static ALGSIMP: RuleSet = RuleSet::new(&[ARITHMETIC, BITS, COMPARE, SELECT, RANGES, CONVERT]);

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
            let opcode = Opcode::from_name(&operation.opcode).filter(|opcode| opcode.is_elementwise());
            let opcode =
                opcode.ok_or_else(|| format!("expected an elementwise opcode, found `{}`", operation.opcode));
            opcode.and_then(|opcode| check_operation(opcode, operation.operands.len()).map(|()| opcode))
        };
        let error = |message| RuleError { line: clause.line, message };
        Ok(Clause {
            line: clause.line,
            text: clause.text.clone(),
            pattern: clause.pattern.try_map(&opcode).map_err(error)?,
            replacement: clause.replacement.try_map(&opcode).map_err(error)?,
            condition: clause.condition.clone(),
            variables: clause.variables.clone(),
        })
    });
    let clauses = clauses.collect::<Result<Vec<_>, _>>()?.into();
    Ok(Rule { name: rule.name, lines: rule.lines, summary: rule.summary, clauses })
}

/// Checks that rules support the operation with this number of operands.
fn check_operation(opcode: Opcode, operands: usize) -> Result<(), String> {
    let needed = opcode.elementwise().map_or(0, |elementwise| elementwise.class.operands());
    if matches!(opcode, Opcode::ReducePrecision | Opcode::StochasticConvert) {
        return Err(format!("rules do not support `{}`", opcode.name()));
    }
    if operands != needed {
        return Err(format!("`{}` needs {needed} operands, found {operands}", opcode.name()));
    }
    Ok(())
}

/// Checks that rules support the operations of a clause, and that these have as many operands as they need. The
/// build script does not know this.
///
/// # Errors
/// The first violation, in words.
pub fn validate(clause: &Clause) -> Result<(), String> {
    let check = |operation: &Operation| check_operation(operation.opcode, operation.operands.len());
    clause.pattern.try_map(&check)?;
    clause.replacement.try_map(&check)?;
    Ok(())
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
    /// For random values of some element types, and for all values of the others.
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
