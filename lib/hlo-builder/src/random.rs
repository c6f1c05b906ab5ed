//! Random numbers (operation semantics, "RngNormal", "RngUniform", "RngBitGenerator").

use crate::operand::Operand;
use crate::{Builder, Value};
use hlo_ir::attr::{
    RngAlgorithm, RngAttrs, RngBitGeneratorAttrs, RngDistribution, RngGetAndUpdateStateAttrs,
};
use hlo_ir::diag::Diag;
use hlo_ir::{ArrayShape, Op, Shape};
use std::panic::Location;

impl Builder {
    /// Returns an array of normally distributed random numbers. The scalars `mu` and `sigma` are the mean and
    /// the standard deviation.
    #[track_caller]
    pub fn rng_normal<'b>(
        &'b self,
        mu: impl Into<Operand<'b>>,
        sigma: impl Into<Operand<'b>>,
        shape: ArrayShape,
    ) -> Value<'b> {
        let parameters = [mu.into(), sigma.into()];
        self.rng(RngDistribution::Normal, parameters, shape)
    }

    /// Returns an array of random numbers distributed uniformly from `a` up to `b`, which are scalars.
    #[track_caller]
    pub fn rng_uniform<'b>(
        &'b self,
        a: impl Into<Operand<'b>>,
        b: impl Into<Operand<'b>>,
        shape: ArrayShape,
    ) -> Value<'b> {
        let parameters = [a.into(), b.into()];
        self.rng(RngDistribution::Uniform, parameters, shape)
    }

    #[track_caller]
    fn rng<'b>(
        &'b self,
        distribution: RngDistribution,
        [first, second]: [Operand<'b>; 2],
        shape: ArrayShape,
    ) -> Value<'b> {
        let first = first.plain(self, Some(shape.element_type));
        let parameters = [first, second.plain(self, Some(shape.element_type))];
        self.add_shaped(Op::Rng(RngAttrs { distribution }), &parameters, shape)
    }

    /// Returns an array of ones and zeros. Each element is 1 with probability `mean`, a floating-point
    /// scalar.
    #[track_caller]
    pub fn rng_bernoulli<'b>(&'b self, mean: Value<'b>, shape: ArrayShape) -> Value<'b> {
        if !self.owns(&[mean]) {
            return self.nothing();
        }
        let Some(found) = mean.array("rng") else { return self.nothing() };
        if !found.element_type.is_float() || found.rank() != 0 {
            let message =
                format!("the mean of a Bernoulli distribution is a floating-point scalar, found {found}");
            return self.fail(Location::caller(), Diag::error(message));
        }
        let element_type = shape.element_type;
        let uniform = self.rng_uniform(0, 1, shape.with_element_type(found.element_type));
        uniform.lt(mean).convert(element_type)
    }

    /// Returns a tuple of the next state of a generator and an array of random bits.
    #[track_caller]
    pub fn rng_bit_generator<'b>(
        &'b self,
        algorithm: RngAlgorithm,
        state: Value<'b>,
        shape: ArrayShape,
    ) -> Value<'b> {
        let Some(of_state) = state.shape_if_made() else { return self.nothing() };
        let result = Shape::tuple(vec![of_state, shape.into()]);
        self.add_shaped(Op::RngBitGenerator(RngBitGeneratorAttrs { algorithm }), &[state], result)
    }

    /// Returns the state of the program's random number generator, and then adds `delta` to it.
    #[track_caller]
    pub fn rng_get_and_update_state(&self, delta: i64, shape: ArrayShape) -> Value<'_> {
        self.add_shaped(Op::RngGetAndUpdateState(RngGetAndUpdateStateAttrs { delta }), &[], shape)
    }
}
