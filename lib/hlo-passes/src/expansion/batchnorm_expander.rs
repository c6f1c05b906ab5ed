//! `batchnorm_expander`: replaces batch normalizations by arithmetic.
//!
//! ```text
//! batch-norm-inference(x, γ, β, μ, σ²)  →  (x - μ) · (γ · rsqrt(σ² + ε)) + β
//! ```
//!
//! Code generation requires this expansion, and the arithmetic can be fused with other instructions. Types
//! narrower than `f32` are computed in `f32` and rounded once at the end. The variance is the mean of the
//! squared distances from the mean, not a difference of two large numbers.

use crate::pass_info::{PassInfo, Preservation};
use crate::support::constants::float_bytes;
use crate::support::expander::{Emitter, expansion_pass};
use hlo_ir::attr::BatchNormAttrs;
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, ElementType, InstrId, Op, Shape};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "batchnorm_expander",
    summary: "replace batch normalizations and their gradients by arithmetic",
    keeps: Preservation::Values,
    example: "\
HloModule batchnorm_expander

ENTRY e {
  x = f32[2,3] parameter(0)
  scale = f32[3] parameter(1)
  offset = f32[3] parameter(2)
  mean = f32[3] parameter(3)
  variance = f32[3] parameter(4)
  ROOT y = f32[2,3] batch-norm-inference(x, scale, offset, mean, variance), epsilon=0.001, feature_index=1
}
",
    build: |_, _| expansion_pass("batch-norm", is_batch_norm, expand),
    ..PassInfo::PLAIN
};

fn is_batch_norm(op: &Op) -> bool {
    matches!(op, Op::BatchNormTraining(_) | Op::BatchNormInference(_) | Op::BatchNormGrad(_))
}

/// Expands a batch normalization and returns its replacement.
pub(crate) fn expand(e: &mut Emitter<'_>, id: InstrId) -> Option<InstrId> {
    match e.module[id].op.clone() {
        Op::BatchNormTraining(attrs) => training(&mut Norm::new(e, &attrs)?),
        Op::BatchNormInference(attrs) => inference(&mut Norm::new(e, &attrs)?),
        Op::BatchNormGrad(attrs) => gradient(&mut Norm::new(e, &attrs)?),
        _ => None,
    }
}

/// A batch normalization that is being expanded.
struct Norm<'e, 'm> {
    e: &'e mut Emitter<'m>,
    /// The operand, converted to the type of the computation.
    x: InstrId,
    whole: ArrayShape,
    features: ArrayShape,
    feature: i64,
    /// All dimensions other than the feature dimension.
    others: Vec<i64>,
    epsilon: f32,
}

impl<'e, 'm> Norm<'e, 'm> {
    fn new(e: &'e mut Emitter<'m>, attrs: &BatchNormAttrs) -> Option<Self> {
        let operand = e.operand(0)?;
        let shape = e.array(operand)?;
        let wide = match shape.element_type {
            ElementType::F64 => ElementType::F64,
            _ => ElementType::F32,
        };
        let size = *shape.dims.get(usize::try_from(attrs.feature_index).ok()?)?;
        let x = e.convert(operand, wide)?;
        Some(Self {
            x,
            whole: shape.with_element_type(wide),
            features: ArrayShape::new(wide, [size]),
            feature: attrs.feature_index,
            others: (0..shape.rank() as i64).filter(|&d| d != attrs.feature_index).collect(),
            epsilon: attrs.epsilon,
            e,
        })
    }

    /// Returns an operand converted to the type of the computation.
    fn operand(&mut self, index: usize) -> Option<InstrId> {
        let value = self.e.operand(index)?;
        self.e.convert(value, self.whole.element_type)
    }

    fn binary(&mut self, op: Op, a: InstrId, b: InstrId) -> InstrId {
        self.e.same(op, &[a, b])
    }

    /// Broadcasts a vector with one element per feature to the whole shape.
    fn spread(&mut self, vector: InstrId) -> InstrId {
        self.e.broadcast(vector, &self.whole, &[self.feature])
    }

    /// Returns a vector that contains the same number for each feature.
    fn vector(&mut self, value: f64) -> Option<InstrId> {
        let ty = self.features.element_type;
        // Round to the type.
        let rounded = if ty == ElementType::F64 { value } else { f64::from(value as f32) };
        let scalar = self.e.scalar(ty, &float_bytes(ty, rounded)?)?;
        Some(self.e.broadcast(scalar, &self.features, &[]))
    }

    /// Returns the sum of each feature's elements.
    fn sum(&mut self, value: InstrId) -> Option<InstrId> {
        self.e.sum(value, &self.others)
    }

    /// Returns the mean of each feature's elements.
    fn mean(&mut self, value: InstrId) -> Option<InstrId> {
        let sum = self.sum(value)?;
        let count = self.e.count(value, &self.others, self.whole.element_type)?;
        let count = self.e.broadcast(count, &self.features, &[]);
        Some(self.binary(Op::Divide, sum, count))
    }

    /// Returns the distances from the mean.
    fn centered(&mut self, mean: InstrId) -> InstrId {
        let mean = self.spread(mean);
        self.binary(Op::Subtract, self.x, mean)
    }

    /// Returns σ² + ε.
    fn with_epsilon(&mut self, variance: InstrId) -> Option<InstrId> {
        let epsilon = self.vector(f64::from(self.epsilon))?;
        Some(self.binary(Op::Add, variance, epsilon))
    }

    /// Returns the distances from the mean, scaled and shifted.
    fn normalized(
        &mut self,
        centered: InstrId,
        variance: InstrId,
        scale: InstrId,
        offset: InstrId,
    ) -> Option<InstrId> {
        let variance = self.with_epsilon(variance)?;
        let deviation = self.e.same(Op::Rsqrt, &[variance]);
        let factor = self.binary(Op::Multiply, scale, deviation);
        let (factor, offset) = (self.spread(factor), self.spread(offset));
        let scaled = self.binary(Op::Multiply, centered, factor);
        Some(self.binary(Op::Add, scaled, offset))
    }

    /// Converts the results to the shapes of the instruction.
    fn results(&mut self, values: &[InstrId]) -> Option<InstrId> {
        let shape = self.e.shape();
        let Shape::Tuple(parts) = &shape else { return self.e.finish(*values.first()?, &shape) };
        let mut elements = Vec::with_capacity(parts.len());
        for (&value, part) in values.iter().zip(parts) {
            elements.push(self.e.finish(value, part)?);
        }
        Some(self.e.tuple(&elements))
    }
}

fn training(n: &mut Norm<'_, '_>) -> Option<InstrId> {
    let (scale, offset) = (n.operand(1)?, n.operand(2)?);
    let mean = n.mean(n.x)?;
    let centered = n.centered(mean);
    let squares = n.binary(Op::Multiply, centered, centered);
    let variance = n.mean(squares)?;
    let y = n.normalized(centered, variance, scale, offset)?;
    n.results(&[y, mean, variance])
}

fn inference(n: &mut Norm<'_, '_>) -> Option<InstrId> {
    let (scale, offset, mean, variance) = (n.operand(1)?, n.operand(2)?, n.operand(3)?, n.operand(4)?);
    let centered = n.centered(mean);
    let y = n.normalized(centered, variance, scale, offset)?;
    n.results(&[y])
}

/// Expands a gradient. With `r = rsqrt(σ² + ε)`: dγ = Σ dy (x - μ) r, dβ = Σ dy, and
/// dx = γ r (dy - mean(dy) - (x - μ) mean(dy (x - μ)) / (σ² + ε)).
fn gradient(n: &mut Norm<'_, '_>) -> Option<InstrId> {
    let (scale, mean, variance, dy) = (n.operand(1)?, n.operand(2)?, n.operand(3)?, n.operand(4)?);
    let centered = n.centered(mean);
    let variance = n.with_epsilon(variance)?;
    let r = n.e.same(Op::Rsqrt, &[variance]);
    let product = n.binary(Op::Multiply, dy, centered);
    let sum = n.sum(product)?;
    let doffset = n.sum(dy)?;
    let dscale = n.binary(Op::Multiply, sum, r);
    let (slope, level) = (n.mean(product)?, n.mean(dy)?);
    let slope = n.binary(Op::Divide, slope, variance);
    let factor = n.binary(Op::Multiply, scale, r);
    let (slope, level, factor) = (n.spread(slope), n.spread(level), n.spread(factor));
    let rest = n.binary(Op::Multiply, centered, slope);
    let around = n.binary(Op::Subtract, dy, level);
    let inner = n.binary(Op::Subtract, around, rest);
    let dx = n.binary(Op::Multiply, factor, inner);
    n.results(&[dx, dscale, doffset])
}
