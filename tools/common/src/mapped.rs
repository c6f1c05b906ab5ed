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

    /// These bytes of the file as the elements of an array; `None` if the file has not all of them, or there is no memory
    /// for them.
    pub fn elements(&self, range: Range<usize>) -> Option<AlignedBytes> {
        let bytes = self.get(range)?;
        let mut elements = AlignedBytes::try_zeroed(bytes.len())?;
        elements.copy_from_slice(bytes);
        Some(elements)
    }
}

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
