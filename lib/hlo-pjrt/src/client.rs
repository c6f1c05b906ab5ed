//! A client of the caller's.

use crate::fault::Result;
use crate::platform::{Options, Platform};
use crate::topology::Topology;
use std::sync::Arc;

/// A client of the caller's.
pub struct Client {
    /// What it stands for.
    pub platform: Arc<Platform>,
    /// Its devices.
    pub topology: Topology,
}

impl Client {
    /// A client that has what options ask for.
    ///
    /// # Errors
    /// As [`Platform::new`].
    pub fn new(options: &Options) -> Result<Self> {
        let platform = Platform::new(options)?;
        Ok(Self { topology: Topology::of(platform.clone()), platform })
    }
}
