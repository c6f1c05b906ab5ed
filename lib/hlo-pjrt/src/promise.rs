//! Values that become available later.

use crate::fault::{Fault, Result};
use crate::task::TaskReference;
use hlo_client::Buffer as Array;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

type Reader<T> = Box<dyn FnOnce(&Result<T>) + Send>;

/// A value that is being computed, or the reason why it will never be available.
pub struct Promise<T> {
    value: OnceLock<Result<T>>,
    /// Functions to call once the value is available. `None` from then on.
    readers: Mutex<Option<Vec<Reader<T>>>>,
    /// The task that computes the value.
    maker: TaskReference,
}

impl<T> Default for Promise<T> {
    fn default() -> Self {
        Self::by(TaskReference::default())
    }
}

impl<T> Promise<T> {
    /// Creates a promise of the value that a task computes.
    pub fn by(maker: TaskReference) -> Self {
        Self { value: OnceLock::new(), readers: Mutex::new(Some(Vec::new())), maker }
    }

    /// Sets the value, or the reason why there is none. Only the first call has an effect. Returns whether
    /// this was the first call.
    pub fn keep(&self, value: Result<T>) -> bool {
        let first = self.value.set(value).is_ok();
        if first && let Some(value) = self.value.get() {
            let readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner).take();
            readers.into_iter().flatten().for_each(|reader| reader(value));
        }
        first
    }

    /// Returns the value if it is available.
    pub fn get(&self) -> Option<&Result<T>> {
        self.value.get()
    }

    /// Waits for the value. Computes it if no thread has started to.
    pub fn wait(&self) -> &Result<T> {
        self.maker.run_if_not_started();
        self.value.wait()
    }

    /// Computes the value if no thread has started to, because the caller is about to wait for it.
    pub fn run_if_not_started(&self) {
        if self.value.get().is_none() {
            self.maker.run_if_not_started();
        }
    }

    /// Calls a function with the value: at once if it is available, otherwise on the thread that fulfils the
    /// promise.
    pub fn then(&self, reader: impl FnOnce(&Result<T>) + Send + 'static) {
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *readers {
            Some(list) => list.push(Box::new(reader)),
            None => {
                drop(readers);
                reader(self.value.wait());
            }
        }
    }

    /// Takes the value out of a promise that is not shared.
    ///
    /// # Errors
    /// The reason why there is no value, or the value is not available yet.
    pub fn into_value(self) -> Result<T> {
        self.value.into_inner().unwrap_or_else(|| Err(Fault::internal("internal error: it is not there yet")))
    }
}

/// An array that a run computes. Events refer only to its completion. A run that the array is donated to can
/// therefore take its memory, even while events exist.
pub struct Pending {
    array: Promise<Array>,
    over: Arc<Promise<()>>,
}

impl Pending {
    /// Creates a promise of the array that a task computes.
    pub fn by(maker: TaskReference) -> Arc<Self> {
        Arc::new(Self { array: Promise::default(), over: Arc::new(Promise::by(maker)) })
    }

    /// Sets the array, or the reason why there is none. The caller's reference to the array is dropped before
    /// the completion becomes visible.
    pub fn keep(self: Arc<Self>, array: Result<Array>) {
        let (over, outcome) = (self.over.clone(), outcome(&array));
        self.array.keep(array);
        drop(self);
        over.keep(outcome);
    }

    /// Returns the promise that is fulfilled when the array is ready.
    pub fn over(&self) -> &Arc<Promise<()>> {
        &self.over
    }

    /// Calls a function with the array once it is ready, before the completion becomes visible.
    pub fn then(&self, reader: impl FnOnce(&Result<Array>) + Send + 'static) {
        self.array.then(reader);
    }

    /// Takes the array. If the `Pending` is shared, the array is shared too.
    ///
    /// # Errors
    /// The array could not be computed or is not ready yet.
    pub fn into_array(self: Arc<Self>) -> Result<Array> {
        match Arc::try_unwrap(self) {
            Ok(own) => own.array.into_value(),
            Err(shared) => match shared.array.get() {
                Some(value) => value.clone(),
                None => Err(Fault::internal("internal error: the array is not there")),
            },
        }
    }
}

/// Returns the outcome without the value.
fn outcome<T>(value: &Result<T>) -> Result {
    value.as_ref().map(drop).map_err(Clone::clone)
}
