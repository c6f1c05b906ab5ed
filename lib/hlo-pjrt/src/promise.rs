//! What is there later.

use crate::fault::{Fault, Result};
use crate::task::Maker;
use hlo_client::Buffer as Array;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

type Reader<T> = Box<dyn FnOnce(&Result<T>) + Send>;

/// A value that somebody computes, or why it will never be there.
pub struct Promise<T> {
    value: OnceLock<Result<T>>,
    /// What is done once the value is there; nothing from then on.
    readers: Mutex<Option<Vec<Reader<T>>>>,
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
        Self { value: OnceLock::new(), readers: Mutex::new(Some(Vec::new())), maker }
    }

    /// The value is there, or will never be. Only the first time counts; gives whether it was.
    pub fn keep(&self, value: Result<T>) -> bool {
        let first = self.value.set(value).is_ok();
        if first && let Some(value) = self.value.get() {
            let readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner).take();
            readers.into_iter().flatten().for_each(|reader| reader(value));
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

    /// Makes the value if nobody has begun to: somebody is about to wait for it.
    pub fn hurry(&self) {
        if self.value.get().is_none() {
            self.maker.hurry();
        }
    }

    /// Calls a function with the value once it is there: at once, or on the thread that keeps the promise.
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

    /// The value, of a promise that nobody else has.
    ///
    /// # Errors
    /// Why it will never be there, or it is not there yet.
    pub fn into_value(self) -> Result<T> {
        self.value.into_inner().unwrap_or_else(|| Err(Fault::internal("internal error: it is not there yet")))
    }
}

/// An array that a run computes. Events share its completion only: a run that the array is donated to takes its memory,
/// whoever waited for it.
pub struct Pending {
    array: Promise<Array>,
    over: Arc<Promise<()>>,
}

impl Pending {
    /// An array that a task makes.
    pub fn by(maker: Maker) -> Arc<Self> {
        Arc::new(Self { array: Promise::default(), over: Arc::new(Promise::by(maker)) })
    }

    /// Stores the array, or why it will never be there. Once others hear of the completion, the caller does not have the
    /// array any more.
    pub fn keep(self: Arc<Self>, array: Result<Array>) {
        let (over, outcome) = (self.over.clone(), outcome(&array));
        self.array.keep(array);
        drop(self);
        over.keep(outcome);
    }

    /// The event that is set when the array is ready.
    pub fn over(&self) -> &Arc<Promise<()>> {
        &self.over
    }

    /// Calls a function with the array once it is there, before others hear of the completion.
    pub fn then(&self, reader: impl FnOnce(&Result<Array>) + Send + 'static) {
        self.array.then(reader);
    }

    /// The array, which is shared as long as others have the `Pending`.
    ///
    /// # Errors
    /// It could not be computed, or is not there yet.
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

/// How it went, without the value.
fn outcome<T>(value: &Result<T>) -> Result {
    value.as_ref().map(drop).map_err(Clone::clone)
}
