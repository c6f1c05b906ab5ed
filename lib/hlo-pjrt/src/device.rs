//! Devices and their memories, as the caller sees them: all are the processors and the memory of this process.

use crate::sys::{Extension, Handle};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The kinds of memories of a device, the default first. All are the same memory; programs name them.
pub const MEMORY_KINDS: [&str; 3] = ["device", "pinned_host", "unpinned_host"];

/// A device.
pub struct Device {
    /// Its number among the client's devices.
    pub id: usize,
    /// What can be said of it without running anything.
    pub description: DeviceDescription,
    /// Its memories, the default first.
    pub memories: OnceLock<Vec<Handle<Memory>>>,
}

/// What can be said of a device without running anything.
pub struct DeviceDescription {
    /// The device's number.
    pub id: usize,
    /// What kind of device it is.
    pub kind: String,
    /// A name for people.
    pub name: String,
}

/// A memory of a device.
#[repr(C)]
pub struct Memory {
    /// The header wants a table of the object's own functions at its beginning.
    functions: &'static Functions,
    /// Its number among the client's memories.
    pub id: usize,
    /// The number of the device that it belongs to.
    pub device: usize,
    /// The number of its kind in [`MEMORY_KINDS`].
    pub kind: usize,
    /// A name for people.
    pub name: String,
    /// The device that it belongs to.
    pub devices: OnceLock<Vec<Handle<Device>>>,
    user_data: Mutex<BTreeMap<usize, UserData>>,
}

impl Device {
    /// A device, as yet without memories.
    pub fn new(id: usize, kind: &str, platform: &str) -> Self {
        let description = DeviceDescription { id, kind: kind.into(), name: format!("{platform}:{id}") };
        Self { id, description, memories: OnceLock::new() }
    }
}

impl Memory {
    /// A memory of a device.
    pub fn new(device: usize, kind: usize, platform: &str) -> Self {
        let name = format!("{}({platform}:{device})", MEMORY_KINDS[kind]);
        let id = device * MEMORY_KINDS.len() + kind;
        let user_data = Mutex::default();
        Self { functions: &FUNCTIONS, id, device, kind, name, devices: OnceLock::new(), user_data }
    }
}

/// What the caller attached to a memory.
struct UserData {
    data: *mut c_void,
    free: Option<unsafe extern "C" fn(*mut c_void)>,
}

// SAFETY: the caller's data, which it asks for on any thread.
unsafe impl Send for UserData {}

impl Drop for UserData {
    fn drop(&mut self) {
        if let Some(free) = self.free {
            // SAFETY: the caller's promise: it frees the data, once.
            unsafe { free(self.data) };
        }
    }
}

/// What can be asked of a memory.
#[repr(C)]
struct Functions {
    struct_size: usize,
    extensions: *const Extension,
    instance_size: usize,
    get_user_data: extern "C" fn(Handle<Memory>, *const c_void) -> *mut c_void,
    set_user_data:
        extern "C" fn(Handle<Memory>, *const c_void, *mut c_void, Option<unsafe extern "C" fn(*mut c_void)>),
}

// SAFETY: the table is not written.
unsafe impl Sync for Functions {}

static FUNCTIONS: Functions = Functions {
    struct_size: size_of::<Functions>(),
    extensions: ptr::null(),
    // The header's struct is the pointer to this table only.
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
