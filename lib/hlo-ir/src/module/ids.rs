//! Typed ids of entries in a module's arenas. An id is valid for the lifetime of the module, because entries
//! are never renumbered.

use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $letter:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            /// Creates the id of the entry at position `index` of the arena.
            ///
            /// An arena has at most `u32::MAX` entries. The parser rejects larger modules.
            pub fn new(index: usize) -> Self {
                debug_assert!(index < u32::MAX as usize);
                Self(index as u32)
            }

            /// Returns the position in the arena.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($letter, "{}"), self.0)
            }
        }
    };
}

id!(
    /// An instruction of a module.
    InstrId,
    "i"
);
id!(
    /// A computation of a module.
    ComputationId,
    "c"
);

impl Default for ComputationId {
    /// Creates a placeholder that no module contains, for attributes that are set later.
    fn default() -> Self {
        Self(u32::MAX)
    }
}
