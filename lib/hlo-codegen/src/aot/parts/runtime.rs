impl Error {
    /// Copies the message of the last failed run on this thread to `buffer`, and returns the copy. If the
    /// message does not fit into the buffer, it is truncated.
    pub fn message(self, buffer: &mut [u8]) -> &str {
        // SAFETY: the buffer has this number of bytes.
        let length = unsafe { hlo_last_error(buffer.as_mut_ptr(), buffer.len()) };
        let written = &buffer[..length.min(buffer.len().saturating_sub(1))];
        match core::str::from_utf8(written) {
            Ok(text) => text,
            Err(cut) => core::str::from_utf8(&written[..cut.valid_up_to()]).unwrap_or_default(),
        }
    }
}

impl core::fmt::Display for Error {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.message(&mut [0; 1024]) {
            "" => write!(f, "the program returned {}", self.0),
            message => f.write_str(message),
        }
    }
}

#[allow(dead_code, reason = "not every program uses all of it")]
unsafe extern "C" {
    fn hlo_context_create(threads: usize) -> *mut c_void;
    fn hlo_context_destroy(context: *mut c_void);
    fn hlo_context_set_seed(context: *mut c_void, seed: u64);
    fn hlo_last_error(message: *mut u8, capacity: usize) -> usize;
}

/// The number of threads and the seed of random numbers for runs. Several runs can use a context at the same
/// time.
#[allow(dead_code, reason = "not every program uses all of it")]
pub struct Context(*mut c_void);

// SAFETY: any thread can use a context of the runtime, and several threads can use it at the same time.
unsafe impl Send for Context {}
// SAFETY: as above. Functions that change a context take `&mut self`.
unsafe impl Sync for Context {}

#[allow(dead_code, reason = "not every program uses all of it")]
impl Context {
    /// Creates a context for runs on `threads` threads, which include the calling thread. With 0, runs use as
    /// many threads as the process may use. Returns `None` if there is no memory for the context.
    pub fn new(threads: usize) -> Option<Self> {
        // SAFETY: every number of threads is valid.
        let context = unsafe { hlo_context_create(threads) };
        (!context.is_null()).then_some(Context(context))
    }

    /// Sets the seed of random numbers. The initial seed is 0.
    pub fn set_seed(&mut self, seed: u64) {
        // SAFETY: the context is alive, and no run uses it.
        unsafe { hlo_context_set_seed(self.0, seed) }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: created by `hlo_context_create`, and not used afterwards.
        unsafe { hlo_context_destroy(self.0) }
    }
}
