//! Tables of copies or addresses. One table replaces thousands of instructions of compiled code.

/// The list of buffers of the program that contains a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i64)]
pub enum CopyPlace {
    /// A parameter buffer, by its leaf number.
    Param = 0,
    /// A result buffer, by its leaf number.
    Output = 1,
    /// A constant, by its number.
    Constant = 2,
    /// A byte offset in the arena.
    Arena = 3,
}

/// One copy in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct CopyEntry {
    /// The source: a [`CopyPlace`] and the number or offset in it.
    pub from: [i64; 2],
    /// The destination: a [`CopyPlace`] and the number or offset in it.
    pub to: [i64; 2],
    /// The number of bytes to copy.
    pub bytes: i64,
}

/// The buffers of the program.
struct Places {
    lists: [*const *mut u8; 3],
    arena: *mut u8,
}

impl Places {
    /// # Safety
    /// The place must exist in the program.
    unsafe fn address(&self, [place, at]: [i64; 2]) -> *mut u8 {
        match self.lists.get(place as usize) {
            // SAFETY: guaranteed by the caller.
            Some(list) => unsafe { *list.add(at as usize) },
            None => self.arena.wrapping_add(at as usize),
        }
    }
}

/// Performs `count` copies in order.
///
/// # Safety
/// `table` must point to `count` entries. Their sources must be readable and their destinations writable in
/// the lists of buffers and the arena. The source and destination of an entry must not overlap, unless they
/// are the same.
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
    // SAFETY: guaranteed by the caller.
    unsafe {
        for entry in std::slice::from_raw_parts(table, count as usize) {
            let (from, to) = (places.address(entry.from), places.address(entry.to));
            match entry.bytes {
                // Most copies are scalars. A load and a store are faster than a call.
                4 => to.cast::<[u8; 4]>().write(from.cast::<[u8; 4]>().read()),
                8 => to.cast::<[u8; 8]>().write(from.cast::<[u8; 8]>().read()),
                // The buffer of a donated parameter may already be the result's buffer.
                _ if std::ptr::eq(from, to) => {}
                n => std::ptr::copy_nonoverlapping(from, to, n as usize),
            }
        }
    }
}

/// Writes the addresses of `count` places to a list.
///
/// # Safety
/// `table` must point to `count` places of the program, and `list` to room for as many addresses.
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
    // SAFETY: guaranteed by the caller.
    unsafe {
        for (i, &place) in std::slice::from_raw_parts(table, count as usize).iter().enumerate() {
            list.add(i).write(places.address(place));
        }
    }
}
