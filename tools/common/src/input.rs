//! Reads the text that a tool processes.

use crate::Failure;
use hlo_ir::Span;
use hlo_ir::diag::{Diag, Source};
use hlo_ir::rules::code;
use std::fs::File;
use std::io::Read;
use std::string::FromUtf8Error;

/// Maximum size of a text in bytes. Spans are 32 bits wide, and reading a device such as `/dev/zero` never
/// ends.
const MAX_BYTES: u64 = 2 << 30;

/// Reads a text from a file, or from standard input for `-`. `expected` describes the expected contents in
/// errors.
///
/// # Errors
/// Returns an error if the file does not exist, is not readable, is a directory, is too large, has a known
/// binary format, or is not UTF-8.
pub fn read_text(path: &str, expected: &str) -> Result<Source, Failure> {
    let (name, bytes) = read_bytes(path, expected)?;
    to_text(name, bytes, expected)
}

/// Reads a file, or standard input for `-`. Also returns its name for diagnostics.
///
/// # Errors
/// Returns an error if the file does not exist, is not readable, is a directory or is too large.
pub(crate) fn read_bytes(path: &str, expected: &str) -> Result<(String, Vec<u8>), Failure> {
    let name = if path == "-" { "<stdin>" } else { path };
    let bytes = if path == "-" {
        read_limited(std::io::stdin().lock(), 0)
    } else {
        open_file(path, expected).and_then(|(file, size)| read_limited(file, size))
    };
    Ok((name.to_string(), bytes.map_err(|e| Failure::file(name, e))?))
}

/// Converts bytes to text. `expected` describes the expected contents in errors.
///
/// # Errors
/// Returns an error if the bytes have a known binary format or are not UTF-8.
pub(crate) fn to_text(name: String, bytes: Vec<u8>, expected: &str) -> Result<Source, Failure> {
    if let Some(kind) = binary_kind(&bytes) {
        return Err(Failure::file(&name, format!("{kind}; {expected} is expected")));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Source { name, text }),
        Err(e) => Err(not_utf8(name, &e, expected)),
    }
}

/// Returns the failure for bytes that are not UTF-8, with the span of the first invalid byte.
fn not_utf8(name: String, error: &FromUtf8Error, expected: &str) -> Failure {
    let at = error.utf8_error().valid_up_to();
    let byte = error.as_bytes().get(at).copied().unwrap_or_default();
    // The text in the diagnostic contains replacement characters instead of invalid bytes.
    let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
    let message = format!("byte 0x{byte:02x} is not UTF-8; {expected} is expected, not a binary file");
    let end = at + char::REPLACEMENT_CHARACTER.len_utf8();
    let diag = Diag::error(message).with_code(code::NOT_HLO).at(Span::new(at, end), "");
    Failure::diags(&Source { name, text }, vec![diag])
}

/// Detects the format of a binary file from its first bytes.
fn binary_kind(bytes: &[u8]) -> Option<&'static str> {
    const MAGIC: &[(&[u8], &str)] = &[
        (b"\x1f\x8b", "gzip-compressed data: `gunzip` it first"),
        (b"\x28\xb5\x2f\xfd", "zstd-compressed data: `unzstd` it first"),
        (b"PK\x03\x04", "a zip archive, such as an .npz file"),
        (b"\x93NUMPY", "an .npy array"),
        (b"ML\xefR", "MLIR bytecode"),
        (b"BC\xc0\xde", "LLVM bitcode"),
        (b"\x7fELF", "an ELF object file or program"),
        (b"\x89PNG", "a PNG picture, which is not UTF-8 text"),
        (b"\xff\xfe", "UTF-16 text: save it as UTF-8"),
        (b"\xfe\xff", "UTF-16 text: save it as UTF-8"),
        (b"\x80\x04", "a Python pickle"),
    ];
    if let Some((_, kind)) = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return Some(kind);
    }
    let begin = bytes.get(..4096).unwrap_or(bytes);
    let no_text = begin.contains(&0) || begin.iter().any(|b| matches!(b, 1..=8 | 14..=31));
    // The tag of the first field of `HloProto` and `HloModuleProto`.
    let proto = bytes.starts_with(b"\n");
    (no_text && proto).then_some("a protocol buffer, as it seems, that has no module")
}

/// Opens a file for reading and returns its size as far as it is known. `expected` describes the expected
/// contents in errors.
///
/// # Errors
/// Returns an error if the file does not exist, is not readable, or is a directory.
pub fn open_file(path: &str, expected: &str) -> Result<(File, u64), String> {
    let file = File::open(path).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => "no such file".to_string(),
        std::io::ErrorKind::PermissionDenied => "no permission to read it".to_string(),
        _ => e.to_string(),
    })?;
    let metadata = file.metadata().map_err(|e| e.to_string())?;
    if metadata.is_dir() {
        return Err(format!("is a directory; a file with {expected} is expected"));
    }
    Ok((file, metadata.len()))
}

fn read_limited(from: impl Read, size: u64) -> Result<Vec<u8>, String> {
    let too_large = || format!("larger than {} GiB, the most that is read", MAX_BYTES >> 30);
    if size > MAX_BYTES {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(size as usize + 1);
    from.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(too_large());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_is_told() {
        let kind = |bytes: &[u8]| binary_kind(bytes).unwrap_or_default();
        assert!(kind(b"\x1f\x8b\x08\0").contains("gunzip"));
        assert!(kind(b"\n\x20\n\x05jit_f\x12\x02").contains("protocol buffer"));
        assert_eq!(binary_kind(b"\nHloModule m\n"), None);
    }

    #[test]
    fn the_first_byte_that_is_no_text_is_shown() {
        let text = "HloModule \u{e9}\n\u{e9} ";
        let error = String::from_utf8([text.as_bytes(), b"\xff}\n"].concat()).unwrap_err();
        let Failure::Diags { source, diags } = not_utf8("m.hlo".into(), &error, "HLO text") else {
            panic!("no place")
        };
        let place = diags[0].primary().unwrap().span;
        assert_eq!(place.start as usize, text.len());
        assert_eq!(&source.text[place.range()], "\u{fffd}");
        assert!(diags[0].message.contains("0xff"));
    }
}
