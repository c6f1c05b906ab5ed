//! Devices of a program that are spread over the ranks of an MPI job: `MpiWorld`.
//!
//! Rank `r` of `n` has the devices from `r * D / n` up to `(r + 1) * D / n` of the `D` that a program has, each a thread.
//! What devices hand to each other goes by nonblocking messages from point to point, each with a header that says which
//! collective it is of, so that devices that diverge are told. Reductions of integers, which have the same bits in any
//! order, are MPI's own where each device of the group is on a rank of its own; all else is combined here, in the order of
//! the group, to the bits that [`Process`](hlo_communicator::Process) has.
//!
//! Nobody waits for ever: a device that fails is told to all ranks, one that does not come in time is named.
//!
//! Without the feature `mpi` this library is empty, and needs no MPI.
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
mod flight;
#[cfg(feature = "mpi")]
mod member;
#[cfg(feature = "mpi")]
mod raw;
#[cfg(feature = "mpi")]
mod run;
#[cfg(feature = "mpi")]
mod wire;
#[cfg(feature = "mpi")]
mod world;

#[cfg(feature = "mpi")]
pub use member::MpiMember;
#[cfg(feature = "mpi")]
pub use world::{MpiWorld, ranks_asked_for};
