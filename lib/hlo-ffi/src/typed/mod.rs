//! XLA's typed custom calls. Shared libraries register or export handlers, which
//! `XLA_FFI_DEFINE_HANDLER_SYMBOL` of XLA's header defines. A handler receives a frame with the types and
//! sizes of the buffers and the attributes of the call.

mod abi;
mod api;
mod attributes;

use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::{Mutex, PoisonError};

use abi::{Attrs, Buffer, CallFrame, Extension, Handler, Metadata, MetadataExtension, Stage, Values};
pub use api::XLA_FFI_GetApi;
use api::{API, Future, Invocation, State};
use attributes::Arena;
use hlo_custom_call::{ArrayType, Attributes, Call, CallSite, ValueType};
use hlo_runtime_core::Error;

/// The handlers of a target.
#[derive(Clone, Copy)]
pub(crate) struct Handlers {
    instantiate: Option<Handler>,
    prepare: Option<Handler>,
    initialize: Option<Handler>,
    execute: Handler,
}

impl Handlers {
    /// Creates handlers that consist of one function for the execute stage.
    ///
    /// # Safety
    /// The address must be that of a handler.
    pub(crate) unsafe fn new(address: *const c_void) -> Handlers {
        // SAFETY: guaranteed by the caller.
        let execute = unsafe { std::mem::transmute::<*const c_void, Handler>(address) };
        Handlers { instantiate: None, prepare: None, initialize: None, execute }
    }
}

/// A target that a library registered.
pub(crate) struct Registered {
    pub(crate) name: String,
    /// The platform, such as `Host`.
    pub(crate) platform: String,
    /// The handlers, or `None` if the target has no execute stage.
    pub(crate) handlers: Option<Handlers>,
}

impl Registered {
    /// Returns whether the target is for CPUs.
    pub(crate) fn is_for_cpus(&self) -> bool {
        ["host", "cpu"].iter().any(|p| self.platform.eq_ignore_ascii_case(p))
    }
}

/// Runs `load`, and returns its result and the targets that libraries register meanwhile.
pub(crate) fn collect<R>(load: impl FnOnce() -> R) -> (R, Vec<Registered>) {
    let (loaded, found) = api::collect(load);
    let registered = found.into_iter().map(|r| {
        let b = r.bundle;
        let handlers = b.execute.map(|execute| Handlers {
            instantiate: b.instantiate,
            prepare: b.prepare,
            initialize: b.initialize,
            execute,
        });
        Registered { name: r.name, platform: r.platform, handlers }
    });
    (loaded, registered.collect())
}

/// A planned call of a handler.
pub(crate) struct TypedCall {
    handlers: Handlers,
    /// The state that the instantiate stage created.
    instance: Box<UnsafeCell<State>>,
    attributes: Attrs,
    operands: Vec<Leaf>,
    results: Vec<Leaf>,
    /// Pairs of a result array and an operand array that share memory.
    aliases: Vec<(usize, usize)>,
    /// The frames that no call is using.
    frames: Mutex<Vec<Frame>>,
    /// The memory that the other fields point to.
    _arena: Arena,
}

/// An argument or result: its type, and the number of its array, or `None` for a token.
struct Leaf {
    element: c_int,
    dims: *const i64,
    rank: i64,
    array: Option<usize>,
}

// SAFETY: the pointers refer to memory that this call owns and does not write.
unsafe impl Send for TypedCall {}
// SAFETY: as above; a mutex protects the frames.
unsafe impl Sync for TypedCall {}

/// The contents of a handler's frame, without the addresses of the data.
struct Frame {
    /// The arguments, followed by the results.
    buffers: Vec<Buffer>,
    /// The addresses of the entries of `buffers`.
    places: Vec<*mut c_void>,
    kinds: Vec<c_int>,
}

impl TypedCall {
    /// Plans a call, and runs its instantiate stage.
    ///
    /// # Safety
    /// The handlers must be valid handler functions.
    pub(crate) unsafe fn plan(
        handlers: Handlers,
        site: &CallSite,
        attributes: &Attributes,
    ) -> Result<TypedCall, Error> {
        // SAFETY: guaranteed by the caller.
        unsafe { check_version(handlers.execute)? };
        let mut arena = Arena::default();
        let attributes = arena.attributes(attributes).map_err(|e| Error(format!("the attribute {e}")))?;
        let mut operands = Vec::new();
        for operand in &site.operands {
            leaves(operand, &mut operands, &mut arena)?;
        }
        let mut results = Vec::new();
        leaves(&site.result, &mut results, &mut arena)?;
        let frames = Mutex::new(Vec::new());
        let aliases = site.aliases.clone();
        let instance = Box::default();
        let call =
            TypedCall { handlers, instance, attributes, operands, results, aliases, frames, _arena: arena };
        if let Some(instantiate) = handlers.instantiate {
            let frame = Frame { buffers: Vec::new(), places: Vec::new(), kinds: Vec::new() };
            let mut invocation = invocation(call.instance.get());
            // SAFETY: guaranteed by the caller; no other code has access to the instance's state yet.
            unsafe { call.invoke(instantiate, Stage::Instantiate, &frame, (0, 0), &mut invocation)? };
        }
        Ok(call)
    }

    /// Performs the call.
    ///
    /// # Safety
    /// The handlers must access only the buffers that they receive.
    pub(crate) unsafe fn run(&self, call: &mut Call<'_>) -> Result<(), Error> {
        let kept = self.frames.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut frame = kept.unwrap_or_else(|| self.frame());
        for (leaf, buffer) in self.operands.iter().zip(&mut frame.buffers) {
            buffer.data = leaf.array.map_or(null_mut(), |n| call.operand_addresses()[n].cast_mut().cast());
        }
        let count = self.operands.len();
        for (leaf, buffer) in self.results.iter().zip(&mut frame.buffers[count..]) {
            buffer.data = leaf.array.map_or(null_mut(), |n| call.result_addresses()[n].cast());
        }
        for &(result, operand) in &self.aliases {
            if let Some(shared) = call.share(result, operand)
                && let Some(i) = self.operands.iter().position(|leaf| leaf.array == Some(operand))
            {
                frame.buffers[i].data = shared.cast();
            }
        }
        let counts = (self.operands.len(), self.results.len());
        let mut invocation = invocation(self.instance.get());
        let stages = [
            (self.handlers.prepare, Stage::Prepare),
            (self.handlers.initialize, Stage::Initialize),
            (Some(self.handlers.execute), Stage::Execute),
        ];
        let mut outcome = Ok(());
        for (handler, stage) in stages {
            if let (Some(handler), Ok(())) = (handler, &outcome) {
                // SAFETY: guaranteed by the caller.
                outcome = unsafe { self.invoke(handler, stage, &frame, counts, &mut invocation) };
            }
        }
        self.frames.lock().unwrap_or_else(PoisonError::into_inner).push(frame);
        outcome
    }

    fn frame(&self) -> Frame {
        let buffer = |leaf: &Leaf| Buffer {
            struct_size: size_of::<Buffer>(),
            extensions: null_mut(),
            element: leaf.element,
            data: null_mut(),
            rank: leaf.rank,
            dims: leaf.dims,
        };
        let mut buffers: Vec<Buffer> = self.operands.iter().chain(&self.results).map(buffer).collect();
        let first = buffers.as_mut_ptr();
        let places = (0..buffers.len()).map(|i| first.wrapping_add(i).cast()).collect();
        let kinds = vec![abi::BUFFER; buffers.len()];
        Frame { buffers, places, kinds }
    }

    /// # Safety
    /// `handler` must be a handler of the stage, and the buffers of the frame must have the sizes of their
    /// types.
    unsafe fn invoke(
        &self,
        handler: Handler,
        stage: Stage,
        frame: &Frame,
        (operands, results): (usize, usize),
        invocation: &mut Invocation,
    ) -> Result<(), Error> {
        invocation.stage = stage;
        let values = |from: usize, count: usize| Values {
            struct_size: size_of::<Values>(),
            extensions: null_mut(),
            count: count as i64,
            kinds: frame.kinds[from..].as_ptr(),
            values: frame.places[from..].as_ptr(),
        };
        let mut frame = CallFrame {
            context: (&raw mut *invocation).cast(),
            stage: stage as c_int,
            arguments: values(0, operands),
            results: values(operands, results),
            ..empty_frame(self.attributes)
        };
        // SAFETY: guaranteed by the caller.
        unsafe { finish(handler(&raw mut frame), &frame) }
    }
}

fn invocation(instance: *mut State) -> Invocation {
    Invocation { stage: Stage::Execute, instance, prepare: State::default(), initialize: State::default() }
}

/// Returns a frame without arguments and results.
fn empty_frame(attributes: Attrs) -> CallFrame {
    let none = || Values {
        struct_size: size_of::<Values>(),
        extensions: null_mut(),
        count: 0,
        kinds: std::ptr::null(),
        values: std::ptr::null(),
    };
    CallFrame {
        // The header counts the fields up to the attributes.
        struct_size: std::mem::offset_of!(CallFrame, future),
        extensions: null_mut(),
        api: &raw const API,
        context: null_mut(),
        stage: Stage::Execute as c_int,
        arguments: none(),
        results: none(),
        attributes,
        future: null_mut(),
    }
}

/// Returns the outcome of a call. Waits for its future, if there is one.
///
/// # Safety
/// `error` and the frame's future must come from the handler.
unsafe fn finish(error: *mut c_void, frame: &CallFrame) -> Result<(), Error> {
    // SAFETY: guaranteed by the caller; this function owns both now.
    unsafe {
        let made = api::take_error(error);
        if frame.future.is_null() {
            return made.map_err(Error);
        }
        let future = Box::from_raw(frame.future.cast::<Future>());
        made.and_then(|()| future.wait()).map_err(Error)
    }
}

/// Checks that a handler was built for a version of the interface that is implemented here.
///
/// # Safety
/// `handler` must be a valid handler.
unsafe fn check_version(handler: Handler) -> Result<(), Error> {
    let version = abi::ApiVersion {
        struct_size: size_of::<abi::ApiVersion>(),
        extensions: null_mut(),
        major: abi::MAJOR,
        minor: 0,
    };
    let mut metadata = Metadata {
        struct_size: size_of::<Metadata>(),
        version,
        traits: 0,
        state_type: abi::TypeId { id: 0 },
    };
    let base =
        Extension { struct_size: size_of::<MetadataExtension>(), kind: abi::METADATA, next: null_mut() };
    let mut extension = MetadataExtension { base, metadata: &raw mut metadata };
    let none = Attrs {
        struct_size: size_of::<Attrs>(),
        extensions: null_mut(),
        count: 0,
        kinds: std::ptr::null(),
        names: std::ptr::null(),
        values: std::ptr::null(),
    };
    let mut frame = CallFrame { extensions: (&raw mut extension).cast(), ..empty_frame(none) };
    // SAFETY: guaranteed by the caller.
    unsafe { finish(handler(&raw mut frame), &frame)? };
    let (major, minor) = (metadata.version.major, metadata.version.minor);
    if major != abi::MAJOR || minor > abi::MINOR {
        return Err(Error(format!(
            "is built for version {major}.{minor} of XLA's typed custom calls, and this is {}.{}",
            abi::MAJOR,
            abi::MINOR
        )));
    }
    Ok(())
}

/// Appends the arrays and tokens of a value to `to`.
fn leaves(value: &ValueType, to: &mut Vec<Leaf>, arena: &mut Arena) -> Result<(), Error> {
    match value {
        ValueType::Token => {
            to.push(Leaf { element: abi::TOKEN, dims: std::ptr::null(), rank: 0, array: None });
        }
        ValueType::Array(ArrayType { element, dims, .. }) => {
            let number = abi::element_number(element)
                .ok_or_else(|| Error(format!("arrays of {element} can't be passed to a handler")))?;
            let array = to.iter().filter(|leaf| leaf.array.is_some()).count();
            let rank = dims.len() as i64;
            let dims = arena.list(dims.iter().map(|&d| d as i64).collect());
            to.push(Leaf { element: number, dims, rank, array: Some(array) });
        }
        ValueType::Tuple(parts) => {
            for part in parts {
                leaves(part, to, arena)?;
            }
        }
    }
    Ok(())
}
