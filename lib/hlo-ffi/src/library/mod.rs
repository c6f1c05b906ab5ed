//! Shared libraries and the targets that they declare.
//!
//! A library declares typed targets by registering them while it is loaded (`XLA_FFI_REGISTER_HANDLER`), and targets of
//! every convention in a table, `hlo_custom_calls`. Its other functions are reached by their names only where somebody
//! asks for that, and then only those that it defines itself: the dynamic linker would find those of the libraries that
//! it needs as well, `system` among them.

use std::ffi::{CStr, c_char, c_void};

use crate::typed::Handlers;
use hlo_custom_call::ApiVersion;
use hlo_runtime_core::Error;

#[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
mod linux;
#[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
pub(crate) use linux::Library;

#[cfg(not(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64")))]
mod missing;
#[cfg(not(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64")))]
pub(crate) use missing::Library;

/// A target of a library.
#[derive(Clone, Copy)]
pub(crate) enum Foreign {
    /// A function of one of C's conventions.
    C(ApiVersion, *const c_void),
    /// A target of typed calls.
    Typed(Handlers),
}

// SAFETY: functions may be called from any thread.
unsafe impl Send for Foreign {}
// SAFETY: as above.
unsafe impl Sync for Foreign {}

/// What a library has under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Symbol {
    /// A function of its own.
    Function(*const c_void),
    /// Data of its own, of so many bytes.
    Data(*const c_void, usize),
    /// Something that it has from another library.
    NotItsOwn,
    /// Nothing.
    Missing,
}

/// An entry of a library's table; the last one has no name.
#[repr(C)]
struct Entry {
    name: *const c_char,
    /// 1 to 4: as XLA numbers the conventions.
    api_version: i64,
    function: *const c_void,
}

/// The name of a library's table.
const TABLE: &str = "hlo_custom_calls";

/// The targets in a library's table.
///
/// # Safety
/// Where there are so many bytes, they must be such entries up to one without a name.
unsafe fn table(symbol: Symbol) -> Result<Vec<(String, Foreign)>, Error> {
    let (table, bytes) = match symbol {
        Symbol::Data(table, bytes) => (table.cast::<Entry>(), bytes),
        Symbol::Function(_) => return Err(Error(format!("its `{TABLE}` is a function and no table"))),
        Symbol::NotItsOwn | Symbol::Missing => return Ok(Vec::new()),
    };
    if !table.is_aligned() {
        return Err(Error(format!("its `{TABLE}` is not aligned")));
    }
    let mut targets = Vec::new();
    for i in 0..bytes / size_of::<Entry>() {
        // SAFETY: the caller's promise, within the symbol's size.
        let (entry, name) = unsafe {
            let entry = &*table.add(i);
            if entry.name.is_null() {
                break;
            }
            (entry, CStr::from_ptr(entry.name).to_string_lossy().into_owned())
        };
        if entry.function.is_null() {
            return Err(Error(format!("its `{TABLE}` has no function for `{name}`")));
        }
        let target = match entry.api_version {
            1 => Foreign::C(ApiVersion::Original, entry.function),
            2 => Foreign::C(ApiVersion::StatusReturning, entry.function),
            3 => Foreign::C(ApiVersion::StatusReturningUnified, entry.function),
            // SAFETY: the caller's promise.
            4 => Foreign::Typed(unsafe { Handlers::new(entry.function) }),
            other => {
                return Err(Error(format!(
                    "its `{TABLE}` has `{name}` with the calling convention {other}, which is none of 1 to 4"
                )));
            }
        };
        targets.push((name, target));
    }
    Ok(targets)
}
