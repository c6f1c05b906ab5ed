//! What is compiled once: by a client, and by processes that share a folder.

use hlo_client::{Client, ClientOptions, CompileOptions, CustomCalls, Engine, Passes};
use hlo_ir::Literal;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn pipeline(text: &str) -> hlo_passes::Pipeline {
    hlo_passes::Pipeline::parse(text).unwrap()
}

const DOUBLE: &str = "HloModule m ENTRY e { x = f32[4] parameter(0) ROOT y = f32[4] add(x, x) }";

#[test]
fn the_same_text_with_the_same_options_is_compiled_once() {
    let client = Client::local();
    let options = CompileOptions::default();
    let first = client.compile_text(DOUBLE, &options).unwrap();
    client.compile_text(DOUBLE, &options.clone()).unwrap();
    assert_eq!(client.cache_statistics().hits, 1);
    let others = [
        CompileOptions { engine: Engine::Interpreted, passes: Passes::Lowering, ..options.clone() },
        CompileOptions { seed: 1, ..options.clone() },
        CompileOptions { threads: 1, ..options.clone() },
        CompileOptions { memory_limit: 1 << 30, ..options.clone() },
        CompileOptions { custom_calls: CustomCalls::new(Default::default()), ..options.clone() },
        CompileOptions { donation: true, ..options.clone() },
        CompileOptions { optimize: false, ..options.clone() },
        CompileOptions { passes: Passes::Lowering, ..options.clone() },
        CompileOptions { passes: Passes::These(Arc::new(pipeline("cse"))), ..options.clone() },
        CompileOptions { passes: Passes::These(Arc::new(pipeline("cse,dce"))), ..options.clone() },
    ];
    let count = others.len() as u64 + 1;
    for other in &others {
        client.compile_text(DOUBLE, other).unwrap();
    }
    let statistics = client.cache_statistics();
    assert_eq!((statistics.hits, statistics.misses, statistics.programs), (1, count, count as usize));
    // Modules are known by what they are.
    let module = hlo_parser::parse_module(DOUBLE).unwrap();
    client.compile(&module, &options).unwrap();
    client.compile(&module.clone(), &options).unwrap();
    let statistics = client.cache_statistics();
    assert_eq!((statistics.hits, statistics.misses), (2, count + 1));
    assert_eq!(first.run(&[Literal::r1(&[1f32, 2., 3., 4.])]).unwrap().elements::<f32>(), [2., 4., 6., 8.]);
}

#[test]
fn a_program_that_several_threads_ask_for_is_compiled_once() {
    let client = Client::local();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| client.compile_text(DOUBLE, &CompileOptions::default()).unwrap());
        }
    });
    let statistics = client.cache_statistics();
    assert_eq!((statistics.hits, statistics.misses), (7, 1));
}

#[test]
fn failures_are_not_kept_and_the_oldest_program_goes_first() {
    let client = Client::new(&ClientOptions { cached_programs: 2, ..ClientOptions::default() }).unwrap();
    let options = CompileOptions { engine: Engine::Interpreted, ..CompileOptions::default() };
    for _ in 0..2 {
        assert!(client.compile_text("HloModule", &options).is_err());
    }
    assert_eq!(client.cache_statistics().programs, 0);
    let text = |n: usize| format!("HloModule m{n} ENTRY e {{ ROOT c = s32[] constant({n}) }}");
    for n in [1, 2, 1, 3, 1, 2] {
        let program = client.compile_text(&text(n), &options).unwrap();
        assert_eq!(program.run(&[]).unwrap().get::<i32>(&[]), Some(n as i32));
    }
    let statistics = client.cache_statistics();
    assert_eq!((statistics.hits, statistics.programs), (2, 2));
    let none = Client::new(&ClientOptions { cached_programs: 0, ..ClientOptions::default() }).unwrap();
    none.compile_text(&text(1), &options).unwrap();
    none.compile_text(&text(1), &options).unwrap();
    assert_eq!(none.cache_statistics(), Default::default());
}

#[test]
fn programs_that_hold_much_are_kept_as_far_as_there_is_room() {
    let client =
        Client::new(&ClientOptions { cached_program_bytes: 5000, ..ClientOptions::default() }).unwrap();
    let options = CompileOptions { engine: Engine::Interpreted, ..CompileOptions::default() };
    let text = |n: usize, size: usize| {
        let elements = vec![n.to_string(); size].join(",");
        format!("HloModule m ENTRY e {{ ROOT c = s32[{size}] constant({{{elements}}}) }}")
    };
    for n in 0..4 {
        client.compile_text(&text(n, 500), &options).unwrap();
        assert_eq!(client.cache_statistics().programs, (n + 1).min(2));
    }
    client.compile_text(&text(0, 2000), &options).unwrap();
    assert_eq!(client.cache_statistics().programs, 2);
}

/// A folder of this test's own, removed with it.
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

/// Whether code was there, after a run that gives what it should.
#[cfg(feature = "codegen")]
fn was_kept(folder: &Path, text: &str, options: &CompileOptions) -> bool {
    let program = client(folder).compile_text(text, options).unwrap();
    assert_eq!(program.run(&[Literal::r1(&[1f32, 2., 3., 4.])]).unwrap().elements::<f32>(), [2., 4., 6., 8.]);
    program.compiled().unwrap().timings().was_kept
}

#[cfg(feature = "codegen")]
#[test]
fn code_is_there_for_the_next_client_unless_something_else_is_compiled() {
    let folder = Folder::new("next");
    let options = CompileOptions { threads: 2, ..CompileOptions::default() };
    assert!(!was_kept(&folder.0, DOUBLE, &options));
    assert!(was_kept(&folder.0, DOUBLE, &options));
    // The text is other, the program is not.
    assert!(was_kept(&folder.0, &DOUBLE.replace("ENTRY", "\n// Twice.\nENTRY"), &options));
    let other = DOUBLE.replace("add(x, x)", "abs(q)").replace("ROOT", "q = f32[4] add(x, x) ROOT");
    assert!(!was_kept(&folder.0, &other, &options));
    assert_eq!(folder.files().len(), 2);
}

#[cfg(feature = "codegen")]
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
    // What is in the place of a file and is none.
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert!(!was_kept(&folder.0, DOUBLE, &options));
}

#[cfg(all(unix, feature = "codegen"))]
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

#[cfg(feature = "codegen")]
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

#[cfg(feature = "codegen")]
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

#[cfg(all(unix, feature = "codegen"))]
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
    assert!(error.contains("and so put another folder there"), "{error}");
    fs::set_permissions(&folder.0, fs::Permissions::from_mode(0o700)).unwrap();
    let file = folder.0.join("file");
    fs::write(&file, "").unwrap();
    let options = ClientOptions { cache_dir: Some(file), ..ClientOptions::default() };
    assert!(Client::new(&options).is_err());
}
