//! Compiled code in a folder that processes share.

use hlo_client::internals::{own_suffix, packed, unpacked};
use hlo_client::{Client, ClientOptions, CompileOptions, Passes};
use hlo_codegen::CodeKey;
use hlo_ir::Literal;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

const DOUBLE: &str = "HloModule m ENTRY e { x = f32[4] parameter(0) ROOT y = f32[4] add(x, x) }";

const KEY: CodeKey = CodeKey([7; 32]);

/// A temporary folder of one test, removed when it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("hlo-client-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }

    fn files(&self) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = fs::read_dir(&self.0).unwrap().map(|e| e.unwrap().path()).collect();
        files.sort();
        files
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn client(folder: &Path) -> Client {
    let cache_dir = Some(folder.to_path_buf());
    Client::new(&ClientOptions { cache_dir, ..ClientOptions::default() }).unwrap()
}

/// Runs the program, checks its result, and returns whether its code was in the folder.
fn was_kept(folder: &Path, text: &str, options: &CompileOptions) -> bool {
    let program = client(folder).compile_text(text, options).unwrap();
    assert_eq!(program.run(&[Literal::r1(&[1f32, 2., 3., 4.])]).unwrap().elements::<f32>(), [2., 4., 6., 8.]);
    program.compiled().unwrap().timings().was_kept
}

#[test]
fn code_is_there_for_the_next_client_unless_something_else_is_compiled() {
    let folder = Folder::new("next");
    let options = CompileOptions { threads: 2, ..CompileOptions::default() };
    assert!(!was_kept(&folder.0, DOUBLE, &options));
    assert!(was_kept(&folder.0, DOUBLE, &options));
    // The text differs, but the program is the same.
    assert!(was_kept(&folder.0, &DOUBLE.replace("ENTRY", "\n// Twice.\nENTRY"), &options));
    let other = DOUBLE.replace("add(x, x)", "abs(q)").replace("ROOT", "q = f32[4] add(x, x) ROOT");
    assert!(!was_kept(&folder.0, &other, &options));
    assert_eq!(folder.files().len(), 2);
}

#[test]
fn files_that_are_cut_foreign_or_damaged_are_replaced() {
    let folder = Folder::new("damaged");
    let options = CompileOptions::default();
    assert!(!was_kept(&folder.0, DOUBLE, &options));
    let file = folder.files().remove(0);
    let whole = fs::read(&file).unwrap();
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 1;
    for wrong in [&whole[..whole.len() / 2], b"", b"something else", &damaged] {
        fs::write(&file, wrong).unwrap();
        assert!(!was_kept(&folder.0, DOUBLE, &options));
        assert_eq!(fs::read(&file).unwrap().len(), whole.len());
        assert!(was_kept(&folder.0, DOUBLE, &options));
    }
    // A named pipe that no process writes to.
    #[cfg(unix)]
    {
        fs::remove_file(&file).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&file).status();
        assert!(made.is_ok_and(|status| status.success()));
        assert!(!was_kept(&folder.0, DOUBLE, &options));
        assert!(was_kept(&folder.0, DOUBLE, &options));
    }
    // A folder in place of a file.
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert!(!was_kept(&folder.0, DOUBLE, &options));
}

/// Requires permission to change the owner of files.
#[cfg(unix)]
#[test]
fn a_folder_within_that_of_another_user_is_refused() {
    let folder = Folder::new("other");
    let inside = folder.0.join("inside");
    fs::create_dir_all(&inside).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    fs::set_permissions(&inside, mode).unwrap();
    if std::os::unix::fs::chown(&folder.0, Some(65534), None).is_err() {
        return;
    }
    let options = ClientOptions { cache_dir: Some(inside), ..ClientOptions::default() };
    let error = Client::new(&options).unwrap_err().to_string();
    assert!(error.contains("belongs to another user (65534)"), "{error}");
}

#[cfg(unix)]
#[test]
fn files_that_others_may_write_to_are_not_run_and_other_files_stay() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("files");
    let options = CompileOptions::default();
    assert!(!was_kept(&folder.0, DOUBLE, &options));
    let file = folder.files().remove(0);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o622)).unwrap();
    let mine = folder.0.join("config.new");
    fs::write(&mine, "mine").unwrap();
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(100_000);
    fs::File::options().append(true).open(&mine).unwrap().set_modified(old).unwrap();
    assert!(!was_kept(&folder.0, DOUBLE, &options));
    assert!(was_kept(&folder.0, DOUBLE, &options));
    assert!(mine.exists());
}

#[test]
fn clients_may_use_a_folder_at_the_same_time() {
    let folder = Folder::new("together");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..3 {
                    was_kept(&folder.0, DOUBLE, &CompileOptions::default());
                }
            });
        }
    });
    assert!(was_kept(&folder.0, DOUBLE, &CompileOptions::default()));
    assert_eq!(folder.files().len(), 1, "{:?}", folder.files());
}

#[test]
fn a_folder_is_kept_below_its_size() {
    let folder = Folder::new("small");
    let options =
        ClientOptions { cache_dir: Some(folder.0.clone()), cache_bytes: 20_000, ..ClientOptions::default() };
    let client = Client::new(&options).unwrap();
    for n in 1..10 {
        let text = DOUBLE.replace("add(x, x)", "slice(l), slice={[0:4]}").replace(
            "ROOT",
            &format!(
                "z = f32[{n}] constant({{{}}}) l = f32[{}] concatenate(x, z), dimensions={{0}} ROOT",
                vec!["1"; n].join(","),
                n + 4
            ),
        );
        client
            .compile_text(&text, &CompileOptions { passes: Passes::Lowering, ..Default::default() })
            .unwrap();
        let bytes: u64 = folder.files().iter().map(|f| f.metadata().unwrap().len()).sum();
        assert!((1..=20_000).contains(&bytes), "{bytes}");
    }
}

#[cfg(unix)]
#[test]
fn a_folder_that_others_may_write_to_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("open");
    let options = ClientOptions { cache_dir: Some(folder.0.join("inner")), ..ClientOptions::default() };
    Client::new(&options).unwrap();
    assert_eq!(fs::metadata(folder.0.join("inner")).unwrap().permissions().mode() & 0o777, 0o700);
    fs::set_permissions(folder.0.join("inner"), fs::Permissions::from_mode(0o777)).unwrap();
    let error = Client::new(&options).unwrap_err().to_string();
    assert!(error.contains("others may write to it (mode 777)"), "{error}");
    fs::set_permissions(folder.0.join("inner"), fs::Permissions::from_mode(0o700)).unwrap();
    fs::set_permissions(&folder.0, fs::Permissions::from_mode(0o777)).unwrap();
    let error = Client::new(&options).unwrap_err().to_string();
    let open = fs::canonicalize(&folder.0).unwrap().display().to_string();
    assert!(
        error.contains(&format!("everybody may write to {open}, and so put another folder there")),
        "{error}"
    );
    assert!(
        error.contains("name one elsewhere, ") && error.ends_with(&format!("(`chmod +t {open}`)")),
        "{error}"
    );
    // The error message recommends this.
    fs::set_permissions(&folder.0, fs::Permissions::from_mode(0o1777)).unwrap();
    Client::new(&options).unwrap();
    fs::set_permissions(&folder.0, fs::Permissions::from_mode(0o700)).unwrap();
    let file = folder.0.join("file");
    fs::write(&file, "").unwrap();
    let options = ClientOptions { cache_dir: Some(file), ..ClientOptions::default() };
    assert!(Client::new(&options).is_err());
}

#[test]
fn only_a_whole_file_of_the_key_is_taken() {
    let objects = vec![b"one".to_vec(), Vec::new(), vec![0; 100]];
    let file = packed(&objects, KEY);
    assert_eq!(unpacked(&file, KEY), Some(objects));
    assert_eq!(unpacked(&file, CodeKey([8; 32])), None);
    for end in 0..file.len() {
        assert_eq!(unpacked(&file[..end], KEY), None, "cut at {end}");
    }
    for at in 0..file.len() {
        let mut damaged = file.clone();
        damaged[at] ^= 0x10;
        assert_eq!(unpacked(&damaged, KEY), None, "damaged at {at}");
    }
}

#[test]
fn only_files_of_the_cache_are_its_own() {
    let key = KEY.to_string();
    assert_eq!(own_suffix(&format!("{key}.hlocode")), Some("hlocode"));
    assert_eq!(own_suffix(&format!("{key}.12-0-99.new")), Some("new"));
    for other in ["config.new", "old.hlocode", "", &key, &format!("x{key}.new"), "é".repeat(40).as_str()] {
        assert_eq!(own_suffix(other), None, "{other}");
    }
}

#[test]
fn a_file_of_lies_with_a_right_digest_is_refused() {
    let mut out = [&b"HLOCODE1"[..], &KEY.0, &u64::MAX.to_le_bytes(), &u64::MAX.to_le_bytes()].concat();
    let digest = Sha256::digest(&out);
    out.extend(digest);
    assert_eq!(unpacked(&out, KEY), None);
}
