//! Tests of the tools that text tests can't express: exit codes, files that are created during the test
//! (mainly hostile ones), and results that are written and read back.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const OPT: &str = env!("CARGO_BIN_EXE_hlo-opt");
pub const RUN: &str = env!("CARGO_BIN_EXE_hlo-run");

/// Creates an empty folder for a test.
pub fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli").join(test);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

pub fn run(program: &str, arguments: &[&str]) -> Output {
    Command::new(program).args(arguments).output().unwrap()
}

/// Runs a tool that must end with `code` and print `message` to standard error, without a panic.
#[track_caller]
pub fn fails(program: &str, arguments: &[&str], code: i32, message: &str) {
    let output = run(program, arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{stderr}");
    assert!(stderr.contains(message), "`{message}` is not in\n{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
}

#[track_caller]
pub fn succeeds(program: &str, arguments: &[&str]) -> String {
    let output = run(program, arguments);
    assert!(output.status.success(), "{arguments:?}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Checks that both tools reject a file with these contents, with this message.
#[track_caller]
fn both_refuse(test: &str, contents: &[u8], message: &str) {
    let path = folder(test).join("input.hlo");
    std::fs::write(&path, contents).unwrap();
    let path = path.to_str().unwrap();
    fails(OPT, &[path], 1, message);
    fails(RUN, &["--engine=eval", path], 1, message);
}

const AXPY: &str = "\
HloModule axpy

ENTRY main {
  a = f32[] parameter(0)
  x = f32[4] parameter(1)
  y = f32[4] parameter(2)
  broadcast = f32[4] broadcast(a), dimensions={}
  product = f32[4] multiply(broadcast, x)
  ROOT sum = f32[4] add(product, y)
}
";

pub fn axpy(test: &str) -> (PathBuf, String) {
    let folder = folder(test);
    let path = folder.join("axpy.hlo");
    std::fs::write(&path, AXPY).unwrap();
    let path = path.to_str().unwrap().to_string();
    (folder, path)
}

#[test]
fn an_empty_file() {
    both_refuse("empty", b"", "the file is empty");
}

#[test]
fn a_file_of_blanks() {
    both_refuse("blanks", b"  \n\n", "error");
}

#[test]
fn a_picture() {
    both_refuse("png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "is not UTF-8");
}

#[test]
fn a_directory() {
    let folder = folder("directory");
    for program in [OPT, RUN] {
        fails(program, &[folder.to_str().unwrap()], 1, "is a directory");
    }
}

#[test]
fn no_such_file() {
    for program in [OPT, RUN] {
        fails(program, &["no/such/file.hlo"], 1, "no such file");
    }
}

#[test]
fn a_truncated_module() {
    for end in 1..AXPY.len() - 2 {
        let path = folder("truncated").join("input.hlo");
        std::fs::write(&path, &AXPY[..end]).unwrap();
        // Runs both tools on every sixteenth prefix only, because a process for each byte would take too
        // long.
        if end % 16 == 0 {
            fails(OPT, &[path.to_str().unwrap()], 1, "error");
            fails(RUN, &["--engine=eval", path.to_str().unwrap()], 1, "error");
        }
    }
}

#[test]
fn nested_parentheses() {
    let deep = "(".repeat(100_000);
    both_refuse("nested", deep.as_bytes(), "error");
    both_refuse("nested-shape", format!("HloModule m\n\nENTRY e {{\n  ROOT p = {deep}").as_bytes(), "error");
    let closed = format!("{}f32[]{}", "(".repeat(100_000), ")".repeat(100_000));
    let text = format!("HloModule m\n\nENTRY e {{\n  ROOT p = {closed} parameter(0)\n}}\n");
    both_refuse("nested-closed", text.as_bytes(), "error");
    let text =
        format!("HloModule m\n\nENTRY e {{\n  ROOT c = f32[] constant({{{}\n}}\n", "{".repeat(100_000));
    both_refuse("nested-literal", text.as_bytes(), "error");
}

#[test]
fn a_petabyte() {
    let (path, size) = (folder("petabyte").join("input.hlo"), 1u64 << 48);
    let write = |body: &str| {
        std::fs::write(&path, format!("HloModule big\n\nENTRY main {{\n{body}\n}}\n")).unwrap();
    };
    let path = path.to_str().unwrap();
    write(&format!("  ROOT p = f32[{size}] parameter(0)"));
    fails(RUN, &["--engine=eval", path], 1, "1.0 PiB");
    write(&format!("  c = f32[] constant(1)\n  ROOT b = f32[{size}] broadcast(c), dimensions={{}}"));
    fails(RUN, &["--engine=eval", path], 1, "1.0 PiB");
    write(&format!(
        "  c = f32[] constant(1)\n  b = f32[{size}] broadcast(c), dimensions={{}}\n  \
         ROOT s = f32[1] slice(b), slice={{[0:1]}}"
    ));
    fails(RUN, &["--engine=eval", path], 1, "error");
    write("  ROOT p = f32[9223372036854775807,9223372036854775807] parameter(0)");
    fails(RUN, &["--engine=eval", path], 1, "error");
}

/// Memory may hold the input or the result, but not both.
#[test]
fn inputs_and_results_that_do_not_fit_together() {
    let available = hlo_tools_common::memory::available_bytes();
    // No machine has more. A larger number means that no limit is known.
    if available > 1 << 46 {
        return;
    }
    let size = available / 10 * 7 / 4;
    let path = folder("together").join("input.hlo");
    let text = format!(
        "HloModule big\n\nENTRY main {{\n  p = f32[{size}] parameter(0)\n  ROOT n = f32[{size}] negate(p)\n}}\n"
    );
    std::fs::write(&path, text).unwrap();
    fails(RUN, &["--engine=eval", path.to_str().unwrap()], 1, "the inputs and results take");
}

#[test]
fn usage_errors_exit_with_2() {
    let (_, path) = axpy("usage");
    fails(RUN, &[], 2, "FILE");
    fails(RUN, &[&path, "--no-such-option"], 2, "--no-such-option");
    fails(RUN, &[&path, "--engine=gpu"], 2, "gpu");
    fails(RUN, &[&path, "--rtol=-1"], 2, "not negative");
    fails(RUN, &[&path, "--iterations=0"], 2, "0");
    fails(RUN, &[&path, "--input", "f32[]", "--random-inputs"], 2, "--random-inputs");
    fails(RUN, &[&path, "--engine=eval", "--input", "f32["], 2, "--input #1:1");
    fails(RUN, &[&path, "--engine=eval", "--passes=fuion"], 2, "did you mean `fusion`?");
    fails(RUN, &[&path, "--engine=eval", "-o", "results.txt"], 2, ".npz file");
    fails(OPT, &[&path, "--no-such-option"], 2, "--no-such-option");
    fails(OPT, &[&path, "--passes=no-such-pass"], 2, "no-such-pass");
}

#[test]
fn inputs_that_do_not_fit_are_named() {
    let (_, path) = axpy("misfit");
    let eval = |rest: &[&'static str], message| {
        let arguments: Vec<&str> =
            [path.as_str(), "--engine=eval"].into_iter().chain(rest.iter().copied()).collect();
        fails(RUN, &arguments, 1, message);
    };
    eval(&["--input", "f32[] 1"], "the module has 3 inputs, 1 given");
    eval(
        &["--input", "f32[] 1", "--input", "f32[4] {1,2,3,4}", "--input", "s32[4] {1,2,3,4}"],
        "parameter 2 `y`: f32[4] is expected, s32[4] given",
    );
    eval(
        &["--input", "f32[1] {1}", "--input", "f32[4] {1,2,3,4}", "--input", "f32[4] {1,2,3,4}"],
        "parameter 0 `a`: f32[] is expected, f32[1] given",
    );
    eval(&["--inputs", "no_such.npz"], "no_such.npz");
}

#[test]
fn results_are_written_and_read_back() {
    let (folder, path) = axpy("round-trip");
    let at = |name: &str| folder.join(name).to_str().unwrap().to_string();
    let inputs = ["--input", "f32[] 2", "--input", "f32[4] {1,2,3,4}", "--input", "f32[4] {10,20,30,40}"];
    let with = |rest: &[&str]| {
        let mut arguments = vec![path.as_str(), "--engine=eval"];
        arguments.extend(inputs);
        arguments.extend(rest);
        succeeds(RUN, &arguments)
    };
    assert_eq!(with(&[]), "f32[4] {12, 24, 36, 48}\n");
    for output in [at("results.npz"), at("result.npy"), at("new-folder/")] {
        assert_eq!(with(&["-o", &output]), "", "nothing is printed where results are written");
    }
    for expected in [at("results.npz"), at("result.npy"), at("new-folder/out_0.npy")] {
        with(&["--quiet", "--expected", &expected]);
    }
    // One run reads the results of another as its inputs.
    let negate = "HloModule n\n\nENTRY main {\n  p = f32[4] parameter(0)\n  ROOT n = f32[4] negate(p)\n}\n";
    std::fs::write(at("negate.hlo"), negate).unwrap();
    for file in ["results.npz", "result.npy"] {
        let printed = succeeds(RUN, &[&at("negate.hlo"), "--engine=eval", "--inputs", &at(file)]);
        assert_eq!(printed, "f32[4] {-12, -24, -36, -48}\n");
    }
    fails(RUN, &[&at("negate.hlo"), "--engine=eval", "--inputs", &path], 1, "not a .npy file");
}

/// A big-endian file in Fortran order, as numpy writes one, for parameters of both orders of dimensions.
#[test]
fn files_in_fortran_order_are_taken_as_they_are() {
    let folder = folder("fortran-order");
    let at = |name: &str| folder.join(name).to_str().unwrap().to_string();
    let header = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }";
    let mut file = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    file.extend(format!("{header:<117}\n").as_bytes());
    file.extend([1i16, 4, 2, 5, 3, 6].iter().flat_map(|x| x.to_be_bytes()));
    std::fs::write(at("x.npy"), file).unwrap();
    let engine = if cfg!(feature = "codegen") { "--engine=both" } else { "--engine=eval" };
    for layout in ["{1,0}", "{0,1}"] {
        let shape = format!("s16[2,3]{layout}");
        let text = format!(
            "HloModule n\n\nENTRY main {{\n  p = {shape} parameter(0)\n  ROOT n = {shape} negate(p)\n}}\n"
        );
        std::fs::write(at("negate.hlo"), text).unwrap();
        let printed = succeeds(RUN, &[&at("negate.hlo"), engine, "--inputs", &at("x.npy")]);
        assert!(printed.replace(['\n', ' '], "").ends_with("{{-1,-2,-3},{-4,-5,-6}}"), "{printed}");
    }
}

#[test]
fn a_mismatch_is_reported_and_exits_with_1() {
    let (_, path) = axpy("mismatch");
    let arguments = [
        path.as_str(),
        "--engine=eval",
        "--quiet",
        "--input",
        "f32[] 1",
        "--input",
        "f32[4] {1,2,3,4}",
        "--input",
        "f32[4] {0,0,0,0}",
        "--expect",
        "f32[4] {1,2,3,5}",
    ];
    fails(RUN, &arguments, 1, "1 of 4 elements (25.0000%) differ");
    fails(RUN, &arguments, 1, "worst at [3]: got 4, expected 5");
    let tolerant = [&arguments[..], &["--rtol=0.3"]].concat();
    succeeds(RUN, &tolerant);
    let few = [&arguments[..], &["--max-mismatches=0.25"]].concat();
    succeeds(RUN, &few);
}

#[test]
fn made_up_inputs_depend_on_the_seed_only() {
    let (_, path) = axpy("seed");
    let with = |seed: &str| succeeds(RUN, &[&path, "--engine=eval", seed]);
    assert_eq!(with("--random-inputs=3"), with("--random-inputs=3"));
    assert_ne!(with("--random-inputs=3"), with("--random-inputs=4"));
    let note = run(RUN, &[&path, "--engine=eval"]);
    assert!(
        String::from_utf8_lossy(&note.stderr).contains("no inputs are given; they are made up from seed 0")
    );
}

#[test]
fn timings_are_json_if_asked_for() {
    let (_, path) = axpy("json");
    let line = succeeds(
        RUN,
        &[&path, "--engine=eval", "--quiet", "--random-inputs", "--time=json", "--iterations=3"],
    );
    let value: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(value["run"]["count"], 3);
    assert!(value["parse"].as_f64().unwrap() > 0.0);
}

#[test]
fn standard_input_is_read_for_a_dash() {
    use std::io::Write;
    use std::process::Stdio;
    // hlo-opt also reads standard input without an argument.
    for (program, arguments) in [(OPT, &["-"][..]), (OPT, &[]), (RUN, &["-"])] {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if program == RUN {
            command.args(["--engine=eval", "--random-inputs"]);
        }
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(AXPY.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Returns the objects that a tool writes to standard error with `--diagnostics=json`. The tool must end with
/// `code`.
#[track_caller]
fn objects(program: &str, arguments: &[&str], code: i32) -> Vec<serde_json::Value> {
    let output = run(program, &[arguments, &["--diagnostics=json"]].concat());
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{stderr}");
    stderr.lines().map(|l| serde_json::from_str(l).unwrap_or_else(|e| panic!("{e}: {l}"))).collect()
}

#[test]
fn every_failure_is_an_object() {
    let (folder, path) = axpy("json");
    for program in [OPT, RUN] {
        let found = objects(program, &["no/such/file.hlo"], 1);
        assert_eq!(
            (&found[0]["file"], &found[0]["message"]),
            (&"no/such/file.hlo".into(), &"no such file".into())
        );
        assert_eq!(found[0]["uri"], serde_json::Value::Null);
        let found = objects(program, &[&path, "--no-such-option"], 2);
        assert_eq!(found[0]["message"], "unexpected argument '--no-such-option' found");
        let found = objects(program, &[&path, "--passes=dec"], 2);
        assert_eq!((&found[0]["argument"], &found[0]["code"]), (&"--passes".into(), &"E2002".into()));
        assert_eq!(found[0]["suggestions"][0]["newText"], "dce");
    }
    assert_eq!(objects(OPT, &[&path], 0), [] as [serde_json::Value; 0]);
    assert_eq!(objects(OPT, &[&path, "--time-passes"], 2).len(), 1);
    assert_eq!(objects(RUN, &["--engine=eval", "--case", folder.to_str().unwrap()], 1).len(), 1);
}

#[test]
fn mistakes_that_show_before_a_run() {
    let (folder, path) = axpy("before-run");
    let eval = ["--engine=eval", path.as_str()];
    let with = |more: &[&'static str]| [&eval[..], more].concat();
    fails(RUN, &with(&["-o", "results.txt"]), 2, ".npz file");
    fails(RUN, &with(&["--max-mismatches=50"]), 2, "a fraction from 0 to 1");
    fails(RUN, &with(&["--input", "f32[4] {1}"]), 2, "dimension 0 of `f32[4]` has size 4");
    fails(RUN, &with(&["--input", "f32[] 1"]), 1, "the module has 3 inputs, 1 given");
    fails(
        RUN,
        &with(&["--expect", "f32[4] {1,2,3,4}", "--expect", "f32[] 1"]),
        1,
        "the module has 1 expected result, 2",
    );
    fails(RUN, &["--engine=eval", "--case", "/nope"], 1, "/nope: no such folder");
    fails(RUN, &["--engine=eval", "--case", folder.to_str().unwrap()], 1, "the folder has no case.json");
    fails(RUN, &["--engine=eval", "--case", &path], 1, "a folder with module.hlo and case.json is expected");
}

#[test]
fn binary_files_are_named() {
    both_refuse("gzip", b"\x1f\x8b\x08\0\0\0", "gzip-compressed data: `gunzip` it first");
    both_refuse("proto", b"\n\xa0\x1a\n\x05jit_f\x12\x04main\0", "a protocol buffer");
    both_refuse("utf16", b"\xff\xfeH\0l\0o\0", "UTF-16 text: save it as UTF-8");
    both_refuse("npz", b"PK\x03\x04\x14\0", "a zip archive, such as an .npz file");
    both_refuse("stablehlo", b"module @m {\n  stablehlo.add\n}\n", "stablehlo.add");
    both_refuse("bytecode", b"ML\xefR\x0dStableHLO_v1\0", "bytecode");
}

/// The interrupt that Ctrl-C sends ends an infinite loop in both engines.
#[test]
#[cfg(unix)]
fn an_interrupt_ends_a_loop_without_end() {
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    use std::time::{Duration, Instant};
    const INTERRUPT: i32 = 2;
    let path = folder("interrupt").join("forever.hlo");
    let text = "HloModule forever\n\nalways {\n  n = s32[] parameter(0)\n  ROOT yes = pred[] constant(true)\n}\n\n\
                next {\n  n = s32[] parameter(0)\n  one = s32[] constant(1)\n  ROOT m = s32[] add(n, one)\n}\n\n\
                ENTRY main {\n  n = s32[] parameter(0)\n  \
                ROOT w = s32[] while(n), condition=always, body=next\n}\n";
    std::fs::write(&path, text).unwrap();
    let engines = if cfg!(feature = "codegen") { &["eval", "jit"][..] } else { &["eval"] };
    for engine in engines {
        let mut command = Command::new(RUN);
        command.arg(&path).args(["--engine", engine, "--input", "s32[] 0"]);
        // If tests run in the background of a shell, they and all their child processes ignore interrupts.
        // SAFETY: a process may call `signal` between fork and exec.
        unsafe {
            command.pre_exec(|| {
                libc::signal(libc::SIGINT, libc::SIG_DFL);
                Ok(())
            });
        }
        let mut child = command.spawn().unwrap();
        // Long enough for the loop to start.
        std::thread::sleep(Duration::from_secs(2));
        assert!(child.try_wait().unwrap().is_none(), "{engine}: the loop has an end");
        let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let start = Instant::now();
        let status = loop {
            match child.try_wait().unwrap() {
                Some(status) => break status,
                None if start.elapsed() > Duration::from_secs(30) => {
                    child.kill().unwrap();
                    panic!("{engine}: the interrupt does not end the loop");
                }
                None => std::thread::sleep(Duration::from_millis(20)),
            }
        };
        assert_eq!(status.signal(), Some(INTERRUPT), "{engine}: {status}");
    }
}

/// Without code generation, a tool that needs it fails at once and says what needs it.
#[cfg(not(feature = "codegen"))]
#[test]
fn what_needs_code_generation_says_so() {
    let path = folder("needs_codegen").join("axpy.hlo");
    std::fs::write(&path, AXPY).unwrap();
    let path = path.to_str().unwrap();
    fails(RUN, &[path, "--isolate"], 1, "--isolate compares compiled code with the interpreter, and");
    fails(RUN, &[path, "--emit=asm"], 1, "--emit shows what the module is compiled to, and");
    fails(RUN, &[path, "--engine=both"], 1, "not built in: use --engine=eval, or");
    succeeds(RUN, &[path, "--emit=hlo"]);
    succeeds(RUN, &[path, "--bisect-passes", "--random-inputs=1"]);
}

/// Returns the files below a folder.
#[cfg(feature = "codegen")]
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let below = |path: PathBuf| if path.is_dir() { files_below(&path) } else { vec![path] };
    std::fs::read_dir(folder).unwrap().flat_map(|entry| below(entry.unwrap().path())).collect()
}

/// `-g` writes the input of `perf inject --jit`: functions with the names of their instructions, and lines of
/// the module.
#[cfg(feature = "codegen")]
#[test]
fn perf_is_told_of_compiled_code() {
    let folder = folder("perf");
    let path = folder.join("large.hlo");
    std::fs::write(&path, AXPY.replace("f32[4]", "f32[4000]")).unwrap();
    for (flags, dumps) in [(&["-g"][..], 1), (&[], 0)] {
        let mut command = Command::new(RUN);
        command.env("JITDUMPDIR", &folder).args(flags).args(["--random-inputs", "--quiet"]).arg(&path);
        assert!(command.status().unwrap().success());
        let mut found = files_below(&folder);
        found.retain(|file| file.extension().is_some_and(|e| e == "dump"));
        assert_eq!(found.len(), dumps, "{flags:?}: {found:?}");
        for file in found {
            let dump = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
            assert!(["hlo_main", "kernel_0.", "large.hlo"].iter().all(|text| dump.contains(text)));
            std::fs::remove_file(file).unwrap();
        }
    }
}

/// The times at which each device of a program waits, as a picture and as events.
#[test]
fn timelines_of_devices() {
    let folder = folder("timelines");
    let path = folder.join("psum.hlo");
    let text = "HloModule psum, replica_count=2
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
ENTRY e { x = f32[8] parameter(0) ROOT y = f32[8] all-reduce(x), to_apply=add }
";
    std::fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap();
    let write = |name: &str| {
        let file = folder.join(name);
        let option = format!("--timeline={}", file.display());
        succeeds(RUN, &[path, "--engine=eval", "--random-inputs", "--iterations=2", "-q", &option]);
        std::fs::read_to_string(file).unwrap()
    };
    let picture = write("waits.svg");
    for part in [
        "psum: what each device waits for",
        "<title>device 0, run 1:",
        "<title>device 1, run 0:",
        "waits in `all-reduce` `y`",
    ] {
        assert!(picture.contains(part), "{part}: {picture}");
    }
    let events: serde_json::Value = serde_json::from_str(&write("waits.json")).unwrap();
    let events = events["traceEvents"].as_array().unwrap();
    let count = |name: &str| events.iter().filter(|e| e["name"] == name).count();
    assert_eq!((count("run"), count("thread_name")), (4, 2));
    // Each device reaches both collectives.
    assert_eq!(count("`all-reduce` `y`"), 4);
    let alone = [path, "--num-replicas=1", "--engine=eval", "--random-inputs", "--timeline=x.svg"];
    fails(RUN, &alone, 2, "--timeline shows what devices wait for, and the program runs on one device");
    let nowhere = folder.join("none").join("waits.svg");
    let option = format!("--timeline={}", nowhere.display());
    fails(RUN, &[path, "--engine=eval", "--random-inputs", &option], 1, "waits.svg");
}
