//! A replacement for platforms where the dynamic linker cannot report which symbols a library itself defines.
//! No library can be loaded there.

use std::path::Path;
use std::sync::Arc;

use super::{Foreign, Symbol};
use hlo_runtime_core::Error;

/// A loaded library; no value of this type exists.
pub(crate) enum Library {}

impl Library {
    /// Returns an error, because libraries cannot be loaded.
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
