//! Products: what is beyond the sizes of dimensions that are summed over is zero on both sides, for a product with
//! garbage need not be zero.

use super::{Padded, Padder, Result, Size, Sizes, of_array};
use hlo_ir::attr::{ConvolutionAttrs, DotAttrs};

impl Padder<'_> {
    /// An operand with zeros beyond some of its sizes.
    fn zeroed(&mut self, n: usize, summed: &[(i64, Size)]) -> Result<hlo_ir::InstrId> {
        let bounds = self.bounds(n)?;
        let mut sizes: Sizes = smallvec::smallvec![None; bounds.rank()];
        for &(d, size) in summed {
            sizes[d as usize] = size;
        }
        let value = self.operands()[n];
        if !Self::any(&sizes) {
            return Ok(value);
        }
        let zero = self.zero(bounds.element_type)?;
        Ok(self.mask(value, &sizes, zero))
    }

    /// `dot`.
    pub(super) fn dot(&mut self, attrs: &DotAttrs) -> Result<Padded> {
        let (mut of_lhs, mut of_rhs) = (Vec::new(), Vec::new());
        for (&a, &b) in attrs.lhs_contracting_dims.iter().zip(&attrs.rhs_contracting_dims) {
            let size = self.paired([(0, a as usize), (1, b as usize)])?;
            of_lhs.push((a, size));
            of_rhs.push((b, size));
        }
        let operands = [self.zeroed(0, &of_lhs)?, self.zeroed(1, &of_rhs)?];
        let sizes = self.sizes_along()?;
        Ok(self.keep_on(&operands, of_array(sizes)))
    }

    /// `scaled-dot`: there is a scale for each block of elements.
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
                let blocks = self.over(size, block)?;
                let found = self.known_size(of_scale[d], scale.dims[d])?;
                let dynamic = self.operand_shape(side + 2)?.as_array().is_some_and(|a| a.is_dynamic_dim(d));
                let taken = if dynamic { found } else { self.minimum(found, blocks)? };
                self.must_equal(taken, blocks);
            }
        }
        self.expanded(crate::expansion::scaled_dot_rewriter::expand)
    }

    /// `convolution`: dynamic are the batch, features and the input's spatial dimensions.
    pub(super) fn convolution(&mut self, attrs: &ConvolutionAttrs) -> Result<Padded> {
        let (input, kernel) = (self.sizes(0)?, self.sizes(1)?);
        let bounds = self.bounds(0)?;
        let labels = &attrs.dim_labels;
        let grouped = attrs.feature_groups() != 1 || attrs.batch_groups() != 1;
        let grouped_dims = [
            input[labels.input_feature as usize],
            input[labels.input_batch as usize].filter(|_| attrs.batch_groups() != 1),
            kernel[labels.kernel_input_feature as usize],
            kernel[labels.kernel_output_feature as usize],
        ];
        if grouped && grouped_dims.iter().any(Option::is_some) {
            return Err(self.refuse("has groups of sizes that are known at run time only"));
        }
        // `window` says how large the kernel is.
        let of_kernel = self.bounds(1)?;
        for &d in &labels.kernel_spatial {
            self.must_be_whole(kernel[d as usize], of_kernel.dims[d as usize])?;
        }
        let feature = if grouped {
            None
        } else {
            self.paired([(0, labels.input_feature as usize), (1, labels.kernel_input_feature as usize)])?
        };
        let mut summed = vec![(labels.input_feature, feature)];
        let mut sizes: Sizes = smallvec::smallvec![None; self.result_bounds()?.rank()];
        sizes[labels.output_batch as usize] = input[labels.input_batch as usize];
        sizes[labels.output_feature as usize] = kernel[labels.kernel_output_feature as usize];
        for (k, (&d, &out)) in labels.input_spatial.iter().zip(&labels.output_spatial).enumerate() {
            let Some(size) = input[d as usize] else { continue };
            summed.push((d, Some(size)));
            let window = attrs.window.dims.get(k).cloned().unwrap_or_default();
            sizes[out as usize] = Some(self.window_places(size, bounds.dims[d as usize], &window)?);
        }
        let operands = [self.zeroed(0, &summed)?, self.zeroed(1, &[(labels.kernel_input_feature, feature)])?];
        Ok(self.keep_on(&operands, of_array(sizes)))
    }
}
