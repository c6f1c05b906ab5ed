//! Names for new computations.

use crate::Module;
use crate::names::{DEFAULT_STEM, sanitized};
use std::collections::{HashMap, HashSet};

/// Creates names for new computations that are unique in the module.
#[derive(Clone, Debug)]
pub struct ComputationNamer {
    taken: HashSet<Box<str>>,
    next: HashMap<String, u64>,
}

impl ComputationNamer {
    /// Starts with the current names of the module.
    pub fn new(module: &Module) -> Self {
        let taken = module.computations().map(|c| module[c].name.clone()).collect();
        Self { taken, next: HashMap::new() }
    }

    /// Returns `base`, [`sanitized`], if it is free, and otherwise `base.N` with the next free number.
    pub fn fresh(&mut self, base: &str) -> String {
        let base = &*sanitized(if base.is_empty() { DEFAULT_STEM } else { base });
        if self.taken.insert(base.into()) {
            return base.to_owned();
        }
        let stem = match base.rsplit_once('.') {
            Some((stem, n)) if !stem.is_empty() && n.bytes().all(|b| b.is_ascii_digit()) => stem,
            _ => base,
        };
        let n = self.next.entry(stem.to_owned()).or_insert(1);
        loop {
            let name = format!("{stem}.{n}");
            *n += 1;
            if self.taken.insert(name.as_str().into()) {
                return name;
            }
        }
    }
}
