//! Rewrites sums of arrays with factors as products with the factors.
//!
//! ```text
//! a = s32[6] multiply(x, twos)       all = s32[3,6] concatenate(x', y', z')
//! b = s32[6] subtract(a, y)      →   weights = s32[3] constant({2, -1, 1})
//! r = s32[6] add(b, z)               r = s32[6] dot(all, weights), lhs_contracting_dims={0}, rhs_contracting_dims={0}
//! ```

use super::{Recognizer, part_of, static_array};
use hlo_ir::attr::{DimensionAttrs, DotAttrs};
use hlo_ir::{AlignedBytes, ArrayShape, Dims, ElementType, InstrId, Literal, Module, Op, Shape};
use hlo_passes::support::constants::{Number, float_bytes, wide_integer_bytes};
use hlo_passes::support::effects::is_replaceable;
use hlo_passes::support::range::wrapped;

/// Maximum number of terms of a sum.
const MAX_TERMS: usize = 64;

/// One term of a sum.
struct Term {
    value: InstrId,
    weight: Number,
    /// An array with which the value is multiplied.
    factor: Option<InstrId>,
}

/// Emits the product that replaces a sum. If `arrays` is true, factors may be arrays.
pub(super) fn product(
    recognizer: &Recognizer,
    module: &mut Module,
    id: InstrId,
    arrays: bool,
) -> Option<InstrId> {
    let array = static_array(module, id)?.clone();
    let ty = array.element_type;
    let numbers = ty.is_integer() || matches!(ty, ElementType::F32 | ElementType::F64);
    let is_sum = matches!(module[id].op, Op::Add | Op::Subtract);
    if !(numbers && is_sum && is_plain(&array) && is_replaceable(module, &recognizer.pinned, id)) {
        return None;
    }
    let terms = merged(ty, Sum { recognizer, module, ty, arrays }.terms(id)?)?;
    let plain =
        |t: &Term| t.factor.iter().chain([&t.value]).all(|&i| static_array(module, i).is_some_and(is_plain));
    if !is_worth_it(module, &terms) || !terms.iter().all(plain) {
        return None;
    }
    ProductEmitter { module, id, array: &array }.product(&terms)
}

/// Returns whether the array is row-major, without further layout attributes.
fn is_plain(array: &ArrayShape) -> bool {
    array.is_row_major() && array.layout_items().is_none()
}

/// Combines terms of the same array, which is exact only for integers, because they wrap around.
fn merged(ty: ElementType, terms: Vec<Term>) -> Option<Vec<Term>> {
    if !ty.is_integer() {
        return Some(terms);
    }
    let mut out: Vec<Term> = Vec::new();
    for term in terms {
        match out.iter_mut().find(|t| (t.value, t.factor) == (term.value, term.factor)) {
            Some(same) => match (same.weight, term.weight) {
                (Number::Integer(a), Number::Integer(b)) => {
                    same.weight = Number::Integer(wrapped(ty, a.wrapping_add(b))?);
                }
                _ => return None,
            },
            None => out.push(term),
        }
    }
    out.retain(|t| t.weight != Number::Integer(0));
    Some(out)
}

/// Returns whether a sum contains several arrays, and is more than the sum or difference of two arrays that
/// are not parts of one.
fn is_worth_it(module: &Module, terms: &[Term]) -> bool {
    let is_data = |t: &&Term| match module[t.value].op {
        Op::Broadcast(_) => module[t.value].operands.first().is_none_or(|&o| !module[o].shape.is_scalar()),
        Op::Iota(_) => false,
        _ => true,
    };
    if terms.iter().filter(is_data).count() < 2 {
        return false;
    }
    let part = |t: &Term| part_of(module, t.value).map(|p| (p.source, p.padding));
    let of_one =
        terms.first().and_then(part).is_some_and(|first| terms.iter().all(|t| part(t) == Some(first)));
    let unit = |t: &Term| matches!(t.weight, Number::Integer(1 | -1)) || is_unit_float(t.weight);
    terms.len() > 2 || of_one || terms.iter().any(|t| t.factor.is_some() || !unit(t))
}

fn is_unit_float(weight: Number) -> bool {
    matches!(weight, Number::Float(w) if w.abs() == 1.0)
}

/// A sum that is being decomposed.
struct Sum<'a> {
    recognizer: &'a Recognizer,
    module: &'a Module,
    ty: ElementType,
    arrays: bool,
}

impl Sum<'_> {
    /// Returns the terms of a sum, including those of inner sums without other users. Returns `None` if there
    /// are too many.
    fn terms(&self, id: InstrId) -> Option<Vec<Term>> {
        let one = if self.ty.is_integer() { Number::Integer(1) } else { Number::Float(1.0) };
        let mut out = Vec::new();
        // The values still to decompose, each with its user and weight. The next one is last.
        let mut work = self.operands(id, one)?;
        while let Some((value, user, weight)) = work.pop() {
            if out.len() + work.len() > MAX_TERMS {
                return None;
            }
            let is_inner = self.recognizer.is_only_of(self.module, value, user);
            match self.module[value].op {
                Op::Add | Op::Subtract if is_inner => work.extend(self.operands(value, weight)?),
                Op::Multiply if is_inner => {
                    let &[a, b] = &self.module[value].operands[..] else { return None };
                    match (self.factor(b, a), self.factor(a, b)) {
                        (Some((of, factor)), _) | (None, Some((of, factor))) => {
                            let weight = self.times(weight, factor)?;
                            if self.ty.is_integer() {
                                work.push((of, value, weight))
                            } else {
                                // Decomposing an inner sum, or applying another factor, would change the
                                // rounding.
                                out.push(Term { value: of, weight, factor: None })
                            }
                        }
                        _ if self.arrays => out.push(Term { value: a, weight, factor: Some(b) }),
                        _ => out.push(Term { value, weight, factor: None }),
                    }
                }
                _ => out.push(Term { value, weight, factor: None }),
            }
        }
        Some(out)
    }

    /// Returns the operands of a sum or difference with their weights. The first operand is last.
    fn operands(&self, id: InstrId, weight: Number) -> Option<Vec<(InstrId, InstrId, Number)>> {
        let &[a, b] = &self.module[id].operands[..] else { return None };
        let second = match (&self.module[id].op, weight) {
            (Op::Subtract, Number::Integer(w)) => Number::Integer(wrapped(self.ty, w.wrapping_neg())?),
            (Op::Subtract, Number::Float(w)) => Number::Float(-w),
            _ => weight,
        };
        Some(vec![(b, id, second), (a, id, weight)])
    }

    /// Returns `value`, and the number that all elements of `factor` equal.
    fn factor(&self, factor: InstrId, value: InstrId) -> Option<(InstrId, Number)> {
        Some((value, Number::splat(self.module, factor)?))
    }

    /// Returns the product of two weights. For floating-point numbers, the first one is 1 or -1.
    fn times(&self, a: Number, b: Number) -> Option<Number> {
        match (a, b) {
            (Number::Integer(a), Number::Integer(b)) => {
                Some(Number::Integer(wrapped(self.ty, a.wrapping_mul(b))?))
            }
            (Number::Float(a), Number::Float(b)) => Some(Number::Float(a * b)),
            _ => None,
        }
    }
}

/// Emits the product that replaces the sum `id`.
struct ProductEmitter<'m, 'a> {
    module: &'m mut Module,
    id: InstrId,
    array: &'a ArrayShape,
}

impl ProductEmitter<'_, '_> {
    fn product(mut self, terms: &[Term]) -> Option<InstrId> {
        let weights: Option<Vec<Literal>> = terms.iter().map(|t| self.literal(&[t.weight])).collect();
        let weights = weights?;
        let values: Vec<InstrId> = terms.iter().map(|t| t.value).collect();
        let values = self.stacked(&values)?;
        let first = || Dims::from_slice(&[0]);
        let mut attrs =
            DotAttrs { lhs_contracting_dims: first(), rhs_contracting_dims: first(), ..DotAttrs::default() };
        let factors = if terms.iter().any(|t| t.factor.is_some()) {
            let all: Dims = (1..=self.array.rank() as i64).collect();
            (attrs.lhs_batch_dims, attrs.rhs_batch_dims) = (all.clone(), all);
            let mut factors = Vec::with_capacity(terms.len());
            for (term, weight) in terms.iter().zip(weights) {
                factors.push(self.factor(term, weight));
            }
            self.stacked(&factors)?
        } else {
            let weights: Vec<Number> = terms.iter().map(|t| t.weight).collect();
            let literal = self.literal(&weights)?;
            self.add(literal.shape().clone(), Op::constant(literal), &[])
        };
        Some(self.add(self.array.clone().into(), Op::Dot(Box::new(attrs)), &[values, factors]))
    }

    /// Returns the array with which a term's value is multiplied.
    fn factor(&mut self, term: &Term, weight: Literal) -> InstrId {
        let is_one = term.weight == Number::Integer(1) || term.weight == Number::Float(1.0);
        let shape = Shape::from(self.array.clone());
        match term.factor {
            Some(factor) if is_one => factor,
            factor => {
                let number = Shape::scalar(self.array.element_type);
                let number = self.add(number, Op::constant(weight), &[]);
                let weights = self.add(shape.clone(), Op::broadcast([]), &[number]);
                match factor {
                    Some(factor) => self.add(shape, Op::Multiply, &[factor, weights]),
                    None => weights,
                }
            }
        }
    }

    /// Stacks arrays with the sum's shape along a new first dimension.
    fn stacked(&mut self, arrays: &[InstrId]) -> Option<InstrId> {
        let ty = self.array.element_type;
        let shape = |count: i64| Shape::array(ty, [count].into_iter().chain(self.array.dims.iter().copied()));
        let (one, all) = (shape(1), shape(i64::try_from(arrays.len()).ok()?));
        let rows: Vec<InstrId> = arrays.iter().map(|&a| self.add(one.clone(), Op::reshape(), &[a])).collect();
        let attrs = DimensionAttrs { dimensions: Dims::from_slice(&[0]) };
        Some(self.add(all, Op::Concatenate(attrs), &rows))
    }

    /// Returns a scalar for one number, and a list for several.
    fn literal(&self, numbers: &[Number]) -> Option<Literal> {
        let ty = self.array.element_type;
        let mut bytes = Vec::new();
        for number in numbers {
            bytes.extend(match *number {
                Number::Integer(value) => wide_integer_bytes(ty, value)?,
                Number::Float(value) => float_bytes(ty, value)?,
            });
        }
        let shape = match numbers.len() {
            1 => Shape::scalar(ty),
            n => Shape::array(ty, [i64::try_from(n).ok()?]),
        };
        Some(Literal::from_bytes(shape, AlignedBytes::from_slice(&bytes)))
    }

    fn add(&mut self, shape: Shape, op: Op, operands: &[InstrId]) -> InstrId {
        self.module.add_like(self.id, shape, op, operands.iter().copied())
    }
}
