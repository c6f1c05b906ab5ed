//! Functions for topologies. Topologies belong to a client.

use crate::device::MEMORY_KINDS;
use crate::fault::Result;
use crate::sys::{List, Serialized, Text, args::*};
use sha2::{Digest, Sha256};

/// The numbers of the memory kinds.
static KIND_IDS: [i32; MEMORY_KINDS.len()] = [0, 1, 2];

pub fn destroy(_: &mut TopologyDescriptionDestroy) -> Result {
    // Callers never own a topology: PJRT_TopologyDescription_Create and _Deserialize are not implemented.
    Ok(())
}

pub fn platform_name(a: &mut TopologyDescriptionPlatformName) -> Result {
    a.platform_name = Text::of(&a.topology.get()?.platform.name);
    Ok(())
}

pub fn platform_version(a: &mut TopologyDescriptionPlatformVersion) -> Result {
    a.platform_version = Text::of(&a.topology.get()?.platform.version);
    Ok(())
}

pub fn get_device_descriptions(a: &mut TopologyDescriptionGetDeviceDescriptions) -> Result {
    a.descriptions = List::to(&a.topology.get()?.descriptions);
    Ok(())
}

pub fn serialize(a: &mut TopologyDescriptionSerialize) -> Result {
    a.serialized = Serialized::new(a.topology.get()?.text().into_bytes());
    Ok(())
}

pub fn attributes(a: &mut TopologyDescriptionAttributes) -> Result {
    a.topology.get()?;
    a.attributes = List::to(&[]);
    Ok(())
}

pub fn fingerprint(a: &mut TopologyDescriptionFingerprint) -> Result {
    let digest = Sha256::digest(a.topology.get()?.text());
    let bytes: [u8; 8] = std::array::from_fn(|i| digest[i]);
    a.fingerprint = u64::from_le_bytes(bytes);
    Ok(())
}

pub fn get_memory_space_kind_ids(a: &mut TopologyDescriptionGetMemorySpaceKindIds) -> Result {
    a.topology.get()?;
    a.kind_ids = List::to(&KIND_IDS);
    Ok(())
}
