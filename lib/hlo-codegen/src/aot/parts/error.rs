/// The error of a failed run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error(i32);

#[allow(dead_code, reason = "not every program uses all of it")]
impl Error {
    /// Returns the status that the program returned.
    pub fn status(self) -> i32 {
        self.0
    }
}

impl core::error::Error for Error {}
