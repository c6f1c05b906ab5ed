//! Events: what the caller waits for.

use crate::fault::Result;
use crate::promise::{Outcome, Promise};
use std::sync::Arc;

/// What the caller waits for.
pub enum Event {
    /// It is over.
    Over(Result),
    /// It is going on.
    Later(Arc<dyn Outcome>),
    /// The caller says when it is over.
    Own(Arc<Promise<()>>),
}

impl Event {
    /// How it went, if it is over.
    pub fn outcome(&self) -> Option<Result> {
        match self {
            Self::Over(result) => Some(result.clone()),
            Self::Later(later) => later.outcome(),
            Self::Own(promise) => promise.outcome(),
        }
    }

    /// Waits until it is over.
    ///
    /// # Errors
    /// How it went.
    pub fn wait(&self) -> Result {
        match self {
            Self::Over(result) => result.clone(),
            Self::Later(later) => later.wait(),
            Self::Own(promise) => Outcome::wait(&**promise),
        }
    }

    /// The caller is about to wait for it: what nobody has begun is done on the caller's thread.
    pub fn hurry(&self) {
        if let Self::Later(later) = self {
            later.hurry();
        }
    }

    /// Does something with how it went once it is over: at once, or on the thread that ends it.
    pub fn then(&self, waiter: impl FnOnce(Result) + Send + 'static) {
        match self {
            Self::Over(result) => waiter(result.clone()),
            Self::Later(later) => after(later.clone(), waiter),
            Self::Own(promise) => after(promise.clone(), waiter),
        }
    }
}

/// Does something with how it went once it is over.
fn after(later: Arc<dyn Outcome>, waiter: impl FnOnce(Result) + Send + 'static) {
    // What waits must not keep what it waits for, which holds it.
    let weak = Arc::downgrade(&later);
    later.then(Box::new(move || {
        let outcome = weak.upgrade().and_then(|later| later.outcome());
        waiter(outcome.unwrap_or(Ok(())));
    }));
}
