//! The layouts extension. It describes layouts as texts: `{0,1}` lists the dimensions, the fastest varying
//! one first.

pub mod args;

use crate::fault::Result;
use crate::leaf::Leaf;
pub use crate::order::Order;
use crate::sys::{Handle, List};
use hlo_ir::Layout;

/// The layout of an array in memory.
pub struct MemoryLayout {
    text: String,
}

impl MemoryLayout {
    /// Creates the layout of an array of rank `rank`.
    pub fn new(order: &Order, rank: usize) -> Self {
        let order = order.minor_to_major(rank);
        let order = order.iter().map(|&d| u32::try_from(d).unwrap_or(0));
        Self { text: Layout::new(order).to_string() }
    }

    /// Returns the text of the layout.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// The layouts of a program's parameters or results, and their addresses.
pub struct Layouts {
    /// The owner of the memory that the addresses refer to.
    _own: Box<[MemoryLayout]>,
    addresses: Vec<Handle<MemoryLayout>>,
}

impl Layouts {
    /// Collects the layouts of leaves.
    pub fn of(leaves: &[Leaf]) -> Self {
        let own: Box<[MemoryLayout]> =
            leaves.iter().map(|leaf| MemoryLayout::new(&leaf.order, leaf.dims.len())).collect();
        Self { addresses: own.iter().map(Handle::to).collect(), _own: own }
    }

    /// Returns the addresses.
    pub fn addresses(&self) -> &[Handle<MemoryLayout>] {
        &self.addresses
    }
}

/// Returns the default layout of an array with these dimensions, which is row-major.
///
/// # Errors
/// The list is a null pointer.
pub fn default_layout(dims: List<i64>) -> Result<Handle<MemoryLayout>> {
    Ok(Handle::allocate(MemoryLayout::new(&Order::ROW_MAJOR, dims.get()?.len())))
}
