//! Watching a run from another thread: reading its position and stopping it.

use crate::{InstrId, Module};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// State shared by a run and its observer. The run stores its position. When it is told to stop, it ends at
/// the next iteration of a loop (in the interpreter, at the next instruction).
#[derive(Debug, Default)]
pub struct Watch {
    words: [AtomicU32; 2],
}

/// The index of the word that is not 0 once the run has been told to stop.
pub const STOP_WORD: usize = 0;

/// The index of the word with the position of the run: one more than the number of an instruction, or 0.
pub const POSITION_WORD: usize = 1;

impl Watch {
    /// Tells the run to stop.
    pub fn stop(&self) {
        self.words[STOP_WORD].store(1, Ordering::Relaxed);
    }

    /// Returns whether the run has been told to stop.
    pub fn is_stopped(&self) -> bool {
        self.words[STOP_WORD].load(Ordering::Relaxed) != 0
    }

    /// Stores the instruction that the run has reached.
    pub fn enter(&self, id: InstrId) {
        self.words[POSITION_WORD].store(Self::place(id), Ordering::Relaxed);
    }

    /// Returns the last instruction that the run has reached. It belongs to the module that runs.
    pub fn at(&self) -> Option<InstrId> {
        self.words[POSITION_WORD].load(Ordering::Relaxed).checked_sub(1).map(|n| InstrId::new(n as usize))
    }

    /// Returns the number of an instruction in the word [`POSITION_WORD`].
    pub fn place(id: InstrId) -> u32 {
        id.index() as u32 + 1
    }

    /// Returns the words [`STOP_WORD`] and [`POSITION_WORD`], for compiled code.
    pub fn words(&self) -> &[AtomicU32; 2] {
        &self.words
    }
}

/// The watches of a run's devices, one for each.
#[derive(Clone, Debug)]
pub struct Watches(Vec<Arc<Watch>>);

impl Watches {
    /// Creates watches for `devices` devices. `first`, if present, is the watch of device 0.
    pub fn new(devices: usize, first: Option<Arc<Watch>>) -> Self {
        let others = std::iter::repeat_with(Arc::<Watch>::default);
        Self(first.into_iter().chain(others).take(devices).collect())
    }

    /// Creates watches for `devices` devices. `watch`, if present, is the watch of `device`.
    pub fn with(devices: usize, device: usize, watch: Option<Arc<Watch>>) -> Self {
        let mut watches = Self::new(devices, None);
        if let Some((of, watch)) = watches.0.get_mut(device).zip(watch) {
            *of = watch;
        }
        watches
    }

    /// Returns the number of devices.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are no devices.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the watch of a device, if there is one.
    pub fn of(&self, device: usize) -> Option<&Arc<Watch>> {
        self.0.get(device)
    }

    /// Returns the name of the instruction that a device has reached.
    pub fn position(&self, module: &Module, device: usize) -> Option<String> {
        let at = self.of(device)?.at().filter(|&id| module.is_live(id))?;
        Some(module[at].name.to_string())
    }

    /// Returns whether a device has been told to stop.
    pub fn is_stopped(&self, device: usize) -> bool {
        self.of(device).is_some_and(|watch| watch.is_stopped())
    }

    /// Tells all devices to stop.
    pub fn stop(&self) {
        self.0.iter().for_each(|watch| watch.stop());
    }
}
