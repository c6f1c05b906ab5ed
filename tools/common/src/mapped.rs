//! The bytes of files with arrays, mapped into memory. Large files are not copied through a buffer, and of an
//! archive only the parts in use are read.
//!
//! A file should not change until the tool ends. If another process writes to it, arrays may contain old
//! values, new values, or some of both. If another process truncates the file, the system ends the tool with
//! a signal (SIGBUS). Writing a new file next to the old one and renaming it, as these tools do, is safe.

use crate::memory::available_bytes;
use crate::open_file;
use hlo_ir::AlignedBytes;
use memmap2::Mmap;
use stable_deref_trait::StableDeref;
use std::fs::File;
use std::io::Read;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// Number of bytes at the start of a file that identify its format.
const SIGNATURE_BYTES: u64 = 16;

/// All bytes of a file. Clones share them.
#[derive(Clone, Debug)]
pub struct FileBytes(Arc<Contents>);

#[derive(Debug)]
enum Contents {
    Mapped(Mmap),
    /// The contents of a file that cannot be mapped, such as a pipe.
    Read(Vec<u8>),
}

impl FileBytes {
    /// Opens a file. `expected` describes the expected contents in errors. Files that are not regular, such
    /// as pipes, are only read if `is_known` accepts their first bytes, because a device might never end.
    ///
    /// # Errors
    /// Returns an error if the file does not exist, is not readable, is a directory, or must be read and is
    /// larger than the available memory.
    pub fn open(path: &str, expected: &str, is_known: impl FnOnce(&[u8]) -> bool) -> Result<Self, String> {
        let (file, size) = open_file(path, expected)?;
        // Files such as those in /proc have a size of 0.
        if size > 0 && file.metadata().is_ok_and(|m| m.is_file()) {
            return map(&file).map(|map| Self(Arc::new(Contents::Mapped(map))));
        }
        let mut bytes = Vec::new();
        let read = |limit: u64, bytes: &mut Vec<u8>| {
            (&file).take(limit).read_to_end(bytes).map_err(|e| e.to_string())
        };
        read(SIGNATURE_BYTES, &mut bytes)?;
        if is_known(&bytes) {
            let limit = available_bytes() as u64;
            if read(limit, &mut bytes)? as u64 == limit {
                return Err("larger than the memory that is available".to_string());
            }
        }
        Ok(Self(Arc::new(Contents::Read(bytes))))
    }

    /// Returns a range of bytes as the elements of an array. Large ranges with suitable alignment share the
    /// memory of the file; others are copied. Returns `None` if the file does not contain the range, or if
    /// there is not enough memory for a copy.
    pub fn elements(&self, range: Range<usize>) -> Option<AlignedBytes> {
        let bytes = self.get(range.clone())?;
        if bytes.len() >= MAX_COPIED_BYTES && bytes.as_ptr().addr().is_multiple_of(align_of::<u128>()) {
            Some(AlignedBytes::from_owner(Part { file: self.clone(), range }))
        } else {
            AlignedBytes::try_from_slice(bytes)
        }
    }
}

/// Ranges of fewer bytes are copied, which costs less than keeping the file in memory.
const MAX_COPIED_BYTES: usize = 64 << 10;

/// A range of bytes of a file.
struct Part {
    file: FileBytes,
    range: Range<usize>,
}

impl Deref for Part {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.file.get(self.range.clone()).unwrap_or_default()
    }
}

// SAFETY: the bytes of a file stay at the same address as long as one of its clones exists.
unsafe impl StableDeref for Part {}

impl From<Vec<u8>> for FileBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Arc::new(Contents::Read(bytes)))
    }
}

impl Deref for FileBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &*self.0 {
            Contents::Mapped(map) => map,
            Contents::Read(bytes) => bytes,
        }
    }
}

impl AsRef<[u8]> for FileBytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

fn map(file: &File) -> Result<Mmap, String> {
    // SAFETY: the map is only read. All decisions that depend on its contents (headers, names, offsets) use
    // copies of those bytes. Elements are plain numbers, for which all bit patterns are valid. The system
    // cannot guarantee that nobody else changes the file; the module documentation describes the
    // consequences.
    unsafe { Mmap::map(file) }.map_err(|e| format!("can't be mapped into memory: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, bytes: &[u8]) -> String {
        let path = std::env::temp_dir().join(format!("hlo-mapped-{}-{name}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_string()
    }

    #[test]
    fn regular_files_are_mapped() {
        let path = file("regular", b"0123456789");
        let bytes = FileBytes::open(&path, "an array", |_| panic!("not asked")).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(*bytes.0, Contents::Mapped(_)));
        assert_eq!(&bytes[..], b"0123456789");
        assert_eq!(&bytes.elements(3..5).unwrap()[..], b"34");
        assert!(bytes.elements(3..11).is_none() && bytes.elements(11..12).is_none());
    }

    #[test]
    fn large_arrays_lie_in_the_file_where_they_can() {
        let path = file("large", &vec![7; 3 * MAX_COPIED_BYTES]);
        let bytes = FileBytes::open(&path, "an array", |_| panic!("not asked")).unwrap();
        std::fs::remove_file(&path).unwrap();
        let there = bytes.elements(64..64 + MAX_COPIED_BYTES).unwrap();
        assert!(there.is_borrowed() && there.as_ptr() == bytes[64..].as_ptr());
        let copies = [bytes.elements(65..65 + MAX_COPIED_BYTES), bytes.elements(64..63 + MAX_COPIED_BYTES)];
        drop(bytes);
        for copy in copies {
            assert!(copy.is_some_and(|c| !c.is_borrowed() && c[MAX_COPIED_BYTES - 2] == 7));
        }
        assert_eq!(there[MAX_COPIED_BYTES - 1], 7);
    }

    #[test]
    fn empty_files_have_no_bytes() {
        let path = file("empty", b"");
        assert!(FileBytes::open(&path, "an array", |_| true).unwrap().is_empty());
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn files_of_the_system_and_devices_are_read_as_far_as_they_are_known() {
        let status = FileBytes::open("/proc/self/status", "an array", |start| start.starts_with(b"Name:"));
        assert!(status.unwrap().len() > SIGNATURE_BYTES as usize);
        let zeros = FileBytes::open("/dev/zero", "an array", |start| start[0] != 0).unwrap();
        assert_eq!(zeros.len(), SIGNATURE_BYTES as usize);
        assert_eq!(
            FileBytes::open("/proc/self", "an array", |_| true).unwrap_err(),
            "is a directory; a file with an array is expected"
        );
    }
}
