//! Arithmetic and movement of whole arrays, for passes that replace an operation with others.

use super::constants::integer_bytes;
use super::expander::Emitter;
use hlo_ir::attr::{ComparisonDirection, DimensionAttrs, DynamicSliceAttrs, SliceDim};
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, ElementType, FloatFormat, InstrId, Op};

/// Returns the unsigned integer type with a bit width, or `None` if there is none.
pub fn unsigned(bits: u32) -> Option<ElementType> {
    use ElementType::*;
    [U1, U2, U4, U8, U16, U32, U64].into_iter().find(|t| t.bit_width() == bits)
}

/// Returns the signed integer type with a bit width, or `None` if there is none.
pub fn signed(bits: u32) -> Option<ElementType> {
    use ElementType::*;
    [S1, S2, S4, S8, S16, S32, S64].into_iter().find(|t| t.bit_width() == bits)
}

impl Emitter<'_> {
    /// Returns whether all operands and the result of the instruction have static sizes.
    pub fn is_static(&self, id: InstrId) -> bool {
        let is_static = |i: InstrId| self.module[i].shape.dynamic_dimensions().is_empty();
        is_static(id) && self.module[id].operands.iter().all(|&o| is_static(o))
    }

    /// Emits a scalar constant of a real or complex type: the number of that type that is nearest to `value`.
    pub fn number(&mut self, ty: ElementType, value: f64) -> Option<InstrId> {
        let literal = match FloatFormat::of(ty) {
            Some(format) => {
                let bits = format.encode(value).to_le_bytes();
                return self.scalar(ty, bits.get(..ty.byte_size())?);
            }
            None if ty.is_complex() => {
                let part = ty.real_type();
                let format = FloatFormat::of(part)?;
                let real = format.encode(value).to_le_bytes();
                let mut bytes = real.get(..part.byte_size())?.to_vec();
                bytes.resize(ty.byte_size(), 0);
                return self.scalar(ty, &bytes);
            }
            None => integer_bytes(ty, value as i64)?,
        };
        self.scalar(ty, &literal)
    }

    /// Emits an array with the dimensions of `like` whose elements are all `value`.
    pub fn splat(&mut self, like: InstrId, ty: ElementType, value: f64) -> Option<InstrId> {
        let scalar = self.number(ty, value)?;
        self.spread(like, scalar)
    }

    /// Broadcasts a scalar to the dimensions of `like`.
    pub fn spread(&mut self, like: InstrId, scalar: InstrId) -> Option<InstrId> {
        let ty = self.array(scalar)?.element_type;
        let shape = self.array(like)?;
        if shape.rank() == 0 {
            return Some(scalar);
        }
        Some(self.filled(&shape.with_element_type(ty), scalar))
    }

    /// Emits an array with the dimensions of `like` whose elements all have these unsigned bits.
    pub fn splat_bits(&mut self, like: InstrId, ty: ElementType, bits: u64) -> Option<InstrId> {
        let bytes = bits.to_le_bytes();
        let scalar = self.scalar(ty, bytes.get(..ty.byte_size())?)?;
        self.spread(like, scalar)
    }

    /// Compares two arrays element by element in the usual order.
    pub fn relation(&mut self, a: InstrId, direction: ComparisonDirection, b: InstrId) -> InstrId {
        let compare = Op::compare(direction);
        self.elementwise(ElementType::Pred, compare, &[a, b])
    }

    /// Selects elements of `a` where `test` is true, and of `b` elsewhere.
    pub fn choose(&mut self, test: InstrId, a: InstrId, b: InstrId) -> Option<InstrId> {
        let ty = self.array(a)?.element_type;
        Some(self.elementwise(ty, Op::Select, &[test, a, b]))
    }

    /// Reinterprets the bits of the elements as another type of the same width. Returns `value` if it already
    /// has that type.
    pub fn reinterpret(&mut self, value: InstrId, ty: ElementType) -> Option<InstrId> {
        if self.array(value)?.element_type == ty {
            return Some(value);
        }
        Some(self.elementwise(ty, Op::BitcastConvert, &[value]))
    }

    /// Transposes an array. Returns `value` if `order` keeps the order of the dimensions.
    pub fn transposed(&mut self, value: InstrId, order: &[usize]) -> Option<InstrId> {
        let shape = self.array(value)?;
        if order.iter().copied().eq(0..shape.rank()) {
            return Some(value);
        }
        let dims = order.iter().map(|&d| shape.dims.get(d).copied()).collect::<Option<Vec<i64>>>()?;
        let flags: Vec<bool> = order.iter().map(|&d| shape.is_dynamic_dim(d)).collect();
        let result = ArrayShape::new(shape.element_type, dims).with_dynamic(flags);
        Some(self.add(result, Op::transpose(order.iter().map(|&d| d as i64)), &[value]))
    }

    /// Slices an array from `start` to `limit` along a dimension. Returns `value` if this is the whole array.
    pub fn sliced(&mut self, value: InstrId, along: usize, start: i64, limit: i64) -> Option<InstrId> {
        let shape = self.array(value)?;
        if start == 0 && shape.dims.get(along) == Some(&limit) {
            return Some(value);
        }
        let mut ranges: Vec<SliceDim> =
            shape.dims.iter().map(|&limit| SliceDim { start: 0, limit, stride: 1 }).collect();
        *ranges.get_mut(along)? = SliceDim { start, limit, stride: 1 };
        let dims = ranges.iter().map(|r| r.limit - r.start);
        Some(self.add(ArrayShape::new(shape.element_type, dims), Op::slice(ranges), &[value]))
    }

    /// Concatenates arrays along a dimension. Returns a single array unchanged.
    pub fn joined(&mut self, values: &[InstrId], along: usize) -> Option<InstrId> {
        let (&first, rest) = values.split_first()?;
        if rest.is_empty() {
            return Some(first);
        }
        let mut shape = self.array(first)?;
        for &v in rest {
            *shape.dims.get_mut(along)? += *self.array(v)?.dims.get(along)?;
        }
        let shape = ArrayShape::new(shape.element_type, shape.dims);
        let attrs = DimensionAttrs { dimensions: [along as i64].into_iter().collect() };
        Some(self.add(shape, Op::Concatenate(attrs), values))
    }

    /// Emits a `dynamic-slice` of an array at `start`, which is clamped so that the slice is in bounds.
    pub fn part(&mut self, value: InstrId, start: &[InstrId], sizes: &[i64]) -> Option<InstrId> {
        let ty = self.array(value)?.element_type;
        let attrs = DynamicSliceAttrs { dynamic_slice_sizes: sizes.iter().copied().collect() };
        let operands: Vec<InstrId> = std::iter::once(value).chain(start.iter().copied()).collect();
        Some(self.add(ArrayShape::new(ty, sizes.iter().copied()), Op::DynamicSlice(attrs), &operands))
    }

    /// Emits a `dynamic-update-slice` that writes `part` at `start`.
    pub fn updated(&mut self, value: InstrId, start: &[InstrId], part: InstrId) -> InstrId {
        let operands: Vec<InstrId> = [value, part].into_iter().chain(start.iter().copied()).collect();
        self.same(Op::DynamicUpdateSlice, &operands)
    }

    /// Emits an array of a shape whose bits are all zero.
    pub fn zeros(&mut self, shape: &ArrayShape) -> Option<InstrId> {
        let zero = self.zero(shape.element_type)?;
        Some(self.filled(shape, zero))
    }
}
