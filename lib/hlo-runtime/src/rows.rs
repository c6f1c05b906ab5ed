//! Copies of rows between arrays by offsets and sizes known at run time: `ragged-all-to-all` on one device.

use hlo_runtime_core::{Context, Error, RowsDesc};

/// Returns number `n` of a list. The result is an `i128`, because an unsigned 64-bit number may not fit an
/// `i64`.
///
/// # Safety
/// The list must have more than `n` numbers.
unsafe fn number(d: &RowsDesc, list: *const u8, n: usize) -> Result<i128, Error> {
    let at = list.wrapping_add(n * d.index_bytes as usize);
    // SAFETY: guaranteed by the caller; the address may have any alignment.
    Ok(unsafe {
        match (d.index_bytes, d.signed != 0) {
            (1, true) => at.cast::<i8>().read_unaligned().into(),
            (1, false) => at.read_unaligned().into(),
            (2, true) => at.cast::<i16>().read_unaligned().into(),
            (2, false) => at.cast::<u16>().read_unaligned().into(),
            (4, true) => at.cast::<i32>().read_unaligned().into(),
            (4, false) => at.cast::<u32>().read_unaligned().into(),
            (8, true) => at.cast::<i64>().read_unaligned().into(),
            (8, false) => at.cast::<u64>().read_unaligned().into(),
            (bytes, _) => return Err(Error(format!("internal error: indices of {bytes} bytes"))),
        }
    })
}

/// Returns the number as an `i64` if it is in `0..=rows`, otherwise an error.
fn within(number: i128, rows: i64, what: &str, piece: usize) -> Result<i64, Error> {
    match i64::try_from(number) {
        Ok(n) if (0..=rows).contains(&n) => Ok(n),
        _ => Err(Error(format!("{what} {number} of piece {piece} is not within the {rows} rows"))),
    }
}

/// Copies pieces of rows. Piece `i` has `sizes[i]` rows and is copied from row `from_offsets[i]` of `from` to
/// row `to_offsets[i]` of `to`. `received` must equal `sizes`. Returns 0, or 1 with a message in the context
/// if a piece is not within the rows.
///
/// # Safety
/// `ctx` must point to a live [`Context`] and `desc` to a descriptor. The arrays must have the rows and the
/// lists the pieces of the descriptor. `from` and `to` must not overlap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_move_rows(
    ctx: *const Context,
    desc: *const RowsDesc,
    from: *const u8,
    from_offsets: *const u8,
    sizes: *const u8,
    to_offsets: *const u8,
    received: *const u8,
    to: *mut u8,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    let (ctx, d) = unsafe { (&*ctx, &*desc) };
    ctx.guard("ragged-all-to-all", || {
        for piece in 0..d.pieces.max(0) as usize {
            // SAFETY: the caller guarantees that the lists have this many numbers.
            let [size, also, a, b] =
                unsafe { [sizes, received, from_offsets, to_offsets].map(|list| number(d, list, piece)) };
            let (size, also) = (size?, also?);
            let n = within(size, d.from_rows.min(d.to_rows), "the send size", piece)?;
            if size != also {
                let message = format!("piece {piece}: {n} rows are sent, another number is received");
                return Err(Error(message));
            }
            let a = within(a?, d.from_rows - n, "the input offset", piece)?;
            let b = within(b?, d.to_rows - n, "the output offset", piece)?;
            let [a, b, n] = [a, b, n].map(|rows| (rows * d.row_bytes) as usize);
            // SAFETY: the checks above ensure that both ranges are within the arrays; the caller guarantees
            // that they do not overlap.
            unsafe { std::ptr::copy_nonoverlapping(from.wrapping_add(a), to.wrapping_add(b), n) };
        }
        Ok(())
    })
}
