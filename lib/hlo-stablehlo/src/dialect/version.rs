//! Versions of StableHLO.

use std::fmt;
use std::str::FromStr;

/// A version of StableHLO and VHLO.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// Incompatible changes increase this number.
    pub major: u32,
    /// Each change of operations, attributes or types increases this number.
    pub minor: u32,
    /// All other changes increase this number.
    pub patch: u32,
}

impl Version {
    /// The oldest version that can be read and written.
    pub const MINIMUM: Self = Self::new(0, 9, 0);
    /// The newest version that can be read and written.
    pub const CURRENT: Self = Self::new(1, 20, 0);

    /// Creates a version from three numbers.
    pub const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self { major, minor, patch }
    }

    /// Returns the version of MLIR bytecode that StableHLO uses for this version.
    pub fn bytecode(self) -> u64 {
        match (self.major, self.minor) {
            (0, ..10) => 0,
            (0, ..12) => 1,
            (0, ..14) => 3,
            (0, ..15) => 4,
            _ => 6,
        }
    }

    /// Parses a version in a constant. `text` is three numbers separated by dots.
    ///
    /// # Panics
    /// If the text is invalid.
    pub(super) const fn parse_constant(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut parts = [0u32; 3];
        let (mut part, mut at) = (0, 0);
        while at < bytes.len() {
            match bytes[at] {
                b'.' => part += 1,
                digit => {
                    assert!(digit.is_ascii_digit(), "a version is numbers");
                    parts[part] = parts[part] * 10 + (digit - b'0') as u32;
                }
            }
            at += 1;
        }
        assert!(part == 2, "a version is three numbers");
        Self::new(parts[0], parts[1], parts[2])
    }
}

/// The error for a text that is not a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoVersion;

impl fmt::Display for NoVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a version is three numbers, such as 1.13.0")
    }
}

impl std::error::Error for NoVersion {}

impl FromStr for Version {
    type Err = NoVersion;

    fn from_str(text: &str) -> Result<Self, NoVersion> {
        let mut parts = text.split('.').map(|part| {
            let is_number = !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
            part.parse().ok().filter(|_| is_number).ok_or(NoVersion)
        });
        let mut next = || parts.next().unwrap_or(Err(NoVersion));
        let version = Self::new(next()?, next()?, next()?);
        if parts.next().is_some() { Err(NoVersion) } else { Ok(version) }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}
