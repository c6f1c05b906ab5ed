//! Devices of a program that are distributed over the ranks of an MPI job: `MpiWorld`.
//!
//! If a program has `D` devices, rank `r` of `n` has the devices from `r * D / n` up to `(r + 1) * D / n`.
//! Each device is a thread. Devices exchange data in nonblocking point-to-point messages. The header of each
//! message contains its collective, so that diverging devices are detected. Integer reductions, which have
//! the same bits in any order, use MPI's own reductions if each device of the group is on a separate rank.
//! Other reductions are computed here in the order of the group, with the same bits as
//! [`Process`](hlo_communicator::Process).
//!
//! No device waits forever. A device that fails is reported to all ranks. A device that does not arrive in
//! time is named.
//!
//! Without the feature `mpi` this library is empty and does not need MPI.
//!
//! # Example
//! ```no_run
//! # #[cfg(feature = "mpi")]
//! # fn main() -> Result<(), String> {
//! use hlo_communicator::{Communicator, Options, Table, World, collective, run_in};
//! use hlo_mpi::MpiWorld;
//! use std::sync::Arc;
//!
//! let world = MpiWorld::new()?;
//! let mut table = Table::new(4);
//! let site = table.add("all-gather `y`", &[vec![0, 1, 2, 3]]);
//! let states = vec![(); world.local_devices(4).len()];
//! let results = run_in(&world, Arc::new(table), Options::default(), states, |device, ()| {
//!     let mut gathered = [0u8; 4];
//!     collective::all_gather(device, site, &[&[10 + device.device() as u8]], &mut [&mut gathered])?;
//!     Ok(gathered)
//! });
//! assert!(results.iter().flatten().all(|gathered| *gathered == [10, 11, 12, 13]));
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "mpi"))]
//! # fn main() {}
//! ```

#[cfg(feature = "mpi")]
mod control;
#[cfg(feature = "mpi")]
mod in_flight;
#[cfg(feature = "mpi")]
mod member;
#[cfg(feature = "mpi")]
mod raw;
#[cfg(feature = "mpi")]
mod run;
#[cfg(feature = "mpi")]
mod start;
#[cfg(feature = "mpi")]
mod wire;
#[cfg(feature = "mpi")]
mod world;

#[cfg(feature = "mpi")]
pub use member::MpiMember;
#[cfg(feature = "mpi")]
pub use world::{MpiWorld, requested_ranks};
