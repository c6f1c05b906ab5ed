//! Where the members of a group meet: each offers something, all look at what the others offer, and nobody goes before
//! all have looked.
//!
//! A member that fails goes at once, but for those who may be looking at what it offers: whoever is about to look first
//! says so, then sees whether somebody has failed ([`Seat::looking`]).

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a sleeper sleeps at most before it looks whether there is still somebody to wait for.
const NAP: Duration = Duration::from_millis(10);

/// Why waiting ended before everybody was there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended<E> {
    /// Somebody has failed.
    Failed,
    /// Whoever waits gives up, and why.
    GaveUp(E),
}

/// Why not to wait any longer for the members at some places, in a round or at its end.
type GivesUp<'a, E> = dyn Fn(&[usize], Option<u64>) -> Option<E> + 'a;

/// What a member looks at while it waits.
pub(crate) struct Patience<'a, E> {
    /// How often it looks before it sleeps.
    pub(crate) spins: u32,
    /// True once somebody has failed.
    pub(crate) failed: &'a dyn Fn() -> bool,
    /// Hears how long it took until all members were there.
    pub(crate) waited: &'a dyn Fn(Duration),
    /// Why not to wait any longer for the members at these places; asked now and then. With the number of the round while
    /// they have not come, without while they have not left.
    pub(crate) gives_up: &'a GivesUp<'a, E>,
}

/// The place of a member. Each has cache lines of its own.
#[repr(align(128))]
struct Seat<T> {
    /// The last round that the member has come to.
    arrived: AtomicU64,
    /// The last round in which it has begun to look at what others offer.
    looking: AtomicU64,
    /// The last round in which it is done.
    left: AtomicU64,
    /// What it offers: written by it before it arrives, read by others between `arrived` and `left`.
    offer: UnsafeCell<Option<T>>,
}

// SAFETY: an offer is written by the owner of its seat while nobody looks at it, see `meet`; all else is atomic.
unsafe impl<T: Send + Sync> Sync for Seat<T> {}

/// The meeting place of a group.
pub(crate) struct Meeting<T> {
    seats: Box<[Seat<T>]>,
    /// How many members sleep.
    sleepers: AtomicUsize,
    lock: Mutex<()>,
    news: Condvar,
}

/// What the members of a meeting offer.
pub(crate) struct Offers<'a, T>(&'a [Seat<T>]);

impl<T> Offers<'_, T> {
    /// What the member at a place offers.
    pub(crate) fn of(&self, place: usize) -> Option<&T> {
        // SAFETY: these exist between the arrival of all members and the looker's leaving, when nobody writes.
        unsafe { (*self.0[place].offer.get()).as_ref() }
    }
}

impl<T> Meeting<T> {
    pub(crate) fn new(members: usize) -> Self {
        let seat = |_| Seat {
            arrived: AtomicU64::new(0),
            looking: AtomicU64::new(0),
            left: AtomicU64::new(0),
            offer: UnsafeCell::new(None),
        };
        Self {
            seats: (0..members).map(seat).collect(),
            sleepers: AtomicUsize::new(0),
            lock: Mutex::new(()),
            news: Condvar::new(),
        }
    }

    /// Offers something, waits for all members, and looks at what they offer. `fail` is called before this member goes
    /// without the others: from then on `patience.failed` is true for all.
    ///
    /// Only the member at `place` may call this for it, once at a time.
    pub(crate) fn meet<R, E>(
        &self,
        place: usize,
        offer: T,
        patience: &Patience<'_, E>,
        look: impl FnOnce(&Offers<'_, T>) -> Result<R, E>,
        fail: impl Fn(),
    ) -> Result<R, Ended<E>> {
        let seat = &self.seats[place];
        let round = seat.arrived.load(Ordering::Relaxed) + 1;
        // SAFETY: all members have left the round before, or this one has waited for those who looked.
        unsafe { *seat.offer.get() = Some(offer) };
        seat.arrived.store(round, Ordering::SeqCst);
        self.tell();
        let since = Instant::now();
        let arrived = self.wait(patience, Some(round), |s| s.arrived.load(Ordering::SeqCst) >= round);
        (patience.waited)(since.elapsed());
        let outcome = arrived.and_then(|()| {
            seat.looking.store(round, Ordering::SeqCst);
            match (patience.failed)() {
                true => Err(Ended::Failed),
                false => look(&Offers(&self.seats)).map_err(Ended::GaveUp),
            }
        });
        if outcome.is_err() {
            fail();
        }
        seat.left.store(round, Ordering::SeqCst);
        self.tell();
        let end = match &outcome {
            Ok(_) => self.wait(patience, None, |s| s.left.load(Ordering::SeqCst) >= round),
            Err(_) => Err(Ended::Failed),
        };
        if end.is_err() {
            fail();
            self.withdraw(place, round);
        }
        // SAFETY: nobody looks any more.
        unsafe { *seat.offer.get() = None };
        let result = outcome?;
        end.map(|()| result)
    }

    /// Waits for those who may look at what this member offers. Whoever has not said so yet will see that somebody has
    /// failed before it looks. Looking does not wait for anybody.
    fn withdraw(&self, place: usize, round: u64) {
        let others = self.seats.iter().enumerate().filter(|&(p, _)| p != place);
        for (_, other) in others {
            while other.looking.load(Ordering::SeqCst) >= round && other.left.load(Ordering::SeqCst) < round {
                std::thread::yield_now();
            }
        }
    }

    /// Waits until something is so of all seats.
    fn wait<E>(
        &self,
        patience: &Patience<'_, E>,
        round: Option<u64>,
        is_so: impl Fn(&Seat<T>) -> bool,
    ) -> Result<(), Ended<E>> {
        let all = || self.seats.iter().all(&is_so);
        for _ in 0..patience.spins {
            if all() {
                return Ok(());
            }
            std::hint::spin_loop();
        }
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        let outcome = loop {
            if all() {
                break Ok(());
            }
            if (patience.failed)() {
                break Err(Ended::Failed);
            }
            let missing: Vec<usize> = (0..self.seats.len()).filter(|&p| !is_so(&self.seats[p])).collect();
            if let Some(reason) = (patience.gives_up)(&missing, round) {
                break Err(Ended::GaveUp(reason));
            }
            guard = self.news.wait_timeout(guard, NAP).unwrap_or_else(PoisonError::into_inner).0;
        };
        drop(guard);
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
        outcome
    }

    /// The places of the members that have not come to a round.
    pub(crate) fn missing(&self, round: u64) -> impl Iterator<Item = usize> + '_ {
        let has_come = move |place: &usize| self.seats[*place].arrived.load(Ordering::SeqCst) >= round;
        (0..self.seats.len()).filter(move |place| !has_come(place))
    }

    /// Wakes those who sleep: something has changed.
    pub(crate) fn tell(&self) {
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            // Whoever has looked and not slept yet holds the lock.
            drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
            self.news.notify_all();
        }
    }
}
