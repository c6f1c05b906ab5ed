//! The communicator of one device.

use crate::in_flight::{Backoff, Incoming, Outgoing, Pool};
use crate::raw;
use crate::run::{LOST_RANK_TIMEOUT, Run};
use crate::wire::{Header, Kind};
use hlo_communicator::{
    Combine, Communicator, Failure, MAX_IN_FLIGHT_BYTES, Parts, Reduced, Reduction, Table, collective,
};
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Minimum size in bytes of arrays that MPI reduces. Smaller arrays take one exchange, as does the check that
/// all devices have arrived.
const MIN_MPI_REDUCE_BYTES: usize = 4096;

/// Minimum number of bytes that a value in transit counts as, because MPI and this crate need memory for each message.
const MIN_VALUE_BYTES: usize = MAX_IN_FLIGHT_BYTES / 4096;

/// The kinds of messages of collectives.
const COLLECTIVE_KINDS: (Kind, Kind) = (Kind::Header, Kind::Bulk);
/// The kinds of messages of values on channels.
const MAIL_KINDS: (Kind, Kind) = (Kind::Mail, Kind::MailBulk);

/// The arrays of received values, by channel and sender.
type Inbox = HashMap<(Option<i64>, usize), VecDeque<Vec<Vec<u8>>>>;

/// A device of an [`MpiWorld`](crate::MpiWorld).
pub struct MpiMember<'r> {
    run: &'r Run<'r>,
    device: usize,
    state: Mutex<State>,
}

/// The communication state of a device.
struct State {
    pool: Pool,
    /// Number of exchanges that each device has sent to this one, and that this one has sent to each device.
    rounds: Vec<u64>,
    sent: Vec<u64>,
    inbox: Inbox,
}

impl fmt::Debug for MpiMember<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MpiMember").field("device", &self.device).finish_non_exhaustive()
    }
}

/// The parts that all members of a group have handed to one member.
struct Received<'a>(Vec<Vec<&'a [u8]>>);

impl<'a> Parts<'a> for Received<'a> {
    fn part(&self, member: usize, part: usize) -> &'a [u8] {
        self.0.get(member).and_then(|parts| parts.get(part)).copied().unwrap_or_default()
    }
}

impl<'r> MpiMember<'r> {
    pub(crate) fn new(run: &'r Run<'r>, device: usize) -> Self {
        let none = vec![0; run.table.devices()];
        let state = State { pool: Pool::default(), rounds: none.clone(), sent: none, inbox: HashMap::new() };
        Self { run, device, state: Mutex::new(state) }
    }

    /// Returns this device's group at a collective, and its position in the group.
    fn place(&self, site: usize) -> Result<(&[usize], usize), Failure> {
        let table = &*self.run.table;
        let missing = || format!("internal error: device {} is not in {}", self.device, table.name(site));
        table.place(site, self.device).ok_or_else(|| missing().into())
    }

    /// Records the devices that this one waits for. If there is a reason to stop waiting, reports it to the
    /// other devices and returns it as an error.
    fn check_waiting(
        &self,
        wait: &mut Wait<'_>,
        awaited: &[usize],
        unfinished: impl FnOnce() -> Vec<usize>,
    ) -> Result<(), Failure> {
        let missing = if awaited.is_empty() {
            wait.ended_since = None;
            unfinished()
        } else {
            awaited.to_vec()
        };
        if wait.shown != missing {
            self.run.world.show(self.device, wait.name, &missing, self.run.table.devices());
            wait.shown.clone_from(&missing);
        }
        let waiting = (self.device, wait.name, wait.since);
        match self.run.stop_reason(waiting, &missing, &mut wait.ended_since) {
            Some(failure) => {
                // The failure is reported before this device returns, so that no device that merely observes
                // it can report it as its own.
                self.run.fail(self.device, failure.clone());
                Err(failure)
            }
            None => Ok(()),
        }
    }

    /// Waits until all messages are sent. Meanwhile receives messages that are no longer needed.
    fn finish_sends(&self, outgoing: &mut Outgoing) {
        let (mut backoff, since) = (Backoff::default(), Instant::now());
        let mut discarded = Vec::new();
        // An error is one of MPI itself, which then transfers nothing more.
        while matches!(outgoing.is_complete(), Ok(false)) {
            if matches!(self.run.discard(self.device, &mut discarded), Ok(true)) {
                backoff.reset();
            }
            discarded.retain_mut(|(_, message)| matches!(message.is_complete(), Ok(false)));
            backoff.pause();
            if backoff.is_slow() && since.elapsed() > LOST_RANK_TIMEOUT {
                self.run.lost();
            }
        }
    }

    /// Receives from all other members of a group at the same time, in any order.
    fn collect(
        &self,
        state: &mut State,
        site: usize,
        group: &[usize],
        sending: &mut InFlight<'_, '_>,
    ) -> Result<Vec<Option<Vec<Vec<u8>>>>, Failure> {
        let run = self.run;
        let name = run.table.name(site);
        let State { pool, rounds, .. } = state;
        let (lane, _) = run.route(self.device);
        let from = |&device: &usize| {
            let rank = run.route(device).1;
            (device != self.device).then(|| Incoming::new(COLLECTIVE_KINDS, rank, device))
        };
        let mut incoming: Vec<Option<Incoming>> = group.iter().map(from).collect();
        let counted = || run.count_received();
        let mut wait = Wait::new(self, name);
        loop {
            let mut is_new = false;
            for (incoming, &device) in incoming.iter_mut().zip(group) {
                let Some(incoming) = incoming.as_mut().filter(|i| !i.is_complete()) else { continue };
                let mut expected = |header: &Header| {
                    let there = usize::try_from(header.words[0]).unwrap_or(usize::MAX);
                    if there != site {
                        let there = run.table.name(there);
                        return Err(Failure::Local(format!(
                            "the devices diverge: device {} is at {name}, device {device} at {there}",
                            self.device
                        )));
                    }
                    rounds[device] += 1;
                    if header.words[1] == rounds[device] {
                        Ok(())
                    } else {
                        Err(Failure::Local(format!("internal error: {name} has lost a message")))
                    }
                };
                is_new |= incoming.poll(lane, pool, &counted, &mut expected)?;
            }
            let of = |is: &dyn Fn(&Incoming) -> bool| {
                let some = incoming.iter().zip(group).filter(|(i, _)| i.as_ref().is_some_and(is));
                some.map(|(_, &device)| device).collect::<Vec<_>>()
            };
            if incoming.iter().flatten().all(Incoming::is_complete) {
                break;
            }
            if is_new {
                wait.backoff.reset();
            } else if wait.backoff.is_slow() {
                sending.out.is_complete()?;
                self.check_waiting(&mut wait, &of(&Incoming::is_awaited), || of(&|i| !i.is_complete()))?;
            }
            wait.backoff.pause();
        }
        Ok(incoming.into_iter().map(|i| i.and_then(Incoming::take).map(|(_, parts)| parts)).collect())
    }

    /// Reduces by MPI. All members must be on separate ranks, and the order must not matter.
    fn reduce_by_mpi(
        &self,
        site: usize,
        arrays: &mut [Reduced<'_>],
        (comm, reduction): (raw::Comm, Reduction),
    ) -> Result<(), Failure> {
        let (group, _) = self.place(site)?;
        let name = self.run.table.name(site);
        let sizes = arrays.iter().flat_map(|a| [a.operand.len() as u64, a.element_bytes as u64]);
        let sizes: Vec<u8> = sizes.flat_map(u64::to_le_bytes).collect();
        // Before any device begins an operation that cannot be cancelled, checks that all members have
        // arrived with the same arrays.
        self.exchange(site, 1, &|_: usize, _: usize| &sizes[..], &mut |incoming| match (0..group.len())
            .find(|&m| incoming.part(m, 0) != sizes)
        {
            Some(other) => Err(format!("{name}: device {} has arrays of other sizes", group[other]).into()),
            None => Ok(()),
        })?;
        for array in arrays {
            self.reduce_array(name, group, array, (comm, reduction))?;
        }
        Ok(())
    }

    fn reduce_array(
        &self,
        name: &str,
        group: &[usize],
        array: &mut Reduced<'_>,
        (comm, reduction): (raw::Comm, Reduction),
    ) -> Result<(), Failure> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = array.operand.len();
        // Uses copies, because MPI may never finish using the memory if another member fails.
        let (mut from, mut to) = (state.pool.take_buffer(bytes)?, state.pool.take_buffer(bytes)?);
        from.extend_from_slice(array.operand);
        to.resize(bytes, 0);
        // SAFETY: nothing accesses the copies until the request is complete. They are leaked if it never is.
        let request = unsafe { comm.all_reduce(&from, &mut to, array.element_bytes, reduction) };
        let request =
            request.and_then(|r| r.ok_or_else(|| Failure::Local("internal error: no such type".into())));
        let (mut request, mut wait) = (request?, Wait::new(self, name));
        let outcome = loop {
            match request.is_complete() {
                Ok(true) => break Ok(()),
                Ok(false) => {}
                Err(failure) => break Err(failure),
            }
            if wait.backoff.is_slow()
                && let Err(failure) = self.check_waiting(&mut wait, &[], || {
                    group.iter().copied().filter(|&d| d != self.device).collect()
                })
            {
                break Err(failure);
            }
            wait.backoff.pause();
        };
        if let Err(failure) = outcome {
            self.run.world.set_broken();
            std::mem::forget((from, to));
            return Err(failure);
        }
        array.result.copy_from_slice(&to);
        state.pool.return_buffer(from);
        state.pool.return_buffer(to);
        Ok(())
    }
}

/// The state of a device that waits.
struct Wait<'a> {
    member: &'a MpiMember<'a>,
    name: &'a str,
    since: Instant,
    ended_since: Option<Instant>,
    backoff: Backoff,
    /// The devices that are recorded as missing.
    shown: Vec<usize>,
}

impl<'a> Wait<'a> {
    fn new(member: &'a MpiMember<'_>, name: &'a str) -> Self {
        Self {
            member,
            name,
            since: Instant::now(),
            ended_since: None,
            backoff: Backoff::default(),
            shown: Vec::new(),
        }
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        if !self.shown.is_empty() {
            self.member.run.world.hide(self.member.device);
        }
    }
}

/// Messages that a device sends from its caller's memory. Dropping this waits until all of them are sent.
struct InFlight<'m, 'r> {
    member: &'m MpiMember<'r>,
    out: Outgoing,
}

impl Drop for InFlight<'_, '_> {
    fn drop(&mut self) {
        let MpiMember { run, device, .. } = *self.member;
        if std::thread::panicking() {
            run.fail(device, Failure::Local("internal error: a panic".into()));
        }
        self.member.finish_sends(&mut self.out);
    }
}

impl Communicator for MpiMember<'_> {
    fn table(&self) -> &Table {
        &self.run.table
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
        let run = self.run;
        let (group, place) = self.place(site)?;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if run.has_failed() {
            return Err(Failure::Remote);
        }
        let failed = |failure: Failure| {
            run.fail(self.device, failure.clone());
            failure
        };
        let mut sending = InFlight { member: self, out: Outgoing::default() };
        // Each member begins with a different one, so that not all of them send to the same member first.
        let members = group.len();
        for member in (1..members).map(|n| (place + n) % members) {
            let device = group[member];
            let sizes = (0..parts).map(|part| outgoing.part(member, part).len() as u64).collect();
            state.sent[device] += 1;
            let header = Header { words: [site as u64, state.sent[device]], sizes };
            let part = |part: usize| outgoing.part(member, part);
            // SAFETY: the parts belong to the caller until this returns, and `sending` is complete before
            // that.
            let sent =
                unsafe { sending.out.send(run.route(device), self.device, COLLECTIVE_KINDS, &header, part) };
            run.count_sent(&mut sending.out);
            sent.map_err(failed)?;
        }
        let came = self.collect(&mut state, site, group, &mut sending).map_err(failed)?;
        let own: Vec<&[u8]> = (0..parts).map(|part| outgoing.part(place, part)).collect();
        let received = came.iter().map(|parts| match parts {
            Some(parts) => parts.iter().map(Vec::as_slice).collect(),
            None => own.clone(),
        });
        incoming(&Received(received.collect())).map_err(failed)?;
        let mut wait = Wait::new(self, run.table.name(site));
        while !sending.out.is_complete().map_err(failed)? {
            if wait.backoff.is_slow() {
                let others = || group.iter().copied().filter(|&d| d != self.device).collect();
                self.check_waiting(&mut wait, &[], others)?;
            }
            wait.backoff.pause();
        }
        came.into_iter().flatten().flatten().for_each(|part| state.pool.return_buffer(part));
        Ok(())
    }

    fn all_reduce(
        &self,
        site: usize,
        arrays: &mut [Reduced<'_>],
        combine: &mut Combine<'_>,
    ) -> Result<(), Failure> {
        let table = &*self.run.table;
        let number = table.group_number(site, self.device);
        let comm = number.and_then(|n| self.run.groups.get(&n)).copied();
        let bytes: usize = arrays.iter().map(|a| a.operand.len()).sum();
        let fits = |a: &Reduced<'_>, reduction: Reduction| {
            let is_alike = a.operand.len() == a.result.len() && !a.operand.is_empty();
            is_alike && raw::reduces(a.element_bytes, reduction)
        };
        match comm.zip(table.reduction(site)) {
            Some(by_mpi) if bytes > MIN_MPI_REDUCE_BYTES && arrays.iter().all(|a| fits(a, by_mpi.1)) => {
                self.reduce_by_mpi(site, arrays, by_mpi)
            }
            _ => collective::all_reduce(self, site, arrays, combine),
        }
    }

    fn send(&self, channel: Option<i64>, to: usize, arrays: Vec<Vec<u8>>) -> Result<(), Failure> {
        let run = self.run;
        if run.has_failed() {
            return Err(Failure::Remote);
        }
        if to >= run.table.devices() {
            return Err(Failure::Local(format!("internal error: there is no device {to}")));
        }
        let address = (channel, self.device, to);
        let bytes = arrays.iter().map(Vec::len).sum::<usize>().max(MIN_VALUE_BYTES);
        if !run.reserve(address, bytes) {
            let channel = channel.map_or(String::new(), |c| format!(" {c}"));
            let name = format!("a send on channel{channel} to device {to}, which has received too little");
            let mut wait = Wait::new(self, &name);
            while !run.reserve(address, bytes) {
                if wait.backoff.is_slow() {
                    self.check_waiting(&mut wait, &[to], || vec![to])?;
                }
                wait.backoff.pause();
            }
        }
        let sizes = arrays.iter().map(|a| a.len() as u64).collect();
        let header = Header { words: [channel.is_some().into(), channel.unwrap_or(0) as u64], sizes };
        let mut out = Outgoing::of_value(address, bytes);
        // SAFETY: `out` keeps the arrays. Moving a vector does not move its bytes.
        let sent = unsafe { out.send(run.route(to), self.device, MAIL_KINDS, &header, |n| &arrays[n]) };
        out.keep(arrays);
        run.count_sent(&mut out);
        run.post(out);
        sent
    }

    fn receive(&self, channel: Option<i64>, from: usize, name: &str) -> Result<Vec<Vec<u8>>, Failure> {
        let run = self.run;
        if from >= run.table.devices() {
            return Err(Failure::Local(format!("internal error: there is no device {from}")));
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { pool, inbox, .. } = &mut *state;
        if let Some(value) = inbox.get_mut(&(channel, from)).and_then(VecDeque::pop_front) {
            return Ok(value);
        }
        let ((lane, _), (_, rank)) = (run.route(self.device), run.route(from));
        let mut wait = Wait::new(self, name);
        loop {
            let mut incoming = Incoming::new(MAIL_KINDS, rank, from);
            while !incoming.is_complete() {
                let is_new = incoming.poll(lane, pool, &|| run.count_received(), &mut |_| Ok(()));
                if is_new.inspect_err(|failure| run.fail(self.device, failure.clone()))? {
                    wait.backoff.reset();
                } else if wait.backoff.is_slow() {
                    let awaited: &[usize] = if incoming.is_awaited() { &[from] } else { &[] };
                    self.check_waiting(&mut wait, awaited, || vec![from])?;
                }
                wait.backoff.pause();
            }
            let Some((header, arrays)) = incoming.take() else { continue };
            match header.channel() {
                of if of == channel => return Ok(arrays),
                of => inbox.entry((of, from)).or_default().push_back(arrays),
            }
        }
    }
}

impl Drop for MpiMember<'_> {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut unreceived = self.run.unreceived.lock().unwrap_or_else(PoisonError::into_inner);
        for ((channel, from), values) in state.inbox.iter().filter(|(_, values)| !values.is_empty()) {
            *unreceived.entry((*channel, *from, self.device)).or_default() += values.len();
        }
    }
}
