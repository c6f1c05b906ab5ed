//! What devices wait for.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often devices have waited for each other in a run or several, how long, and when.
#[derive(Debug)]
pub struct Waits {
    start: Instant,
    /// The most times that are kept one by one.
    most: usize,
    noted: Mutex<Noted>,
}

#[derive(Debug, Default)]
struct Noted {
    sums: BTreeMap<(usize, String), (u64, Duration)>,
    events: Vec<WaitEvent>,
    left_out: u64,
}

/// What a device has waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The device.
    pub device: usize,
    /// The collective: its opcode and its instruction.
    pub name: String,
    /// How often it ran.
    pub count: u64,
    /// How long the device has waited there, in all, until the others came.
    pub time: Duration,
}

/// A time at which a device has waited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitEvent {
    /// The device.
    pub device: usize,
    /// The collective: its opcode and its instruction.
    pub name: String,
    /// When that began, from [`Waits::start`] on.
    pub start: Duration,
    /// How long it took.
    pub time: Duration,
}

impl Default for Waits {
    /// Keeps sums only.
    fn default() -> Self {
        Self::with_events(0)
    }
}

impl Waits {
    /// Keeps so many of the times one by one, besides the sums.
    pub fn with_events(most: usize) -> Self {
        Self { start: Instant::now(), most, noted: Mutex::default() }
    }

    /// From when on events are counted.
    pub fn start(&self) -> Instant {
        self.start
    }

    /// Notes a wait that is over.
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

    /// What was noted, by devices and names.
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

    /// The times that were kept, and how many were not.
    pub fn events(&self) -> (Vec<WaitEvent>, u64) {
        let noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        (noted.events.clone(), noted.left_out)
    }
}
