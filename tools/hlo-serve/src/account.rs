//! Memory accounts of clients. Memory is allocated for a client only after it was charged to the client's
//! account and to the account of all clients.

use hlo_ir::human_bytes;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tonic::Status;

/// A memory account, which may be part of another account.
#[derive(Debug)]
pub struct Account {
    /// The owner and the option that sets the limit, for error messages.
    whose: &'static str,
    limit: u64,
    used: AtomicU64,
    within: Option<Arc<Account>>,
}

/// Bytes that are charged to an account until this value is dropped.
#[derive(Debug)]
pub struct Charge {
    account: Arc<Account>,
    bytes: u64,
}

impl Account {
    /// Creates the account of all clients.
    pub fn of_all(limit: u64) -> Arc<Self> {
        let whose = "all clients together may take (--memory)";
        Arc::new(Self { whose, limit, used: AtomicU64::new(0), within: None })
    }

    /// Creates the account of a client.
    pub fn of_client(limit: u64, all: Arc<Account>) -> Arc<Self> {
        let whose = "a client may take (--client-memory)";
        Arc::new(Self { whose, limit, used: AtomicU64::new(0), within: Some(all) })
    }

    /// Returns the number of charged bytes.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Returns the maximum number of charged bytes.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Charges bytes.
    ///
    /// # Errors
    /// The bytes exceed the limit.
    pub fn charge(self: &Arc<Self>, bytes: u64, what: &str) -> Result<Charge, Status> {
        self.take(bytes, what)?;
        Ok(Charge { account: self.clone(), bytes })
    }

    fn take(&self, bytes: u64, what: &str) -> Result<(), Status> {
        if let Some(all) = &self.within {
            all.take(bytes, what)?;
        }
        let room = |used: u64| used.checked_add(bytes).filter(|&sum| sum <= self.limit);
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, room).map(drop).map_err(|used| {
            if let Some(all) = &self.within {
                all.release(bytes);
            }
            let (limit, whose) = (human_bytes(self.limit), self.whose);
            let (bytes, used) = (human_bytes(bytes), human_bytes(used));
            Status::resource_exhausted(format!(
                "{what} takes {bytes}, of the {limit} that {whose} {used} are taken"
            ))
        })
    }

    fn release(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
        if let Some(all) = &self.within {
            all.release(bytes);
        }
    }
}

impl Charge {
    /// Charges more bytes.
    ///
    /// # Errors
    /// The bytes exceed the limit.
    pub fn grow(&mut self, bytes: u64, what: &str) -> Result<(), Status> {
        self.account.take(bytes, what)?;
        self.bytes += bytes;
        Ok(())
    }

    /// Splits off a charge of `bytes` bytes, or of all bytes if there are fewer.
    pub fn split(&mut self, bytes: u64) -> Charge {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        Charge { account: self.account.clone(), bytes }
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.account.release(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_is_given_back() {
        let all = Account::of_all(100);
        let (a, b) = (Account::of_client(80, all.clone()), Account::of_client(80, all.clone()));
        let mut first = a.charge(60, "x").unwrap();
        let error = b.charge(50, "a buffer").unwrap_err();
        assert_eq!(
            error.message(),
            "a buffer takes 50 bytes, of the 100 bytes that all clients together may take (--memory) 60 bytes are taken"
        );
        assert_eq!((all.used(), b.used()), (60, 0));
        assert!(first.grow(30, "x").unwrap_err().message().contains("that a client may take"));
        assert!(a.charge(u64::MAX, "x").is_err());
        assert_eq!((all.used(), a.used()), (60, 60));
        first.grow(20, "x").unwrap();
        let part = first.split(50);
        drop(first);
        assert_eq!((all.used(), a.used()), (50, 50));
        drop(part);
        assert_eq!((all.used(), a.used()), (0, 0));
    }
}
