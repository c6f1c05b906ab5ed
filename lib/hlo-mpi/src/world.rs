//! The ranks of a job, and the distribution of devices over them.

use crate::control::{FLAGS_TAG, GATHER_TAG};
use crate::in_flight::{Backoff, Discarded, Outgoing};
use crate::raw::{self, Comm};
use hlo_communicator::{Failure, Table, listed};
use mpi::Threading;
use mpi::environment::{Universe, initialize_with_threading};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Returns the number of ranks that the program was started with, which `mpirun` and similar programs pass in
/// the environment. Returns `None` if the process was started differently or is the only rank.
pub fn requested_ranks() -> Option<usize> {
    let of = |name: &str| std::env::var(name).ok()?.parse::<usize>().ok();
    ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"].into_iter().find_map(of).filter(|&n| n > 1)
}

/// Returns the devices of a rank as a range.
fn devices_of(rank: usize, ranks: usize, devices: usize) -> Range<usize> {
    rank * devices / ranks..(rank + 1) * devices / ranks
}

/// Returns the rank that has a device.
pub(crate) fn rank_of(device: usize, devices: usize, ranks: usize) -> usize {
    // The last rank whose first device is not after this one.
    ((device + 1) * ranks - 1) / devices.max(1)
}

/// The rendezvous that a device waits for: the name of the collective, and the missing devices with their
/// ranks.
type Waiting = (String, Vec<(usize, usize)>);

/// The number of devices, and the devices of a group.
type Group = (usize, Vec<usize>);

/// The job that this process is a rank of. A process has at most one, which its main thread creates and
/// drops. Dropping it waits until the other ranks drop theirs.
///
/// If a run ended in a state that MPI cannot continue from, or if the thread panics, dropping aborts the
/// whole job instead.
pub struct MpiWorld {
    universe: Option<Universe>,
    rank: usize,
    size: usize,
    /// The communicator for messages between ranks.
    control: Comm,
    /// The communicators for messages that the first, second, … device of each rank receives.
    lanes: Mutex<Vec<Comm>>,
    /// The communicators for reductions, by the number of devices and the group; `None` if this rank is not
    /// in the group. Groups on the same ranks have separate ones, because several devices of a rank may
    /// reduce at the same time.
    groups: Mutex<HashMap<Group, Option<Comm>>>,
    is_broken: AtomicBool,
    waiting: Mutex<BTreeMap<usize, Waiting>>,
    /// The device that failed in the last run, and whether it is on this rank.
    failed: Mutex<Option<(usize, bool)>>,
    lost: Mutex<Option<String>>,
}

impl fmt::Debug for MpiWorld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MpiWorld").field("rank", &self.rank).field("size", &self.size).finish_non_exhaustive()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl MpiWorld {
    /// Initializes MPI.
    ///
    /// # Errors
    /// MPI is already initialized, or does not support calls from several threads.
    pub fn new() -> Result<Self, String> {
        let (universe, provided) =
            initialize_with_threading(Threading::Multiple).ok_or("MPI is initialized already")?;
        if provided < Threading::Multiple {
            return Err(format!(
                "this MPI lets only one thread call it at a time ({provided:?}), but each device is a thread: an MPI that \
                 provides MPI_THREAD_MULTIPLE is needed"
            ));
        }
        let make = || -> Result<(usize, usize, Comm), Failure> {
            let world = raw::comm_world();
            let (rank, size) = world.rank_and_size()?;
            Ok((rank, size, world.duplicate()?))
        };
        let (rank, size, control) = make().map_err(|failure| failure.to_string())?;
        Ok(Self {
            universe: Some(universe),
            rank,
            size,
            control,
            lanes: Mutex::default(),
            groups: Mutex::default(),
            is_broken: AtomicBool::new(false),
            waiting: Mutex::default(),
            failed: Mutex::default(),
            lost: Mutex::default(),
        })
    }

    /// Returns the number of this rank.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Returns the number of ranks.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns the devices of a rank, for a program with `devices` devices.
    pub fn devices_of(&self, rank: usize, devices: usize) -> Range<usize> {
        devices_of(rank, self.size, devices)
    }

    /// Returns the device that failed in the last run, if any. It may be on another rank.
    pub fn failed_device(&self) -> Option<usize> {
        locked(&self.failed).map(|(device, _)| device)
    }

    /// Returns whether the device that failed in the last run is on this rank.
    pub fn failed_here(&self) -> Option<bool> {
        locked(&self.failed).map(|(_, is_here)| is_here)
    }

    /// Returns one line for each device of this rank that currently waits for others, with its position. Any
    /// thread may call this.
    pub fn waiting(&self) -> Vec<String> {
        let line = |(device, (name, missing)): (&usize, &Waiting)| {
            let missing = listed(missing.iter().map(|(device, rank)| format!("{device} (rank {rank})")));
            format!("rank {}: device {device} was at {name}, waiting for device {missing}", self.rank)
        };
        locked(&self.waiting).iter().map(line).collect()
    }

    /// Returns a message if a device failed and other ranks did not end for a long time afterwards. Only
    /// [`MpiWorld::abort`] can then end the job. Any thread may call this.
    pub fn lost(&self) -> Option<String> {
        locked(&self.lost).clone()
    }

    /// Aborts the whole job with an exit code. Any thread may call this.
    pub fn abort(&self, code: i32) {
        self.control.abort(code);
    }

    /// Returns the flags that the ranks passed, in the order of the ranks. All ranks must call this.
    ///
    /// # Errors
    /// MPI fails.
    pub fn gather_flags(&self, is_so: bool) -> Result<Vec<bool>, Failure> {
        let mut out = Outgoing::default();
        for rank in self.others() {
            out.send_kept(self.control, rank, FLAGS_TAG, vec![is_so.into()])?;
        }
        let mut all = vec![is_so; self.size];
        for rank in self.others() {
            all[rank] = self.wait_for(rank, FLAGS_TAG)?.first() == Some(&1);
        }
        self.sent(&mut out)?;
        Ok(all)
    }

    /// Returns, on rank 0, the bytes that each rank passed, in the order of the ranks. Returns `None` on
    /// other ranks. All ranks must call this.
    ///
    /// # Errors
    /// MPI fails.
    pub fn gather(&self, bytes: Vec<u8>) -> Result<Option<Vec<Vec<u8>>>, Failure> {
        if self.rank > 0 {
            let mut out = Outgoing::default();
            out.send_kept(self.control, 0, GATHER_TAG, bytes)?;
            self.sent(&mut out)?;
            return Ok(None);
        }
        let others =
            self.others().map(|rank| self.wait_for(rank, GATHER_TAG)).collect::<Result<Vec<_>, _>>()?;
        Ok(Some(std::iter::once(bytes).chain(others).collect()))
    }

    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let own = self.rank;
        (0..self.size).filter(move |&rank| rank != own)
    }

    fn sent(&self, out: &mut Outgoing) -> Result<(), Failure> {
        let mut backoff = Backoff::default();
        while !out.is_complete()? {
            backoff.pause();
        }
        Ok(())
    }

    fn wait_for(&self, rank: usize, tag: i32) -> Result<Vec<u8>, Failure> {
        let mut backoff = Backoff::default();
        loop {
            if let Some(message) = self.take(rank, tag)? {
                return Ok(message);
            }
            backoff.pause();
        }
    }

    /// Returns a message of a rank if one has arrived.
    pub(crate) fn take(&self, rank: usize, tag: i32) -> Result<Option<Vec<u8>>, Failure> {
        let Some(message) = self.control.take_arrived((Some(rank), Some(tag)))? else { return Ok(None) };
        let mut message = Discarded::new(message)?;
        let mut backoff = Backoff::default();
        while !message.is_complete()? {
            backoff.pause();
        }
        Ok(Some(message.into_bytes()))
    }

    pub(crate) fn control(&self) -> Comm {
        self.control
    }

    /// Returns whether a run has ended in a state that MPI cannot continue from.
    pub(crate) fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::SeqCst)
    }

    pub(crate) fn set_broken(&self) {
        self.is_broken.store(true, Ordering::SeqCst);
    }

    /// Records the device that failed in the last run, and whether it is on this rank.
    pub(crate) fn set_failed(&self, failed: Option<(usize, bool)>) {
        *locked(&self.failed) = failed;
    }

    pub(crate) fn set_lost(&self, device: usize, failure: &Failure) {
        let others = "other ranks have not ended since, and the job has to be ended";
        locked(&self.lost).get_or_insert_with(|| format!("device {device}: {failure}; {others}"));
    }

    /// Records the devices that a device waits for.
    pub(crate) fn show(&self, device: usize, name: &str, missing: &[usize], devices: usize) {
        let missing = missing.iter().map(|&d| (d, rank_of(d, devices, self.size))).collect();
        locked(&self.waiting).insert(device, (name.to_string(), missing));
    }

    /// Records that a device no longer waits.
    pub(crate) fn hide(&self, device: usize) {
        locked(&self.waiting).remove(&device);
    }

    /// Returns the communicators of a run. All ranks create missing ones in the same order.
    pub(crate) fn communicators(&self, table: &Table) -> Result<(Vec<Comm>, BTreeMap<usize, Comm>), Failure> {
        let devices = table.devices();
        let most = (0..self.size).map(|rank| self.devices_of(rank, devices).len()).max().unwrap_or(0);
        let mut lanes = locked(&self.lanes);
        while lanes.len() < most {
            lanes.push(self.control.duplicate()?);
        }
        let mut known = locked(&self.groups);
        let mut groups = BTreeMap::new();
        for number in table.reduced_groups() {
            let group = &table.groups()[number];
            let members = group.iter().filter(|&&d| d < devices);
            let ranks: Vec<usize> = members.map(|&d| rank_of(d, devices, self.size)).collect();
            let mut different = ranks.clone();
            different.sort_unstable();
            different.dedup();
            if different.len() != ranks.len() || ranks.len() < 2 {
                continue;
            }
            let key = (devices, group.clone());
            let comm = match known.get(&key) {
                Some(comm) => *comm,
                None => {
                    let place = ranks.iter().position(|&rank| rank == self.rank);
                    let comm = self.control.split(place.is_some(), place.unwrap_or(0))?;
                    known.insert(key, comm);
                    comm
                }
            };
            groups.extend(comm.map(|comm| (number, comm)));
        }
        Ok((lanes.clone(), groups))
    }
}

impl Drop for MpiWorld {
    fn drop(&mut self) {
        if self.is_broken() || std::thread::panicking() {
            self.abort(1);
        }
        drop(self.universe.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_device_is_on_one_rank() {
        for (ranks, devices) in [(1, 4), (2, 4), (3, 4), (4, 4), (4, 2), (3, 8), (5, 7)] {
            let mut all = Vec::new();
            for rank in 0..ranks {
                for device in devices_of(rank, ranks, devices) {
                    assert_eq!(rank_of(device, devices, ranks), rank, "{device} of {devices} on {ranks}");
                    all.push(device);
                }
            }
            assert!(all.into_iter().eq(0..devices));
        }
    }
}
