//! The extensions of the table.

use crate::fault::Fault;
use crate::fault::Result;
use crate::ffi::{args::*, register_handler, register_type};
use crate::layouts::{MemoryLayout, args::*, default_layout};
use crate::partitioners::{self, args::*};
use crate::sys::table::{Slot, slot};
use crate::sys::{Extension, Handle, Serialized, args};
use std::ptr;

/// The number of the extension for custom partitioners.
const CUSTOM_PARTITIONERS: i32 = 2;
/// The number of the extension for layouts.
const LAYOUTS: i32 = 4;
/// The number of the extension for custom calls.
const FFI: i32 = 5;
/// The number of the extension for shardings.
const SHARDINGS: i32 = 19;

/// The extension for custom calls.
#[repr(C)]
struct Ffi {
    base: Extension,
    type_register: Slot,
    user_data_add: Slot,
    register_handler: Slot,
}

// SAFETY: the table is never written.
unsafe impl Sync for Ffi {}

/// The extension for shardings.
#[repr(C)]
struct Shardings {
    base: Extension,
    parameters: Slot,
    outputs: Slot,
}

// SAFETY: the table is never written.
unsafe impl Sync for Shardings {}

/// The extension for custom partitioners.
#[repr(C)]
struct Partitioners {
    base: Extension,
    register_custom_partitioner: Slot,
    register_batch_partitionable: Slot,
}

// SAFETY: the table is never written.
unsafe impl Sync for Partitioners {}

/// The extension for layouts.
#[repr(C)]
struct Layouts {
    base: Extension,
    destroy: Slot,
    serialize: Slot,
    of_client: Slot,
    of_buffer: Slot,
    of_topology: Slot,
    of_outputs: Slot,
    of_parameters: Slot,
}

// SAFETY: the table is never written.
unsafe impl Sync for Layouts {}

static FFI_EXTENSION: Ffi = Ffi {
    base: Extension {
        struct_size: size_of::<Ffi>(),
        kind: FFI,
        next: (&raw const SHARDINGS_EXTENSION).cast(),
    },
    type_register: slot!("FFI_Type_Register", TypeRegister, type_register),
    user_data_add: slot!("FFI_UserData_Add", UserDataAdd, user_data_add),
    register_handler: slot!("FFI_Register_Handler", RegisterHandler, handler_register),
};

static SHARDINGS_EXTENSION: Shardings = Shardings {
    base: Extension {
        struct_size: size_of::<Shardings>(),
        kind: SHARDINGS,
        next: (&raw const PARTITIONERS_EXTENSION).cast(),
    },
    parameters: slot!("Executable_ParameterShardings", args::ExecutableParameterShardings, parameters),
    outputs: slot!("Executable_OutputShardings", args::ExecutableOutputShardings, outputs),
};

static PARTITIONERS_EXTENSION: Partitioners = Partitioners {
    base: Extension {
        struct_size: size_of::<Partitioners>(),
        kind: CUSTOM_PARTITIONERS,
        next: (&raw const LAYOUTS_EXTENSION).cast(),
    },
    register_custom_partitioner: slot!(
        "Register_Custom_Partitioner",
        RegisterCustomPartitioner,
        register_custom_partitioner
    ),
    register_batch_partitionable: slot!(
        "Register_Batch_Partitionable",
        RegisterBatchPartitionable,
        register_batch_partitionable
    ),
};

static LAYOUTS_EXTENSION: Layouts = Layouts {
    base: Extension { struct_size: size_of::<Layouts>(), kind: LAYOUTS, next: ptr::null() },
    destroy: slot!("Layouts_MemoryLayout_Destroy", MemoryLayoutDestroy, layout_destroy),
    serialize: slot!("Layouts_MemoryLayout_Serialize", MemoryLayoutSerialize, layout_serialize),
    of_client: slot!("Layouts_Client_GetDefaultLayout", ClientGetDefaultLayout, client_default_layout),
    of_buffer: slot!("Layouts_Buffer_MemoryLayout", BufferLayout, buffer_layout),
    of_topology: slot!(
        "Layouts_Topology_GetDefaultLayout",
        TopologyGetDefaultLayout,
        topology_default_layout
    ),
    of_outputs: slot!("Layouts_Executable_GetOutputLayouts", ExecutableGetLayouts, output_layouts),
    of_parameters: slot!("Layouts_Executable_GetParameterLayouts", ExecutableGetLayouts, parameter_layouts),
};

/// The first extension.
pub const EXTENSIONS: *const Extension = (&raw const FFI_EXTENSION).cast();

fn type_register(a: &mut TypeRegister) -> Result {
    a.id = register_type(a.name.text()?, a.id)?;
    Ok(())
}

fn user_data_add(a: &mut UserDataAdd) -> Result {
    a.context.get()?.add(a.id, a.data)
}

fn handler_register(a: &mut RegisterHandler) -> Result {
    let platform = a.platform.text()?;
    if !["host", "cpu", "hlo"].iter().any(|known| platform.eq_ignore_ascii_case(known)) {
        return Err(Fault::invalid(format!(
            "handlers of the platform `{platform}` do not run on processors"
        )));
    }
    // SAFETY: the caller guarantees that the address is that of a handler.
    unsafe { register_handler(a.target.text()?, a.handler) }
}

fn parameters(a: &mut args::ExecutableParameterShardings) -> Result {
    let executable = a.executable.get()?;
    a.num_parameters = executable.program().parameters.len();
    (a.shardings, a.sizes) = executable.shardings().0.pointers();
    Ok(())
}

fn outputs(a: &mut args::ExecutableOutputShardings) -> Result {
    let executable = a.executable.get()?;
    a.num_outputs = executable.program().results.len();
    (a.shardings, a.sizes) = executable.shardings().1.pointers();
    Ok(())
}

fn register_custom_partitioner(a: &mut RegisterCustomPartitioner) -> Result {
    // SAFETY: the caller guarantees that these are the functions of a partitioner.
    unsafe { partitioners::register(a.name.text()?, a.callbacks) }
}

fn register_batch_partitionable(a: &mut RegisterBatchPartitionable) -> Result {
    // Nothing to register: each call contains its number of batch dimensions (`num_batch_dims`).
    a.name.text().map(|_| ())
}

fn layout_destroy(a: &mut MemoryLayoutDestroy) -> Result {
    drop(a.layout.take());
    Ok(())
}

fn layout_serialize(a: &mut MemoryLayoutSerialize) -> Result {
    a.serialized = Serialized::new(a.layout.get()?.text().into());
    Ok(())
}

fn client_default_layout(a: &mut ClientGetDefaultLayout) -> Result {
    a.client.get()?;
    a.layout = default_layout(a.dims)?;
    Ok(())
}

fn buffer_layout(a: &mut BufferLayout) -> Result {
    let buffer = a.buffer.get()?;
    a.layout = Handle::allocate(MemoryLayout::new(&buffer.order, buffer.dims.len()));
    Ok(())
}

fn topology_default_layout(a: &mut TopologyGetDefaultLayout) -> Result {
    a.topology.get()?;
    a.layout = default_layout(a.dims)?;
    Ok(())
}

fn output_layouts(a: &mut ExecutableGetLayouts) -> Result {
    let layouts = a.executable.get()?.layouts().1.addresses();
    (a.count, a.layouts) = (layouts.len(), layouts.as_ptr());
    Ok(())
}

fn parameter_layouts(a: &mut ExecutableGetLayouts) -> Result {
    let layouts = a.executable.get()?.layouts().0.addresses();
    (a.count, a.layouts) = (layouts.len(), layouts.as_ptr());
    Ok(())
}
