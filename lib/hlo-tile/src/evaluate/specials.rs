//! Operations that are neither contractions nor elementwise: `gather`, `argsort`, `prng`, … (PlaidML's
//! special functions).

use super::arithmetic::Placed;
use super::{Evaluator, unsuitable};
use crate::error::error;
use crate::rules;
use crate::value::Value;
use hlo_builder::{Computation, ScatterDimensions, Value as Hlo};
use hlo_ir::attr::{ComparisonDirection, GatherAttrs};
use hlo_ir::diag::Diag;
use hlo_ir::{ArrayShape, ElementType, Op, Shape, Span};

impl<'b> Evaluator<'b, '_> {
    /// Evaluates `index(dims, axis)`: the index of each element in a dimension, as `s32`. `dims` may be a
    /// tensor with these dimensions.
    pub(super) fn index(
        &mut self,
        (dims, place): Placed<'b>,
        axis: &Placed<'b>,
        span: Span,
    ) -> Result<Value<'b>, Diag> {
        let sizes = match &dims {
            Value::Tensor(_) | Value::Output(_) => self.array(&dims, place)?.dims.to_vec(),
            _ => self.sizes(dims, place)?,
        };
        let axis = self.axis(axis, sizes.len())?;
        let iota = self.builder.iota(ArrayShape::new(ElementType::S32, sizes), axis as i64);
        self.shape_of(iota, span)?;
        Ok(Value::Tensor(iota))
    }

    /// Evaluates `reshape(x, dims)`: the elements, in row-major order, as a tensor of the given sizes.
    pub(super) fn reshape(
        &mut self,
        (x, at_x): &Placed<'b>,
        (dims, at_dims): Placed<'b>,
        span: Span,
    ) -> Result<Value<'b>, Diag> {
        let tensor = self.tensor(x, *at_x)?;
        let shape = self.shape_of(tensor, *at_x)?;
        let sizes = self.sizes(dims, at_dims)?;
        let count = |sizes: &[i64]| sizes.iter().try_fold(1_i64, |n, &s| n.checked_mul(s));
        if count(&sizes) != count(&shape.dims) {
            let message = format!(
                "{:?} has {} elements, and {sizes:?} has {}",
                shape.dims,
                count(&shape.dims).unwrap_or(i64::MAX),
                count(&sizes).map_or("too many".into(), |n| n.to_string())
            );
            return Err(error(rules::TILE_RESHAPE, span, message, "as many elements are expected"));
        }
        Ok(Value::Tensor(tensor.reshape(&sizes)))
    }

    /// Evaluates `shape(x)`: the sizes, as an `s32` vector.
    pub(super) fn shape(&mut self, (x, span): &Placed<'b>) -> Result<Value<'b>, Diag> {
        let shape = self.array(x, *span)?;
        let mut sizes = Vec::with_capacity(shape.rank());
        for &size in &shape.dims {
            sizes.push(i32::try_from(size).map_err(|_| super::dims::too_large(*span))?);
        }
        Ok(Value::Tensor(self.builder.constant_r1(&sizes)))
    }

    /// Evaluates `gather(x, y, axis)`: the slices of `x` along a dimension at the indices `y`. Indices are
    /// clamped.
    pub(super) fn gather(
        &mut self,
        (x, at_x): &Placed<'b>,
        y: &Placed<'b>,
        axis: Option<Placed<'b>>,
        span: Span,
    ) -> Result<Value<'b>, Diag> {
        let tensor = self.tensor(x, *at_x)?;
        let shape = self.shape_of(tensor, *at_x)?;
        let (indices, positions) = self.indices_of(y)?;
        let axis = match axis {
            Some(axis) => self.axis(&axis, shape.rank())?,
            None => self.axis(&(Value::Integer(0), *at_x), shape.rank())?,
        };
        let rank = shape.rank() - 1 + positions.rank();
        let mut slice_sizes = shape.dims.clone();
        slice_sizes[axis] = 1;
        let window = (0..rank).filter(|d| !(axis..axis + positions.rank()).contains(d));
        let attributes = GatherAttrs {
            offset_dims: window.map(|d| d as i64).collect(),
            collapsed_slice_dims: [axis as i64].into_iter().collect(),
            start_index_map: [axis as i64].into_iter().collect(),
            index_vector_dim: positions.rank() as i64,
            slice_sizes: slice_sizes.iter().copied().collect(),
            ..GatherAttrs::default()
        };
        let result = tensor.gather(indices, &attributes);
        self.shape_of(result, span)?;
        Ok(Value::Tensor(result))
    }

    /// Evaluates `scatter(x, y, z)`: adds the slices of `x` at the indices `y` to zeros in the shape of `z`.
    /// Updates with indices out of bounds are ignored.
    pub(super) fn scatter(
        &mut self,
        (x, at_x): &Placed<'b>,
        y: &Placed<'b>,
        (z, at_z): &Placed<'b>,
        span: Span,
    ) -> Result<Value<'b>, Diag> {
        let updates = self.tensor(x, *at_x)?;
        let shape = self.shape_of(updates, *at_x)?;
        let (indices, positions) = self.indices_of(y)?;
        let like = self.array(z, *at_z)?;
        let slices = shape.dims.get(positions.rank()..).unwrap_or_default();
        let fits = shape.dims.starts_with(&positions.dims) && like.dims.get(1..) == Some(slices);
        if !fits {
            let message = format!(
                "`scatter` puts slices of {:?} at the indices {:?} into {:?}: expected the sizes of the indices, then those of the \
                 target but for its first",
                shape.dims, positions.dims, like.dims
            );
            return Err(error(rules::TILE_BROADCAST, span, message, "")
                .and(*at_x, "the slices")
                .and(y.1, "the indices")
                .and(*at_z, "the target's shape"));
        }
        let zeros = self.builder.zero(shape.element_type).broadcast(&like.dims);
        let dimensions = ScatterDimensions {
            update_window_dims: (positions.rank() as i64..shape.rank() as i64).collect(),
            inserted_window_dims: [0].into_iter().collect(),
            scatter_dims_to_operand_dims: [0].into_iter().collect(),
            index_vector_dim: positions.rank() as i64,
            ..ScatterDimensions::default()
        };
        let add = Computation::scalar(Op::Add, shape.element_type);
        let result = zeros.scatter(indices, updates, &add, &dimensions);
        self.shape_of(result, span)?;
        Ok(Value::Tensor(result))
    }

    /// Evaluates `argsort(x, axis, direction)`: the permutation that sorts `x` along a dimension, ascending,
    /// or descending if the direction is 1. The sort is stable.
    pub(super) fn argsort(
        &mut self,
        (x, at_x): &Placed<'b>,
        axis: Option<Placed<'b>>,
        direction: Option<Placed<'b>>,
        span: Span,
    ) -> Result<Value<'b>, Diag> {
        let tensor = self.tensor(x, *at_x)?;
        let shape = self.shape_of(tensor, *at_x)?;
        let axis = axis.unwrap_or((Value::Integer(-1), *at_x));
        let axis = self.axis(&axis, shape.rank())? as i64;
        let direction = match direction {
            None => ComparisonDirection::Lt,
            Some((value, place)) => match self.size(&value, place)? {
                0 => ComparisonDirection::Lt,
                1 => ComparisonDirection::Gt,
                other => {
                    let message = format!(
                        "the direction of `argsort` is 0 (ascending) or 1 (descending), found {other}"
                    );
                    return Err(error(rules::TILE_OPERAND, place, message, "not a direction"));
                }
            },
        };
        let positions = self.builder.iota(ArrayShape::new(ElementType::S32, shape.dims.clone()), axis);
        let comparator = Computation::comparator(&[shape.element_type, ElementType::S32], direction);
        let sorted = self.builder.sort(&[tensor, positions], &comparator, axis, true);
        let result = sorted.get_tuple_element(1);
        self.shape_of(result, span)?;
        Ok(Value::Tensor(result))
    }

    /// Evaluates `prng(state, dims)`: random numbers from 0 up to 1 of the Tausworthe generator taus88, in
    /// row-major order, and the next state. The state is `u32[1,3]` or `u32[3]`.
    pub(super) fn prng(
        &mut self,
        (state, at_state): &Placed<'b>,
        (dims, at_dims): Placed<'b>,
        span: Span,
    ) -> Result<Value<'b>, Diag> {
        let state = self.tensor(state, *at_state)?;
        let shape = self.shape_of(state, *at_state)?;
        if shape.element_type != ElementType::U32 || shape.dims.iter().product::<i64>() != 3 {
            let message = format!("the state of `prng` is u32[1,3], found {shape}");
            return Err(error(rules::TILE_TYPE, *at_state, message, "not a state"));
        }
        let sizes = self.sizes(dims, at_dims)?;
        let count = sizes.iter().try_fold(1_i64, |n, &s| n.checked_mul(s));
        let count = count.ok_or_else(|| super::dims::too_large(at_dims))?;
        let word = Shape::scalar(ElementType::U32);
        let step = Computation::of("taus88", &[word.clone(), word.clone(), word.clone(), word], |b, p| {
            let next = [taus(p[1], 1, 12, 13, 19), taus(p[2], 7, 4, 2, 25), taus(p[3], 15, 17, 3, 11)];
            let bits = p[1] ^ p[2] ^ p[3];
            let number = bits.convert(ElementType::F32) * b.constant_r0(2f32.powi(-32));
            b.tuple(&[number, next[0], next[1], next[2]])
        });
        let words = state.reshape(&[3]);
        let carries: Vec<Hlo<'b>> = (0..3).map(|n| words.slice(&[n], &[n + 1], &[1]).reshape(&[])).collect();
        let steps = self.builder.iota_r1(ElementType::U32, count);
        let scanned = self.builder.scan(&[steps], &carries, &step, 0, false, false);
        let numbers = scanned.get_tuple_element(0).reshape(&sizes);
        let last: Vec<Hlo<'b>> = (1..4).map(|n| scanned.get_tuple_element(n).reshape(&[1])).collect();
        let next = self.builder.concat_in_dim(&last, 0).reshape(&shape.dims);
        self.shape_of(numbers, span)?;
        self.shape_of(next, span)?;
        Ok(Value::Sequence(vec![Value::Tensor(numbers), Value::Tensor(next)]))
    }

    /// Evaluates `trace(x, message)`: returns the tensor, and prints it when the program runs.
    pub(super) fn trace(&mut self, (x, at_x): &Placed<'b>, message: &Placed<'b>) -> Result<Value<'b>, Diag> {
        let tensor = self.tensor(x, *at_x)?;
        let Value::Text(text) = &message.0 else {
            return Err(unsuitable(message.1, "a text", &message.0));
        };
        self.builder.trace(text, tensor);
        Ok(Value::Tensor(tensor))
    }

    /// Converts a list to sizes, which must not be negative.
    fn sizes(&mut self, dims: Value<'b>, span: Span) -> Result<Vec<i64>, Diag> {
        let list = match dims {
            Value::Sequence(list) => list,
            Value::ShapeOf(sizes) => return Ok(sizes),
            one => vec![one],
        };
        let mut sizes = Vec::with_capacity(list.len());
        for value in &list {
            let size = self.size(value, span)?;
            if size < 0 {
                let message = format!("a size is {size}, sizes are not negative");
                return Err(error(rules::TILE_SIZE, span, message, "not a size"));
            }
            sizes.push(size);
        }
        Ok(sizes)
    }

    /// Returns a dimension of a tensor of the given rank. Negative dimensions count from the last.
    fn axis(&mut self, (value, span): &Placed<'b>, rank: usize) -> Result<usize, Diag> {
        let axis = self.size(value, *span)?;
        let counted = if axis < 0 { axis.saturating_add_unsigned(rank as u64) } else { axis };
        usize::try_from(counted).ok().filter(|&a| a < rank).ok_or_else(|| {
            let message = format!("axis {axis} of a tensor of {rank} dimensions");
            error(rules::TILE_OPERAND, *span, message, "there is no such dimension")
        })
    }

    /// Returns a tensor of integer indices and its shape.
    fn indices_of(&mut self, (y, span): &Placed<'b>) -> Result<(Hlo<'b>, ArrayShape), Diag> {
        let indices = self.tensor(y, *span)?;
        let shape = self.shape_of(indices, *span)?;
        if !shape.element_type.is_integer() {
            let message = format!("indices are whole numbers, found {shape}");
            return Err(error(rules::TILE_TYPE, *span, message, "not whole numbers")
                .note("`cast(Y, DType.INT32)` converts"));
        }
        Ok((indices, shape))
    }
}

/// Computes a step of one word of taus88: `((s & !mask) << a) ^ (((s << b) ^ s) >> c)`.
fn taus(s: Hlo<'_>, mask: u32, a: u32, b: u32, c: u32) -> Hlo<'_> {
    let high = (s & !mask) << a;
    high ^ ((s << b) ^ s).shift_right_logical(c)
}
