//! Padding of reshapes. If a dynamic dimension is not the slowest of the dimensions that are split or merged,
//! consecutive elements are not adjacent in the padded arrays. The pass then moves them.

use super::{Padded, Padder, Result, Sizes, of_array};
use hlo_ir::attr::GatherAttrs;
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, Dims, ElementType, InstrId, Op, ReshapedSize, reshaped_sizes};
use std::ops::Range;

/// Some dimensions, with their bounds and sizes.
struct Region<'a> {
    bounds: &'a [i64],
    sizes: Vec<InstrId>,
}

/// Adjacent dimensions of an array.
struct Group<'a> {
    /// The bounds of all dimensions of the array.
    bounds: &'a [i64],
    /// The sizes of all dimensions of the array.
    sizes: &'a Sizes,
    /// The dimensions of the group.
    dims: Range<usize>,
}

impl<'a> Group<'a> {
    fn new(bounds: &'a [i64], sizes: &'a Sizes, dims: Range<usize>) -> Self {
        Self { bounds, sizes, dims }
    }

    /// Returns the products of the bounds before the group, of the group, and after it.
    fn counts(&self) -> [i64; 3] {
        let Range { start, end } = self.dims;
        [&self.bounds[..start], &self.bounds[start..end], &self.bounds[end..]]
            .map(|dims| dims.iter().product::<i64>())
    }
}

impl Padder<'_> {
    /// Pads a `reshape`, which keeps, splits or merges dimensions.
    pub(super) fn reshape(&mut self, inferred: Option<i64>) -> Result<Padded> {
        let from = self.bounds(0)?;
        let to = match &self.module[self.at].shape {
            hlo_ir::Shape::Array(a) => a.clone(),
            other => return Err(self.unsupported_diag(&format!("gives an array, found {other}"))),
        };
        let sizes = self.sizes(0)?;
        let dynamic: Vec<bool> = sizes.iter().map(Option::is_some).collect();
        let found = reshaped_sizes(&from, &dynamic, &to, inferred)
            .map_err(|why| self.unsupported_diag(&format!("fails: {why}")))?;
        let mut result: Sizes = smallvec::smallvec![None; to.rank()];
        let operand =
            self.operands().first().copied().ok_or_else(|| self.unsupported_diag("lacks an operand"))?;
        let mut value = operand;
        for (d, size) in found.into_iter().enumerate() {
            match size {
                ReshapedSize::Bound => {}
                ReshapedSize::Same(a) => result[d] = sizes[a],
                ReshapedSize::Quotient { of, into, by } => {
                    let mut count = self.s32(1)?;
                    for a in of.clone() {
                        let size = self.known_size(sizes[a], from.dims[a])?;
                        count = self.times(count, size)?;
                    }
                    let size = self.divide(count, by)?;
                    let parts = self.s32(by)?;
                    let whole = self.times(size, parts)?;
                    self.check_equal(whole, count);
                    result[d] = Some(size);
                    let slowest = |dims: &[i64], range: Range<usize>| range.clone().find(|&i| dims[i] != 1);
                    let stays = slowest(&to.dims, into.clone()) == Some(d)
                        && of
                            .clone()
                            .all(|a| sizes[a].is_none() || slowest(&from.dims, of.clone()) == Some(a));
                    if !stays {
                        value = self.regroup(
                            value,
                            &Group::new(&from.dims, &sizes, of),
                            &Group::new(&to.dims, &result, into),
                        )?;
                    }
                }
            }
        }
        if value == operand {
            return Ok(self.keep(of_array(result)));
        }
        Ok((self.reshaped(value, &to.dims), of_array(result)))
    }

    /// Pads a `bitcast` between row-major arrays, which is a reshape.
    pub(super) fn bitcast(&mut self) -> Result<Padded> {
        let (from, to) = (self.bounds(0)?, self.result_bounds()?);
        if !from.is_row_major() || !to.is_row_major() || from.element_type != to.element_type {
            return Err(self.unsupported_diag("has no meaning: what is padding is not said"));
        }
        self.reshape(None)
    }

    /// Pads a `dynamic-reshape`. All dimensions of the operand together become all dimensions of the result.
    pub(super) fn dynamic_reshape(&mut self) -> Result<Padded> {
        let (from, to) = (self.bounds(0)?, self.result_bounds()?);
        let shape = self.module[self.at].shape.clone();
        let sizes = self.sizes(0)?;
        let operands = self.operands();
        if operands.len() != to.rank() + 1 {
            return Err(self.unsupported_diag("takes a size for each dimension"));
        }
        let mut result: Sizes = smallvec::smallvec![None; to.rank()];
        let (mut has, mut takes) = (self.s32(1)?, self.s32(1)?);
        for (&size, &bound) in sizes.iter().zip(&from.dims) {
            let size = self.known_size(size, bound)?;
            has = self.times(has, size)?;
        }
        for d in 0..to.rank() {
            let size = self.as_s32(operands[d + 1]);
            let size = self.clamp_checked(size, to.dims[d])?;
            takes = self.times(takes, size)?;
            if shape.as_array().is_some_and(|a| a.is_dynamic_dim(d)) {
                result[d] = Some(size);
            } else {
                let bound = self.s32(to.dims[d])?;
                self.check_equal(size, bound);
            }
        }
        self.check_equal(has, takes);
        let value = if from.dims.contains(&0) || (!Self::any(&sizes) && !Self::any(&result)) {
            operands[0]
        } else {
            let from = Group::new(&from.dims, &sizes, 0..from.rank());
            self.regroup(operands[0], &from, &Group::new(&to.dims, &result, 0..to.rank()))?
        };
        Ok((self.reshaped(value, &to.dims), of_array(result)))
    }

    /// Converts an integer to `s32`.
    fn as_s32(&mut self, value: InstrId) -> InstrId {
        if self.array(value).element_type == ElementType::S32 {
            return value;
        }
        self.add(ArrayShape::new(ElementType::S32, []), Op::Convert, &[value])
    }

    /// Returns the dimensions of a group with their known sizes.
    fn region<'a>(&mut self, group: &Group<'a>) -> Result<Region<'a>> {
        let Group { bounds, sizes, dims } = group;
        let known = dims.clone().map(|d| self.known_size(sizes[d], bounds[d])).collect::<Result<_>>()?;
        Ok(Region { bounds: &bounds[dims.clone()], sizes: known })
    }

    /// Moves the elements of the dimensions `from` to their positions in the dimensions `to`. The shape of the
    /// result is unspecified except for its number of elements.
    fn regroup(&mut self, value: InstrId, from: &Group<'_>, to: &Group<'_>) -> Result<InstrId> {
        let [before, elements, after] = from.counts();
        let (source, target) = (self.region(from)?, self.region(to)?);
        let places = self.places(&source, &target, elements)?;
        let flat = self.reshaped(value, &[before, elements, after]);
        let op = Op::Gather(Box::new(GatherAttrs {
            offset_dims: Dims::from_slice(&[0, 2]),
            collapsed_slice_dims: Dims::from_slice(&[1]),
            start_index_map: Dims::from_slice(&[1]),
            operand_batching_dims: Dims::new(),
            start_indices_batching_dims: Dims::new(),
            index_vector_dim: 1,
            slice_sizes: Dims::from_slice(&[before, 1, after]),
            indices_are_sorted: false,
        }));
        let shape = ArrayShape::new(self.array(value).element_type, [before, elements, after]);
        Ok(self.add(shape, op, &[flat, places]))
    }

    /// Returns, for each position of the padded `target` in row-major order, the position of its element in
    /// the padded `source`. Positions beyond the sizes are arbitrary.
    fn places(&mut self, source: &Region<'_>, target: &Region<'_>, elements: i64) -> Result<InstrId> {
        let dims = target.bounds;
        // The row-major number of the element among the valid ones.
        let mut number = {
            let zero = self.s32(0)?;
            self.splat(zero, dims)
        };
        let mut stride = self.s32(1)?;
        for d in (0..dims.len()).rev() {
            let position = self.iota(ElementType::S32, dims, d);
            let by = self.splat(stride, dims);
            let part = self.both(Op::Multiply, position, by);
            number = self.both(Op::Add, number, part);
            stride = self.times(stride, target.sizes[d])?;
        }
        // Its index in each dimension of the source, fastest first, and from these its position.
        let mut place = None;
        let mut stride = 1i64;
        for d in (0..source.bounds.len()).rev() {
            let index = if d == 0 {
                number
            } else {
                let size = self.at_least(source.sizes[d], 1)?;
                let size = self.splat(size, dims);
                let index = self.both(Op::Remainder, number, size);
                number = self.both(Op::Divide, number, size);
                index
            };
            let by = self.s32(stride)?;
            let by = self.splat(by, dims);
            let part = self.both(Op::Multiply, index, by);
            place = Some(match place {
                Some(sum) => self.both(Op::Add, sum, part),
                None => part,
            });
            stride = stride.saturating_mul(source.bounds[d]);
        }
        // The product of any index and stride must fit in an `s32`. No position exceeds the number of
        // elements.
        self.s32(elements.saturating_mul(2))?;
        let place = place.unwrap_or(number);
        Ok(self.reshaped(place, &[elements]))
    }
}
