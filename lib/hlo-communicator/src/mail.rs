//! Values that devices have sent to each other and that are not received yet.

use std::collections::{HashMap, VecDeque};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Maximum time that a receiver sleeps before it checks again whether it should wait.
const MAX_SLEEP: Duration = Duration::from_millis(10);

/// Maximum number of bytes in transit from one device to another on a channel. A faster sender waits for its
/// receiver.
pub const MAX_IN_FLIGHT_BYTES: usize = 64 << 20;

/// A channel, a sender and a receiver.
pub type Address = (Option<i64>, usize, usize);

/// The arrays of one value.
type Value = Vec<Vec<u8>>;

/// The values that were sent to one address and not received yet.
#[derive(Default)]
struct Mailbox {
    values: VecDeque<Value>,
    /// Total number of bytes of the values.
    bytes: usize,
}

/// All values in transit.
#[derive(Default)]
pub(crate) struct Mail {
    boxes: Mutex<HashMap<Address, Mailbox>>,
    news: Condvar,
}

/// Returns the number of bytes of a value.
fn bytes(value: &Value) -> usize {
    value.iter().map(Vec::len).sum()
}

impl Mail {
    /// Sends a value. Waits while more than [`MAX_IN_FLIGHT_BYTES`] bytes would be in transit to the address.
    /// A value is always accepted if no other is in transit. While waiting, calls `gives_up` from time to
    /// time, which returns a reason to stop waiting.
    pub(crate) fn send<E>(
        &self,
        address: Address,
        value: Value,
        gives_up: impl Fn() -> Option<E>,
    ) -> Result<(), E> {
        let size = bytes(&value);
        let mut boxes = self.boxes.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let to = boxes.entry(address).or_default();
            if to.values.is_empty() || to.bytes.saturating_add(size) <= MAX_IN_FLIGHT_BYTES {
                to.values.push_back(value);
                to.bytes += size;
                break;
            }
            if let Some(reason) = gives_up() {
                return Err(reason);
            }
            boxes = self.news.wait_timeout(boxes, MAX_SLEEP).unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(boxes);
        self.news.notify_all();
        Ok(())
    }

    /// Returns the first value that was sent and not received yet. While there is none, calls `gives_up` from
    /// time to time, which returns a reason to stop waiting.
    pub(crate) fn receive<E>(&self, address: Address, gives_up: impl Fn() -> Option<E>) -> Result<Value, E> {
        let mut boxes = self.boxes.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            // Evaluated before looking for a value: a device that has ended sent all of its values before.
            let reason = gives_up();
            let from = boxes.get_mut(&address);
            if let Some((from, value)) = from.and_then(|b| b.values.pop_front().map(|value| (b, value))) {
                from.bytes -= bytes(&value);
                drop(boxes);
                self.news.notify_all();
                return Ok(value);
            }
            if let Some(reason) = reason {
                return Err(reason);
            }
            boxes = self.news.wait_timeout(boxes, MAX_SLEEP).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Returns an address with values that were not received, and their number.
    pub(crate) fn left(&self) -> Option<(Address, usize)> {
        let boxes = self.boxes.lock().unwrap_or_else(PoisonError::into_inner);
        let full = boxes.iter().filter(|(_, b)| !b.values.is_empty());
        full.map(|(&address, b)| (address, b.values.len())).min()
    }

    /// Wakes the waiting devices because something has changed.
    pub(crate) fn notify(&self) {
        drop(self.boxes.lock().unwrap_or_else(PoisonError::into_inner));
        self.news.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESS: Address = (Some(1), 0, 1);

    #[test]
    fn a_sender_that_runs_ahead_waits() {
        let mail = Mail::default();
        let never = || None::<()>;
        let sent = std::thread::scope(|scope| {
            let sender = scope.spawn(|| {
                (0..8).try_for_each(|n| mail.send(ADDRESS, vec![vec![n; MAX_IN_FLIGHT_BYTES / 2]], never))
            });
            for n in 0..8 {
                let under_way = mail.boxes.lock().unwrap().get(&ADDRESS).map_or(0, |b| b.bytes);
                assert!(under_way <= MAX_IN_FLIGHT_BYTES, "{under_way}");
                assert_eq!(mail.receive(ADDRESS, never).unwrap()[0][0], n);
            }
            sender.join().unwrap()
        });
        assert_eq!(sent, Ok(()));
        assert_eq!(mail.left(), None);
    }

    #[test]
    fn a_large_value_fits_alone_and_a_sender_gives_up() {
        let mail = Mail::default();
        assert_eq!(mail.send(ADDRESS, vec![vec![0; MAX_IN_FLIGHT_BYTES + 1]], || Some("full")), Ok(()));
        assert_eq!(mail.send(ADDRESS, vec![vec![0]], || Some("full")), Err("full"));
        assert_eq!(mail.left(), Some((ADDRESS, 1)));
    }
}
