/// What stands for a token: nothing.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct Token(*const c_void);

impl Token {
    /// The only one.
    pub const TOKEN: Self = Token(core::ptr::null());
}

// SAFETY: the address is null and never used.
unsafe impl Send for Token {}
// SAFETY: as above.
unsafe impl Sync for Token {}
