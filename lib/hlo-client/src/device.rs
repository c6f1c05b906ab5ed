//! What programs run on.

use crate::queue::Queue;
use std::sync::Arc;

/// What programs run on and arrays lie on: the processors of this process, or those of a server. Cloning is cheap: both are the
/// same device.
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
    /// The processors that this process may use.
    pub(crate) fn processors(id: usize) -> Self {
        Self::new(id, "cpu".into(), hlo_runtime_core::default_threads())
    }

    /// A device of a server.
    #[cfg(feature = "remote")]
    pub(crate) fn on_server(id: usize, platform: String, threads: usize) -> Self {
        Self::new(id, platform, threads)
    }

    fn new(id: usize, platform: String, threads: usize) -> Self {
        Self(Arc::new(Inner { id, platform, threads, queue: Queue::new(id) }))
    }

    /// The number of the device among those of its client, from 0 on.
    pub fn id(&self) -> usize {
        self.0.id
    }

    /// What kind of device it is: `cpu`.
    pub fn platform(&self) -> &str {
        &self.0.platform
    }

    /// The threads of a program that is not told how many to take.
    pub fn threads(&self) -> usize {
        self.0.threads
    }

    /// What runs on the device in order.
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
