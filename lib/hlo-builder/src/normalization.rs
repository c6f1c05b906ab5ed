//! Batch normalization (operation semantics, "BatchNormTraining", "BatchNormInference", "BatchNormGrad").

use crate::Value;
use hlo_ir::Op;
use hlo_ir::attr::BatchNormAttrs;
use hlo_ir::diag::Diag;
use std::panic::Location;

impl<'b> Value<'b> {
    /// Normalizes the array over all dimensions except the feature dimension, then scales and shifts it.
    /// Returns a tuple of the result and of the mean and variance of each feature. `scale` and `offset` have
    /// one element for each feature.
    #[track_caller]
    pub fn batch_norm_training(
        self,
        scale: Value<'b>,
        offset: Value<'b>,
        epsilon: f32,
        feature_index: i64,
    ) -> Value<'b> {
        if !self.is_epsilon(epsilon) {
            return self.builder.nothing();
        }
        let op = Op::BatchNormTraining(BatchNormAttrs { epsilon, feature_index });
        self.builder.add(op, &[self, scale, offset])
    }

    /// Normalizes the array with a given mean and variance for each feature, then scales and shifts it.
    #[track_caller]
    pub fn batch_norm_inference(
        self,
        scale: Value<'b>,
        offset: Value<'b>,
        mean: Value<'b>,
        variance: Value<'b>,
        epsilon: f32,
        feature_index: i64,
    ) -> Value<'b> {
        if !self.is_epsilon(epsilon) {
            return self.builder.nothing();
        }
        let op = Op::BatchNormInference(BatchNormAttrs { epsilon, feature_index });
        self.builder.add(op, &[self, scale, offset, mean, variance])
    }

    /// Returns the gradients of [`Value::batch_norm_training`] with respect to this operand, scale and
    /// offset, as a tuple.
    #[track_caller]
    pub fn batch_norm_grad(
        self,
        scale: Value<'b>,
        mean: Value<'b>,
        variance: Value<'b>,
        grad_output: Value<'b>,
        epsilon: f32,
        feature_index: i64,
    ) -> Value<'b> {
        if !self.is_epsilon(epsilon) {
            return self.builder.nothing();
        }
        let op = Op::BatchNormGrad(BatchNormAttrs { epsilon, feature_index });
        self.builder.add(op, &[self, scale, mean, variance, grad_output])
    }

    /// Checks that epsilon is finite and reports an error if not.
    #[track_caller]
    fn is_epsilon(self, epsilon: f32) -> bool {
        if !epsilon.is_finite() {
            let message =
                format!("the epsilon of a batch normalization is a finite number, found {epsilon:?}");
            self.builder.fail(Location::caller(), Diag::error(message));
        }
        epsilon.is_finite()
    }
}
