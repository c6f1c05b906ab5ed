//! Placement of values in the output: reversal, gaps, and elements that are not written.

use super::form::{Expression, Form, Term};
use super::labeled::{Label, Labeled};
use super::values::Values;
use crate::support::expander::Emitter;
use hlo_ir::attr::PaddingDim;
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, ElementType, InstrId, Op};

/// Returns the output with the values in place. Other elements are 0 or those of the default.
pub(super) fn placed(
    e: &mut Emitter<'_>,
    form: &Form,
    values: &Values,
    default: Option<InstrId>,
) -> Option<InstrId> {
    let places = Places::of(form)?;
    let ty = e.array(values.array.value)?.element_type;
    let mut value = places.arrange(e, form, &values.array)?;
    let mut written = match values.written {
        Some(written) => {
            let written = Labeled { value: written, labels: values.array.labels.clone() };
            Some(places.arrange(e, form, &written)?)
        }
        None => None,
    };
    match default {
        None => {
            if let Some(written) = written {
                let shape = e.array(value)?;
                let zero = e.zero(ty)?;
                let zero = e.broadcast(zero, &shape, &[]);
                value = e.add(shape, Op::Select, &[written, value, zero]);
            }
            places.padded(e, form, value)
        }
        Some(_) if written.is_none() && places.is_whole() => Some(value),
        Some(default) if written.is_none() && places.padding.iter().all(|p| p.interior == 0) => {
            let starts = places.padding.iter().map(|p| e.scalar(ElementType::S64, &p.low.to_le_bytes()));
            let starts = starts.collect::<Vec<_>>().into_iter().collect::<Option<Vec<_>>>()?;
            Some(e.updated(default, &starts, value))
        }
        Some(default) => {
            let truth = e.scalar(ElementType::Pred, &[1])?;
            let shape = e.array(value)?.with_element_type(ElementType::Pred);
            let all = written.take().unwrap_or_else(|| e.broadcast(truth, &shape, &[]));
            let all = places.padded(e, form, all)?;
            let value = places.padded(e, form, value)?;
            let shape = e.array(value)?;
            Some(e.add(shape, Op::Select, &[all, value, default]))
        }
    }
}

/// The mapping from the values to the output's dimensions, and the padding around them.
struct Places {
    /// The index of each dimension of the output, or `None` if the dimension has a single position.
    indices: Vec<Option<usize>>,
    /// The dimensions that are reversed.
    reversed: Vec<i64>,
    padding: Vec<PaddingDim>,
    /// The sizes of the values, before padding.
    sizes: Vec<i64>,
    /// The low index of each dimension that two indices make up as digits. `indices` contains the high one.
    lower: Vec<Option<usize>>,
}

impl Places {
    fn of(form: &Form) -> Option<Self> {
        let mut places = Self {
            indices: Vec::new(),
            reversed: Vec::new(),
            padding: Vec::new(),
            sizes: Vec::new(),
            lower: Vec::new(),
        };
        let mut seen = Vec::new();
        for (d, (expression, &size)) in form.output.iter().zip(&form.sizes).enumerate() {
            if expression.terms().any(|t| seen.contains(&t.index)) {
                return None;
            }
            seen.extend(expression.terms().map(|t| t.index));
            places.dimension(form, *expression, size, d as i64)?;
        }
        Some(places)
    }

    fn dimension(&mut self, form: &Form, expression: Expression, size: i64, d: i64) -> Option<()> {
        let (first, last) = form.extremes(expression);
        let (first, last) = (i64::try_from(first).ok()?, i64::try_from(last).ok()?);
        let inside = first >= 0 && last < size;
        if !inside {
            return None;
        }
        let mut padding = PaddingDim { low: first, high: size - 1 - last, interior: 0 };
        let (index, lower, count) = match expression {
            Expression::Constant(_) => (None, None, 1),
            Expression::One(Term { index, scale }, _) => {
                let count = form.count(index);
                if count > 1 {
                    padding.interior = scale.checked_abs()?.checked_sub(1)?;
                    if scale < 0 {
                        self.reversed.push(d);
                    }
                }
                (Some(index), None, count)
            }
            Expression::Two(..) => {
                let (high, low, _) = form.digits(expression, size)?;
                (Some(high), Some(low), form.count(high).checked_mul(form.count(low))?)
            }
        };
        self.indices.push(index);
        self.lower.push(lower);
        self.padding.push(padding);
        self.sizes.push(count);
        Some(())
    }

    /// Checks whether the values fill the whole output.
    fn is_whole(&self) -> bool {
        self.padding.iter().all(|p| p.low == 0 && p.high == 0 && p.interior == 0)
    }

    /// Arranges the values along the output's dimensions.
    fn arrange(&self, e: &mut Emitter<'_>, form: &Form, array: &Labeled) -> Option<InstrId> {
        let pairs = self.indices.iter().zip(&self.lower);
        let indices: Vec<usize> = pairs.flat_map(|(&i, &l)| [i, l]).flatten().collect();
        let known = array.labels.iter().all(|l| matches!(l, Label::Index(i) if indices.contains(i)));
        if !known {
            return None;
        }
        let value = array.spread(e, form, &indices)?;
        let value = e.reshaped(value, &self.sizes)?;
        Some(match self.reversed.as_slice() {
            [] => value,
            some => e.same(Op::reverse(some.iter().copied()), &[value]),
        })
    }

    /// Pads an array of the values' sizes with zeros to the output's sizes.
    fn padded(&self, e: &mut Emitter<'_>, form: &Form, value: InstrId) -> Option<InstrId> {
        if self.is_whole() {
            return Some(value);
        }
        let ty = e.array(value)?.element_type;
        let zero = e.zero(ty)?;
        let shape = ArrayShape::new(ty, form.sizes.iter().copied());
        Some(e.add(shape, Op::pad(self.padding.clone()), &[value, zero]))
    }
}
