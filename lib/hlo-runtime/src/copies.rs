//! Many copies, or addresses, at once: what would be thousands of instructions of compiled code is a table.

/// Which of the program's lists of buffers a place is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i64)]
pub enum CopyPlace {
    /// The number of a leaf of the parameters.
    Param = 0,
    /// The number of a leaf of the result.
    Output = 1,
    /// The number of a constant.
    Constant = 2,
    /// An offset into the arena, in bytes.
    Arena = 3,
}

/// One copy of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct CopyEntry {
    /// The [`CopyPlace`] that is read, and where there.
    pub from: [i64; 2],
    /// The [`CopyPlace`] that is written, and where there.
    pub to: [i64; 2],
    /// How much.
    pub bytes: i64,
}

/// The program's buffers.
struct Places {
    lists: [*const *mut u8; 3],
    arena: *mut u8,
}

impl Places {
    /// # Safety
    /// The place must be one of the program.
    unsafe fn address(&self, [place, at]: [i64; 2]) -> *mut u8 {
        match self.lists.get(place as usize) {
            // SAFETY: the caller's promise.
            Some(list) => unsafe { *list.add(at as usize) },
            None => self.arena.wrapping_add(at as usize),
        }
    }
}

/// Does `count` copies, one after the other.
///
/// # Safety
/// `table` must point to `count` entries. What they read must be readable and what they write writable in the lists of
/// buffers and the arena; what one of them reads and writes must not overlap, unless it is the same.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_copies(
    params: *const *mut u8,
    outputs: *const *mut u8,
    constants: *const *mut u8,
    arena: *mut u8,
    table: *const CopyEntry,
    count: i64,
) {
    let places = Places { lists: [params, outputs, constants], arena };
    // SAFETY: the caller's promise.
    unsafe {
        for entry in std::slice::from_raw_parts(table, count as usize) {
            let (from, to) = (places.address(entry.from), places.address(entry.to));
            match entry.bytes {
                // Most are scalars: a load and a store are faster than a call.
                4 => to.cast::<[u8; 4]>().write(from.cast::<[u8; 4]>().read()),
                8 => to.cast::<[u8; 8]>().write(from.cast::<[u8; 8]>().read()),
                // A parameter that was given away is where its result will be.
                _ if std::ptr::eq(from, to) => {}
                n => std::ptr::copy_nonoverlapping(from, to, n as usize),
            }
        }
    }
}

/// Writes the addresses of `count` places down in a list.
///
/// # Safety
/// `table` must point to `count` places of the program, `list` to room for as many addresses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_addresses(
    params: *const *mut u8,
    outputs: *const *mut u8,
    constants: *const *mut u8,
    arena: *mut u8,
    table: *const [i64; 2],
    list: *mut *mut u8,
    count: i64,
) {
    let places = Places { lists: [params, outputs, constants], arena };
    // SAFETY: the caller's promise.
    unsafe {
        for (i, &place) in std::slice::from_raw_parts(table, count as usize).iter().enumerate() {
            list.add(i).write(places.address(place));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_done_in_order_between_all_places() {
        let (mut x, mut out, mut constant, mut arena) = ([1u8, 2, 3], [0u8; 8], [7u8; 8], [0u8; 16]);
        let lists = [x.as_mut_ptr(), out.as_mut_ptr(), constant.as_mut_ptr()];
        let entry = |from, to, bytes| CopyEntry { from, to, bytes };
        let place = |p: CopyPlace, at| [p as i64, at];
        let table = [
            entry(place(CopyPlace::Param, 0), place(CopyPlace::Arena, 5), 3),
            entry(place(CopyPlace::Constant, 0), place(CopyPlace::Arena, 8), 4),
            entry(place(CopyPlace::Arena, 4), place(CopyPlace::Output, 0), 8),
        ];
        // SAFETY: the lists have one buffer each, which the copies don't leave.
        unsafe {
            hlo_rt_copies(
                &lists[0],
                &lists[1],
                &lists[2],
                arena.as_mut_ptr(),
                table.as_ptr(),
                table.len() as i64,
            );
        }
        assert_eq!(out, [0, 1, 2, 3, 7, 7, 7, 7]);
    }
}
