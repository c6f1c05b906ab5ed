#[allow(dead_code, reason = "not every program uses all of it")]
impl Arena {
    /// Creates an arena. A large one should be in a `static`, or in memory borrowed from the heap (see
    /// `in_memory`).
    pub const fn new() -> Self {
        Arena(MaybeUninit::uninit())
    }

    /// Returns the arena in borrowed memory, or `None` if the memory is too small or not aligned.
    pub fn in_memory(memory: &mut [MaybeUninit<u8>]) -> Option<&mut Self> {
        let fits = memory.len() >= size_of::<Self>() && memory.as_ptr().cast::<Self>().is_aligned();
        // SAFETY: the memory is large enough, aligned, and borrowed for the lifetime of the result. An arena
        // may contain any bytes.
        fits.then(|| unsafe { &mut *memory.as_mut_ptr().cast::<Self>() })
    }
}

impl Default for Arena {
    fn default() -> Self {
        Self::new()
    }
}
