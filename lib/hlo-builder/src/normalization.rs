//! Batch normalization (operation semantics, "BatchNormTraining", "BatchNormInference", "BatchNormGrad").

use crate::Value;
use hlo_ir::Op;
use hlo_ir::attr::BatchNormAttrs;

impl<'b> Value<'b> {
    /// The array normalized over all dimensions but that of the features, scaled and shifted; and the mean and variance of each
    /// feature: a tuple of the three. `scale` and `offset` have one element for each feature.
    #[track_caller]
    pub fn batch_norm_training(
        self,
        scale: Value<'b>,
        offset: Value<'b>,
        epsilon: f32,
        feature_index: i64,
    ) -> Value<'b> {
        let op = Op::BatchNormTraining(BatchNormAttrs { epsilon, feature_index });
        self.builder.add(op, &[self, scale, offset])
    }

    /// The array normalized by a mean and a variance of each feature, scaled and shifted.
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
        let op = Op::BatchNormInference(BatchNormAttrs { epsilon, feature_index });
        self.builder.add(op, &[self, scale, offset, mean, variance])
    }

    /// The gradients of [`Value::batch_norm_training`] with respect to this operand, scale and offset: a tuple of the three.
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
        let op = Op::BatchNormGrad(BatchNormAttrs { epsilon, feature_index });
        self.builder.add(op, &[self, scale, mean, variance, grad_output])
    }
}
