//! Layouts: how an array's elements lie in memory.

use smallvec::SmallVec;
use std::fmt;

/// An array's layout: the order of its dimensions from the fastest to the slowest varying one, and further
/// items (tiles, element size, memory space, …) as they were written.
///
/// Source: XLA preview, "Shapes and layout"; the text form is `{minor_to_major:items}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Layout {
    /// The logical dimension numbers, the one with stride 1 first. Its length is the array's rank.
    pub minor_to_major: SmallVec<[u32; 6]>,
    /// The text after the colon, such as `T(8,128)S(1)`, in XLA's order; empty for a plain dense layout.
    pub items: Box<str>,
}

impl Layout {
    /// The row-major layout `{rank-1, …, 0}`, XLA's default.
    pub fn row_major(rank: usize) -> Self {
        Self { minor_to_major: (0..rank as u32).rev().collect(), items: "".into() }
    }

    /// True if the last logical dimension varies fastest, and so on down to the first, with no further items.
    pub fn is_row_major(&self) -> bool {
        self.items.is_empty() && self.minor_to_major.iter().rev().enumerate().all(|(i, &d)| d as usize == i)
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (i, d) in self.minor_to_major.iter().enumerate() {
            if i > 0 {
                f.write_str(",")?;
            }
            write!(f, "{d}")?;
        }
        if !self.items.is_empty() {
            write!(f, ":{}", self.items)?;
        }
        f.write_str("}")
    }
}
