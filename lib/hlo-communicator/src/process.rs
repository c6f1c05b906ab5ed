//! Devices that are threads of one process.

use crate::collective::{self, CHUNK_BYTES, MAX_FULL_REDUCE_BYTES};
use crate::mail::Mail;
use crate::rendezvous::{Offers, Rendezvous, WaitFailure, WaitPolicy};
use crate::world::{catch_panic, listed, on_threads};
use crate::{Combine, Communicator, Failure, Parts, Reduced, Table};
use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Number of times that a device polls for the others before it sleeps, if each device has its own core.
const SPIN_COUNT: u32 = 20_000;
/// The same number if there are more devices than cores.
const OVERSUBSCRIBED_SPIN_COUNT: u32 = 100;
/// Default time that a device waits for the others.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// Observes the devices of a run and can stop them.
pub trait Observer: Sync {
    /// Returns the current position of a device in the program, for messages, or `None` if it is unknown.
    fn position(&self, _device: usize) -> Option<String> {
        None
    }

    /// Returns whether a device must stop waiting.
    fn is_stopped(&self, _device: usize) -> bool {
        false
    }

    /// Called with the time that a device has waited for others in a collective. `_name` is the collective's
    /// name in messages.
    fn waited(&self, _device: usize, _name: &str, _time: Duration) {}

    /// Called once if a device fails. The other devices cannot continue.
    fn failed(&self) {}
}

/// An observer that does nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {}

/// Options for waiting, and for the threads of devices.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// Maximum time that a device waits for the others in a collective. A longer wait is an error.
    pub timeout: Duration,
    /// The observer of the devices.
    pub observer: &'a dyn Observer,
    /// The stack of each device's thread, in bytes.
    pub stack: usize,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self { timeout: DEFAULT_TIMEOUT, observer: &NoObserver, stack: 16 << 20 }
    }
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

/// The state of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum State {
    Running = 0,
    Finished = 1,
}

/// The data that a device offers at a rendezvous.
struct Offer {
    site: usize,
    what: Offered,
}

#[derive(Clone, Copy)]
enum Offered {
    /// The number of parts for each member, and the parts.
    Parts(usize, *const dyn Parts<'static>),
    /// Arrays to combine, and the locations of the results.
    Arrays(*const [Shared]),
}

/// The memory of a [`Reduced`].
#[derive(Clone, Copy)]
struct Shared {
    operand: *const u8,
    result: *mut u8,
    bytes: usize,
    element_bytes: usize,
}

// SAFETY: the pointers refer to data that is `Sync` or that is written in disjoint shares. The data lives as
// long as the offer may be read.
unsafe impl Send for Offer {}
// SAFETY: as above.
unsafe impl Sync for Offer {}

/// One run of a program on devices that are threads of this process.
pub struct Process<'a> {
    table: Arc<Table>,
    /// One rendezvous for each distinct group.
    meetings: Vec<Rendezvous<Offer>>,
    states: Vec<AtomicU8>,
    failed: AtomicBool,
    /// The first failure, and its device.
    failure: Mutex<Option<(usize, Failure)>>,
    mail: Mail,
    /// The rendezvous that each sleeping device waits for. No such device arrives at a rendezvous while this
    /// is locked.
    waiting: Mutex<Vec<Option<Waiting>>>,
    options: Options<'a>,
    spins: u32,
}

/// The rendezvous that a device waits for.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    site: usize,
    /// The number of the group.
    group: usize,
    round: u64,
}

impl fmt::Debug for Process<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Process").field("devices", &self.table.devices()).finish_non_exhaustive()
    }
}

/// A device of a [`Process`].
#[derive(Debug)]
pub struct Member<'p> {
    process: &'p Process<'p>,
    device: usize,
}

impl<'a> Process<'a> {
    /// Creates the communication of one run of a program.
    pub fn new(table: Arc<Table>, options: Options<'a>) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        let spins = if table.devices() <= cores { SPIN_COUNT } else { OVERSUBSCRIBED_SPIN_COUNT };
        Self {
            meetings: table.groups().iter().map(|g| Rendezvous::new(g.len())).collect(),
            states: (0..table.devices()).map(|_| AtomicU8::new(State::Running as u8)).collect(),
            failed: AtomicBool::new(false),
            failure: Mutex::new(None),
            mail: Mail::default(),
            waiting: Mutex::new(vec![None; table.devices()]),
            table,
            options,
            spins,
        }
    }

    /// Runs `body` on all devices, each with its own element of `states`, on a thread of its own. A single
    /// device runs on the calling thread. Returns the results in the order of the devices.
    ///
    /// # Errors
    /// The first failure of a device, with its number. A device fails if its body returns an error or panics,
    /// if its thread cannot be started, or if it sent a value that was not received. Also fails if the number
    /// of states differs from the number of devices.
    pub fn run<S: Send, R: Send>(
        &self,
        states: Vec<S>,
        body: impl Fn(&Member<'_>, S) -> Result<R, Failure> + Sync,
    ) -> Result<Vec<R>, (usize, Failure)> {
        let devices = self.table.devices();
        if states.len() != devices {
            let given = states.len();
            let message = format!("{given} devices were given something to run, there are {devices}");
            return Err((0, message.into()));
        }
        let run = |device: usize, state: S| {
            let member = Member { process: self, device };
            let outcome = catch_panic(|| body(&member, state));
            match &outcome {
                Ok(_) => self.finish(device),
                Err(failure) => self.fail(device, failure.clone()),
            }
            outcome.ok()
        };
        let results: Vec<Option<R>> = match devices {
            1 => states.into_iter().map(|state| run(0, state)).collect(),
            _ => {
                let slots: Vec<_> = states.into_iter().map(|s| Mutex::new((Some(s), None))).collect();
                let body = |device: usize| {
                    let mut slot = slots[device].lock().unwrap_or_else(PoisonError::into_inner);
                    slot.1 = slot.0.take().and_then(|state| run(device, state));
                };
                let no_thread = |device, failure| self.fail(device, failure);
                on_threads(0..devices, self.options.stack, &body, &no_thread, || {});
                slots.into_iter().map(|s| s.into_inner().unwrap_or_else(PoisonError::into_inner).1).collect()
            }
        };
        if let Some(failure) = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(failure);
        }
        if let Some(((channel, from, to), count)) = self.mail.left() {
            let channel = channel.map_or("without a number".into(), |c| c.to_string());
            let message = format!(
                "device {to} did not receive what was sent to it on channel {channel} ({count} left)"
            );
            return Err((from, message.into()));
        }
        let results: Option<Vec<R>> = results.into_iter().collect();
        results.ok_or_else(|| (0, Failure::Local("internal error: a device has no result".into())))
    }

    /// Marks a device as finished.
    fn finish(&self, device: usize) {
        self.states[device].store(State::Finished as u8, Ordering::SeqCst);
        self.notify();
    }

    /// Ends the run. All devices that wait now or later receive an error. Only the first reason is kept.
    fn fail(&self, device: usize, failure: Failure) {
        if failure != Failure::Remote {
            let mut first = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert((device, failure));
        }
        if !self.failed.swap(true, Ordering::SeqCst) {
            self.notify();
            self.options.observer.failed();
        }
    }

    fn notify(&self) {
        self.meetings.iter().for_each(Rendezvous::notify);
        self.mail.notify();
    }

    fn has_failed(&self) -> bool {
        self.failed.load(Ordering::SeqCst)
    }

    fn is_finished(&self, device: usize) -> bool {
        self.states[device].load(Ordering::SeqCst) == State::Finished as u8
    }

    /// Returns a device's number and, if known, its position in the program.
    fn named(&self, device: usize) -> String {
        match self.options.observer.position(device) {
            Some(place) => format!("{device} (at `{place}`)"),
            None => device.to_string(),
        }
    }

    /// Records the rendezvous that a device waits for. Returns a failure if the device is in a deadlock, a
    /// set of devices each of which waits for another.
    fn find_deadlock(&self, device: usize, waits: Waiting) -> Option<Failure> {
        let mut all = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        all[device] = Some(waits);
        let mut stuck: Vec<bool> = all.iter().map(Option::is_some).collect();
        let missing = |waits: &Waiting, stuck: &[bool]| {
            let group = &self.table.groups()[waits.group];
            self.meetings[waits.group].missing(waits.round).map(|p| group[p]).find(|&d| stuck[d])
        };
        loop {
            let is_free = |&d: &usize| stuck[d] && all[d].is_none_or(|w| missing(&w, &stuck).is_none());
            match (0..stuck.len()).find(is_free) {
                Some(free) => stuck[free] = false,
                None => break,
            }
        }
        if !stuck[device] {
            return None;
        }
        let (mut words, mut at, mut seen) = (Vec::new(), device, vec![false; stuck.len()]);
        while let Some(waits) = all[at].filter(|_| !std::mem::replace(&mut seen[at], true)) {
            let next = missing(&waits, &stuck)?;
            words.push(format!("device {at} at {} for device {next}", self.table.name(waits.site)));
            at = next;
        }
        Some(format!("the devices diverge, and wait for each other: {}", listed(words)).into())
    }

    /// Returns the reason to stop waiting for devices, if there is one.
    fn stop_reason(&self, waiting: usize, name: &str, since: Instant, missing: &[usize]) -> Option<Failure> {
        if self.options.observer.is_stopped(waiting) {
            return Some(Failure::Stopped);
        }
        let who = format!("device {waiting} at {name}");
        let finished: Vec<usize> = missing.iter().copied().filter(|&d| self.is_finished(d)).collect();
        if !finished.is_empty() {
            let devices = listed(finished.iter().map(usize::to_string));
            let message =
                format!("the devices diverge: {who} waits for device {devices}, at its end already");
            return Some(message.into());
        }
        let waited = since.elapsed();
        (waited > self.options.timeout).then(|| {
            let devices = listed(missing.iter().map(|&d| self.named(d)));
            let seconds = self.options.timeout.as_secs_f64();
            format!("{who} has waited {seconds} s for device {devices}").into()
        })
    }
}

impl Member<'_> {
    /// Runs the rendezvous of a collective's group.
    fn rendezvous(
        &self,
        site: usize,
        what: Offered,
        look: impl FnOnce(&Offers<'_, Offer>, &[usize], usize) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let process = self.process;
        let table = &*process.table;
        let (Some((group, place)), Some(number)) =
            (table.place(site, self.device), table.group_number(site, self.device))
        else {
            let name = table.name(site);
            return Err(Failure::Local(format!("internal error: device {} is not in {name}", self.device)));
        };
        let since = Instant::now();
        let is_noted = Cell::new(false);
        let gives_up = |places: &[usize], round: Option<u64>| {
            let missing: Vec<usize> = places.iter().map(|&p| group[p]).collect();
            let reason = process.stop_reason(self.device, table.name(site), since, &missing);
            reason.or_else(|| {
                is_noted.set(round.is_some());
                process.find_deadlock(self.device, Waiting { site, group: number, round: round? })
            })
        };
        let waited = |time| {
            if is_noted.replace(false) {
                process.waiting.lock().unwrap_or_else(PoisonError::into_inner)[self.device] = None;
            }
            process.options.observer.waited(self.device, table.name(site), time);
        };
        let patience = WaitPolicy {
            spins: process.spins,
            failed: &|| process.has_failed(),
            waited: &waited,
            gives_up: &gives_up,
        };
        let failed = || process.fail(self.device, Failure::Remote);
        let outcome = process.meetings[number].rendezvous(
            place,
            Offer { site, what },
            &patience,
            |offers| {
                self.check_sites(site, offers, group)?;
                look(offers, group, place)
            },
            failed,
        );
        outcome.map_err(|ended| match ended {
            WaitFailure::Failed => Failure::Remote,
            WaitFailure::GaveUp(failure) => {
                // The failure is reported before this device returns, so that no device that merely observes
                // it can report it as its own.
                process.fail(self.device, failure.clone());
                failure
            }
        })
    }

    /// Checks that all members are at the same collective.
    fn check_sites(&self, site: usize, offers: &Offers<'_, Offer>, group: &[usize]) -> Result<(), Failure> {
        let table = &*self.process.table;
        for (place, &device) in group.iter().enumerate() {
            let Some(offer) = offers.of(place) else {
                return Err(Failure::Local("internal error: no offer".into()));
            };
            if offer.site != site {
                return Err(format!(
                    "the devices diverge: device {} is at {}, device {device} at {}",
                    self.device,
                    table.name(site),
                    table.name(offer.site)
                )
                .into());
            }
        }
        Ok(())
    }
}

/// The parts that the members of a group handed to the member at `place`.
struct Received<'a> {
    offers: &'a Offers<'a, Offer>,
    place: usize,
}

impl<'a> Parts<'a> for Received<'a> {
    fn part(&self, member: usize, part: usize) -> &'a [u8] {
        match self.offers.of(member).map(|o| o.what) {
            // SAFETY: the member waits until all members have read its offer.
            Some(Offered::Parts(count, parts)) if part < count => unsafe { &*parts }.part(self.place, part),
            _ => &[],
        }
    }
}

impl Communicator for Member<'_> {
    fn table(&self) -> &Table {
        &self.process.table
    }

    fn device(&self) -> usize {
        self.device
    }

    fn exchange(
        &self,
        site: usize,
        parts: usize,
        outgoing: &dyn Parts<'_>,
        incoming: &mut dyn FnMut(&dyn Parts<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        // SAFETY: only the lifetime changes. `meet` does not return while another member reads the parts.
        let outgoing: *const dyn Parts<'static> =
            unsafe { std::mem::transmute::<*const dyn Parts<'_>, *const dyn Parts<'static>>(outgoing) };
        self.rendezvous(site, Offered::Parts(parts, outgoing), |offers, _, place| {
            incoming(&Received { offers, place })
        })
    }

    fn all_reduce(
        &self,
        site: usize,
        arrays: &mut [Reduced<'_>],
        combine: &mut Combine<'_>,
    ) -> Result<(), Failure> {
        let shared = |r: &mut Reduced<'_>| Shared {
            operand: r.operand.as_ptr(),
            result: r.result.as_mut_ptr(),
            bytes: r.operand.len().min(r.result.len()),
            element_bytes: r.element_bytes.max(1),
        };
        let own: Vec<Shared> = arrays.iter_mut().map(shared).collect();
        self.rendezvous(site, Offered::Arrays(&raw const *own), |offers, group, place| {
            let mut members = Vec::with_capacity(group.len());
            for (member, device) in group.iter().enumerate() {
                let Some(Offered::Arrays(arrays)) = offers.of(member).map(|o| o.what) else {
                    return Err(format!("internal error: device {device} offers no arrays").into());
                };
                // SAFETY: the member waits until all members have read its offer.
                let arrays = unsafe { &*arrays };
                let alike =
                    |(a, b): (&Shared, &Shared)| (a.bytes, a.element_bytes) == (b.bytes, b.element_bytes);
                if arrays.len() != own.len() || !arrays.iter().zip(&own).all(alike) {
                    let name = self.process.table.name(site);
                    return Err(format!("{name}: device {device} has arrays of other sizes").into());
                }
                members.push(arrays);
            }
            for array in 0..own.len() {
                reduce_share(array, &members, place, combine)?;
            }
            Ok(())
        })
    }

    fn send(&self, channel: Option<i64>, to: usize, arrays: Vec<Vec<u8>>) -> Result<(), Failure> {
        if self.process.has_failed() {
            return Err(Failure::Remote);
        }
        let since = Instant::now();
        self.process.mail.send((channel, self.device, to), arrays, || {
            if self.process.has_failed() {
                Some(Failure::Remote)
            } else {
                let channel = channel.map_or(String::new(), |c| format!(" {c}"));
                let name = format!(
                    "a send on channel{channel} to device {to}, which has received too little so far,"
                );
                self.process.stop_reason(self.device, &name, since, &[to])
            }
        })
    }

    fn receive(&self, channel: Option<i64>, from: usize, name: &str) -> Result<Vec<Vec<u8>>, Failure> {
        let since = Instant::now();
        self.process.mail.receive((channel, from, self.device), || {
            if self.process.has_failed() {
                Some(Failure::Remote)
            } else {
                self.process.stop_reason(self.device, name, since, &[from])
            }
        })
    }
}

/// Combines this member's share of an array and copies the result to all members. For a small array, combines
/// the whole array and keeps the result.
fn reduce_share(
    array: usize,
    members: &[&[Shared]],
    place: usize,
    combine: &mut Combine<'_>,
) -> Result<(), Failure> {
    let own = members[place][array];
    let is_small = own.bytes <= MAX_FULL_REDUCE_BYTES;
    let share = if is_small {
        0..own.bytes
    } else {
        collective::share_of(own.bytes, own.element_bytes, members.len(), place)
    };
    let mut at = share.start;
    let mut operands: Vec<&[u8]> = Vec::with_capacity(members.len());
    while at < share.end {
        let bytes = CHUNK_BYTES.min(share.end - at);
        operands.clear();
        for member in members {
            // SAFETY: the member's operand has this number of bytes, and nobody writes it during the
            // rendezvous.
            operands.push(unsafe { std::slice::from_raw_parts(member[array].operand.add(at), bytes) });
        }
        // SAFETY: no other member writes this share of any result, and the result is not an operand.
        let result = unsafe { std::slice::from_raw_parts_mut(own.result.add(at), bytes) };
        combine(array, &operands, result)?;
        if !is_small {
            for (_, other) in members.iter().enumerate().filter(|&(p, _)| p != place) {
                // SAFETY: as above.
                unsafe { std::ptr::copy_nonoverlapping(result.as_ptr(), other[array].result.add(at), bytes) };
            }
        }
        at += bytes;
    }
    Ok(())
}
