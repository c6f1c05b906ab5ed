//! Padding of products. Elements beyond the sizes of dimensions that are summed over are set to zero in both
//! operands. Zeros in one operand are not enough, because zero multiplied by an unspecified element may not
//! be zero.

use super::{Padded, Padder, Result, of_array};
use hlo_ir::attr::ConvolutionAttrs;

impl Padder<'_> {
    /// Pads a `dot`. Sets the elements beyond the sizes of contracted dimensions to zero.
    pub(super) fn product(&mut self) -> Result<Padded> {
        let sizes = self.loops()?;
        let mut operands = self.operands();
        for (n, (value, summed)) in operands.iter_mut().zip(&sizes.combined).enumerate() {
            if Self::any(summed) {
                let zero = self.zero(self.bounds(n)?.element_type)?;
                *value = self.mask(*value, summed, zero);
            }
        }
        Ok(self.keep_with_operands(&operands, of_array(sizes.result)))
    }

    /// Pads a `scaled-dot`, which has one scale for each block of elements.
    pub(super) fn scaled_dot(&mut self) -> Result<Padded> {
        for side in 0..2 {
            let (value, scale) = (self.bounds(side)?, self.bounds(side + 2)?);
            let (of_value, of_scale) = (self.sizes(side)?, self.sizes(side + 2)?);
            for d in 0..scale.rank() {
                if of_value[d].is_none() && of_scale[d].is_none() {
                    continue;
                }
                let block = (value.dims[d] / scale.dims[d].max(1)).max(1);
                let size = self.known_size(of_value[d], value.dims[d])?;
                let size = self.offset(size, block - 1)?;
                let blocks = self.divide(size, block)?;
                let found = self.known_size(of_scale[d], scale.dims[d])?;
                let dynamic = self.operand_shape(side + 2)?.as_array().is_some_and(|a| a.is_dynamic_dim(d));
                let taken = if dynamic { found } else { self.minimum(found, blocks)? };
                self.check_equal(taken, blocks);
            }
        }
        self.expanded(crate::expansion::scaled_dot_rewriter::expand)
    }

    /// Pads a `convolution`. The batch, the features and the input's spatial dimensions may be dynamic.
    pub(super) fn convolution(&mut self, attrs: &ConvolutionAttrs) -> Result<Padded> {
        let (input, kernel) = (self.sizes(0)?, self.sizes(1)?);
        let labels = &attrs.dim_labels;
        let grouped = attrs.feature_groups() != 1 || attrs.batch_groups() != 1;
        let grouped_dims = [
            input[labels.input_feature as usize],
            input[labels.input_batch as usize].filter(|_| attrs.batch_groups() != 1),
            kernel[labels.kernel_input_feature as usize],
            kernel[labels.kernel_output_feature as usize],
        ];
        if grouped && grouped_dims.iter().any(Option::is_some) {
            return Err(self.unsupported_diag("has groups of sizes that are known at run time only"));
        }
        // `window` contains the size of the kernel.
        let of_kernel = self.bounds(1)?;
        for &d in &labels.kernel_spatial {
            self.check_full_size(kernel[d as usize], of_kernel.dims[d as usize])?;
        }
        self.product()
    }
}
