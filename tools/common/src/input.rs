//! Reading the text that a tool works on.

use crate::Failure;
use hlo_ir::diag::Source;
use std::fs::File;
use std::io::Read;

/// The largest text that is read: spans are 32 bits wide, and a device such as `/dev/zero` never ends.
const MAX_BYTES: u64 = 2 << 30;

/// Reads a file, or standard input for `-`. The errors tell what a person can do about them: no such file, a
/// directory, an empty file, something that is no text.
pub fn read_source(path: &str) -> Result<Source, Failure> {
    let name = if path == "-" { "<stdin>" } else { path };
    let bytes = if path == "-" {
        read_limited(std::io::stdin().lock(), 0)
    } else {
        open(path).and_then(|(file, size)| read_limited(file, size))
    };
    let bytes = bytes.map_err(|e| Failure::file(name, e))?;
    if bytes.is_empty() {
        return Err(Failure::file(name, "the file is empty; HLO text begins with `HloModule NAME`"));
    }
    let text = String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        let before = &e.as_bytes()[..at];
        let line = before.iter().filter(|&&b| b == b'\n').count() + 1;
        let column = at - before.iter().rposition(|&b| b == b'\n').map_or(0, |p| p + 1) + 1;
        let byte = e.as_bytes().get(at).copied().unwrap_or_default();
        Failure::file(
            &format!("{name}:{line}:{column}"),
            format!("byte 0x{byte:02x} is not UTF-8; HLO text is expected, not a binary file"),
        )
    })?;
    Ok(Source { name: name.to_string(), text })
}

/// Opens a file for reading, with its size as far as that is known.
fn open(path: &str) -> Result<(File, u64), String> {
    let file = File::open(path).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => "no such file".to_string(),
        std::io::ErrorKind::PermissionDenied => "no permission to read it".to_string(),
        _ => e.to_string(),
    })?;
    let metadata = file.metadata().map_err(|e| e.to_string())?;
    if metadata.is_dir() {
        return Err("is a directory; a file with HLO text is expected".to_string());
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
