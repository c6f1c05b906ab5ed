//! `jax.debug.inspect_array_sharding` within a program for several devices: JAX writes into the program which function of
//! its own wants to know how a value lies on the devices.

use crate::fault::{Fault, Result};
use crate::shardings::encoded;
use hlo_client::Inspected;
use hlo_ir::attr::Sharding;
use std::ffi::{CStr, c_char, c_void};
use std::ptr::{null, null_mut};

/// What the function is called with: `JAX_InspectSharding_Callback_Args`.
#[repr(C)]
struct Arguments {
    /// An `OpSharding`.
    sharding: *const c_char,
    size: usize,
    /// What went wrong, or null; the function that frees it, and what that needs.
    error: *const c_char,
    scratch: *mut c_void,
    free_error: Option<unsafe extern "C" fn(*mut Arguments)>,
}

/// The function, and an argument of its own: what the call's `backend_config` consists of.
struct Callback {
    call: usize,
    data: usize,
}

/// Tells JAX how a value lies on the devices.
///
/// # Errors
/// What is written is no function of JAX's in this process, or what the function says.
pub fn tell(inspected: &Inspected) -> Result {
    let callback = read(&inspected.config)?;
    let bytes = encoded(&Sharding::single(inspected.sharding.clone()));
    let mut arguments = Arguments {
        sharding: bytes.as_ptr().cast(),
        size: bytes.len(),
        error: null(),
        scratch: null_mut(),
        free_error: None,
    };
    // SAFETY: the address is one of a function in jaxlib, which was written there as one of this type.
    unsafe {
        let call: unsafe extern "C" fn(*mut c_void, *mut Arguments) =
            std::mem::transmute(callback.call as *const c_void);
        call(callback.data as *mut c_void, &raw mut arguments);
    }
    if arguments.error.is_null() {
        return Ok(());
    }
    // SAFETY: the function's promise: a text that ends with zero.
    let why = unsafe { CStr::from_ptr(arguments.error) }.to_string_lossy().into_owned();
    if let Some(free) = arguments.free_error {
        // SAFETY: the function's promise: that frees what it made.
        unsafe { free(&raw mut arguments) };
    }
    Err(Fault::internal(why))
}

/// The function that is written in a call, if it is one of jaxlib's: a program that another process wrote names addresses of
/// that.
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

/// True if there is code of jaxlib's at an address.
fn is_in_jaxlib(address: usize) -> bool {
    // SAFETY: what is found is written there; zeros are such a value.
    let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: any address may be asked for.
    let known = unsafe { libc::dladdr(address as *const c_void, &raw mut found) } != 0;
    // SAFETY: where it is not null it is a text that ends with zero.
    known
        && !found.dli_fname.is_null()
        && unsafe { CStr::from_ptr(found.dli_fname) }.to_string_lossy().contains("jaxlib")
}
