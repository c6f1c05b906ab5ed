//! The devices that programs run on.

use crate::queue::Queue;
use std::sync::Arc;

/// A device that runs programs and holds arrays: the processors of this process or of a server. Cloning is
/// cheap: both clones are the same device.
#[derive(Clone, Debug)]
pub struct Device(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    id: usize,
    platform: String,
    threads: usize,
    queue: Queue,
}

impl Device {
    /// Creates a device of this process, which uses all processors available to the process.
    pub(crate) fn processors(id: usize) -> Self {
        Self::new(id, "cpu".into(), hlo_runtime_core::default_threads())
    }

    /// Creates a device of a server.
    #[cfg(feature = "remote")]
    pub(crate) fn on_server(id: usize, platform: String, threads: usize) -> Self {
        Self::new(id, platform, threads)
    }

    fn new(id: usize, platform: String, threads: usize) -> Self {
        Self(Arc::new(Inner { id, platform, threads, queue: Queue::new(id) }))
    }

    /// Returns the number of the device among the devices of its client, starting from 0.
    pub fn id(&self) -> usize {
        self.0.id
    }

    /// Returns the kind of the device: `cpu`.
    pub fn platform(&self) -> &str {
        &self.0.platform
    }

    /// Returns the number of threads that a program uses by default.
    pub fn threads(&self) -> usize {
        self.0.threads
    }

    /// Returns the queue of runs that were started on the device.
    pub(crate) fn queue(&self) -> &Queue {
        &self.0.queue
    }
}

impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Device {}
