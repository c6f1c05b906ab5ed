//! The layouts extension. It describes layouts as texts: `{0,1}` lists the dimensions, the fastest varying
//! one first.

use crate::fault::Result;
use crate::program::Leaf;
use crate::sys::{Args, Extension, Handle, List};
use crate::{buffer, client, executable, topology};
use hlo_ir::{ArrayShape, ElementType, Layout, Shape};
use std::borrow::Cow;
use std::sync::Arc;

/// Maximum rank of a row-major array whose order has an address that callers can use.
const MAX_RANK: usize = 64;

/// The order of the dimensions of a row-major array of rank `MAX_RANK`. Its end is the order for a smaller
/// rank.
static DESCENDING: [i64; MAX_RANK] = {
    let mut order = [0; MAX_RANK];
    let mut n = 0;
    while n < MAX_RANK {
        order[n] = (MAX_RANK - 1 - n) as i64;
        n += 1;
    }
    order
};

/// The order of an array's dimensions in memory, the fastest varying one first, or `None` if the array is
/// row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Order(Option<Arc<[i64]>>);

impl Order {
    /// Row-major: the first dimension varies slowest.
    pub const ROW_MAJOR: Self = Self(None);

    /// Creates an order from a list of all dimensions.
    pub fn new(minor_to_major: &[i64]) -> Self {
        let is_row_major = minor_to_major.iter().rev().copied().eq(0..minor_to_major.len() as i64);
        Self((!is_row_major).then(|| minor_to_major.into()))
    }

    /// Returns the order of the dimensions for an array of rank `rank`.
    pub fn minor_to_major(&self, rank: usize) -> Cow<'_, [i64]> {
        match (&self.0, MAX_RANK.checked_sub(rank)) {
            (Some(order), _) => Cow::Borrowed(order),
            (None, Some(before)) => Cow::Borrowed(&DESCENDING[before..]),
            (None, None) => (0..rank as i64).rev().collect(),
        }
    }

    /// Returns the shape of an array with this order of dimensions.
    pub fn shape(&self, ty: ElementType, dims: &[i64]) -> Shape {
        let array = ArrayShape::new(ty, dims.iter().copied());
        match &self.0 {
            None => array.into(),
            Some(order) => {
                array.with_layout(Layout::new(order.iter().map(|&d| u32::try_from(d).unwrap_or(0)))).into()
            }
        }
    }
}

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

/// The extension's structs of arguments.
pub mod args {
    #![allow(missing_docs, reason = "fields are named as in the header, which documents them")]

    use super::{Args, Extension, Handle, List, MemoryLayout};
    use super::{buffer::Buffer, client::Client, executable::Executable, topology::Topology};
    use crate::sys::Serialized;

    crate::sys::args::args! {
        MemoryLayoutDestroy { layout: Handle<MemoryLayout> }
        MemoryLayoutSerialize { layout: Handle<MemoryLayout>, serialized: Serialized }
        ClientGetDefaultLayout {
            client: Handle<Client>, element_type: i32, dims: List<i64>, layout: Handle<MemoryLayout>
        }
        BufferLayout { buffer: Handle<Buffer>, layout: Handle<MemoryLayout> }
        TopologyGetDefaultLayout {
            topology: Handle<Topology>, element_type: i32, dims: List<i64>, layout: Handle<MemoryLayout>
        }
        ExecutableGetLayouts {
            executable: Handle<Executable>, count: usize, layouts: *const Handle<MemoryLayout>
        }
    }
}
