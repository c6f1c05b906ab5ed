//! Writing what a tool makes.

use crate::Failure;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Writes to standard output.
pub fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(|e| match e.kind() {
        ErrorKind::BrokenPipe => Failure::OutputClosed,
        _ => Failure::file("<stdout>", e),
    })
}

/// Writes to the file that `-o` names, or to standard output for none and for `-`.
pub fn write_output(path: Option<&str>, bytes: &[u8]) -> Result<(), Failure> {
    match path {
        None | Some("-") => print(bytes),
        Some(path) => write_file(Path::new(path), |out| out.write_all(bytes)),
    }
}

/// Writes a file so that nobody ever sees half of it: beside its place first, renamed when complete. A device
/// or a pipe is written to directly.
pub fn write_file(
    path: &Path,
    write: impl FnOnce(&mut std::fs::File) -> std::io::Result<()>,
) -> Result<(), Failure> {
    let failed = |e: std::io::Error| Failure::file(&path.display().to_string(), format!("can't write: {e}"));
    // A link stays a link: what it points at is replaced.
    let target = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    if let Ok(metadata) = target.metadata()
        && !metadata.is_file()
    {
        if metadata.is_dir() {
            return Err(Failure::file(&path.display().to_string(), "is a directory; a file is expected"));
        }
        let mut file = std::fs::OpenOptions::new().write(true).open(&target).map_err(failed)?;
        return write(&mut file).map_err(failed);
    }
    let temporary =
        beside(&target).ok_or_else(|| Failure::file(&path.display().to_string(), "no file name"))?;
    let written = std::fs::File::create_new(&temporary)
        .and_then(|mut file| write(&mut file))
        .and_then(|()| std::fs::rename(&temporary, &target));
    written.map_err(|e| {
        // Best effort: the error that matters is the first.
        let _ = std::fs::remove_file(&temporary);
        failed(e)
    })
}

/// A hidden name in the same folder, this process's own.
fn beside(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_string_lossy();
    Some(path.with_file_name(format!(".{name}.{}.tmp", std::process::id())))
}
