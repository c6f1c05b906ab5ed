//! The host's end of the transfers of a run.

use crate::error::Error;

/// The host's end of a run's transfers. A transfer of several arrays makes one call for each, in order. After
/// a failure there are no more calls.
pub trait Transfers: Send {
    /// Fills an array with part `part` of the data that transfer `transfer` reads.
    ///
    /// # Errors
    /// Returns an error if there is nothing to read, or if it does not fit the array.
    fn receive(&mut self, transfer: usize, part: usize, to: &mut [u8]) -> Result<(), Error>;

    /// Receives an array: part `part` of the data that transfer `transfer` writes.
    ///
    /// # Errors
    /// Returns an error if the host does not accept the array.
    fn transmit(&mut self, transfer: usize, part: usize, from: &[u8]) -> Result<(), Error>;
}
