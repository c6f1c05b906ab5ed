//! Functions for devices.

use crate::device::{Device, Memory};
use crate::fault::{Fault, Result};
use crate::sys::{Handle, List, args::*};
use std::ffi::c_void;
use std::ptr;

pub fn get_description(a: &mut DeviceGetDescription) -> Result {
    a.description = Handle::to(&a.device.get()?.description);
    Ok(())
}

pub fn is_addressable(a: &mut DeviceIsAddressable) -> Result {
    a.device.get()?;
    a.is_addressable = true;
    Ok(())
}

pub fn local_hardware_id(a: &mut DeviceLocalHardwareId) -> Result {
    a.local_hardware_id = i32::try_from(a.device.get()?.id).unwrap_or(i32::MAX);
    Ok(())
}

fn memories(device: &Device) -> &[Handle<Memory>] {
    device.memories.get().map_or(&[], |memories| memories)
}

pub fn addressable_memories(a: &mut DeviceAddressableMemories) -> Result {
    a.memories = List::to(memories(a.device.get()?));
    Ok(())
}

pub fn default_memory(a: &mut DeviceDefaultMemory) -> Result {
    let first = memories(a.device.get()?).first();
    a.memory = *first.ok_or_else(|| Fault::internal("internal error: a device without memory"))?;
    Ok(())
}

pub fn get_attributes(a: &mut DeviceGetAttributes) -> Result {
    unsafe extern "C" fn nothing(_: *mut c_void) {}
    a.device.get()?;
    a.attributes = List::to(&[]);
    a.owner = ptr::null_mut();
    a.free = Some(nothing);
    Ok(())
}
