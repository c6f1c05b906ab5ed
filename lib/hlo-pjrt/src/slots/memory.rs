//! Functions for memories of devices.

use crate::device::MEMORY_KINDS;
use crate::fault::Result;
use crate::sys::{List, Text, args::*};

pub fn id(a: &mut MemoryId) -> Result {
    a.id = i32::try_from(a.memory.get()?.id).unwrap_or(i32::MAX);
    Ok(())
}

pub fn kind(a: &mut MemoryKind) -> Result {
    a.kind = Text::of(MEMORY_KINDS[a.memory.get()?.kind]);
    Ok(())
}

pub fn kind_id(a: &mut MemoryKindId) -> Result {
    a.kind_id = i32::try_from(a.memory.get()?.kind).unwrap_or(i32::MAX);
    Ok(())
}

pub fn debug_string(a: &mut MemoryDebugString) -> Result {
    a.debug_string = Text::of(&a.memory.get()?.name);
    Ok(())
}

pub fn to_string(a: &mut MemoryToString) -> Result {
    a.to_string = Text::of(&a.memory.get()?.name);
    Ok(())
}

pub fn addressable_by_devices(a: &mut MemoryAddressableByDevices) -> Result {
    let devices = a.memory.get()?.devices.get();
    a.devices = List::to(devices.map_or(&[], |devices| devices));
    Ok(())
}
