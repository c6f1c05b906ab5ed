//! An account of the time that help from other threads has recently saved or cost.

use std::time::{Duration, Instant};

/// The maximum balance. One long delay of a worker may cost this much, in nanoseconds, before help is paused.
const MAX_CREDIT: i64 = 3_000_000;
/// The balance, in nanoseconds, after each pause without help.
const INITIAL_CREDIT: i64 = 100_000;
/// The first pause without help. Each further loss doubles the pause.
const INITIAL_PAUSE: Duration = Duration::from_millis(2);
const MAX_PAUSE: Duration = Duration::from_millis(256);

/// A balance in nanoseconds: the time that workers saved, minus the time spent on waking them and waiting for
/// them.
///
/// It only decides which threads run the chunks. Neither the chunks nor the results depend on it.
pub(crate) struct Account {
    balance: i64,
    pause: Duration,
    /// The time until which workers are not woken at the start of a loop.
    paused_until: Instant,
    in_debt: bool,
}

impl Account {
    pub(crate) fn new(now: Instant) -> Account {
        Account { balance: MAX_CREDIT, pause: INITIAL_PAUSE, paused_until: now, in_debt: false }
    }

    /// Returns whether workers may be woken. It is false during the pause that begins when the balance
    /// becomes negative.
    pub(crate) fn may_wake_workers(&mut self, now: Instant) -> bool {
        if self.in_debt && now >= self.paused_until {
            self.in_debt = false;
            self.balance = INITIAL_CREDIT;
        }
        !self.in_debt
    }

    /// Returns whether help is paused, as of the last call of `may_wake_workers`.
    pub(crate) fn is_in_debt(&self) -> bool {
        self.in_debt
    }

    /// Enters a loop of which the caller ran `own` chunks and workers ran `helped` chunks. The four times
    /// are the start of the loop, the end of waking the workers, the end of the caller's chunks, and the end
    /// of the workers' chunks.
    pub(crate) fn enter(&mut self, own: usize, helped: usize, [start, called, claimed, end]: [Instant; 4]) {
        let nanoseconds = |d: Duration| i64::try_from(d.as_nanos()).unwrap_or(i64::MAX);
        // A caller that got no chunk waited no longer than it would have worked.
        let gain = match own {
            0 => 0,
            _ => {
                let chunk = nanoseconds(claimed - called) / own as i64;
                let helped = i64::try_from(helped).unwrap_or(i64::MAX);
                chunk.saturating_mul(helped) - nanoseconds(end - claimed) - nanoseconds(called - start)
            }
        };
        self.balance = self.balance.saturating_add(gain).min(MAX_CREDIT);
        if self.balance == MAX_CREDIT {
            self.pause = INITIAL_PAUSE;
        }
        if self.balance < 0 && !self.in_debt {
            self.in_debt = true;
            self.paused_until = end + self.pause;
            self.pause = (self.pause * 2).min(MAX_PAUSE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Enters a loop of two chunks of 10 µs. A worker runs one of them, and the caller waits `wait` for it.
    /// Returns the end time.
    fn enter(account: &mut Account, start: Instant, wait: Duration) -> Instant {
        let claimed = start + Duration::from_micros(10);
        account.enter(1, 1, [start, start, claimed, claimed + wait]);
        claimed + wait
    }

    #[test]
    fn losses_put_help_off_and_gains_bring_it_back() {
        let (accident, late) = (Duration::from_millis(2), Duration::from_millis(4));
        let start = Instant::now();
        let mut account = Account::new(start);
        let mut now = enter(&mut account, start, accident);
        assert!(account.may_wake_workers(now), "one accident is forgiven");
        // Each further loss doubles the pause.
        for pause in [2, 4, 8, 16, 32, 64, 128, 256, 256] {
            let end = enter(&mut account, now, late);
            assert!(!account.may_wake_workers(end));
            assert_eq!(account.paused_until, end + Duration::from_millis(pause));
            now = account.paused_until;
            assert!(account.may_wake_workers(now));
        }
        for _ in 0..1000 {
            now = enter(&mut account, now, Duration::from_micros(1));
        }
        now = enter(&mut account, now, accident);
        assert!(account.may_wake_workers(now));
        now = enter(&mut account, now, late);
        assert_eq!(account.paused_until, now + INITIAL_PAUSE);
    }
}
