//! How the devices that run a program exchange data.
//!
//! Each device runs the same program, on a thread of its own or in another process. Where it comes to a collective, it
//! asks its [`Communicator`], which knows the other devices of its group: [`Communicator::exchange`] hands bytes from each
//! to each, and what the operations of the semantics are made of that is in [`collective`]. Engines know nothing else of
//! other devices, and a communicator knows neither the IR nor an engine: a collective is a number in a [`Table`].
//!
//! [`Process`] connects devices that are threads of one process. They see each other's memory, so that nothing is copied
//! but from operands to results. Where the devices of a program are is a [`World`]: all in one process ([`InProcess`]), or
//! each process of a job with some of them.
//!
//! Two promises: results do not depend on which device comes first (values are combined in the order of the group), and
//! nobody waits for ever: a device that ends, fails, comes to another collective, or does not come in time, is an error
//! that names it, on all devices.
//!
//! # Example
//! ```
//! use hlo_communicator::{Communicator, Options, Process, Table, collective};
//! use std::sync::Arc;
//!
//! let mut table = Table::new(2);
//! let site = table.add("all-gather `y`", &[vec![0, 1]]);
//! let process = Process::new(Arc::new(table), Options::default());
//! let results = process.run(vec![(); 2], |device, ()| {
//!     let mut gathered = [0u8; 2];
//!     let mine = [10 + device.device() as u8];
//!     collective::all_gather(device, site, &[&mine], &mut [&mut gathered])?;
//!     Ok(gathered)
//! });
//! assert_eq!(results, Ok(vec![[10, 11], [10, 11]]));
//! ```

pub mod collective;
mod mail;
mod meeting;
mod process;
pub mod run_data;
mod table;
mod world;

pub use process::{Member, NoObserver, Observer, Options, Process, TIMEOUT};
pub use table::{Reduction, ReductionKind, Table};
pub use world::{Body, InProcess, World, caught, listed, on_threads, run_in};

use std::fmt;

/// The bytes that a device may have sent to itself on a channel beyond the first value, before it receives any. As nothing can
/// wait for it, more of them are an error.
pub const MAX_OWN_UNDER_WAY: usize = 1 << 30;

/// Why a device can't go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// What is wrong, in words that name the collective and the devices.
    Here(String),
    /// Another device has failed, which says why.
    Elsewhere,
    /// The run was told to end.
    Stopped,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Here(message) => f.write_str(message),
            Failure::Elsewhere => f.write_str("another device has failed"),
            Failure::Stopped => f.write_str("the run was stopped"),
        }
    }
}

impl std::error::Error for Failure {}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Failure::Here(message)
    }
}

/// What a device hands to each member of its group, or got from each: a list of parts of any sizes.
pub trait Parts<'a>: Sync {
    /// Part number `part` for, or from, the member at this place in the group.
    fn part(&self, member: usize, part: usize) -> &'a [u8];
}

impl<'a, F: Fn(usize, usize) -> &'a [u8] + Sync> Parts<'a> for F {
    fn part(&self, member: usize, part: usize) -> &'a [u8] {
        self(member, part)
    }
}

/// An array that all members have, and where the combination of all of them goes.
#[derive(Debug)]
pub struct Reduced<'a> {
    /// This device's elements.
    pub operand: &'a [u8],
    /// As many bytes.
    pub result: &'a mut [u8],
    /// The bytes of an element, a power of two.
    pub element_bytes: usize,
}

/// Combines elements at the same places in arrays, one of each member in the group's order, and writes the results. The
/// first argument is the number of the array in the list that is reduced.
pub type Combine<'a> = dyn FnMut(usize, &[&[u8]], &mut [u8]) -> Result<(), Failure> + 'a;

/// One device's end of the communication between all.
///
/// A *site* is the number of a collective in the program's [`Table`]. All members of a group have to come to the same
/// sites in the same order.
pub trait Communicator: Send + Sync {
    /// The collectives of the program.
    fn table(&self) -> &Table;

    /// The number of the device.
    fn device(&self) -> usize;

    /// Hands `parts` parts to each member of the group, itself included, and shows what the members have handed to this
    /// device while `incoming` runs.
    ///
    /// # Errors
    /// A member is not there in time, has ended or failed, or is somewhere else in the program; what `incoming` says.
    fn exchange(
        &self,
        site: usize,
        parts: usize,
        outgoing: &dyn Parts<'_>,
        incoming: &mut dyn FnMut(&dyn Parts<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure>;

    /// Combines arrays of all members of the group, element by element in the order of the group, so that all have the
    /// result.
    ///
    /// # Errors
    /// As [`Communicator::exchange`]; what `combine` says.
    fn all_reduce(
        &self,
        site: usize,
        arrays: &mut [Reduced<'_>],
        combine: &mut Combine<'_>,
    ) -> Result<(), Failure>;

    /// Sends arrays to a device on a channel. It does not wait for the other end unless much is under way to it already.
    ///
    /// # Errors
    /// Another device has failed; the receiver does not receive in time, or has ended.
    fn send(&self, channel: Option<i64>, to: usize, arrays: Vec<Vec<u8>>) -> Result<(), Failure>;

    /// Receives what a device has sent to this one on a channel, the first that was not received yet. `name` is what
    /// waits, for messages.
    ///
    /// # Errors
    /// The sender does not send in time, has ended or failed.
    fn receive(&self, channel: Option<i64>, from: usize, name: &str) -> Result<Vec<Vec<u8>>, Failure>;
}
