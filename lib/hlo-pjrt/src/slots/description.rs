//! Functions for descriptions of devices.

use crate::fault::Result;
use crate::sys::{Text, args::*};
use std::ptr;

pub fn id(a: &mut DeviceDescriptionId) -> Result {
    a.id = i32::try_from(a.description.get()?.id).unwrap_or(i32::MAX);
    Ok(())
}

pub fn process_index(a: &mut DeviceDescriptionProcessIndex) -> Result {
    a.description.get()?;
    a.process_index = 0;
    Ok(())
}

pub fn attributes(a: &mut DeviceDescriptionAttributes) -> Result {
    a.description.get()?;
    (a.attributes, a.num_attributes) = (ptr::null(), 0);
    Ok(())
}

pub fn kind(a: &mut DeviceDescriptionKind) -> Result {
    a.device_kind = Text::of(&a.description.get()?.kind);
    Ok(())
}

pub fn debug_string(a: &mut DeviceDescriptionDebugString) -> Result {
    a.debug_string = Text::of(&a.description.get()?.name);
    Ok(())
}

pub fn to_string(a: &mut DeviceDescriptionToString) -> Result {
    a.to_string = Text::of(&a.description.get()?.name);
    Ok(())
}
