//! The programs that a client compiled recently.

use crate::options::{engine, memory_limit};
use crate::{CompileOptions, Error, Executable};
use hlo_ir::Module;
use hlo_ir::print::{PrintOptions, for_each_identifying_part};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The cache key of a program: a digest of the module and of the compile options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ProgramKey([u8; 32]);

impl ProgramKey {
    /// Returns the key of a text.
    pub(crate) fn of_text(text: &str, options: &CompileOptions) -> Self {
        let mut digest = Sha256::new();
        digest.update(b"text ");
        digest.update(text);
        Self::with_options(digest, options)
    }

    /// Returns the key of a module. Errors refer to positions in its text, so the key includes the spans.
    pub(crate) fn of_module(module: &Module, options: &CompileOptions) -> Self {
        let mut digest = Sha256::new();
        digest.update(b"module ");
        for instruction in module.computations().flat_map(|c| module[c].instructions()) {
            let span = module.span(*instruction);
            digest.update(span.start.to_le_bytes());
            digest.update(span.end.to_le_bytes());
        }
        for_each_identifying_part(module, PrintOptions::default(), &mut |part| digest.update(part));
        Self::with_options(digest, options)
    }

    fn with_options(mut digest: Sha256, options: &CompileOptions) -> Self {
        // An option with its default value gives the same key as an option that is not set.
        let said = CompileOptions {
            engine: Some(engine(options)),
            memory_limit: Some(memory_limit(options)),
            ..options.clone()
        };
        digest.update(format!("\0{said:?}"));
        Self(digest.finalize().into())
    }
}

/// The programs that were compiled or requested most recently. If several threads request a program at once,
/// it is compiled once.
#[derive(Debug)]
pub(crate) struct Programs {
    most: usize,
    most_bytes: u64,
    kept: Mutex<ProgramTable>,
}

#[derive(Debug, Default)]
struct ProgramTable {
    slots: HashMap<ProgramKey, Slot>,
    /// Counts the requests.
    now: u64,
    hits: u64,
    misses: u64,
}

#[derive(Debug)]
struct Slot {
    program: Arc<Mutex<Option<Executable>>>,
    used: u64,
    /// The size of the program in bytes, 0 until it is compiled.
    bytes: u64,
}

/// Number of requests for a program that were served from the cache, and number of compilations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheStatistics {
    /// Number of requests that found a program in the cache.
    pub hits: u64,
    /// Number of requests that compiled a program.
    pub misses: u64,
    /// Number of programs that are in the cache now.
    pub programs: usize,
}

impl Programs {
    /// Creates a cache of up to `most` programs, which occupy up to `most_bytes` bytes.
    pub(crate) fn new(most: usize, most_bytes: u64) -> Self {
        Self { most, most_bytes, kept: Mutex::default() }
    }

    pub(crate) fn statistics(&self) -> CacheStatistics {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        CacheStatistics { hits: kept.hits, misses: kept.misses, programs: kept.slots.len() }
    }

    /// Returns the program of a key, or compiles it. Failures are not cached. Code that `compile` calls, such
    /// as the target of a custom call, must not request the same program.
    pub(crate) fn get(
        &self,
        key: impl FnOnce() -> ProgramKey,
        compile: impl FnOnce() -> Result<Executable, Error>,
    ) -> Result<Executable, Error> {
        if self.most == 0 {
            return compile();
        }
        let key = key();
        let slot = self.slot(key);
        // Other threads that request the same program wait here.
        let mut program = slot.lock().unwrap_or_else(PoisonError::into_inner);
        let found = program.clone();
        self.count(found.is_some());
        if let Some(found) = found {
            return Ok(found);
        }
        let compiled = compile();
        match &compiled {
            Ok(made) => {
                *program = Some(made.clone());
                self.weigh(key, &slot, made.memory_bytes());
            }
            Err(_) => self.forget(key, &slot),
        }
        compiled
    }

    fn slot(&self, key: ProgramKey) -> Arc<Mutex<Option<Executable>>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.now += 1;
        let used = kept.now;
        let slot = kept.slots.entry(key).or_insert_with(|| Slot { program: Arc::default(), used, bytes: 0 });
        slot.used = used;
        let program = slot.program.clone();
        let removed = self.remove_oldest(&mut kept);
        drop(kept);
        drop(removed);
        program
    }

    /// Records the size of a program.
    fn weigh(&self, key: ProgramKey, slot: &Arc<Mutex<Option<Executable>>>, bytes: u64) {
        if bytes > self.most_bytes {
            // Do not remove the other programs for a program that does not fit at all.
            return self.forget(key, slot);
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(s) = kept.slots.get_mut(&key).filter(|s| Arc::ptr_eq(&s.program, slot)) {
            s.bytes = bytes;
            let removed = self.remove_oldest(&mut kept);
            drop(kept);
            drop(removed);
        }
    }

    /// Removes the least recently requested programs until the cache is within its limits. The caller should
    /// drop them after it releases the lock.
    #[must_use]
    fn remove_oldest(&self, kept: &mut ProgramTable) -> Vec<Slot> {
        let mut removed = Vec::new();
        let total =
            |kept: &ProgramTable| kept.slots.values().fold(0u64, |n, slot| n.saturating_add(slot.bytes));
        while kept.slots.len() > self.most || total(kept) > self.most_bytes {
            let Some((&oldest, _)) = kept.slots.iter().min_by_key(|(_, slot)| slot.used) else { break };
            removed.extend(kept.slots.remove(&oldest));
        }
        removed
    }

    fn count(&self, hit: bool) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        *(if hit { &mut kept.hits } else { &mut kept.misses }) += 1;
    }

    fn forget(&self, key: ProgramKey, slot: &Arc<Mutex<Option<Executable>>>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.slots.get(&key).is_some_and(|s| Arc::ptr_eq(&s.program, slot)) {
            kept.slots.remove(&key);
        }
    }
}
