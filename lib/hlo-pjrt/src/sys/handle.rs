//! Pointers to the objects that callers see. [`sys`](super) states the rules for pointers.

use crate::fault::failure::{Fault, Result};
use std::fmt;
use std::ptr;

/// A pointer to an object of this library, or null.
#[repr(transparent)]
pub struct Handle<T>(*const T);

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Handle<T> {}

impl<T> fmt::Debug for Handle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

// SAFETY: threads may share the objects that handles point to.
unsafe impl<T: Sync> Send for Handle<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Handle<T> {}

impl<T> Handle<T> {
    /// The null pointer.
    pub const NULL: Self = Self(ptr::null());

    /// Allocates an object that the caller will destroy.
    pub fn allocate(object: T) -> Self {
        Self(Box::into_raw(Box::new(object)))
    }

    /// Returns a handle to an object that the library keeps as long as the header requires.
    pub fn to(object: &T) -> Self {
        Self(object)
    }

    /// Returns the object.
    ///
    /// # Errors
    /// The handle is null.
    pub fn get<'a>(self) -> Result<&'a T> {
        // SAFETY: guaranteed by the caller (see `sys`).
        unsafe { self.0.as_ref() }.ok_or_else(|| {
            let name = std::any::type_name::<T>();
            Fault::invalid(format!(
                "expected a {}, found a null pointer",
                name.rsplit("::").next().unwrap_or(name)
            ))
        })
    }

    /// Takes ownership of an object that was passed to the caller. Returns `None` if the handle is null.
    pub fn take(self) -> Option<Box<T>> {
        // SAFETY: the caller guarantees that the handle comes from `allocate` and is not used again (see
        // `sys`).
        (!self.0.is_null()).then(|| unsafe { Box::from_raw(self.0.cast_mut()) })
    }

    /// Returns whether the handle is null.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Returns whether the handle points to `object`.
    pub fn is(self, object: &T) -> bool {
        ptr::eq(self.0, object)
    }
}
