//! The devices of a client, without the client.

use crate::device::DeviceDescription;
use crate::platform::Platform;
use crate::sys::Handle;
use std::sync::Arc;

/// The devices of a client.
pub struct Topology {
    /// The owner of the devices.
    pub platform: Arc<Platform>,
    /// The descriptions of the devices.
    pub descriptions: Vec<Handle<DeviceDescription>>,
}

impl Topology {
    /// Returns the devices of a platform.
    pub fn of(platform: Arc<Platform>) -> Self {
        let descriptions = platform.devices.iter().map(|d| Handle::to(&d.description)).collect();
        Self { platform, descriptions }
    }

    /// Returns a text that describes the topology.
    pub fn text(&self) -> String {
        let platform = &self.platform;
        format!("{} {} {}", platform.name, platform.devices.len(), platform.version)
    }
}
