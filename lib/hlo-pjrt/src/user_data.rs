//! Data that callers pass to the functions that a program calls.

use crate::fault::{Code, Fault, Result};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, PoisonError};

/// The caller's data for runs, which functions that a program calls can request.
#[derive(Default)]
pub struct ExecuteContext(Mutex<UserData>);

/// Data by the number of its type.
#[derive(Clone, Debug, Default)]
pub struct UserData(pub BTreeMap<i64, Data>);

/// The address of the caller's data.
#[derive(Clone, Copy, Debug)]
pub struct Data(pub *mut c_void);

// SAFETY: the caller guarantees that runs may use the data on any thread.
unsafe impl Send for Data {}
// SAFETY: as above.
unsafe impl Sync for Data {}

impl ExecuteContext {
    /// Returns the current data.
    pub fn user_data(&self) -> Arc<UserData> {
        Arc::new(self.0.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    /// Adds data.
    ///
    /// # Errors
    /// The context already contains data of that type.
    pub fn add(&self, kind: i64, data: *mut c_void) -> Result {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match all.0.insert(kind, Data(data)) {
            None => Ok(()),
            Some(_) => Err(Fault::new(Code::AlreadyExists, format!("there is data of type {kind} already"))),
        }
    }
}
