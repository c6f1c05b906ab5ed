//! Writes the output of a tool.

use crate::Failure;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Writes to standard output.
///
/// # Errors
/// Returns [`Failure::OutputClosed`] if the reader has closed the pipe, and other write errors as a failure
/// of `<stdout>`.
pub fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(|e| match e.kind() {
        ErrorKind::BrokenPipe => Failure::OutputClosed,
        _ => Failure::file("<stdout>", e),
    })
}

/// Writes to the file that `-o` names, or to standard output if there is none or it is `-`.
///
/// # Errors
/// Returns the errors of [`print()`] and [`write_file`].
pub fn write_output(path: Option<&str>, bytes: &[u8]) -> Result<(), Failure> {
    match path {
        None | Some("-") => print(bytes),
        Some(path) => write_file(Path::new(path), |out| out.write_all(bytes)),
    }
}

/// Checks that the file that `-o` names can be written, before a long computation. Does not change any file.
///
/// # Errors
/// Returns an error if the path is a directory or has no file name, or if no file can be created in its
/// folder.
pub fn check_output(path: Option<&str>) -> Result<(), Failure> {
    let Some(path) = path.filter(|p| *p != "-") else { return Ok(()) };
    if Path::new(path).metadata().is_ok_and(|m| !m.is_file() && !m.is_dir()) {
        // A pipe may not have a reader yet.
        return Ok(());
    }
    let failed = |e: std::io::Error| Failure::file(path, format!("can't write: {e}"));
    let target = place(Path::new(path))?;
    let temporary = beside(&target).ok_or_else(|| Failure::file(path, "no file name"))?;
    std::fs::File::create_new(&temporary).map_err(failed)?;
    std::fs::remove_file(&temporary).map_err(failed)
}

/// Returns the path to write to. A symbolic link is kept, and its target is replaced.
fn place(path: &Path) -> Result<PathBuf, Failure> {
    let target = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    // Only a path of a folder ends with a separator.
    let named = path.as_os_str().as_encoded_bytes().ends_with(b"/");
    if named || target.is_dir() {
        return Err(Failure::file(&path.display().to_string(), "is a directory; a file is expected"));
    }
    Ok(target)
}

/// Writes a file so that readers never see a partial one. Writes to an unnamed file if the file system
/// supports it, otherwise to a temporary file in the same folder. Renames the file when it is complete.
/// Devices and pipes are written directly.
///
/// # Errors
/// Returns an error if the path is a directory or has no file name, or if the file cannot be created, written
/// or renamed. In this case an existing file does not change, unless it is written directly.
pub fn write_file(
    path: &Path,
    write: impl FnOnce(&mut std::fs::File) -> std::io::Result<()>,
) -> Result<(), Failure> {
    let failed = |e: std::io::Error| Failure::file(&path.display().to_string(), format!("can't write: {e}"));
    let target = place(path)?;
    if target.metadata().is_ok_and(|m| !m.is_file()) {
        let mut file = std::fs::OpenOptions::new().write(true).open(&target).map_err(failed)?;
        return write(&mut file).map_err(failed);
    }
    let temporary =
        beside(&target).ok_or_else(|| Failure::file(&path.display().to_string(), "no file name"))?;
    let written = match unnamed::create(&target) {
        Some(mut file) => write(&mut file).and_then(|()| unnamed::link(&file, &temporary)),
        None => std::fs::File::create_new(&temporary).and_then(|mut file| write(&mut file)),
    };
    let written = written.and_then(|()| std::fs::rename(&temporary, &target));
    written.map_err(|e| {
        // Best effort: the first error is the one that matters.
        let _ = std::fs::remove_file(&temporary);
        failed(e)
    })
}

/// Returns a hidden path in the same folder that only this process uses.
fn beside(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_string_lossy();
    Some(path.with_file_name(format!(".{name}.{}.tmp", std::process::id())))
}

/// Files without a name. If the process is killed, nothing remains of them.
#[cfg(target_os = "linux")]
mod unnamed {
    use std::ffi::CString;
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::OpenOptionsExt;
    use std::path::Path;

    /// Creates a file in the folder of `target`, or returns `None` if the file system does not support files
    /// without a name.
    pub fn create(target: &Path) -> Option<File> {
        let folder = target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut options = File::options();
        options.write(true).read(true).custom_flags(libc::O_TMPFILE).mode(0o666);
        options.open(folder).ok().filter(|_| Path::new("/proc/self/fd").exists())
    }

    /// Links the file under a name that must not exist yet.
    pub fn link(file: &File, name: &Path) -> io::Result<()> {
        let from = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
        let to = CString::new(name.as_os_str().as_bytes())?;
        let (here, follow) = (libc::AT_FDCWD, libc::AT_SYMLINK_FOLLOW);
        // SAFETY: both strings are NUL-terminated and live until the call returns.
        match unsafe { libc::linkat(here, from.as_ptr(), here, to.as_ptr(), follow) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod unnamed {
    use std::fs::File;
    use std::io;
    use std::path::Path;

    /// Returns `None`, because other systems have no such files.
    pub fn create(_: &Path) -> Option<File> {
        None
    }

    /// Returns an error. It is never called.
    pub fn link(_: &File, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<std::ffi::OsString> {
        std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name()).collect()
    }

    #[test]
    fn a_file_has_its_name_once_it_is_whole() {
        let folder = std::env::temp_dir().join(format!("hlo-write-file-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("new");
        for text in ["first", "second"] {
            let before = names(&folder);
            let written = write_file(&path, |file| {
                file.write_all(text.as_bytes())?;
                // A process that ended now would leave nothing behind.
                if unnamed::create(&path).is_some() {
                    assert_eq!(names(&folder), before);
                }
                Ok(())
            });
            assert!(written.is_ok());
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
            assert_eq!(names(&folder), ["new"]);
        }
        assert!(write_file(&path, |_| Err(ErrorKind::StorageFull.into())).is_err());
        assert_eq!(
            (names(&folder), std::fs::read_to_string(&path).unwrap()),
            (vec!["new".into()], "second".into())
        );
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn checking_leaves_everything_as_it_is() {
        let folder = std::env::temp_dir().join(format!("hlo-check-output-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = |name: &str| folder.join(name).display().to_string();
        std::fs::write(path("old"), "text").unwrap();
        for fine in ["old", "new"] {
            assert!(check_output(Some(&path(fine))).is_ok(), "{fine}");
        }
        for wrong in ["", "new/", "absent/new", "old/new"] {
            assert!(matches!(check_output(Some(&path(wrong))), Err(Failure::File { .. })), "{wrong}");
        }
        assert!(check_output(Some("-")).is_ok() && check_output(None).is_ok());
        assert!(check_output(Some("/dev/null")).is_ok());
        let left: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left, ["old"]);
        assert_eq!(std::fs::read_to_string(path("old")).unwrap(), "text");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
