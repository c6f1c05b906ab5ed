//! The table: its layout, and its functions with invalid arguments.

use crate::plugin::{api, failure};
use hlo_pjrt::fault::{Code, Error};
use hlo_pjrt::sys::table::{Api, NAMES, Slot};
use hlo_pjrt::sys::{Args, Handle, args};
use std::ptr;

/// The sizes of the structs in the header (`PJRT_…_STRUCT_SIZE` of version 0.114).
#[test]
fn structs_are_as_large_as_the_header_says() {
    macro_rules! check {
        ($($name:ident $size:literal),*) => {
            $(assert_eq!(<args::$name as Args>::FULL_SIZE, $size, stringify!($name));)*
        };
    }
    check!(
        ErrorDestroy 24, ErrorMessage 40, ErrorGetCode 28, ErrorForEachPayload 40, PluginInitialize
        16, PluginAttributes 32, EventDestroy 24, EventIsReady 25, EventError 24, EventAwait 24,
        EventOnReady 40, EventCreate 24, EventSet 48, ClientCreate 88, ClientDestroy 24,
        ClientPlatformName 40, ClientPlatformVersion 40, ClientProcessIndex 28,
        ClientTopologyDescription 32, ClientDevices 40, ClientAddressableDevices 40,
        ClientLookupDevice 40, ClientLookupAddressableDevice 40, ClientAddressableMemories 40,
        ClientCompile 56, ClientDefaultDeviceAssignment 48, ClientBufferFromHostBuffer 120,
        ClientCreateViewOfDeviceBuffer 112, ClientCreateUninitializedBuffer 80,
        ClientCreateErrorBuffer 112, DeviceDescriptionId 28, DeviceDescriptionProcessIndex 28,
        DeviceDescriptionAttributes 40, DeviceDescriptionKind 40, DeviceDescriptionDebugString 40,
        DeviceDescriptionToString 40, DeviceGetDescription 32, DeviceIsAddressable 25,
        DeviceLocalHardwareId 28, DeviceAddressableMemories 40, DeviceDefaultMemory 32,
        DeviceGetAttributes 56, MemoryId 28, MemoryKind 40, MemoryKindId 28, MemoryDebugString 40,
        MemoryToString 40, MemoryAddressableByDevices 40, ExecuteContextCreate 24,
        ExecuteContextDestroy 24, ExecutableDestroy 24, ExecutableName 40, ExecutableNumReplicas 32,
        ExecutableNumPartitions 32, ExecutableNumOutputs 32, ExecutableSizeOfGeneratedCodeInBytes
        32, ExecutableGetCostAnalysis 40, ExecutableGetCompiledMemoryStats 144,
        ExecutableOutputElementTypes 40, ExecutableOutputDimensions 48, ExecutableOutputMemoryKinds
        48, ExecutableParameterMemoryKinds 48, ExecutableOptimizedProgram 32, ExecutableFingerprint
        40, ExecutableSerialize 56, ExecutableGetCompileOptions 56, ExecutableDeserializeAndLoad 72,
        LoadedExecutableDestroy 24, LoadedExecutableGetExecutable 32,
        LoadedExecutableGetDeviceAssignment 56, LoadedExecutableAddressableDevices 40,
        LoadedExecutableAddressableDeviceLogicalIds 40, LoadedExecutableDelete 24,
        LoadedExecutableIsDeleted 25, LoadedExecutableExecute 80, BufferDestroy 24,
        BufferElementType 28, BufferDimensions 40, BufferUnpaddedDimensions 40,
        BufferDynamicDimensionIndices 40, BufferGetMemoryLayout 104, BufferOnDeviceSizeInBytes 32,
        BufferDevice 32, BufferMemory 32, BufferDelete 24, BufferIsDeleted 25, BufferIsOnCpu 25,
        BufferReadyEvent 32, BufferUnsafePointer 32, BufferOpaqueDeviceMemoryDataPointer 32,
        BufferIncreaseExternalReferenceCount 24, BufferDecreaseExternalReferenceCount 24,
        BufferCopyToDevice 40, BufferCopyToMemory 40, BufferToHostBuffer 56, BufferCopyRawToHost 56,
        TopologyDescriptionDestroy 24, TopologyDescriptionPlatformName 40,
        TopologyDescriptionPlatformVersion 40, TopologyDescriptionGetDeviceDescriptions 40,
        TopologyDescriptionSerialize 56, TopologyDescriptionAttributes 40,
        TopologyDescriptionFingerprint 32, TopologyDescriptionGetMemorySpaceKindIds 40,
        ExecutableParameterShardings 48, ExecutableOutputShardings 48
    );
    use hlo_pjrt::sys::{MemoryLayout, NamedValue, Program, TiledLayout};
    assert_eq!(size_of::<NamedValue>(), 56);
    assert_eq!(size_of::<Program>(), 48);
    assert_eq!(size_of::<TiledLayout>(), 56);
    assert_eq!(size_of::<MemoryLayout>(), 80);
    assert_eq!(size_of::<Api>(), 1144);
    assert_eq!(NAMES.len(), 138);
}

/// Returns all functions in the order of the table.
fn slots() -> Vec<Slot> {
    let first = &raw const api().ErrorDestroy;
    // SAFETY: from this field on, the table consists of functions.
    (0..NAMES.len()).map(|n| unsafe { first.add(n).read() }).collect()
}

#[test]
fn every_function_refuses_a_null_pointer_and_a_short_struct() {
    let short = [8usize, 0, 0, 0];
    for ((name, does_something), slot) in NAMES.iter().zip(slots()) {
        for argument in [ptr::null_mut(), short.as_ptr().cast_mut().cast()] {
            // SAFETY: a struct without pointers is rejected before anything is read.
            let error: Handle<Error> = unsafe { slot(argument) };
            let failed = failure(error).expect_err(name);
            let expected = if *does_something { Code::InvalidArgument } else { Code::Unimplemented };
            assert_eq!(failed.code, expected as i32, "{name}: {}", failed.message);
        }
    }
}

#[test]
fn every_function_refuses_objects_that_are_null() {
    // All pointers are null.
    let mut nothing = [0usize; 64];
    nothing[0] = size_of_val(&nothing);
    let takes_nothing =
        ["PluginInitialize", "PluginAttributes", "EventCreate", "ExecuteContextCreate", "ClientCreate"];
    let takes_null = |name: &str| name.ends_with("Destroy");
    for ((name, _), slot) in NAMES.iter().zip(slots()) {
        if takes_nothing.contains(name) || takes_null(name) {
            continue;
        }
        let mut arguments = nothing;
        // SAFETY: the struct is larger than that of any function.
        let failed = failure(unsafe { slot(arguments.as_mut_ptr().cast()) }).expect_err(name);
        assert!(!failed.message.is_empty());
    }
}

#[test]
fn a_function_that_does_nothing_says_its_name() {
    // SAFETY: the function does not read its argument.
    let failed = failure(unsafe { (api().ClientDmaMap)(ptr::null_mut()) }).expect_err("an error");
    assert_eq!(failed.message, "PJRT_Client_DmaMap: this plugin does not implement it");
}
