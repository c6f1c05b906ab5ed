//! Statistics of how long the devices of a program wait for each other in collectives.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A record of how often, how long and when devices waited for each other, in one or several runs.
#[derive(Debug)]
pub struct Waits {
    start: Instant,
    /// Maximum number of individual waits to keep.
    most: usize,
    noted: Mutex<WaitRecord>,
}

#[derive(Debug, Default)]
struct WaitRecord {
    sums: BTreeMap<(usize, String), (u64, Duration)>,
    events: Vec<WaitEvent>,
    left_out: u64,
}

/// The total time that a device waited in a collective, over all of its executions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The device.
    pub device: usize,
    /// The opcode and the name of the collective.
    pub name: String,
    /// Number of times that the device executed the collective.
    pub count: u64,
    /// Total time that the device waited in the collective for other devices.
    pub time: Duration,
}

/// A single wait of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitEvent {
    /// The device.
    pub device: usize,
    /// The opcode and the name of the collective.
    pub name: String,
    /// The beginning of the wait, relative to [`Waits::start`].
    pub start: Duration,
    /// The duration of the wait.
    pub time: Duration,
}

impl Default for Waits {
    /// Creates an empty record that keeps only the total times.
    fn default() -> Self {
        Self::with_events(0)
    }
}

impl Waits {
    /// Creates an empty record that keeps the total times and up to `most` individual waits.
    pub fn with_events(most: usize) -> Self {
        Self { start: Instant::now(), most, noted: Mutex::default() }
    }

    /// Returns the time at which the record was created. [`WaitEvent::start`] is relative to it.
    pub fn start(&self) -> Instant {
        self.start
    }

    /// Records a wait that has ended.
    pub(crate) fn note(&self, device: usize, name: &str, time: Duration) {
        let now = self.start.elapsed();
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        let (count, sum) = noted.sums.entry((device, name.to_string())).or_default();
        *count += 1;
        *sum += time;
        if noted.events.len() < self.most {
            let start = now.saturating_sub(time);
            noted.events.push(WaitEvent { device, name: name.to_string(), start, time });
        } else {
            noted.left_out += 1;
        }
    }

    /// Returns the total waits, sorted by device and name.
    pub fn all(&self) -> Vec<Wait> {
        let noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        let wait = |((device, name), &(count, time)): (&(usize, String), &(u64, Duration))| Wait {
            device: *device,
            name: name.clone(),
            count,
            time,
        };
        noted.sums.iter().map(wait).collect()
    }

    /// Returns the individual waits that were kept, and the number of waits that were not kept.
    pub fn events(&self) -> (Vec<WaitEvent>, u64) {
        let noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        (noted.events.clone(), noted.left_out)
    }
}
