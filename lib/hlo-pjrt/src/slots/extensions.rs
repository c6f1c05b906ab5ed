//! Extensions of the table.

use crate::fault::Fault;
use crate::fault::{Error, Result};
use crate::ffi::{args::*, register_handler, register_type};
use crate::layouts::{MemoryLayout, args::*, default_layout};
use crate::partitioners::{self, args::*};
use crate::sys::{self, Extension, Handle, Serialized, args};
use std::ffi::c_void;
use std::ptr;

/// The number of the extension for custom partitioners.
const CUSTOM_PARTITIONERS: i32 = 2;
/// The number of the extension for layouts.
const LAYOUTS: i32 = 4;
/// The number of the extension for custom calls.
const FFI: i32 = 5;
/// The number of the extension for shardings.
const SHARDINGS: i32 = 19;

type Slot = unsafe extern "C" fn(*mut c_void) -> Handle<Error>;

/// What the extension for custom calls has.
#[repr(C)]
struct Ffi {
    base: Extension,
    type_register: Slot,
    user_data_add: Slot,
    register_handler: Slot,
}

// SAFETY: it is not written.
unsafe impl Sync for Ffi {}

/// What the extension for shardings has.
#[repr(C)]
struct Shardings {
    base: Extension,
    parameters: Slot,
    outputs: Slot,
}

// SAFETY: it is not written.
unsafe impl Sync for Shardings {}

/// What the extension for custom partitioners has.
#[repr(C)]
struct Partitioners {
    base: Extension,
    register_custom_partitioner: Slot,
    register_batch_partitionable: Slot,
}

// SAFETY: it is not written.
unsafe impl Sync for Partitioners {}

/// What the extension for layouts has.
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

// SAFETY: it is not written.
unsafe impl Sync for Layouts {}

static FFI_EXTENSION: Ffi = Ffi {
    base: Extension {
        struct_size: size_of::<Ffi>(),
        kind: FFI,
        next: (&raw const SHARDINGS_EXTENSION).cast(),
    },
    type_register,
    user_data_add,
    register_handler: handler_register,
};

static SHARDINGS_EXTENSION: Shardings = Shardings {
    base: Extension {
        struct_size: size_of::<Shardings>(),
        kind: SHARDINGS,
        next: (&raw const PARTITIONERS_EXTENSION).cast(),
    },
    parameters,
    outputs,
};

static PARTITIONERS_EXTENSION: Partitioners = Partitioners {
    base: Extension {
        struct_size: size_of::<Partitioners>(),
        kind: CUSTOM_PARTITIONERS,
        next: (&raw const LAYOUTS_EXTENSION).cast(),
    },
    register_custom_partitioner,
    register_batch_partitionable,
};

static LAYOUTS_EXTENSION: Layouts = Layouts {
    base: Extension { struct_size: size_of::<Layouts>(), kind: LAYOUTS, next: ptr::null() },
    destroy: layout_destroy,
    serialize: layout_serialize,
    of_client: client_default_layout,
    of_buffer: buffer_layout,
    of_topology: topology_default_layout,
    of_outputs: output_layouts,
    of_parameters: parameter_layouts,
};

/// The first extension.
pub const EXTENSIONS: *const Extension = (&raw const FFI_EXTENSION).cast();

unsafe extern "C" fn type_register(args: *mut c_void) -> Handle<Error> {
    let function = |a: &mut TypeRegister| -> Result {
        a.id = register_type(a.name.text()?, a.id)?;
        Ok(())
    };
    // SAFETY: the caller's promise: it is this function's struct.
    unsafe { sys::call("FFI_Type_Register", args.cast(), function) }
}

unsafe extern "C" fn user_data_add(args: *mut c_void) -> Handle<Error> {
    let function = |a: &mut UserDataAdd| a.context.get()?.add(a.id, a.data);
    // SAFETY: as above.
    unsafe { sys::call("FFI_UserData_Add", args.cast(), function) }
}

unsafe extern "C" fn handler_register(args: *mut c_void) -> Handle<Error> {
    let function = |a: &mut RegisterHandler| -> Result {
        let platform = a.platform.text()?;
        if !["host", "cpu", "hlo"].iter().any(|known| platform.eq_ignore_ascii_case(known)) {
            return Err(Fault::invalid(format!(
                "handlers of the platform `{platform}` do not run on processors"
            )));
        }
        // SAFETY: the caller's promise: it is a handler.
        unsafe { register_handler(a.target.text()?, a.handler) }
    };
    // SAFETY: as above.
    unsafe { sys::call("FFI_Register_Handler", args.cast(), function) }
}

unsafe extern "C" fn parameters(args: *mut c_void) -> Handle<Error> {
    let function = |a: &mut args::ExecutableParameterShardings| {
        let executable = a.executable.get()?;
        a.num_parameters = executable.program().parameters.len();
        (a.shardings, a.sizes) = executable.shardings().0.pointers();
        Ok(())
    };
    // SAFETY: as above.
    unsafe { sys::call("Executable_ParameterShardings", args.cast(), function) }
}

unsafe extern "C" fn outputs(args: *mut c_void) -> Handle<Error> {
    let function = |a: &mut args::ExecutableOutputShardings| {
        let executable = a.executable.get()?;
        a.num_outputs = executable.program().results.len();
        (a.shardings, a.sizes) = executable.shardings().1.pointers();
        Ok(())
    };
    // SAFETY: as above.
    unsafe { sys::call("Executable_OutputShardings", args.cast(), function) }
}

unsafe extern "C" fn register_custom_partitioner(args: *mut c_void) -> Handle<Error> {
    let function = |a: &mut RegisterCustomPartitioner| {
        // SAFETY: the caller's promise: they are a partitioner's functions.
        unsafe { partitioners::register(a.name.text()?, a.callbacks) }
    };
    // SAFETY: as above.
    unsafe { sys::call("Register_Custom_Partitioner", args.cast(), function) }
}

unsafe extern "C" fn register_batch_partitionable(args: *mut c_void) -> Handle<Error> {
    // Calls say themselves how many dimensions run over a batch (`num_batch_dims`).
    let function = |a: &mut RegisterBatchPartitionable| a.name.text().map(|_| ());
    // SAFETY: as above.
    unsafe { sys::call("Register_Batch_Partitionable", args.cast(), function) }
}

unsafe extern "C" fn layout_destroy(args: *mut c_void) -> Handle<Error> {
    let function = |a: &mut MemoryLayoutDestroy| {
        drop(a.layout.take());
        Ok(())
    };
    // SAFETY: as above.
    unsafe { sys::call("Layouts_MemoryLayout_Destroy", args.cast(), function) }
}

unsafe extern "C" fn layout_serialize(args: *mut c_void) -> Handle<Error> {
    let function = |a: &mut MemoryLayoutSerialize| {
        a.serialized = Serialized::new(a.layout.get()?.text().into());
        Ok(())
    };
    // SAFETY: as above.
    unsafe { sys::call("Layouts_MemoryLayout_Serialize", args.cast(), function) }
}

unsafe extern "C" fn client_default_layout(args: *mut c_void) -> Handle<Error> {
    let function = |a: &mut ClientGetDefaultLayout| {
        a.client.get()?;
        a.layout = default_layout(a.dims)?;
        Ok(())
    };
    // SAFETY: as above.
    unsafe { sys::call("Layouts_Client_GetDefaultLayout", args.cast(), function) }
}

unsafe extern "C" fn buffer_layout(args: *mut c_void) -> Handle<Error> {
    let function = |a: &mut BufferLayout| {
        let buffer = a.buffer.get()?;
        a.layout = Handle::give(MemoryLayout::new(&buffer.order, buffer.dims.len()));
        Ok(())
    };
    // SAFETY: as above.
    unsafe { sys::call("Layouts_Buffer_MemoryLayout", args.cast(), function) }
}

unsafe extern "C" fn topology_default_layout(args: *mut c_void) -> Handle<Error> {
    let function = |a: &mut TopologyGetDefaultLayout| {
        a.topology.get()?;
        a.layout = default_layout(a.dims)?;
        Ok(())
    };
    // SAFETY: as above.
    unsafe { sys::call("Layouts_Topology_GetDefaultLayout", args.cast(), function) }
}

unsafe extern "C" fn output_layouts(args: *mut c_void) -> Handle<Error> {
    let function = |a: &mut ExecutableGetLayouts| {
        let layouts = a.executable.get()?.layouts().1.addresses();
        (a.count, a.layouts) = (layouts.len(), layouts.as_ptr());
        Ok(())
    };
    // SAFETY: as above.
    unsafe { sys::call("Layouts_Executable_GetOutputLayouts", args.cast(), function) }
}

unsafe extern "C" fn parameter_layouts(args: *mut c_void) -> Handle<Error> {
    let function = |a: &mut ExecutableGetLayouts| {
        let layouts = a.executable.get()?.layouts().0.addresses();
        (a.count, a.layouts) = (layouts.len(), layouts.as_ptr());
        Ok(())
    };
    // SAFETY: as above.
    unsafe { sys::call("Layouts_Executable_GetParameterLayouts", args.cast(), function) }
}
