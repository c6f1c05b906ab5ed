//! Communication between the devices that run a program.
//!
//! Each device runs the same program, on its own thread or in another process. At a collective, it calls its
//! [`Communicator`], which connects it to the other devices of its group. [`Communicator::exchange`]
//! transfers bytes from each device to each other device. The collectives of the operation semantics are
//! built on it in [`collective`]. Engines access other devices only through these interfaces. A communicator
//! depends neither on the IR nor on an engine: a collective is a number in a [`Table`].
//!
//! [`Process`] connects devices that are threads of one process. They access each other's memory, so that
//! data is only copied from operands to results. A [`World`] determines where the devices of a program are:
//! all in one process ([`InProcess`]), or distributed over the processes of a job.
//!
//! The communication has two guarantees. First, results do not depend on the order in which devices arrive,
//! because values are combined in the order of the group. Second, no device waits forever. If a device ends,
//! fails, arrives at another collective or does not arrive in time, all devices report an error that names
//! it.
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
mod process;
mod rendezvous;
pub mod run_data;
mod table;
mod world;

pub use mail::{Address, MAX_IN_FLIGHT_BYTES};
pub use process::{DEFAULT_TIMEOUT, Member, NoObserver, Observer, Options, Process};
pub use table::{Reduction, ReductionKind, Table};
pub use world::{Body, InProcess, World, catch_panic, listed, on_threads, run_in};

use std::fmt;

/// Maximum number of bytes that a device may have sent to itself on a channel, not counting the first value,
/// before it receives any. A device cannot wait for itself, so that more bytes are an error.
pub const MAX_IN_FLIGHT_BYTES_TO_SELF: usize = 1 << 30;

/// The reason why a device cannot continue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// This device failed. The message names the collective and the devices.
    Local(String),
    /// Another device failed. Its failure contains the reason.
    Remote,
    /// The run was stopped.
    Stopped,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Local(message) => f.write_str(message),
            Failure::Remote => f.write_str("another device has failed"),
            Failure::Stopped => f.write_str("the run was stopped"),
        }
    }
}

impl std::error::Error for Failure {}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Failure::Local(message)
    }
}

/// The parts that a device hands to each member of its group, or received from each: a list of byte arrays of
/// any size.
pub trait Parts<'a>: Sync {
    /// Returns part number `part` for, or from, the member at this position in the group.
    fn part(&self, member: usize, part: usize) -> &'a [u8];
}

impl<'a, F: Fn(usize, usize) -> &'a [u8] + Sync> Parts<'a> for F {
    fn part(&self, member: usize, part: usize) -> &'a [u8] {
        self(member, part)
    }
}

/// An array that all members have, and the location of the combined result.
#[derive(Debug)]
pub struct Reduced<'a> {
    /// The elements of this device.
    pub operand: &'a [u8],
    /// The result, with the same number of bytes.
    pub result: &'a mut [u8],
    /// Number of bytes of an element, a power of two.
    pub element_bytes: usize,
}

/// Combines elements at the same positions of arrays, one array per member in the group's order, and writes
/// the results. The first argument is the index of the array in the reduced list.
pub type Combine<'a> = dyn FnMut(usize, &[&[u8]], &mut [u8]) -> Result<(), Failure> + 'a;

/// The interface of one device to all other devices.
///
/// A *site* is the number of a collective in the program's [`Table`]. All members of a group must call the
/// same sites in the same order.
pub trait Communicator: Send + Sync {
    /// Returns the collectives of the program.
    fn table(&self) -> &Table;

    /// Returns the number of the device.
    fn device(&self) -> usize;

    /// Hands `parts` parts to each member of the group, including itself. Calls `incoming` with the parts
    /// that the members have handed to this device.
    ///
    /// # Errors
    /// A member does not arrive in time, has ended or failed, or is at another collective; or `incoming`
    /// returns an error.
    fn exchange(
        &self,
        site: usize,
        parts: usize,
        outgoing: &dyn Parts<'_>,
        incoming: &mut dyn FnMut(&dyn Parts<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure>;

    /// Combines arrays of all members of the group, element by element in the order of the group. All members
    /// receive the result.
    ///
    /// # Errors
    /// Returns the errors of [`Communicator::exchange`] and of `combine`.
    fn all_reduce(
        &self,
        site: usize,
        arrays: &mut [Reduced<'_>],
        combine: &mut Combine<'_>,
    ) -> Result<(), Failure>;

    /// Sends arrays to a device on a channel. Only waits for the receiver if much data is already in transit
    /// to it.
    ///
    /// # Errors
    /// Another device has failed, or the receiver has ended or does not receive in time.
    fn send(&self, channel: Option<i64>, to: usize, arrays: Vec<Vec<u8>>) -> Result<(), Failure>;

    /// Receives the first arrays that a device sent to this one on a channel and that were not received yet.
    /// `name` describes the waiting operation in messages.
    ///
    /// # Errors
    /// The sender does not send in time, has ended or failed.
    fn receive(&self, channel: Option<i64>, from: usize, name: &str) -> Result<Vec<Vec<u8>>, Failure>;
}
