//! Products with packed panels: f32, bf16, f16 and integers of up to 32 bits.

use super::Sizes;
use crate::gemm::{self, Format, Kernel, Output, Rows};
use hlo_runtime_core::{Accumulator, Context, DotDesc, ElementCode, Error, Number, Shared};

/// The maximum number of multiply-adds of a product that is computed by one task.
const MAX_SERIAL_MULTIPLY_ADDS: usize = 1 << 21;
/// The same limit for products in batches of at least [`MIN_LARGE_BATCH`], which have enough tasks.
const MAX_SERIAL_BATCH_MULTIPLY_ADDS: usize = 1 << 26;
const MIN_LARGE_BATCH: usize = 32;
/// The minimum number of multiply-adds of a task.
const MIN_TASK_MULTIPLY_ADDS: usize = 1 << 18;

/// Computes the product if a packed kernel supports its types; otherwise returns `None`.
///
/// # Safety
/// As for [`super::hlo_rt_dot`]. `types` must be the types of lhs, rhs and out.
pub(super) unsafe fn dot(
    ctx: &Context,
    desc: &DotDesc,
    sizes: Sizes,
    types: [ElementCode; 3],
    accumulator: Accumulator,
    pointers: (*const u8, *const u8, *mut u8),
) -> Option<Result<(), Error>> {
    let [l, r, _] = types;
    let call = Call { ctx, desc, sizes, types, pointers };
    // SAFETY: guaranteed by the caller.
    unsafe {
        match accumulator {
            Accumulator::F32 => {
                #[cfg(target_arch = "x86_64")]
                if l == ElementCode::Bf16 && r == ElementCode::Bf16 && pairs_of_bf16_are_faster(sizes) {
                    return Some(call.run(gemm::Avx512Bf16, [Format::bf16(); 2], false));
                }
                Some(call.run(gemm::F32, [Format::f32(l)?, Format::f32(r)?], false))
            }
            Accumulator::I32 => {
                #[cfg(target_arch = "x86_64")]
                if l == ElementCode::S8
                    && r == ElementCode::S8
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512vnni")
                {
                    let formats = [Format::biased_bytes(), Format::bytes()];
                    return Some(call.run(gemm::Avx512S8, formats, true));
                }
                if let (Some(l), Some(r)) = (Format::pairs(l), Format::pairs(r)) {
                    return Some(call.run(gemm::Pairs, [l, r], false));
                }
                Some(call.run(gemm::I32, [Format::i32(l)?, Format::i32(r)?], false))
            }
            Accumulator::Pred
            | Accumulator::I64
            | Accumulator::F64
            | Accumulator::C64
            | Accumulator::C128 => None,
        }
    }
}

/// Returns whether the processor has an instruction for pairs of bf16 that is faster than f32. Intel's cores
/// multiply f32 at the same rate, so there the instruction only saves memory bandwidth, which matters for
/// thin products.
#[cfg(target_arch = "x86_64")]
fn pairs_of_bf16_are_faster(sizes: Sizes) -> bool {
    use std::sync::OnceLock;
    /// The maximum number of rows or columns of a thin product.
    const MAX_THIN_SIZE: usize = 32;
    static IS_INTEL: OnceLock<bool> = OnceLock::new();
    let is_intel = || {
        let id = std::arch::x86_64::__cpuid(0);
        [id.ebx, id.edx, id.ecx].map(u32::to_le_bytes).concat() == b"GenuineIntel"
    };
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bf16")
        && (sizes.m.min(sizes.n) <= MAX_THIN_SIZE || !*IS_INTEL.get_or_init(is_intel))
}

/// The arguments of a call.
struct Call<'a> {
    ctx: &'a Context,
    desc: &'a DotDesc,
    sizes: Sizes,
    types: [ElementCode; 3],
    pointers: (*const u8, *const u8, *mut u8),
}

impl Call<'_> {
    /// # Safety
    /// As for [`dot`]; the processor must have the features that the kernel needs.
    unsafe fn run<K: Kernel<Sum: Number>>(
        &self,
        kernel: K,
        formats: [Format; 2],
        biased: bool,
    ) -> Result<(), Error> {
        let Sizes { batch, m, n, k } = self.sizes;
        let operations = m.saturating_mul(n).saturating_mul(k.max(1));
        let small = operations <= MAX_SERIAL_MULTIPLY_ADDS
            || (batch >= MIN_LARGE_BATCH && operations <= MAX_SERIAL_BATCH_MULTIPLY_ADDS);
        // SAFETY: products of a batch write disjoint outputs; the caller guarantees the rest.
        unsafe {
            if !small {
                for b in 0..batch {
                    let (left, right, out) = self.product(b, formats);
                    gemm::product(self.ctx, kernel, [m, n, k], &left, &right, &out, biased)?;
                }
                return Ok(());
            }
            let this = Shared::new(self);
            let grain = (MIN_TASK_MULTIPLY_ADDS / operations).clamp(1, batch);
            self.ctx.try_for_each(batch.div_ceil(grain), |chunk| {
                for b in chunk * grain..batch.min((chunk + 1) * grain) {
                    let (left, right, out) = this.get().product(b, formats);
                    gemm::small_product(kernel, [m, n, k], &left, &right, &out, biased)?;
                }
                Ok(())
            })
        }
    }

    /// Returns the operands and the output of product `b`.
    fn product(&self, b: usize, [left, right]: [Format; 2]) -> (Rows, Rows, Output) {
        let [l, r, o] = self.types.map(|t| t.byte_size() as isize);
        let (d, s) = (self.desc, self.sizes);
        let at = |stride: i64, size: isize| (b as isize).wrapping_mul(stride as isize).wrapping_mul(size);
        (
            Rows {
                pointer: self.pointers.0.wrapping_offset(at(d.lhs_batch_stride, l)),
                outer: s.m,
                outer_stride: d.lhs_m_stride as isize * l,
                k: s.k,
                k_stride: d.lhs_k_stride as isize * l,
                format: left,
            },
            Rows {
                pointer: self.pointers.1.wrapping_offset(at(d.rhs_batch_stride, r)),
                outer: s.n,
                outer_stride: d.rhs_n_stride as isize * r,
                k: s.k,
                k_stride: d.rhs_k_stride as isize * r,
                format: right,
            },
            Output {
                pointer: self.pointers.2.wrapping_offset(at(d.out_batch_stride, o)),
                code: self.types[2],
                row_stride: d.out_m_stride as isize,
                column_stride: d.out_n_stride as isize,
            },
        )
    }
}
