//! Reads and writes at run-time indices in arrays that are split along the indexed dimensions. A device reads
//! and writes nothing if its tile does not contain the index.

use super::cutting::Cutting;
use super::partial::Combine;
use super::partitioner::{INDEX_TYPE, Partitioner};
use super::value::Part;
use crate::support::combiner::{identity, is_padding};
use crate::support::constants::integer_bytes;
use hlo_ir::attr::{ComparisonDirection, GatherAttrs, PaddingDim, ScatterAttrs, SliceDim, TileAssignment};
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, Dims, ElementType, InstrId, Literal, Op};

/// The indexed dimensions, one per component of an index vector.
struct Components {
    /// The dimension of the index array that contains the components. If it equals the rank, the index array
    /// has one component and no such dimension.
    vector: usize,
    /// The smallest and the largest distinguishable value of each component.
    bounds: Vec<(i64, i64)>,
    /// The start of the device's tile, for dimensions that are split.
    starts: Vec<Option<InstrId>>,
    /// The size of the device's tile, or `i32::MAX` for dimensions that are not split.
    sizes: Vec<i64>,
}

impl Partitioner<'_> {
    /// Emits the operation on parts. Indices select the elements of the first part that are read or written.
    pub(super) fn at_indices(
        &mut self,
        cutting: &Cutting,
        cut: &TileAssignment,
        op: &Op,
        parts: Vec<Part>,
    ) -> Option<InstrId> {
        let tiling = cut.select(&cutting.factors.result);
        let shape = self.shard_shape(cutting.leaves.first()?, &tiling);
        match op {
            Op::DynamicSlice(a) => self.read_slice(cutting, parts, &a.dynamic_slice_sizes, shape, op),
            Op::DynamicUpdateSlice => self.write_slice(cutting, parts, shape),
            Op::Gather(a) => self.read_at(cutting, a, parts, shape),
            Op::Scatter(a) => self.write_at(cutting, cut, a, parts),
            _ => None,
        }
    }

    /// Emits a slice of the whole array. Elements outside of the device's tile are zero.
    fn read_slice(
        &mut self,
        cutting: &Cutting,
        parts: Vec<Part>,
        sizes: &Dims,
        shape: ArrayShape,
        op: &Op,
    ) -> Option<InstrId> {
        let (part, starts) = parts.split_first()?;
        let kept = cutting.factors.result.len();
        let walk = &cutting.factors.operands[0];
        let at_index = |d: &usize| part.tiling.tiles()[*d] > 1 && walk[*d].is_some_and(|f| f >= kept);
        let dims: Vec<usize> = (0..part.shape.rank()).filter(at_index).collect();
        let starts: Vec<InstrId> = starts.iter().map(|s| s.id).collect();
        let (value, starts) =
            if dims.is_empty() { (part.id, starts) } else { self.around(part, &dims, sizes, &starts)? };
        let operands: Vec<InstrId> = [value].into_iter().chain(starts).collect();
        Some(self.add(shape, op.clone(), &operands))
    }

    /// Emits an update of the whole array, restricted to the device's tile.
    fn write_slice(&mut self, cutting: &Cutting, parts: Vec<Part>, shape: ArrayShape) -> Option<InstrId> {
        let [part, update, starts @ ..] = &parts[..] else { return None };
        let walk = &cutting.factors.operands[1];
        let at_index = |d: &usize| part.tiling.tiles()[*d] > 1 && walk[*d].is_none();
        let dims: Vec<usize> = (0..part.shape.rank()).filter(at_index).collect();
        let starts: Vec<InstrId> = starts.iter().map(|s| s.id).collect();
        if dims.is_empty() {
            let operands: Vec<InstrId> = [part.id, update.id].into_iter().chain(starts).collect();
            return Some(self.add(shape, Op::DynamicUpdateSlice, &operands));
        }
        let sizes = update.shape.dims.clone();
        let (value, starts) = self.around(part, &dims, &sizes, &starts)?;
        let operands: Vec<InstrId> = [value, update.id].into_iter().chain(starts).collect();
        let written = self.same(Op::DynamicUpdateSlice, &operands);
        let local = part.local_dims();
        let ranges = (0..local.len()).map(|d| {
            let start = if dims.contains(&d) { sizes[d] } else { 0 };
            SliceDim { start, limit: start + local[d], stride: 1 }
        });
        Some(self.add(shape, Op::slice(ranges.collect()), &[written]))
    }

    /// Pads a tile on both sides by the size of a slice along some dimensions. Also returns the start of the
    /// slice in the padded tile. A slice that is outside of the tile starts in the padding.
    fn around(
        &mut self,
        part: &Part,
        dims: &[usize],
        sizes: &Dims,
        starts: &[InstrId],
    ) -> Option<(InstrId, Vec<InstrId>)> {
        let mut wide = part.local_dims();
        let mut padding = vec![PaddingDim::default(); wide.len()];
        for &d in dims {
            wide[d] += 2 * sizes[d];
            padding[d] = PaddingDim { low: sizes[d], high: sizes[d], interior: 0 };
        }
        let zero = self.zero(part.shape.element_type)?;
        let value =
            self.add(ArrayShape::new(part.shape.element_type, wide), Op::pad(padding), &[part.id, zero]);
        let mut moved = Vec::with_capacity(starts.len());
        for (d, &start) in starts.iter().enumerate() {
            let last = part.shape.dims[d] - sizes[d].min(part.shape.dims[d]);
            let mut start = self.clamped(start, &[], (0, last))?;
            if dims.contains(&d) {
                let tile = self.tile_start(part, d);
                let room = self.index(sizes[d]);
                start = self.same(Op::Subtract, &[start, tile]);
                start = self.same(Op::Add, &[start, room]);
            }
            moved.push(start);
        }
        Some((value, moved))
    }

    /// Converts indices to [`INDEX_TYPE`] and clamps them. Indices beyond the bounds have the same meaning as
    /// the bounds.
    fn clamped(&mut self, indices: InstrId, dims: &[i64], bounds: (i64, i64)) -> Option<InstrId> {
        let ty = self.array_of(indices)?.element_type;
        let most = if ty.bit_width() >= 63 {
            i64::MAX
        } else {
            (1i64 << (ty.bit_width() - u32::from(ty.is_signed_integer()))) - 1
        };
        let least = if ty.is_signed_integer() { bounds.0 } else { bounds.0.max(0) };
        let low = self.scalar(ty, &integer_bytes(ty, least)?)?;
        let high = self.scalar(ty, &integer_bytes(ty, bounds.1.min(most))?)?;
        let (low, high) = (self.spread(low, dims), self.spread(high, dims));
        let shape = ArrayShape::new(ty, dims.iter().copied());
        let clamped = self.add(shape, Op::Clamp, &[low, indices, high]);
        Some(self.as_index(clamped))
    }

    fn as_index(&mut self, indices: InstrId) -> InstrId {
        match self.array_of(indices) {
            Some(a) if a.element_type != INDEX_TYPE => {
                self.add(ArrayShape::new(INDEX_TYPE, a.dims.iter().copied()), Op::Convert, &[indices])
            }
            _ => indices,
        }
    }

    /// Emits a gather from the whole array. Elements that the device's tile does not contain are zero.
    fn read_at(
        &mut self,
        cutting: &Cutting,
        a: &GatherAttrs,
        parts: Vec<Part>,
        shape: ArrayShape,
    ) -> Option<InstrId> {
        let [part, indices] = &parts[..] else { return None };
        let walk = &cutting.factors.operands[0];
        let kept = cutting.factors.result.len();
        let at_index = |d: usize| part.tiling.tiles()[d] > 1 && walk[d].is_some_and(|f| f >= kept);
        let last = |d: usize| part.shape.dims[d] - cutting_size(a, d, part);
        let components =
            self.components(part, &a.start_index_map, a.index_vector_dim, at_index, |d| (0, last(d)))?;
        let op = Op::Gather(Box::new(a.clone()));
        if components.starts.iter().all(Option::is_none) {
            return Some(self.add(shape, op, &[part.id, indices.id]));
        }
        let moved = self.moved_indices(indices, &components)?;
        let gathered = self.add(shape.clone(), op, &[part.id, moved]);
        let inside = self.inside(moved, &components)?;
        let batch = (0..shape.rank() as i64).filter(|d| !a.offset_dims.contains(d));
        let inside = self.add(shape.with_element_type(ElementType::Pred), Op::broadcast(batch), &[inside]);
        let zero = self.zero(shape.element_type)?;
        Some(self.select(inside, gathered, zero, &shape.dims))
    }

    /// Emits a scatter into the whole array, restricted to the device's tile.
    fn write_at(
        &mut self,
        cutting: &Cutting,
        cut: &TileAssignment,
        a: &ScatterAttrs,
        parts: Vec<Part>,
    ) -> Option<InstrId> {
        let inputs = parts.len() / 2;
        let (part, indices) = (parts.first()?, parts.get(inputs)?);
        let at_index = |d: usize| part.tiling.tiles()[d] > 1 && a.inserted_window_dims.contains(&(d as i64));
        let size = |d: usize| part.shape.dims[d];
        let map = &a.scatter_dims_to_operand_dims;
        let components = self.components(part, map, a.index_vector_dim, at_index, |d| (-1, size(d)))?;
        let mut operands: Vec<InstrId> = parts.iter().map(|p| p.id).collect();
        let mut attrs = a.clone();
        if components.starts.iter().any(Option::is_some) {
            operands[inputs] = self.moved_indices(indices, &components)?;
        }
        let combined = cutting.combined(cut);
        if let Some(Combine::Reduction { op, .. }) = cutting.combine.as_ref().filter(|_| !combined.is_empty())
        {
            // Masking changes the indices, so these properties may no longer be true.
            (attrs.indices_are_sorted, attrs.unique_indices) = (false, false);
            let first: Vec<i64> =
                cut.places().iter().map(|p| i64::from(combined.iter().all(|&f| p.tile[f] == 0))).collect();
            let whole = *self.module[self.scope.at].operands.first()?;
            if is_padding(self.module, *op, whole) != Some(true) {
                let ty = part.shape.element_type;
                let nothing = self.scalar(ty, &identity(*op, ty)?)?;
                let first = self.of_device(first);
                let first = self.compared(first, ComparisonDirection::Eq, 1, &[]);
                let local = part.local_dims();
                let first = self.spread(first, &local);
                operands[0] = self.select(first, part.id, nothing, &local);
            }
        }
        Some(self.same(Op::Scatter(Box::new(attrs)), &operands))
    }

    fn components(
        &mut self,
        part: &Part,
        map: &[i64],
        vector: i64,
        at_index: impl Fn(usize) -> bool,
        bounds: impl Fn(usize) -> (i64, i64),
    ) -> Option<Components> {
        let local = part.local_dims();
        let mut found = Components {
            vector: usize::try_from(vector).ok()?,
            bounds: Vec::new(),
            starts: Vec::new(),
            sizes: Vec::new(),
        };
        for &d in map {
            let d = usize::try_from(d).ok().filter(|&d| d < local.len())?;
            found.bounds.push(bounds(d));
            found.starts.push(at_index(d).then(|| self.tile_start(part, d)));
            found.sizes.push(if at_index(d) { local[d] } else { i64::from(i32::MAX) });
        }
        Some(found)
    }

    /// Converts indices into the whole array to indices into the device's tile.
    fn moved_indices(&mut self, indices: &Part, of: &Components) -> Option<InstrId> {
        let dims = indices.local_dims();
        let low = of.bounds.iter().map(|b| b.0).min()?;
        // The largest upper bound is beyond every component's bound, so each component is clamped once more.
        let value = if of.bounds.iter().all(|b| *b == of.bounds[0]) {
            self.clamped(indices.id, &dims, of.bounds[0])?
        } else {
            let most = of.bounds.iter().map(|b| b.1).max()?;
            let value = self.clamped(indices.id, &dims, (low, most))?;
            let least =
                self.component_values(&dims, of.vector, &of.bounds.iter().map(|b| b.1).collect::<Vec<_>>());
            self.same(Op::Minimum, &[value, least])
        };
        let mut starts = Vec::with_capacity(of.starts.len());
        for start in &of.starts {
            let start = match start {
                Some(start) => *start,
                None => self.index(0),
            };
            starts.push(self.reshaped(start, &[1])?);
        }
        let starts = match (&starts[..], of.vector < dims.len()) {
            (_, true) => {
                let row = self.concatenated(&starts);
                self.along(row, &dims, of.vector)
            }
            (&[one], false) => {
                let one = self.reshaped(one, &[])?;
                self.spread(one, &dims)
            }
            _ => return None,
        };
        Some(self.same(Op::Subtract, &[value, starts]))
    }

    /// Emits whether all components of each index vector are inside the device's tile.
    fn inside(&mut self, moved: InstrId, of: &Components) -> Option<InstrId> {
        let dims = self.array_of(moved)?.dims;
        let from_first = self.compared(moved, ComparisonDirection::Ge, 0, &dims);
        let sizes = self.component_values(&dims, of.vector, &of.sizes);
        let shape = ArrayShape::new(ElementType::Pred, dims.iter().copied());
        let to_last = self.add(shape, Op::compare(ComparisonDirection::Lt), &[moved, sizes]);
        let inside = self.same(Op::And, &[from_first, to_last]);
        if of.vector >= dims.len() {
            return Some(inside);
        }
        let all = self.combiner(&Op::And, ElementType::Pred);
        let yes = self.scalar(ElementType::Pred, &[1])?;
        let rest = dims.iter().enumerate().filter(|(d, _)| *d != of.vector).map(|(_, &size)| size);
        let shape = ArrayShape::new(ElementType::Pred, rest);
        Some(self.add(shape, Op::reduce([of.vector as i64], all), &[inside, yes]))
    }

    /// Emits an array with a number for each component of the index vectors.
    fn component_values(&mut self, dims: &[i64], vector: usize, values: &[i64]) -> InstrId {
        let narrow = |&n: &i64| i32::try_from(n).unwrap_or(i32::MAX);
        if vector >= dims.len() {
            let one = self.index(values.first().copied().unwrap_or(0));
            return self.spread(one, dims);
        }
        let row = Literal::r1(&values.iter().map(narrow).collect::<Vec<i32>>());
        let row = self.add(row.shape().clone(), Op::constant(row), &[]);
        self.along(row, dims, vector)
    }

    fn along(&mut self, row: InstrId, dims: &[i64], d: usize) -> InstrId {
        self.add(ArrayShape::new(INDEX_TYPE, dims.iter().copied()), Op::broadcast([d as i64]), &[row])
    }

    fn concatenated(&mut self, rows: &[InstrId]) -> InstrId {
        match rows {
            [one] => *one,
            _ => self.add(ArrayShape::new(INDEX_TYPE, [rows.len() as i64]), Op::concatenate(0), rows),
        }
    }
}

/// Returns the size of a slice along a dimension of the whole array.
fn cutting_size(a: &GatherAttrs, d: usize, part: &Part) -> i64 {
    // A split dimension with slices larger than 1 is not indexed by parts, so the slice spans the whole
    // dimension.
    let written = a.slice_sizes.get(d).copied().unwrap_or(0);
    if part.tiling.tiles()[d] > 1 && written != 1 { part.shape.dims[d] } else { written }
}
