//! Transfers: the queues of the host, and those of the channels within the program.

use crate::EvalError;
use crate::evaluator::Evaluator;
use hlo_communicator::MAX_IN_FLIGHT_BYTES_TO_SELF;
use hlo_ir::attr::HloString;
use hlo_ir::{InstrId, Literal, Shape};
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
}

/// Returns the size of a value in bytes.
fn size(value: &Literal) -> usize {
    value.leaves().iter().map(|l| l.bytes().len()).sum()
}

impl Evaluator<'_> {
    /// Returns the next item of the infeed, or an error that says why there is none.
    pub(crate) fn infeed(&mut self, shape: &Shape) -> Result<Literal, String> {
        let item = self.host.infeed(shape)?;
        if !item.shape().compatible(shape) {
            return Err(format!("{shape} is expected, but the host gave {}", item.shape()));
        }
        self.reserve(item.leaves().iter().map(|l| l.bytes().len()).sum()).map_err(|e| e.message)?;
        Ok(item)
    }

    /// Passes an item of the outfeed to the host.
    pub(crate) fn outfeed(&mut self, config: &HloString, value: Literal) -> Result<(), String> {
        self.host.outfeed_configured(config, value)
    }

    /// Fails if a value was sent that nothing received: its sender would wait forever.
    pub(crate) fn finish(&self) -> Result<(), EvalError> {
        let left = self.channels.values().filter_map(|c| Some((c.under_way.front()?.0, c.under_way.len())));
        match left.min_by_key(|&(sender, _)| sender) {
            Some((sender, count)) => {
                let reason = hlo_ir::effects::unreceived(self.module, sender);
                Err(EvalError::new(format!("{reason} ({count} left)")).at(sender))
            }
            None => Ok(()),
        }
    }
}
