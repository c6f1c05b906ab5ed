//! The state of code generation for a contraction, and the code of its parts: values, positions, bounds.

use crate::builder::{Binary, Builder, V};
use crate::elem::{self, Elem};
use hlo_ir::contraction::{Affine, Interval, Nest, Quotient};
use hlo_kernel::contraction::{ContractionPlan, Loops};
use hlo_plan::Refusal;

/// The source of an operand's elements.
pub(super) enum Source<'c> {
    Buffer(V<'c>),
    /// A constant without a buffer.
    Scalar(Elem<'c>),
}

/// Stack memory for aggregation. LLVM keeps it in registers if there is one element, or if a strip is one
/// vector.
pub(super) struct Accumulators<'c> {
    /// One array for each of [`ContractionPlan::parts`].
    pub(super) values: Vec<V<'c>>,
    /// The accumulators of a block of a long sum.
    pub(super) block: Option<V<'c>>,
    /// Whether there is any value.
    pub(super) any: V<'c>,
}

/// The memory that the values of a block are aggregated in.
pub(super) struct BlockAccumulators<'c> {
    pub(super) values: Vec<V<'c>>,
    /// Whether each element has a value, if this is not known statically.
    pub(super) any: Option<V<'c>>,
}

/// Writes the code of a contraction.
pub(super) struct Writer<'p, 'a, 'c> {
    pub(super) b: &'p Builder<'c>,
    pub(super) plan: &'p ContractionPlan<'a>,
    pub(super) loops: &'p Loops,
    pub(super) sources: Vec<Source<'c>>,
    pub(super) result: V<'c>,
    /// The accumulators of single elements, or `None` if no element has several values.
    pub(super) single: Option<Accumulators<'c>>,
    pub(super) strip: Option<Accumulators<'c>>,
    /// The accumulators of a block of elements.
    pub(super) block: Option<BlockAccumulators<'c>>,
}

/// The outcome of emitting code.
pub(super) type Done = Result<(), Refusal>;

/// Values.
impl<'c> Writer<'_, '_, 'c> {
    /// Loads the parts of an element's value.
    pub(super) fn parts_at(&self, values: &[V<'c>], lane: V<'c>) -> Vec<Elem<'c>> {
        let parts = self.plan.parts();
        parts.into_iter().zip(values).map(|(part, &from)| elem::load(self.b, part, from, lane)).collect()
    }

    /// Stores the parts of an element's value.
    pub(super) fn set(&self, to: &[V<'c>], lane: V<'c>, parts: Vec<Elem<'c>>) {
        for ((part, &to), value) in self.plan.parts().into_iter().zip(to).zip(parts) {
            elem::store(self.b, part, to, lane, value);
        }
    }

    /// Computes the value from the operands' elements. With `lane`, the value is that of the result element
    /// `lane` elements after the positions.
    pub(super) fn value(&self, positions: &[V<'c>], lane: Option<V<'c>>) -> Result<Elem<'c>, Refusal> {
        let b = self.b;
        let mut elements = Vec::with_capacity(positions.len());
        for (n, (source, &position)) in self.sources.iter().zip(positions).enumerate() {
            elements.push(match source {
                Source::Scalar(element) => *element,
                Source::Buffer(buffer) => {
                    let position = match (lane, self.step(&self.loops.operands[n], &self.loops.nest)) {
                        (Some(lane), 1) => b.index_add(position, lane),
                        (Some(lane), -1) => b.index_sub(position, lane),
                        _ => position,
                    };
                    elem::load(b, self.plan.types[n], *buffer, position)
                }
            });
        }
        self.combined(&elements)
    }

    /// Rounds and stores an element of the result.
    pub(super) fn store(&self, at: V<'c>, value: Elem<'c>) {
        let ty = self.plan.element_type;
        let rounded = match value {
            Elem::One(v) => Elem::One(elem::round_to(self.b, ty, v)),
            complex => complex,
        };
        elem::store(self.b, ty, self.result, at, rounded);
    }
}

/// Positions and bounds.
impl<'c> Writer<'_, '_, 'c> {
    /// Returns the distance between neighbors along the innermost loop of the result.
    pub(super) fn step(&self, position: &Affine, nest: &Nest) -> i64 {
        nest.outer().checked_sub(1).map_or(0, |innermost| position.coefficients[innermost])
    }

    /// Emits the positions of the operands' elements.
    pub(super) fn positions(&self, variables: &[V<'c>]) -> Vec<V<'c>> {
        self.loops.operands.iter().map(|position| self.at(position, variables)).collect()
    }

    /// Emits the value of a function.
    pub(super) fn at(&self, function: &Affine, variables: &[V<'c>]) -> V<'c> {
        let b = self.b;
        let used = function.coefficients.iter().zip(variables).filter(|(c, _)| **c != 0);
        let terms = used.map(|(&c, &x)| if c == 1 { x } else { b.muli(x, b.index(c)) });
        let sum = terms.reduce(|sum, term| b.addi(sum, term));
        match (sum, function.constant) {
            (None, constant) => b.index(constant),
            (Some(sum), 0) => sum,
            (Some(sum), constant) => b.addi(sum, b.index(constant)),
        }
    }

    /// Returns the first value of a loop's variable, and the value after the last.
    pub(super) fn bounds(&self, nest: &Nest, variable: usize, variables: &[V<'c>]) -> [V<'c>; 2] {
        let (b, level) = (self.b, &nest.levels()[variable]);
        let Interval { low, high } = level.range();
        if level.is_constant() {
            return [b.index(low), b.index(high + 1)];
        }
        let ranges = nest.ranges();
        let lower = level.lower().iter().map(|bound| {
            // Rounds up.
            let mut bound = bound.clone();
            bound.numerator.constant += bound.divisor - 1;
            self.floor(&bound, &ranges, variables)
        });
        let lower = lower.reduce(|x, y| b.binary(Binary::Smax, x, y));
        let upper = level.upper().iter().map(|bound| self.floor(bound, &ranges, variables));
        let upper = upper.reduce(|x, y| b.binary(Binary::Smin, x, y));
        let end = upper.map(|upper| b.index_add(upper, b.index(1)));
        [lower.unwrap_or_else(|| b.index(low)), end.unwrap_or_else(|| b.index(high + 1))]
    }

    /// Emits a quotient, rounded down. The numerator is first made positive by adding a multiple of the
    /// divisor.
    fn floor(&self, quotient: &Quotient, ranges: &[Interval], variables: &[V<'c>]) -> V<'c> {
        let (b, divisor) = (self.b, quotient.divisor);
        if divisor == 1 {
            return self.at(&quotient.numerator, variables);
        }
        let least = quotient.numerator.extremes(ranges).map_or(0, |(low, _)| low);
        let more = (-least).max(0).unsigned_abs().div_ceil(divisor.unsigned_abs().into()) as i64;
        let mut positive = quotient.numerator.clone();
        positive.constant = positive.constant.wrapping_add(more.wrapping_mul(divisor));
        let whole = b.binary(Binary::Divui, self.at(&positive, variables), b.index(divisor));
        b.index_sub(whole, b.index(more))
    }
}
