//! A program in MLIR's structure: operations that contain regions of blocks of operations.
//!
//! # Contents of the tree
//! The tree has the form of StableHLO's current version, whichever form it was read from. It uses the names
//! of MLIR's generic text: `stablehlo.dot_general` has the attribute `dot_dimension_numbers`, an
//! [`Attribute::Struct`] of kind `stablehlo.dot` with the field `lhs_contracting_dimensions`. Attributes with
//! their default value may be present or absent.
//!
//! | in text | in the tree |
//! |---|---|
//! | `dimensions = array<i64: 0, 1>` | [`Attribute::DenseArray`] |
//! | `value = dense<1.0> : tensor<2xf32>` | [`Attribute::Elements`] |
//! | `#stablehlo<comparison_direction LT>` | [`Attribute::Enum`] of kind `stablehlo.comparison_direction` |
//! | `#stablehlo.gather<offset_dims = [1], index_vector_dim = 0>` | [`Attribute::Struct`] of kind `stablehlo.gather`: lists of numbers are arrays of `i64` ([`Attribute::ints`]), numbers are integers of type `i64`; fields that the text omits may be absent |
//! | `#stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>` | kind `stablehlo.conv`: the fields of the generic structure, `input_batch_dimension`, … |
//! | `tensor<?xf32, #stablehlo.bounds<4>>` | an encoding of kind `stablehlo.bounds`: the field `bounds`; an absent bound is [`DYNAMIC`] |
//! | `#sdy.sharding<@mesh, [{"x"}, {?}], replicated={"y"}>` | kind `sdy.sharding`: `mesh_or_ref` (a symbol or a `sdy.mesh`), `dim_shardings` (an array of `sdy.dimension_sharding`: `axes`, `is_closed`, `priority` if given), `replicated_axes`, `unreduced_axes` |
//! | `#sdy.mesh<["x"=2, "y"=4], device_ids=[…]>` | kind `sdy.mesh`: `axes` (an array of `sdy.mesh_axis`: `name`, `size`), `device_ids` if given |
//! | an axis, `"x"` or `"x":(2)2` | kind `sdy.axis_ref`: `name`, and `sub_axis_info` of kind `sdy.sub_axis_info` (`pre_size`, `size`) if given |
//! | `#sdy.sharding_per_value<[…]>` | kind `sdy.sharding_per_value`: `shardings` |
//! | `#sdy<manual_axes{"x", "y"}>` | kind `sdy.manual_axes`: `value`, an array of strings |

mod attribute;
mod location;
mod types;

pub use attribute::{Attribute, Attributes, Elements, Number};
pub use location::{FileRange, Location};
pub use types::{DYNAMIC, FloatType, Quantization, Signedness, TensorType, Type, TypeKind};

use hlo_ir::Span;
use std::fmt;
use std::sync::Arc;

/// Maximum nesting depth of regions, types and attributes that readers accept. It bounds the stack of code
/// that walks a tree.
pub const MAX_DEPTH: usize = 128;

/// The name of an operation with its dialect (`stablehlo.add`), of an attribute or of a symbol. Cheap to
/// clone.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(Arc<str>);

impl Name {
    /// Returns the name as a string.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the part before the first dot: the dialect of an operation's name. Empty if there is no dot.
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

/// A value: a result of an operation or an argument of a block. Values are numbered through the whole tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(u32);

impl ValueId {
    /// Returns the index among the values of the tree.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The properties of a value.
#[derive(Clone, Debug, PartialEq)]
struct Value {
    ty: Type,
    /// The name in the text, without `%`. `None` if the name is a number.
    name: Option<Name>,
    /// The location, for an argument of a block.
    location: Location,
}

/// A whole program.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// The outermost operation, a `builtin.module`.
    pub module: Operation,
    values: Vec<Value>,
}

impl Tree {
    /// Creates an empty module: one region with one block.
    pub fn new() -> Self {
        let mut module = Operation::new("builtin.module");
        module.regions.push(Region { blocks: vec![Block::default()] });
        Self { module, values: Vec::new() }
    }

    /// Creates a value of the given type, for a result of an operation or an argument of a block.
    pub fn add_value(&mut self, ty: Type) -> ValueId {
        let id = ValueId(self.values.len() as u32);
        self.values.push(Value { ty, name: None, location: Location::Unknown });
        id
    }

    /// Returns the number of values.
    pub fn value_count(&self) -> usize {
        self.values.len()
    }

    /// Returns the types of all values.
    pub fn types(&self) -> impl ExactSizeIterator<Item = &Type> {
        self.values.iter().map(|value| &value.ty)
    }

    /// Returns the type of a value.
    ///
    /// # Panics
    /// If the value belongs to another tree.
    pub fn type_of(&self, value: ValueId) -> &Type {
        &self.values[value.index()].ty
    }

    /// Sets the type of a value.
    ///
    /// # Panics
    /// If the value belongs to another tree.
    pub fn set_type(&mut self, value: ValueId, ty: Type) {
        self.values[value.index()].ty = ty;
    }

    /// Returns the name of a value in the text that it was read from, without `%`.
    pub fn name_of(&self, value: ValueId) -> Option<&Name> {
        self.values[value.index()].name.as_ref()
    }

    /// Sets the name of a value, without `%`.
    pub fn set_name(&mut self, value: ValueId, name: Name) {
        self.values[value.index()].name = Some(name);
    }

    /// Returns the location of a block argument. The location of a result is that of its operation.
    pub fn location_of(&self, value: ValueId) -> &Location {
        &self.values[value.index()].location
    }

    /// Sets the location of a block argument.
    pub fn set_location(&mut self, value: ValueId, location: Location) {
        self.values[value.index()].location = location;
    }

    /// Returns the operations of the module: functions, meshes.
    pub fn operations(&self) -> &[Operation] {
        self.module.body().map_or(&[], |block| &block.operations)
    }

    /// Returns the operations of the module for modification.
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

    /// Returns the operation that defines a symbol of the module: a `func.func` or a `sdy.mesh`.
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
    /// The name with its dialect: `stablehlo.add`, `func.return`.
    pub name: Name,
    /// The operands.
    pub operands: Vec<ValueId>,
    /// The results.
    pub results: Vec<ValueId>,
    /// The attributes, both inherent and discardable.
    pub attributes: Attributes,
    /// The regions.
    pub regions: Vec<Region>,
    /// The source location.
    pub location: Location,
    /// The span in the text that it was read from. Empty if it was read from bytecode.
    pub span: Span,
}

impl Operation {
    /// Creates an operation that has only a name.
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

    /// Returns an attribute.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.get(name)
    }

    /// Returns the block of the only region, if there is exactly one of each.
    pub fn body(&self) -> Option<&Block> {
        match &self.regions[..] {
            [Region { blocks }] if blocks.len() == 1 => blocks.first(),
            _ => None,
        }
    }

    /// Returns the symbol that the operation defines: its attribute `sym_name`.
    pub fn symbol_name(&self) -> Option<&str> {
        self.attribute("sym_name")?.as_str()
    }
}

/// A list of blocks. Regions of StableHLO have at most one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Region {
    /// The blocks, the entry first.
    pub blocks: Vec<Block>,
}

/// A list of operations with arguments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// The arguments.
    pub arguments: Vec<ValueId>,
    /// The operations in order, a terminator last.
    pub operations: Vec<Operation>,
}

impl Block {
    /// Returns the last operation. Its operands are the results of the block.
    pub fn terminator(&self) -> Option<&Operation> {
        self.operations.last()
    }
}
