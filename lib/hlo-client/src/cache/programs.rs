//! The programs that a client compiled last.

use crate::options::{engine, memory_limit};
use crate::{CompileOptions, Error, Executable};
use hlo_ir::Module;
use hlo_ir::print::{PrintOptions, for_each_identifying_part};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// What a program is known by: a digest of the module and of the options that it was compiled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ProgramKey([u8; 32]);

impl ProgramKey {
    /// The key of a text.
    pub(crate) fn of_text(text: &str, options: &CompileOptions) -> Self {
        let mut digest = Sha256::new();
        digest.update(b"text ");
        digest.update(text);
        Self::with_options(digest, options)
    }

    /// The key of a module. Its errors point into its text, so the places count, too.
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
        // What is not said is the same program as what it stands for.
        let said = CompileOptions {
            engine: Some(engine(options)),
            memory_limit: Some(memory_limit(options)),
            ..options.clone()
        };
        digest.update(format!("\0{said:?}"));
        Self(digest.finalize().into())
    }
}

/// The programs that were compiled or asked for last. One that several threads ask for at once is compiled once.
#[derive(Debug)]
pub(crate) struct Programs {
    most: usize,
    most_bytes: u64,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    slots: HashMap<ProgramKey, Slot>,
    /// Counts the questions.
    now: u64,
    hits: u64,
    misses: u64,
}

#[derive(Debug)]
struct Slot {
    program: Arc<Mutex<Option<Executable>>>,
    used: u64,
    /// What the program holds; 0 until it is there.
    bytes: u64,
}

/// How often a client was asked for a program that it had, and for one that it had to compile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheStatistics {
    /// Programs that were there.
    pub hits: u64,
    /// Programs that were compiled.
    pub misses: u64,
    /// Programs that are kept now.
    pub programs: usize,
}

impl Programs {
    /// Keeps up to so many programs, which hold up to so many bytes.
    pub(crate) fn new(most: usize, most_bytes: u64) -> Self {
        Self { most, most_bytes, kept: Mutex::default() }
    }

    pub(crate) fn statistics(&self) -> CacheStatistics {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        CacheStatistics { hits: kept.hits, misses: kept.misses, programs: kept.slots.len() }
    }

    /// The program of a key, which `compile` makes unless it is there. A failure is not kept. What compiling calls, the target of
    /// a custom call, must not ask for the same program.
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
        // Whoever asks for the same program meanwhile waits here.
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
                self.weigh(key, &slot, made.held_bytes());
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
        let removed = self.tidy(&mut kept);
        drop(kept);
        drop(removed);
        program
    }

    /// Notes what a program holds.
    fn weigh(&self, key: ProgramKey, slot: &Arc<Mutex<Option<Executable>>>, bytes: u64) {
        if bytes > self.most_bytes {
            // It is no reason to forget the others.
            return self.forget(key, slot);
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(s) = kept.slots.get_mut(&key).filter(|s| Arc::ptr_eq(&s.program, slot)) {
            s.bytes = bytes;
            let removed = self.tidy(&mut kept);
            drop(kept);
            drop(removed);
        }
    }

    /// Removes what was asked for longest ago, while there is too much. Who drops it should not keep others waiting.
    #[must_use]
    fn tidy(&self, kept: &mut Kept) -> Vec<Slot> {
        let mut removed = Vec::new();
        let total = |kept: &Kept| kept.slots.values().fold(0u64, |n, slot| n.saturating_add(slot.bytes));
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
