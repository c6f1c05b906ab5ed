//! Devices and their memories in the PJRT API. All of them are the processors and the memory of this process.

use crate::sys::{Extension, Handle};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The kinds of memories of a device, the default first. All kinds are the same memory, but programs use
/// their names.
pub const MEMORY_KINDS: [&str; 3] = ["device", "pinned_host", "unpinned_host"];

/// A device.
pub struct Device {
    /// The number of the device in its client.
    pub id: usize,
    /// The description of the device.
    pub description: DeviceDescription,
    /// The memories of the device, the default first.
    pub memories: OnceLock<Vec<Handle<Memory>>>,
}

/// A description of a device, available without running anything.
pub struct DeviceDescription {
    /// The number of the device.
    pub id: usize,
    /// The kind of the device.
    pub kind: String,
    /// A human-readable name.
    pub name: String,
}

/// A memory of a device.
#[repr(C)]
pub struct Memory {
    /// The header requires a table of the object's functions at the beginning.
    functions: &'static Functions,
    /// The number of the memory in its client.
    pub id: usize,
    /// The number of the device that owns the memory.
    pub device: usize,
    /// The number of its kind in [`MEMORY_KINDS`].
    pub kind: usize,
    /// A human-readable name.
    pub name: String,
    /// The device that owns the memory.
    pub devices: OnceLock<Vec<Handle<Device>>>,
    user_data: Mutex<BTreeMap<usize, UserData>>,
}

impl Device {
    /// Creates a device without memories.
    pub fn new(id: usize, kind: &str, platform: &str) -> Self {
        let description = DeviceDescription { id, kind: kind.into(), name: format!("{platform}:{id}") };
        Self { id, description, memories: OnceLock::new() }
    }
}

impl Memory {
    /// Creates a memory of a device.
    pub fn new(device: usize, kind: usize, platform: &str) -> Self {
        let name = format!("{}({platform}:{device})", MEMORY_KINDS[kind]);
        let id = device * MEMORY_KINDS.len() + kind;
        let user_data = Mutex::default();
        Self { functions: &FUNCTIONS, id, device, kind, name, devices: OnceLock::new(), user_data }
    }
}

/// Data that the caller attached to a memory.
struct UserData {
    data: *mut c_void,
    free: Option<unsafe extern "C" fn(*mut c_void)>,
}

// SAFETY: the data belongs to the caller, who accesses it on any thread.
unsafe impl Send for UserData {}

impl Drop for UserData {
    fn drop(&mut self) {
        if let Some(free) = self.free {
            // SAFETY: the caller guarantees that the function frees the data. It is called once.
            unsafe { free(self.data) };
        }
    }
}

/// The functions of a memory.
#[repr(C)]
struct Functions {
    struct_size: usize,
    extensions: *const Extension,
    instance_size: usize,
    get_user_data: extern "C" fn(Handle<Memory>, *const c_void) -> *mut c_void,
    set_user_data:
        extern "C" fn(Handle<Memory>, *const c_void, *mut c_void, Option<unsafe extern "C" fn(*mut c_void)>),
}

// SAFETY: the table is never written.
unsafe impl Sync for Functions {}

static FUNCTIONS: Functions = Functions {
    struct_size: size_of::<Functions>(),
    extensions: ptr::null(),
    // The struct in the header contains only the pointer to this table.
    instance_size: size_of::<usize>(),
    get_user_data,
    set_user_data,
};

extern "C" fn get_user_data(memory: Handle<Memory>, key: *const c_void) -> *mut c_void {
    let Ok(memory) = memory.get() else { return ptr::null_mut() };
    let data = memory.user_data.lock().unwrap_or_else(PoisonError::into_inner);
    data.get(&key.addr()).map_or(ptr::null_mut(), |found| found.data)
}

extern "C" fn set_user_data(
    memory: Handle<Memory>,
    key: *const c_void,
    data: *mut c_void,
    free: Option<unsafe extern "C" fn(*mut c_void)>,
) {
    let data = UserData { data, free };
    if let Ok(memory) = memory.get() {
        let mut all = memory.user_data.lock().unwrap_or_else(PoisonError::into_inner);
        let before = all.insert(key.addr(), data);
        drop(all);
        drop(before);
    }
}
