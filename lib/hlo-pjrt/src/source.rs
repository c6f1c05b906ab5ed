//! Programs as callers pass them: a format, the bytes, and options. A serialized executable contains the
//! same. Compiled code is stored in a folder (the client option `cache_dir`), where a program that is loaded
//! again finds it.

use crate::fault::{Fault, Result};

/// A program as the caller passed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The name of the format.
    pub format: String,
    /// The bytes of the program.
    pub code: Vec<u8>,
    /// A `CompileOptionsProto`.
    pub options: Vec<u8>,
}

/// The first bytes of a serialized executable, including the version of the format.
const MAGIC: &[u8; 16] = b"hlo executable 1";

impl Source {
    /// Serializes the program.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for part in [self.format.as_bytes(), &self.code, &self.options] {
            bytes.extend((part.len() as u64).to_le_bytes());
            bytes.extend(part);
        }
        bytes
    }

    /// Reads a serialized program.
    ///
    /// # Errors
    /// The bytes are not a serialized program.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let wrong = || Fault::invalid("these bytes are no serialized executable of this plugin's version");
        let mut rest = bytes.strip_prefix(MAGIC).ok_or_else(wrong)?;
        let mut part = || -> Result<Vec<u8>> {
            let (size, after) = rest.split_first_chunk::<8>().ok_or_else(wrong)?;
            let size = usize::try_from(u64::from_le_bytes(*size)).map_err(|_| wrong())?;
            let (part, after) = after.split_at_checked(size).ok_or_else(wrong)?;
            rest = after;
            Ok(part.to_vec())
        };
        let (format, code, options) = (part()?, part()?, part()?);
        if rest.is_empty() {
            Ok(Self { format: String::from_utf8(format).map_err(|_| wrong())?, code, options })
        } else {
            Err(wrong())
        }
    }
}
