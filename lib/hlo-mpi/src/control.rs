//! Control messages of a run between ranks, separate from the data of devices.

use hlo_communicator::Failure;
use std::time::{SystemTime, UNIX_EPOCH};

/// A failure of a device, and its time. The earliest failure of all ranks is the one that is reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeviceFailure {
    /// Nanoseconds since 1970.
    pub(crate) when: u64,
    pub(crate) device: usize,
    pub(crate) failure: Failure,
}

impl DeviceFailure {
    /// Creates a failure with the current time.
    pub(crate) fn now(device: usize, failure: Failure) -> Self {
        let when = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64);
        Self { when, device, failure }
    }

    /// Returns whether this failure was before another.
    pub(crate) fn is_before(&self, other: &DeviceFailure) -> bool {
        (self.when, self.device) < (other.when, other.device)
    }
}

/// A control message from one rank to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    /// A device has finished.
    Finished(usize),
    /// A device has failed.
    Failed(DeviceFailure),
    /// All devices of the rank have ended. Contains the number of messages that they sent to the devices of
    /// the receiving rank.
    Ended(u64),
}

/// The tag of control messages.
pub(crate) const CONTROL_TAG: i32 = 0;
/// The tag of messages that are sent when all messages of a run have been received.
pub(crate) const DONE_TAG: i32 = 1;
/// The tag of data that rank 0 gathers.
pub(crate) const GATHER_TAG: i32 = 2;
/// The tag of the flags that ranks exchange ([`crate::MpiWorld::gather_flags`]).
pub(crate) const FLAGS_TAG: i32 = 3;

fn words(kind: u64, numbers: [u64; 2], text: &str) -> Vec<u8> {
    let words = [kind, numbers[0], numbers[1]];
    words.into_iter().flat_map(u64::to_le_bytes).chain(text.bytes()).collect()
}

impl Control {
    /// Returns the encoded message.
    pub(crate) fn encoded(&self) -> Vec<u8> {
        match self {
            Control::Finished(device) => words(0, [*device as u64, 0], ""),
            Control::Ended(messages) => words(1, [*messages, 0], ""),
            Control::Failed(DeviceFailure { when, device, failure }) => match failure {
                Failure::Local(text) => words(2, [*device as u64, *when], text),
                Failure::Stopped | Failure::Remote => words(3, [*device as u64, *when], ""),
            },
        }
    }

    /// Decodes a message. Returns `None` if it is malformed.
    pub(crate) fn decoded(message: &[u8]) -> Option<Control> {
        let word = |n: usize| Some(u64::from_le_bytes(message.get(8 * n..8 * n + 8)?.try_into().ok()?));
        let (kind, first, when) = (word(0)?, word(1)?, word(2)?);
        let device = usize::try_from(first).ok()?;
        Some(match kind {
            0 => Control::Finished(device),
            1 => Control::Ended(first),
            2 => {
                let text = String::from_utf8_lossy(&message[24..]).into_owned();
                Control::Failed(DeviceFailure { when, device, failure: Failure::Local(text) })
            }
            3 => Control::Failed(DeviceFailure { when, device, failure: Failure::Stopped }),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_comes_back() {
        let failed = |failure| Control::Failed(DeviceFailure { when: 7, device: 3, failure });
        for control in [
            Control::Finished(5),
            Control::Ended(1 << 40),
            failed(Failure::Local("no memory".into())),
            failed(Failure::Stopped),
        ] {
            assert_eq!(Control::decoded(&control.encoded()), Some(control));
        }
        assert_eq!(Control::decoded(&[1; 23]), None);
    }
}
