//! Functions for clients: their properties, and compilation.

use crate::client::Client;
use crate::executable::LoadedExecutable;
use crate::fault::{Fault, Result};
use crate::platform::Options;
use crate::sys::{Handle, List, Text, args::*};
use crate::{compile, inspect};

pub fn create(a: &mut ClientCreate) -> Result {
    let options = Options::read(a.create_options.get()?)?;
    a.client = Handle::allocate(Client::new(&options)?);
    Ok(())
}

pub fn destroy(a: &mut ClientDestroy) -> Result {
    drop(a.client.take());
    Ok(())
}

pub fn platform_name(a: &mut ClientPlatformName) -> Result {
    a.platform_name = Text::of(&a.client.get()?.platform.name);
    Ok(())
}

pub fn platform_version(a: &mut ClientPlatformVersion) -> Result {
    a.platform_version = Text::of(&a.client.get()?.platform.version);
    Ok(())
}

pub fn process_index(a: &mut ClientProcessIndex) -> Result {
    a.client.get()?;
    a.process_index = 0;
    Ok(())
}

pub fn topology_description(a: &mut ClientTopologyDescription) -> Result {
    a.topology = Handle::to(&a.client.get()?.topology);
    Ok(())
}

pub fn devices(a: &mut ClientDevices) -> Result {
    a.devices = List::to(&a.client.get()?.platform.device_handles);
    Ok(())
}

pub fn addressable_devices(a: &mut ClientAddressableDevices) -> Result {
    a.devices = List::to(&a.client.get()?.platform.device_handles);
    Ok(())
}

pub fn lookup_device(a: &mut ClientLookupDevice) -> Result {
    a.device = device(a.client, a.id)?;
    Ok(())
}

pub fn lookup_addressable_device(a: &mut ClientLookupAddressableDevice) -> Result {
    a.device = device(a.client, a.local_hardware_id)?;
    Ok(())
}

fn device(client: Handle<Client>, id: i32) -> Result<Handle<crate::device::Device>> {
    let platform = &client.get()?.platform;
    let found = usize::try_from(id).ok().and_then(|id| platform.device_handles.get(id));
    found.copied().ok_or_else(|| {
        let last = platform.devices.len() - 1;
        Fault::invalid(format!("there is no device {id}: the client's are 0 to {last}"))
    })
}

pub fn addressable_memories(a: &mut ClientAddressableMemories) -> Result {
    a.memories = List::to(&a.client.get()?.platform.memory_handles);
    Ok(())
}

pub fn compile(a: &mut ClientCompile) -> Result {
    let platform = &a.client.get()?.platform;
    // SAFETY: the caller passes a program or null.
    let program = unsafe { a.program.as_ref() };
    let program = program.ok_or_else(|| Fault::invalid("expected a program, found a null pointer"))?;
    // SAFETY: as above.
    let code = unsafe { crate::sys::elements(program.code.cast_const(), program.code_size)? };
    let source = crate::source::Source {
        format: program.format.text()?,
        code: code.to_vec(),
        options: a.compile_options.get()?.to_vec(),
    };
    let program = compile::compile(platform, source)?;
    if let Some(partition) = program.engines.best().partition() {
        partition.inspected().iter().try_for_each(inspect::pass_sharding)?;
    }
    a.executable = Handle::allocate(LoadedExecutable::new(program));
    Ok(())
}

pub fn default_device_assignment(a: &mut ClientDefaultDeviceAssignment) -> Result {
    let platform = &a.client.get()?.platform;
    let count = |n: i32| usize::try_from(n).unwrap_or(0);
    let needed = count(a.num_replicas).saturating_mul(count(a.num_partitions));
    let there = platform.devices.len();
    if needed > there {
        return Err(Fault::invalid(format!(
            "the program runs on {needed} devices, but the client has {there}"
        )));
    }
    if needed > a.assignment_size || (needed > 0 && a.assignment.is_null()) {
        return Err(Fault::invalid(format!("{needed} numbers do not fit in {}", a.assignment_size)));
    }
    for n in 0..needed {
        // SAFETY: the caller guarantees that there is room for `needed` numbers.
        unsafe { a.assignment.add(n).write(i32::try_from(n).unwrap_or(i32::MAX)) };
    }
    Ok(())
}
