//! What devices a client has, without the client.

use crate::device::DeviceDescription;
use crate::platform::Platform;
use crate::sys::Handle;
use std::sync::Arc;

/// The devices of a client.
pub struct Topology {
    /// What has the devices.
    pub platform: Arc<Platform>,
    /// What can be said of them.
    pub descriptions: Vec<Handle<DeviceDescription>>,
}

impl Topology {
    /// The devices of a platform.
    pub fn of(platform: Arc<Platform>) -> Self {
        let descriptions = platform.devices.iter().map(|d| Handle::to(&d.description)).collect();
        Self { platform, descriptions }
    }

    /// A text that says all of it.
    pub fn text(&self) -> String {
        let platform = &self.platform;
        format!("{} {} {}", platform.name, platform.devices.len(), platform.version)
    }
}
