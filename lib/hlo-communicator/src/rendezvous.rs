//! The rendezvous of the members of a group. Each member offers a value, all members read the others' offers,
//! and no member leaves before all have read them.
//!
//! A member that fails leaves immediately, except that it waits for members that may be reading its offer. A
//! member announces that it is about to read, and then checks whether another member has failed
//! ([`MemberState::looking`]).

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Maximum time that a member sleeps before it checks again whether it should wait.
const MAX_SLEEP: Duration = Duration::from_millis(10);

/// The reason why waiting ended before all members arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitFailure<E> {
    /// Another member failed.
    Failed,
    /// The waiting member gave up for this reason.
    GaveUp(E),
}

/// Returns the reason to stop waiting for the members at some positions, in a round or at its end.
type StopCheck<'a, E> = dyn Fn(&[usize], Option<u64>) -> Option<E> + 'a;

/// The settings and callbacks of a member that waits.
pub(crate) struct WaitPolicy<'a, E> {
    /// Number of polls before the member sleeps.
    pub(crate) spins: u32,
    /// Returns whether a member has failed.
    pub(crate) failed: &'a dyn Fn() -> bool,
    /// Called with the time until all members had arrived.
    pub(crate) waited: &'a dyn Fn(Duration),
    /// Called from time to time with the positions of missing members. Returns the reason to stop waiting, if
    /// there is one. The round is given while the members have not arrived, and `None` while they have not
    /// left.
    pub(crate) gives_up: &'a StopCheck<'a, E>,
}

/// The state of a member, on cache lines of its own.
#[repr(align(128))]
struct MemberState<T> {
    /// The last round that the member has arrived at.
    arrived: AtomicU64,
    /// The last round in which the member began to read the others' offers.
    looking: AtomicU64,
    /// The last round that the member has finished.
    left: AtomicU64,
    /// The member's offer. The member writes it before it arrives. Others read it between `arrived` and
    /// `left`.
    offer: UnsafeCell<Option<T>>,
}

// SAFETY: the owner of a seat writes its offer while no other member reads it, see `meet`. All other fields
// are atomic.
unsafe impl<T: Send + Sync> Sync for MemberState<T> {}

/// The rendezvous of a group.
pub(crate) struct Rendezvous<T> {
    seats: Box<[MemberState<T>]>,
    /// Number of sleeping members.
    sleepers: AtomicUsize,
    lock: Mutex<()>,
    news: Condvar,
}

/// The offers of the members at a rendezvous.
pub(crate) struct Offers<'a, T>(&'a [MemberState<T>]);

impl<T> Offers<'_, T> {
    /// Returns the offer of the member at a position.
    pub(crate) fn of(&self, place: usize) -> Option<&T> {
        // SAFETY: the offers exist from the arrival of all members until the reader leaves. During this time
        // nobody writes them.
        unsafe { (*self.0[place].offer.get()).as_ref() }
    }
}

impl<T> Rendezvous<T> {
    pub(crate) fn new(members: usize) -> Self {
        let seat = |_| MemberState {
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

    /// Offers a value, waits for all members, and calls `look` to read their offers. `fail` is called before
    /// this member leaves without the others. From then on, `patience.failed` must return true for all
    /// members.
    ///
    /// Only the member at `place` may call this, and only one call at a time.
    pub(crate) fn rendezvous<R, E>(
        &self,
        place: usize,
        offer: T,
        patience: &WaitPolicy<'_, E>,
        look: impl FnOnce(&Offers<'_, T>) -> Result<R, E>,
        fail: impl Fn(),
    ) -> Result<R, WaitFailure<E>> {
        let seat = &self.seats[place];
        let round = seat.arrived.load(Ordering::Relaxed) + 1;
        // SAFETY: either all members have left the previous round, or this member has waited for those that
        // were reading.
        unsafe { *seat.offer.get() = Some(offer) };
        seat.arrived.store(round, Ordering::SeqCst);
        self.notify();
        let since = Instant::now();
        let arrived = self.wait(patience, Some(round), |s| s.arrived.load(Ordering::SeqCst) >= round);
        (patience.waited)(since.elapsed());
        let outcome = arrived.and_then(|()| {
            seat.looking.store(round, Ordering::SeqCst);
            if (patience.failed)() {
                Err(WaitFailure::Failed)
            } else {
                look(&Offers(&self.seats)).map_err(WaitFailure::GaveUp)
            }
        });
        if outcome.is_err() {
            fail();
        }
        seat.left.store(round, Ordering::SeqCst);
        self.notify();
        let end = match &outcome {
            Ok(_) => self.wait(patience, None, |s| s.left.load(Ordering::SeqCst) >= round),
            Err(_) => Err(WaitFailure::Failed),
        };
        if end.is_err() {
            fail();
            self.withdraw(place, round);
        }
        // SAFETY: no member reads the offer any more.
        unsafe { *seat.offer.get() = None };
        let result = outcome?;
        end.map(|()| result)
    }

    /// Waits for members that may be reading this member's offer. A member that has not announced reading
    /// will see that another member has failed before it reads. Reading does not wait for anything.
    fn withdraw(&self, place: usize, round: u64) {
        let others = self.seats.iter().enumerate().filter(|&(p, _)| p != place);
        for (_, other) in others {
            while other.looking.load(Ordering::SeqCst) >= round && other.left.load(Ordering::SeqCst) < round {
                std::thread::yield_now();
            }
        }
    }

    /// Waits until a condition holds for all seats.
    fn wait<E>(
        &self,
        patience: &WaitPolicy<'_, E>,
        round: Option<u64>,
        is_so: impl Fn(&MemberState<T>) -> bool,
    ) -> Result<(), WaitFailure<E>> {
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
                break Err(WaitFailure::Failed);
            }
            let missing: Vec<usize> = (0..self.seats.len()).filter(|&p| !is_so(&self.seats[p])).collect();
            if let Some(reason) = (patience.gives_up)(&missing, round) {
                break Err(WaitFailure::GaveUp(reason));
            }
            guard = self.news.wait_timeout(guard, MAX_SLEEP).unwrap_or_else(PoisonError::into_inner).0;
        };
        drop(guard);
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
        outcome
    }

    /// Returns the positions of the members that have not arrived at a round.
    pub(crate) fn missing(&self, round: u64) -> impl Iterator<Item = usize> + '_ {
        let has_come = move |place: &usize| self.seats[*place].arrived.load(Ordering::SeqCst) >= round;
        (0..self.seats.len()).filter(move |place| !has_come(place))
    }

    /// Wakes the sleeping members because something has changed.
    pub(crate) fn notify(&self) {
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            // A member that has polled and does not sleep yet holds the lock.
            drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
            self.news.notify_all();
        }
    }
}
