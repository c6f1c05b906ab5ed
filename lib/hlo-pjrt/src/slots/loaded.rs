//! Functions for programs that can be run.

use crate::buffer::Buffer;
use crate::execute::{self, Run};
use crate::fault::{Fault, Result};
use crate::sys::{Handle, List, Serialized, args::*, elements};
use prost::Message;

pub fn destroy(a: &mut LoadedExecutableDestroy) -> Result {
    drop(a.executable.take());
    Ok(())
}

pub fn get_executable(a: &mut LoadedExecutableGetExecutable) -> Result {
    a.executable = Handle::allocate(a.loaded.get()?.properties());
    Ok(())
}

pub fn get_device_assignment(a: &mut LoadedExecutableGetDeviceAssignment) -> Result {
    a.serialized = Serialized::new(a.executable.get()?.properties().assignment().encode_to_vec());
    Ok(())
}

pub fn addressable_devices(a: &mut LoadedExecutableAddressableDevices) -> Result {
    a.devices = List::to(a.executable.get()?.devices());
    Ok(())
}

pub fn addressable_device_logical_ids(a: &mut LoadedExecutableAddressableDeviceLogicalIds) -> Result {
    a.ids = List::to(a.executable.get()?.logical_ids());
    Ok(())
}

pub fn delete(a: &mut LoadedExecutableDelete) -> Result {
    a.executable.get()?.delete();
    Ok(())
}

pub fn is_deleted(a: &mut LoadedExecutableIsDeleted) -> Result {
    a.is_deleted = a.executable.get()?.is_deleted();
    Ok(())
}

pub fn execute(a: &mut LoadedExecutableExecute) -> Result {
    let program = a.executable.get()?.program()?;
    // SAFETY: the caller passes options or null.
    let options = unsafe { a.options.as_ref() };
    let options = options.ok_or_else(|| Fault::invalid("expected options, found a null pointer"))?;
    if options.num_send_ops > 0 || options.num_recv_ops > 0 {
        return Err(Fault::unimplemented("callbacks for sends and receives are not supported"));
    }
    let kept = options.non_donatable_input_indices.get()?;
    let kept = kept.iter().filter_map(|&n| usize::try_from(n).ok()).collect();
    let knows_contexts = options.struct_size >= std::mem::offset_of!(crate::sys::ExecuteOptions, context) + 8;
    let context =
        if knows_contexts && !options.context.is_null() { Some(options.context.get()?) } else { None };
    let device =
        if a.execute_device.is_null() { None } else { Some(program.platform.device(a.execute_device)?) };
    // SAFETY: the caller guarantees that there is one list for each device.
    let lists = unsafe { elements(a.argument_lists, a.num_devices)? };
    let arguments = lists.iter().map(|&list| {
        // SAFETY: the caller guarantees that each list has `num_args` buffers.
        let list = unsafe { elements(list, a.num_args)? };
        list.iter().map(|&buffer| buffer.get()).collect()
    });
    let arguments = arguments.collect::<Result<Vec<Vec<&Buffer>>>>()?;
    // SAFETY: the caller guarantees that there is one list for each device.
    let outputs = unsafe { elements(a.output_lists, a.num_devices)? };
    if outputs.iter().any(|list| list.is_null()) && !program.results.is_empty() {
        return Err(Fault::invalid("a list for results is a null pointer"));
    }
    let started = execute::execute(program, Run { arguments, kept, context, device })?;
    for (n, (buffers, event)) in started.into_iter().enumerate() {
        for (k, buffer) in buffers.into_iter().enumerate() {
            // SAFETY: the caller guarantees that there is room for all results.
            unsafe { outputs[n].add(k).write(Handle::allocate(buffer)) };
        }
        if !a.device_complete_events.is_null() {
            // SAFETY: the caller guarantees that there is room for one event for each device.
            unsafe { a.device_complete_events.add(n).write(Handle::allocate(event)) };
        }
    }
    Ok(())
}
