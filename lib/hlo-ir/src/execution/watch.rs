//! Watching a run from another thread: where it is, and a word that it shall end.

use crate::InstrId;
use std::sync::atomic::{AtomicU32, Ordering};

/// What a run shares with whoever watches it. It writes down where it is, and ends at the next round of a loop (interpreted,
/// at the next instruction) once it is told to.
#[derive(Debug, Default)]
pub struct Watch {
    words: [AtomicU32; 2],
}

/// The word that is not 0 once the run shall end.
pub const STOP: usize = 0;

/// The word that says where the run is: one more than the number of an instruction, or 0.
pub const AT: usize = 1;

impl Watch {
    /// Tells the run to end.
    pub fn stop(&self) {
        self.words[STOP].store(1, Ordering::Relaxed);
    }

    /// True once the run was told to end.
    pub fn is_stopped(&self) -> bool {
        self.words[STOP].load(Ordering::Relaxed) != 0
    }

    /// Notes the instruction that the run has come to.
    pub fn enter(&self, id: InstrId) {
        self.words[AT].store(Self::place(id), Ordering::Relaxed);
    }

    /// The instruction that the run came to last: of the module that runs.
    pub fn at(&self) -> Option<InstrId> {
        self.words[AT].load(Ordering::Relaxed).checked_sub(1).map(|n| InstrId::new(n as usize))
    }

    /// What stands for an instruction in the word [`AT`].
    pub fn place(id: InstrId) -> u32 {
        id.index() as u32 + 1
    }

    /// The words [`STOP`] and [`AT`], for compiled code.
    pub fn words(&self) -> &[AtomicU32; 2] {
        &self.words
    }
}
