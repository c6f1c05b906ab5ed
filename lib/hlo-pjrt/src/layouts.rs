//! The extension for layouts: how arrays lie in memory, as texts (`{0,1}`: the dimension that varies fastest first).

use crate::fault::Result;
use crate::program::Leaf;
use crate::sys::{Args, Extension, Handle, List};
use crate::{buffer, client, executable, topology};
use hlo_ir::{ArrayShape, ElementType, Layout, Shape};
use std::borrow::Cow;
use std::sync::Arc;

/// The number of dimensions up to which an order is there that callers can be given the address of.
const MAX_RANK: usize = 64;

/// The orders of the dimensions of row-major arrays: the last ones are those of arrays of fewer dimensions.
static DESCENDING: [i64; MAX_RANK] = {
    let mut order = [0; MAX_RANK];
    let mut n = 0;
    while n < MAX_RANK {
        order[n] = (MAX_RANK - 1 - n) as i64;
        n += 1;
    }
    order
};

/// The order of an array's dimensions in memory, the one that varies fastest first; nothing of one that lies row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Order(Option<Arc<[i64]>>);

impl Order {
    /// The first dimension varies slowest.
    pub const ROW_MAJOR: Self = Self(None);

    /// An order of all dimensions.
    pub fn new(minor_to_major: &[i64]) -> Self {
        let is_row_major = minor_to_major.iter().rev().copied().eq(0..minor_to_major.len() as i64);
        Self((!is_row_major).then(|| minor_to_major.into()))
    }

    /// The order of an array of so many dimensions.
    pub fn minor_to_major(&self, rank: usize) -> Cow<'_, [i64]> {
        match (&self.0, MAX_RANK.checked_sub(rank)) {
            (Some(order), _) => Cow::Borrowed(order),
            (None, Some(before)) => Cow::Borrowed(&DESCENDING[before..]),
            (None, None) => (0..rank as i64).rev().collect(),
        }
    }

    /// The shape of an array whose dimensions are in this order.
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

/// How an array lies in memory.
pub struct MemoryLayout {
    text: String,
}

impl MemoryLayout {
    /// The layout of an array of so many dimensions.
    pub fn new(order: &Order, rank: usize) -> Self {
        let order = order.minor_to_major(rank);
        let order = order.iter().map(|&d| u32::try_from(d).unwrap_or(0));
        Self { text: Layout::new(order).to_string() }
    }

    /// What it is written as.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// The layouts of a program's parameters or results, and their addresses.
pub struct Layouts {
    /// What the addresses are of.
    _own: Box<[MemoryLayout]>,
    addresses: Vec<Handle<MemoryLayout>>,
}

impl Layouts {
    /// Those of leaves.
    pub fn of(leaves: &[Leaf]) -> Self {
        let own: Box<[MemoryLayout]> =
            leaves.iter().map(|leaf| MemoryLayout::new(&leaf.order, leaf.dims.len())).collect();
        Self { addresses: own.iter().map(Handle::to).collect(), _own: own }
    }

    /// The addresses.
    pub fn addresses(&self) -> &[Handle<MemoryLayout>] {
        &self.addresses
    }
}

/// The layout that arrays of so many dimensions have unless somebody says otherwise: row-major.
///
/// # Errors
/// The list is at a null pointer.
pub fn default_layout(dims: List<i64>) -> Result<Handle<MemoryLayout>> {
    Ok(Handle::give(MemoryLayout::new(&Order::ROW_MAJOR, dims.get()?.len())))
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
