//! Events that the caller waits for.

use crate::fault::Result;
use crate::promise::Promise;
use std::sync::Arc;

/// An event that the caller waits for.
pub enum Event {
    /// The event has completed.
    Over(Result),
    /// The event has not completed yet.
    Later(Arc<Promise<()>>),
    /// The caller completes the event.
    Own(Arc<Promise<()>>),
}

impl Event {
    /// Returns the outcome if the event has completed.
    pub fn outcome(&self) -> Option<Result> {
        match self {
            Self::Over(result) => Some(result.clone()),
            Self::Later(promise) | Self::Own(promise) => promise.get().cloned(),
        }
    }

    /// Waits until the event has completed.
    ///
    /// # Errors
    /// The outcome of the event.
    pub fn wait(&self) -> Result {
        match self {
            Self::Over(result) => result.clone(),
            Self::Later(promise) | Self::Own(promise) => promise.wait().clone(),
        }
    }

    /// Notes that the caller is about to wait. If no thread has started the work, it runs on the calling
    /// thread.
    pub fn run_if_not_started(&self) {
        if let Self::Later(promise) = self {
            promise.run_if_not_started();
        }
    }

    /// Passes the outcome to a function once the event has completed: at once, or on the thread that
    /// completes it.
    pub fn then(&self, waiter: impl FnOnce(Result) + Send + 'static) {
        match self {
            Self::Over(result) => waiter(result.clone()),
            Self::Later(promise) | Self::Own(promise) => promise.then(|outcome| waiter(outcome.clone())),
        }
    }
}
