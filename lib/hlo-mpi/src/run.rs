//! One run of a program: the data that the devices of this rank share, and the work of its main thread during
//! the run.
//!
//! The main thread receives control messages of other ranks. It completes sends that no device waits for. It
//! receives messages for devices that have ended, so that their senders do not wait in vain. At the end,
//! ranks tell each other how many messages they sent, and continue when all of them have been received. No
//! message of a run can then arrive in the next one.

use crate::control::{CONTROL_TAG, Control, DONE_TAG, DeviceFailure};
use crate::in_flight::{Backoff, Discarded, Outgoing};
use crate::raw::Comm;
use crate::wire::{Header, Kind};
use crate::world::{MpiWorld, rank_of};
use hlo_communicator::{Address, Failure, MAX_IN_FLIGHT_BYTES, Options, Table, listed, on_threads};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Maximum sleep of the main thread between polls while devices run.
const MAX_SLEEP: Duration = Duration::from_millis(1);

/// Time to wait for a device that is reported as ended, because messages that it sent before may arrive
/// later.
const LATE_MESSAGE_TIMEOUT: Duration = Duration::from_millis(50);

/// Time after a failure for other ranks to end before they are reported as lost.
pub(crate) const LOST_RANK_TIMEOUT: Duration = Duration::from_secs(10);

/// The number of values that were not received.
pub(crate) type Unreceived = BTreeMap<Address, usize>;

/// A run.
pub(crate) struct Run<'a> {
    pub(crate) world: &'a MpiWorld,
    pub(crate) table: Arc<Table>,
    pub(crate) options: Options<'a>,
    /// The devices of this rank.
    local: Range<usize>,
    /// A communicator for each device of a rank.
    lanes: Vec<Comm>,
    /// The communicators of groups, by their numbers.
    pub(crate) groups: BTreeMap<usize, Comm>,
    ended: Vec<AtomicBool>,
    failed: AtomicBool,
    /// The earliest failure known to this rank.
    failure: Mutex<Option<DeviceFailure>>,
    /// The number of messages sent to each rank's devices, and the number received by those of this rank.
    sent: Vec<AtomicU64>,
    received: AtomicU64,
    /// Messages that are being sent and that no device waits for.
    posted: Mutex<Vec<Outgoing>>,
    /// Number of bytes of the values in transit, by channel, sender and receiver.
    in_flight: Mutex<BTreeMap<Address, usize>>,
    pub(crate) unreceived: Mutex<Unreceived>,
    /// Number of devices of this rank that have not ended.
    running: AtomicUsize,
    lock: Mutex<()>,
    news: Condvar,
}

/// The state of the main thread.
struct Service {
    /// The number of messages that each rank has sent to this one in the run, once it is known.
    ended: Vec<Option<u64>>,
    discarded: Vec<(usize, Discarded)>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Run<'a> {
    pub(crate) fn new(
        world: &'a MpiWorld,
        table: Arc<Table>,
        options: Options<'a>,
        (lanes, groups): (Vec<Comm>, BTreeMap<usize, Comm>),
    ) -> Self {
        let devices = table.devices();
        let local = world.devices_of(world.rank(), devices);
        Self {
            world,
            options,
            lanes,
            groups,
            ended: (0..devices).map(|_| AtomicBool::new(false)).collect(),
            failed: AtomicBool::new(false),
            failure: Mutex::new(None),
            sent: (0..world.size()).map(|_| AtomicU64::new(0)).collect(),
            received: AtomicU64::new(0),
            posted: Mutex::default(),
            in_flight: Mutex::default(),
            unreceived: Mutex::default(),
            running: AtomicUsize::new(local.len()),
            lock: Mutex::default(),
            news: Condvar::new(),
            local,
            table,
        }
    }

    /// Calls `run_device` for each device of this rank, on its own thread, and waits for the devices of other
    /// ranks.
    pub(crate) fn run(
        &self,
        run_device: &(dyn Fn(usize) -> Result<(), Failure> + Sync),
    ) -> Result<(), (usize, Failure)> {
        let device = |device: usize| {
            match run_device(device) {
                Ok(()) => self.broadcast_control(&Control::Finished(device)),
                Err(failure) => self.fail(device, failure),
            }
            self.has_ended(device);
        };
        let no_thread = |device, failure| {
            self.fail(device, failure);
            self.has_ended(device);
        };
        let mut service = Service { ended: vec![None; self.world.size()], discarded: Vec::new() };
        on_threads(self.local.clone(), self.options.stack, &device, &no_thread, || {
            while self.running.load(Ordering::SeqCst) > 0 {
                self.serve_or_fail(&mut service);
                let guard = locked(&self.lock);
                if self.running.load(Ordering::SeqCst) > 0 {
                    drop(self.news.wait_timeout(guard, MAX_SLEEP).unwrap_or_else(PoisonError::into_inner));
                }
            }
        });
        if let Err(failure) = self.end(&mut service) {
            self.world.set_broken();
            self.note(DeviceFailure::now(self.local.start, failure));
        }
        match locked(&self.failure).take() {
            Some(told) => Err((told.device, told.failure)),
            None => Ok(()),
        }
    }

    fn has_ended(&self, device: usize) {
        self.ended[device].store(true, Ordering::SeqCst);
        let guard = locked(&self.lock);
        self.running.fetch_sub(1, Ordering::SeqCst);
        drop(guard);
        self.news.notify_all();
    }

    /// Sends a control message to all other ranks.
    fn broadcast_control(&self, control: &Control) {
        let mut outgoing = Outgoing::default();
        for rank in (0..self.world.size()).filter(|&r| r != self.world.rank()) {
            let told = outgoing.send_kept(self.world.control(), rank, CONTROL_TAG, control.encoded());
            if let Err(failure) = told {
                self.note(DeviceFailure::now(self.local.start, failure));
            }
        }
        locked(&self.posted).push(outgoing);
    }

    /// Records a failure of any rank. The earliest one is kept.
    fn note(&self, told: DeviceFailure) {
        let mut first = locked(&self.failure);
        if first.as_ref().is_none_or(|known| told.is_before(known)) {
            *first = Some(told);
        }
        drop(first);
        if !self.failed.swap(true, Ordering::SeqCst) {
            self.options.observer.failed();
        }
    }

    /// Reports the failure of a device of this rank. All devices that wait now or later receive an error.
    pub(crate) fn fail(&self, device: usize, failure: Failure) {
        // A failure after a known one is a consequence of it.
        if failure == Failure::Remote || self.has_failed() {
            return;
        }
        let told = DeviceFailure::now(device, failure);
        self.note(told.clone());
        self.broadcast_control(&Control::Failed(told));
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::SeqCst)
    }

    pub(crate) fn has_device_ended(&self, device: usize) -> bool {
        self.ended[device].load(Ordering::SeqCst)
    }

    /// Returns the communicator for messages to a device, and its rank.
    pub(crate) fn route(&self, device: usize) -> (Comm, usize) {
        let rank = rank_of(device, self.table.devices(), self.world.size());
        let first = self.world.devices_of(rank, self.table.devices()).start;
        (self.lanes[device - first], rank)
    }

    /// Counts messages that were sent.
    pub(crate) fn count_sent(&self, outgoing: &mut Outgoing) {
        for (rank, count) in outgoing.count.drain(..) {
            self.sent[rank].fetch_add(count, Ordering::SeqCst);
        }
    }

    /// Counts a message that was received.
    pub(crate) fn count_received(&self) {
        self.received.fetch_add(1, Ordering::SeqCst);
    }

    /// Counts a value that is about to be sent. Returns false, and does not count it, if more than
    /// [`MAX_IN_FLIGHT_BYTES`] bytes would be in transit to the address. A value is always accepted if no other is in
    /// transit.
    pub(crate) fn reserve(&self, address: Address, bytes: usize) -> bool {
        let mut all = locked(&self.in_flight);
        let in_transit = all.entry(address).or_default();
        let fits = *in_transit == 0 || in_transit.saturating_add(bytes) <= MAX_IN_FLIGHT_BYTES;
        if fits {
            *in_transit = in_transit.saturating_add(bytes);
        }
        fits
    }

    /// Subtracts a value that its receiver has begun to receive from the values in transit.
    fn release(&self, outgoing: &Outgoing) {
        let Some((address, bytes)) = outgoing.value else { return };
        let mut all = locked(&self.in_flight);
        if let Some(in_transit) = all.get_mut(&address) {
            *in_transit = in_transit.saturating_sub(bytes);
            if *in_transit == 0 {
                all.remove(&address);
            }
        }
    }

    /// Passes messages to the main thread, which completes sending them.
    pub(crate) fn post(&self, outgoing: Outgoing) {
        locked(&self.posted).push(outgoing);
    }

    /// Returns a device's number, its position in the program if known, and its rank if it is another one.
    fn named(&self, device: usize) -> String {
        let place = self.options.observer.position(device).map(|place| format!("at `{place}`"));
        let rank = rank_of(device, self.table.devices(), self.world.size());
        let rank = (rank != self.world.rank()).then(|| format!("rank {rank}"));
        let notes: Vec<String> = [rank, place].into_iter().flatten().collect();
        if notes.is_empty() { device.to_string() } else { format!("{device} ({})", notes.join(", ")) }
    }

    /// Returns a list of devices as text.
    pub(crate) fn listed(&self, devices: &[usize]) -> String {
        listed(devices.iter().map(|&d| self.named(d)))
    }

    /// Returns the reason to stop waiting for devices, if there is one.
    pub(crate) fn stop_reason(
        &self,
        (waiting, name, since): (usize, &str, Instant),
        missing: &[usize],
        ended_since: &mut Option<Instant>,
    ) -> Option<Failure> {
        if self.has_failed() {
            return Some(Failure::Remote);
        }
        if self.options.observer.is_stopped(waiting) {
            return Some(Failure::Stopped);
        }
        let who = format!("device {waiting} at {name}");
        let ended: Vec<usize> = missing.iter().copied().filter(|&d| self.has_device_ended(d)).collect();
        if !ended.is_empty() && ended_since.get_or_insert_with(Instant::now).elapsed() > LATE_MESSAGE_TIMEOUT
        {
            let devices = self.listed(&ended);
            let message =
                format!("the devices diverge: {who} waits for device {devices}, at its end already");
            return Some(message.into());
        }
        (since.elapsed() > self.options.timeout).then(|| {
            let seconds = self.options.timeout.as_secs_f64();
            format!("{who} has waited {seconds} s for device {}", self.listed(missing)).into()
        })
    }

    /// Begins to receive a message for a device that does not need it. Returns whether there was one.
    pub(crate) fn discard(&self, device: usize, into: &mut Vec<(usize, Discarded)>) -> Result<bool, Failure> {
        let (lane, _) = self.route(device);
        let Some(message) = lane.take_arrived((None, None))? else { return Ok(false) };
        self.count_received();
        into.push((device, Discarded::new(message)?));
        Ok(true)
    }

    fn serve_or_fail(&self, service: &mut Service) -> bool {
        self.serve(service).unwrap_or_else(|failure| {
            self.fail(self.local.start, failure);
            false
        })
    }

    /// Polls once for all work of the main thread. Returns whether there was any.
    fn serve(&self, service: &mut Service) -> Result<bool, Failure> {
        let mut is_new = false;
        for rank in (0..self.world.size()).filter(|&r| r != self.world.rank()) {
            while service.ended[rank].is_none()
                && let Some(message) = self.world.take(rank, CONTROL_TAG)?
            {
                is_new = true;
                match Control::decoded(&message) {
                    Some(Control::Finished(device)) => {
                        if let Some(ended) = self.ended.get(device) {
                            ended.store(true, Ordering::SeqCst);
                        }
                    }
                    Some(Control::Failed(told)) => self.note(told),
                    Some(Control::Ended(sent)) => service.ended[rank] = Some(sent),
                    None => return Err("internal error: a message that can't be read".to_string().into()),
                }
            }
        }
        let mut posted = std::mem::take(&mut *locked(&self.posted));
        let mut n = 0;
        while let Some(outgoing) = posted.get_mut(n) {
            if outgoing.is_complete()? { self.release(&posted.swap_remove(n)) } else { n += 1 }
        }
        locked(&self.posted).append(&mut posted);
        for device in self.local.clone().filter(|&d| self.has_device_ended(d)) {
            while self.discard(device, &mut service.discarded)? {
                is_new = true;
            }
        }
        let mut n = 0;
        while let Some((device, discarded)) = service.discarded.get_mut(n) {
            if !discarded.is_complete()? {
                n += 1;
                continue;
            }
            let (to, sender) = (*device, Kind::mail_of(discarded.tag));
            let message = service.discarded.swap_remove(n).1.into_bytes();
            is_new = true;
            if let Some(from) = sender {
                let channel = Header::decoded(&message)?.0.channel();
                *locked(&self.unreceived).entry((channel, from, to)).or_default() += 1;
            }
        }
        Ok(is_new)
    }

    /// Waits for a condition while serving messages. Reports lost ranks if this takes long after a failure.
    fn wait_until(
        &self,
        service: &mut Service,
        mut is_so: impl FnMut(&mut Service) -> Result<bool, Failure>,
    ) -> Result<(), Failure> {
        let (mut backoff, since) = (Backoff::default(), Instant::now());
        while !is_so(service)? {
            if self.serve(service)? {
                backoff.reset();
            }
            backoff.pause();
            if backoff.is_slow() && self.has_failed() && since.elapsed() > LOST_RANK_TIMEOUT {
                self.lost();
            }
        }
        Ok(())
    }

    /// Records that other ranks did not end although they should have.
    pub(crate) fn lost(&self) {
        if let Some(told) = &*locked(&self.failure) {
            self.world.set_lost(told.device, &told.failure);
        }
    }

    /// Waits until all devices of all ranks have ended, and all messages have been received.
    fn end(&self, service: &mut Service) -> Result<(), Failure> {
        let world = self.world;
        let others = || (0..world.size()).filter(|&r| r != world.rank());
        let sent: Vec<u64> = self.sent.iter().map(|n| n.load(Ordering::SeqCst)).collect();
        let mut outgoing = Outgoing::default();
        for rank in others() {
            outgoing.send_kept(world.control(), rank, CONTROL_TAG, Control::Ended(sent[rank]).encoded())?;
        }
        service.ended[world.rank()] = Some(sent[world.rank()]);
        self.wait_until(service, |service| {
            let expected: Option<u64> = service.ended.iter().copied().sum();
            Ok(expected == Some(self.received.load(Ordering::SeqCst))
                && service.discarded.is_empty()
                && locked(&self.posted).is_empty()
                && outgoing.is_complete()?)
        })?;
        if let Some(((channel, from, to), count)) = locked(&self.unreceived).first_key_value()
            && !self.has_failed()
        {
            let channel = channel.map_or("without a number".into(), |c| c.to_string());
            let message = format!(
                "device {to} did not receive what was sent to it on channel {channel} ({count} left)"
            );
            self.note(DeviceFailure::now(*from, message.into()));
        }
        // Exchanges the known failures, so that all ranks end with the same one.
        let own = locked(&self.failure).clone();
        let own = own.map_or(Vec::new(), |told| Control::Failed(told).encoded());
        for rank in others() {
            outgoing.send_kept(world.control(), rank, DONE_TAG, own.clone())?;
        }
        let mut backoff = Backoff::default();
        for rank in others() {
            let message = loop {
                if let Some(message) = world.take(rank, DONE_TAG)? {
                    break message;
                }
                outgoing.is_complete()?;
                backoff.pause();
            };
            if let Some(Control::Failed(told)) = Control::decoded(&message) {
                self.note(told);
            }
        }
        while !outgoing.is_complete()? {
            backoff.pause();
        }
        Ok(())
    }
}
