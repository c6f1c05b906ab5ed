//! The validated geometry of a convolution: sizes as `usize`, strides in bytes, and the maps from output
//! pixels and window positions to memory.

use hlo_runtime_core::{ConvDesc, ElementCode, Error, MAX_SPATIAL, Number};
use smallvec::SmallVec;

/// A spatial dimension; strides are in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Dim {
    pub(super) in_size: i64,
    pub(super) window: usize,
    pub(super) out_size: usize,
    pub(super) stride: i64,
    pub(super) pad_low: i64,
    pub(super) lhs_dilation: i64,
    pub(super) rhs_dilation: i64,
    pub(super) lhs_stride: isize,
    /// The stride of the filter. It is negative for a reversed window; the filter then starts at its last
    /// position.
    pub(super) rhs_stride: isize,
    pub(super) out_stride: isize,
}

impl Dim {
    /// Returns the input position at window element `w` of output position `o`, if there is one.
    pub(super) fn input(&self, o: usize, w: usize) -> Option<isize> {
        let at = self.first(o).checked_add((w as i64).checked_mul(self.rhs_dilation)?)?;
        let position = if self.lhs_dilation == 1 {
            at
        } else if at % self.lhs_dilation == 0 {
            at / self.lhs_dilation
        } else {
            return None;
        };
        (0..self.in_size).contains(&position).then_some(position as isize)
    }

    /// Returns the start of the window of output position `o`, in dilated input positions.
    pub(super) fn first(&self, o: usize) -> i64 {
        (o as i64).wrapping_mul(self.stride).wrapping_sub(self.pad_low)
    }
}

/// Returns the greatest common divisor of `a` and `b`, at least 1.
pub(super) fn greatest_common_divisor(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

/// A validated convolution descriptor.
#[derive(Clone)]
pub(super) struct Geometry {
    pub(super) types: [ElementCode; 3],
    /// The spatial dimensions, the slowest varying in the input first.
    pub(super) dims: SmallVec<[Dim; MAX_SPATIAL]>,
    /// The number of batch entries of the output.
    pub(super) batch: usize,
    /// The number of output pixels: batch entries times spatial positions.
    pub(super) pixels: usize,
    /// The number of window positions that have products.
    pub(super) positions: usize,
    pub(super) out_features: usize,
    /// The number of feature groups or batch groups, whichever is greater than one.
    pub(super) groups: usize,
    /// The number of input features of one group.
    pub(super) group_in: usize,
    /// The number of output features of one group.
    pub(super) group_out: usize,
    /// Distance from one group's input to the next, in bytes.
    pub(super) lhs_group_stride: isize,
    pub(super) lhs_batch_stride: isize,
    pub(super) lhs_feature_stride: isize,
    pub(super) rhs_in_stride: isize,
    pub(super) rhs_out_stride: isize,
    pub(super) out_batch_stride: isize,
    pub(super) out_feature_stride: isize,
    /// The offset of the first window position in the filter, in bytes. It is not zero if the window is
    /// reversed.
    pub(super) rhs_start: isize,
}

fn size(value: i64, name: &str, least: i64) -> Result<usize, Error> {
    usize::try_from(value).ok().filter(|_| value >= least).ok_or_else(|| Error(format!("{name} is {value}")))
}

fn product(values: impl IntoIterator<Item = usize>) -> Result<usize, Error> {
    values
        .into_iter()
        .try_fold(1usize, usize::checked_mul)
        .ok_or_else(|| Error("the sizes do not fit the address space".into()))
}

impl Geometry {
    pub(super) fn new(desc: &ConvDesc) -> Result<Geometry, Error> {
        let [l, r, o] = [desc.lhs_type, desc.rhs_type, desc.out_type].map(ElementCode::from_code);
        let types = [l?, r?, o?];
        let [lhs, rhs, out] = types.map(|t| t.byte_size() as isize);
        let rank = size(desc.spatial_rank, "the spatial rank", 0)?;
        let Some(used) = desc.dims.get(..rank) else {
            return Err(Error(format!("the spatial rank is {rank}, more than {MAX_SPATIAL}")));
        };
        let mut rhs_start = 0;
        let mut dims = SmallVec::<[Dim; MAX_SPATIAL]>::new();
        for d in used {
            let window = size(d.window, "a window size", 0)?;
            let mut rhs_stride = d.rhs_stride as isize * rhs;
            if d.reversed != 0 && window > 0 {
                rhs_start += rhs_stride * (window as isize - 1);
                rhs_stride = -rhs_stride;
            }
            dims.push(Dim {
                in_size: size(d.in_size, "an input size", 0)? as i64,
                window,
                out_size: size(d.out_size, "an output size", 0)?,
                stride: size(d.stride, "a window stride", 1)? as i64,
                pad_low: d.pad_low,
                lhs_dilation: size(d.lhs_dilation, "an input dilation", 1)? as i64,
                rhs_dilation: size(d.rhs_dilation, "a window dilation", 1)? as i64,
                lhs_stride: d.lhs_stride as isize * lhs,
                rhs_stride,
                out_stride: d.out_stride as isize * out,
            });
        }
        // The order of summation follows the order in memory and does not depend on the names of the
        // dimensions.
        dims.sort_by_key(|d| std::cmp::Reverse((d.lhs_stride.unsigned_abs(), d.out_stride.unsigned_abs())));
        let lhs_batch = size(desc.batch, "the batch size", 0)?;
        let in_features = size(desc.in_features, "the number of input features", 0)?;
        let out_features = size(desc.out_features, "the number of output features", 0)?;
        let feature_groups = size(desc.feature_groups, "the number of feature groups", 1)?;
        let batch_groups = size(desc.batch_groups, "the number of batch groups", 1)?;
        let groups = feature_groups.max(batch_groups);
        if feature_groups.min(batch_groups) > 1 {
            return Err(Error("features and batch are both divided into groups".into()));
        }
        if !in_features.is_multiple_of(feature_groups)
            || !lhs_batch.is_multiple_of(batch_groups)
            || !out_features.is_multiple_of(groups)
        {
            return Err(Error(format!("{groups} groups do not divide the sizes")));
        }
        let (batch, group_in) = (lhs_batch / batch_groups, in_features / feature_groups);
        let lhs_group_stride = if feature_groups > 1 {
            desc.lhs_feature_stride as isize * lhs * group_in as isize
        } else {
            desc.lhs_batch_stride as isize * lhs * batch as isize
        };
        Ok(Geometry {
            types,
            batch,
            // Without output features there are no outputs; without input features there are no products.
            pixels: match out_features {
                0 => 0,
                _ => product(dims.iter().map(|d| d.out_size).chain([batch]))?,
            },
            positions: match group_in {
                0 => 0,
                _ => product(dims.iter().map(|d| d.window))?,
            },
            dims,
            out_features,
            groups,
            group_in,
            group_out: out_features / groups,
            lhs_group_stride,
            lhs_batch_stride: desc.lhs_batch_stride as isize * lhs,
            lhs_feature_stride: desc.lhs_feature_stride as isize * lhs,
            rhs_in_stride: desc.rhs_in_stride as isize * rhs,
            rhs_out_stride: desc.rhs_out_stride as isize * rhs,
            out_batch_stride: desc.out_batch_stride as isize * out,
            out_feature_stride: desc.out_feature_stride as isize * out,
            rhs_start,
        })
    }

    /// Returns the batch entry and the output positions of a pixel, in the order of `dims`.
    pub(super) fn pixel(&self, mut pixel: usize) -> (usize, [usize; MAX_SPATIAL]) {
        let mut at = [0; MAX_SPATIAL];
        for (d, at) in self.dims.iter().zip(&mut at).rev() {
            (pixel, *at) = (pixel / d.out_size, pixel % d.out_size);
        }
        (pixel, at)
    }

    /// Returns the offset of a pixel from the start of the output, in bytes.
    pub(super) fn out_offset(&self, pixel: usize) -> isize {
        let (b, at) = self.pixel(pixel);
        let spatial = self.dims.iter().zip(at).map(|(d, o)| o as isize * d.out_stride).sum::<isize>();
        b as isize * self.out_batch_stride + spatial
    }

    /// Returns the window elements of position `position`, in the order of `dims`.
    pub(super) fn window(&self, mut position: usize) -> [usize; MAX_SPATIAL] {
        let mut at = [0; MAX_SPATIAL];
        for (d, at) in self.dims.iter().zip(&mut at).rev() {
            (position, *at) = (position / d.window, position % d.window);
        }
        at
    }

    /// Returns the offset of a window element from the start of the filter, in bytes.
    pub(super) fn rhs_offset(&self, window: [usize; MAX_SPATIAL]) -> isize {
        self.rhs_start + self.dims.iter().zip(window).map(|(d, w)| w as isize * d.rhs_stride).sum::<isize>()
    }

    /// Returns whether all weights are finite. If not, the zeros of the padding and between the input's
    /// elements must be multiplied by the weights, because the products may be NaN. If all are finite, these
    /// products add nothing.
    ///
    /// # Safety
    /// `rhs` must be readable at every weight.
    pub(super) unsafe fn has_finite_weights<T: Number>(&self, rhs: *const u8) -> bool {
        (0..self.positions).all(|position| {
            let start = rhs.wrapping_offset(self.rhs_offset(self.window(position)));
            (0..self.out_features as isize).all(|f| {
                let start = start.wrapping_offset(f * self.rhs_out_stride);
                (0..self.group_in as isize).all(|z| {
                    // SAFETY: guaranteed by the caller.
                    unsafe { T::load(self.types[1], start.wrapping_offset(z * self.rhs_in_stride)) }
                        .is_finite()
                })
            })
        })
    }

    /// Returns the offset of the element under `window` at output positions `at` from the start of a batch
    /// entry's input, in bytes. Returns `None` for padding.
    pub(super) fn lhs_offset(
        &self,
        at: &[usize; MAX_SPATIAL],
        window: &[usize; MAX_SPATIAL],
    ) -> Option<isize> {
        let mut offset = 0;
        for ((d, &o), &w) in self.dims.iter().zip(at).zip(window) {
            offset += d.input(o, w)? * d.lhs_stride;
        }
        Some(offset)
    }
}
