//! The description of a pass in the registry, and its options.

use crate::pass::Pass;
use crate::rewriting::RuleSet;
use crate::support::rewrite::{Pattern, rule_pass};
use hlo_ir::Module;
use hlo_ir::diag::Diag;

/// How exactly a pass preserves results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preservation {
    /// Every bit of the results, except which NaN a NaN is.
    Bits,
    /// The values up to rounding: the pass may replace an operation with others that round differently.
    Values,
}

/// How a pass treats the schedule of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// The pass ignores the schedule. The runner repairs it after the pass.
    Repaired,
    /// The pass itself creates, removes or preserves the schedule.
    Own,
    /// The pass requires a schedule. On a module without one, the runner skips the pass with a warning.
    Needed,
}

/// The description of a pass in the registry.
pub struct PassInfo {
    /// The name in pipelines.
    pub name: &'static str,
    /// A summary of one line.
    pub summary: &'static str,
    /// The options that can follow the name in braces.
    pub options: &'static [OptionInfo],
    /// How exactly the pass preserves results.
    pub keeps: Preservation,
    /// How the pass treats the schedule.
    pub schedule: Schedule,
    /// Returns a warning if the module lacks what the pass requires. The runner then skips the pass.
    pub lacks: fn(&Module) -> Option<Diag>,
    /// Whether the pass only reports diagnostics and never changes a module.
    pub only_checks: bool,
    /// The text of a small module that the pass changes. `docs/passes.md` shows it before and after the pass.
    pub example: &'static str,
    /// The rewrite rules of the pass, if it has rules.
    pub rules: Option<&'static RuleSet>,
    /// The tables of the pass's patterns, if it consists of patterns.
    pub patterns: &'static [&'static [Pattern]],
    /// Creates the pass with the given options. The default applies the rules and the patterns.
    pub build: fn(&'static PassInfo, &Options) -> Box<dyn Pass>,
}

impl std::fmt::Debug for PassInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PassInfo").field("name", &self.name).finish_non_exhaustive()
    }
}

impl PassInfo {
    /// The defaults for `..PassInfo::PLAIN`: no options, no patterns, and results preserved bit for bit.
    pub const PLAIN: Self = Self {
        name: "",
        summary: "",
        options: &[],
        keeps: Preservation::Bits,
        schedule: Schedule::Repaired,
        lacks: |_| None,
        only_checks: false,
        example: "",
        rules: None,
        patterns: &[],
        build: |info, _| rule_pass(info.rules, info.patterns),
    };

    /// Returns the description of a pass that a program registers with [`crate::register`], without options.
    pub const fn own(
        name: &'static str,
        summary: &'static str,
        build: fn(&'static PassInfo, &Options) -> Box<dyn Pass>,
    ) -> Self {
        Self { name, summary, build, ..Self::PLAIN }
    }

    /// Returns the names and one-line descriptions of the pass's rules and patterns.
    /// [`Rewrites::counts`](crate::Rewrites::counts) uses the same names.
    pub fn patterns(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let rules = self.rules.into_iter().flat_map(RuleSet::iter);
        let rules = rules.map(|rule| (&*rule.name, &*rule.summary));
        rules.chain(self.patterns.iter().flat_map(|table| table.iter()).map(|p| (p.name, p.summary)))
    }
}

/// An option of a pass.
#[derive(Debug)]
pub struct OptionInfo {
    /// The name before the `=`.
    pub name: &'static str,
    /// A description of one line.
    pub summary: &'static str,
    /// The default value, which also determines the type.
    pub default: OptionValue,
}

/// The value of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionValue {
    /// A non-negative number.
    Count(u64),
    /// `true` or `false`.
    Switch(bool),
    /// One of several words.
    Choice {
        /// The selected word.
        word: &'static str,
        /// All allowed words.
        of: &'static [&'static str],
    },
}

impl std::fmt::Display for OptionValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            OptionValue::Count(n) => write!(f, "{n}"),
            OptionValue::Switch(b) => write!(f, "{b}"),
            OptionValue::Choice { word, .. } => f.write_str(word),
        }
    }
}

/// Writes `{name=value,…}` with every option, or nothing if there are no options.
impl std::fmt::Display for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (n, (name, value)) in self.iter().enumerate() {
            write!(f, "{}{name}={value}", if n == 0 { "{" } else { "," })?;
        }
        f.write_str(if self.values.is_empty() { "" } else { "}" })
    }
}

/// The values of all options of a [`PassInfo`] for one use of the pass: given in the pipeline, or the
/// default.
#[derive(Clone, Debug, Default)]
pub struct Options {
    values: Vec<(&'static str, OptionValue)>,
}

impl Options {
    /// Returns the default values of `infos`.
    pub fn defaults(infos: &'static [OptionInfo]) -> Self {
        Self { values: infos.iter().map(|o| (o.name, o.default)).collect() }
    }

    /// Sets the value of a declared option.
    pub fn set(&mut self, name: &str, value: OptionValue) {
        for (n, v) in &mut self.values {
            if *n == name {
                *v = value;
            }
        }
    }

    /// Returns every option with its value, in the order of declaration.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, OptionValue)> + '_ {
        self.values.iter().copied()
    }

    /// Returns the value of a count, or 0 if no count has that name.
    pub fn count(&self, name: &str) -> u64 {
        self.values.iter().find(|(n, _)| *n == name).map_or(0, |(_, v)| match v {
            OptionValue::Count(n) => *n,
            OptionValue::Switch(_) | OptionValue::Choice { .. } => 0,
        })
    }

    /// Returns the value of a switch, or false if no switch has that name.
    pub fn switch(&self, name: &str) -> bool {
        self.values.iter().any(|(n, v)| *n == name && *v == OptionValue::Switch(true))
    }

    /// Returns the selected word of a choice, or an empty string if no choice has that name.
    pub fn choice(&self, name: &str) -> &'static str {
        self.values.iter().find(|(n, _)| *n == name).map_or("", |(_, v)| match v {
            OptionValue::Choice { word, .. } => word,
            OptionValue::Count(_) | OptionValue::Switch(_) => "",
        })
    }
}
