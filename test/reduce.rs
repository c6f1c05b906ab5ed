//! Tests of `hlo-reduce` on large modules: the size of the results, that they do not depend on the number of
//! threads, and the options that keep parts.

use hlo_testing::Numbers;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output};

const REDUCE: &str = env!("CARGO_BIN_EXE_hlo-reduce");
/// `hlo-reduce` looks for this binary in its own folder.
const RUN: &str = env!("CARGO_BIN_EXE_hlo-run");

/// Returns a module of about `count` instructions with many connections, calls, a loop, a tuple result and
/// metadata. In the middle, `bad` is computed from two of them.
fn module(count: usize, bad: &str) -> String {
    // With this seed, the result depends on `bad` for every size used here.
    let mut draw = Numbers::new(1);
    let mut out = String::from(
        "HloModule big\n\n\
         sum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n\n\
         twice {\n  t = f32[16,32] parameter(0)\n  u = f32[16,32] parameter(1)\n  ROOT d = f32[16,32] add(t, u)\n}\n\n\
         condition {\n  c = (s32[], f32[16,32]) parameter(0)\n  i = s32[] get-tuple-element(c), index=0\n\
         \x20 n = s32[] constant(3)\n  ROOT lt = pred[] compare(i, n), direction=LT\n}\n\n\
         body {\n  c = (s32[], f32[16,32]) parameter(0)\n  i = s32[] get-tuple-element(c), index=0\n\
         \x20 x = f32[16,32] get-tuple-element(c), index=1\n  one = s32[] constant(1)\n  j = s32[] add(i, one)\n\
         \x20 y = f32[16,32] tanh(x)\n  ROOT r = (s32[], f32[16,32]) tuple(j, y)\n}\n\nENTRY main {\n",
    );
    let mut names: Vec<String> = (0..8).map(|n| format!("p{n}")).collect();
    for (n, name) in names.iter().enumerate() {
        writeln!(out, "  {name} = f32[16,32] parameter({n}), sharding={{replicated}}").unwrap();
    }
    let mut made = names.len();
    while made < count {
        let recent = names.len().saturating_sub(40);
        let a = names[recent + draw.below(names.len() - recent)].clone();
        let b = names[recent + draw.below(names.len() - recent)].clone();
        let name = format!("v{made}");
        if (count / 2..count / 2 + 5).contains(&made) && !names.iter().any(|n| n == "bad") {
            writeln!(out, "  {}", bad.replace("$a", &a).replace("$b", &b)).unwrap();
            names.push("bad".into());
            made += 1;
            continue;
        }
        let metadata =
            format!("metadata={{op_name=\"layer/{made}\" source_file=\"model.py\" source_line={made}}}");
        match draw.below(8) {
            0 => writeln!(out, "  {name} = f32[16,32] call({a}, {b}), to_apply=twice, {metadata}").unwrap(),
            1 => writeln!(out, "  {name} = f32[16,32] negate({a}), {metadata}").unwrap(),
            2 => writeln!(out, "  {name} = f32[16,32] maximum({a}, {b}), {metadata}").unwrap(),
            3 if made % 50 < 5 => {
                writeln!(
                    out,
                    "  z{made} = s32[] constant(0)\n  w{made} = (s32[], f32[16,32]) tuple(z{made}, {a})\n\
                     \x20 l{made} = (s32[], f32[16,32]) while(w{made}), condition=condition, body=body\n\
                     \x20 {name} = f32[16,32] get-tuple-element(l{made}), index=1"
                )
                .unwrap();
                made += 3;
            }
            4 => {
                writeln!(
                    out,
                    "  z{made} = f32[] constant(0)\n  r{made} = f32[16] reduce({a}, z{made}), dimensions={{1}}, to_apply=sum\n\
                     \x20 {name} = f32[16,32] broadcast(r{made}), dimensions={{0}}, {metadata}"
                )
                .unwrap();
                made += 2;
            }
            _ => writeln!(out, "  {name} = f32[16,32] multiply({a}, {b}), {metadata}").unwrap(),
        }
        names.push(name);
        made += 1;
    }
    let last: Vec<&str> = names.iter().rev().take(4).map(String::as_str).collect();
    let shapes = vec!["f32[16,32]"; last.len()].join(", ");
    writeln!(out, "  ROOT out = ({shapes}) tuple({})\n}}", last.join(", ")).unwrap();
    out
}

/// A custom call with an unknown target. The interpreter's error names the target.
const UNKNOWN: &str = "bad = f32[16,32] custom-call($a, $b), custom_call_target=\"nobody_knows\"";

fn folder(test: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("reduce").join(test);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Runs `hlo-reduce` on a text. Returns the reduced text and the standard error.
#[track_caller]
fn reduce(test: &str, text: &str, arguments: &[&str], command: &[&str]) -> (String, String) {
    let output = run(test, text, arguments, command);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    (String::from_utf8(output.stdout).unwrap(), said)
}

fn run(test: &str, text: &str, arguments: &[&str], command: &[&str]) -> Output {
    let file = folder(test).join("input.hlo");
    std::fs::write(&file, text).unwrap();
    Command::new(REDUCE).arg(&file).args(arguments).arg("--").args(command).output().unwrap()
}

/// Returns the number of instructions of a module.
fn count(text: &str) -> usize {
    text.lines().filter(|l| l.starts_with("  ") && l.contains(" = ")).count()
}

const INTERPRET: &[&str] = &["hlo-run", "--engine=eval", "--quiet", "{}"];

#[test]
fn two_thousand_instructions_become_a_few() {
    let text = module(2000, UNKNOWN);
    assert!(count(&text) >= 2000, "{}", count(&text));
    let (small, said) = reduce("two_thousand", &text, &["--match", "nobody_knows"], INTERPRET);
    assert!(count(&small) < 20 && count(&small) <= 4, "{small}");
    assert!(small.contains("custom_call_target=\"nobody_knows\""), "{small}");
    assert!(!small.contains("metadata=") && !small.contains("sharding="), "{small}");
    assert!(said.contains(&format!("→ {} instructions", count(&small))), "{said}");
    // The reduced module still fails when it runs alone.
    let file = folder("two_thousand_check").join("small.hlo");
    std::fs::write(&file, &small).unwrap();
    let output = Command::new(RUN).args(["--engine=eval", "--quiet"]).arg(&file).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("nobody_knows"));
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    let text = module(300, UNKNOWN);
    let with = |jobs: &str| {
        let arguments = ["--match", "nobody_knows", "--quiet", "-j", jobs];
        reduce(&format!("threads_{jobs}"), &text, &arguments, INTERPRET).0
    };
    let one = with("1");
    assert_eq!(one, with("3"));
    assert_eq!(one, with("8"));
}

#[test]
fn the_interface_can_be_kept() {
    let text = module(300, UNKNOWN);
    let arguments = ["--keep-interface", "--match", "nobody_knows"];
    let (small, _) = reduce("interface", &text, &arguments, INTERPRET);
    let entry = small.split_once("ENTRY").map_or("", |(_, entry)| entry);
    assert_eq!(entry.matches(" parameter(").count(), 8, "{small}");
    let result = "->(f32[16,32]{1,0}, f32[16,32]{1,0}, f32[16,32]{1,0}, f32[16,32]{1,0})}";
    assert!(small.contains(result), "{small}");
    assert!(count(&small) < 30, "{small}");
}

#[test]
fn a_failure_inside_of_a_loop_is_found() {
    let text = "HloModule m\n\n\
        condition {\n  c = (s32[], f64[8,6], f32[4]) parameter(0)\n  i = s32[] get-tuple-element(c), index=0\n\
        \x20 n = s32[] constant(3)\n  ROOT lt = pred[] compare(i, n), direction=LT\n}\n\n\
        body {\n  c = (s32[], f64[8,6], f32[4]) parameter(0)\n  i = s32[] get-tuple-element(c), index=0\n\
        \x20 x = f64[8,6] get-tuple-element(c), index=1\n  k = f32[4] get-tuple-element(c), index=2\n\
        \x20 one = s32[] constant(1)\n  j = s32[] add(i, one)\n  y = f64[8,6] tanh(x)\n\
        \x20 q = f64[8,6] custom-call(y), custom_call_target=\"nobody_knows\"\n  m = f32[4] negate(k)\n\
        \x20 ROOT r = (s32[], f64[8,6], f32[4]) tuple(j, q, m)\n}\n\n\
        ENTRY e {\n  x = f64[8,6] parameter(0)\n  k = f32[4] parameter(1)\n  z = s32[] constant(0)\n\
        \x20 w = (s32[], f64[8,6], f32[4]) tuple(z, x, k)\n\
        \x20 ROOT l = (s32[], f64[8,6], f32[4]) while(w), condition=condition, body=body\n}\n";
    // The pattern only matches with a loop.
    let arguments = ["--match", "(?s)nobody_knows.*while\\(|while\\(.*nobody_knows"];
    let (small, _) = reduce("in_loop", text, &arguments, &["hlo-opt", "{}"]);
    assert!(small.contains("while(") && small.contains("nobody_knows"), "{small}");
    assert!(count(&small) <= 10, "{small}");
    assert!(!small.contains("f64") && !small.contains("negate") && !small.contains("tanh"), "{small}");
}

#[test]
fn what_does_not_fail_is_not_reduced() {
    let output = run("fine", &module(20, "bad = f32[16,32] add($a, $b)"), &[], INTERPRET);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("on the whole module the command should fail, but it ended with"), "{said}");
}

#[test]
#[cfg(unix)]
fn a_command_that_hangs_is_ended() {
    let text = module(20, "bad = f32[16,32] add($a, $b)");
    let arguments = ["--timeout", "0.2", "--expect-timeout", "--max-runs", "3", "--quiet"];
    let (small, _) = reduce("hangs", &text, &arguments, &["sh", "-c", "sleep 1000; true"]);
    assert!(count(&small) <= count(&text));
    let output = run("hangs_not", &text, &["--timeout", "0.2"], &["sh", "-c", "sleep 1000; true"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("did not end within 0.2 s"));
}

#[test]
#[cfg(unix)]
fn ctrl_c_ends_it_with_the_smallest_module_so_far() {
    let folder = folder("interrupted");
    let file = folder.join("input.hlo");
    let text = module(300, UNKNOWN);
    std::fs::write(&file, &text).unwrap();
    // The first runs end. Later ones would run forever.
    let ran = folder.join("ran").display().to_string();
    let script = format!("echo >> {ran}; test $(wc -l < {ran}) -lt 12 || sleep 1000; grep nobody_knows $0");
    let mut child = Command::new(REDUCE)
        .arg(&file)
        .args(["--match", "nobody_knows", "-j", "1", "--", "sh", "-c", &script, "{}"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let runs = || std::fs::read_to_string(&ran).map_or(0, |t| t.lines().count());
    while runs() < 12 && child.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    // SAFETY: no memory is involved, and the process was not waited for.
    unsafe { libc::kill(i32::try_from(child.id()).unwrap(), libc::SIGINT) };
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("interrupted, it may get smaller"), "{said}");
    let small = String::from_utf8(output.stdout).unwrap();
    assert!(small.contains("nobody_knows") && count(&small) < count(&text), "{small}");
    assert_eq!(runs(), 12, "nothing ran after it");
}

/// Compiled code rounds `tanh` differently from the interpreter. All other operations are exact.
#[test]
#[cfg(feature = "codegen")]
fn what_differs_between_the_engines_is_found() {
    let mut text = String::from("HloModule chain\n\nENTRY main {\n  v0 = f32[16,32] parameter(0)\n");
    for n in 1..60 {
        let (op, last) = (["negate", "abs", "maximum", "tanh"][if n == 30 { 3 } else { n % 3 }], n - 1);
        let operands = if op == "maximum" { format!("v{last}, v0") } else { format!("v{last}") };
        let root = if n == 59 { "ROOT " } else { "" };
        writeln!(text, "  {root}v{n} = f32[16,32] {op}({operands})").unwrap();
    }
    text.push_str("}\n");
    let bits = ["--random-inputs=5", "--rtol=0", "--atol=0"];
    let (small, said) = reduce("differs", &text, &["--when-differs"], &bits);
    assert!(small.contains(" tanh(") && count(&small) <= 3, "{said}{small}");
}
