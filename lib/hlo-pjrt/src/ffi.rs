//! The FFI extension: handlers of typed custom calls that the caller registers, and data that runs pass to
//! them.

use crate::fault::{Code, Fault, Result};
use crate::sys::{Args, Extension, Handle, Text};
pub use crate::user_data::{Data, ExecuteContext, UserData};
use hlo_custom_call::{CallSite, Target, Targets};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Mutex, PoisonError, RwLock};

/// The names of the registered data types, by number.
static TYPES: Mutex<BTreeMap<i64, String>> = Mutex::new(BTreeMap::new());

/// Registers a data type under the number that the caller requests, or under a new number if that is 0.
///
/// # Errors
/// The type has another number, or another type has the number.
pub fn register_type(name: String, wanted: i64) -> Result<i64> {
    let mut types = TYPES.lock().unwrap_or_else(PoisonError::into_inner);
    let known = types.iter().find(|(_, known)| **known == name).map(|(&number, _)| number);
    match (known, wanted) {
        (Some(number), wanted) if wanted == 0 || wanted == number => Ok(number),
        (Some(number), _) => {
            Err(Fault::new(Code::AlreadyExists, format!("the type {name} has number {number} already")))
        }
        (None, 0) => {
            let number = types.last_key_value().map_or(1, |(&n, _)| n.max(0).saturating_add(1));
            types.insert(number, name);
            Ok(number)
        }
        (None, wanted) => match types.get(&wanted) {
            Some(other) => Err(Fault::new(
                Code::AlreadyExists,
                format!("the number {wanted} is that of the type {other}"),
            )),
            None => {
                types.insert(wanted, name);
                Ok(wanted)
            }
        },
    }
}

/// The handlers that callers registered, by the names of their targets.
static HANDLERS: RwLock<BTreeMap<String, usize>> = RwLock::new(BTreeMap::new());

/// Registers a handler as the target of typed custom calls of a name. The handler of a LAPACK routine is
/// never used ([`Handlers`]).
///
/// # Errors
/// Another handler has that name.
///
/// # Safety
/// The address must be that of a handler, `XLA_FFI_Error* handler(XLA_FFI_CallFrame*)`, which stays valid.
pub unsafe fn register_handler(name: String, handler: *const c_void) -> Result {
    if handler.is_null() {
        return Err(Fault::invalid(format!("the handler of `{name}` is a null pointer")));
    }
    let address = handler.expose_provenance();
    let mut handlers = HANDLERS.write().unwrap_or_else(PoisonError::into_inner);
    match handlers.get(&name) {
        Some(&known) if known != address => {
            Err(Fault::new(Code::AlreadyExists, format!("`{name}` has another handler already")))
        }
        _ => {
            handlers.insert(name, address);
            Ok(())
        }
    }
}

/// Registers a handler as the target of typed custom calls of a name, for callers without the extension.
/// Returns 0 on success, and 1 if the handler is null or the name already has another handler.
///
/// # Safety
/// The name must have `name_size` bytes. The requirements of [`register_handler`] apply too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_pjrt_register_handler(
    name: *const u8,
    name_size: usize,
    handler: *const c_void,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    let registered = crate::fault::catch(|| unsafe {
        let name = crate::sys::elements(name, name_size)?;
        register_handler(String::from_utf8_lossy(name).into_owned(), handler)
    });
    i32::from(registered.is_err())
}

/// The registered handlers as targets of custom calls, except those for LAPACK routines: jaxlib registers the
/// routines of the library that SciPy uses, whose bits depend on the number of threads.
pub struct Handlers;

impl Targets for Handlers {
    fn find(&self, site: &CallSite) -> Option<std::result::Result<Target, hlo_custom_call::Error>> {
        if hlo_custom_call::lapack::is_of_jax(&site.target) {
            return None;
        }
        let address = *HANDLERS.read().unwrap_or_else(PoisonError::into_inner).get(&site.target)?;
        // SAFETY: the code that registered the address guaranteed that it is a handler.
        Some(unsafe { hlo_ffi::typed_target(std::ptr::with_exposed_provenance(address), site) })
    }

    fn names(&self) -> Vec<String> {
        HANDLERS.read().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }
}

/// The extension's structs of arguments.
pub mod args {
    #![expect(missing_docs, reason = "fields are named as in the header, which documents them")]

    use super::{Args, ExecuteContext, Extension, Handle, Text, c_void};

    #[repr(C)]
    pub struct TypeRegister {
        pub struct_size: usize,
        pub extensions: *const Extension,
        pub name: Text,
        pub id: i64,
        pub info: *const c_void,
    }

    #[repr(C)]
    pub struct UserDataAdd {
        pub struct_size: usize,
        pub extensions: *const Extension,
        pub context: Handle<ExecuteContext>,
        pub id: i64,
        pub data: *mut c_void,
    }

    /// Unlike all others, this struct has no field for extensions.
    #[repr(C)]
    pub struct RegisterHandler {
        pub struct_size: usize,
        pub target: Text,
        pub handler: *const c_void,
        pub platform: Text,
        pub traits: i32,
    }

    // SAFETY: the struct contains numbers and pointers, which may be null.
    unsafe impl Args for TypeRegister {
        const MIN_SIZE: usize = size_of::<Self>();
        const FULL_SIZE: usize = size_of::<Self>();
    }

    // SAFETY: as above.
    unsafe impl Args for UserDataAdd {
        const MIN_SIZE: usize = size_of::<Self>();
        const FULL_SIZE: usize = size_of::<Self>();
    }

    // SAFETY: as above.
    unsafe impl Args for RegisterHandler {
        const MIN_SIZE: usize = std::mem::offset_of!(Self, traits);
        const FULL_SIZE: usize = std::mem::offset_of!(Self, traits) + size_of::<i32>();
    }
}
