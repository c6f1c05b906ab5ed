#[allow(dead_code, reason = "not every program uses all of it")]
impl Arena {
    /// New memory; a large one is better put in a `static` or borrowed from the heap.
    pub const fn new() -> Self {
        Arena(MaybeUninit::uninit())
    }

    /// The arena in borrowed memory; `None` if it is too small or not aligned.
    pub fn in_memory(memory: &mut [MaybeUninit<u8>]) -> Option<&mut Self> {
        let fits = memory.len() >= size_of::<Self>() && memory.as_ptr().cast::<Self>().is_aligned();
        // SAFETY: the memory is large enough, aligned, and borrowed as long; an arena may hold anything.
        fits.then(|| unsafe { &mut *memory.as_mut_ptr().cast::<Self>() })
    }
}

impl Default for Arena {
    fn default() -> Self {
        Self::new()
    }
}
