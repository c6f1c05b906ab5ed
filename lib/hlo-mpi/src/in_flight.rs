//! Messages in transit of one device: those that it sends, and those that it waits for.

use crate::raw::{Comm, Message, Request};
use crate::wire::{Header, Kind, pieces};
use hlo_communicator::{Address, Failure};
use std::collections::VecDeque;
use std::ops::Range;
use std::time::Duration;

/// Number of polls in a row that only spin.
const SPIN_POLLS: u32 = 100;
/// Number of polls after which the thread sleeps between polls. Before that, it yields.
const YIELD_POLLS: u32 = 4000;
/// Maximum sleep between polls.
const MAX_SLEEP: Duration = Duration::from_micros(500);

/// The delay before the next poll.
#[derive(Default)]
pub(crate) struct Backoff(u32);

impl Backoff {
    /// Waits before the next poll. Each wait is longer than the one before.
    pub(crate) fn pause(&mut self) {
        self.0 = self.0.saturating_add(1);
        match self.0 {
            0..SPIN_POLLS => std::hint::spin_loop(),
            SPIN_POLLS..YIELD_POLLS => std::thread::yield_now(),
            n => std::thread::sleep(
                MAX_SLEEP.min(Duration::from_micros(u64::from(20 + (n - YIELD_POLLS) * 10))),
            ),
        }
    }

    /// Returns whether polling has taken some time, so that the caller should check whether to continue.
    pub(crate) fn is_slow(&self) -> bool {
        self.0 >= SPIN_POLLS && (self.0 >= YIELD_POLLS || self.0.is_multiple_of(64))
    }

    /// Restarts with short delays, because a message has arrived.
    pub(crate) fn reset(&mut self) {
        self.0 = 0;
    }
}

/// Memory for received messages, which is reused.
#[derive(Default)]
pub(crate) struct Pool {
    free: Vec<Vec<u8>>,
    bytes: usize,
}

impl Pool {
    /// Maximum number of bytes that are kept.
    const MAX_POOLED_BYTES: usize = 256 << 20;

    /// Returns an empty vector with a capacity of at least `bytes` bytes.
    pub(crate) fn take_buffer(&mut self, bytes: usize) -> Result<Vec<u8>, Failure> {
        let fitting = self.free.iter().position(|v| v.capacity() >= bytes && v.capacity() / 2 <= bytes);
        if let Some(at) = fitting {
            let vector = self.free.swap_remove(at);
            self.bytes -= vector.capacity();
            return Ok(vector);
        }
        let mut vector = Vec::new();
        let refused = |_| Failure::Local(format!("there is no memory for {bytes} bytes from another device"));
        vector.try_reserve_exact(bytes).map_err(refused)?;
        Ok(vector)
    }

    /// Returns memory to the pool.
    pub(crate) fn return_buffer(&mut self, mut vector: Vec<u8>) {
        vector.clear();
        if vector.capacity() > 0 && self.bytes + vector.capacity() <= Self::MAX_POOLED_BYTES {
            self.bytes += vector.capacity();
            self.free.push(vector);
        }
    }
}

/// A vector that messages are received into.
struct ReceiveBuffer {
    memory: Vec<u8>,
    bytes: usize,
    requests: Vec<Request>,
}

impl ReceiveBuffer {
    fn new(memory: Vec<u8>, bytes: usize) -> Self {
        Self { memory, bytes, requests: Vec::new() }
    }

    /// Begins to receive a message into a range of bytes.
    fn receive(&mut self, message: Message, range: Range<usize>) -> Result<(), Failure> {
        let wrong = || Failure::Local("internal error: a message of another size than was said".into());
        let expected = message.bytes == range.len();
        let to = self.memory.spare_capacity_mut().get_mut(range).filter(|_| expected).ok_or_else(wrong)?;
        // SAFETY: the vector is not accessed before all requests are complete. `land` takes ownership of it,
        // and dropping waits.
        self.requests.push(unsafe { message.receive(to)? });
        Ok(())
    }

    fn is_complete(&mut self) -> Result<bool, Failure> {
        while let Some(request) = self.requests.last_mut() {
            if !request.is_complete()? {
                return Ok(false);
            }
            self.requests.pop();
        }
        Ok(true)
    }

    /// Returns the bytes. All of them must have been received.
    fn into_bytes(mut self) -> Vec<u8> {
        let mut memory = std::mem::take(&mut self.memory);
        if self.requests.is_empty() && self.bytes <= memory.capacity() {
            // SAFETY: all bytes have been received before this is called.
            unsafe { memory.set_len(self.bytes) };
        }
        memory
    }
}

impl Drop for ReceiveBuffer {
    /// Waits until the memory is no longer received into. This does not take long, because the sender has
    /// begun.
    fn drop(&mut self) {
        let mut backoff = Backoff::default();
        while matches!(self.is_complete(), Ok(false)) {
            backoff.pause();
        }
    }
}

/// A message that is received completely without checking its contents.
pub(crate) struct Discarded {
    landing: ReceiveBuffer,
    pub(crate) tag: i32,
}

impl Discarded {
    /// Begins to receive a message that is not needed.
    pub(crate) fn new(message: Message) -> Result<Self, Failure> {
        let (bytes, tag) = (message.bytes, message.tag);
        let mut landing = ReceiveBuffer::new(Pool::default().take_buffer(bytes)?, bytes);
        landing.receive(message, 0..bytes)?;
        Ok(Self { landing, tag })
    }

    /// Returns whether the message has been received.
    pub(crate) fn is_complete(&mut self) -> Result<bool, Failure> {
        self.landing.is_complete()
    }

    /// Returns the message.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.landing.into_bytes()
    }
}

/// The data that one device expects from another: a header, and parts.
pub(crate) struct Incoming {
    /// The kinds of the messages: that of the header, and that of parts.
    kinds: (Kind, Kind),
    /// The rank and the number of the other device.
    from: (usize, usize),
    stage: Stage,
}

enum Stage {
    /// The header has not arrived.
    Awaited,
    /// The header is being received.
    Header(ReceiveBuffer),
    /// The parts are being received.
    Parts { header: Header, parts: Vec<ReceiveBuffer>, left: VecDeque<(usize, Range<usize>)> },
    /// All data has been received.
    There(Header, Vec<Vec<u8>>),
}

impl Incoming {
    /// Creates the state of data expected from a device on a rank.
    pub(crate) fn new(kinds: (Kind, Kind), rank: usize, device: usize) -> Self {
        Self { kinds, from: (rank, device), stage: Stage::Awaited }
    }

    /// Returns whether all data has been received.
    pub(crate) fn is_complete(&self) -> bool {
        matches!(self.stage, Stage::There(..))
    }

    /// Returns whether no message has arrived.
    pub(crate) fn is_awaited(&self) -> bool {
        matches!(self.stage, Stage::Awaited)
    }

    /// Returns the header and the parts, if they have been received.
    pub(crate) fn take(self) -> Option<(Header, Vec<Vec<u8>>)> {
        match self.stage {
            Stage::There(header, parts) => Some((header, parts)),
            _ => None,
        }
    }

    /// Polls for messages. Returns whether anything changed. Calls `counted` for each message that arrives,
    /// and `expected` with the header.
    pub(crate) fn poll(
        &mut self,
        lane: Comm,
        pool: &mut Pool,
        counted: &dyn Fn(),
        expected: &mut dyn FnMut(&Header) -> Result<(), Failure>,
    ) -> Result<bool, Failure> {
        let (rank, device) = self.from;
        let look = |kind: Kind| lane.take_arrived((Some(rank), Some(kind.tag(device))));
        match &mut self.stage {
            Stage::Awaited => {
                let Some(message) = look(self.kinds.0)? else { return Ok(false) };
                counted();
                let bytes = message.bytes;
                let mut landing = ReceiveBuffer::new(pool.take_buffer(bytes)?, bytes);
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
                let message = landing.into_bytes();
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
                        pool.take_buffer(bytes).map(|memory| ReceiveBuffer::new(memory, bytes))
                    };
                    let parts = header.sizes.iter().map(landing).collect::<Result<Vec<_>, Failure>>()?;
                    let left = pieces(&header.sizes).into();
                    self.stage = Stage::Parts { header, parts, left };
                }
                pool.return_buffer(message);
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
                self.stage = Stage::There(header, parts.into_iter().map(ReceiveBuffer::into_bytes).collect());
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
    /// Memory of messages that this value owns.
    kept: Vec<Vec<u8>>,
    /// Number of messages by rank.
    pub(crate) count: Vec<(usize, u64)>,
    /// The channel, sender and receiver of a value, and its number of bytes.
    pub(crate) value: Option<(Address, usize)>,
}

impl Outgoing {
    /// Creates the messages of a value on a channel.
    pub(crate) fn of_value(address: Address, bytes: usize) -> Self {
        Self { value: Some((address, bytes)), requests: Vec::new(), kept: Vec::new(), count: Vec::new() }
    }

    /// Begins to send a header and parts to a device on a rank. Parts that do not fit into the header's
    /// message are sent from the caller's memory.
    ///
    /// # Safety
    /// Parts must not be moved or written until this is complete.
    pub(crate) unsafe fn send<'a>(
        &mut self,
        (lane, rank): (Comm, usize),
        from: usize,
        kinds: (Kind, Kind),
        header: &Header,
        part: impl Fn(usize) -> &'a [u8],
    ) -> Result<(), Failure> {
        let message = header.encoded(&part);
        // SAFETY: the message is kept. Moving a vector does not move its bytes.
        self.requests.push(unsafe { lane.send(&message, rank, kinds.0.tag(from), self.value.is_some())? });
        self.kept.push(message);
        let mut count = 1;
        if !header.is_whole() {
            for (n, range) in pieces(&header.sizes) {
                // SAFETY: guaranteed by the caller.
                self.requests.push(unsafe { lane.send(&part(n)[range], rank, kinds.1.tag(from), false)? });
                count += 1;
            }
        }
        self.count.push((rank, count));
        Ok(())
    }

    /// Sends a message from memory that this value owns.
    pub(crate) fn send_kept(
        &mut self,
        comm: Comm,
        rank: usize,
        tag: i32,
        message: Vec<u8>,
    ) -> Result<(), Failure> {
        // SAFETY: the message is kept. Moving a vector does not move its bytes.
        self.requests.push(unsafe { comm.send(&message, rank, tag, false)? });
        self.kept.push(message);
        Ok(())
    }

    /// Keeps memory until all messages are sent.
    pub(crate) fn keep(&mut self, memory: Vec<Vec<u8>>) {
        self.kept.extend(memory);
    }

    /// Returns whether all messages are sent.
    pub(crate) fn is_complete(&mut self) -> Result<bool, Failure> {
        let mut n = 0;
        while let Some(request) = self.requests.get_mut(n) {
            if request.is_complete()? {
                self.requests.swap_remove(n);
            } else {
                n += 1;
            }
        }
        if self.requests.is_empty() {
            self.kept.clear();
        }
        Ok(self.requests.is_empty())
    }
}

impl Drop for Outgoing {
    /// Leaks memory that is still being sent. This only happens if MPI itself fails.
    fn drop(&mut self) {
        if !self.requests.is_empty() {
            std::mem::forget(std::mem::take(&mut self.kept));
        }
    }
}
