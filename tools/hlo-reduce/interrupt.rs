//! Ctrl-C and a request to end: the search stops, and what it has is written.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether someone asked for the end.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Says so from the first such signal on. The second one ends the program at once, as signals do.
    #[cfg(unix)]
    pub fn on_signals() -> std::io::Result<Self> {
        use signal_hook::consts::{SIGINT, SIGTERM};
        let interrupt = Self::default();
        for signal in [SIGINT, SIGTERM] {
            // In this order: at the first signal the flag is not set yet.
            signal_hook::flag::register_conditional_default(signal, interrupt.0.clone())?;
            signal_hook::flag::register(signal, interrupt.0.clone())?;
        }
        Ok(interrupt)
    }

    /// There are no such signals.
    #[cfg(not(unix))]
    pub fn on_signals() -> std::io::Result<Self> {
        Ok(Self::default())
    }

    /// True after the first signal.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
