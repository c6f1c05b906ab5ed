//! Archives of arrays: numpy's `.npz`, a zip file of `.npy` files. Arrays that are not compressed are used
//! directly from the file.

use crate::mapped::FileBytes;
use crate::npy;
use hlo_ir::{ArrayShape, Literal};
use std::io::{self, Cursor, Seek, Write};
use std::ops::Range;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// An open archive.
pub struct Npz {
    file: FileBytes,
    zip: ZipArchive<Cursor<FileBytes>>,
    /// The names of the files in the zip file.
    names: Vec<String>,
    /// Indices in the zip file, in the order of the arrays.
    order: Vec<usize>,
}

impl Npz {
    /// Opens an archive.
    ///
    /// # Errors
    /// Returns an error if the file is not a zip file.
    pub fn new(file: FileBytes) -> Result<Self, String> {
        let zip = ZipArchive::new(Cursor::new(file.clone()));
        let zip = zip.map_err(|e| format!("not an .npz file: {e}"))?;
        let name = |i| match zip.name_for_index(i) {
            Some(Ok(name)) => name.into_owned(),
            // A name that cannot be decoded is not that of an array.
            Some(Err(_)) | None => String::new(),
        };
        let names: Vec<String> = (0..zip.len()).map(name).collect();
        Ok(Self { order: array_order(&names), names, file, zip })
    }

    /// Returns the number of arrays.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there are no arrays.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Returns the name of the array at a position.
    pub fn name(&self, position: usize) -> &str {
        let name = self.order.get(position).map_or("", |&i| &self.names[i]);
        name.strip_suffix(".npy").unwrap_or(name)
    }

    /// Reads the array at a position, which must have the given shape.
    ///
    /// # Errors
    /// Returns an error if there is no array at that position, or if it is encrypted, damaged, or compressed
    /// by an unsupported method. Also returns the errors of [`npy::read`].
    pub fn read(&mut self, position: usize, shape: &ArrayShape) -> Result<Literal, String> {
        let index = *self.order.get(position).ok_or("no such array")?;
        let mut file = self.zip.by_index(index).map_err(unreadable)?;
        let method = file.compression();
        if !SUPPORTED_METHODS.contains(&method) {
            return Err(unsupported_compression(method));
        }
        if method == CompressionMethod::Stored
            && let Some(part) = part(file.data_start(), file.compressed_size(), self.file.len())
        {
            let checksum = file.crc32();
            let array = npy::read_mapped(&self.file, part.clone(), shape)?;
            return if crc32fast::hash(&self.file[part]) == checksum {
                Ok(array)
            } else {
                Err("the array is damaged: invalid checksum".to_string())
            };
        }
        let array = npy::read(&mut file, shape)?;
        // The checksum is compared at the end.
        match io::copy(&mut file, &mut io::sink()) {
            Ok(_) => Ok(array),
            Err(e) => Err(format!("the array is damaged: {e}")),
        }
    }
}

impl Npz {
    /// Reads the header of an array.
    ///
    /// # Errors
    /// Returns an error if there is no such array or the archive is damaged, or the errors of
    /// [`npy::Header::read`].
    pub fn header(&mut self, position: usize) -> Result<npy::Header, String> {
        let index = *self.order.get(position).ok_or("no such array")?;
        npy::Header::read(&mut self.zip.by_index(index).map_err(unreadable)?)
    }
}

/// Returns the range of a file in an archive, or `None` if it is not within the archive.
fn part(start: Option<u64>, size: u64, whole: usize) -> Option<Range<usize>> {
    let start = usize::try_from(start?).ok()?;
    let end = start.checked_add(usize::try_from(size).ok()?)?;
    (end <= whole).then_some(start..end)
}

/// The supported compression methods.
const SUPPORTED_METHODS: [CompressionMethod; 3] =
    [CompressionMethod::Stored, CompressionMethod::Deflated, CompressionMethod::BZIP2];

/// Returns the message for a file of an archive that cannot be read.
fn unreadable(e: ZipError) -> String {
    match e {
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => {
            "the archive is encrypted: numpy writes and reads archives that are not".to_string()
        }
        e => e.to_string(),
    }
}

/// Returns the message for an array with an unsupported compression method.
fn unsupported_compression(method: CompressionMethod) -> String {
    let name = match method {
        CompressionMethod::LZMA => "LZMA".to_string(),
        CompressionMethod::XZ => "XZ".to_string(),
        CompressionMethod::ZSTD => "Zstandard".to_string(),
        other => format!("method {other}"),
    };
    format!(
        "the archive is compressed by {name}: arrays are stored or deflated, as `numpy.savez` and \
         `numpy.savez_compressed` write them, or compressed by bzip2"
    )
}

/// Returns the order of an archive's arrays. If all names consist of the same word and a number (`arr_0`,
/// `arr_1`, …, `arr_10`), they are ordered by number. Otherwise, they are in the order of the archive.
fn array_order(names: &[String]) -> Vec<usize> {
    let arrays: Vec<usize> = (0..names.len()).filter(|&i| names[i].ends_with(".npy")).collect();
    let numbered = |&i: &usize| {
        let stem = names[i].strip_suffix(".npy")?;
        let word = stem.trim_end_matches(|c: char| c.is_ascii_digit());
        Some((word, stem[word.len()..].parse::<u64>().ok()?, i))
    };
    let mut by_number: Vec<(&str, u64, usize)> = arrays.iter().filter_map(numbered).collect();
    let one_word = by_number.windows(2).all(|w| w[0].0 == w[1].0);
    if by_number.len() != arrays.len() || !one_word {
        return arrays;
    }
    by_number.sort();
    by_number.into_iter().map(|(_, _, i)| i).collect()
}

/// Writes literals as an archive of arrays called `PREFIX_0`, `PREFIX_1`, ….
///
/// # Errors
/// Returns the errors of `to` and of [`npy::write`].
pub fn write(to: impl Write + Seek, prefix: &str, literals: &[&Literal]) -> std::io::Result<()> {
    write_compressed(to, prefix, literals, CompressionMethod::Deflated)
}

fn write_compressed(
    to: impl Write + Seek,
    prefix: &str,
    literals: &[&Literal],
    method: CompressionMethod,
) -> std::io::Result<()> {
    let mut zip = ZipWriter::new(UntilError { to, has_failed: false });
    for (i, literal) in literals.iter().enumerate() {
        // There is no time stamp, so that the same arrays produce the same file. Sizes above 4 GiB require
        // the large form.
        let options = SimpleFileOptions::default()
            .compression_method(method)
            .last_modified_time(zip::DateTime::default())
            .large_file(literal.bytes().len() >= 1 << 31);
        zip.start_file(format!("{prefix}_{i}.npy"), options)?;
        npy::write(&mut zip, literal)?;
    }
    zip.finish()?;
    Ok(())
}

/// A file that accepts no more writes after its first error. Without it, an unfinished archive would try to
/// write its end when it is dropped, and print that error to standard error.
struct UntilError<W> {
    to: W,
    has_failed: bool,
}

impl<W> UntilError<W> {
    fn try_to<T>(
        &mut self,
        otherwise: T,
        act: impl FnOnce(&mut W) -> std::io::Result<T>,
    ) -> std::io::Result<T> {
        if self.has_failed {
            return Ok(otherwise);
        }
        let done = act(&mut self.to);
        self.has_failed = done.as_ref().is_err_and(|e| e.kind() != io::ErrorKind::Interrupted);
        done
    }
}

impl<W: Write> Write for UntilError<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.try_to(bytes.len(), |to| to.write(bytes))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.try_to((), Write::flush)
    }
}

impl<W: Seek> Seek for UntilError<W> {
    fn seek(&mut self, place: io::SeekFrom) -> std::io::Result<u64> {
        self.try_to(0, |to| to.seek(place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(names: &[&str]) -> Vec<usize> {
        array_order(&names.iter().map(|n| format!("{n}.npy")).collect::<Vec<_>>())
    }

    /// A full disk, which counts the writes to it.
    struct Full(usize);

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            self.0 += 1;
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Seek for Full {
        fn seek(&mut self, _: io::SeekFrom) -> io::Result<u64> {
            Ok(0)
        }
    }

    #[test]
    fn a_full_disk_is_one_error() {
        let mut disk = Full(0);
        assert!(write(&mut disk, "out", &[&array()]).is_err());
        assert_eq!(disk.0, 1);
    }

    #[test]
    fn numbered_arrays_come_by_number() {
        assert_eq!(order(&["arr_0", "arr_10", "arr_2"]), [0, 2, 1]);
        assert_eq!(order(&["2", "10", "1"]), [2, 0, 1]);
        assert_eq!(order(&["x", "a_1", "a_0"]), [0, 1, 2]);
        assert_eq!(order(&["b_1", "a_0"]), [0, 1]);
    }

    /// Returns the error for an archive with one array after changing two bytes of its headers: those at the
    /// given offsets of the local and the central header.
    fn refused((local, central): (usize, usize), bits: u8) -> String {
        read_back(CompressionMethod::Deflated, (local, central), bits).err().unwrap_or_default()
    }

    fn array() -> Literal {
        Literal::from_elements(hlo_ir::Shape::array(hlo_ir::ElementType::F32, [2]), &[1.0f32, 2.0])
    }

    fn read_back(
        method: CompressionMethod,
        (local, central): (usize, usize),
        bits: u8,
    ) -> Result<Literal, String> {
        let array = array();
        let mut file = io::Cursor::new(Vec::new());
        write_compressed(&mut file, "arr", &[&array], method).unwrap();
        let mut bytes = file.into_inner();
        let at = bytes.windows(4).position(|w| w == b"PK\x01\x02").unwrap();
        bytes[local] ^= bits;
        bytes[at + central] ^= bits;
        let shape = array.shape().as_array().unwrap().clone();
        Npz::new(bytes.into()).and_then(|mut npz| npz.read(0, &shape))
    }

    #[test]
    fn damaged_encrypted_and_oddly_compressed_archives() {
        assert_eq!(refused((6, 8), 0), "");
        assert!(refused((14, 16), 1).starts_with("the array is damaged: "));
        assert!(refused((6, 8), 1).starts_with("the archive is encrypted"));
        // Method 8 becomes 14.
        let lzma = refused((8, 10), 6);
        assert!(lzma.starts_with("the archive is compressed by LZMA: "), "{lzma}");
    }

    #[test]
    fn compressed_by_bzip2() {
        let method = CompressionMethod::BZIP2;
        assert_eq!(read_back(method, (6, 8), 0).unwrap().bytes(), array().bytes());
        let damaged = read_back(method, (14, 16), 1).err().unwrap_or_default();
        assert!(damaged.starts_with("the array is damaged: "), "{damaged}");
    }
    /// Archives as `numpy.savez` writes them. The arrays are used directly from the file, and their checksums
    /// are verified.
    #[test]
    fn not_compressed() {
        let method = CompressionMethod::Stored;
        assert_eq!(read_back(method, (6, 8), 0).unwrap().bytes(), array().bytes());
        let damaged = read_back(method, (14, 16), 1).err().unwrap_or_default();
        assert!(damaged.starts_with("the array is damaged: "), "{damaged}");
        // An archive with a size that is shorter than the array's header, or longer than the file.
        let size = |byte: usize| read_back(method, (18 + byte, 20 + byte), 0x80).err().unwrap_or_default();
        assert_eq!(size(0), "the .npy header is cut off");
        assert!(!size(1).is_empty());
    }

    #[test]
    fn parts_of_a_file() {
        assert_eq!(part(Some(3), 4, 7), Some(3..7));
        for (start, size) in [(None, 1), (Some(3), 5), (Some(u64::MAX), 1), (Some(1), u64::MAX)] {
            assert_eq!(part(start, size, 7), None);
        }
    }
}
