//! Long contractions: products over parts of the contracted dimension, whose results are added in groups. The
//! rounding error of a sum then does not grow with its length.

use super::Sizes;
use hlo_runtime_core::{
    Accumulator, Context, DotDesc, ElementCode, Error, Number, Scratch, Shared, accumulator,
};

/// The maximum length of a contraction that is not split into parts.
const MAX_UNSPLIT_LENGTH: usize = 1 << 13;
/// The maximum length of a part.
const MAX_PART_LENGTH: usize = 1 << 12;
/// The number of sums that are added sequentially into one sum of the next level.
const SUMS_PER_GROUP: usize = 32;
/// An upper bound on the number of levels.
const MAX_LEVELS: usize = 16;
/// The number of elements of a sum that one task adds.
const TASK_ELEMENTS: usize = 1 << 16;

/// Computes a product in `f32` with a long contraction. Returns `None` for other products.
///
/// # Safety
/// As for [`super::hlo_rt_dot`], with valid sizes.
pub(super) unsafe fn dot(
    ctx: &Context,
    desc: &DotDesc,
    sizes: Sizes,
    pointers: (*const u8, *const u8, *mut u8),
) -> Option<Result<(), Error>> {
    let types = [desc.lhs_type, desc.rhs_type, desc.out_type].map(ElementCode::from_code);
    let [Ok(l), Ok(r), Ok(o)] = types else { return None };
    if sizes.k <= MAX_UNSPLIT_LENGTH || !matches!(accumulator(l, r, o), Ok(Accumulator::F32)) {
        return None;
    }
    // SAFETY: guaranteed by the caller.
    Some(unsafe { in_parts(ctx, desc, sizes, [l, r, o], pointers) })
}

/// # Safety
/// As for [`dot`].
unsafe fn in_parts(
    ctx: &Context,
    desc: &DotDesc,
    sizes: Sizes,
    [l, r, o]: [ElementCode; 3],
    (lhs, rhs, out): (*const u8, *const u8, *mut u8),
) -> Result<(), Error> {
    let Sizes { batch, m, n, k } = sizes;
    let total = batch.checked_mul(m).and_then(|t| t.checked_mul(n));
    let total = total.ok_or_else(|| Error("the product is too large".into()))?;
    let parts = k.div_ceil(MAX_PART_LENGTH);
    let size = k.div_ceil(parts);
    let mut levels: [Option<Scratch>; MAX_LEVELS] = Default::default();
    for part in 0..parts {
        let first = part * size;
        let mut sum = Scratch::new::<f32>(total)?;
        let piece = DotDesc {
            out_type: ElementCode::F32 as i64,
            k: size.min(k - first) as i64,
            out_batch_stride: (m * n) as i64,
            out_m_stride: n as i64,
            out_n_stride: 1,
            ..*desc
        };
        let offset = |stride: i64, code: ElementCode| {
            stride.wrapping_mul(first as i64) as isize * code.byte_size() as isize
        };
        // SAFETY: the part is inside the product, and the sum has room for its result.
        unsafe {
            let lhs = lhs.offset(offset(desc.lhs_k_stride, l));
            let rhs = rhs.offset(offset(desc.rhs_k_stride, r));
            super::dot::<false>(ctx, &piece, lhs, rhs, sum.pointer::<u8>())?;
        }
        // A full level is added to the next one. After the last part, so is every level that is not empty.
        let (last, mut done) = (part + 1 == parts, part + 1);
        for level in &mut levels {
            if let Some(before) = level.take() {
                add(ctx, &before, &sum, total);
                sum = before;
            }
            let full = done.is_multiple_of(SUMS_PER_GROUP);
            done /= SUMS_PER_GROUP;
            if !(full || last && done > 0) {
                *level = Some(sum);
                break;
            }
        }
    }
    let sum = levels.into_iter().flatten().next().ok_or_else(|| Error("a product without parts".into()))?;
    // SAFETY: tasks write different elements of the output.
    let (from, to) = unsafe { (Shared::new(sum.pointer::<f32>()), Shared::new(out)) };
    ctx.for_each(total.div_ceil(TASK_ELEMENTS), |task| {
        for i in task * TASK_ELEMENTS..total.min((task + 1) * TASK_ELEMENTS) {
            let (b, row, column) = (i / (m * n), i / n % m, i % n);
            let at = desc.out_batch_stride * b as i64
                + desc.out_m_stride * row as i64
                + desc.out_n_stride * column as i64;
            // SAFETY: the sum has been computed, and the element belongs to the output.
            unsafe {
                from.get().add(i).read().store(o, to.get().offset(at as isize * o.byte_size() as isize))
            };
        }
    });
    Ok(())
}

/// Adds `terms[i]` to `sums[i]` for all `i`.
fn add(ctx: &Context, sums: &Scratch, terms: &Scratch, count: usize) {
    // SAFETY: tasks access different elements of buffers that have `count` elements.
    let (sums, terms) = unsafe { (Shared::new(sums.pointer::<f32>()), Shared::new(terms.pointer::<f32>())) };
    ctx.for_each(count.div_ceil(TASK_ELEMENTS), |task| {
        let (first, size) = (task * TASK_ELEMENTS, TASK_ELEMENTS.min(count - task * TASK_ELEMENTS));
        // SAFETY: as above.
        unsafe {
            let sums = std::slice::from_raw_parts_mut(sums.get().add(first), size);
            let terms = std::slice::from_raw_parts(terms.get().add(first), size);
            sums.iter_mut().zip(terms).for_each(|(s, &t)| *s += t);
        }
    });
}
