//! Shapes: the types of HLO values.

use crate::{ElementType, Layout, LayoutItems, Packing};
use smallvec::SmallVec;
use std::collections::HashMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// Dimension sizes or dimension numbers. Stored inline up to rank 4, which covers almost all arrays.
pub type Dims = SmallVec<[i64; 4]>;

/// Returns the index of a row-major position in an array of these sizes. Positions beyond the array wrap
/// around in the outermost dimension.
pub fn unravel(mut position: usize, dims: &[i64]) -> Dims {
    let mut index: Dims = smallvec::smallvec![0; dims.len()];
    for d in (0..dims.len()).rev() {
        let size = dims[d].max(1) as usize;
        index[d] = (position % size) as i64;
        position /= size;
    }
    index
}

/// The type of a value (XLA preview, "Shapes and layout").
///
/// # Example
/// ```
/// use hlo_ir::{ArrayShape, ElementType, Layout, Shape};
///
/// let columns = ArrayShape::new(ElementType::Bf16, [2, 3]).with_layout(Layout::new([0, 1]));
/// assert_eq!(columns.strides()[..], [1, 2]);
///
/// let shape = Shape::tuple(vec![columns.into(), Shape::scalar(ElementType::S32)]);
/// assert_eq!(shape.to_string(), "(bf16[2,3], s32[])");
/// assert_eq!(format!("{shape:#}"), "(bf16[2,3]{0,1}, s32[])");
/// assert_eq!(shape.byte_size(), 2 * 3 * 2 + 4);
/// assert_eq!(shape.leaf_count(), 2);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// A dense array; a scalar is an array of rank 0.
    Array(ArrayShape),
    /// A tuple of values, possibly empty, possibly nested.
    Tuple(Shapes),
    /// The type of values that only order side effects.
    Token,
    /// A value whose contents are unknown to the compiler.
    Opaque,
    /// A reference to memory that contains a value of the inner shape: `b(f32[4])`.
    Buffer(Box<Shape>),
}

/// The shapes of a tuple's elements. Clones share them. Otherwise, memory would grow with the square of the
/// depth of nested tuples.
#[derive(Clone, Debug, Default, Eq)]
pub struct Shapes(Arc<Vec<Shape>>);

/// A pool of tuple shapes, for sharing equal ones.
#[derive(Debug, Default)]
pub struct ShapePool(HashMap<u64, Vec<Shapes>>);

impl ShapePool {
    /// Returns an equal shape. Its tuples share memory with equal tuples of previous calls.
    pub fn share(&mut self, shape: Shape) -> Shape {
        let Shape::Tuple(mut elements) = shape else { return shape };
        for element in elements.iter_mut().filter(|e| e.is_tuple()) {
            *element = self.share(std::mem::replace(element, Shape::Token));
        }
        let known = self.0.entry(elements.shallow_hash()).or_default();
        // Nested tuples are shared by now, so comparing equal ones is fast.
        match known.iter().find(|&k| *k == elements) {
            Some(same) => Shape::Tuple(same.clone()),
            None => {
                known.push(elements.clone());
                Shape::Tuple(elements)
            }
        }
    }
}

impl Shapes {
    /// Returns the list for changing it. Copies it first if it is shared.
    pub fn to_mut(&mut self) -> &mut Vec<Shape> {
        Arc::make_mut(&mut self.0)
    }

    /// Returns a hash that uses only the addresses of nested tuples.
    fn shallow_hash(&self) -> u64 {
        let mut state = DefaultHasher::new();
        for element in self {
            match element {
                Shape::Tuple(inner) => Arc::as_ptr(&inner.0).hash(&mut state),
                other => other.hash(&mut state),
            }
        }
        state.finish()
    }

    /// Returns whether both share memory.
    fn is(&self, other: &Shapes) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl PartialEq for Shapes {
    fn eq(&self, other: &Self) -> bool {
        self.is(other) || self.0 == other.0
    }
}

impl Hash for Shapes {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl Deref for Shapes {
    type Target = [Shape];
    fn deref(&self) -> &[Shape] {
        &self.0
    }
}

/// Copies the list first if it is shared.
impl DerefMut for Shapes {
    fn deref_mut(&mut self) -> &mut [Shape] {
        self.to_mut()
    }
}

impl FromIterator<Shape> for Shapes {
    fn from_iter<I: IntoIterator<Item = Shape>>(shapes: I) -> Self {
        Self(Arc::new(shapes.into_iter().collect()))
    }
}

impl From<Vec<Shape>> for Shapes {
    fn from(shapes: Vec<Shape>) -> Self {
        Self(Arc::new(shapes))
    }
}

impl<'a> IntoIterator for &'a Shapes {
    type Item = &'a Shape;
    type IntoIter = std::slice::Iter<'a, Shape>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

/// An array's element type, dimension sizes and layout.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ArrayShape {
    /// The type of each element.
    pub element_type: ElementType,
    /// The size of each dimension; for a dynamic dimension its upper bound, or [`ArrayShape::UNBOUNDED`].
    pub dims: Dims,
    /// One flag per dimension: whether its size is known only at run time. Empty if no dimension is dynamic.
    pub dynamic: SmallVec<[bool; 6]>,
    /// The layout. It is `None` for a row-major layout without further items, which is XLA's default. Shapes
    /// therefore compare equal whether or not their text contains that layout. See
    /// [`ArrayShape::with_layout`].
    pub layout: Option<Layout>,
}

impl ArrayShape {
    /// Maximum rank of an array. Readers and the verifier reject shapes with more dimensions, which cost more
    /// than their elements. NumPy has at most 64 dimensions and TensorFlow 254; XLA's readers have no limit.
    pub const MAX_RANK: usize = 256;

    /// The "size" of a dynamic dimension without a bound. Printed as `?`.
    pub const UNBOUNDED: i64 = i64::MIN;

    /// Creates a static array shape with the default layout.
    pub fn new(element_type: ElementType, dims: impl IntoIterator<Item = i64>) -> Self {
        Self { element_type, dims: dims.into_iter().collect(), dynamic: SmallVec::new(), layout: None }
    }

    /// Returns an error message if an array can't have this rank.
    pub fn rank_error(rank: usize) -> Option<String> {
        let most = Self::MAX_RANK;
        (rank > most).then(|| format!("an array has at most {most} dimensions, found {rank}"))
    }

    /// Returns the array shape with another layout. The default layout is stored as `None`.
    pub fn with_layout(mut self, layout: Layout) -> Self {
        let default = layout.is_row_major() && layout.minor_to_major.len() == self.rank();
        self.layout = (!default).then_some(layout);
        self
    }

    /// Returns the number of bits of an element in memory: the layout's `E(n)`, or the whole bytes of its
    /// type.
    pub fn element_size_bits(&self) -> i64 {
        let said = self.layout.as_ref().and_then(Layout::element_size_bits);
        said.unwrap_or(8 * self.element_type.byte_size() as i64)
    }

    /// Returns the memory space of the layout. 0 is the default one.
    pub fn memory_space(&self) -> i32 {
        self.layout.as_ref().map_or(0, Layout::memory_space)
    }

    /// Returns the number of dimensions.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// Returns the items of the layout besides the order of the dimensions, if there are any.
    pub fn layout_items(&self) -> Option<&LayoutItems> {
        self.layout.as_ref().and_then(Layout::items)
    }

    /// Returns the product of the dimension sizes (bounds where dynamic); `None` if it does not fit an `i64`
    /// or a dimension is unbounded.
    pub fn checked_element_count(&self) -> Option<i64> {
        if self.dims.contains(&0) {
            return Some(0);
        }
        self.dims.iter().try_fold(1i64, |n, &d| if d < 0 { None } else { n.checked_mul(d) })
    }

    /// Returns the product of the dimension sizes, saturating. It is exact in verified modules, because the
    /// verifier rejects shapes whose byte size does not fit an `i64`.
    pub fn element_count(&self) -> usize {
        self.checked_element_count().unwrap_or(i64::MAX) as usize
    }

    /// Returns the number of bytes of the dense array (one byte per element for sub-byte types), saturating.
    pub fn byte_size(&self) -> usize {
        self.element_count().saturating_mul(self.element_type.byte_size())
    }

    /// Returns the number of bytes in memory: less than [`ArrayShape::byte_size`] if the layout packs
    /// elements (`E(4)`).
    pub fn stored_size(&self) -> usize {
        Packing::of(self).map_or(self.byte_size(), |p| p.packed_size(self.element_count()))
    }

    /// Returns whether the size of dimension `dim` is known only at run time.
    pub fn is_dynamic_dim(&self, dim: usize) -> bool {
        self.dynamic.get(dim).copied().unwrap_or(false)
    }

    /// Returns whether no dimension is dynamic.
    pub fn is_static(&self) -> bool {
        !self.dynamic.contains(&true)
    }

    /// Returns whether both have the same element type, sizes and dynamic flags. Layouts are ignored.
    pub fn compatible(&self, other: &ArrayShape) -> bool {
        self.element_type == other.element_type && self.same_dims(other)
    }

    /// Returns whether both have the same sizes and dynamic flags.
    pub fn same_dims(&self, other: &ArrayShape) -> bool {
        self.dims == other.dims && (0..self.rank()).all(|d| self.is_dynamic_dim(d) == other.is_dynamic_dim(d))
    }

    /// Returns whether a value of shape `value` can be passed for this shape. A bounded dynamic dimension
    /// accepts any size up to its bound. Layouts are ignored.
    pub fn accepts(&self, value: &ArrayShape) -> bool {
        self.element_type == value.element_type && self.accepts_sizes(&value.dims)
    }

    /// Returns whether an array of these sizes can be passed for this shape.
    pub fn accepts_sizes(&self, sizes: &[i64]) -> bool {
        let fits = |(d, (&bound, &size)): (usize, (&i64, &i64))| {
            size == bound || self.is_dynamic_dim(d) && (0..=bound).contains(&size)
        };
        self.rank() == sizes.len() && self.dims.iter().zip(sizes).enumerate().all(fits)
    }

    /// Returns the static array shape of these sizes with the same layout.
    pub fn with_sizes(&self, sizes: &[i64]) -> Self {
        Self { dims: sizes.into(), dynamic: SmallVec::new(), ..self.clone() }
    }

    /// Returns the array shape with these dynamic flags. An empty list makes it static.
    pub fn with_dynamic(self, dynamic: impl IntoIterator<Item = bool>) -> Self {
        let dynamic: SmallVec<_> = dynamic.into_iter().collect();
        Self { dynamic: if dynamic.contains(&true) { dynamic } else { SmallVec::new() }, ..self }
    }

    /// Returns the array shape with another element type. An element size in the layout (`E(4)`) is kept only
    /// if the new type has the same number of bits.
    pub fn with_element_type(&self, element_type: ElementType) -> Self {
        let mut other = Self { element_type, ..self.clone() };
        if element_type.bit_width() != self.element_type.bit_width() {
            other.layout = other.layout.map(Layout::without_element_size);
        }
        other
    }

    /// Returns the dimension numbers from the fastest to the slowest varying.
    pub fn minor_to_major(&self) -> SmallVec<[usize; 6]> {
        match &self.layout {
            Some(l) if l.minor_to_major.len() == self.rank() => {
                l.minor_to_major.iter().map(|&d| d as usize).collect()
            }
            _ => (0..self.rank()).rev().collect(),
        }
    }

    /// Returns whether the layout is absent or row-major.
    pub fn is_row_major(&self) -> bool {
        self.layout.as_ref().is_none_or(Layout::is_row_major)
    }

    /// Returns whether the elements are in row-major order, ignoring dimensions of size 1.
    pub fn is_dense_row_major(&self) -> bool {
        let (strides, row_major) = (self.strides(), self.row_major_strides());
        (0..self.rank()).all(|d| self.dims[d] <= 1 || strides[d] == row_major[d])
    }

    /// Returns whether both have the same sizes and, in dimensions of more than one element, the same
    /// strides. Elements at the same index then have the same position in memory, if they have the same size.
    pub fn same_strides(&self, other: &ArrayShape) -> bool {
        self.same_strides_by(other, |d| d)
    }

    /// As [`ArrayShape::same_strides`], where dimension `d` of the other array is dimension `of(d)` of this
    /// one.
    pub fn same_strides_by(&self, other: &ArrayShape, of: impl Fn(usize) -> usize) -> bool {
        let (own, others) = (self.strides(), other.strides());
        self.rank() == other.rank()
            && (0..other.rank()).all(|d| {
                let o = of(d);
                self.dims.get(o) == Some(&other.dims[d]) && (other.dims[d] <= 1 || own[o] == others[d])
            })
    }

    /// Returns the stride of each logical dimension in the layout, in elements.
    pub fn strides(&self) -> Dims {
        let mut strides: Dims = smallvec::smallvec![0; self.rank()];
        let mut stride = 1i64;
        for d in self.minor_to_major() {
            strides[d] = stride;
            stride = stride.saturating_mul(self.dims[d].max(0));
        }
        strides
    }

    /// Returns the strides of a row-major array of these sizes.
    pub fn row_major_strides(&self) -> Dims {
        let mut strides: Dims = smallvec::smallvec![0; self.rank()];
        let mut stride = 1i64;
        for d in (0..self.rank()).rev() {
            strides[d] = stride;
            stride = stride.saturating_mul(self.dims[d].max(0));
        }
        strides
    }
}

impl Shape {
    /// Creates a static array shape with the default layout.
    pub fn array(element_type: ElementType, dims: impl IntoIterator<Item = i64>) -> Self {
        Shape::Array(ArrayShape::new(element_type, dims))
    }

    /// Creates a tuple shape.
    pub fn tuple(elements: impl Into<Shapes>) -> Self {
        Shape::Tuple(elements.into())
    }

    /// Creates a scalar shape.
    pub fn scalar(element_type: ElementType) -> Self {
        Shape::array(element_type, [])
    }

    /// Returns the array shape, if it is one.
    pub fn as_array(&self) -> Option<&ArrayShape> {
        match self {
            Shape::Array(a) => Some(a),
            _ => None,
        }
    }

    /// Returns whether a dimension of any array in the shape is dynamic.
    pub fn is_dynamic(&self) -> bool {
        match self {
            Shape::Array(a) => !a.is_static(),
            Shape::Tuple(t) => t.iter().any(Shape::is_dynamic),
            Shape::Token | Shape::Opaque | Shape::Buffer(_) => false,
        }
    }

    /// Returns the part at an index: `{1,0}` is element 0 of element 1. Returns `None` if there is none.
    pub fn part(&self, index: &[i64]) -> Option<&Shape> {
        index.iter().try_fold(self, |s, &i| s.as_tuple()?.get(usize::try_from(i).ok()?))
    }

    /// Returns the shapes of the elements, if it is a tuple.
    pub fn as_tuple(&self) -> Option<&[Shape]> {
        match self {
            Shape::Tuple(t) => Some(t),
            _ => None,
        }
    }

    /// Returns whether the shape is an array of rank 0.
    pub fn is_scalar(&self) -> bool {
        self.as_array().is_some_and(|a| a.rank() == 0)
    }

    /// Returns whether the shape is a tuple.
    pub fn is_tuple(&self) -> bool {
        matches!(self, Shape::Tuple(_))
    }

    /// Returns whether both have the same structure, element types and sizes. Layouts may differ.
    pub fn compatible(&self, other: &Shape) -> bool {
        match (self, other) {
            (Shape::Array(a), Shape::Array(b)) => a.compatible(b),
            (Shape::Tuple(a), Shape::Tuple(b)) => {
                a.is(b) || a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.compatible(b))
            }
            (Shape::Token, Shape::Token) | (Shape::Opaque, Shape::Opaque) => true,
            (Shape::Buffer(a), Shape::Buffer(b)) => a.compatible(b),
            _ => false,
        }
    }

    /// Returns whether both have the same structure, element types and sizes. Layouts and dynamic flags may
    /// differ.
    pub fn compatible_but_dynamic(&self, other: &Shape) -> bool {
        match (self, other) {
            (Shape::Array(a), Shape::Array(b)) => a.element_type == b.element_type && a.dims == b.dims,
            (Shape::Tuple(a), Shape::Tuple(b)) => {
                a.is(b) || a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.compatible_but_dynamic(b))
            }
            (Shape::Buffer(a), Shape::Buffer(b)) => a.compatible_but_dynamic(b),
            _ => self.compatible(other),
        }
    }

    /// Returns whether a value of shape `value` can be passed for this shape. A bounded dynamic dimension
    /// accepts any size up to its bound. Layouts are ignored.
    pub fn accepts(&self, value: &Shape) -> bool {
        match (self, value) {
            (Shape::Array(a), Shape::Array(b)) => a.accepts(b),
            (Shape::Tuple(a), Shape::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.accepts(b))
            }
            _ => self.compatible(value),
        }
    }

    /// Returns the shapes of the leaves (arrays, tokens, …) in depth-first order. "Flattened" always means
    /// this order.
    pub fn leaves(&self) -> Vec<&Shape> {
        fn walk<'a>(s: &'a Shape, out: &mut Vec<&'a Shape>) {
            match s {
                Shape::Tuple(t) => t.iter().for_each(|e| walk(e, out)),
                leaf => out.push(leaf),
            }
        }
        let mut out = Vec::new();
        walk(self, &mut out);
        out
    }

    /// Returns the dimensions whose sizes are known only at run time: the number of the leaf, and of its
    /// dimension.
    pub fn dynamic_dimensions(&self) -> Vec<(usize, usize)> {
        let of_leaf = |(leaf, shape): (usize, &&Shape)| -> Vec<(usize, usize)> {
            let array = shape.as_array().filter(|a| !a.is_static());
            array.map_or(Vec::new(), |a| {
                (0..a.rank()).filter(|&d| a.is_dynamic_dim(d)).map(|d| (leaf, d)).collect()
            })
        };
        self.leaves().iter().enumerate().flat_map(of_leaf).collect()
    }

    /// Returns the number of leaves: 1 for an array, the sum over the elements for a tuple.
    pub fn leaf_count(&self) -> usize {
        match self {
            Shape::Tuple(t) => t.iter().map(Shape::leaf_count).sum(),
            _ => 1,
        }
    }

    /// Returns the number of shapes in this shape, including itself. It determines the cost of a copy.
    pub fn node_count(&self) -> usize {
        match self {
            Shape::Tuple(t) => t.iter().map(Shape::node_count).fold(1, usize::saturating_add),
            Shape::Array(_) | Shape::Token | Shape::Opaque | Shape::Buffer(_) => 1,
        }
    }

    /// Returns the nesting depth of tuples: 0 for an array, 1 for a tuple of arrays.
    pub fn depth(&self) -> usize {
        match self {
            Shape::Tuple(t) => 1 + t.iter().map(Shape::depth).max().unwrap_or(0),
            Shape::Array(_) | Shape::Token | Shape::Opaque | Shape::Buffer(_) => 0,
        }
    }

    /// Returns the number of bytes of all arrays in the shape, saturating.
    pub fn byte_size(&self) -> usize {
        match self {
            Shape::Array(a) => a.byte_size(),
            Shape::Tuple(t) => t.iter().fold(0, |n, s| n.saturating_add(s.byte_size())),
            Shape::Token | Shape::Opaque | Shape::Buffer(_) => 0,
        }
    }

    /// Returns the sum of [`ArrayShape::stored_size`] of all arrays in the shape, saturating.
    pub fn stored_size(&self) -> usize {
        match self {
            Shape::Array(a) => a.stored_size(),
            Shape::Tuple(t) => t.iter().fold(0, |n, s| n.saturating_add(s.stored_size())),
            Shape::Token | Shape::Opaque | Shape::Buffer(_) => 0,
        }
    }

    /// Returns the shape without layouts.
    pub fn without_layout(&self) -> Shape {
        match self {
            Shape::Array(a) => Shape::Array(ArrayShape { layout: None, ..a.clone() }),
            Shape::Tuple(t) => Shape::Tuple(t.iter().map(Shape::without_layout).collect()),
            other => other.clone(),
        }
    }

    /// Returns the shape for printing with every layout, as XLA prints shapes: `f32[2,3]{1,0}`.
    pub fn with_layouts(&self) -> impl fmt::Display + '_ {
        struct WithLayouts<'a>(&'a Shape);
        impl fmt::Display for WithLayouts<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.write(f, Layouts::All)
            }
        }
        WithLayouts(self)
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, layouts: Layouts) -> fmt::Result {
        match self {
            Shape::Array(a) => a.write(f, layouts),
            Shape::Tuple(t) => {
                f.write_str("(")?;
                for (i, s) in t.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                        // As in XLA, to help people find the element at an index.
                        if i % 5 == 0 {
                            write!(f, "/*index={i}*/")?;
                        }
                    }
                    s.write(f, layouts)?;
                }
                f.write_str(")")
            }
            Shape::Token => f.write_str("token[]"),
            Shape::Opaque => f.write_str("opaque[]"),
            Shape::Buffer(s) => {
                f.write_str("b(")?;
                s.write(f, layouts)?;
                f.write_str(")")
            }
        }
    }
}

impl ArrayShape {
    fn write(&self, f: &mut fmt::Formatter<'_>, layouts: Layouts) -> fmt::Result {
        write!(f, "{}[", self.element_type)?;
        for (i, &d) in self.dims.iter().enumerate() {
            if i > 0 {
                f.write_str(",")?;
            }
            match (self.is_dynamic_dim(i), d) {
                (true, Self::UNBOUNDED) => f.write_str("?")?,
                (true, d) => write!(f, "<={d}")?,
                (false, d) => write!(f, "{d}")?,
            }
        }
        f.write_str("]")?;
        match (layouts, &self.layout) {
            (Layouts::Special | Layouts::All, Some(l)) => write!(f, "{l}"),
            (Layouts::All, None) if self.rank() > 0 => write!(f, "{}", Layout::row_major(self.rank())),
            _ => Ok(()),
        }
    }
}

/// Which layouts to print.
#[derive(Clone, Copy)]
enum Layouts {
    None,
    /// Layouts other than the default.
    Special,
    All,
}

impl Layouts {
    fn of(f: &fmt::Formatter<'_>) -> Self {
        if f.alternate() { Layouts::Special } else { Layouts::None }
    }
}

/// `{}` prints no layouts, `{:#}` prints layouts other than the default, and [`Shape::with_layouts`] prints
/// all.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, Layouts::of(f))
    }
}

/// `{}` prints no layout, and `{:#}` prints it unless it is the default.
impl fmt::Display for ArrayShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, Layouts::of(f))
    }
}

impl From<ArrayShape> for Shape {
    fn from(a: ArrayShape) -> Self {
        Shape::Array(a)
    }
}
