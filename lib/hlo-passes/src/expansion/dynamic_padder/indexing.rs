//! Padding of slices and updates at indices that are known only at run time.

use super::{Padded, Padder, Result, Size, Sizes, of_array, scatter_windows};
use hlo_ir::attr::{ComparisonDirection, GatherAttrs, ScatterAttrs, SliceDim};
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, ElementType, InstrId, Literal, Op, Shape};

impl Padder<'_> {
    /// Returns the start indices, one for each of `rank` dimensions. They begin at operand `first`.
    fn starts(&mut self, first: usize, rank: usize) -> Result<Vec<InstrId>> {
        let operands = self.operands();
        let given = operands.get(first..).unwrap_or_default();
        if let [vector] = *given
            && self.array(vector).rank() == 1
        {
            let element_type = self.array(vector).element_type;
            let scalar = |p: &mut Self, d: i64| {
                let op = Op::slice(vec![SliceDim { start: d, limit: d + 1, stride: 1 }]);
                let one = p.add(ArrayShape::new(element_type, [1]), op, &[vector]);
                p.add(Shape::scalar(element_type), Op::reshape(), &[one])
            };
            return Ok((0..rank as i64).map(|d| scalar(self, d)).collect());
        }
        if given.len() != rank {
            return Err(self.unsupported_diag("takes a start index for each dimension"));
        }
        Ok(given.to_vec())
    }

    /// Returns the last index at which a slice of `slice` elements may start in a dimension of `size`
    /// elements, in the type of the indices.
    fn last_start(&mut self, size: InstrId, slice: InstrId, index_type: ElementType) -> Result<InstrId> {
        let taken = self.minimum(slice, size)?;
        let last = self.minus(size, taken)?;
        self.in_type(last, index_type)
    }

    /// Converts a size to an integer type. If it does not fit, returns the largest value of the type.
    fn in_type(&mut self, size: InstrId, index_type: ElementType) -> Result<InstrId> {
        if index_type == ElementType::S32 {
            return Ok(size);
        }
        let bits = index_type.bit_width() - u32::from(index_type.is_signed_integer());
        let size = if bits < 31 {
            let largest = self.s32((1i64 << bits) - 1)?;
            self.minimum(size, largest)?
        } else {
            size
        };
        Ok(self.add(Shape::scalar(index_type), Op::Convert, &[size]))
    }

    /// Limits `start` to `last`. The operation itself clamps negative indices.
    fn limit_start(&mut self, start: InstrId, last: InstrId) -> InstrId {
        let shape = self.shape(start);
        self.add(shape, Op::Minimum, &[start, last])
    }

    /// Pads a `dynamic-slice`. The slice stays inside the array and ends where the array ends.
    pub(super) fn dynamic_slice(&mut self, slice: &[i64]) -> Result<Padded> {
        let bounds = self.bounds(0)?;
        let mut sizes = self.sizes(0)?;
        let mut starts = self.starts(1, bounds.rank())?;
        for d in 0..bounds.rank() {
            let Some(size) = sizes[d] else { continue };
            let wanted = self.s32(slice.get(d).copied().unwrap_or(0))?;
            let index_type = self.array(starts[d]).element_type;
            let last = self.last_start(size, wanted, index_type)?;
            starts[d] = self.limit_start(starts[d], last);
            sizes[d] = Some(self.minimum(size, wanted)?);
        }
        let mut operands = vec![self.operands()[0]];
        operands.extend(starts);
        Ok(self.keep_with_operands(&operands, of_array(sizes)))
    }

    /// Pads a `dynamic-update-slice`. The update stays inside the array. Elements beyond the update's sizes
    /// must not be written, so they are replaced by the old elements. The array is extended so that it has
    /// room for the whole update.
    pub(super) fn dynamic_update_slice(&mut self) -> Result<Padded> {
        let (bounds, update_bounds) = (self.bounds(0)?, self.bounds(1)?);
        let (sizes, update_sizes) = (self.sizes(0)?, self.sizes(1)?);
        let rank = bounds.rank();
        let mut starts = self.starts(2, rank)?;
        for d in 0..rank {
            if sizes[d].is_none() && update_sizes[d].is_none() {
                continue;
            }
            let size = self.known_size(sizes[d], bounds.dims[d])?;
            let update = self.known_size(update_sizes[d], update_bounds.dims[d])?;
            let index_type = self.array(starts[d]).element_type;
            let last = self.last_start(size, update, index_type)?;
            starts[d] = self.limit_start(starts[d], last);
        }
        let [array, update] = self.operands()[..2] else {
            return Err(self.unsupported_diag("takes an array and an update"));
        };
        let all = |array: InstrId, update: InstrId| {
            let mut all = vec![array, update];
            all.extend(&starts);
            all
        };
        if !Self::any(&update_sizes) {
            return Ok(self.keep_with_operands(&all(array, update), of_array(sizes)));
        }
        let room: Vec<i64> =
            (0..rank).map(|d| update_sizes[d].map_or(0, |_| update_bounds.dims[d])).collect();
        let wide = self.widen(array, &room)?;
        let old = self.cut_at(wide, &starts, &update_bounds.dims)?;
        let merged = match self.inside(&update_bounds.dims, &update_sizes) {
            Some(inside) => self.select(inside, update, old),
            None => update,
        };
        let shape = self.shape(wide);
        let updated = self.add(shape, Op::DynamicUpdateSlice, &all(wide, merged));
        Ok((self.beginning(updated, &bounds.dims), of_array(sizes)))
    }

    /// Applies `change` to one component of the indices.
    fn change_component(
        &mut self,
        indices: InstrId,
        vector_dim: i64,
        component: usize,
        change: impl FnOnce(&mut Self, InstrId) -> Result<InstrId>,
    ) -> Result<InstrId> {
        let shape = self.array(indices);
        let changed = change(self, indices)?;
        match usize::try_from(vector_dim).ok().filter(|&d| d < shape.rank()) {
            Some(d) if shape.dims[d] != 1 => {
                let position = self.iota(ElementType::S32, &shape.dims, d);
                let here = self.s32(component as i64)?;
                let here = self.splat(here, &shape.dims);
                let is_here = self.compare(ComparisonDirection::Eq, position, here);
                Ok(self.select(is_here, changed, indices))
            }
            _ => Ok(changed),
        }
    }

    /// Pads a `gather`. The slices stay inside the array and end where the array ends.
    pub(super) fn gather(&mut self, attrs: &GatherAttrs) -> Result<Padded> {
        let (of, mut of_indices) = (self.sizes(0)?, self.sizes(1)?);
        let [array, mut indices] = self.operands()[..] else {
            return Err(self.unsupported_diag("takes an array and indices"));
        };
        for (&a, &i) in attrs.operand_batching_dims.iter().zip(&attrs.start_indices_batching_dims) {
            of_indices[i as usize] = self.paired([(0, a as usize), (1, i as usize)])?;
        }
        for (component, &d) in attrs.start_index_map.iter().enumerate() {
            let Some(size) = of[d as usize] else { continue };
            if attrs.collapsed_slice_dims.contains(&d) && !attrs.reads_nothing() {
                let some = self.at_least(size, 1)?;
                self.check_equal(size, some);
            }
            let slice = self.s32(attrs.slice_sizes[d as usize])?;
            let index_type = self.array(indices).element_type;
            let last = self.last_start(size, slice, index_type)?;
            indices = self.change_component(indices, attrs.index_vector_dim, component, |p, all| {
                let dims = p.array(all).dims;
                let last = p.splat(last, &dims);
                Ok(p.both(Op::Minimum, all, last))
            })?;
        }
        let rank = self.result_bounds()?.rank();
        let vector = attrs.index_vector_dim;
        let mut batch = of_indices.iter().enumerate().filter(|&(d, _)| d as i64 != vector).map(|(_, &s)| s);
        let dropped = |d: usize| {
            attrs.collapsed_slice_dims.contains(&(d as i64))
                || attrs.operand_batching_dims.contains(&(d as i64))
        };
        let mut windows: Vec<Size> = Vec::new();
        for d in (0..of.len()).filter(|&d| !dropped(d)) {
            windows.push(match of[d] {
                Some(size) => {
                    let slice = self.s32(attrs.slice_sizes[d])?;
                    Some(self.minimum(size, slice)?)
                }
                None => None,
            });
        }
        let mut windows = windows.into_iter();
        let sizes: Sizes = (0..rank)
            .map(|d| {
                let next =
                    if attrs.offset_dims.contains(&(d as i64)) { windows.next() } else { batch.next() };
                next.flatten()
            })
            .collect();
        Ok(self.keep_with_operands(&[array, indices], of_array(sizes)))
    }

    /// Pads a `scatter`. Updates beyond the sizes, and windows that exceed the array, get an index that is
    /// out of bounds.
    pub(super) fn scatter(&mut self, attrs: &ScatterAttrs) -> Result<Padded> {
        let n = self.operand_ids().len() / 2;
        let mut operands = self.operands();
        let bounds = self.bounds(0)?;
        let rank = bounds.rank();
        let mut sizes = Sizes::new();
        for d in 0..rank {
            sizes.push(self.paired((0..n).map(|o| (o, d)))?);
        }
        let updates = self.bounds(n + 1)?;
        let mut update_sizes = Sizes::new();
        for d in 0..updates.rank() {
            update_sizes.push(self.paired((n + 1..2 * n + 1).map(|o| (o, d)))?);
        }
        // The size of the window in each dimension of the array.
        let mut windows = vec![1i64; rank];
        for (&u, &d) in attrs.update_window_dims.iter().zip(&scatter_windows::window_dims(attrs, rank)) {
            let u = u as usize;
            windows[d] = updates.dims[u];
            let moves = attrs.scatter_dims_to_operand_dims.contains(&(d as i64));
            let covers = windows[d] == bounds.dims[d] && update_sizes[u] == sizes[d] && !moves;
            let is_checked = update_sizes[u].is_none() && (moves || sizes[d].is_none());
            if !covers && !is_checked {
                return self.expanded(scatter_windows::expand);
            }
        }
        let outside = self.outside(operands[n])?;
        let of_indices = self.bounds(n)?;
        let batch: Vec<usize> =
            (0..of_indices.rank()).filter(|&d| d as i64 != attrs.index_vector_dim).collect();
        let update_batch = (0..updates.rank()).filter(|&d| !attrs.update_window_dims.contains(&(d as i64)));
        let mut there: Sizes = smallvec::smallvec![None; of_indices.rank()];
        for (&i, u) in batch.iter().zip(update_batch) {
            there[i] = self.paired(std::iter::once((n, i)).chain((n + 1..2 * n + 1).map(|o| (o, u))))?;
        }
        for (&d, &i) in attrs.input_batching_dims.iter().zip(&attrs.scatter_indices_batching_dims) {
            let of_input = self.paired((0..n).map(|o| (o, d as usize)))?;
            there[i as usize] = match (there[i as usize], of_input) {
                (Some(a), Some(b)) => Some(self.minimum(a, b)?),
                (a, b) => a.or(b),
            };
        }
        if Self::any(&there) && attrs.scatter_dims_to_operand_dims.is_empty() {
            return Err(self.unsupported_diag("has no index to leave out updates by"));
        }
        let mut indices = self.mask(operands[n], &there, outside);
        for (component, &d) in attrs.scatter_dims_to_operand_dims.iter().enumerate() {
            let d = d as usize;
            let Some(size) = sizes[d].filter(|_| windows[d] > 1) else { continue };
            let index_type = self.array(indices).element_type;
            let last = self.offset(size, -windows[d])?;
            // If the window is larger than the array, no index is valid.
            let zero = self.s32(0)?;
            let fits = self.compare(ComparisonDirection::Ge, last, zero);
            let last = self.at_least(last, 0)?;
            let last = self.in_type(last, index_type)?;
            indices = self.change_component(indices, attrs.index_vector_dim, component, |p, all| {
                let dims = p.array(all).dims;
                let (last, fits) = (p.splat(last, &dims), p.splat(fits, &dims));
                let inside = p.compare(ComparisonDirection::Le, all, last);
                let inside = p.both(Op::And, inside, fits);
                let outside = p.splat(outside, &dims);
                Ok(p.select(inside, all, outside))
            })?;
        }
        operands[n] = indices;
        let leaves = of_array(sizes);
        let leaves = if n > 1 && !leaves.is_empty() { vec![leaves[0].clone(); n] } else { leaves };
        Ok(self.keep_with_operands(&operands, leaves))
    }

    /// Returns an index that is out of bounds for every array: -1 or the largest value.
    fn outside(&mut self, indices: InstrId) -> Result<InstrId> {
        let index_type = self.array(indices).element_type;
        if index_type.is_unsigned_integer() && index_type.bit_width() < 32 {
            return Err(self.unsupported_diag("has indices of a type in which none lies outside"));
        }
        let literal = Literal::scalar_from_bytes(index_type, &vec![0xff; index_type.byte_size()]);
        let literal = literal.ok_or_else(|| self.unsupported_diag("needs indices that are integers"))?;
        Ok(self.add(Shape::scalar(index_type), Op::constant(literal), &[]))
    }
}
