//! What a pass is: its description in the registry and its behaviour on a module.

use hlo_ir::Module;
use hlo_ir::diag::Diag;

/// A transformation of a module that keeps its meaning.
pub trait Pass {
    /// Transforms the module and says whether it changed anything. A pass that cannot go on leaves a valid
    /// module and returns the reason.
    fn run(&self, module: &mut Module) -> Result<bool, Diag>;
}

impl<F: Fn(&mut Module) -> Result<bool, Diag>> Pass for F {
    fn run(&self, module: &mut Module) -> Result<bool, Diag> {
        self(module)
    }
}

/// A pass as the registry lists it.
pub struct PassInfo {
    /// The name in pipelines.
    pub name: &'static str,
    /// One line: what it does.
    pub summary: &'static str,
    /// What can be set in braces after the name.
    pub options: &'static [OptionInfo],
    /// Makes the pass with the given settings.
    pub build: fn(&Options) -> Box<dyn Pass>,
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
}

impl std::fmt::Display for OptionValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            OptionValue::Count(n) => write!(f, "{n}"),
            OptionValue::Switch(b) => write!(f, "{b}"),
        }
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

    /// The value of a count; 0 if no count of that name is declared.
    pub fn count(&self, name: &str) -> u64 {
        self.values.iter().find(|(n, _)| *n == name).map_or(0, |(_, v)| match v {
            OptionValue::Count(n) => *n,
            OptionValue::Switch(_) => 0,
        })
    }

    /// The value of a switch; false if no switch of that name is declared.
    pub fn switch(&self, name: &str) -> bool {
        self.values.iter().any(|(n, v)| *n == name && *v == OptionValue::Switch(true))
    }
}
