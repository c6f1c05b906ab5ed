//! What a pass is: its description in the registry and its behaviour on a module.

use crate::Rewrites;
use crate::support::rewrite::{Pattern, pattern_pass};
use hlo_ir::Module;
use hlo_ir::diag::Diag;

/// A transformation of a module that keeps its meaning. Pipelines are shared between threads, and so are their passes.
pub trait Pass: Send + Sync {
    /// What is wrong with the module: it is looked at before [`Pass::run`], and if there is anything the pipeline stops.
    fn check(&self, _module: &Module) -> Vec<Diag> {
        Vec::new()
    }

    /// Transforms the module and says whether it changed anything.
    ///
    /// One that makes rewrites independent of each other asks `rewrites` before each of them and counts it there;
    /// one that changes the module as a whole leaves `rewrites` alone, and is counted as one rewrite by the runner.
    ///
    /// # Errors
    /// Why the pass can't go on: the module is valid, and may have been changed.
    fn run(&self, module: &mut Module, rewrites: &mut Rewrites) -> Result<bool, Diag>;
}

impl<F: Fn(&mut Module, &mut Rewrites) -> Result<bool, Diag> + Send + Sync> Pass for F {
    fn run(&self, module: &mut Module, rewrites: &mut Rewrites) -> Result<bool, Diag> {
        self(module, rewrites)
    }
}

/// What a pass keeps of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeps {
    /// Every bit, but that a NaN is as good as another.
    Bits,
    /// The values up to rounding: an operation is expressed by others that round elsewhere.
    Values,
}

/// What a pass has to do with the schedule of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// It knows nothing of it: the runner repairs it after the pass.
    Repaired,
    /// It makes, removes or keeps it itself.
    Own,
    /// It goes by it, and is not run on a module without one: the runner warns of that.
    Needed,
}

/// A pass as the registry lists it.
pub struct PassInfo {
    /// The name in pipelines.
    pub name: &'static str,
    /// One line: what it does.
    pub summary: &'static str,
    /// What can be set in braces after the name.
    pub options: &'static [OptionInfo],
    /// What it keeps of results.
    pub keeps: Keeps,
    /// What it has to do with the schedule.
    pub schedule: Schedule,
    /// Returns a warning about a module that lacks what the pass goes by, so that the pass leaves it as it is.
    pub(crate) lacks: fn(&Module) -> Option<Diag>,
    /// True if it never changes a module, but says what is wrong with it.
    pub only_checks: bool,
    /// A small module, as text, that it changes: `docs/passes.md` shows it before and after.
    pub example: &'static str,
    /// The tables of its patterns, if it is made of such.
    pub(crate) patterns: &'static [&'static [Pattern]],
    /// Makes the pass with the given settings: one that applies the patterns unless it says otherwise.
    pub(crate) build: fn(&'static PassInfo, &Options) -> Box<dyn Pass>,
}

impl std::fmt::Debug for PassInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PassInfo").field("name", &self.name).finish_non_exhaustive()
    }
}

impl PassInfo {
    /// What most passes have in common: no options and no patterns, every bit is kept. For `..PassInfo::PLAIN`.
    pub(crate) const PLAIN: Self = Self {
        name: "",
        summary: "",
        options: &[],
        keeps: Keeps::Bits,
        schedule: Schedule::Repaired,
        lacks: |_| None,
        only_checks: false,
        example: "",
        patterns: &[],
        build: |info, _| pattern_pass(info.patterns),
    };

    /// A pass of a program's own, for [`crate::register`]: without options.
    pub const fn own(
        name: &'static str,
        summary: &'static str,
        build: fn(&'static PassInfo, &Options) -> Box<dyn Pass>,
    ) -> Self {
        Self { name, summary, build, ..Self::PLAIN }
    }

    /// The names and one-line descriptions of the pass's patterns: what [`Rewrites::counts`] has.
    pub fn patterns(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.patterns.iter().flat_map(|table| table.iter()).map(|p| (p.name, p.summary))
    }
}

/// An option of a pass.
#[derive(Debug)]
pub struct OptionInfo {
    /// The name before the `=`.
    pub name: &'static str,
    /// One line: what it sets.
    pub summary: &'static str,
    /// Its type, and the value when it is not given.
    pub default: OptionValue,
}

/// The value of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionValue {
    /// A count, not negative.
    Count(u64),
    /// `true` or `false`.
    Switch(bool),
    /// One of several words.
    Choice {
        /// The word.
        word: &'static str,
        /// All that there are.
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

/// `{name=value,…}` with every option; nothing if there are none.
impl std::fmt::Display for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (n, (name, value)) in self.iter().enumerate() {
            write!(f, "{}{name}={value}", if n == 0 { "{" } else { "," })?;
        }
        f.write_str(if self.values.is_empty() { "" } else { "}" })
    }
}

/// The settings of one use of a pass: every option of its [`PassInfo`], given or default.
#[derive(Clone, Debug, Default)]
pub struct Options {
    values: Vec<(&'static str, OptionValue)>,
}

impl Options {
    /// The defaults of `infos`.
    pub fn defaults(infos: &'static [OptionInfo]) -> Self {
        Self { values: infos.iter().map(|o| (o.name, o.default)).collect() }
    }

    /// Sets a declared option.
    pub fn set(&mut self, name: &str, value: OptionValue) {
        for (n, v) in &mut self.values {
            if *n == name {
                *v = value;
            }
        }
    }

    /// Every option with its value, in the order in which they are declared.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, OptionValue)> + '_ {
        self.values.iter().copied()
    }

    /// The value of a count; 0 if no count of that name is declared.
    pub fn count(&self, name: &str) -> u64 {
        self.values.iter().find(|(n, _)| *n == name).map_or(0, |(_, v)| match v {
            OptionValue::Count(n) => *n,
            OptionValue::Switch(_) | OptionValue::Choice { .. } => 0,
        })
    }

    /// The value of a switch; false if no switch of that name is declared.
    pub fn switch(&self, name: &str) -> bool {
        self.values.iter().any(|(n, v)| *n == name && *v == OptionValue::Switch(true))
    }

    /// The word that was chosen; empty if no choice of that name is declared.
    pub fn choice(&self, name: &str) -> &'static str {
        self.values.iter().find(|(n, _)| *n == name).map_or("", |(_, v)| match v {
            OptionValue::Choice { word, .. } => word,
            OptionValue::Count(_) | OptionValue::Switch(_) => "",
        })
    }
}
