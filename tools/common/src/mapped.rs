//! The bytes of files with arrays, mapped into memory: large ones are not read through a buffer first, and of archives
//! only what is used is read at all.
//!
//! A file should stay as it is until the tool ends. If another process writes to it meanwhile, arrays may have old
//! values, new ones, or some of both; if it makes the file shorter, the system ends the tool with a signal (SIGBUS).
//! Tools that write a new file beside the old one and rename it, as these do, disturb nobody.

use crate::memory::available_bytes;
use crate::open_file;
use hlo_ir::AlignedBytes;
use memmap2::Mmap;
use stable_deref_trait::StableDeref;
use std::fs::File;
use std::io::Read;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// How much of a file tells what it is.
const START: u64 = 16;

/// All bytes of a file. Copies share them.
#[derive(Clone, Debug)]
pub struct FileBytes(Arc<Contents>);

#[derive(Debug)]
enum Contents {
    Mapped(Mmap),
    /// Of what can't be mapped, such as a pipe.
    Read(Vec<u8>),
}

impl FileBytes {
    /// Opens a file; errors say what is `expected` in it. What is no regular file, such as a pipe, is read, if its start
    /// is known: else it may be a device that never ends.
    ///
    /// # Errors
    /// There is no such file, it may not be read, is a directory, or larger than the memory that it would be read to.
    pub fn open(path: &str, expected: &str, is_known: impl FnOnce(&[u8]) -> bool) -> Result<Self, String> {
        let (file, size) = open_file(path, expected)?;
        // Files such as those of /proc say that they are empty.
        if size > 0 && file.metadata().is_ok_and(|m| m.is_file()) {
            return map(&file).map(|map| Self(Arc::new(Contents::Mapped(map))));
        }
        let mut bytes = Vec::new();
        let read = |limit: u64, bytes: &mut Vec<u8>| {
            (&file).take(limit).read_to_end(bytes).map_err(|e| e.to_string())
        };
        read(START, &mut bytes)?;
        if is_known(&bytes) {
            let limit = available_bytes() as u64;
            if read(limit, &mut bytes)? as u64 == limit {
                return Err("larger than the memory that is available".to_string());
            }
        }
        Ok(Self(Arc::new(Contents::Read(bytes))))
    }

    /// These bytes of the file as the elements of an array, which lie in the file if there are many and their place allows it.
    /// `None` if the file has not all of them, or there is no memory for a copy.
    pub fn elements(&self, range: Range<usize>) -> Option<AlignedBytes> {
        let bytes = self.get(range.clone())?;
        match bytes.len() >= COPIED && bytes.as_ptr().addr().is_multiple_of(align_of::<u128>()) {
            true => Some(AlignedBytes::from_owner(Part { file: self.clone(), range })),
            false => AlignedBytes::try_from_slice(bytes),
        }
    }
}

/// Fewer bytes are copied: that costs less than to keep a file.
const COPIED: usize = 64 << 10;

/// Some bytes of a file.
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

// SAFETY: a file's bytes lie where they were mapped or read to as long as one of its copies is there.
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
    // SAFETY: the map is only read, and all that is decided by what stands in it (headers, names, offsets) is decided by
    // copies of those bytes. Elements are plain numbers, which may be any bits. That nobody else changes the file
    // meanwhile can't be had from the system; what happens then is said above and in the documentation.
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
        let path = file("large", &vec![7; 3 * COPIED]);
        let bytes = FileBytes::open(&path, "an array", |_| panic!("not asked")).unwrap();
        std::fs::remove_file(&path).unwrap();
        let there = bytes.elements(64..64 + COPIED).unwrap();
        assert!(there.is_borrowed() && there.as_ptr() == bytes[64..].as_ptr());
        let copies = [bytes.elements(65..65 + COPIED), bytes.elements(64..63 + COPIED)];
        drop(bytes);
        for copy in copies {
            assert!(copy.is_some_and(|c| !c.is_borrowed() && c[COPIED - 2] == 7));
        }
        assert_eq!(there[COPIED - 1], 7);
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
        assert!(status.unwrap().len() > START as usize);
        let zeros = FileBytes::open("/dev/zero", "an array", |start| start[0] != 0).unwrap();
        assert_eq!(zeros.len(), START as usize);
        assert_eq!(
            FileBytes::open("/proc/self", "an array", |_| true).unwrap_err(),
            "is a directory; a file with an array is expected"
        );
    }
}
