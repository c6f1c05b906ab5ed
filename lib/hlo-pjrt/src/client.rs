//! The caller's clients.

use crate::fault::Result;
use crate::platform::{Options, Platform};
use crate::topology::Topology;
use std::sync::Arc;

/// A client of the caller.
pub struct Client {
    /// The platform that the client uses.
    pub platform: Arc<Platform>,
    /// The devices of the client.
    pub topology: Topology,
}

impl Client {
    /// Creates a client with these options.
    ///
    /// # Errors
    /// As [`Platform::new`].
    pub fn new(options: &Options) -> Result<Self> {
        let platform = Platform::new(options)?;
        Ok(Self { topology: Topology::of(platform.clone()), platform })
    }
}
