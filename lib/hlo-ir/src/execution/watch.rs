//! Watching a run from another thread: where it is, and a word that it shall end.

use crate::{InstrId, Module};
use std::sync::Arc;
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

/// Who watches the devices of a run: one for each.
#[derive(Clone, Debug)]
pub struct Watches(Vec<Arc<Watch>>);

impl Watches {
    /// Watches of so many devices, of which `first` may be that of device 0.
    pub fn new(devices: usize, first: Option<Arc<Watch>>) -> Self {
        let others = std::iter::repeat_with(Arc::<Watch>::default);
        Self(first.into_iter().chain(others).take(devices).collect())
    }

    /// Watches of so many devices, of which `watch` may be that of `device`.
    pub fn with(devices: usize, device: usize, watch: Option<Arc<Watch>>) -> Self {
        let mut watches = Self::new(devices, None);
        if let Some((of, watch)) = watches.0.get_mut(device).zip(watch) {
            *of = watch;
        }
        watches
    }

    /// The number of devices that are watched.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True if none is watched.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// That of a device.
    pub fn of(&self, device: usize) -> Option<&Arc<Watch>> {
        self.0.get(device)
    }

    /// The name of the instruction that a device has come to.
    pub fn position(&self, module: &Module, device: usize) -> Option<String> {
        let at = self.of(device)?.at().filter(|&id| module.is_live(id))?;
        Some(module[at].name.to_string())
    }

    /// True once a device was told to end.
    pub fn is_stopped(&self, device: usize) -> bool {
        self.of(device).is_some_and(|watch| watch.is_stopped())
    }

    /// Tells all devices to end.
    pub fn stop(&self) {
        self.0.iter().for_each(|watch| watch.stop());
    }
}
