//! What a device has under way: messages that it sends, and those that it waits for.

use crate::raw::{Comm, Message, Request};
use crate::wire::{Header, Kind, pieces};
use hlo_communicator::Failure;
use std::collections::VecDeque;
use std::ops::Range;
use std::time::Duration;

/// So many looks in a row do nothing but look.
const SPINS: u32 = 100;
/// After so many more, which let others run, there are naps.
const YIELDS: u32 = 4000;
/// The longest nap.
const NAP: Duration = Duration::from_micros(500);

/// How long to wait before the next look.
#[derive(Default)]
pub(crate) struct Backoff(u32);

impl Backoff {
    /// Waits; longer each time.
    pub(crate) fn pause(&mut self) {
        self.0 = self.0.saturating_add(1);
        match self.0 {
            0..SPINS => std::hint::spin_loop(),
            SPINS..YIELDS => std::thread::yield_now(),
            n => std::thread::sleep(NAP.min(Duration::from_micros(u64::from(20 + (n - YIELDS) * 10)))),
        }
    }

    /// True once looking has taken a while: it is time to ask whether to go on.
    pub(crate) fn is_slow(&self) -> bool {
        self.0 >= SPINS && (self.0 >= YIELDS || self.0.is_multiple_of(64))
    }

    /// Something has happened.
    pub(crate) fn reset(&mut self) {
        self.0 = 0;
    }
}

/// Memory that messages are received into, which is kept from one to the next.
#[derive(Default)]
pub(crate) struct Pool {
    free: Vec<Vec<u8>>,
    bytes: usize,
}

impl Pool {
    /// The most bytes that are kept.
    const KEPT: usize = 256 << 20;

    /// Room for so many bytes: an empty vector.
    pub(crate) fn room(&mut self, bytes: usize) -> Result<Vec<u8>, Failure> {
        let fitting = self.free.iter().position(|v| v.capacity() >= bytes && v.capacity() / 2 <= bytes);
        if let Some(at) = fitting {
            let vector = self.free.swap_remove(at);
            self.bytes -= vector.capacity();
            return Ok(vector);
        }
        let mut vector = Vec::new();
        let refused = |_| Failure::Here(format!("there is no memory for {bytes} bytes from another device"));
        vector.try_reserve_exact(bytes).map_err(refused)?;
        Ok(vector)
    }

    /// Takes memory back.
    pub(crate) fn give(&mut self, mut vector: Vec<u8>) {
        vector.clear();
        if vector.capacity() > 0 && self.bytes + vector.capacity() <= Self::KEPT {
            self.bytes += vector.capacity();
            self.free.push(vector);
        }
    }
}

/// A vector that is received into.
struct Landing {
    memory: Vec<u8>,
    bytes: usize,
    requests: Vec<Request>,
}

impl Landing {
    fn new(memory: Vec<u8>, bytes: usize) -> Self {
        Self { memory, bytes, requests: Vec::new() }
    }

    /// Begins to receive a message into these bytes.
    fn receive(&mut self, message: Message, range: Range<usize>) -> Result<(), Failure> {
        let wrong = || Failure::Here("internal error: a message of another size than was said".into());
        let expected = message.bytes == range.len();
        let to = self.memory.spare_capacity_mut().get_mut(range).filter(|_| expected).ok_or_else(wrong)?;
        // SAFETY: the vector is not touched before all requests are complete: `land` takes it, and dropping waits.
        self.requests.push(unsafe { message.receive(to)? });
        Ok(())
    }

    fn is_complete(&mut self) -> Result<bool, Failure> {
        while let Some(request) = self.requests.last_mut() {
            match request.is_complete()? {
                true => drop(self.requests.pop()),
                false => return Ok(false),
            }
        }
        Ok(true)
    }

    /// The bytes, once all are there.
    fn land(mut self) -> Vec<u8> {
        let mut memory = std::mem::take(&mut self.memory);
        if self.requests.is_empty() && self.bytes <= memory.capacity() {
            // SAFETY: whoever calls this has received all bytes.
            unsafe { memory.set_len(self.bytes) };
        }
        memory
    }
}

impl Drop for Landing {
    /// What is received into is not given back before it is received. That does not wait for long: the sender has begun.
    fn drop(&mut self) {
        let mut backoff = Backoff::default();
        while matches!(self.is_complete(), Ok(false)) {
            backoff.pause();
        }
    }
}

/// A message that is received whatever it is, and of which the start is kept.
pub(crate) struct Discarded {
    landing: Landing,
    pub(crate) tag: i32,
}

impl Discarded {
    /// Begins to receive a message that nobody wants.
    pub(crate) fn new(message: Message) -> Result<Self, Failure> {
        let (bytes, tag) = (message.bytes, message.tag);
        let mut landing = Landing::new(Pool::default().room(bytes)?, bytes);
        landing.receive(message, 0..bytes)?;
        Ok(Self { landing, tag })
    }

    /// True once it is there.
    pub(crate) fn is_complete(&mut self) -> Result<bool, Failure> {
        self.landing.is_complete()
    }

    /// The message.
    pub(crate) fn land(self) -> Vec<u8> {
        self.landing.land()
    }
}

/// What one device waits for from another: a header, and parts.
pub(crate) struct Incoming {
    /// The kinds of messages: of the header, and of parts.
    kinds: (Kind, Kind),
    /// The rank of the other device, and its number.
    from: (usize, usize),
    stage: Stage,
}

enum Stage {
    /// The header has not come.
    Awaited,
    /// The header is being received.
    Header(Landing),
    /// The parts are being received.
    Parts { header: Header, parts: Vec<Landing>, left: VecDeque<(usize, Range<usize>)> },
    /// All is there.
    There(Header, Vec<Vec<u8>>),
}

impl Incoming {
    /// What is to come from a device of a rank.
    pub(crate) fn new(kinds: (Kind, Kind), rank: usize, device: usize) -> Self {
        Self { kinds, from: (rank, device), stage: Stage::Awaited }
    }

    /// True once all is there.
    pub(crate) fn is_there(&self) -> bool {
        matches!(self.stage, Stage::There(..))
    }

    /// True if nothing has come.
    pub(crate) fn is_awaited(&self) -> bool {
        matches!(self.stage, Stage::Awaited)
    }

    /// The header and the parts, once they are there.
    pub(crate) fn take(self) -> Option<(Header, Vec<Vec<u8>>)> {
        match self.stage {
            Stage::There(header, parts) => Some((header, parts)),
            _ => None,
        }
    }

    /// Looks whether there is something new; true if so. `counted` hears of each message that comes, `expected` of the header.
    pub(crate) fn poll(
        &mut self,
        lane: Comm,
        pool: &mut Pool,
        counted: &dyn Fn(),
        expected: &mut dyn FnMut(&Header) -> Result<(), Failure>,
    ) -> Result<bool, Failure> {
        let (rank, device) = self.from;
        let look = |kind: Kind| lane.look((Some(rank), Some(kind.tag(device))));
        match &mut self.stage {
            Stage::Awaited => {
                let Some(message) = look(self.kinds.0)? else { return Ok(false) };
                counted();
                let bytes = message.bytes;
                let mut landing = Landing::new(pool.room(bytes)?, bytes);
                landing.receive(message, 0..bytes)?;
                self.stage = Stage::Header(landing);
            }
            Stage::Header(landing) => {
                if !landing.is_complete()? {
                    return Ok(false);
                }
                let Stage::Header(landing) = std::mem::replace(&mut self.stage, Stage::Awaited) else {
                    return Ok(false);
                };
                let message = landing.land();
                let (header, rest) = Header::decoded(&message)?;
                expected(&header)?;
                if header.is_whole() {
                    let mut at = 0;
                    let part = |&size: &u64| {
                        let part = rest[at..at + size as usize].to_vec();
                        at += size as usize;
                        part
                    };
                    let parts = header.sizes.iter().map(part).collect();
                    self.stage = Stage::There(header, parts);
                } else {
                    let landing = |&size: &u64| {
                        let bytes = usize::try_from(size).unwrap_or(usize::MAX);
                        pool.room(bytes).map(|memory| Landing::new(memory, bytes))
                    };
                    let parts = header.sizes.iter().map(landing).collect::<Result<Vec<_>, Failure>>()?;
                    let left = pieces(&header.sizes).into();
                    self.stage = Stage::Parts { header, parts, left };
                }
                pool.give(message);
            }
            Stage::Parts { header, parts, left } => {
                let mut is_new = false;
                while let Some((part, range)) = left.front().cloned() {
                    let Some(message) = look(self.kinds.1)? else { break };
                    counted();
                    is_new = true;
                    left.pop_front();
                    parts[part].receive(message, range)?;
                }
                if !left.is_empty() {
                    return Ok(is_new);
                }
                for part in parts.iter_mut() {
                    if !part.is_complete()? {
                        return Ok(is_new);
                    }
                }
                let (header, parts) = (header.clone(), std::mem::take(parts));
                self.stage = Stage::There(header, parts.into_iter().map(Landing::land).collect());
            }
            Stage::There(..) => return Ok(false),
        }
        Ok(true)
    }
}

/// Messages that a device sends.
#[derive(Default)]
pub(crate) struct Outgoing {
    requests: Vec<Request>,
    /// Memory of messages that is not the caller's.
    kept: Vec<Vec<u8>>,
    /// How many messages there were, by rank.
    pub(crate) count: Vec<(usize, u64)>,
}

impl Outgoing {
    /// Begins to send a header and parts to a device on a rank. Parts of a large header go from where they are.
    ///
    /// # Safety
    /// Parts stay where they are, and are not written, until this is complete.
    pub(crate) unsafe fn send<'a>(
        &mut self,
        (lane, rank): (Comm, usize),
        from: usize,
        kinds: (Kind, Kind),
        header: &Header,
        part: impl Fn(usize) -> &'a [u8],
    ) -> Result<(), Failure> {
        let message = header.encoded(&part);
        // SAFETY: the message is kept; moving a vector does not move its bytes.
        self.requests.push(unsafe { lane.send(&message, rank, kinds.0.tag(from))? });
        self.kept.push(message);
        let mut count = 1;
        if !header.is_whole() {
            for (n, range) in pieces(&header.sizes) {
                // SAFETY: the caller's promise.
                self.requests.push(unsafe { lane.send(&part(n)[range], rank, kinds.1.tag(from))? });
                count += 1;
            }
        }
        self.count.push((rank, count));
        Ok(())
    }

    /// Sends a message from memory that is kept here.
    pub(crate) fn send_kept(
        &mut self,
        comm: Comm,
        rank: usize,
        tag: i32,
        message: Vec<u8>,
    ) -> Result<(), Failure> {
        // SAFETY: the message is kept; moving a vector does not move its bytes.
        self.requests.push(unsafe { comm.send(&message, rank, tag)? });
        self.kept.push(message);
        Ok(())
    }

    /// Keeps memory until all is sent.
    pub(crate) fn keep(&mut self, memory: Vec<Vec<u8>>) {
        self.kept.extend(memory);
    }

    /// True once all is sent.
    pub(crate) fn is_complete(&mut self) -> Result<bool, Failure> {
        let mut n = 0;
        while let Some(request) = self.requests.get_mut(n) {
            match request.is_complete()? {
                true => drop(self.requests.swap_remove(n)),
                false => n += 1,
            }
        }
        if self.requests.is_empty() {
            self.kept.clear();
        }
        Ok(self.requests.is_empty())
    }
}

impl Drop for Outgoing {
    /// What is still being sent stays where it is: this happens when MPI itself fails.
    fn drop(&mut self) {
        if !self.requests.is_empty() {
            std::mem::forget(std::mem::take(&mut self.kept));
        }
    }
}
