//! A program as MLIR has it: operations that hold regions of blocks of operations.
//!
//! # What the tree says
//! The tree is in the form of StableHLO's current version whichever form it was read from, with the names of MLIR's
//! generic text: `stablehlo.dot_general` has the attribute `dot_dimension_numbers`, a [`Attribute::Struct`] of kind
//! `stablehlo.dot` with the field `lhs_contracting_dimensions`. Attributes whose value is the default may be there or not.
//!
//! | in text | in the tree |
//! |---|---|
//! | `dimensions = array<i64: 0, 1>` | [`Attribute::DenseArray`] |
//! | `value = dense<1.0> : tensor<2xf32>` | [`Attribute::Elements`] |
//! | `#stablehlo<comparison_direction LT>` | [`Attribute::Enum`] of kind `stablehlo.comparison_direction` |
//! | `#stablehlo.gather<offset_dims = [1], index_vector_dim = 0>` | [`Attribute::Struct`] of kind `stablehlo.gather`: lists of numbers are arrays of `i64` ([`Attribute::ints`]), numbers are integers of type `i64`; fields that the text leaves out may lack |
//! | `#stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>` | of kind `stablehlo.conv` with the fields of the generic structure, `input_batch_dimension`, … |
//! | `tensor<?xf32, #stablehlo.bounds<4>>` | an encoding of kind `stablehlo.bounds`, with the field `bounds`; no bound is [`DYNAMIC`] |
//! | `#sdy.sharding<@mesh, [{"x"}, {?}], replicated={"y"}>` | of kind `sdy.sharding`: `mesh_or_ref` (a symbol or a `sdy.mesh`), `dim_shardings` (an array of `sdy.dimension_sharding`: `axes`, `is_closed`, `priority` if given), `replicated_axes`, `unreduced_axes` |
//! | `#sdy.mesh<["x"=2, "y"=4], device_ids=[…]>` | of kind `sdy.mesh`: `axes` (an array of `sdy.mesh_axis`: `name`, `size`), `device_ids` if given |
//! | an axis, `"x"` or `"x":(2)2` | of kind `sdy.axis_ref`: `name`, and `sub_axis_info` of kind `sdy.sub_axis_info` (`pre_size`, `size`) if given |
//! | `#sdy.sharding_per_value<[…]>` | of kind `sdy.sharding_per_value`: `shardings` |
//! | `#sdy<manual_axes{"x", "y"}>` | of kind `sdy.manual_axes`: `value`, an array of strings |

mod attribute;
mod location;
mod types;

pub use attribute::{Attribute, Attributes, Elements, Number};
pub use location::{FileRange, Location};
pub use types::{DYNAMIC, FloatType, Quantization, Signedness, TensorType, Type, TypeKind};

use hlo_ir::Span;
use std::fmt;
use std::sync::Arc;

/// The deepest nesting of regions, types and attributes that readers take, so that no walk over a tree needs much stack.
pub const MAX_DEPTH: usize = 128;

/// A name, cheap to copy: of an operation with its dialect (`stablehlo.add`), an attribute, a symbol.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(Arc<str>);

impl Name {
    /// The name in letters.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What stands before the first dot: the dialect of an operation's name. Empty if there is no dot.
    pub fn dialect(&self) -> &str {
        self.0.split_once('.').map_or("", |(dialect, _)| dialect)
    }
}

impl From<&str> for Name {
    fn from(name: &str) -> Self {
        Self(name.into())
    }
}

impl From<String> for Name {
    fn from(name: String) -> Self {
        Self(name.into())
    }
}

impl std::ops::Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl PartialEq<str> for Name {
    fn eq(&self, other: &str) -> bool {
        &*self.0 == other
    }
}

impl PartialEq<&str> for Name {
    fn eq(&self, other: &&str) -> bool {
        &*self.0 == *other
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &*self.0)
    }
}

/// A value: what an operation gives, or a block takes. Values are numbered through the whole tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(u32);

impl ValueId {
    /// The position among the values of its tree.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What is known of a value.
#[derive(Clone, Debug, PartialEq)]
struct Value {
    ty: Type,
    /// What it is called in text, without `%`; `None` if its number is its name.
    name: Option<Name>,
    /// Where it comes from, of a block's argument.
    location: Location,
}

/// A whole program.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// The outermost operation: a `builtin.module`.
    pub module: Operation,
    values: Vec<Value>,
}

impl Tree {
    /// An empty module: one region of one block.
    pub fn new() -> Self {
        let mut module = Operation::new("builtin.module");
        module.regions.push(Region { blocks: vec![Block::default()] });
        Self { module, values: Vec::new() }
    }

    /// Makes a value of a type, for the results of an operation or the arguments of a block.
    pub fn add_value(&mut self, ty: Type) -> ValueId {
        let id = ValueId(self.values.len() as u32);
        self.values.push(Value { ty, name: None, location: Location::Unknown });
        id
    }

    /// How many values there are.
    pub fn value_count(&self) -> usize {
        self.values.len()
    }

    /// Returns the types of all values.
    pub fn types(&self) -> impl ExactSizeIterator<Item = &Type> {
        self.values.iter().map(|value| &value.ty)
    }

    /// The type of a value.
    ///
    /// # Panics
    /// If the value is of another tree.
    pub fn type_of(&self, value: ValueId) -> &Type {
        &self.values[value.index()].ty
    }

    /// Gives a value another type.
    ///
    /// # Panics
    /// If the value is of another tree.
    pub fn set_type(&mut self, value: ValueId, ty: Type) {
        self.values[value.index()].ty = ty;
    }

    /// What a value is called in the text that it was read from, without `%`.
    pub fn name_of(&self, value: ValueId) -> Option<&Name> {
        self.values[value.index()].name.as_ref()
    }

    /// Gives a value a name, without `%`.
    pub fn set_name(&mut self, value: ValueId, name: Name) {
        self.values[value.index()].name = Some(name);
    }

    /// Where a block's argument comes from; what results come from is said of their operation.
    pub fn location_of(&self, value: ValueId) -> &Location {
        &self.values[value.index()].location
    }

    /// Says where a block's argument comes from.
    pub fn set_location(&mut self, value: ValueId, location: Location) {
        self.values[value.index()].location = location;
    }

    /// The operations of the module: functions, meshes.
    pub fn operations(&self) -> &[Operation] {
        self.module.body().map_or(&[], |block| &block.operations)
    }

    /// The same, to change them.
    pub fn operations_mut(&mut self) -> &mut Vec<Operation> {
        if self.module.regions.is_empty() {
            self.module.regions.push(Region::default());
        }
        let region = &mut self.module.regions[0];
        if region.blocks.is_empty() {
            region.blocks.push(Block::default());
        }
        &mut region.blocks[0].operations
    }

    /// The operation that defines a symbol of the module: a `func.func`, a `sdy.mesh`.
    pub fn symbol(&self, name: &str) -> Option<&Operation> {
        self.operations().iter().find(|op| op.symbol_name() == Some(name))
    }
}

impl Default for Tree {
    fn default() -> Self {
        Self::new()
    }
}

/// An operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// Its name with its dialect: `stablehlo.add`, `func.return`.
    pub name: Name,
    /// What it takes.
    pub operands: Vec<ValueId>,
    /// What it gives.
    pub results: Vec<ValueId>,
    /// What else is said of it, inherent and discardable attributes alike.
    pub attributes: Attributes,
    /// What it holds.
    pub regions: Vec<Region>,
    /// Where it comes from.
    pub location: Location,
    /// Where it stands in the text that it was read from; empty if it was read from bytes.
    pub span: Span,
}

impl Operation {
    /// An operation of a name and nothing else.
    pub fn new(name: impl Into<Name>) -> Self {
        Self {
            name: name.into(),
            operands: Vec::new(),
            results: Vec::new(),
            attributes: Attributes::default(),
            regions: Vec::new(),
            location: Location::Unknown,
            span: Span::default(),
        }
    }

    /// An attribute.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.get(name)
    }

    /// The only block of its only region.
    pub fn body(&self) -> Option<&Block> {
        match &self.regions[..] {
            [Region { blocks }] if blocks.len() == 1 => blocks.first(),
            _ => None,
        }
    }

    /// The symbol that it defines: its attribute `sym_name`.
    pub fn symbol_name(&self) -> Option<&str> {
        self.attribute("sym_name")?.as_str()
    }
}

/// A list of blocks; all of StableHLO's have one, or none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Region {
    /// The blocks, the entry first.
    pub blocks: Vec<Block>,
}

/// A list of operations with what they are given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// What it takes.
    pub arguments: Vec<ValueId>,
    /// The operations in order, a terminator last.
    pub operations: Vec<Operation>,
}

impl Block {
    /// The last operation, which says what the block gives.
    pub fn terminator(&self) -> Option<&Operation> {
        self.operations.last()
    }
}
