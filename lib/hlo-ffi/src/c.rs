//! Calls of targets in shared libraries with C calling conventions.

use std::ffi::{c_char, c_void};

use hlo_custom_call::{ApiVersion, Call, ValueType};
use hlo_runtime_core::Error;

/// The status that a target reports: success, or the reason of a failure.
#[derive(Default)]
pub struct XlaCustomCallStatus {
    failure: Option<String>,
}

/// Reports that a call succeeded, which is the default.
///
/// # Safety
/// `status` must be the status that was passed to the target.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn XlaCustomCallStatusSetSuccess(status: *mut XlaCustomCallStatus) {
    // SAFETY: guaranteed by the caller.
    unsafe { (*status).failure = None };
}

/// Reports that a call failed, with a message.
///
/// # Safety
/// `status` must be the status that was passed to the target, and `message` must have `len` readable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn XlaCustomCallStatusSetFailure(
    status: *mut XlaCustomCallStatus,
    message: *const c_char,
    len: usize,
) {
    let bytes: &[u8] = match len {
        0 => &[],
        // SAFETY: guaranteed by the caller.
        _ => unsafe { std::slice::from_raw_parts(message.cast(), len) },
    };
    // The message may end with a NUL before its given length.
    let bytes = bytes.split(|&b| b == 0).next().unwrap_or(bytes);
    // SAFETY: guaranteed by the caller.
    unsafe { (*status).failure = Some(String::from_utf8_lossy(bytes).into_owned()) };
}

/// The functions that a library may call. This reference keeps them in programs that link this crate.
#[used]
static EXPORTED_FUNCTIONS: (
    unsafe extern "C" fn(*mut XlaCustomCallStatus),
    unsafe extern "C" fn(*mut XlaCustomCallStatus, *const c_char, usize),
) = (XlaCustomCallStatusSetSuccess, XlaCustomCallStatusSetFailure);

/// Calls a C function. A result that shares memory with an operand initially contains the operand's data, and
/// the function receives the same address for both.
///
/// # Safety
/// `target` must be a function of the site's convention that accesses only the buffers that the site
/// describes.
pub(crate) unsafe fn call(target: *const c_void, call: &mut Call<'_>) -> Result<(), Error> {
    let site = call.site;
    let mut inputs: Vec<*const c_void> = call.operand_addresses().iter().map(|o| o.cast()).collect();
    for &(result, operand) in &site.aliases {
        if let Some(shared) = call.share(result, operand) {
            inputs[operand] = shared.cast_const().cast();
        }
    }
    let mut tables = Tables::default();
    let mut arrays = inputs.iter().copied();
    let arguments: Vec<*const c_void> = site.operands.iter().map(|o| tables.value(o, &mut arrays)).collect();
    let mut outputs = call.result_addresses().iter().map(|r| r.cast_const().cast());
    let out = tables.value(&site.result, &mut outputs).cast_mut();
    let mut status = XlaCustomCallStatus::default();
    let arguments = arguments.as_ptr();
    type Original = unsafe extern "C" fn(*mut c_void, *const *const c_void);
    type Returning = unsafe extern "C" fn(*mut c_void, *const *const c_void, *mut XlaCustomCallStatus);
    type Unified = unsafe extern "C" fn(
        *mut c_void,
        *const *const c_void,
        *const c_char,
        usize,
        *mut XlaCustomCallStatus,
    );
    // SAFETY: the caller guarantees that the function has the type of its convention.
    unsafe {
        match site.api {
            ApiVersion::Original => std::mem::transmute::<*const c_void, Original>(target)(out, arguments),
            ApiVersion::StatusReturning => {
                std::mem::transmute::<*const c_void, Returning>(target)(out, arguments, &raw mut status);
            }
            ApiVersion::StatusReturningUnified => {
                let (opaque, len) = (site.config.as_ptr().cast(), site.config.len());
                let target = std::mem::transmute::<*const c_void, Unified>(target);
                target(out, arguments, opaque, len, &raw mut status);
            }
            ApiVersion::TypedFfi => return Err(Error("a typed call of a C function".into())),
        }
    }
    match status.failure {
        None => Ok(()),
        Some(message) => Err(Error(message)),
    }
}

/// Tuples in memory: tables of the addresses of their elements.
#[derive(Default)]
struct Tables(Vec<Box<[*const c_void]>>);

impl Tables {
    /// Returns the address of a value, whose arrays are the next ones in `arrays`.
    fn value(&mut self, ty: &ValueType, arrays: &mut impl Iterator<Item = *const c_void>) -> *const c_void {
        match ty {
            ValueType::Array(_) => arrays.next().unwrap_or(std::ptr::null()),
            ValueType::Token => std::ptr::null(),
            ValueType::Tuple(parts) => {
                let table: Box<[_]> = parts.iter().map(|p| self.value(p, arrays)).collect();
                let address = table.as_ptr().cast();
                self.0.push(table);
                address
            }
        }
    }
}
