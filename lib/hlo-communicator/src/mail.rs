//! What devices have sent to each other and nobody has received yet.

use std::collections::{HashMap, VecDeque};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How long a receiver sleeps at most before it looks whether there is still somebody to wait for.
const NAP: Duration = Duration::from_millis(10);

/// A channel, a sender and a receiver.
pub(crate) type Address = (Option<i64>, usize, usize);

/// The arrays of one value.
type Value = Vec<Vec<u8>>;

/// All that is under way.
#[derive(Default)]
pub(crate) struct Mail {
    boxes: Mutex<HashMap<Address, VecDeque<Value>>>,
    news: Condvar,
}

impl Mail {
    pub(crate) fn send(&self, address: Address, value: Value) {
        let mut boxes = self.boxes.lock().unwrap_or_else(PoisonError::into_inner);
        boxes.entry(address).or_default().push_back(value);
        drop(boxes);
        self.news.notify_all();
    }

    /// The first value that was sent and not received yet. `gives_up` is asked now and then, while there is none, why
    /// not to wait any longer.
    pub(crate) fn receive<E>(&self, address: Address, gives_up: impl Fn() -> Option<E>) -> Result<Value, E> {
        let mut boxes = self.boxes.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            // Asked before: whoever ends has sent all before that.
            let reason = gives_up();
            if let Some(value) = boxes.get_mut(&address).and_then(VecDeque::pop_front) {
                return Ok(value);
            }
            if let Some(reason) = reason {
                return Err(reason);
            }
            boxes = self.news.wait_timeout(boxes, NAP).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Where something lies that nobody has received.
    pub(crate) fn left(&self) -> Option<(Address, usize)> {
        let boxes = self.boxes.lock().unwrap_or_else(PoisonError::into_inner);
        let full = boxes.iter().filter(|(_, values)| !values.is_empty());
        full.map(|(&address, values)| (address, values.len())).min()
    }

    /// Wakes those who wait: something has changed.
    pub(crate) fn tell(&self) {
        drop(self.boxes.lock().unwrap_or_else(PoisonError::into_inner));
        self.news.notify_all();
    }
}
