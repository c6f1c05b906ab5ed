//! Random numbers.

use crate::import::failure::Result;
use crate::import::importer::Importer;
use crate::tree::Operation;
use hlo_ir::Op;
use hlo_ir::attr::{RngAlgorithm, RngAttrs, RngBitGeneratorAttrs, RngDistribution};

impl Importer<'_> {
    /// Translates `rng`. Its third operand, the shape, is dropped because the result type contains it.
    pub(super) fn rng(&mut self, op: &Operation) -> Result<()> {
        let operands = [self.operand(op, 0)?, self.operand(op, 1)?];
        let words = ["UNIFORM", "NORMAL"];
        let distribution = match op.word("rng_distribution", "stablehlo.rng_distribution", &words)? {
            0 => RngDistribution::Uniform,
            _ => RngDistribution::Normal,
        };
        self.set_result_op(op, Op::Rng(RngAttrs { distribution }), &operands)
    }

    pub(super) fn rng_bit_generator(&mut self, op: &Operation) -> Result<()> {
        let state = self.operand(op, 0)?;
        let words = ["DEFAULT", "THREE_FRY", "PHILOX"];
        let algorithm = match op.word("rng_algorithm", "stablehlo.rng_algorithm", &words)? {
            0 => RngAlgorithm::Default,
            1 => RngAlgorithm::ThreeFry,
            _ => RngAlgorithm::Philox,
        };
        self.set_results_op(op, Op::RngBitGenerator(RngBitGeneratorAttrs { algorithm }), &[state])
    }
}
