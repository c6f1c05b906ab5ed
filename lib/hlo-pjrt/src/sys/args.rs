//! The structs of arguments, each named after its function. Some supported callers do not know the fields
//! after a `;`.
#![expect(missing_docs, reason = "fields are named as in the header, which documents them")]

use super::{Args, Extension, Handle, List, MemoryLayout, NamedValue, Program, Serialized, Text};
use super::{ExecuteOptions, LogicalDeviceIds};
use crate::buffer::Buffer;
use crate::client::Client;
use crate::device::{Device, DeviceDescription, Memory};
use crate::event::Event;
use crate::executable::{Executable, LoadedExecutable};
use crate::fault::Error;
use crate::topology::Topology;
use crate::user_data::ExecuteContext;
use std::ffi::c_void;

/// Defines structs of arguments. The fields before `;` are those of a function's first version. Later
/// versions added the others.
macro_rules! args {
    ($($name:ident { $($field:ident: $type:ty),* $(; $($late:ident: $late_type:ty),*)? })*) => { $(
        #[repr(C)]
        pub struct $name {
            pub struct_size: usize,
            pub extensions: *const Extension,
            $(pub $field: $type,)*
            $($(pub $late: $late_type,)*)?
        }

        // SAFETY: the struct contains numbers and pointers, which may be null.
        unsafe impl Args for $name {
            const MIN_SIZE: usize = {
                let end = std::mem::offset_of!(Self, extensions) + size_of::<*const Extension>();
                $(let end = { let _ = end; std::mem::offset_of!(Self, $field) + size_of::<$type>() };)*
                end
            };
            const FULL_SIZE: usize = {
                let end = Self::MIN_SIZE;
                $($(let end = { let _ = end; std::mem::offset_of!(Self, $late) + size_of::<$late_type>() };)*)?
                end
            };
        }
    )* };
}

pub type Callback = Option<unsafe extern "C" fn(Handle<Error>, *mut c_void)>;
pub type PayloadVisitor = Option<unsafe extern "C" fn(*const u8, usize, *const u8, usize, *mut c_void)>;
pub type OnDelete = Option<unsafe extern "C" fn(*mut c_void, *mut c_void)>;
/// Callbacks for values that processes share. This library does not need them.
pub type KeyValues = *const c_void;

pub(crate) use args;

args! {
    ErrorDestroy { error: Handle<Error> }
    ErrorMessage { error: Handle<Error>, message: Text }
    ErrorGetCode { error: Handle<Error>, code: i32 }
    ErrorForEachPayload { error: Handle<Error>, visitor: PayloadVisitor, user_arg: *mut c_void }

    PluginInitialize {}
    PluginAttributes { attributes: List<NamedValue> }

    EventDestroy { event: Handle<Event> }
    EventIsReady { event: Handle<Event>, is_ready: bool }
    EventError { event: Handle<Event> }
    EventAwait { event: Handle<Event> }
    EventOnReady { event: Handle<Event>, callback: Callback, user_arg: *mut c_void }
    EventCreate { event: Handle<Event> }
    EventSet { event: Handle<Event>, error_code: i32, error_message: Text }

    ClientCreate {
        create_options: List<NamedValue>, kv_get: KeyValues, kv_get_arg: *mut c_void, kv_put: KeyValues,
        kv_put_arg: *mut c_void, client: Handle<Client>; kv_try_get: KeyValues, kv_try_get_arg: *mut c_void
    }
    ClientDestroy { client: Handle<Client> }
    ClientPlatformName { client: Handle<Client>, platform_name: Text }
    ClientPlatformVersion { client: Handle<Client>, platform_version: Text }
    ClientProcessIndex { client: Handle<Client>, process_index: i32 }
    ClientTopologyDescription { client: Handle<Client>, topology: Handle<Topology> }
    ClientDevices { client: Handle<Client>, devices: List<Handle<Device>> }
    ClientAddressableDevices { client: Handle<Client>, devices: List<Handle<Device>> }
    ClientLookupDevice { client: Handle<Client>, id: i32, device: Handle<Device> }
    ClientLookupAddressableDevice { client: Handle<Client>, local_hardware_id: i32, device: Handle<Device> }
    ClientAddressableMemories { client: Handle<Client>, memories: List<Handle<Memory>> }
    ClientCompile {
        client: Handle<Client>, program: *const Program, compile_options: Text,
        executable: Handle<LoadedExecutable>
    }
    ClientDefaultDeviceAssignment {
        client: Handle<Client>, num_replicas: i32, num_partitions: i32, assignment_size: usize,
        assignment: *mut i32
    }
    ClientBufferFromHostBuffer {
        client: Handle<Client>, data: *const c_void, element_type: i32, dims: List<i64>,
        byte_strides: List<i64>, semantics: i32, device: Handle<Device>, memory: Handle<Memory>,
        device_layout: *const MemoryLayout, done_with_host_buffer: Handle<Event>, buffer: Handle<Buffer>
    }
    ClientCreateViewOfDeviceBuffer {
        client: Handle<Client>, device_buffer_ptr: *mut c_void, dims: List<i64>, element_type: i32,
        layout: *const MemoryLayout, device: Handle<Device>, on_delete: OnDelete, on_delete_arg: *mut c_void,
        stream: isize, buffer: Handle<Buffer>; memory: Handle<Memory>
    }
    ClientCreateUninitializedBuffer {
        client: Handle<Client>, dims: List<i64>, element_type: i32, layout: *const MemoryLayout,
        device: Handle<Device>, memory: Handle<Memory>, buffer: Handle<Buffer>
    }
    ClientCreateErrorBuffer {
        client: Handle<Client>, error_code: i32, error_message: Text, dims: List<i64>, element_type: i32,
        layout: *const MemoryLayout, memory: Handle<Memory>, buffer: Handle<Buffer>;
        payload: List<NamedValue>
    }

    DeviceDescriptionId { description: Handle<DeviceDescription>, id: i32 }
    DeviceDescriptionProcessIndex { description: Handle<DeviceDescription>, process_index: i32 }
    DeviceDescriptionAttributes {
        description: Handle<DeviceDescription>, num_attributes: usize, attributes: *const NamedValue
    }
    DeviceDescriptionKind { description: Handle<DeviceDescription>, device_kind: Text }
    DeviceDescriptionDebugString { description: Handle<DeviceDescription>, debug_string: Text }
    DeviceDescriptionToString { description: Handle<DeviceDescription>, to_string: Text }

    DeviceGetDescription { device: Handle<Device>, description: Handle<DeviceDescription> }
    DeviceIsAddressable { device: Handle<Device>, is_addressable: bool }
    DeviceLocalHardwareId { device: Handle<Device>, local_hardware_id: i32 }
    DeviceAddressableMemories { device: Handle<Device>, memories: List<Handle<Memory>> }
    DeviceDefaultMemory { device: Handle<Device>, memory: Handle<Memory> }
    DeviceGetAttributes {
        device: Handle<Device>, attributes: List<NamedValue>, owner: *mut c_void,
        free: Option<unsafe extern "C" fn(*mut c_void)>
    }

    MemoryId { memory: Handle<Memory>, id: i32 }
    MemoryKind { memory: Handle<Memory>, kind: Text }
    MemoryKindId { memory: Handle<Memory>, kind_id: i32 }
    MemoryDebugString { memory: Handle<Memory>, debug_string: Text }
    MemoryToString { memory: Handle<Memory>, to_string: Text }
    MemoryAddressableByDevices { memory: Handle<Memory>, devices: List<Handle<Device>> }

    ExecuteContextCreate { context: Handle<ExecuteContext> }
    ExecuteContextDestroy { context: Handle<ExecuteContext> }

    ExecutableDestroy { executable: Handle<Executable> }
    ExecutableName { executable: Handle<Executable>, name: Text }
    ExecutableNumReplicas { executable: Handle<Executable>, num_replicas: usize }
    ExecutableNumPartitions { executable: Handle<Executable>, num_partitions: usize }
    ExecutableNumOutputs { executable: Handle<Executable>, num_outputs: usize }
    ExecutableSizeOfGeneratedCodeInBytes { executable: Handle<Executable>, size_in_bytes: i64 }
    ExecutableGetCostAnalysis {
        executable: Handle<Executable>, num_properties: usize, properties: *const NamedValue
    }
    ExecutableGetCompiledMemoryStats {
        executable: Handle<Executable>, generated_code: i64, argument: i64, output: i64, alias: i64, temp: i64,
        host_generated_code: i64, host_argument: i64, host_output: i64, host_alias: i64, host_temp: i64;
        peak_memory: i64, total_size: i64, total_allocation: i64, indefinite_allocations: i64,
        peak_unpadded_heap: i64
    }
    ExecutableOutputElementTypes { executable: Handle<Executable>, types: List<i32> }
    ExecutableOutputDimensions {
        executable: Handle<Executable>, num_outputs: usize, dims: *const i64, dim_sizes: *const usize
    }
    ExecutableOutputMemoryKinds {
        executable: Handle<Executable>, num_outputs: usize, kinds: *const *const u8, kind_sizes: *const usize
    }
    ExecutableParameterMemoryKinds {
        executable: Handle<Executable>, num_parameters: usize, kinds: *const *const u8,
        kind_sizes: *const usize
    }
    ExecutableOptimizedProgram { executable: Handle<Executable>, program: *mut Program }
    ExecutableFingerprint { executable: Handle<Executable>, fingerprint: Text }
    ExecutableSerialize { executable: Handle<Executable>, serialized: Serialized }
    ExecutableGetCompileOptions { executable: Handle<Executable>, serialized: Serialized }
    ExecutableDeserializeAndLoad {
        client: Handle<Client>, serialized: Text, executable: Handle<LoadedExecutable>;
        compile_options: Text, load_options: *const c_void
    }

    ExecutableParameterShardings {
        executable: Handle<Executable>, num_parameters: usize, shardings: *const *const u8, sizes: *const usize
    }
    ExecutableOutputShardings {
        executable: Handle<Executable>, num_outputs: usize, shardings: *const *const u8, sizes: *const usize
    }

    LoadedExecutableDestroy { executable: Handle<LoadedExecutable> }
    LoadedExecutableGetExecutable { loaded: Handle<LoadedExecutable>, executable: Handle<Executable> }
    LoadedExecutableGetDeviceAssignment { executable: Handle<LoadedExecutable>, serialized: Serialized }
    LoadedExecutableAddressableDevices { executable: Handle<LoadedExecutable>, devices: List<Handle<Device>> }
    LoadedExecutableAddressableDeviceLogicalIds {
        executable: Handle<LoadedExecutable>, ids: List<LogicalDeviceIds>
    }
    LoadedExecutableDelete { executable: Handle<LoadedExecutable> }
    LoadedExecutableIsDeleted { executable: Handle<LoadedExecutable>, is_deleted: bool }
    LoadedExecutableExecute {
        executable: Handle<LoadedExecutable>, options: *const ExecuteOptions,
        argument_lists: *const *const Handle<Buffer>, num_devices: usize, num_args: usize,
        output_lists: *const *mut Handle<Buffer>, device_complete_events: *mut Handle<Event>,
        execute_device: Handle<Device>
    }

    BufferDestroy { buffer: Handle<Buffer> }
    BufferElementType { buffer: Handle<Buffer>, element_type: i32 }
    BufferDimensions { buffer: Handle<Buffer>, dims: List<i64> }
    BufferUnpaddedDimensions { buffer: Handle<Buffer>, dims: List<i64> }
    BufferDynamicDimensionIndices { buffer: Handle<Buffer>, indices: List<usize> }
    BufferGetMemoryLayout { buffer: Handle<Buffer>, layout: MemoryLayout }
    BufferOnDeviceSizeInBytes { buffer: Handle<Buffer>, size: usize }
    BufferDevice { buffer: Handle<Buffer>, device: Handle<Device> }
    BufferMemory { buffer: Handle<Buffer>, memory: Handle<Memory> }
    BufferDelete { buffer: Handle<Buffer> }
    BufferIsDeleted { buffer: Handle<Buffer>, is_deleted: bool }
    BufferIsOnCpu { buffer: Handle<Buffer>, is_on_cpu: bool }
    BufferReadyEvent { buffer: Handle<Buffer>, event: Handle<Event> }
    BufferUnsafePointer { buffer: Handle<Buffer>, pointer: usize }
    BufferOpaqueDeviceMemoryDataPointer { buffer: Handle<Buffer>, pointer: *mut c_void }
    BufferIncreaseExternalReferenceCount { buffer: Handle<Buffer> }
    BufferDecreaseExternalReferenceCount { buffer: Handle<Buffer> }
    BufferCopyToDevice { buffer: Handle<Buffer>, dst_device: Handle<Device>, dst_buffer: Handle<Buffer> }
    BufferCopyToMemory { buffer: Handle<Buffer>, dst_memory: Handle<Memory>, dst_buffer: Handle<Buffer> }
    BufferToHostBuffer {
        src: Handle<Buffer>, host_layout: *const MemoryLayout, dst: *mut c_void, dst_size: usize,
        event: Handle<Event>
    }
    BufferCopyRawToHost {
        buffer: Handle<Buffer>, dst: *mut c_void, offset: i64, transfer_size: i64, event: Handle<Event>
    }

    TopologyDescriptionDestroy { topology: Handle<Topology> }
    TopologyDescriptionPlatformName { topology: Handle<Topology>, platform_name: Text }
    TopologyDescriptionPlatformVersion { topology: Handle<Topology>, platform_version: Text }
    TopologyDescriptionGetDeviceDescriptions {
        topology: Handle<Topology>, descriptions: List<Handle<DeviceDescription>>
    }
    TopologyDescriptionSerialize { topology: Handle<Topology>, serialized: Serialized }
    TopologyDescriptionAttributes { topology: Handle<Topology>, attributes: List<NamedValue> }
    TopologyDescriptionFingerprint { topology: Handle<Topology>, fingerprint: u64 }
    TopologyDescriptionGetMemorySpaceKindIds { topology: Handle<Topology>, kind_ids: List<i32> }
}
