//! Builds ahead-of-time programs with `hlo-run --aot` and C compilers.

use super::tool::tool;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The files of one program.
pub struct Built {
    pub name: String,
    pub folder: PathBuf,
}

impl Built {
    pub fn object(&self) -> PathBuf {
        self.folder.join(format!("{}.o", self.name))
    }

    pub fn runtime(&self) -> PathBuf {
        self.folder.join("libhlo_runtime.a")
    }

    pub fn has_runtime(&self) -> bool {
        self.runtime().exists()
    }
}

/// Creates an empty folder.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("aot").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Returns the standard output of a command that must succeed.
pub fn succeeds(command: &mut Command) -> Vec<u8> {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Returns the path of the runtime library of this build. It is a dependency of these tests, so Cargo places
/// it next to them.
fn runtime() -> &'static Path {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    FOUND.get_or_init(|| {
        let tests = std::env::current_exe().unwrap();
        let files = std::fs::read_dir(tests.parent().unwrap()).unwrap().map(|file| file.unwrap().path());
        let is_library = |path: &PathBuf| {
            let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
            name.starts_with("libhlo_aot_runtime-") && name.ends_with(".a")
        };
        let newest = files.filter(is_library).max_by_key(|path| path.metadata().unwrap().modified().unwrap());
        newest.expect("a runtime library beside the tests")
    })
}

/// Compiles a module ahead of time.
pub fn build(name: &str, text: &str, arguments: &[&str]) -> Built {
    let folder = folder(name);
    let module = folder.join("module.hlo");
    std::fs::write(&module, text).unwrap();
    let mut command = tool(env!("CARGO_BIN_EXE_hlo-run"));
    command.arg(&module).arg(format!("--aot={name}")).arg("-o").arg(&folder).args(arguments);
    if !arguments.iter().any(|a| a.starts_with("--runtime")) {
        command.arg("--runtime").arg(runtime());
    }
    // The checker that runs the programs may support fewer instructions than this processor.
    if let Ok(cpu) = std::env::var("HLO_AOT_CPU")
        && !arguments.iter().any(|a| a.starts_with("--cpu") || a.starts_with("--target"))
    {
        command.arg(format!("--cpu={cpu}"));
    }
    succeeds(&mut command);
    Built { name: name.to_string(), folder }
}

/// Links a C program with compiled programs.
pub fn link_source(name: &str, source: &str, programs: &[&Built], more: &[&str]) -> PathBuf {
    let folder = folder(&format!("{name}_c"));
    let file = folder.join("main.c");
    std::fs::write(&file, source).unwrap();
    let program = folder.join("program");
    let mut command = Command::new("gcc");
    command
        .args(["-std=c99", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-o"])
        .arg(&program)
        .arg(&file);
    command.args(programs.iter().flat_map(|p| [PathBuf::from("-I"), p.folder.clone()]));
    command.args(programs.iter().map(|p| p.object()));
    command.args(programs.iter().filter(|p| p.has_runtime()).map(|p| p.runtime()));
    command.args(more);
    // The libraries that the header lists.
    for built in programs {
        let header = std::fs::read_to_string(built.folder.join(format!("{}.h", built.name))).unwrap();
        let link = header.lines().find_map(|l| l.trim().strip_prefix("Link with: ")).unwrap().to_string();
        command.args(link.split_whitespace().filter(|word| word.starts_with("-l")));
    }
    succeeds(&mut command);
    program
}

/// Links a C program that reads its arguments from standard input, one after the other, and writes its
/// results to standard output. Its own argument is the number of threads. Without an argument it uses no
/// context.
pub fn link_c(built: &Built, arguments: &[&str], results: &[&str]) -> PathBuf {
    let name = &built.name;
    let upper = name.to_uppercase();
    let read =
        |field: &&str| format!("  arguments.{field} = filled({upper}_{}_BYTES);\n", field.to_uppercase());
    let room = |field: &&str| format!("  results.{field} = room({upper}_{}_BYTES);\n", field.to_uppercase());
    let write = |field: &&str| {
        format!("  fwrite(results.{field}, 1, {upper}_{}_BYTES, stdout);\n", field.to_uppercase())
    };
    let free = |list: &str, field: &&str| format!("  free((void *){list}.{field});\n");
    let freed = arguments.iter().map(|f| free("arguments", f));
    let freed: String = freed.chain(results.iter().map(|f| free("results", f))).collect();
    let source = include_str!("driver.c")
        .replace("NAME", name)
        .replace("UPPER", &upper)
        .replace("/*READ*/", &arguments.iter().map(read).collect::<String>())
        .replace("/*ROOM*/", &results.iter().map(room).collect::<String>())
        .replace("/*FREE*/", &freed)
        .replace("/*WRITE*/", &results.iter().map(write).collect::<String>());
    link_source(name, &source, &[built], &[])
}

/// Runs a program and returns its output. `HLO_AOT_RUN` sets a command with arguments that runs it.
/// `make memcheck` uses this to run the program under a checker, with `HLO_AOT_CPU` set to a processor that
/// the checker supports.
pub fn run(program: &Path, argument: &str, input: &[u8]) -> Vec<u8> {
    let before = std::env::var("HLO_AOT_RUN").unwrap_or_default();
    let mut words = before.split_whitespace().map(std::ffi::OsStr::new).chain([program.as_os_str()]);
    let mut command = Command::new(words.next().unwrap_or(program.as_os_str()));
    command.args(words);
    command.args((!argument.is_empty()).then_some(argument));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || {
            // A program may end before it has read everything. Its status then shows that.
            let _ = stdin.write_all(input);
        });
        child.wait_with_output().unwrap()
    });
    assert!(
        output.status.success(),
        "{program:?}: {}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    output.stdout
}
