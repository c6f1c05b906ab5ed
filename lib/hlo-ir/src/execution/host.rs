//! The host's side of infeeds and outfeeds: what a running program reads from and writes to. Both engines take
//! any [`Host`]; [`Queues`] is one in memory.

use crate::attr::HloString;
use crate::{Literal, Shape};
use std::collections::VecDeque;

/// What a running program's infeeds read from and its outfeeds write to. The calls come in the order in which the
/// transfers happen; none comes after a failure.
pub trait Host: Send {
    /// The next item of the infeed: a value of this shape, layouts aside.
    ///
    /// # Errors
    /// There is no further item, or it does not have this shape: the reason in words, to which the engine
    /// adds the instruction.
    fn infeed(&mut self, shape: &Shape) -> Result<Literal, String>;

    /// Takes an item of the outfeed.
    ///
    /// # Errors
    /// The host takes no such item: the reason in words.
    fn outfeed(&mut self, value: Literal) -> Result<(), String>;

    /// Takes an item of an outfeed with an `outfeed_config`, which is opaque to all but the host.
    ///
    /// # Errors
    /// As [`Host::outfeed`].
    fn outfeed_configured(&mut self, _config: &HloString, value: Literal) -> Result<(), String> {
        self.outfeed(value)
    }
}

/// A host that neither gives nor takes anything.
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

/// Items in memory: each infeed takes the next, each outfeed adds one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Queues {
    /// What is still to be read.
    pub infeed: VecDeque<Literal>,
    /// How many items were read.
    pub consumed: usize,
    /// What was written.
    pub outfeed: Vec<Literal>,
}

impl Queues {
    /// Queues with these items to read.
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
                // What does not fit stays where it is.
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

/// Why an infeed has no value: what is expected and found, after how many `unit`s that were read.
pub fn expected(shape: &Shape, found: &str, consumed: usize, unit: &str) -> String {
    let plural = if consumed == 1 { "" } else { "s" };
    format!("{shape} is expected, but {found} ({consumed} {unit}{plural} consumed before)")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ElementType;

    #[test]
    fn items_come_in_order_and_one_that_does_not_fit_stays() {
        let scalar = Shape::scalar(ElementType::S32);
        let mut queues = Queues::with_infeed([1, 2].map(|n: i32| Literal::scalar(ElementType::S32, n)));
        assert_eq!(queues.infeed(&scalar).map(|v| v.integer_at(0)), Ok(Some(1)));
        let error = queues.infeed(&Shape::array(ElementType::F32, [2])).unwrap_err();
        assert_eq!(error, "f32[2] is expected, but the next item is s32[] (1 item consumed before)");
        assert_eq!(queues.infeed(&scalar).map(|v| v.integer_at(0)), Ok(Some(2)));
        let error = queues.infeed(&scalar).unwrap_err();
        assert_eq!(error, "s32[] is expected, but the infeed is empty (2 items consumed before)");
    }
}
