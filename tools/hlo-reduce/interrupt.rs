//! Ctrl-C and SIGTERM: the search stops and its result is written.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the user requested to stop.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Creates an interrupt that the first signal sets. The second signal ends the program immediately, as
    /// usual.
    #[cfg(unix)]
    pub fn on_signals() -> std::io::Result<Self> {
        use signal_hook::consts::{SIGINT, SIGTERM};
        let interrupt = Self::default();
        for signal in [SIGINT, SIGTERM] {
            // The order matters: when the first signal arrives, the flag must not be set yet.
            signal_hook::flag::register_conditional_default(signal, interrupt.0.clone())?;
            signal_hook::flag::register(signal, interrupt.0.clone())?;
        }
        Ok(interrupt)
    }

    /// Creates an interrupt that is never set, because the system has no such signals.
    #[cfg(not(unix))]
    pub fn on_signals() -> std::io::Result<Self> {
        Ok(Self::default())
    }

    /// Whether a signal has arrived.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
