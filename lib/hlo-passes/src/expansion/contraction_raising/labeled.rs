//! Arrays whose dimensions are labeled with indices of a contraction.

use super::form::{Expression, Form, Term};
use crate::support::expander::Emitter;
use hlo_ir::attr::{GatherAttrs, SliceDim};
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, Dims, ElementType, InstrId, Op};

/// The label of a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Label {
    /// The values of an index, starting at its minimum.
    Index(usize),
    /// Positions of windows: the sum of an index of the output, an index that is reduced over, and a
    /// constant. The label covers the operand's whole dimension.
    Window(Term, Term, i64),
}

/// An array and the label of each of its dimensions.
#[derive(Clone, Debug)]
pub(super) struct Labeled {
    pub(super) value: InstrId,
    pub(super) labels: Vec<Label>,
}

impl Labeled {
    /// Returns the dimension that is labeled with an index.
    pub(super) fn position(&self, index: usize) -> Option<usize> {
        self.labels.iter().position(|l| *l == Label::Index(index))
    }

    /// Returns the indices that label a dimension.
    pub(super) fn indices(&self) -> Vec<usize> {
        let index = |l: &Label| match l {
            Label::Index(i) => Some(*i),
            Label::Window(..) => None,
        };
        self.labels.iter().filter_map(index).collect()
    }

    /// Returns the array with the given dimensions first, in that order, followed by the others.
    pub(super) fn with_first(&self, e: &mut Emitter<'_>, first: &[usize]) -> Option<Self> {
        let rest = (0..self.labels.len()).filter(|d| !first.contains(d));
        let order: Vec<usize> = first.iter().copied().chain(rest).collect();
        let value = e.transposed(self.value, &order)?;
        Some(Self { value, labels: order.iter().map(|&d| self.labels[d]).collect() })
    }

    /// Returns the array with its dimensions in the order of the given indices, each of which must label a
    /// dimension.
    pub(super) fn in_order(&self, e: &mut Emitter<'_>, indices: &[usize]) -> Option<Self> {
        let order = indices.iter().map(|&i| self.position(i)).collect::<Option<Vec<_>>>()?;
        self.with_first(e, &order)
    }

    /// Reduces the array over some of its indices. `init` is the identity of the operation `op`.
    pub(super) fn reduced(
        &self,
        e: &mut Emitter<'_>,
        over: &[usize],
        op: &Op,
        init: InstrId,
    ) -> Option<Self> {
        if over.is_empty() {
            return Some(self.clone());
        }
        let shape = e.array(self.value)?;
        let dimensions: Vec<usize> = over.iter().filter_map(|&i| self.position(i)).collect();
        let kept: Vec<usize> = (0..shape.rank()).filter(|d| !dimensions.contains(d)).collect();
        let result = ArrayShape::new(shape.element_type, kept.iter().map(|&d| shape.dims[d]));
        let to_apply = e.combiner(op, shape.element_type);
        let op = Op::reduce(dimensions.iter().map(|&d| d as i64), to_apply);
        let value = e.add(result, op, &[self.value, init]);
        Some(Self { value, labels: kept.into_iter().map(|d| self.labels[d]).collect() })
    }

    /// Broadcasts the array along the indices that it lacks. The result has its dimensions in the order of
    /// `indices`, which must include all indices of the array.
    pub(super) fn spread(&self, e: &mut Emitter<'_>, form: &Form, indices: &[usize]) -> Option<InstrId> {
        let own: Vec<usize> = indices.iter().copied().filter(|&i| self.position(i).is_some()).collect();
        let ordered = self.in_order(e, &own)?;
        if own.len() == indices.len() {
            return Some(ordered.value);
        }
        let element_type = e.array(self.value)?.element_type;
        let sizes = ArrayShape::new(element_type, indices.iter().map(|&i| form.count(i)));
        let along = |i: &usize| indices.iter().position(|j| j == i).map(|d| d as i64);
        let dimensions = own.iter().map(along).collect::<Option<Vec<_>>>()?;
        Some(e.broadcast(ordered.value, &sizes, &dimensions))
    }
}

/// Returns an operand with the indices of its access as dimensions, without the elements that no valid index
/// reads.
pub(super) fn read(e: &mut Emitter<'_>, form: &Form, operand: usize, value: InstrId) -> Option<Labeled> {
    let access = &form.operands[operand];
    let mut cut = Cut { ranges: Vec::new(), reversed: Vec::new(), sizes: Vec::new(), labels: Vec::new() };
    for (expression, &size) in access.iter().zip(&form.operand_sizes[operand]) {
        cut.dimension(form, *expression, size)?;
    }
    let value = cut.apply(e, value)?;
    let mut labeled = Labeled { value, labels: cut.labels };
    while let Some((a, b)) = repeated(&labeled.labels) {
        labeled = diagonal(e, &labeled, a, b)?;
    }
    Some(labeled)
}

/// The slices, reversals and splits of an operand's dimensions.
struct Cut {
    ranges: Vec<SliceDim>,
    reversed: Vec<i64>,
    sizes: Vec<i64>,
    labels: Vec<Label>,
}

impl Cut {
    fn dimension(&mut self, form: &Form, expression: Expression, size: i64) -> Option<()> {
        let number = self.ranges.len() as i64;
        match expression {
            Expression::Constant(at) => {
                self.ranges.push(SliceDim { start: at, limit: at.checked_add(1)?, stride: 1 });
            }
            Expression::One(Term { index, scale }, _) => {
                let (first, last) = form.extremes(expression);
                let (start, limit) = (i64::try_from(first).ok()?, i64::try_from(last).ok()?.checked_add(1)?);
                // With one element, the stride has no effect, and it may be too large.
                let stride = if form.count(index) == 1 { 1 } else { scale.checked_abs()? };
                self.ranges.push(SliceDim { start, limit, stride });
                if scale < 0 && form.count(index) > 1 {
                    self.reversed.push(number);
                }
                self.sizes.push(form.count(index));
                self.labels.push(Label::Index(index));
            }
            Expression::Two(a, b, offset) => match Self::digits(form, a, b, expression, size) {
                Some((high, low, start)) => {
                    let sizes = [form.count(high), form.count(low)];
                    let limit = sizes[0].checked_mul(sizes[1])?.checked_add(start)?;
                    self.ranges.push(SliceDim { start, limit, stride: 1 });
                    self.sizes.extend(sizes);
                    self.labels.extend([Label::Index(high), Label::Index(low)]);
                }
                None => {
                    let (outer, inner) = match (form.is_output(a.index), form.is_output(b.index)) {
                        (true, false) => (a, b),
                        (false, true) => (b, a),
                        _ => return None,
                    };
                    self.ranges.push(SliceDim { start: 0, limit: size, stride: 1 });
                    self.sizes.push(size);
                    self.labels.push(Label::Window(outer, inner, offset));
                }
            },
        }
        Some(())
    }

    /// Returns the indices whose digits make up the expression. Either both are indices of the output, or
    /// both are reduced over. Otherwise the expression describes a window, which is handled separately.
    fn digits(
        form: &Form,
        a: Term,
        b: Term,
        expression: Expression,
        size: i64,
    ) -> Option<(usize, usize, i64)> {
        let alike = form.is_output(a.index) == form.is_output(b.index);
        form.digits(expression, size).filter(|_| alike)
    }

    fn apply(&self, e: &mut Emitter<'_>, value: InstrId) -> Option<InstrId> {
        let shape = e.array(value)?;
        let whole =
            self.ranges.iter().zip(&shape.dims).all(|(r, &n)| (r.start, r.limit, r.stride) == (0, n, 1));
        let mut value = value;
        if !whole {
            let count = |r: &SliceDim| (r.limit - r.start + r.stride - 1) / r.stride;
            let sizes: Vec<i64> = self.ranges.iter().map(count).collect();
            value =
                e.add(ArrayShape::new(shape.element_type, sizes), Op::slice(self.ranges.clone()), &[value]);
        }
        if !self.reversed.is_empty() {
            value = e.same(Op::reverse(self.reversed.iter().copied()), &[value]);
        }
        e.reshaped(value, &self.sizes)
    }
}

/// Returns two dimensions with the same label.
fn repeated(labels: &[Label]) -> Option<(usize, usize)> {
    let again = |(b, label): (usize, &Label)| labels[..b].iter().position(|l| l == label).map(|a| (a, b));
    labels.iter().enumerate().find_map(again)
}

/// Takes the diagonal of two dimensions of equal size. One dimension, placed first, replaces both.
fn diagonal(e: &mut Emitter<'_>, array: &Labeled, a: usize, b: usize) -> Option<Labeled> {
    let shape = e.array(array.value)?;
    let size = shape.dims[a];
    // Each index twice.
    let count = e.iota(ElementType::S64, &[size], 0);
    let pairs = e.broadcast(count, &ArrayShape::new(ElementType::S64, [size, 2]), &[0]);
    let kept: Vec<usize> = (0..shape.rank()).filter(|&d| d != a && d != b).collect();
    let both: Dims = [a as i64, b as i64].into_iter().collect();
    let attributes = GatherAttrs {
        offset_dims: (1..=kept.len() as i64).collect(),
        collapsed_slice_dims: both.clone(),
        start_index_map: both,
        index_vector_dim: 1,
        slice_sizes: (0..shape.rank()).map(|d| if d == a || d == b { 1 } else { shape.dims[d] }).collect(),
        ..GatherAttrs::default()
    };
    let sizes = std::iter::once(size).chain(kept.iter().map(|&d| shape.dims[d]));
    let result = ArrayShape::new(shape.element_type, sizes);
    let value = e.add(result, Op::Gather(Box::new(attributes)), &[array.value, pairs]);
    let labels = std::iter::once(array.labels[a]).chain(kept.into_iter().map(|d| array.labels[d]));
    Some(Labeled { value, labels: labels.collect() })
}
