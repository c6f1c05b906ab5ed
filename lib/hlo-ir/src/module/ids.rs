//! Typed ids into a module's arenas. An id stays valid for the module's life: nothing is renumbered.

use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $letter:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            /// The id of the `index`-th entry of the arena.
            ///
            /// An arena holds at most `u32::MAX` entries; the parser refuses larger modules.
            pub fn new(index: usize) -> Self {
                debug_assert!(index < u32::MAX as usize);
                Self(index as u32)
            }

            /// The position in the arena.
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
    /// A placeholder that no module contains, for attributes that are still to be filled in.
    fn default() -> Self {
        Self(u32::MAX)
    }
}
