//! Helpers that add instructions: size scalars, masks and checks.

use super::{Leaves, Padded, Padder, Result, Size, Sizes, padded_shape};
use crate::support::constants::scalar_integer;
use hlo_ir::attr::ComparisonDirection;
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, ElementType, InstrId, Literal, Op, Shape};

impl Build for Padder<'_> {
    fn add(&mut self, shape: impl Into<Shape>, op: Op, operands: &[InstrId]) -> InstrId {
        Padder::add(self, shape, op, operands)
    }

    fn shape_of(&self, id: InstrId) -> Shape {
        self.shape(id)
    }
}

impl Padder<'_> {
    /// Keeps the instruction, with its operands replaced by their padded values.
    pub(super) fn keep(&mut self, sizes: Leaves) -> Padded {
        let operands = self.operands();
        self.keep_with_operands(&operands, sizes)
    }

    /// Keeps the instruction, with the given operands.
    pub(super) fn keep_with_operands(&mut self, operands: &[InstrId], sizes: Leaves) -> Padded {
        self.module.set_operands(self.at, operands.iter().copied());
        (self.at, sizes)
    }

    /// Adds an instruction next to the current one.
    pub(super) fn add(&mut self, shape: impl Into<Shape>, op: Op, operands: &[InstrId]) -> InstrId {
        self.module.add_like_in(self.computation, self.at, shape, op, operands.iter().copied())
    }

    /// Returns the padded shape of a value.
    pub(super) fn shape(&self, id: InstrId) -> Shape {
        padded_shape(&self.module[id].shape)
    }

    /// Returns the padded array shape of a value, or a scalar's if it is not an array.
    pub(super) fn array(&self, id: InstrId) -> ArrayShape {
        match self.shape(id) {
            Shape::Array(a) => a,
            _ => ArrayShape::new(ElementType::S32, []),
        }
    }

    /// Returns an `s32` constant.
    pub(super) fn s32(&mut self, value: i64) -> Result<InstrId> {
        if let Some(&known) = self.constants.get(&value) {
            return Ok(known);
        }
        let narrow = i32::try_from(value).map_err(|_| {
            self.unsupported_diag(&format!("computes with the size {value}, which does not fit an s32"))
        })?;
        let op = Op::constant(Literal::scalar(ElementType::S32, narrow));
        let id = self.add(Shape::scalar(ElementType::S32), op, &[]);
        self.constants.insert(value, id);
        self.known.insert(id, value);
        Ok(id)
    }

    /// Adds an operation on two `s32` scalars. If both are constants, computes the result immediately.
    fn scalar(&mut self, op: Op, a: InstrId, b: InstrId, f: fn(i64, i64) -> Option<i64>) -> Result<InstrId> {
        if let (Some(&x), Some(&y)) = (self.known.get(&a), self.known.get(&b))
            && let Some(value) = f(x, y)
        {
            return self.s32(value);
        }
        Ok(self.add(Shape::scalar(ElementType::S32), op, &[a, b]))
    }

    pub(super) fn plus(&mut self, a: InstrId, b: InstrId) -> Result<InstrId> {
        self.scalar(Op::Add, a, b, i64::checked_add)
    }

    /// Returns `a + b` for a constant `b`.
    pub(super) fn offset(&mut self, a: InstrId, b: i64) -> Result<InstrId> {
        if b == 0 {
            return Ok(a);
        }
        let b = self.s32(b)?;
        self.plus(a, b)
    }

    pub(super) fn minus(&mut self, a: InstrId, b: InstrId) -> Result<InstrId> {
        self.scalar(Op::Subtract, a, b, i64::checked_sub)
    }

    pub(super) fn times(&mut self, a: InstrId, b: InstrId) -> Result<InstrId> {
        match (self.known.get(&a), self.known.get(&b)) {
            (Some(1), _) => Ok(b),
            (_, Some(1)) => Ok(a),
            _ => self.scalar(Op::Multiply, a, b, i64::checked_mul),
        }
    }

    /// Returns `a / b`, truncated, for a positive constant `b`.
    pub(super) fn divide(&mut self, a: InstrId, b: i64) -> Result<InstrId> {
        if b == 1 {
            return Ok(a);
        }
        let b = self.s32(b)?;
        self.scalar(Op::Divide, a, b, i64::checked_div)
    }

    pub(super) fn minimum(&mut self, a: InstrId, b: InstrId) -> Result<InstrId> {
        if a == b {
            return Ok(a);
        }
        self.scalar(Op::Minimum, a, b, |a, b| Some(a.min(b)))
    }

    pub(super) fn at_least(&mut self, a: InstrId, b: i64) -> Result<InstrId> {
        let b = self.s32(b)?;
        self.scalar(Op::Maximum, a, b, |a, b| Some(a.max(b)))
    }

    /// Returns the size, or the bound as a constant if there is no size.
    pub(super) fn known_size(&mut self, size: Size, bound: i64) -> Result<InstrId> {
        size.map_or_else(|| self.s32(bound), Ok)
    }

    /// Returns the common size of dimensions that an operation pairs, which is the smallest of them. Each
    /// place is an operand and a dimension. Adds checks that all other sizes are equal, or are static
    /// dimensions of full size.
    pub(super) fn paired(&mut self, places: impl IntoIterator<Item = (usize, usize)>) -> Result<Size> {
        let mut smallest: Size = None;
        let mut all = Vec::new();
        let places: Vec<(usize, usize)> = places.into_iter().collect();
        let has_size = |&(o, d): &(usize, usize)| Ok(self.sizes(o)?.get(d).copied().flatten().is_some());
        if !places.iter().map(has_size).collect::<Result<Vec<bool>>>()?.contains(&true) {
            return Ok(None);
        }
        for (operand, d) in places {
            let shape = self.operand_shape(operand)?;
            let bound = shape.as_array().filter(|a| a.is_dynamic_dim(d)).map(|a| a.dims[d]);
            // A dimension that is declared dynamic but has no size of its own has its bound as size. Unlike a
            // static one, it must equal the others.
            let size = match (self.sizes(operand)?.get(d).copied().flatten(), bound) {
                (Some(size), _) => size,
                (None, Some(bound)) => self.s32(bound)?,
                (None, None) => continue,
            };
            let full = shape.as_array().filter(|a| !a.is_dynamic_dim(d)).and_then(|a| a.dims.get(d)).copied();
            all.push((size, full));
            smallest = match smallest {
                Some(least) => Some(self.minimum(least, size)?),
                None => Some(size),
            };
        }
        let Some(least) = smallest else { return Ok(None) };
        for (size, full) in all.into_iter().filter(|&(size, _)| size != least) {
            let mut fits = self.compare(ComparisonDirection::Eq, size, least);
            if let Some(full) = full {
                let full = self.s32(full)?;
                let is_full = self.compare(ComparisonDirection::Eq, size, full);
                fits = self.both(Op::Or, fits, is_full);
            }
            self.checks.push(fits);
        }
        Ok(smallest)
    }

    /// Adds a check that two values are equal.
    pub(super) fn check_equal(&mut self, a: InstrId, b: InstrId) {
        let known = self.known.get(&a).zip(self.known.get(&b));
        if a != b && known.is_none_or(|(a, b)| a != b) {
            let fits = self.compare(ComparisonDirection::Eq, a, b);
            self.checks.push(fits);
        }
    }

    /// Returns the size, clamped to the range from 0 to `bound`. Adds a check that it was in this range.
    pub(super) fn clamp_checked(&mut self, size: InstrId, bound: i64) -> Result<InstrId> {
        let known = scalar_integer(self.module, size).and_then(|n| i64::try_from(n).ok());
        if let Some(known) = known.filter(|n| (0..=bound).contains(n)) {
            return self.s32(known);
        }
        let clamped = self.at_least(size, 0)?;
        let bound = self.s32(bound)?;
        let clamped = self.minimum(clamped, bound)?;
        self.check_equal(size, clamped);
        Ok(clamped)
    }

    /// Returns whether all checks passed.
    pub(super) fn all_fit(&mut self) -> InstrId {
        let checks = std::mem::take(&mut self.checks);
        let all = checks.into_iter().reduce(|a, b| self.both(Op::And, a, b));
        all.unwrap_or_else(|| self.constant_true())
    }

    /// Returns the constant `true`.
    pub(super) fn constant_true(&mut self) -> InstrId {
        let yes = Op::constant(Literal::scalar(ElementType::Pred, 1u8));
        self.add(Shape::scalar(ElementType::Pred), yes, &[])
    }

    /// Broadcasts a scalar.
    pub(super) fn splat(&mut self, scalar: InstrId, dims: &[i64]) -> InstrId {
        if dims.is_empty() {
            return scalar;
        }
        let element_type = self.array(scalar).element_type;
        self.add(ArrayShape::new(element_type, dims.iter().copied()), Op::broadcast([]), &[scalar])
    }

    /// Returns `a OP b` for two arrays of the same shape.
    pub(super) fn both(&mut self, op: Op, a: InstrId, b: InstrId) -> InstrId {
        let shape = ArrayShape { layout: None, ..self.array(a) };
        self.add(shape, op, &[a, b])
    }

    /// Returns a comparison of two arrays of the same shape.
    pub(super) fn compare(&mut self, direction: ComparisonDirection, a: InstrId, b: InstrId) -> InstrId {
        let shape = ArrayShape { layout: None, ..self.array(a).with_element_type(ElementType::Pred) };
        let op = Op::compare(direction);
        self.add(shape, op, &[a, b])
    }

    /// Returns a mask of the elements within the given sizes, or `None` if there are no sizes.
    pub(super) fn inside(&mut self, dims: &[i64], sizes: &[Size]) -> Option<InstrId> {
        let mut all = None;
        for (d, size) in sizes.iter().enumerate() {
            let Some(size) = *size else { continue };
            let position = self.iota(ElementType::S32, dims, d);
            let size = self.splat(size, dims);
            let reached = self.compare(ComparisonDirection::Lt, position, size);
            all = Some(match all {
                Some(a) => self.both(Op::And, a, reached),
                None => reached,
            });
        }
        all
    }

    /// Returns `yes` where the predicate is true, and `no` elsewhere.
    pub(super) fn select(&mut self, predicate: InstrId, yes: InstrId, no: InstrId) -> InstrId {
        let shape = ArrayShape { layout: None, ..self.array(yes) };
        self.add(shape, Op::Select, &[predicate, yes, no])
    }

    /// Replaces the elements beyond the sizes by a scalar.
    pub(super) fn mask(&mut self, value: InstrId, sizes: &[Size], fill: InstrId) -> InstrId {
        let dims = self.array(value).dims;
        match self.inside(&dims, sizes) {
            Some(inside) => {
                let fill = self.splat(fill, &dims);
                self.select(inside, value, fill)
            }
            None => value,
        }
    }

    /// Returns the scalar whose bits are all 0, which is zero in every type.
    pub(super) fn zero(&mut self, element_type: ElementType) -> Result<InstrId> {
        Build::zero(self, element_type).ok_or_else(|| self.unsupported_diag("has no zero"))
    }

    /// Returns an element of a tuple.
    pub(super) fn element(&mut self, tuple: InstrId, index: usize) -> Result<InstrId> {
        Build::element(self, tuple, index).ok_or_else(|| self.unsupported_diag("lacks an element of a tuple"))
    }

    /// Reshapes an array.
    pub(super) fn reshaped(&mut self, value: InstrId, dims: &[i64]) -> InstrId {
        Build::reshaped(self, value, dims).unwrap_or(value)
    }

    /// Checks whether any of the sizes differs from its bound.
    pub(super) fn any(sizes: &Sizes) -> bool {
        sizes.iter().any(Option::is_some)
    }
}
