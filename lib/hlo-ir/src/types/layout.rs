//! Layouts: the order of an array's elements in memory.

use crate::ElementType;
use smallvec::SmallVec;
use std::fmt::{self, Write};

/// The layout of an array: the order of its dimensions from the fastest to the slowest varying, and further
/// items. Most layouts have no further items (tiles, element size, memory space, …).
///
/// Source: XLA preview, "Shapes and layout"; the text form is `{minor_to_major:items}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Layout {
    /// The logical dimension numbers, starting with the one of stride 1. Its length is the array's rank.
    pub minor_to_major: SmallVec<[u32; 6]>,
    /// `None` if every item has its default value, so that equal layouts compare equal.
    items: Option<Box<LayoutItems>>,
}

/// The items of a layout besides the order of the dimensions. The default value has no effect.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct LayoutItems {
    /// `D(D,C)`: how each dimension is stored. XLA reads and discards it.
    pub dimension_levels: Vec<DimensionLevel>,
    /// `T(8,128)(2,1)`: tiles. Each tile applies to the result of the previous one.
    pub tiles: Vec<Tile>,
    /// `L(n)`: the number of elements is padded to a multiple of `n`. `None` means 1.
    pub tail_padding: Option<i64>,
    /// `#(u32)`: the integer type of indices.
    pub index_type: Option<ElementType>,
    /// `*(u32)`: the integer type of pointers.
    pub pointer_type: Option<ElementType>,
    /// `E(n)`: the number of bits of an element in memory. 0 means the size of its type.
    pub element_size_bits: i64,
    /// `S(n)`: the memory space. 0 is the default one, [`LayoutItems::HOST_MEMORY`] the host's.
    pub memory_space: i32,
    /// `SC(0:10,20)(1:5)`: the split points of dimensions.
    pub split_configs: Vec<SplitConfig>,
    /// `M(n)`: the number of bytes before the elements that contain the sizes of dynamic dimensions.
    pub metadata_prefix_bytes: i64,
}

impl LayoutItems {
    /// The memory space of the host, as in XLA.
    pub const HOST_MEMORY: i32 = 5;
}

/// A tile: its sizes, with the fastest varying dimension last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tile(pub SmallVec<[TileSize; 2]>);

/// The size of a tile in one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TileSize {
    /// The number of elements.
    Elements(i64),
    /// `*`: the dimension is combined with the next faster one before tiling.
    Combine,
}

/// How a dimension is stored: `D`, `C+`, `S~`, …
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DimensionLevel {
    /// The kind of entries that are stored.
    pub kind: LevelKind,
    /// Whether coordinates are unique. If not (`+`), they may repeat.
    pub unique: bool,
    /// Whether coordinates are ordered. If not (`~`), they may be in any order.
    pub ordered: bool,
}

/// The entries of a dimension that are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LevelKind {
    /// `D`: all entries.
    Dense,
    /// `C`: the non-zero entries.
    Compressed,
    /// `S`: one entry for each entry of the level above.
    Singleton,
    /// `H`: the non-zero entries, with gaps between them.
    LooseCompressed,
}

/// The split points of the array along a dimension.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SplitConfig {
    /// The logical dimension.
    pub dimension: i64,
    /// The first index of each part except the first part.
    pub indices: Vec<i64>,
}

impl LevelKind {
    /// All kinds with their letters.
    pub const ALL: [(LevelKind, char); 4] = [
        (LevelKind::Dense, 'D'),
        (LevelKind::Compressed, 'C'),
        (LevelKind::Singleton, 'S'),
        (LevelKind::LooseCompressed, 'H'),
    ];
}

impl Layout {
    /// Creates a layout with this order and no further items.
    pub fn new(minor_to_major: impl IntoIterator<Item = u32>) -> Self {
        Self { minor_to_major: minor_to_major.into_iter().collect(), items: None }
    }

    /// Creates the row-major layout `{rank-1, …, 0}`, XLA's default.
    pub fn row_major(rank: usize) -> Self {
        Self::new((0..rank as u32).rev())
    }

    /// Returns a layout with the same order and other items.
    pub fn with_items(mut self, items: LayoutItems) -> Self {
        self.items = (items != LayoutItems::default()).then(|| Box::new(items));
        self
    }

    /// Returns the items, if any of them differs from its default.
    pub fn items(&self) -> Option<&LayoutItems> {
        self.items.as_deref()
    }

    /// Returns the layout without an element size.
    pub fn without_element_size(self) -> Self {
        match self.items.as_deref() {
            Some(items) if items.element_size_bits != 0 => {
                let items = LayoutItems { element_size_bits: 0, ..items.clone() };
                self.with_items(items)
            }
            _ => self,
        }
    }

    /// Returns the tiles. A plain layout has none.
    pub fn tiles(&self) -> &[Tile] {
        self.items().map_or(&[], |i| &i.tiles)
    }

    /// Returns the number of bits of an element in memory, if the layout has an element size: 4 for
    /// `{0:E(4)}`.
    pub fn element_size_bits(&self) -> Option<i64> {
        self.items().map(|i| i.element_size_bits).filter(|&n| n != 0)
    }

    /// Returns the memory space. 0 is the default one.
    pub fn memory_space(&self) -> i32 {
        self.items().map_or(0, |i| i.memory_space)
    }

    /// Returns whether the dimensions vary from the last (fastest) to the first, without further items.
    pub fn is_row_major(&self) -> bool {
        self.items.is_none() && self.minor_to_major.iter().rev().enumerate().all(|(i, &d)| d as usize == i)
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        write_list(f, &self.minor_to_major)?;
        if let Some(items) = self.items() {
            write!(f, ":{items}")?;
        }
        f.write_str("}")
    }
}

/// Prints the items in the only order in which XLA reads them.
impl fmt::Display for LayoutItems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.dimension_levels.is_empty() {
            f.write_str("D(")?;
            write_list(f, &self.dimension_levels)?;
            f.write_str(")")?;
        }
        if !self.tiles.is_empty() {
            f.write_str("T")?;
            self.tiles.iter().try_for_each(|t| write!(f, "{t}"))?;
        }
        if let Some(n) = self.tail_padding {
            write!(f, "L({n})")?;
        }
        if let Some(t) = self.index_type {
            write!(f, "#({t})")?;
        }
        if let Some(t) = self.pointer_type {
            write!(f, "*({t})")?;
        }
        if self.element_size_bits != 0 {
            write!(f, "E({})", self.element_size_bits)?;
        }
        if self.memory_space != 0 {
            write!(f, "S({})", self.memory_space)?;
        }
        if !self.split_configs.is_empty() {
            f.write_str("SC")?;
            self.split_configs.iter().try_for_each(|s| write!(f, "{s}"))?;
        }
        if self.metadata_prefix_bytes != 0 {
            write!(f, "M({})", self.metadata_prefix_bytes)?;
        }
        Ok(())
    }
}

impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        write_list(f, &self.0)?;
        f.write_str(")")
    }
}

impl fmt::Display for TileSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TileSize::Elements(n) => write!(f, "{n}"),
            TileSize::Combine => f.write_str("*"),
        }
    }
}

impl fmt::Display for DimensionLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (kind, letter) in LevelKind::ALL {
            if kind == self.kind {
                f.write_char(letter)?;
            }
        }
        f.write_str(if self.unique { "" } else { "+" })?;
        f.write_str(if self.ordered { "" } else { "~" })
    }
}

impl fmt::Display for SplitConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}:", self.dimension)?;
        write_list(f, &self.indices)?;
        f.write_str(")")
    }
}

fn write_list<T: fmt::Display>(f: &mut fmt::Formatter<'_>, items: &[T]) -> fmt::Result {
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            f.write_str(",")?;
        }
        write!(f, "{item}")?;
    }
    Ok(())
}
