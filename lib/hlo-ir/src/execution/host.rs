//! The host side of infeeds and outfeeds. Both engines accept any [`Host`]. [`Queues`] is a host in memory.

use crate::attr::HloString;
use crate::{Literal, Shape};
use std::collections::VecDeque;

/// The source of a running program's infeeds and the destination of its outfeeds. Calls are in the order of
/// the transfers. There are no calls after a failure.
pub trait Host: Send {
    /// Returns the next item of the infeed: a value of this shape, apart from layouts.
    ///
    /// # Errors
    /// A message, if there is no further item or it does not have this shape. The engine adds the instruction
    /// to it.
    fn infeed(&mut self, shape: &Shape) -> Result<Literal, String>;

    /// Receives an item of the outfeed.
    ///
    /// # Errors
    /// A message, if the host does not accept the item.
    fn outfeed(&mut self, value: Literal) -> Result<(), String>;

    /// Receives an item of an outfeed with an `outfeed_config`, which only the host interprets.
    ///
    /// # Errors
    /// As [`Host::outfeed`].
    fn outfeed_configured(&mut self, _config: &HloString, value: Literal) -> Result<(), String> {
        self.outfeed(value)
    }
}

/// A host without infeed and outfeed.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHost;

impl Host for NoHost {
    fn infeed(&mut self, shape: &Shape) -> Result<Literal, String> {
        Err(format!("{shape} is expected, but the program was given no infeed"))
    }

    fn outfeed(&mut self, value: Literal) -> Result<(), String> {
        Err(format!("nothing takes the {} that is sent: the program was given no outfeed", value.shape()))
    }
}

/// Items in memory. Each infeed removes the next item, and each outfeed adds one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Queues {
    /// The items that have not been read.
    pub infeed: VecDeque<Literal>,
    /// Number of items read.
    pub consumed: usize,
    /// The items written.
    pub outfeed: Vec<Literal>,
}

impl Queues {
    /// Creates queues with these items to read.
    pub fn with_infeed(items: impl IntoIterator<Item = Literal>) -> Self {
        Self { infeed: items.into_iter().collect(), ..Self::default() }
    }
}

impl Host for Queues {
    fn infeed(&mut self, shape: &Shape) -> Result<Literal, String> {
        let found = match self.infeed.front() {
            Some(next) if next.shape().compatible(shape) => None,
            Some(next) => Some(format!("the next item is {}", next.shape())),
            None => Some("the infeed is empty".to_string()),
        };
        match (found, self.infeed.pop_front()) {
            (None, Some(item)) => {
                self.consumed += 1;
                Ok(item)
            }
            (found, item) => {
                // An item of another shape remains in the queue.
                item.into_iter().for_each(|i| self.infeed.push_front(i));
                Err(expected(shape, &found.unwrap_or_default(), self.consumed, "item"))
            }
        }
    }

    fn outfeed(&mut self, value: Literal) -> Result<(), String> {
        self.outfeed.push(value);
        Ok(())
    }
}

/// Formats the error of an infeed without a value: the expected and the found item, and the number of `unit`s
/// already read.
pub fn expected(shape: &Shape, found: &str, consumed: usize, unit: &str) -> String {
    let plural = if consumed == 1 { "" } else { "s" };
    format!("{shape} is expected, but {found} ({consumed} {unit}{plural} consumed before)")
}
