//! Operations that move elements (operation semantics, "Broadcast", "Reshape", "Slice", "Pad", …).

use crate::operand::Operand;
use crate::{Builder, Value};
use hlo_ir::attr::{PaddingDim, ReshapeAttrs, SliceDim};
use hlo_ir::diag::Diag;
use hlo_ir::{ArrayShape, ElementType, Op, Shape};
use std::panic::Location;

/// Adding and changing dimensions.
impl<'b> Value<'b> {
    /// Repeats the array along new dimensions of the given sizes, which come before the existing ones.
    #[track_caller]
    pub fn broadcast(self, sizes: &[i64]) -> Value<'b> {
        let Some(a) = self.array("broadcast") else { return self.builder.nothing() };
        let all: Vec<i64> = sizes.iter().chain(&a.dims).copied().collect();
        let own: Vec<i64> = (sizes.len() as i64..all.len() as i64).collect();
        self.broadcast_in_dim(&all, &own)
    }

    /// Repeats the array in an array of the given sizes. Dimension `i` of this array maps to dimension
    /// `dimensions[i]` of the result. Dimensions of size 1 are repeated.
    #[track_caller]
    pub fn broadcast_in_dim(self, sizes: &[i64], dimensions: &[i64]) -> Value<'b> {
        let Some(a) = self.array("broadcast") else { return self.builder.nothing() };
        let at = Location::caller();
        let result = ArrayShape::new(a.element_type, sizes.iter().copied());
        let to = |d: &i64| usize::try_from(*d).ok().and_then(|d| sizes.get(d));
        let fits = dimensions.len() == a.rank()
            && dimensions.windows(2).all(|w| w[0] < w[1])
            && dimensions
                .iter()
                .zip(&a.dims)
                .all(|(d, &size)| to(d).is_some_and(|&s| s == size || size == 1));
        if !fits {
            let message = format!(
                "`broadcast` of {a} into sizes {sizes:?} along {dimensions:?}: each dimension lies along one of the same \
                 size, or has size 1; they are in increasing order"
            );
            return self.builder.fail(at, Diag::error(message));
        }
        if a.rank() == sizes.len() && a.dims.as_slice() == sizes {
            return self;
        }
        self.broadcast_along(at, &a, dimensions, &result)
    }

    /// Returns the elements, in row-major order, as an array of the given sizes.
    #[track_caller]
    pub fn reshape(self, sizes: &[i64]) -> Value<'b> {
        let Some(a) = self.array("reshape") else { return self.builder.nothing() };
        let shape = ArrayShape::new(a.element_type, sizes.iter().copied());
        self.builder.add_shaped(Op::reshape(), &[self], shape)
    }

    /// Like [`Value::reshape`], but for shapes with a dimension of unknown size. At run time, its size
    /// follows from the sizes of the other dimensions.
    #[track_caller]
    pub fn reshape_with_inferred_dimension(self, sizes: &[i64], inferred_dimension: i64) -> Value<'b> {
        let Some(a) = self.array("reshape") else { return self.builder.nothing() };
        let shape = ArrayShape::new(a.element_type, sizes.iter().copied());
        let attributes = ReshapeAttrs { inferred_dimension: Some(inferred_dimension) };
        self.builder.add_shaped(Op::Reshape(attributes), &[self], shape)
    }

    /// Reads the elements with the dimensions in the order of `dimensions`, slowest first, and returns them
    /// as an array of the given sizes: XLA's `Reshape(operand, dimensions, new_sizes)`.
    #[track_caller]
    pub fn reshape_in_order(self, dimensions: &[i64], sizes: &[i64]) -> Value<'b> {
        let is_in_order = dimensions.iter().copied().eq(0..dimensions.len() as i64);
        let ordered = match self.array("reshape") {
            Some(a) if is_in_order && a.rank() == dimensions.len() => self,
            Some(_) => self.transpose(dimensions),
            None => return self.builder.nothing(),
        };
        ordered.reshape(sizes)
    }

    /// Merges adjacent dimensions into one.
    #[track_caller]
    pub fn collapse(self, dimensions: &[i64]) -> Value<'b> {
        let Some(a) = self.array("collapse") else { return self.builder.nothing() };
        let Some((&first, _)) = dimensions.split_first() else { return self };
        let last = first.saturating_add(dimensions.len() as i64);
        if !dimensions.iter().copied().eq(first..last) || first < 0 || last > a.rank() as i64 {
            let message =
                format!("`collapse` needs dimensions of {a} that follow each other, found {dimensions:?}");
            return self.builder.fail(Location::caller(), Diag::error(message));
        }
        let (first, last) = (first as usize, last as usize);
        let product = a.dims[first..last].iter().try_fold(1i64, |n, &d| n.checked_mul(d)).unwrap_or(i64::MAX);
        let sizes: Vec<i64> = [&a.dims[..first], &[product], &a.dims[last..]].concat();
        self.reshape(&sizes)
    }

    /// Permutes the dimensions: dimension `i` of the result is dimension `permutation[i]` of this array.
    #[track_caller]
    pub fn transpose(self, permutation: &[i64]) -> Value<'b> {
        self.builder.add(Op::transpose(permutation.iter().copied()), &[self])
    }

    /// Transposes a matrix.
    #[track_caller]
    pub fn trans(self) -> Value<'b> {
        self.transpose(&[1, 0])
    }

    /// Reverses the order of the elements along some dimensions.
    #[track_caller]
    pub fn rev(self, dimensions: &[i64]) -> Value<'b> {
        self.builder.add(Op::reverse(dimensions.iter().copied()), &[self])
    }

    /// Reinterprets the bits as elements of another type. If the new type is narrower, the result has an
    /// additional last dimension for the parts of an element. If it is wider, the last dimension is removed.
    #[track_caller]
    pub fn bitcast_convert(self, element_type: ElementType) -> Value<'b> {
        let Some(a) = self.array("bitcast-convert") else { return self.builder.nothing() };
        let (from, to) = (i64::from(a.element_type.bit_width()), i64::from(element_type.bit_width()));
        let mut shape = ArrayShape::new(element_type, a.dims.iter().copied());
        match from.cmp(&to) {
            std::cmp::Ordering::Greater => shape.dims.push(from / to),
            std::cmp::Ordering::Equal => {}
            std::cmp::Ordering::Less => drop(shape.dims.pop()),
        }
        let flags: Vec<bool> = (0..shape.rank()).map(|d| a.is_dynamic_dim(d)).collect();
        self.builder.add_shaped(Op::BitcastConvert, &[self], shape.with_dynamic(flags))
    }

    /// Reinterprets the buffer as another shape of the same size. No data is moved.
    #[track_caller]
    pub fn bitcast(self, shape: impl Into<Shape>) -> Value<'b> {
        self.builder.add_shaped(Op::Bitcast, &[self], shape)
    }

    /// Copies the value to memory of its own.
    #[track_caller]
    pub fn copy(self) -> Value<'b> {
        self.builder.add(Op::Copy, &[self])
    }
}

/// Slicing and padding.
impl<'b> Value<'b> {
    /// Returns the elements from `starts` up to `limits` (exclusive), with a step of `strides`, in each
    /// dimension.
    #[track_caller]
    pub fn slice(self, starts: &[i64], limits: &[i64], strides: &[i64]) -> Value<'b> {
        if starts.len() != limits.len() || starts.len() != strides.len() {
            let message = format!(
                "`slice` needs as many starts as limits and strides, found {}, {} and {}",
                starts.len(),
                limits.len(),
                strides.len()
            );
            return self.builder.fail(Location::caller(), Diag::error(message));
        }
        let ranges = starts.iter().zip(limits).zip(strides);
        let ranges = ranges.map(|((&start, &limit), &stride)| SliceDim { start, limit, stride }).collect();
        self.builder.add(Op::slice(ranges), &[self])
    }

    /// Returns the elements from `start` up to `limit` (exclusive), with a step of `stride`, in one
    /// dimension, and all elements in the other dimensions.
    #[track_caller]
    pub fn slice_in_dim(self, start: i64, limit: i64, stride: i64, dimension: i64) -> Value<'b> {
        let Some(a) = self.array("slice") else { return self.builder.nothing() };
        let mut ranges: Vec<SliceDim> =
            a.dims.iter().map(|&limit| SliceDim { start: 0, limit, stride: 1 }).collect();
        match usize::try_from(dimension).ok().and_then(|d| ranges.get_mut(d)) {
            Some(range) => *range = SliceDim { start, limit, stride },
            None => return self.no_dimension("slice", dimension, &a),
        }
        self.builder.add(Op::slice(ranges), &[self])
    }

    /// Inserts copies of a value before, after and between the elements. `padding` contains the amounts for
    /// each dimension. Negative amounts before and after remove elements.
    #[track_caller]
    pub fn pad(self, value: impl Into<Operand<'b>>, padding: &[PaddingDim]) -> Value<'b> {
        let value = value.into().plain(self.builder, self.element_type("pad"));
        self.builder.add(Op::pad(padding.to_vec()), &[self, value])
    }

    /// Inserts copies of a value before and after the elements along one dimension.
    #[track_caller]
    pub fn pad_in_dim(self, value: impl Into<Operand<'b>>, dimension: i64, low: i64, high: i64) -> Value<'b> {
        let Some(a) = self.array("pad") else { return self.builder.nothing() };
        let mut padding = vec![PaddingDim::default(); a.rank()];
        match usize::try_from(dimension).ok().and_then(|d| padding.get_mut(d)) {
            Some(amounts) => *amounts = PaddingDim { low, high, interior: 0 },
            None => return self.no_dimension("pad", dimension, &a),
        }
        self.pad(value, &padding)
    }

    /// Reports that an array does not have the given dimension.
    #[track_caller]
    pub(crate) fn no_dimension(self, what: &str, dimension: i64, a: &ArrayShape) -> Value<'b> {
        let message = format!("`{what}` along dimension {dimension}: {a} has {} dimensions", a.rank());
        self.builder.fail(Location::caller(), Diag::error(message))
    }
}

impl Builder {
    /// Concatenates arrays along a dimension.
    #[track_caller]
    pub fn concat_in_dim<'b>(&'b self, operands: &[Value<'b>], dimension: i64) -> Value<'b> {
        self.add(Op::concatenate(dimension), operands)
    }

    /// Returns an array of the given shape. Each element is its index along `dimension`.
    #[track_caller]
    pub fn iota(&self, shape: impl Into<Shape>, dimension: i64) -> Value<'_> {
        self.add_shaped(Op::iota(dimension), &[], shape)
    }

    /// Returns the numbers from 0 up to `size` (exclusive).
    #[track_caller]
    pub fn iota_r1(&self, element_type: ElementType, size: i64) -> Value<'_> {
        self.iota(Shape::array(element_type, [size]), 0)
    }
}
