//! Selects the first elements of each row in an order, and their positions.

use super::key::{Key, KeyWord};
use hlo_runtime_core::{Context, Error, Scratch, Shared, TopKDesc};

/// Selects the first `k` elements of each row. Writes the elements to `values` and their positions, as 32-bit
/// integers, to `positions`. Returns 0, or 1 with a message in the context.
///
/// # Safety
/// `ctx` must point to a live [`Context`] and `desc` to a descriptor. `from` must be fully readable, `values`
/// and `positions` fully writable, and they must not overlap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_top_k(
    ctx: *const Context,
    desc: *const TopKDesc,
    from: *const u8,
    values: *mut u8,
    positions: *mut i32,
) -> i32 {
    /// The minimum number of elements of a task.
    const MIN_TASK_ELEMENTS: usize = 1 << 12;
    // SAFETY: guaranteed by the caller.
    unsafe {
        (*ctx).guard("topk", || {
            let desc = &*desc;
            let natural = |n: i64| usize::try_from(n).map_err(|_| Error(format!("a size of {n}")));
            let (rows, size, k) = (natural(desc.rows)?, natural(desc.size)?, natural(desc.k)?);
            if k > size || i32::try_from(size).is_err() {
                return Err(Error(format!("{k} of {size} elements can't be selected")));
            }
            let bytes = natural(desc.key.bits)?.div_ceil(8);
            let key = Key::new(&desc.key, bytes)?;
            if rows == 0 || k == 0 {
                return Ok(());
            }
            let buffers = Shared::new((from, values, positions));
            let grain = (MIN_TASK_ELEMENTS / size).clamp(1, rows);
            (*ctx).try_for_each(rows.div_ceil(grain), |task| {
                let (from, values, positions) = buffers.get();
                for row in task * grain..rows.min((task + 1) * grain) {
                    let row = Row {
                        from: from.add(row * size * bytes),
                        values: values.add(row * k * bytes),
                        positions: positions.add(row * k),
                        bytes,
                    };
                    if key.is_short() {
                        select::<u32>(row, size, k, &key)?;
                    } else {
                        select::<u64>(row, size, k, &key)?;
                    }
                }
                Ok(())
            })
        })
    }
}

/// One row and its results.
struct Row {
    from: *const u8,
    values: *mut u8,
    positions: *mut i32,
    bytes: usize,
}

/// The number of elements whose keys are computed together.
const BLOCK_KEYS: usize = 128;

/// Reads the row once and keeps a few candidates. For each block of the remaining elements, one comparison
/// per element decides whether the whole block sorts after the `k` best candidates so far.
///
/// # Safety
/// The row's elements must be readable and its results writable. `k` must be in `1..=size`, and `K` must be
/// wide enough for the keys.
unsafe fn select<K: KeyWord>(row: Row, size: usize, k: usize, key: &Key) -> Result<(), Error> {
    /// The minimum size of the candidate buffer.
    const MIN_CANDIDATES: usize = 64;
    let room = size.min(MIN_CANDIDATES.max(4 * k));
    let scratch = Scratch::new::<(K, u32)>(room)?;
    // Computes the keys of a block of elements.
    let keys_of = |start: usize, end: usize, keys: &mut [K; BLOCK_KEYS]| {
        let count = BLOCK_KEYS.min(end - start);
        // SAFETY: guaranteed by the caller.
        unsafe { key.compute_keys(row.from.add(start * row.bytes), &mut keys[..count]) };
        count
    };
    let mut keys = [K::from_bits(0); BLOCK_KEYS];
    for start in (0..room).step_by(BLOCK_KEYS) {
        let count = keys_of(start, room, &mut keys);
        for (n, &key) in keys[..count].iter().enumerate() {
            // SAFETY: the buffer has room for the pairs.
            unsafe { scratch.pointer::<(K, u32)>().add(start + n).write((key, (start + n) as u32)) };
        }
    }
    // SAFETY: the loop above wrote the pairs.
    let candidates = unsafe { std::slice::from_raw_parts_mut(scratch.pointer::<(K, u32)>(), room) };
    let mut count = room;
    if room < size {
        // Moves the first `k` pairs to the front. No two pairs are equal, so the result does not depend on
        // the algorithm.
        let last_of = |candidates: &mut [(K, u32)]| candidates.select_nth_unstable(k - 1).1.0;
        let mut last = last_of(candidates);
        count = k;
        for start in (room..size).step_by(BLOCK_KEYS) {
            let keys = {
                let count = keys_of(start, size, &mut keys);
                &keys[..count]
            };
            // One check for the whole block, without a branch per element. An element with an equal key sorts
            // after the candidate, because its position is larger.
            if keys.iter().fold(true, |behind, key| behind & (*key >= last)) {
                continue;
            }
            for (n, &key) in keys.iter().enumerate() {
                if key >= last {
                    continue;
                }
                candidates[count] = (key, (start + n) as u32);
                count += 1;
                if count == room {
                    last = last_of(candidates);
                    count = k;
                }
            }
        }
    }
    let candidates = &mut candidates[..count];
    if k < count {
        candidates.select_nth_unstable(k - 1);
    }
    let first = &mut candidates[..k];
    first.sort_unstable();
    for (n, &(_, at)) in first.iter().enumerate() {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let from = row.from.add(at as usize * row.bytes);
            std::ptr::copy_nonoverlapping(from, row.values.add(n * row.bytes), row.bytes);
            row.positions.add(n).write(at as i32);
        }
    }
    Ok(())
}
