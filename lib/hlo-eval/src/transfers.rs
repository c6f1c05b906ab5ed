//! Transfers within the program: the values that wait in a channel.

use hlo_communicator::MAX_IN_FLIGHT_BYTES_TO_SELF;
use hlo_ir::{InstrId, Literal};
use std::collections::VecDeque;

/// The values that were sent on a channel and not yet received.
#[derive(Default)]
pub(crate) struct Channel {
    under_way: VecDeque<(InstrId, Literal)>,
    /// The total size of these values in bytes.
    bytes: usize,
    /// Number of values received.
    pub(crate) received: usize,
}

impl Channel {
    /// Sends a value. Returns false if more than [`MAX_IN_FLIGHT_BYTES_TO_SELF`] bytes would be waiting.
    pub(crate) fn push(&mut self, sender: InstrId, value: Literal) -> bool {
        let bytes = self.bytes.saturating_add(size(&value));
        let fits = self.under_way.is_empty() || bytes <= MAX_IN_FLIGHT_BYTES_TO_SELF;
        if fits {
            self.bytes = bytes;
            self.under_way.push_back((sender, value));
        }
        fits
    }

    /// Receives the oldest value, with the instruction that sent it.
    pub(crate) fn take(&mut self) -> Option<(InstrId, Literal)> {
        let first = self.under_way.pop_front();
        self.received += usize::from(first.is_some());
        self.bytes -= first.as_ref().map_or(0, |(_, value)| size(value));
        first
    }

    /// Returns the sender of the oldest value that was not received, and the number of these values.
    pub(crate) fn unreceived(&self) -> Option<(InstrId, usize)> {
        self.under_way.front().map(|&(sender, _)| (sender, self.under_way.len()))
    }
}

/// Returns the size of a value in bytes.
fn size(value: &Literal) -> usize {
    value.leaves().iter().map(|l| l.bytes().len()).sum()
}
