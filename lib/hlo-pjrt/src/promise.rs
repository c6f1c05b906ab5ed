//! What is there later.

use crate::fault::{Fault, Result};
use crate::task::Maker;
use std::sync::{Mutex, OnceLock, PoisonError};

type Waiter = Box<dyn FnOnce() + Send>;

/// A value that somebody computes, or why it will never be there.
pub struct Promise<T> {
    value: OnceLock<Result<T>>,
    /// What is done once the value is there; nothing from then on.
    waiters: Mutex<Option<Vec<Waiter>>>,
    /// Who makes it.
    maker: Maker,
}

impl<T> Default for Promise<T> {
    fn default() -> Self {
        Self::by(Maker::default())
    }
}

impl<T> Promise<T> {
    /// A promise of what a task makes.
    pub fn by(maker: Maker) -> Self {
        Self { value: OnceLock::new(), waiters: Mutex::new(Some(Vec::new())), maker }
    }

    /// The value is there, or will never be. Only the first time counts; gives whether it was.
    pub fn keep(&self, value: Result<T>) -> bool {
        let first = self.value.set(value).is_ok();
        if first {
            let waiters = self.waiters.lock().unwrap_or_else(PoisonError::into_inner).take();
            waiters.into_iter().flatten().for_each(|waiter| waiter());
        }
        first
    }

    /// The value, if it is there.
    pub fn get(&self) -> Option<&Result<T>> {
        self.value.get()
    }

    /// Waits for the value, and makes it if nobody has begun to.
    pub fn wait(&self) -> &Result<T> {
        self.maker.hurry();
        self.value.wait()
    }

    /// The value, of a promise that nobody else has.
    ///
    /// # Errors
    /// Why it will never be there, or it is not there yet.
    pub fn into_value(self) -> Result<T> {
        self.value.into_inner().unwrap_or_else(|| Err(Fault::internal("internal error: it is not there yet")))
    }
}

/// What can be waited for, whatever it gives.
pub trait Outcome: Send + Sync {
    /// How it went, if it is over.
    fn outcome(&self) -> Option<Result>;

    /// Waits for it.
    ///
    /// # Errors
    /// How it went.
    fn wait(&self) -> Result;

    /// Somebody is about to wait for it: makes it, if nobody has begun to.
    fn hurry(&self);

    /// Does something once it is over: at once, or on the thread that ends it.
    fn then(&self, waiter: Box<dyn FnOnce() + Send>);
}

impl<T: Send + Sync> Outcome for Promise<T> {
    fn outcome(&self) -> Option<Result> {
        self.value.get().map(|value| value.as_ref().map(drop).map_err(Clone::clone))
    }

    fn wait(&self) -> Result {
        Promise::wait(self).as_ref().map(drop).map_err(Clone::clone)
    }

    fn hurry(&self) {
        if self.value.get().is_none() {
            self.maker.hurry();
        }
    }

    fn then(&self, waiter: Waiter) {
        let mut waiters = self.waiters.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *waiters {
            Some(list) => list.push(waiter),
            None => {
                drop(waiters);
                waiter();
            }
        }
    }
}
