//! Compiled code in a folder, which processes share at the same time and later.
//!
//! Each program has one file, named by its key. The contents are checked before they are used: a file starts
//! with a magic number and ends with a digest of its contents. A file that is damaged or in another format is
//! treated as absent and written again. A file is first written under another name and then renamed, so that
//! processes can share a folder.
//!
//! The process runs code from the folder. Other users must therefore not be able to write to the folder or
//! its files, or to replace the folder. (This is checked on Unix only.)

use crate::Error;
use hlo_codegen::{CodeCache, CodeKey};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// The first bytes of each file.
const MAGIC: &[u8; 8] = b"HLOCODE1";
/// The file name extension of complete files.
const ENTRY_EXTENSION: &str = "hlocode";
/// The file name extension of files that are being written.
const TEMPORARY_EXTENSION: &str = "new";
const DIGEST_BYTES: usize = 32;

/// A folder that contains compiled code.
#[derive(Debug)]
pub(crate) struct CodeFolder {
    path: PathBuf,
    /// Approximate maximum size of all files together, in bytes.
    most_bytes: u64,
}

impl CodeFolder {
    /// Opens a folder. Creates it if it does not exist.
    ///
    /// # Errors
    /// The folder cannot be created, the path is not a folder, or other users may write to it.
    pub(crate) fn open(path: &Path, most_bytes: u64) -> Result<Self, Error> {
        let error = |what: String| Error::new(format!("the cache folder {}: {what}", path.display()));
        make(path).map_err(|e| error(e.to_string()))?;
        // An absolute path stays valid if the process changes its working directory or links on the path
        // change.
        let path = fs::canonicalize(path).map_err(|e| error(e.to_string()))?;
        let metadata = fs::metadata(&path).map_err(|e| error(e.to_string()))?;
        if !metadata.is_dir() {
            return Err(error("expected a folder, found a file".into()));
        }
        if let Some(why) = shared_with_others(&metadata) {
            let advice = "name one that only you may write to";
            return Err(error(format!("{why}, but code from it is run: {advice}")));
        }
        for around in path.ancestors().skip(1) {
            let Ok(metadata) = fs::metadata(around) else { continue };
            let around = around.display();
            if let Some(user) = other_owner(&metadata) {
                return Err(error(format!(
                    "{around} belongs to another user ({user}), who may put another folder there, but code from it is \
                     run: name one elsewhere"
                )));
            }
            if is_world_writable(&metadata) {
                return Err(error(format!(
                    "everybody may write to {around}, and so put another folder there, but code from it is run: name \
                     one elsewhere, or let nobody move what is not theirs (`chmod +t {around}`)"
                )));
            }
        }
        Ok(Self { path, most_bytes })
    }

    fn file(&self, key: CodeKey) -> PathBuf {
        self.path.join(format!("{key}.{ENTRY_EXTENSION}"))
    }

    fn write(&self, key: CodeKey, contents: &[u8]) -> io::Result<()> {
        // Other clients of this process, or processes with the same id in other containers, may be writing
        // the same code.
        static WRITE_COUNT: AtomicU64 = AtomicU64::new(0);
        let (process, number) = (std::process::id(), WRITE_COUNT.fetch_add(1, Ordering::Relaxed));
        let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |t| t.subsec_nanos());
        let beside = self.path.join(format!("{key}.{process}-{number}-{time}.{TEMPORARY_EXTENSION}"));
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&beside)?;
        let written = file.write_all(contents).and_then(|()| fs::rename(&beside, self.file(key)));
        if written.is_err() {
            let _ = fs::remove_file(&beside);
        }
        written
    }

    /// Removes the least recently used files until the total size is within the limit.
    fn remove_oldest(&self) -> io::Result<()> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            let path = entry.path();
            let name = entry.file_name();
            let Some(suffix) = name.to_str().and_then(own_suffix) else { continue };
            let Ok(metadata) = entry.metadata() else { continue };
            let used = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            // Remove old files of processes that ended while writing.
            if suffix == TEMPORARY_EXTENSION && used.elapsed().is_ok_and(|age| age.as_secs() > 3600) {
                let _ = fs::remove_file(&path);
            }
            if suffix == ENTRY_EXTENSION && metadata.is_file() {
                files.push((used, metadata.len(), path));
            }
        }
        let mut total: u64 = files.iter().map(|(_, bytes, _)| bytes).sum();
        files.sort();
        for (_, bytes, path) in files {
            if total <= self.most_bytes {
                break;
            }
            // Another process may have removed the file already.
            let _ = fs::remove_file(path);
            total -= bytes;
        }
        Ok(())
    }
}

// SAFETY: only this user may write to the folder, and each file contains its key and a digest of its
// contents.
unsafe impl CodeCache for CodeFolder {
    fn load(&self, key: CodeKey) -> Option<Vec<Vec<u8>>> {
        let mut options = File::options();
        options.read(true);
        // Opening a named pipe would otherwise wait for a writer.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
        let mut file = options.open(self.file(key)).ok()?;
        let metadata = file.metadata().ok()?;
        if !metadata.is_file() || shared_with_others(&metadata).is_some() {
            return None;
        }
        let mut contents = Vec::new();
        file.read_to_end(&mut contents).ok()?;
        let objects = unpacked(&contents, key)?;
        // Mark the file as recently used. The objects are returned even if that fails.
        let _ = file.set_modified(SystemTime::now());
        Some(objects)
    }

    fn store(&self, key: CodeKey, objects: &[Vec<u8>]) {
        // Ignore errors such as a full disk or a removed folder. The program is compiled already, and will be
        // compiled again next time.
        let _ = self.write(key, &packed(objects, key)).and_then(|()| self.remove_oldest());
    }
}

/// Creates a folder and its missing parents. Only this user may access the folder itself.
fn make(path: &Path) -> io::Result<()> {
    // If the path exists but is not a folder, the caller reports that.
    if path.exists() {
        return Ok(());
    }
    if let Some(around) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
        fs::create_dir_all(around)?;
    }
    let mut folder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
    match folder.create(path) {
        // Another process created the folder first.
        Err(_) if path.is_dir() => Ok(()),
        made => made,
    }
}

/// Returns the owner of a file or folder if it is neither this user nor the superuser.
#[cfg(unix)]
fn other_owner(metadata: &fs::Metadata) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    // SAFETY: the function has no preconditions.
    let user = unsafe { libc::geteuid() };
    Some(metadata.uid()).filter(|&owner| owner != user && owner != 0)
}

#[cfg(not(unix))]
fn other_owner(_: &fs::Metadata) -> Option<u32> {
    None
}

/// Returns the reason why other users may write to a folder.
#[cfg(unix)]
fn shared_with_others(metadata: &fs::Metadata) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    if let Some(user) = other_owner(metadata) {
        return Some(format!("it belongs to another user ({user})"));
    }
    (metadata.mode() & 0o022 != 0)
        .then(|| format!("others may write to it (mode {:03o})", metadata.mode() & 0o777))
}

/// Returns whether all users may create entries in a folder and remove entries of other users.
#[cfg(unix)]
fn is_world_writable(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    const STICKY_BIT: u32 = 0o1000;
    metadata.mode() & 0o002 != 0 && metadata.mode() & STICKY_BIT == 0
}

#[cfg(not(unix))]
fn shared_with_others(_: &fs::Metadata) -> Option<String> {
    None
}

#[cfg(not(unix))]
fn is_world_writable(_: &fs::Metadata) -> bool {
    false
}

/// Returns the extension of a file name if this cache created the name.
pub fn own_suffix(name: &str) -> Option<&str> {
    let (key, rest) = name.split_at_checked(2 * DIGEST_BYTES)?;
    let is_key = key.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    let suffix = rest.strip_prefix('.')?.rsplit('.').next()?;
    is_key.then_some(suffix)
}

/// Packs object files into one file: the magic number, the key, the number of objects, each object preceded
/// by its size, and a digest of all that.
pub fn packed(objects: &[Vec<u8>], key: CodeKey) -> Vec<u8> {
    let mut out = [&MAGIC[..], &key.0, &(objects.len() as u64).to_le_bytes()].concat();
    for object in objects {
        out.extend((object.len() as u64).to_le_bytes());
        out.extend(object);
    }
    let digest = Sha256::digest(&out);
    out.extend(digest);
    out
}

/// Returns the object files of a file, or `None` if it is damaged or another file.
pub fn unpacked(file: &[u8], key: CodeKey) -> Option<Vec<Vec<u8>>> {
    let (contents, digest) = file.split_at_checked(file.len().checked_sub(DIGEST_BYTES)?)?;
    if Sha256::digest(contents)[..] != *digest {
        return None;
    }
    let mut rest = contents.strip_prefix(MAGIC)?.strip_prefix(&key.0)?;
    let number = |rest: &mut &[u8]| -> Option<usize> {
        let (bytes, after) = rest.split_first_chunk::<8>()?;
        *rest = after;
        usize::try_from(u64::from_le_bytes(*bytes)).ok()
    };
    let count = number(&mut rest)?;
    let mut objects = Vec::new();
    for _ in 0..count {
        let size = number(&mut rest)?;
        let (object, after) = rest.split_at_checked(size)?;
        objects.push(object.to_vec());
        rest = after;
    }
    rest.is_empty().then_some(objects)
}
