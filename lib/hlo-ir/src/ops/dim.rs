//! Arithmetic on dimension sizes that may be bounds, unbounded, or too large.

use crate::{ArrayShape, ElementType, Shape};
use smallvec::SmallVec;

/// One dimension: its size (the bound if dynamic, or [`ArrayShape::UNBOUNDED`]) and whether it is dynamic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dim {
    /// The size or bound.
    pub(crate) size: i64,
    /// True if the size is known at run time only.
    pub(crate) dynamic: bool,
}

impl Dim {
    /// A dimension of known size.
    pub(crate) fn fixed(size: i64) -> Self {
        Self { size, dynamic: false }
    }

    /// True if it has neither a size nor a bound.
    pub(crate) fn is_unbounded(self) -> bool {
        self.size == ArrayShape::UNBOUNDED
    }

    /// The size or bound, if there is one.
    pub(crate) fn known(self) -> Option<i64> {
        (!self.is_unbounded()).then_some(self.size)
    }

    /// True if both may have the same size at run time as far as the sizes and bounds say.
    pub(crate) fn agrees(self, other: Dim) -> bool {
        self.size == other.size || self.is_unbounded() || other.is_unbounded()
    }

    /// What is known of a dimension that has both sizes; they agree.
    pub(crate) fn merge(self, other: Dim) -> Dim {
        match (self.is_unbounded(), other.is_unbounded()) {
            (true, false) => other,
            (false, true) => self,
            _ => Dim { size: self.size, dynamic: self.dynamic || other.dynamic },
        }
    }

    /// The dimension whose size is `f` of this one's; an unbounded one stays so. `None` if `f` gives none.
    pub(crate) fn map(self, f: impl FnOnce(i64) -> Option<i64>) -> Option<Dim> {
        match self.known() {
            None => Some(self),
            Some(size) => Some(Dim { size: f(size)?, dynamic: self.dynamic }),
        }
    }
}

/// The dimensions of an array.
pub(crate) fn dims(a: &ArrayShape) -> impl Iterator<Item = Dim> + '_ {
    a.dims.iter().enumerate().map(|(i, &size)| Dim { size, dynamic: a.is_dynamic_dim(i) })
}

/// The dimension `index` of an array; a number out of range gives size 1, so check it first.
pub(crate) fn dim(a: &ArrayShape, index: i64) -> Dim {
    usize::try_from(index)
        .ok()
        .and_then(|i| Some(Dim { size: *a.dims.get(i)?, dynamic: a.is_dynamic_dim(i) }))
        .unwrap_or(Dim::fixed(1))
}

/// The array of these dimensions, with the default layout.
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

/// True if the sizes of two arrays agree dimension by dimension, whatever the element types.
pub(crate) fn dims_agree(a: &ArrayShape, b: &ArrayShape) -> bool {
    a.rank() == b.rank() && dims(a).zip(dims(b)).all(|(a, b)| a.agrees(b))
}

/// True if a value of shape `a` may stand where `b` is asked for: same structure, element types, sizes and
/// dynamic flags; an unbounded dimension fits every size; layouts do not count.
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

/// What is wrong with a shape by itself, if anything: a negative size, a layout that is not a permutation.
pub(crate) fn shape_error(shape: &Shape) -> Option<String> {
    match shape {
        Shape::Array(a) => array_error(a),
        Shape::Tuple(t) => t.iter().find_map(shape_error),
        Shape::Buffer(s) => shape_error(s),
        Shape::Token | Shape::Opaque => None,
    }
}

/// What is wrong with an array shape by itself, if anything.
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
