//! Instruction attributes: their declaration, reading and printing.
//!
//! One struct, declared with the `attrs!` macro, contains the attributes of an opcode. The declaration of a
//! field contains its type and whether the text may omit it. The macro generates reading and printing from
//! the declaration: the parser and the printer use [`Attrs`]. Field types implement [`AttrValue`].

mod aliasing;
mod collective;
mod covered;
mod dim_labels;
mod effects;
mod frontend;
mod header;
mod iota;
mod layout_modes;
mod mesh;
mod metadata;
mod named_sharding;
mod origin;
mod products;
mod reader;
mod replica_groups;
mod shapes;
mod sharding;
mod slices;
mod statistics;
mod string;
mod structs;
mod summands;
mod tile_assignment;
mod tiled_sharding;
mod values;
mod window;
mod words;

pub(crate) use aliasing::index_text;
pub use aliasing::{BufferDonor, InputOutputAlias, OperandAlias, ShapeIndex};
pub use collective::*;
pub use covered::Covered;
pub use dim_labels::ConvDimLabels;
pub use effects::{Domain, LiteralValue, OperandPrecision, OrTrue, Sparsity, SparsityConfig};
pub use frontend::FrontendAttributes;
pub use header::{Count, DebugAttribute, DebugLog, EntryLayout, Header, PropagationAllowed};
pub(crate) use iota::checked_count;
pub use iota::{DeviceOrder, IotaOrder, MAX_SHARDED_DEVICES};
pub use layout_modes::LayoutModes;
pub use mesh::{AxisPart, AxisRef, Mesh, MeshAxis};
pub use metadata::{OpMetadata, RareMetadata};
pub use named_sharding::{AxesSharding, DimensionAxes, NamedSharding, UnreducedKind, WholeMesh};
pub use origin::{Origin, OriginRecovery, OriginTree, OriginalArray};
pub use products::ProductNumbers;
pub use reader::{AttrContext, AttrError, AttrReader, InlineComputation, Resolver};
pub use replica_groups::{ReplicaGroups, SliceSizes, SourceTargetPairs};
pub use shapes::{LayoutConstraints, OptionalShape};
pub use sharding::{ShardGroup, Sharding, ShardingKind, SingleSharding};
pub use slices::{PaddingDim, SliceDim};
pub use statistics::{ResultAccuracy, Statistics};
pub use string::{HloString, dict_end, write_quoted};
pub use structs::*;
pub use summands::Summands;
pub use tile_assignment::{Place, TileAssignment};
pub use tiled_sharding::{Subgroup, TiledSharding};
pub use window::{Window, WindowDim};
pub use words::*;

use crate::ComputationId;
use std::fmt;

/// Whether the text may omit an attribute, and when the attribute is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Cannot be omitted; always printed.
    Required,
    /// May be omitted, which means the default; always printed.
    Always,
    /// May be omitted; printed unless it has its default value.
    Optional,
}

/// One attribute of an opcode.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The name before the `=`.
    pub name: &'static str,
    /// Whether it may be omitted.
    pub presence: Presence,
    /// Its meaning in one sentence: the doc comment of the struct's field.
    pub doc: &'static str,
    /// The words that the value may be; empty if the values are not words.
    pub words: &'static [&'static str],
    /// The names that may occur between its braces, if they are known.
    pub inside: BraceContents,
    /// The name of the grammar rule of the value, see [`AttrValue::RULE`].
    pub rule: &'static str,
}

/// The words and names that may occur between the braces of a value, as the readers know them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BraceContents {
    /// Whether the value has braces. The value of a part may have none: `mode=highest`.
    pub braces: bool,
    /// The words.
    pub words: &'static [&'static str],
    /// The names that are followed by `=` and a value.
    pub fields: &'static [&'static str],
    /// The contents of the values of some fields; for a word, the contents of the braces after it.
    pub parts: &'static [(&'static str, BraceContents)],
}

impl BraceContents {
    /// Contents without names.
    pub const NO_NAMES: Self = Self { braces: true, words: &[], fields: &[], parts: &[] };

    /// Creates the contents of a value that is one of the given words, without braces.
    pub const fn word(words: &'static [&'static str]) -> Self {
        Self { braces: false, words, ..Self::NO_NAMES }
    }

    /// Creates the contents of a list of the given words.
    pub const fn words(words: &'static [&'static str]) -> Self {
        Self { words, ..Self::NO_NAMES }
    }

    /// Creates the contents of a value with the given fields, whose values contain no names.
    pub const fn fields(fields: &'static [&'static str]) -> Self {
        Self { fields, ..Self::NO_NAMES }
    }

    /// Returns the contents of the value of a field, or of the braces after a word.
    pub fn part(&self, name: &str) -> Option<Self> {
        self.parts.iter().find(|(n, _)| *n == name).map(|&(_, part)| part)
    }
}

/// Provides the names of computations for printing.
pub trait ComputationNames {
    /// Writes the name of a computation as an attribute value, such as `%region_0.1`.
    ///
    /// # Errors
    /// The errors of `f`.
    fn write_computation(&self, f: &mut dyn fmt::Write, id: ComputationId) -> fmt::Result;

    /// Returns whether metadata within values, such as shardings, is printed.
    fn writes_metadata(&self) -> bool {
        true
    }
}

/// The attributes of an instruction of any opcode.
pub trait Attrs {
    /// Returns the opcode's attributes, in printing order.
    fn fields(&self) -> &'static [Field];

    /// Reads the value of field number `index`.
    ///
    /// # Errors
    /// The text is not a value of the field. The error contains what was expected, and where.
    fn read_field(&mut self, index: usize, reader: &mut AttrReader<'_>) -> Result<(), AttrError>;

    /// Returns whether field number `index` has its default value.
    fn is_default(&self, index: usize) -> bool;

    /// Prints the value of field number `index`.
    ///
    /// # Errors
    /// The errors of `f`.
    fn write_field(&self, index: usize, f: &mut dyn fmt::Write, names: &dyn ComputationNames) -> fmt::Result;

    /// Calls `f` for every computation in the attributes, in printing order.
    fn for_each_computation(&self, f: &mut dyn FnMut(ComputationId));

    /// Calls `f` with a mutable reference to every computation in the attributes.
    fn for_each_computation_mut(&mut self, f: &mut dyn FnMut(&mut ComputationId));
}

impl<A: Attrs> Attrs for Box<A> {
    fn fields(&self) -> &'static [Field] {
        (**self).fields()
    }

    fn read_field(&mut self, index: usize, reader: &mut AttrReader<'_>) -> Result<(), AttrError> {
        (**self).read_field(index, reader)
    }

    fn is_default(&self, index: usize) -> bool {
        (**self).is_default(index)
    }

    fn write_field(&self, index: usize, f: &mut dyn fmt::Write, names: &dyn ComputationNames) -> fmt::Result {
        (**self).write_field(index, f, names)
    }

    fn for_each_computation(&self, f: &mut dyn FnMut(ComputationId)) {
        (**self).for_each_computation(f);
    }

    fn for_each_computation_mut(&mut self, f: &mut dyn FnMut(&mut ComputationId)) {
        (**self).for_each_computation_mut(f);
    }
}

/// The type of an attribute.
pub trait AttrValue: Default + PartialEq {
    /// The name of the value's rule in the files of `grammar/`.
    const RULE: &'static str;

    /// The words that the value may be; empty if the values are not words.
    const WORDS: &'static [&'static str] = &[];

    /// The names that may occur between the braces of the value.
    const BRACE_CONTENTS: BraceContents = BraceContents::NO_NAMES;

    /// Reads the value. The reader is at its first character.
    ///
    /// # Errors
    /// The text is not a value of the type. The error contains what was expected, and where.
    fn read(reader: &mut AttrReader<'_>) -> Result<Self, AttrError>;

    /// Prints the value.
    ///
    /// # Errors
    /// The errors of `f`.
    fn write(&self, f: &mut dyn fmt::Write, names: &dyn ComputationNames) -> fmt::Result;

    /// Calls `f` for every computation in the value.
    fn for_each_computation(&self, _f: &mut dyn FnMut(ComputationId)) {}

    /// Calls `f` with a mutable reference to every computation in the value.
    fn for_each_computation_mut(&mut self, _f: &mut dyn FnMut(&mut ComputationId)) {}
}

/// Declares attribute structs: `field: Type = Presence`, with `as "text-name"` if the text name differs from
/// the field's.
macro_rules! attrs {
    ($($(#[$doc:meta])* $name:ident {
        $($(#[doc = $fdoc:literal])* $field:ident $(as $text:literal)? : $ty:ty = $presence:ident,)*
    })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name { $($(#[doc = $fdoc])* pub $field: $ty,)* }

        impl $crate::attr::Attrs for $name {
            fn fields(&self) -> &'static [$crate::attr::Field] {
                const FIELDS: &[$crate::attr::Field] = &[$($crate::attr::Field {
                    name: $crate::attr::attr_name!($field $($text)?),
                    presence: $crate::attr::Presence::$presence,
                    doc: concat!($($fdoc),*).trim_ascii(),
                    words: <$ty as $crate::attr::AttrValue>::WORDS,
                    inside: <$ty as $crate::attr::AttrValue>::BRACE_CONTENTS,
                    rule: <$ty as $crate::attr::AttrValue>::RULE,
                },)*];
                FIELDS
            }

            #[allow(unused_variables, unused_mut, unused_assignments, reason = "empty attribute structs")]
            fn read_field(
                &mut self,
                index: usize,
                reader: &mut $crate::attr::AttrReader<'_>,
            ) -> Result<(), $crate::attr::AttrError> {
                let mut i = 0;
                $(
                    if i == index {
                        self.$field = $crate::attr::AttrValue::read(reader)?;
                        return Ok(());
                    }
                    i += 1;
                )*
                Ok(())
            }

            #[allow(unused_variables, unused_mut, unused_assignments, reason = "empty attribute structs")]
            fn is_default(&self, index: usize) -> bool {
                let mut i = 0;
                $(
                    if i == index {
                        return self.$field == <$ty>::default();
                    }
                    i += 1;
                )*
                true
            }

            #[allow(unused_variables, unused_mut, unused_assignments, reason = "empty attribute structs")]
            fn write_field(
                &self,
                index: usize,
                f: &mut dyn std::fmt::Write,
                names: &dyn $crate::attr::ComputationNames,
            ) -> std::fmt::Result {
                let mut i = 0;
                $(
                    if i == index {
                        return $crate::attr::AttrValue::write(&self.$field, f, names);
                    }
                    i += 1;
                )*
                Ok(())
            }

            #[allow(unused_variables, reason = "empty attribute structs")]
            fn for_each_computation(&self, f: &mut dyn FnMut($crate::ComputationId)) {
                $($crate::attr::AttrValue::for_each_computation(&self.$field, f);)*
            }

            #[allow(unused_variables, reason = "empty attribute structs")]
            fn for_each_computation_mut(&mut self, f: &mut dyn FnMut(&mut $crate::ComputationId)) {
                $($crate::attr::AttrValue::for_each_computation_mut(&mut self.$field, f);)*
            }
        }
    )*};
}

macro_rules! attr_name {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $text:literal) => {
        $text
    };
}

pub(crate) use attr_name;
pub(crate) use attrs;
