//! Events: what the caller waits for.

use crate::fault::Result;
use crate::promise::Promise;
use std::sync::Arc;

/// What the caller waits for.
pub enum Event {
    /// It is over.
    Over(Result),
    /// It is going on.
    Later(Arc<Promise<()>>),
    /// The caller says when it is over.
    Own(Arc<Promise<()>>),
}

impl Event {
    /// How it went, if it is over.
    pub fn outcome(&self) -> Option<Result> {
        match self {
            Self::Over(result) => Some(result.clone()),
            Self::Later(promise) | Self::Own(promise) => promise.get().cloned(),
        }
    }

    /// Waits until it is over.
    ///
    /// # Errors
    /// How it went.
    pub fn wait(&self) -> Result {
        match self {
            Self::Over(result) => result.clone(),
            Self::Later(promise) | Self::Own(promise) => promise.wait().clone(),
        }
    }

    /// The caller is about to wait for it: what nobody has begun is done on the caller's thread.
    pub fn hurry(&self) {
        if let Self::Later(promise) = self {
            promise.hurry();
        }
    }

    /// Does something with how it went once it is over: at once, or on the thread that ends it.
    pub fn then(&self, waiter: impl FnOnce(Result) + Send + 'static) {
        match self {
            Self::Over(result) => waiter(result.clone()),
            Self::Later(promise) | Self::Own(promise) => promise.then(|outcome| waiter(outcome.clone())),
        }
    }
}
