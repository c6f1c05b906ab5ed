//! Writing what a tool makes.

use crate::Failure;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Writes to standard output.
///
/// # Errors
/// [`Failure::OutputClosed`] if nobody reads the output any longer; other errors of writing as a failure of
/// `<stdout>`.
pub fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(|e| match e.kind() {
        ErrorKind::BrokenPipe => Failure::OutputClosed,
        _ => Failure::file("<stdout>", e),
    })
}

/// Writes to the file that `-o` names, or to standard output for none and for `-`.
///
/// # Errors
/// As [`print()`] and [`write_file`].
pub fn write_output(path: Option<&str>, bytes: &[u8]) -> Result<(), Failure> {
    match path {
        None | Some("-") => print(bytes),
        Some(path) => write_file(Path::new(path), |out| out.write_all(bytes)),
    }
}

/// Checks that a file could be written that `-o` names, before long work for it. Leaves all files as they are.
///
/// # Errors
/// The path is a directory or has no file name, or no file can be made in its folder.
pub fn check_output(path: Option<&str>) -> Result<(), Failure> {
    let Some(path) = path.filter(|p| *p != "-") else { return Ok(()) };
    if Path::new(path).metadata().is_ok_and(|m| !m.is_file() && !m.is_dir()) {
        // A pipe may have nobody yet who reads it.
        return Ok(());
    }
    let failed = |e: std::io::Error| Failure::file(path, format!("can't write: {e}"));
    let target = place(Path::new(path))?;
    let temporary = beside(&target).ok_or_else(|| Failure::file(path, "no file name"))?;
    std::fs::File::create_new(&temporary).map_err(failed)?;
    std::fs::remove_file(&temporary).map_err(failed)
}

/// Where a file is written: a link stays a link, what it points at is replaced.
fn place(path: &Path) -> Result<PathBuf, Failure> {
    let target = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    // Only a folder's name ends with a separator.
    let named = path.as_os_str().as_encoded_bytes().ends_with(b"/");
    if named || target.is_dir() {
        return Err(Failure::file(&path.display().to_string(), "is a directory; a file is expected"));
    }
    Ok(target)
}

/// Writes a file so that nobody ever sees half of it: without a name first where the file system can do that, else beside its
/// place, and renamed when complete. A device or a pipe is written to directly.
///
/// # Errors
/// The path is a directory or has no file name, or the file can't be made, written or renamed. What was
/// there before is left as it is then, unless it is written to directly.
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

/// Files without a name: a process that is killed leaves nothing of them.
#[cfg(target_os = "linux")]
mod unnamed {
    use std::ffi::CString;
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::OpenOptionsExt;
    use std::path::Path;

    /// Creates a file in the folder of `target`; `None` where the file system has no files without a name.
    pub fn create(target: &Path) -> Option<File> {
        let folder = target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut options = File::options();
        options.write(true).read(true).custom_flags(libc::O_TMPFILE).mode(0o666);
        options.open(folder).ok().filter(|_| Path::new("/proc/self/fd").exists())
    }

    /// Gives the file a name that no other one has.
    pub fn link(file: &File, name: &Path) -> io::Result<()> {
        let from = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
        let to = CString::new(name.as_os_str().as_bytes())?;
        let (here, follow) = (libc::AT_FDCWD, libc::AT_SYMLINK_FOLLOW);
        // SAFETY: both strings are NUL-terminated and live until the call is over.
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

    /// Other systems have no such files.
    pub fn create(_: &Path) -> Option<File> {
        None
    }

    /// Never called.
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
                // Whatever ends the process now leaves nothing.
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
