//! The functions that handlers may call: errors, types of states, states, tasks and futures.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::abi::{
    self, Api, Bundle, ContextRequest, ErrorCreate, ErrorDestroy, ErrorDetails, FutureCreate, FutureSet,
};
use super::abi::{FindExtension, Register, RegisterType, Span, Stage, StateOfInstance, StateOfStage, Task};

/// An error that a handler or this library created.
struct FfiError {
    message: CString,
    code: c_int,
}

/// Error codes.
const INVALID_ARGUMENT: c_int = 3;
const NOT_FOUND: c_int = 5;
const ALREADY_EXISTS: c_int = 6;
const UNIMPLEMENTED: c_int = 12;

fn error(code: c_int, message: &str) -> *mut c_void {
    let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
    Box::into_raw(Box::new(FfiError { message, code })).cast()
}

/// Takes the message of an error. Null means success.
///
/// # Safety
/// `error` must be null or come from the functions of this table, and must not be used afterwards.
pub(super) unsafe fn take_error(error: *mut c_void) -> Result<(), String> {
    if error.is_null() {
        return Ok(());
    }
    // SAFETY: guaranteed by the caller.
    let error = unsafe { Box::from_raw(error.cast::<FfiError>()) };
    Err(error.message.to_string_lossy().into_owned())
}

unsafe extern "C" fn error_create(args: *mut ErrorCreate) -> *mut c_void {
    // SAFETY: the handler passes its own struct and a NUL-terminated message.
    unsafe {
        let message = if (*args).message.is_null() {
            String::new()
        } else {
            CStr::from_ptr((*args).message).to_string_lossy().into_owned()
        };
        error((*args).code, &message)
    }
}

unsafe extern "C" fn error_details(args: *mut ErrorDetails) {
    // SAFETY: the handler passes its own struct and an error from this table.
    unsafe {
        let error = (*args).error.cast::<FfiError>();
        (*args).message = (*error).message.as_ptr();
        // In version 0.3 the struct contains only the message.
        if (*args).struct_size >= std::mem::offset_of!(ErrorDetails, code) + size_of::<c_int>() {
            (*args).code = (*error).code;
        }
    }
}

unsafe extern "C" fn error_destroy(args: *mut ErrorDestroy) {
    // SAFETY: the handler passes an error from this table, and gives up its ownership.
    let _ = unsafe { take_error((*args).error) };
}

/// # Safety
/// The span's bytes must be readable.
unsafe fn text(span: Span) -> String {
    if span.text.is_null() || span.len == 0 {
        return String::new();
    }
    // SAFETY: guaranteed by the caller.
    let bytes = unsafe { std::slice::from_raw_parts(span.text.cast::<u8>(), span.len) };
    String::from_utf8_lossy(bytes).into_owned()
}

/// A target that a library registered while it was loaded.
pub(super) struct Registered {
    pub(super) name: String,
    pub(super) platform: String,
    pub(super) bundle: Bundle,
}

thread_local! {
    /// The targets of the library that this thread is loading.
    static LOADING_TARGETS: RefCell<Option<Vec<Registered>>> = const { RefCell::new(None) };
}

/// Runs `load`, and returns its result and the targets that libraries register meanwhile.
pub(super) fn collect<R>(load: impl FnOnce() -> R) -> (R, Vec<Registered>) {
    let before = LOADING_TARGETS.replace(Some(Vec::new()));
    let loaded = load();
    (loaded, LOADING_TARGETS.replace(before).unwrap_or_default())
}

unsafe extern "C" fn register(args: *mut Register) -> *mut c_void {
    // SAFETY: the library passes its own struct.
    let registered = unsafe {
        Registered { name: text((*args).name), platform: text((*args).platform), bundle: (*args).bundle }
    };
    LOADING_TARGETS.with_borrow_mut(|loading| match loading {
        Some(list) => {
            list.push(registered);
            null_mut()
        }
        None => error(UNIMPLEMENTED, "targets are registered while their library is loaded"),
    })
}

type Deleter = Option<unsafe extern "C" fn(*mut c_void)>;

/// The types of states, by their numbers.
static TYPES: Mutex<BTreeMap<i64, (String, Deleter)>> = Mutex::new(BTreeMap::new());

unsafe extern "C" fn register_type(args: *mut RegisterType) -> *mut c_void {
    // SAFETY: the library passes its own structs.
    unsafe {
        let (name, id) = (text((*args).name), (*args).id);
        let deleter = (*args).info.as_ref().and_then(|info| info.deleter);
        if id.is_null() {
            return error(INVALID_ARGUMENT, "a type without a place for its number");
        }
        let mut types = TYPES.lock().unwrap_or_else(PoisonError::into_inner);
        let known = types.iter().find(|(_, (n, _))| *n == name).map(|(&number, _)| number);
        match (known, (*id).id) {
            (Some(number), wanted) if wanted != 0 && wanted != number => {
                return error(ALREADY_EXISTS, &format!("the type {name} has number {number} already"));
            }
            (Some(number), _) => (*id).id = number,
            (None, 0) => (*id).id = types.last_key_value().map_or(1, |(&n, _)| n.max(0).saturating_add(1)),
            (None, wanted) if types.contains_key(&wanted) => {
                return error(ALREADY_EXISTS, &format!("there is a type of number {wanted} already"));
            }
            (None, _) => {}
        }
        types.entry((*id).id).or_insert((name, deleter));
    }
    null_mut()
}

/// An object that a stage keeps for later stages.
#[derive(Default)]
pub(super) struct State(Option<(i64, *mut c_void)>);

// SAFETY: states are objects of the library. XLA also passes them between threads.
unsafe impl Send for State {}
// SAFETY: as above; a shared reference writes nothing.
unsafe impl Sync for State {}

impl Drop for State {
    fn drop(&mut self) {
        let Some((id, object)) = self.0.take() else { return };
        let types = TYPES.lock().unwrap_or_else(PoisonError::into_inner);
        let deleter = types.get(&id).and_then(|t| t.1);
        drop(types);
        if let Some(deleter) = deleter {
            // SAFETY: the deleter belongs to the object's type, and no other code has access to the object.
            unsafe { deleter(object) };
        }
    }
}

/// The data that the context of a handler's call points to.
pub(super) struct Invocation {
    pub(super) stage: Stage,
    /// Written only during [`Stage::Instantiate`], when no other code has access to it.
    pub(super) instance: *mut State,
    pub(super) prepare: State,
    pub(super) initialize: State,
}

impl Invocation {
    fn state(&mut self, stage: c_int) -> Option<*mut State> {
        match stage {
            0 => Some(self.instance),
            1 => Some(&raw mut self.prepare),
            2 => Some(&raw mut self.initialize),
            _ => None,
        }
    }
}

/// Returns whether a struct has the layout of version 0.2, whose state is always that of the instance.
fn is_old(struct_size: usize) -> bool {
    struct_size <= size_of::<ContextRequest<StateOfInstance>>()
}

unsafe extern "C" fn state_set(args: *mut ContextRequest<StateOfStage>) -> *mut c_void {
    // SAFETY: the handler passes its own struct of the given size, and the context that it received.
    unsafe {
        let (stage, type_id, object) = if is_old((*args).struct_size) {
            let old = &(*args.cast::<ContextRequest<StateOfInstance>>()).question;
            (Stage::Instantiate as c_int, old.type_id, old.state)
        } else {
            ((*args).question.stage, (*args).question.type_id, (*args).question.state)
        };
        let id = type_id.as_ref().map_or(0, |t| t.id);
        if !TYPES.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&id) {
            return error(NOT_FOUND, &format!("the type of the state (number {id}) is not registered"));
        }
        let invocation = (*args).context.cast::<Invocation>();
        if stage != (*invocation).stage as c_int {
            return error(INVALID_ARGUMENT, "a state is set by its own stage");
        }
        match (*invocation).state(stage) {
            Some(state) if (*state).0.is_none() => (*state).0 = Some((id, object)),
            Some(_) => return error(ALREADY_EXISTS, "the state is set already"),
            None => return error(INVALID_ARGUMENT, "this stage has no state"),
        }
    }
    null_mut()
}

unsafe extern "C" fn state_get(args: *mut ContextRequest<StateOfStage>) -> *mut c_void {
    // SAFETY: as in `state_set`.
    unsafe {
        let old = is_old((*args).struct_size);
        let (stage, type_id) = if old {
            (Stage::Instantiate as c_int, (*args.cast::<ContextRequest<StateOfInstance>>()).question.type_id)
        } else {
            ((*args).question.stage, (*args).question.type_id)
        };
        let id = type_id.as_ref().map_or(0, |t| t.id);
        let invocation = (*args).context.cast::<Invocation>();
        let object = match (*invocation).state(stage).and_then(|state| (*state).0) {
            Some((found, object)) if found == id => object,
            Some(_) => return error(INVALID_ARGUMENT, "the state is of another type"),
            None => return error(NOT_FOUND, "no state is set"),
        };
        if old {
            (*args.cast::<ContextRequest<StateOfInstance>>()).question.state = object
        } else {
            (*args).question.state = object
        }
    }
    null_mut()
}

/// A result that becomes available later. The handler keeps the address until it reports the outcome; the
/// caller waits for that.
pub(super) struct Future(Arc<Outcome>);

#[derive(Default)]
struct Outcome {
    done: Mutex<Option<Result<(), String>>>,
    changed: Condvar,
}

impl Future {
    /// Waits until the handler reports the outcome.
    pub(super) fn wait(&self) -> Result<(), String> {
        let mut done = self.0.done.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(outcome) = done.take() {
                return outcome;
            }
            done = self.0.changed.wait(done).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// # Safety
/// `future` must come from `future_create`, and no code may have waited for it yet.
unsafe fn complete(future: *mut c_void, outcome: Result<(), String>) {
    // The waiting caller frees the future as soon as it is done.
    // SAFETY: guaranteed by the caller.
    let shared = unsafe { (*future.cast::<Future>()).0.clone() };
    *shared.done.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
    shared.changed.notify_all();
}

unsafe extern "C" fn future_create(args: *mut FutureCreate) -> *mut c_void {
    // SAFETY: the handler passes its own struct.
    unsafe { (*args).future = Box::into_raw(Box::new(Future(Arc::default()))).cast() };
    null_mut()
}

unsafe extern "C" fn future_set_available(args: *mut FutureSet) -> *mut c_void {
    // SAFETY: the handler passes a future from this table that is not done.
    unsafe { complete((*args).future, Ok(())) };
    null_mut()
}

unsafe extern "C" fn future_set_error(args: *mut FutureSet) -> *mut c_void {
    // SAFETY: as above; the handler gives up its ownership of the error.
    unsafe { complete((*args).future, take_error((*args).error)) };
    null_mut()
}

unsafe extern "C" fn schedule(args: *mut ContextRequest<Task>) -> *mut c_void {
    // SAFETY: the handler passes a task and its data. The task may run on the calling thread.
    unsafe {
        if let Some(run) = (*args).question.run {
            run((*args).question.data);
        }
    }
    null_mut()
}

unsafe extern "C" fn thread_count(args: *mut ContextRequest<*mut i64>) -> *mut c_void {
    // SAFETY: the handler passes the address for the number.
    unsafe { *(*args).question = 1 };
    null_mut()
}

unsafe extern "C" fn run_id(args: *mut ContextRequest<i64>) -> *mut c_void {
    // SAFETY: the handler passes its own struct.
    unsafe { (*args).question = 0 };
    null_mut()
}

unsafe extern "C" fn device_ordinal(args: *mut ContextRequest<i32>) -> *mut c_void {
    // SAFETY: the handler passes its own struct.
    unsafe { (*args).question = 0 };
    null_mut()
}

unsafe extern "C" fn find_extension(args: *mut ContextRequest<FindExtension>) -> *mut c_void {
    // SAFETY: the handler passes its own struct.
    unsafe { (*args).question.found = std::ptr::null() };
    null_mut()
}

unsafe extern "C" fn user_data(_: *mut ContextRequest<StateOfInstance>) -> *mut c_void {
    error(NOT_FOUND, "nobody gave the run data of this type")
}

unsafe extern "C" fn stream(_: *mut ContextRequest<*mut c_void>) -> *mut c_void {
    error(UNIMPLEMENTED, "there is no stream on a CPU")
}

unsafe extern "C" fn memory_allocate(_: *mut ContextRequest<[usize; 3]>) -> *mut c_void {
    error(UNIMPLEMENTED, "there is no device memory on a CPU")
}

unsafe extern "C" fn memory_free(_: *mut ContextRequest<[usize; 2]>) -> *mut c_void {
    error(UNIMPLEMENTED, "there is no device memory on a CPU")
}

/// The table of functions for handlers.
pub(super) static API: Api = Api {
    struct_size: size_of::<Api>(),
    extensions: null_mut(),
    version: abi::ApiVersion {
        struct_size: size_of::<abi::ApiVersion>(),
        extensions: null_mut(),
        major: abi::MAJOR,
        minor: abi::MINOR,
    },
    internal: std::ptr::null(),
    error_create,
    error_details,
    error_destroy,
    register,
    stream,
    register_type,
    user_data,
    state_set,
    state_get,
    memory_allocate,
    memory_free,
    schedule,
    thread_count,
    future_create,
    future_set_available,
    future_set_error,
    run_id,
    device_ordinal,
    find_extension,
};

/// Returns the functions that a library calls to register its targets when it loads. This is XLA's
/// `XLA_FFI_GetApi`.
#[unsafe(no_mangle)]
pub extern "C" fn XLA_FFI_GetApi() -> *const c_void {
    (&raw const API).cast()
}

/// Keeps the function in programs that link this crate.
#[used]
static EXPORTED_API: extern "C" fn() -> *const c_void = XLA_FFI_GetApi;

/// Returns a string as a span.
pub(super) fn span(text: &str) -> Span {
    Span { text: text.as_ptr().cast::<c_char>(), len: text.len() }
}
