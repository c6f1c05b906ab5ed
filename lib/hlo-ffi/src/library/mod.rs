//! Shared libraries and the targets that they declare.
//!
//! A library declares typed targets by registering them while it loads (`XLA_FFI_REGISTER_HANDLER`), and
//! targets of any convention in a table, `hlo_custom_calls`. Its other functions are available by name only
//! on request, and only those that the library itself defines. The dynamic linker would also find functions
//! of the libraries that it depends on, such as `system`.

use std::ffi::{CStr, c_char, c_void};

use crate::typed::Handlers;
use hlo_custom_call::ApiVersion;
use hlo_runtime_core::Error;

#[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
mod linux;
#[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
pub(crate) use linux::Library;

#[cfg(not(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64")))]
mod unsupported;
#[cfg(not(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64")))]
pub(crate) use unsupported::Library;

/// A target in a library.
#[derive(Clone, Copy)]
pub(crate) enum Foreign {
    /// A function with a C calling convention.
    C(ApiVersion, *const c_void),
    /// The handlers of typed calls.
    Typed(Handlers),
}

// SAFETY: any thread may call the functions.
unsafe impl Send for Foreign {}
// SAFETY: as above.
unsafe impl Sync for Foreign {}

/// The result of looking up a name in a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Symbol {
    /// A function that the library defines.
    Function(*const c_void),
    /// Data that the library defines, and its size in bytes.
    Data(*const c_void, usize),
    /// A symbol that the library imports from another library.
    NotItsOwn,
    /// The library has no such symbol.
    Missing,
}

/// An entry of a library's table. The last entry has no name.
#[repr(C)]
struct Entry {
    name: *const c_char,
    /// The calling convention by XLA's numbering, 1 to 4.
    api_version: i64,
    function: *const c_void,
}

/// The name of the table in a library.
const TABLE_SYMBOL: &str = "hlo_custom_calls";

/// Returns the targets in a library's table.
///
/// # Safety
/// If the symbol is data, its bytes must be such entries, up to one without a name.
unsafe fn table(symbol: Symbol) -> Result<Vec<(String, Foreign)>, Error> {
    let (table, bytes) = match symbol {
        Symbol::Data(table, bytes) => (table.cast::<Entry>(), bytes),
        Symbol::Function(_) => return Err(Error(format!("its `{TABLE_SYMBOL}` is a function and no table"))),
        Symbol::NotItsOwn | Symbol::Missing => return Ok(Vec::new()),
    };
    if !table.is_aligned() {
        return Err(Error(format!("its `{TABLE_SYMBOL}` is not aligned")));
    }
    let mut targets = Vec::new();
    for i in 0..bytes / size_of::<Entry>() {
        // SAFETY: guaranteed by the caller; the entry is within the symbol's size.
        let (entry, name) = unsafe {
            let entry = &*table.add(i);
            if entry.name.is_null() {
                break;
            }
            (entry, CStr::from_ptr(entry.name).to_string_lossy().into_owned())
        };
        if entry.function.is_null() {
            return Err(Error(format!("its `{TABLE_SYMBOL}` has no function for `{name}`")));
        }
        let target = match entry.api_version {
            1 => Foreign::C(ApiVersion::Original, entry.function),
            2 => Foreign::C(ApiVersion::StatusReturning, entry.function),
            3 => Foreign::C(ApiVersion::StatusReturningUnified, entry.function),
            // SAFETY: guaranteed by the caller.
            4 => Foreign::Typed(unsafe { Handlers::new(entry.function) }),
            other => {
                return Err(Error(format!(
                    "its `{TABLE_SYMBOL}` has `{name}` with the calling convention {other}, which is none of 1 to 4"
                )));
            }
        };
        targets.push((name, target));
    }
    Ok(targets)
}
