//! Concatenation of many arrays.

use hlo_runtime_core::{Context, Error, JoinDesc, Shared};

/// The minimum number of bytes that a task copies, if there are enough.
const TASK_BYTES: usize = 1 << 18;

/// Concatenates arrays. `piece_bytes` are the sizes of the operands' pieces. Returns 0, or 1 with a message
/// in the context.
///
/// # Safety
/// `ctx` must point to a live [`Context`] and `desc` to a descriptor. `piece_bytes` and `operands` must have
/// `operands` entries as in the descriptor, and `results` one entry. Each operand must be readable and the
/// result writable for all rows, and they must not overlap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_join(
    ctx: *const Context,
    desc: *const JoinDesc,
    piece_bytes: *const i64,
    operands: *const *const u8,
    results: *const *mut u8,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    let (ctx, desc) = unsafe { (&*ctx, *desc) };
    ctx.guard("concatenate", || {
        let wrong = |_| Error(format!("{} rows of {} operands", desc.rows, desc.operands));
        let rows = usize::try_from(desc.rows).map_err(wrong)?;
        let count = usize::try_from(desc.operands).map_err(wrong)?;
        // SAFETY: guaranteed by the caller.
        let (sizes, operands, to) = unsafe {
            (
                std::slice::from_raw_parts(piece_bytes, count),
                std::slice::from_raw_parts(operands, count),
                *results,
            )
        };
        let row_bytes = sizes.iter().map(|&n| n as usize).sum::<usize>();
        // SAFETY: rows are disjoint.
        let shared = unsafe { Shared::new((operands.as_ptr(), to)) };
        let grain = (TASK_BYTES / row_bytes.max(1)).max(1);
        ctx.for_each(rows.div_ceil(grain), |task| {
            let (operands, to) = shared.get();
            for row in task * grain..rows.min((task + 1) * grain) {
                let mut at = row * row_bytes;
                for (i, &bytes) in sizes.iter().enumerate() {
                    let bytes = bytes as usize;
                    // SAFETY: each operand has `rows` pieces, and the result has room for the pieces of all
                    // operands.
                    unsafe {
                        let from = (*operands.add(i)).add(row * bytes);
                        std::ptr::copy_nonoverlapping(from, to.add(at), bytes);
                    }
                    at += bytes;
                }
            }
        });
        Ok(())
    })
}
