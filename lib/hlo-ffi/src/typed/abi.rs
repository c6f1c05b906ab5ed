//! The C interface of XLA's typed custom calls, as defined by versions 0.2 to 0.4 of `xla/ffi/api/c_api.h`.
//!
//! Every struct begins with its size, so that newer versions can add fields at the end.

use std::ffi::{c_char, c_int, c_void};

/// The implemented major version. Only handlers with this major version are called.
pub(crate) const MAJOR: c_int = 0;
/// The implemented minor version. It added extensions of the invocation's context.
pub(crate) const MINOR: c_int = 4;

/// An extension struct that is attached to another struct.
#[repr(C)]
pub(crate) struct Extension {
    pub(crate) struct_size: usize,
    pub(crate) kind: c_int,
    pub(crate) next: *mut Extension,
}

/// The kind of the extension that requests the [`Metadata`] of a handler.
pub(crate) const METADATA: c_int = 1;

#[repr(C)]
pub(crate) struct ApiVersion {
    pub(crate) struct_size: usize,
    pub(crate) extensions: *mut Extension,
    pub(crate) major: c_int,
    pub(crate) minor: c_int,
}

#[repr(C)]
pub(crate) struct TypeId {
    pub(crate) id: i64,
}

#[repr(C)]
pub(crate) struct Metadata {
    pub(crate) struct_size: usize,
    pub(crate) version: ApiVersion,
    pub(crate) traits: u32,
    pub(crate) state_type: TypeId,
}

#[repr(C)]
pub(crate) struct MetadataExtension {
    pub(crate) base: Extension,
    pub(crate) metadata: *mut Metadata,
}

/// A string without a terminating NUL.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Span {
    pub(crate) text: *const c_char,
    pub(crate) len: usize,
}

#[repr(C)]
pub(crate) struct Buffer {
    pub(crate) struct_size: usize,
    pub(crate) extensions: *mut Extension,
    pub(crate) element: c_int,
    pub(crate) data: *mut c_void,
    pub(crate) rank: i64,
    pub(crate) dims: *const i64,
}

/// The kind of every argument and result.
pub(crate) const BUFFER: c_int = 1;

/// Arguments or results: the kind and the address of each.
#[repr(C)]
pub(crate) struct Values {
    pub(crate) struct_size: usize,
    pub(crate) extensions: *mut Extension,
    pub(crate) count: i64,
    pub(crate) kinds: *const c_int,
    pub(crate) values: *const *mut c_void,
}

/// The kinds of attributes.
pub(crate) const ARRAY: c_int = 1;
pub(crate) const DICTIONARY: c_int = 2;
pub(crate) const SCALAR: c_int = 3;
pub(crate) const STRING: c_int = 4;

/// Attributes, sorted by name.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Attrs {
    pub(crate) struct_size: usize,
    pub(crate) extensions: *mut Extension,
    pub(crate) count: i64,
    pub(crate) kinds: *const c_int,
    pub(crate) names: *const *const Span,
    pub(crate) values: *const *const c_void,
}

#[repr(C)]
pub(crate) struct Scalar {
    pub(crate) element: c_int,
    pub(crate) value: *const c_void,
}

#[repr(C)]
pub(crate) struct Array {
    pub(crate) element: c_int,
    pub(crate) count: usize,
    pub(crate) data: *const c_void,
}

/// The stages at which handlers are called: once for each call site, or for each execution.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Instantiate = 0,
    Prepare = 1,
    Initialize = 2,
    Execute = 3,
}

#[repr(C)]
pub(crate) struct CallFrame {
    pub(crate) struct_size: usize,
    pub(crate) extensions: *mut Extension,
    pub(crate) api: *const Api,
    pub(crate) context: *mut c_void,
    pub(crate) stage: c_int,
    pub(crate) arguments: Values,
    pub(crate) results: Values,
    pub(crate) attributes: Attrs,
    /// Written by a handler whose results become available later.
    pub(crate) future: *mut c_void,
}

/// A handler. It returns null, or an error that the caller owns.
pub(crate) type Handler = unsafe extern "C" fn(*mut CallFrame) -> *mut c_void;

/// The handlers of a target, by stage.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Bundle {
    pub(crate) instantiate: Option<Handler>,
    pub(crate) prepare: Option<Handler>,
    pub(crate) initialize: Option<Handler>,
    pub(crate) execute: Option<Handler>,
}

/// A registration by a library. Further fields depend on the version and are not used here.
#[repr(C)]
pub(crate) struct Register {
    pub(crate) struct_size: usize,
    pub(crate) extensions: *mut Extension,
    pub(crate) name: Span,
    pub(crate) platform: Span,
    pub(crate) bundle: Bundle,
}

#[repr(C)]
pub(crate) struct TypeInfo {
    pub(crate) struct_size: usize,
    pub(crate) extensions: *mut Extension,
    pub(crate) deleter: Option<unsafe extern "C" fn(*mut c_void)>,
}

#[repr(C)]
pub(crate) struct RegisterType {
    pub(crate) struct_size: usize,
    pub(crate) extensions: *mut Extension,
    pub(crate) name: Span,
    pub(crate) id: *mut TypeId,
    pub(crate) info: *const TypeInfo,
}

#[repr(C)]
pub(crate) struct ErrorCreate {
    pub(crate) struct_size: usize,
    pub(crate) extensions: *mut Extension,
    pub(crate) message: *const c_char,
    pub(crate) code: c_int,
}

#[repr(C)]
pub(crate) struct ErrorDetails {
    pub(crate) struct_size: usize,
    pub(crate) extensions: *mut Extension,
    pub(crate) error: *mut c_void,
    pub(crate) message: *const c_char,
    /// Added in version 0.4.
    pub(crate) code: c_int,
}

#[repr(C)]
pub(crate) struct ErrorDestroy {
    pub(crate) struct_size: usize,
    pub(crate) extensions: *mut Extension,
    pub(crate) error: *mut c_void,
}

#[repr(C)]
pub(crate) struct FutureCreate {
    pub(crate) struct_size: usize,
    pub(crate) extensions: *mut Extension,
    pub(crate) future: *mut c_void,
}

#[repr(C)]
pub(crate) struct FutureSet {
    pub(crate) struct_size: usize,
    pub(crate) extensions: *mut Extension,
    pub(crate) future: *mut c_void,
    /// Set only for a failure.
    pub(crate) error: *mut c_void,
}

/// A request to the context of a call.
#[repr(C)]
pub(crate) struct ContextRequest<T> {
    pub(crate) struct_size: usize,
    pub(crate) extensions: *mut Extension,
    pub(crate) context: *mut c_void,
    pub(crate) question: T,
}

/// The state that a stage keeps for later stages, since version 0.3.
#[repr(C)]
pub(crate) struct StateOfStage {
    pub(crate) stage: c_int,
    pub(crate) type_id: *const TypeId,
    pub(crate) state: *mut c_void,
}

/// The same struct of version 0.2, which always refers to the state of the instance.
#[repr(C)]
pub(crate) struct StateOfInstance {
    pub(crate) type_id: *const TypeId,
    pub(crate) state: *mut c_void,
}

#[repr(C)]
pub(crate) struct Task {
    pub(crate) run: Option<unsafe extern "C" fn(*mut c_void)>,
    pub(crate) data: *mut c_void,
}

#[repr(C)]
pub(crate) struct FindExtension {
    pub(crate) kind: i64,
    pub(crate) found: *const c_void,
}

/// A function of [`Api`], with its arguments in a struct.
pub(crate) type Function<T> = unsafe extern "C" fn(*mut T) -> *mut c_void;

/// The table of functions that handlers may call.
#[repr(C)]
pub(crate) struct Api {
    pub(crate) struct_size: usize,
    pub(crate) extensions: *mut Extension,
    pub(crate) version: ApiVersion,
    pub(crate) internal: *const c_void,
    pub(crate) error_create: Function<ErrorCreate>,
    pub(crate) error_details: unsafe extern "C" fn(*mut ErrorDetails),
    pub(crate) error_destroy: unsafe extern "C" fn(*mut ErrorDestroy),
    pub(crate) register: Function<Register>,
    pub(crate) stream: Function<ContextRequest<*mut c_void>>,
    pub(crate) register_type: Function<RegisterType>,
    pub(crate) user_data: Function<ContextRequest<StateOfInstance>>,
    pub(crate) state_set: Function<ContextRequest<StateOfStage>>,
    pub(crate) state_get: Function<ContextRequest<StateOfStage>>,
    pub(crate) memory_allocate: Function<ContextRequest<[usize; 3]>>,
    pub(crate) memory_free: Function<ContextRequest<[usize; 2]>>,
    pub(crate) schedule: Function<ContextRequest<Task>>,
    pub(crate) thread_count: Function<ContextRequest<*mut i64>>,
    pub(crate) future_create: Function<FutureCreate>,
    pub(crate) future_set_available: Function<FutureSet>,
    pub(crate) future_set_error: Function<FutureSet>,
    pub(crate) run_id: Function<ContextRequest<i64>>,
    pub(crate) device_ordinal: Function<ContextRequest<i32>>,
    pub(crate) find_extension: Function<ContextRequest<FindExtension>>,
}

// SAFETY: the table is never written; its pointers are null or point to functions.
unsafe impl Sync for Api {}

/// Returns the number of an element type in the interface.
pub(crate) fn element_number(name: &str) -> Option<c_int> {
    const NUMBERS: &[(&str, c_int)] = &[
        ("pred", 1),
        ("s1", 30),
        ("s2", 26),
        ("s4", 21),
        ("s8", 2),
        ("s16", 3),
        ("s32", 4),
        ("s64", 5),
        ("u1", 31),
        ("u2", 27),
        ("u4", 22),
        ("u8", 6),
        ("u16", 7),
        ("u32", 8),
        ("u64", 9),
        ("f16", 10),
        ("f32", 11),
        ("f64", 12),
        ("bf16", 16),
        ("c64", 15),
        ("c128", 18),
        ("f8e5m2", 19),
        ("f8e3m4", 29),
        ("f8e4m3", 28),
        ("f8e4m3fn", 20),
        ("f8e4m3b11fnuz", 23),
        ("f8e5m2fnuz", 24),
        ("f8e4m3fnuz", 25),
        ("f4e2m1fn", 32),
        ("f8e8m0fnu", 33),
    ];
    NUMBERS.iter().find(|(n, _)| *n == name).map(|n| n.1)
}

/// The number of the token type.
pub(crate) const TOKEN: c_int = 17;
