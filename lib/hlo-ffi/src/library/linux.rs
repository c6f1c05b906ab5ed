//! Loads libraries with glibc's dynamic linker.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};
use std::sync::{Arc, Mutex, PoisonError};

use super::{Foreign, Symbol, TABLE_SYMBOL, table};
use crate::typed;
use hlo_runtime_core::Error;

/// The requests to `dladdr1`: the entry in the symbol table, or the library that defines the symbol.
const RTLD_DL_SYMENT: c_int = 1;
const RTLD_DL_LINKMAP: c_int = 2;

/// The kinds of symbols in ELF symbol tables.
const STT_OBJECT: u8 = 1;
const STT_FUNC: u8 = 2;

/// A loaded library. It stays loaded until the process ends.
pub(crate) struct Library {
    path: PathBuf,
    handle: *mut c_void,
    declared: BTreeMap<String, Foreign>,
    /// The targets for platforms other than CPUs, and their platforms.
    elsewhere: Vec<(String, String)>,
}

// SAFETY: the handle is only passed to the dynamic linker, which any thread may call.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

/// The loaded libraries. A library registers its targets only once, even if it is loaded several times.
static LOADED_LIBRARIES: Mutex<BTreeMap<PathBuf, Arc<Library>>> = Mutex::new(BTreeMap::new());

impl Library {
    /// Loads a library.
    ///
    /// # Safety
    /// Loading runs the library's own initialization, and its declarations must be correct.
    pub(crate) unsafe fn load(path: &Path) -> Result<Arc<Library>, Error> {
        let failed =
            |e: &dyn std::fmt::Display| Error(format!("the library {} can't be loaded: {e}", path.display()));
        // The dynamic linker would search for a bare name among the system's libraries.
        let full = std::fs::canonicalize(path).map_err(|e| failed(&e))?;
        let mut loaded = LOADED_LIBRARIES.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(library) = loaded.get(&full) {
            return Ok(library.clone());
        }
        let name = CString::new(full.as_os_str().as_bytes()).map_err(|e| failed(&e))?;
        // SAFETY: guaranteed by the caller; the name is NUL-terminated.
        let open = || unsafe {
            let flags = libc::RTLD_NOW | libc::RTLD_LOCAL | libc::RTLD_NODELETE;
            let handle = libc::dlopen(name.as_ptr(), flags);
            if handle.is_null() { Err(linker_error()) } else { Ok(handle) }
        };
        let (handle, registered) = typed::collect(open);
        let handle = handle.map_err(|e| failed(&e))?;
        let mut library =
            Library { path: path.to_path_buf(), handle, declared: BTreeMap::new(), elsewhere: Vec::new() };
        for target in registered {
            match target.handlers {
                Some(handlers) if target.is_for_cpus() => {
                    library.declared.insert(target.name, Foreign::Typed(handlers));
                }
                Some(_) => library.elsewhere.push((target.name, target.platform)),
                None => return Err(failed(&format!("it registers `{}` without a handler", target.name))),
            }
        }
        // SAFETY: guaranteed by the caller.
        let targets = unsafe { table(library.symbol(TABLE_SYMBOL)) }.map_err(|e| failed(&e))?;
        library.declared.extend(targets);
        let library = Arc::new(library);
        loaded.insert(full, library.clone());
        Ok(library)
    }

    /// Returns the path from which the library was loaded.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the target that the library declares under a name.
    pub(crate) fn declared(&self, name: &str) -> Option<Foreign> {
        self.declared.get(name).copied()
    }

    /// Returns the names of the targets that the library declares.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.declared.keys().map(String::as_str)
    }

    /// Returns the platforms other than CPUs for which the library declares a target.
    pub(crate) fn platforms(&self, name: &str) -> Vec<&str> {
        self.elsewhere.iter().filter(|(n, _)| n == name).map(|(_, platform)| platform.as_str()).collect()
    }

    /// Looks up a symbol.
    pub(crate) fn symbol(&self, name: &str) -> Symbol {
        let Ok(name) = CString::new(name) else { return Symbol::Missing };
        // SAFETY: the handle is open, and the name is NUL-terminated.
        let address: *const c_void = unsafe { libc::dlsym(self.handle, name.as_ptr()) };
        if address.is_null() {
            return Symbol::Missing;
        }
        let mut own = null_mut::<c_void>();
        // SAFETY: this request writes a pointer.
        let known = unsafe { libc::dlinfo(self.handle, libc::RTLD_DI_LINKMAP, (&raw mut own).cast()) };
        let (owner, _) = find(address, RTLD_DL_LINKMAP);
        if known != 0 || owner != own {
            return Symbol::NotItsOwn;
        }
        let (entry, start) = find(address, RTLD_DL_SYMENT);
        if entry.is_null() || start != address {
            return Symbol::NotItsOwn;
        }
        // SAFETY: the pointer refers to the library's symbol table, which does not move while the library is
        // loaded.
        let entry = unsafe { &*entry.cast::<libc::Elf64_Sym>() };
        match entry.st_info & 0xf {
            STT_FUNC => Symbol::Function(address),
            STT_OBJECT => Symbol::Data(address, entry.st_size as usize),
            _ => Symbol::NotItsOwn,
        }
    }
}

/// Returns the dynamic linker's information about an address (null if there is none), and the start of the
/// symbol that contains it.
fn find(address: *const c_void, what: c_int) -> (*mut c_void, *const c_void) {
    let mut info =
        libc::Dl_info { dli_fname: null(), dli_fbase: null_mut(), dli_sname: null(), dli_saddr: null_mut() };
    let mut extra = null_mut();
    // SAFETY: the function writes only to these two variables.
    match unsafe { libc::dladdr1(address, &raw mut info, &raw mut extra, what) } {
        0 => (null_mut(), null()),
        _ => (extra, info.dli_saddr),
    }
}

/// Returns the message of the dynamic linker's last failure on this thread.
fn linker_error() -> String {
    // SAFETY: the message is NUL-terminated and belongs to this thread until the next call.
    unsafe {
        let message = libc::dlerror();
        if message.is_null() {
            "unknown cause".into()
        } else {
            CStr::from_ptr(message).to_string_lossy().into_owned()
        }
    }
}
