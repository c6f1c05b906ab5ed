//! The table of functions, which `GetPjrtApi` returns. A function without an implementation here returns an
//! error that says so.

use super::{Extension, Handle, MAJOR, MINOR, args};
use crate::fault::{Error, Fault};
use crate::slots;
use std::ffi::c_void;
use std::ptr;

/// A function of the table. It takes its struct of arguments and returns null, or an error that the caller
/// owns. (Two functions in the header return nothing. Callers ignore their return values.)
pub type Slot = unsafe extern "C" fn(*mut c_void) -> Handle<Error>;

/// Creates the slot of a function: from its name in the table, or from a name, its struct of arguments and
/// its implementation.
macro_rules! slot {
    ($name:ident) => {{
        unsafe extern "C" fn slot(_: *mut c_void) -> Handle<Error> {
            let fault = Fault::unimplemented("this plugin does not implement it");
            Handle::allocate(Error::new(fault.of(stringify!($name))))
        }
        slot
    }};
    ($name:ident $function:path) => {
        slot!(stringify!($name), args::$name, $function)
    };
    ($name:expr, $args:ty, $function:path) => {{
        unsafe extern "C" fn slot(args: *mut std::ffi::c_void) -> $crate::sys::Handle<$crate::fault::Error> {
            // SAFETY: the caller guarantees that this is the struct of this function.
            unsafe { $crate::sys::call($name, args.cast::<$args>(), $function) }
        }
        slot
    }};
}
pub(crate) use slot;

macro_rules! table {
    ($($name:ident $(=> $function:path)?;)*) => {
        /// The table, in the order of the header.
        #[repr(C)]
        #[expect(non_snake_case, missing_docs, reason = "fields are named as in the header")]
        pub struct Api {
            pub struct_size: usize,
            pub extensions: *const Extension,
            pub version: Version,
            $(pub $name: Slot,)*
        }

        /// The table that callers receive.
        pub static API: Api = Api {
            struct_size: size_of::<Api>(),
            extensions: slots::EXTENSIONS,
            version: Version { struct_size: size_of::<Version>(), extensions: ptr::null(), major: MAJOR, minor: MINOR },
            $($name: slot!($name $($function)?),)*
        };

        /// The names of the functions, in the order of the header, and whether they are implemented.
        pub const NAMES: &[(&str, bool)] = &[$((stringify!($name), [$(stringify!($function),)? ""].len() > 1),)*];
    };
}

/// The version of the API.
#[repr(C)]
#[derive(Debug)]
pub struct Version {
    pub(crate) struct_size: usize,
    pub(crate) extensions: *const Extension,
    pub(crate) major: i32,
    pub(crate) minor: i32,
}

// SAFETY: the table is never written. It points to functions and to extensions, which are never written
// either.
unsafe impl Sync for Api {}

table! {
    ErrorDestroy => slots::error::destroy;
    ErrorMessage => slots::error::message;
    ErrorGetCode => slots::error::get_code;
    PluginInitialize => slots::plugin::initialize;
    PluginAttributes => slots::plugin::attributes;
    EventDestroy => slots::event::destroy;
    EventIsReady => slots::event::is_ready;
    EventError => slots::event::error;
    EventAwait => slots::event::wait;
    EventOnReady => slots::event::on_ready;
    ClientCreate => slots::client::create;
    ClientDestroy => slots::client::destroy;
    ClientPlatformName => slots::client::platform_name;
    ClientProcessIndex => slots::client::process_index;
    ClientPlatformVersion => slots::client::platform_version;
    ClientDevices => slots::client::devices;
    ClientAddressableDevices => slots::client::addressable_devices;
    ClientLookupDevice => slots::client::lookup_device;
    ClientLookupAddressableDevice => slots::client::lookup_addressable_device;
    ClientAddressableMemories => slots::client::addressable_memories;
    ClientCompile => slots::client::compile;
    ClientDefaultDeviceAssignment => slots::client::default_device_assignment;
    ClientBufferFromHostBuffer => slots::transfer::buffer_from_host_buffer;
    DeviceDescriptionId => slots::description::id;
    DeviceDescriptionProcessIndex => slots::description::process_index;
    DeviceDescriptionAttributes => slots::description::attributes;
    DeviceDescriptionKind => slots::description::kind;
    DeviceDescriptionDebugString => slots::description::debug_string;
    DeviceDescriptionToString => slots::description::to_string;
    DeviceGetDescription => slots::device::get_description;
    DeviceIsAddressable => slots::device::is_addressable;
    DeviceLocalHardwareId => slots::device::local_hardware_id;
    DeviceAddressableMemories => slots::device::addressable_memories;
    DeviceDefaultMemory => slots::device::default_memory;
    DeviceMemoryStats;
    MemoryId => slots::memory::id;
    MemoryKind => slots::memory::kind;
    MemoryDebugString => slots::memory::debug_string;
    MemoryToString => slots::memory::to_string;
    MemoryAddressableByDevices => slots::memory::addressable_by_devices;
    ExecutableDestroy => slots::executable::destroy;
    ExecutableName => slots::executable::name;
    ExecutableNumReplicas => slots::executable::num_replicas;
    ExecutableNumPartitions => slots::executable::num_partitions;
    ExecutableNumOutputs => slots::executable::num_outputs;
    ExecutableSizeOfGeneratedCodeInBytes => slots::executable::size_of_generated_code_in_bytes;
    ExecutableGetCostAnalysis => slots::executable::get_cost_analysis;
    ExecutableOutputMemoryKinds => slots::executable::output_memory_kinds;
    ExecutableOptimizedProgram => slots::executable::optimized_program;
    ExecutableSerialize => slots::executable::serialize;
    LoadedExecutableDestroy => slots::loaded::destroy;
    LoadedExecutableGetExecutable => slots::loaded::get_executable;
    LoadedExecutableAddressableDevices => slots::loaded::addressable_devices;
    LoadedExecutableDelete => slots::loaded::delete;
    LoadedExecutableIsDeleted => slots::loaded::is_deleted;
    LoadedExecutableExecute => slots::loaded::execute;
    ExecutableDeserializeAndLoad => slots::executable::deserialize_and_load;
    LoadedExecutableFingerprint;
    BufferDestroy => slots::buffer::destroy;
    BufferElementType => slots::buffer::element_type;
    BufferDimensions => slots::buffer::dimensions;
    BufferUnpaddedDimensions => slots::buffer::unpadded_dimensions;
    BufferDynamicDimensionIndices => slots::buffer::dynamic_dimension_indices;
    BufferGetMemoryLayout => slots::buffer::get_memory_layout;
    BufferOnDeviceSizeInBytes => slots::buffer::on_device_size_in_bytes;
    BufferDevice => slots::buffer::device;
    BufferMemory => slots::buffer::memory;
    BufferDelete => slots::buffer::delete;
    BufferIsDeleted => slots::buffer::is_deleted;
    BufferCopyToDevice => slots::buffer::copy_to_device;
    BufferToHostBuffer => slots::buffer::to_host_buffer;
    BufferIsOnCpu => slots::buffer::is_on_cpu;
    BufferReadyEvent => slots::buffer::ready_event;
    BufferUnsafePointer => slots::buffer::unsafe_pointer;
    BufferIncreaseExternalReferenceCount => slots::buffer::increase_external_reference_count;
    BufferDecreaseExternalReferenceCount => slots::buffer::decrease_external_reference_count;
    BufferOpaqueDeviceMemoryDataPointer => slots::buffer::opaque_device_memory_data_pointer;
    CopyToDeviceStreamDestroy;
    CopyToDeviceStreamAddChunk;
    CopyToDeviceStreamTotalBytes;
    CopyToDeviceStreamGranuleSize;
    CopyToDeviceStreamCurrentBytes;
    TopologyDescriptionCreate;
    TopologyDescriptionDestroy => slots::topology::destroy;
    TopologyDescriptionPlatformName => slots::topology::platform_name;
    TopologyDescriptionPlatformVersion => slots::topology::platform_version;
    TopologyDescriptionGetDeviceDescriptions => slots::topology::get_device_descriptions;
    TopologyDescriptionSerialize => slots::topology::serialize;
    TopologyDescriptionAttributes => slots::topology::attributes;
    Compile;
    ExecutableOutputElementTypes => slots::executable::output_element_types;
    ExecutableOutputDimensions => slots::executable::output_dimensions;
    BufferCopyToMemory => slots::buffer::copy_to_memory;
    ClientCreateViewOfDeviceBuffer => slots::transfer::create_view_of_device_buffer;
    ExecutableFingerprint => slots::executable::fingerprint;
    ClientTopologyDescription => slots::client::topology_description;
    ExecutableGetCompiledMemoryStats => slots::executable::get_compiled_memory_stats;
    MemoryKindId => slots::memory::kind_id;
    ExecuteContextCreate => slots::context::create;
    ExecuteContextDestroy => slots::context::destroy;
    BufferCopyRawToHost => slots::buffer::copy_raw_to_host;
    AsyncHostToDeviceTransferManagerDestroy;
    AsyncHostToDeviceTransferManagerTransferData;
    ClientCreateBuffersForAsyncHostToDevice;
    AsyncHostToDeviceTransferManagerRetrieveBuffer;
    AsyncHostToDeviceTransferManagerDevice;
    AsyncHostToDeviceTransferManagerBufferCount;
    AsyncHostToDeviceTransferManagerBufferSize;
    AsyncHostToDeviceTransferManagerSetBufferError;
    AsyncHostToDeviceTransferManagerAddMetadata;
    ClientDmaMap;
    ClientDmaUnmap;
    ClientCreateUninitializedBuffer => slots::transfer::create_uninitialized_buffer;
    ClientUpdateGlobalProcessInfo;
    TopologyDescriptionDeserialize;
    ClientCreateAliasBuffer;
    ClientFulfillAliasBuffer;
    LoadedExecutableGetDeviceAssignment => slots::loaded::get_device_assignment;
    ClientCreateErrorBuffer => slots::transfer::create_error_buffer;
    AsyncHostToDeviceTransferManagerTransferLiteral;
    BufferCopyRawToHostFuture;
    DevicePoisonExecution;
    DeviceCreateAsyncTrackingEvent;
    AsyncTrackingEventDestroy;
    ExecutableGetCompileOptions => slots::executable::get_compile_options;
    BufferDonateWithControlDependency;
    EventCreate => slots::event::create;
    EventSet => slots::event::set;
    DeviceGetAttributes => slots::device::get_attributes;
    ClientLoad;
    LoadedExecutableAddressableDeviceLogicalIds => slots::loaded::addressable_device_logical_ids;
    BufferBitcast;
    ErrorForEachPayload => slots::error::for_each_payload;
    TopologyDescriptionFingerprint => slots::topology::fingerprint;
    ExecutableParameterMemoryKinds => slots::executable::parameter_memory_kinds;
    DeviceClearMemoryStats;
    TopologyDescriptionMakeCanonicalShapeForMemorySpace;
    TopologyDescriptionGetMemorySpaceKindIds => slots::topology::get_memory_space_kind_ids;
}
