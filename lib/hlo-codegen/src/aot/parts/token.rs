/// The value of a token, which contains no data.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct Token(*const c_void);

impl Token {
    /// The only token.
    pub const TOKEN: Self = Token(core::ptr::null());
}

// SAFETY: the address is null and never used.
unsafe impl Send for Token {}
// SAFETY: as above.
unsafe impl Sync for Token {}
