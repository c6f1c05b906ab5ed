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
    /// An array of random numbers of the normal distribution of mean `mu` and standard deviation `sigma`, scalars.
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

    /// An array of random numbers that are spread evenly from `a` up to `b`, scalars.
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

    /// An array of ones, each with probability `mean`, a floating-point scalar, and zeros.
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

    /// The next state of a generator, and an array of random bits: a tuple of both.
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

    /// The state of the program's random numbers, to which `delta` is then added.
    #[track_caller]
    pub fn rng_get_and_update_state(&self, delta: i64, shape: ArrayShape) -> Value<'_> {
        self.add_shaped(Op::RngGetAndUpdateState(RngGetAndUpdateStateAttrs { delta }), &[], shape)
    }
}
