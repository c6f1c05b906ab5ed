//! Collectives: what the devices of a run do together, by the communicator of their contexts. A device that is in no
//! group of a collective gets zeros.

use hlo_communicator::collective::{self, Rows};
use hlo_communicator::{Communicator, Failure, Reduced};
use hlo_runtime_core::{Combiner, Context, Exchange, RowsDesc};

/// The arrays of a call, by the words that say how many bytes each has.
struct Arrays<'a> {
    operands: Vec<&'a [u8]>,
    results: Vec<&'a mut [u8]>,
}

/// Bytes at an address; of none, the address may be any.
///
/// # Safety
/// There are so many bytes, which nobody writes.
unsafe fn bytes<'a>(address: *const u8, count: i64) -> &'a [u8] {
    match usize::try_from(count) {
        // SAFETY: the caller's promise.
        Ok(count) if count > 0 => unsafe { std::slice::from_raw_parts(address, count) },
        _ => &[],
    }
}

/// Bytes at an address; of none, the address may be any.
///
/// # Safety
/// There are so many bytes, which nobody else reads or writes.
unsafe fn bytes_mut<'a>(address: *mut u8, count: i64) -> &'a mut [u8] {
    match usize::try_from(count) {
        // SAFETY: the caller's promise.
        Ok(count) if count > 0 => unsafe { std::slice::from_raw_parts_mut(address, count) },
        _ => &mut [],
    }
}

impl Arrays<'_> {
    /// # Safety
    /// `sizes` has a word for each operand, then for each result; the lists have their addresses.
    unsafe fn new(
        (operand_count, result_count): (i64, i64),
        sizes: *const i64,
        operands: *const *const u8,
        results: *const *mut u8,
    ) -> Self {
        let (operand_count, result_count) = (operand_count.max(0) as usize, result_count.max(0) as usize);
        // SAFETY: the caller's promise.
        unsafe {
            let operand = |n: usize| bytes(*operands.add(n), *sizes.add(n));
            let result = |n: usize| bytes_mut(*results.add(n), *sizes.add(operand_count + n));
            Self {
                operands: (0..operand_count).map(operand).collect(),
                results: (0..result_count).map(result).collect(),
            }
        }
    }

    fn zero(&mut self) {
        self.results.iter_mut().for_each(|r| r.fill(0));
    }
}

/// True if this device takes part in a collective.
fn takes_part(communicator: &dyn Communicator, site: usize) -> bool {
    communicator.table().group(site, communicator.device()).is_some()
}

/// Writes `device / divisor % modulus` of the run's device, a `u32`: the number of its replica or partition. Always
/// returns 0.
///
/// # Safety
/// `ctx` must point to a live [`Context`], `to` to four writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_device_id(
    ctx: *const Context,
    divisor: i64,
    modulus: i64,
    to: *mut u8,
) -> i32 {
    // SAFETY: the caller's promise.
    let device = unsafe { &*ctx }.device() as i64;
    let id = (device / divisor.max(1) % modulus.max(1)) as u32;
    // SAFETY: the caller's promise.
    unsafe { to.cast::<u32>().write_unaligned(id) };
    0
}

/// Exchanges arrays by the [`Exchange`] in the first word of the descriptor. Then come the numbers of operands and
/// results, the bytes of a root, and the bytes of each operand and result. The roots are the last operand of a broadcast:
/// the places of the members that send. Their bytes are negative if they are signed, and 0 if there are none. Returns 0, or
/// 1 with the failure in the context.
///
/// # Safety
/// `ctx` must point to a live [`Context`], `desc` to such a descriptor; the lists have the addresses of arrays of these
/// sizes, and no result overlaps another array.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_exchange(
    ctx: *const Context,
    site: i64,
    desc: *const i64,
    operands: *const *const u8,
    results: *const *mut u8,
) -> i32 {
    // SAFETY: the caller's promise.
    let (ctx, [kind, operand_count, result_count, root_bytes]) = unsafe { (&*ctx, *desc.cast::<[i64; 4]>()) };
    // SAFETY: the caller's promise.
    let mut arrays = unsafe { Arrays::new((operand_count, result_count), desc.add(4), operands, results) };
    let site = site as usize;
    ctx.communicate(site, |comm| {
        if !takes_part(comm, site) {
            arrays.zero();
            return Ok(());
        }
        let Arrays { operands, results } = &mut arrays;
        let missing = || Failure::Here("internal error: an exchange without arrays".into());
        match Exchange::from_number(kind) {
            Some(Exchange::AllGather) => collective::all_gather(comm, site, operands, results),
            Some(Exchange::AllToAll) => {
                let (operand, result) = operands.first().zip(results.first_mut()).ok_or_else(missing)?;
                collective::all_to_all(comm, site, operand, result)
            }
            Some(Exchange::AllToAllTuple) => collective::all_to_all_tuple(comm, site, operands, results),
            Some(Exchange::Broadcast) => {
                let roots: Vec<i64> = match (root_bytes.unsigned_abs() as usize, operands.split_last()) {
                    (size @ 1.., Some((roots, _))) => integers(roots, size, root_bytes < 0),
                    _ => vec![0],
                };
                collective::broadcast(comm, site, &roots, &operands[..results.len()], results)
            }
            Some(Exchange::Permute) => {
                let ends = comm.table().ends(site, comm.device());
                if !collective::permute(comm, site, ends, operands, results)? {
                    arrays.zero();
                }
                Ok(())
            }
            None => Err(missing()),
        }
    })
}

/// Integers of `size` bytes each.
fn integers(bytes: &[u8], size: usize, is_signed: bool) -> Vec<i64> {
    bytes.chunks_exact(size).map(|number| integer(number, is_signed)).collect()
}

/// An integer of up to eight bytes; one that is too large is negative.
fn integer(bytes: &[u8], is_signed: bool) -> i64 {
    let mut word = [0u8; 8];
    let count = bytes.len().min(8);
    word[..count].copy_from_slice(&bytes[..count]);
    let value = i64::from_le_bytes(word);
    let unused = 64 - 8 * count as u32;
    match (is_signed, unused) {
        (true, 1..64) => value << unused >> unused,
        _ => value,
    }
}

/// Combines arrays of all members of the group to each of them. The descriptor: the bytes of an element, the number of
/// arrays, the bytes of each operand, those of each result. Returns 0, or 1 with the failure in the context.
///
/// # Safety
/// As for [`hlo_rt_exchange`]; `combine` combines elements of so many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_all_reduce(
    ctx: *const Context,
    site: i64,
    desc: *const i64,
    operands: *const *const u8,
    results: *const *mut u8,
    combine: Combiner,
) -> i32 {
    // SAFETY: the caller's promise.
    let (ctx, [element_bytes, count]) = unsafe { (&*ctx, *desc.cast::<[i64; 2]>()) };
    // SAFETY: the caller's promise.
    let mut arrays = unsafe { Arrays::new((count, count), desc.add(2), operands, results) };
    let (site, element_bytes) = (site as usize, element_bytes.max(1) as usize);
    ctx.communicate(site, |comm| {
        if !takes_part(comm, site) {
            arrays.zero();
            return Ok(());
        }
        let pairs = arrays.operands.iter().zip(&mut arrays.results);
        let reduced = pairs.map(|(operand, result)| Reduced { operand, result, element_bytes });
        let mut reduced: Vec<Reduced<'_>> = reduced.collect();
        comm.all_reduce(site, &mut reduced, &mut |_, members, result| {
            // SAFETY: the caller's promise; the communicator gives parts of one size.
            unsafe { combined(combine, members, result, element_bytes) };
            Ok(())
        })
    })
}

/// Combines the members' pieces for this one. The descriptor is that of [`hlo_rt_all_reduce`]. Returns 0, or 1 with the
/// failure in the context.
///
/// # Safety
/// As for [`hlo_rt_all_reduce`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_reduce_scatter(
    ctx: *const Context,
    site: i64,
    desc: *const i64,
    operands: *const *const u8,
    results: *const *mut u8,
    combine: Combiner,
) -> i32 {
    // SAFETY: the caller's promise.
    let (ctx, [element_bytes, count]) = unsafe { (&*ctx, *desc.cast::<[i64; 2]>()) };
    // SAFETY: the caller's promise.
    let mut arrays = unsafe { Arrays::new((count, count), desc.add(2), operands, results) };
    let (site, element_bytes) = (site as usize, element_bytes.max(1) as usize);
    ctx.communicate(site, |comm| {
        if !takes_part(comm, site) {
            arrays.zero();
            return Ok(());
        }
        let Arrays { operands, results } = &mut arrays;
        collective::reduce_scatter(comm, site, operands, results, &mut |_, members, result| {
            // SAFETY: the caller's promise; the pieces are of one size.
            unsafe { combined(combine, members, result, element_bytes) };
            Ok(())
        })
    })
}

/// Combines pieces of one size.
///
/// # Safety
/// `combine` combines elements of so many bytes.
unsafe fn combined(combine: Combiner, members: &[&[u8]], result: &mut [u8], element_bytes: usize) {
    if let [one] = members {
        return result.copy_from_slice(one);
    }
    let elements = (result.len() / element_bytes) as i64;
    let addresses: Vec<*const u8> = members.iter().map(|m| m.as_ptr()).collect();
    // SAFETY: each member has so many elements, and the result is another array.
    unsafe { combine(addresses.as_ptr(), addresses.len() as i64, result.as_mut_ptr(), elements) };
}

/// Rows of the members' inputs replace rows of `to`: `ragged-all-to-all`. The operands are the input, its offsets, the
/// sizes that are sent, the offsets in the output, and the sizes that are received; the output is there already. Returns
/// 0, or 1 with the failure in the context.
///
/// # Safety
/// `ctx` must point to a live [`Context`] and `desc` to a descriptor; the list has the addresses of arrays with its rows and
/// pieces, none of which overlaps `to`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_exchange_rows(
    ctx: *const Context,
    site: i64,
    desc: *const RowsDesc,
    operands: *const *const u8,
    to: *mut u8,
) -> i32 {
    // SAFETY: the caller's promise.
    let (ctx, d, operands) = unsafe { (&*ctx, &*desc, *operands.cast::<[*const u8; 5]>()) };
    let site = site as usize;
    ctx.communicate(site, |comm| {
        let pieces = d.pieces.max(0) as usize;
        let size = d.index_bytes.clamp(1, 8) as usize;
        let numbers = |n: usize| -> Vec<i64> {
            // SAFETY: the caller's promise.
            integers(unsafe { bytes(operands[n], (pieces * size) as i64) }, size, d.signed != 0)
        };
        let [from, sizes, offsets, received] = [1, 2, 3, 4].map(numbers);
        // SAFETY: the caller's promise.
        let (input, output) = unsafe {
            (bytes(operands[0], d.from_rows * d.row_bytes), bytes_mut(to, d.to_rows * d.row_bytes))
        };
        let rows = Rows {
            input,
            counts: [d.from_rows.max(0) as usize, d.to_rows.max(0) as usize],
            row_bytes: d.row_bytes.max(0) as usize,
            input_offsets: &from,
            send_sizes: &sizes,
            output_offsets: &offsets,
            receive_sizes: &received,
        };
        collective::ragged_all_to_all(comm, site, rows, output)
    })
}
