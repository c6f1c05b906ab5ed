//! Batch normalization.

use crate::import::attributes::as_f32;
use crate::import::failure::Result;
use crate::import::importer::Importer;
use crate::tree::Operation;
use hlo_ir::Op;
use hlo_ir::attr::BatchNormAttrs;

impl Importer<'_> {
    /// Translates `batch_norm_grad`, `batch_norm_inference` and `batch_norm_training`.
    pub(super) fn batch_norm(&mut self, op: &Operation, name: &str) -> Result<()> {
        let operands = self.operands(op)?;
        let epsilon = as_f32(op.required("epsilon")?);
        let epsilon =
            epsilon.ok_or_else(|| op.failure("the attribute `epsilon` is not a number of type f32"))?;
        let attrs = BatchNormAttrs { epsilon, feature_index: op.int("feature_index")? };
        let hlo = match name {
            "batch_norm_grad" => Op::BatchNormGrad(attrs),
            "batch_norm_inference" => Op::BatchNormInference(attrs),
            _ => Op::BatchNormTraining(attrs),
        };
        self.set_results_op(op, hlo, &operands)
    }
}
