//! Where the dynamic linker can't say what a library itself defines, none is loaded.

use std::path::Path;
use std::sync::Arc;

use super::{Foreign, Symbol};
use hlo_runtime_core::Error;

/// A loaded library: there is none.
pub(crate) enum Library {}

impl Library {
    /// Says that libraries can't be loaded.
    pub(crate) unsafe fn load(path: &Path) -> Result<Arc<Library>, Error> {
        Err(Error(format!(
            "the library {} can't be loaded: that is possible on Linux with glibc only",
            path.display()
        )))
    }

    pub(crate) fn path(&self) -> &Path {
        match *self {}
    }

    pub(crate) fn declared(&self, _: &str) -> Option<Foreign> {
        match *self {}
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::empty()
    }

    pub(crate) fn platforms(&self, _: &str) -> Vec<&str> {
        match *self {}
    }

    pub(crate) fn symbol(&self, _: &str) -> Symbol {
        match *self {}
    }
}
