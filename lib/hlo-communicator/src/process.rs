//! Devices that are threads of one process.

use crate::mail::Mail;
use crate::meeting::{Ended, Meeting, Offers, Patience};
use crate::{Combine, Communicator, Failure, Parts, Reduced, Table};
use std::fmt;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often a device looks for the others before it sleeps, while each has a core of its own.
const SPINS: u32 = 20_000;
/// As many, if there are more devices than cores.
const FEW_SPINS: u32 = 100;
/// Up to so many bytes each device combines everything for itself: to write what others read would take longer.
const SMALL: usize = 4096;
/// So many bytes are combined, and copied to the other devices, at a time: they are in the cache still.
const CHUNK: usize = 1 << 15;
/// Shares begin at multiples of a cache line, so that no two devices write the same.
const LINE: usize = 64;
/// How long a device waits for the others unless told otherwise.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Says where in the program a device is.
pub type Position = dyn Fn(usize) -> Option<String> + Send + Sync;

/// What devices wait for, and how long.
pub struct Options {
    /// How long a device waits for the others in a collective before that is an error.
    pub timeout: Duration,
    /// Where in the program a device is, for messages; `None` if that is not known.
    pub position: Box<Position>,
    /// The stack of each device's thread, in bytes.
    pub stack: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { timeout: TIMEOUT, position: Box::new(|_| None), stack: 16 << 20 }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

/// What a device is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum State {
    Running = 0,
    Finished = 1,
}

/// What a device offers at a meeting.
struct Offer {
    site: usize,
    what: Offered,
}

#[derive(Clone, Copy)]
enum Offered {
    /// So many parts for each member.
    Parts(usize, *const dyn Parts<'static>),
    /// Arrays to combine, and where the results go.
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

// SAFETY: what is pointed to is `Sync`, or written in disjoint shares; it lives while the offer may be looked at.
unsafe impl Send for Offer {}
// SAFETY: as above.
unsafe impl Sync for Offer {}

/// One run of a program on devices that are threads of this process.
pub struct Process {
    table: Arc<Table>,
    /// One for each different group.
    meetings: Vec<Meeting<Offer>>,
    states: Vec<AtomicU8>,
    failed: AtomicBool,
    /// The first failure, and whose it is.
    failure: Mutex<Option<(usize, String)>>,
    mail: Mail,
    options: Options,
    spins: u32,
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Process").field("devices", &self.table.devices()).finish_non_exhaustive()
    }
}

/// A device of a [`Process`].
#[derive(Debug)]
pub struct Member<'p> {
    process: &'p Process,
    device: usize,
}

/// Numbers in words: `0, 1 and 2`, at most eight of them.
fn listed(devices: impl IntoIterator<Item = String>) -> String {
    let all: Vec<String> = devices.into_iter().collect();
    match &all[..] {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] if first.len() < 8 => format!("{} and {last}", first.join(", ")),
        all => format!("{} and {} more", all[..8].join(", "), all.len() - 8),
    }
}

impl Process {
    /// The communication of one run of a program.
    pub fn new(table: Arc<Table>, options: Options) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        let spins = if table.devices() <= cores { SPINS } else { FEW_SPINS };
        Self {
            meetings: table.groups().iter().map(|g| Meeting::new(g.len())).collect(),
            states: (0..table.devices()).map(|_| AtomicU8::new(State::Running as u8)).collect(),
            failed: AtomicBool::new(false),
            failure: Mutex::new(None),
            mail: Mail::default(),
            table,
            options,
            spins,
        }
    }

    /// Runs something on all devices, each with its own of `states`, on a thread of its own (of a single device on the
    /// caller's), and gives the results in the order of the devices.
    ///
    /// # Errors
    /// The first failure of a device, with its number: what it returned, a panic, a thread that can't be had, or a value that
    /// it sent and nobody received. There are not as many states as devices.
    pub fn run<S: Send, R: Send>(
        &self,
        states: Vec<S>,
        body: impl Fn(&Member<'_>, S) -> Result<R, Failure> + Sync,
    ) -> Result<Vec<R>, (usize, String)> {
        let devices = self.table.devices();
        if states.len() != devices {
            return Err((
                0,
                format!("{} devices were given something to run, there are {devices}", states.len()),
            ));
        }
        let body = |device: usize, state: S| {
            let member = Member { process: self, device };
            let outcome = catch_unwind(AssertUnwindSafe(|| body(&member, state)));
            let outcome = outcome.unwrap_or_else(|_| Err(Failure::Here("internal error: a panic".into())));
            match &outcome {
                Ok(_) => self.finish(device),
                Err(Failure::Here(message)) => self.fail(device, message.clone()),
                Err(Failure::Elsewhere) => self.fail(device, String::new()),
            }
            outcome.ok()
        };
        let results: Vec<Option<R>> = match devices {
            1 => states.into_iter().map(|state| body(0, state)).collect(),
            _ => std::thread::scope(|scope| {
                let start = |(device, state): (usize, S)| {
                    let builder = std::thread::Builder::new();
                    let builder = builder.name(format!("hlo device {device}")).stack_size(self.options.stack);
                    let body = &body;
                    let thread = builder.spawn_scoped(scope, move || body(device, state));
                    thread.map_err(|e| self.fail(device, format!("there is no thread for the device: {e}")))
                };
                let threads: Vec<_> = states.into_iter().enumerate().map(start).collect();
                threads.into_iter().map(|t| t.ok().and_then(|t| t.join().ok()).flatten()).collect()
            }),
        };
        if let Some(failure) = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(failure);
        }
        if let Some(((channel, from, to), count)) = self.mail.left() {
            let channel = channel.map_or("without a number".into(), |c| c.to_string());
            let message = format!(
                "device {to} did not receive what was sent to it on channel {channel} ({count} left)"
            );
            return Err((from, message));
        }
        let results: Option<Vec<R>> = results.into_iter().collect();
        results.ok_or_else(|| (0, "internal error: a device has no result".into()))
    }

    /// A device has come to its end.
    fn finish(&self, device: usize) {
        self.states[device].store(State::Finished as u8, Ordering::SeqCst);
        self.tell();
    }

    /// Ends the run: all devices that wait, or will, hear of it. The first reason counts.
    fn fail(&self, device: usize, message: String) {
        if !message.is_empty() {
            let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
            failure.get_or_insert((device, message));
        }
        if !self.failed.swap(true, Ordering::SeqCst) {
            self.tell();
        }
    }

    fn tell(&self) {
        self.meetings.iter().for_each(Meeting::tell);
        self.mail.tell();
    }

    fn has_failed(&self) -> bool {
        self.failed.load(Ordering::SeqCst)
    }

    fn is_finished(&self, device: usize) -> bool {
        self.states[device].load(Ordering::SeqCst) == State::Finished as u8
    }

    /// A device, and where it is.
    fn named(&self, device: usize) -> String {
        match (self.options.position)(device) {
            Some(place) => format!("{device} (at `{place}`)"),
            None => device.to_string(),
        }
    }

    /// Why not to wait any longer for devices.
    fn gives_up(&self, who: &str, since: Instant, missing: &[usize]) -> Option<String> {
        let finished: Vec<usize> = missing.iter().copied().filter(|&d| self.is_finished(d)).collect();
        if !finished.is_empty() {
            let devices = listed(finished.iter().map(usize::to_string));
            return Some(format!(
                "the devices diverge: {who} waits for device {devices}, at its end already"
            ));
        }
        let waited = since.elapsed();
        (waited > self.options.timeout).then(|| {
            let devices = listed(missing.iter().map(|&d| self.named(d)));
            let seconds = self.options.timeout.as_secs_f64();
            format!("{who} has waited {seconds} s for device {devices}")
        })
    }
}

impl Member<'_> {
    /// Meets the group of a collective.
    fn meet(
        &self,
        site: usize,
        what: Offered,
        look: impl FnOnce(&Offers<'_, Offer>, &[usize], usize) -> Result<(), String>,
    ) -> Result<(), Failure> {
        let process = self.process;
        let table = &*process.table;
        let (Some((group, place)), Some(number)) =
            (table.place(site, self.device), table.group_number(site, self.device))
        else {
            let name = table.name(site);
            return Err(Failure::Here(format!("internal error: device {} is not in {name}", self.device)));
        };
        let since = Instant::now();
        let who = || format!("device {} at {}", self.device, table.name(site));
        let gives_up = |places: &[usize]| {
            let missing: Vec<usize> = places.iter().map(|&p| group[p]).collect();
            process.gives_up(&who(), since, &missing)
        };
        let patience =
            Patience { spins: process.spins, failed: &|| process.has_failed(), gives_up: &gives_up };
        let failed = || process.fail(self.device, String::new());
        let outcome = process.meetings[number].meet(
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
            Ended::Failed => Failure::Elsewhere,
            Ended::GaveUp(message) => {
                // Told at once: those who hear of the failure first must not be the ones who say why.
                process.fail(self.device, message.clone());
                Failure::Here(message)
            }
        })
    }

    /// Checks that all members are at the same collective.
    fn check_sites(&self, site: usize, offers: &Offers<'_, Offer>, group: &[usize]) -> Result<(), String> {
        let table = &*self.process.table;
        for (place, &device) in group.iter().enumerate() {
            let Some(offer) = offers.of(place) else { return Err("internal error: no offer".into()) };
            if offer.site != site {
                return Err(format!(
                    "the devices diverge: device {} is at {}, device {device} at {}",
                    self.device,
                    table.name(site),
                    table.name(offer.site)
                ));
            }
        }
        Ok(())
    }
}

/// What the members of a group have handed to the one at `place`.
struct Received<'a> {
    offers: &'a Offers<'a, Offer>,
    place: usize,
}

impl<'a> Parts<'a> for Received<'a> {
    fn part(&self, member: usize, part: usize) -> &'a [u8] {
        match self.offers.of(member).map(|o| o.what) {
            // SAFETY: the member waits until all have looked.
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
        incoming: &mut dyn FnMut(&dyn Parts<'_>) -> Result<(), String>,
    ) -> Result<(), Failure> {
        // SAFETY: only the lifetime changes; `meet` does not return while somebody looks at it.
        let outgoing: *const dyn Parts<'static> =
            unsafe { std::mem::transmute::<*const dyn Parts<'_>, *const dyn Parts<'static>>(outgoing) };
        self.meet(site, Offered::Parts(parts, outgoing), |offers, _, place| {
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
        self.meet(site, Offered::Arrays(&raw const *own), |offers, group, place| {
            let mut members = Vec::with_capacity(group.len());
            for (member, device) in group.iter().enumerate() {
                let Some(Offered::Arrays(arrays)) = offers.of(member).map(|o| o.what) else {
                    return Err(format!("internal error: device {device} offers no arrays"));
                };
                // SAFETY: the member waits until all have looked.
                let arrays = unsafe { &*arrays };
                let alike =
                    |(a, b): (&Shared, &Shared)| (a.bytes, a.element_bytes) == (b.bytes, b.element_bytes);
                if arrays.len() != own.len() || !arrays.iter().zip(&own).all(alike) {
                    let name = self.process.table.name(site);
                    return Err(format!("{name}: device {device} has arrays of other sizes"));
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
            return Err(Failure::Elsewhere);
        }
        self.process.mail.send((channel, self.device, to), arrays);
        Ok(())
    }

    fn receive(&self, channel: Option<i64>, from: usize, name: &str) -> Result<Vec<Vec<u8>>, Failure> {
        let since = Instant::now();
        let who = format!("device {} at {name}", self.device);
        self.process.mail.receive((channel, from, self.device), || match self.process.has_failed() {
            true => Some(Failure::Elsewhere),
            false => self.process.gives_up(&who, since, &[from]).map(Failure::Here),
        })
    }
}

/// Combines this member's share of an array, and gives it to all; of a small array everything, for itself.
fn reduce_share(
    array: usize,
    members: &[&[Shared]],
    place: usize,
    combine: &mut Combine<'_>,
) -> Result<(), String> {
    let own = members[place][array];
    let is_small = own.bytes <= SMALL;
    let share = match is_small {
        true => 0..own.bytes,
        false => share_of(own.bytes, own.element_bytes, members.len(), place),
    };
    let mut at = share.start;
    let mut operands: Vec<&[u8]> = Vec::with_capacity(members.len());
    while at < share.end {
        let bytes = CHUNK.min(share.end - at);
        operands.clear();
        for member in members {
            // SAFETY: the member's operand has as many bytes and nobody writes it while the members meet.
            operands.push(unsafe { std::slice::from_raw_parts(member[array].operand.add(at), bytes) });
        }
        // SAFETY: nobody else writes this share of any result, and the result is no operand.
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

/// The bytes of an array that the member at a place combines for all: whole elements, and whole cache lines if these hold
/// whole elements.
pub(crate) fn share_of(bytes: usize, element_bytes: usize, members: usize, place: usize) -> Range<usize> {
    let unit = LINE.max(element_bytes);
    let share = bytes.div_ceil(unit).div_ceil(members.max(1)) * unit;
    let begin = share.saturating_mul(place).min(bytes);
    begin..share.saturating_mul(place + 1).min(bytes)
}
