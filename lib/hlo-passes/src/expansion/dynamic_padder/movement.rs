//! Padding of data movement whose positions are known at compile time, except for the ends of dimensions.

use super::{Padded, Padder, Result, Sizes, of_array};
use hlo_ir::attr::{PadAttrs, PaddingDim, SliceAttrs, SliceDim};
use hlo_ir::{ArrayShape, InstrId, Op};

impl Padder<'_> {
    /// Pads a `reverse`. The elements beyond the size would come first, so the array is moved back to the
    /// beginning.
    pub(super) fn reverse(&mut self, dimensions: &[i64]) -> Result<Padded> {
        let bounds = self.bounds(0)?;
        let sizes = self.sizes(0)?;
        let operands = self.operands();
        let op = Op::reverse(dimensions.iter().copied());
        let moved: Vec<usize> =
            (0..bounds.rank()).filter(|&d| sizes[d].is_some() && dimensions.contains(&(d as i64))).collect();
        if moved.is_empty() {
            return Ok(self.keep(of_array(sizes)));
        }
        let plain = ArrayShape { layout: None, ..bounds.clone() };
        let reversed = self.add(plain, op, &operands);
        let high: Vec<i64> =
            (0..bounds.rank()).map(|d| if moved.contains(&d) { bounds.dims[d] } else { 0 }).collect();
        let wide = self.widen(reversed, &high)?;
        let mut starts = Vec::new();
        for (d, size) in sizes.iter().enumerate() {
            let start = match size.filter(|_| moved.contains(&d)) {
                Some(size) => {
                    let bound = self.s32(bounds.dims[d])?;
                    self.minus(bound, size)?
                }
                None => self.s32(0)?,
            };
            starts.push(start);
        }
        Ok((self.cut_at(wide, &starts, &bounds.dims)?, of_array(sizes)))
    }

    /// Returns the array with zeros appended in each dimension.
    pub(super) fn widen(&mut self, value: InstrId, high: &[i64]) -> Result<InstrId> {
        let shape = self.array(value);
        let zero = self.zero(shape.element_type)?;
        let padding = high.iter().map(|&high| PaddingDim { low: 0, high, interior: 0 }).collect();
        let mut dims = shape.dims;
        for (d, &high) in dims.iter_mut().zip(high) {
            *d = d.checked_add(high).ok_or_else(|| self.unsupported_diag("needs sizes that do not fit"))?;
        }
        let wide = ArrayShape::new(shape.element_type, dims);
        Ok(self.add(wide, Op::pad(padding), &[value, zero]))
    }

    /// Returns the part of an array with the given start and sizes.
    pub(super) fn cut_at(&mut self, value: InstrId, starts: &[InstrId], sizes: &[i64]) -> Result<InstrId> {
        let shape = ArrayShape::new(self.array(value).element_type, sizes.iter().copied());
        let op = Op::dynamic_slice(sizes.iter().copied());
        let mut operands = vec![value];
        operands.extend(starts);
        Ok(self.add(shape, op, &operands))
    }

    /// Returns the beginning of an array with the given sizes.
    pub(super) fn beginning(&mut self, value: InstrId, sizes: &[i64]) -> InstrId {
        let shape = ArrayShape::new(self.array(value).element_type, sizes.iter().copied());
        let slice = sizes.iter().map(|&limit| SliceDim { start: 0, limit, stride: 1 }).collect();
        self.add(shape, Op::slice(slice), &[value])
    }

    /// Pads a `slice`, which ends where the array ends.
    pub(super) fn slice(&mut self, attrs: &SliceAttrs) -> Result<Padded> {
        let bounds = self.bounds(0)?;
        let mut sizes = self.sizes(0)?;
        for (d, range) in attrs.slice.iter().enumerate() {
            let Some(size) = sizes.get(d).copied().flatten() else { continue };
            if range.start == 0 && range.stride == 1 && range.limit == bounds.dims[d] {
                continue;
            }
            let limit = self.s32(range.limit)?;
            let end = self.minimum(size, limit)?;
            // (end - start) / stride, rounded up, for a nonnegative difference.
            let length = self.offset(end, range.stride - 1 - range.start)?;
            let length = self.at_least(length, 0)?;
            sizes[d] = Some(self.divide(length, range.stride)?);
        }
        Ok(self.keep(of_array(sizes)))
    }

    /// Pads a `pad`. The elements beyond the array are replaced by padding.
    pub(super) fn pad(&mut self, attrs: &PadAttrs) -> Result<Padded> {
        let mut sizes = self.sizes(0)?;
        let [mut value, fill] = self.operands()[..] else {
            return Err(self.unsupported_diag("takes an array and a value"));
        };
        let padded_after: Sizes =
            sizes.iter().zip(&attrs.padding).map(|(s, p)| s.filter(|_| p.high > 0)).collect();
        value = self.mask(value, &padded_after, fill);
        for (size, p) in sizes.iter_mut().zip(&attrs.padding) {
            let Some(n) = *size else { continue };
            // n + (n - 1)·interior + low + high, with each part at least 0.
            let step = self.s32(p.interior.saturating_add(1))?;
            let stretched = self.times(n, step)?;
            let stretched = self.offset(stretched, p.interior.saturating_neg())?;
            let stretched = if p.interior == 0 { stretched } else { self.at_least(stretched, 0)? };
            let padded = self.offset(stretched, p.low.saturating_add(p.high))?;
            *size = Some(self.at_least(padded, 0)?);
        }
        Ok(self.keep_with_operands(&[value, fill], of_array(sizes)))
    }

    /// Pads a `concatenate`. Each array is written at the end of the previous one, over its padding.
    pub(super) fn concatenate(&mut self, along: i64) -> Result<Padded> {
        let bounds = self.result_bounds()?;
        let along = usize::try_from(along).ok().filter(|&d| d < bounds.rank());
        let along = along.ok_or_else(|| self.unsupported_diag("names a dimension that is not there"))?;
        let operands = self.operands();
        let mut sizes = Sizes::new();
        for d in 0..bounds.rank() {
            let places = (0..operands.len()).filter(|_| d != along).map(|o| (o, d));
            sizes.push(self.paired(places)?);
        }
        let mut ends = Vec::with_capacity(operands.len());
        let mut end = self.s32(0)?;
        let mut moves = false;
        let mut dynamic = false;
        for o in 0..operands.len() {
            let size = self.sizes(o)?[along];
            moves |= dynamic;
            dynamic |= size.is_some();
            let size = self.known_size(size, self.bounds(o)?.dims[along])?;
            ends.push(end);
            end = self.plus(end, size)?;
        }
        sizes[along] = dynamic.then_some(end);
        if !moves {
            return Ok(self.keep(of_array(sizes)));
        }
        let plain = ArrayShape { layout: None, ..bounds.clone() };
        let zero = self.zero(bounds.element_type)?;
        let mut result = self.splat(zero, &bounds.dims);
        let first = self.s32(0)?;
        for (&operand, start) in operands.iter().zip(ends) {
            let mut all = vec![result, operand];
            all.extend((0..bounds.rank()).map(|d| if d == along { start } else { first }));
            result = self.add(plain.clone(), Op::DynamicUpdateSlice, &all);
        }
        Ok((result, of_array(sizes)))
    }
}
