//! `jax.debug.inspect_array_sharding` in a program for several devices. JAX stores in the program the address
//! of one of its functions, which receives the sharding of a value.

use crate::fault::{Fault, Result};
use crate::shardings::encoded;
use hlo_client::Inspected;
use hlo_ir::attr::Sharding;
use std::ffi::{CStr, c_char, c_void};
use std::ptr::{null, null_mut};

/// The arguments of the function: `JAX_InspectSharding_Callback_Args`.
#[repr(C)]
struct Arguments {
    /// An `OpSharding`.
    sharding: *const c_char,
    size: usize,
    /// The error message or null, data for `free_error`, and the function that frees the message.
    error: *const c_char,
    scratch: *mut c_void,
    free_error: Option<unsafe extern "C" fn(*mut Arguments)>,
}

/// The function and its first argument, as the `backend_config` of the call contains them.
struct Callback {
    call: usize,
    data: usize,
}

/// Passes the sharding of a value to JAX.
///
/// # Errors
/// The call does not contain a function of JAX in this process, or the function returns an error.
pub fn pass_sharding(inspected: &Inspected) -> Result {
    let callback = read(&inspected.config)?;
    let bytes = encoded(&Sharding::single(inspected.sharding.clone()));
    let mut arguments = Arguments {
        sharding: bytes.as_ptr().cast(),
        size: bytes.len(),
        error: null(),
        scratch: null_mut(),
        free_error: None,
    };
    // SAFETY: the address is in jaxlib, which stored the address of a function of this type.
    unsafe {
        let call: unsafe extern "C" fn(*mut c_void, *mut Arguments) =
            std::mem::transmute(callback.call as *const c_void);
        call(callback.data as *mut c_void, &raw mut arguments);
    }
    if arguments.error.is_null() {
        return Ok(());
    }
    // SAFETY: the function guarantees that the error is a null-terminated string.
    let why = unsafe { CStr::from_ptr(arguments.error) }.to_string_lossy().into_owned();
    if let Some(free) = arguments.free_error {
        // SAFETY: the function guarantees that this frees what it allocated.
        unsafe { free(&raw mut arguments) };
    }
    Err(Fault::internal(why))
}

/// Reads the function from a call. Fails unless its address is in jaxlib: a program that another process
/// wrote contains addresses of that process.
fn read(config: &[u8]) -> Result<Callback> {
    let number = |at: usize| Some(usize::from_ne_bytes(config.get(at..)?.first_chunk().copied()?));
    let size = size_of::<usize>();
    let callback =
        (config.len() == 2 * size).then(|| Some(Callback { call: number(0)?, data: number(size)? }));
    let callback = callback.flatten().filter(|c| c.data != 0 && is_in_jaxlib(c.call));
    callback.ok_or_else(|| {
        Fault::invalid("`InspectSharding`: expected a function of the JAX that runs in this process")
    })
}

/// Returns whether an address is in the code of jaxlib.
fn is_in_jaxlib(address: usize) -> bool {
    // SAFETY: zeros are a valid value, which `dladdr` overwrites.
    let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: `dladdr` accepts any address.
    let known = unsafe { libc::dladdr(address as *const c_void, &raw mut found) } != 0;
    // SAFETY: the name is null or a null-terminated string.
    known
        && !found.dli_fname.is_null()
        && unsafe { CStr::from_ptr(found.dli_fname) }.to_string_lossy().contains("jaxlib")
}
