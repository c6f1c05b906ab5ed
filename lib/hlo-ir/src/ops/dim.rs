//! Arithmetic on dimension sizes. A size may be a bound, may be unbounded, and may overflow.

use crate::{ArrayShape, ElementType, Shape};
use smallvec::SmallVec;

/// A dimension: its size (the bound if it is dynamic, or [`ArrayShape::UNBOUNDED`]) and whether it is
/// dynamic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dim {
    /// The size or the bound.
    pub(crate) size: i64,
    /// Whether the size is known only at run time.
    pub(crate) dynamic: bool,
}

impl Dim {
    /// Creates a dimension of a known size.
    pub(crate) fn fixed(size: i64) -> Self {
        Self { size, dynamic: false }
    }

    /// Returns whether the dimension has neither a size nor a bound.
    pub(crate) fn is_unbounded(self) -> bool {
        self.size == ArrayShape::UNBOUNDED
    }

    /// Returns the size or bound, if there is one.
    pub(crate) fn known(self) -> Option<i64> {
        (!self.is_unbounded()).then_some(self.size)
    }

    /// Returns whether the declared sizes and bounds allow both dimensions to have the same size at run time.
    pub(crate) fn agrees(self, other: Dim) -> bool {
        self.size == other.size || self.is_unbounded() || other.is_unbounded()
    }

    /// Combines what is known about one dimension from two sources, which agree.
    pub(crate) fn merge(self, other: Dim) -> Dim {
        match (self.is_unbounded(), other.is_unbounded()) {
            (true, false) => other,
            (false, true) => self,
            _ => Dim { size: self.size, dynamic: self.dynamic || other.dynamic },
        }
    }

    /// Returns the dimension with the size `f(size)`. An unbounded dimension stays unbounded. Returns `None`
    /// if `f` does.
    pub(crate) fn map(self, f: impl FnOnce(i64) -> Option<i64>) -> Option<Dim> {
        match self.known() {
            None => Some(self),
            Some(size) => Some(Dim { size: f(size)?, dynamic: self.dynamic }),
        }
    }
}

/// Returns the dimensions of an array.
pub(crate) fn dims(a: &ArrayShape) -> impl Iterator<Item = Dim> + '_ {
    a.dims.iter().enumerate().map(|(i, &size)| Dim { size, dynamic: a.is_dynamic_dim(i) })
}

/// Returns the dimension `index` of an array. An index that is out of range returns size 1, so check it
/// first.
pub(crate) fn dim(a: &ArrayShape, index: i64) -> Dim {
    usize::try_from(index)
        .ok()
        .and_then(|i| Some(Dim { size: *a.dims.get(i)?, dynamic: a.is_dynamic_dim(i) }))
        .unwrap_or(Dim::fixed(1))
}

/// Creates an array shape with these dimensions and the default layout.
pub(crate) fn array_of(element_type: ElementType, dims: impl IntoIterator<Item = Dim>) -> ArrayShape {
    let mut flags: SmallVec<[bool; 6]> = SmallVec::new();
    let sizes = dims.into_iter().map(|d| {
        flags.push(d.dynamic);
        d.size
    });
    let mut shape = ArrayShape::new(element_type, sizes);
    if flags.contains(&true) {
        shape.dynamic = flags;
    }
    shape
}

/// Returns whether the sizes of two arrays agree in every dimension, whatever the element types.
pub(crate) fn dims_agree(a: &ArrayShape, b: &ArrayShape) -> bool {
    a.rank() == b.rank() && dims(a).zip(dims(b)).all(|(a, b)| a.agrees(b))
}

/// Returns whether a value of shape `a` is acceptable where `b` is expected: same structure, element types,
/// sizes and dynamic flags. An unbounded dimension matches every size. Layouts are ignored.
pub(crate) fn shapes_agree(a: &Shape, b: &Shape) -> bool {
    match (a, b) {
        (Shape::Array(a), Shape::Array(b)) => {
            a.element_type == b.element_type
                && a.rank() == b.rank()
                && dims(a).zip(dims(b)).all(|(a, b)| a == b || a.is_unbounded() || b.is_unbounded())
        }
        (Shape::Tuple(a), Shape::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| shapes_agree(a, b))
        }
        (Shape::Token, Shape::Token) | (Shape::Opaque, Shape::Opaque) => true,
        (Shape::Buffer(a), Shape::Buffer(b)) => shapes_agree(a, b),
        (Shape::Array(_) | Shape::Tuple(_) | Shape::Token | Shape::Opaque | Shape::Buffer(_), _) => false,
    }
}

/// Returns the error of a shape that is invalid by itself: a negative size, or a layout that is not a
/// permutation.
pub(crate) fn shape_error(shape: &Shape) -> Option<String> {
    match shape {
        Shape::Array(a) => array_error(a),
        Shape::Tuple(t) => t.iter().find_map(shape_error),
        Shape::Buffer(s) => shape_error(s),
        Shape::Token | Shape::Opaque => None,
    }
}

/// Returns the error of an array shape that is invalid by itself.
pub(crate) fn array_error(a: &ArrayShape) -> Option<String> {
    if let Some(error) = ArrayShape::rank_error(a.rank()) {
        return Some(error);
    }
    if !a.dynamic.is_empty() && a.dynamic.len() != a.rank() {
        return Some(format!("a shape of rank {} has {} dynamic flags", a.rank(), a.dynamic.len()));
    }
    if let Some((i, d)) = dims(a).enumerate().find(|(_, d)| d.size < 0 && !(d.is_unbounded() && d.dynamic)) {
        return Some(format!("a size must be 0 or more, found {} in dimension {i} of {a}", d.size));
    }
    let layout = a.layout.as_ref()?;
    let order = &layout.minor_to_major;
    if order.len() != a.rank() {
        return Some(format!("a layout of {a} must list {} dimensions, found {layout}", a.rank()));
    }
    let mut seen = vec![false; a.rank()];
    let permutation =
        order.iter().all(|&d| seen.get_mut(d as usize).is_some_and(|s| !std::mem::replace(s, true)));
    (!permutation).then(|| format!("a layout of {a} must list each of its dimensions once, found {layout}"))
}
