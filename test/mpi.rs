//! `hlo-run` under `mpirun`: programs of several devices on two to four ranks, against what they give in one process. Nothing
//! runs, and the reason is printed, without the feature `mpi` or without `mpirun`.
//!
//! `HLO_CORPUS=DIR` names a folder of cases, of which those of several devices run on two and four ranks too.

use libtest_mimic::{Arguments, Failed, Trial};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};
use std::time::Duration;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    if !cfg!(feature = "mpi") {
        println!("skipped: the feature `mpi` is off");
        return ExitCode::SUCCESS;
    }
    if let Err(e) = Command::new("mpirun").arg("--version").output() {
        println!("skipped: mpirun can't be started ({e}); `sh scripts/deps.sh --mpi` installs it");
        return ExitCode::SUCCESS;
    }
    let corpus = std::env::var_os("HLO_CORPUS").map(PathBuf::from);
    let entries = corpus.and_then(|corpus| std::fs::read_dir(corpus).ok()).into_iter().flatten();
    let mut folders: Vec<PathBuf> = entries.filter_map(|e| e.ok()).map(|e| e.path()).collect();
    folders.retain(|folder| devices(folder) > 1);
    folders.sort();
    let of_folder = |folder: PathBuf| [2, 4].map(|ranks| trial(folder.clone(), ranks));
    let mut trials: Vec<Trial> = folders.into_iter().flat_map(of_folder).collect();
    trials.extend(MODULES.map(|(name, body)| {
        Trial::test(format!("{name} as in one process"), move || as_in_one_process(name, body))
    }));
    trials.push(Trial::test("what-is-printed", what_is_printed));
    trials.push(Trial::test("what-is-wrong", what_is_wrong));
    trials.push(Trial::test("a-rank-that-is-killed", a_rank_that_is_killed));
    libtest_mimic::run(&Arguments { test_threads: Some(1), ..arguments }, trials).exit_code()
}

/// Entry computations on four devices.
const MODULES: [(&str, &str); 5] = [
    (
        "reductions",
        "ENTRY e {
  x = f32[3,1000] parameter(0)
  n = s32[5000] parameter(1)
  a = f32[3,1000] all-reduce(x), to_apply=addf
  b = s32[5000] all-reduce(n), to_apply=add, replica_groups={{3,0},{1,2}}
  c = (f32[3,1000], f32[3,1000]) all-reduce(x, a), to_apply=addf
  d = f32[3,250] reduce-scatter(x), dimensions={1}, to_apply=addf
  ROOT t = (f32[3,1000], s32[5000], (f32[3,1000], f32[3,1000]), f32[3,250]) tuple(a, b, c, d)
}",
    ),
    (
        "gathers",
        "ENTRY e {
  x = f32[2,8] parameter(0)
  y = s8[4] parameter(1)
  a = f32[8,8] all-gather(x), dimensions={0}
  b = f32[2,16] all-gather(x), dimensions={1}, replica_groups={{1,0},{3,2}}
  c = f32[2,8] collective-broadcast(x), replica_groups={{2,0,1,3}}
  d = s8[4] all-to-all(y), dimensions={0}
  ROOT t = (f32[8,8], f32[2,16], f32[2,8], s8[4]) tuple(a, b, c, d)
}",
    ),
    (
        "permutes",
        "ENTRY e {
  x = f32[20000] parameter(0)
  ROOT y = f32[20000] collective-permute(x), source_target_pairs={{0,1},{1,2},{2,3},{3,0}}
}",
    ),
    (
        "loops",
        "less { s = (s32[], f32[64]) parameter(0) i = s32[] get-tuple-element(s), index=0 n = s32[] constant(20)
  ROOT p = pred[] compare(i, n), direction=LT }
next {
  s = (s32[], f32[64]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[64] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[64] all-reduce(x), to_apply=addf
  q = f32[] constant(0.25)
  b = f32[64] broadcast(q), dimensions={}
  z = f32[64] multiply(y, b)
  w = f32[64] collective-permute(z), source_target_pairs={{0,2},{2,1},{1,3},{3,0}}
  ROOT t = (s32[], f32[64]) tuple(j, w)
}
ENTRY e {
  x = f32[64] parameter(0)
  o = s32[] constant(0)
  s = (s32[], f32[64]) tuple(o, x)
  ROOT w = (s32[], f32[64]) while(s), condition=less, body=next
}",
    ),
    (
        "integers",
        "ENTRY e {
  x = s64[700] parameter(0)
  y = u16[5000] parameter(1)
  a = s64[700] all-reduce(x), to_apply=least
  b = u16[5000] all-reduce(y), to_apply=sum16
  ROOT t = (s64[700], u16[5000]) tuple(a, b)
}",
    ),
];

/// On several ranks the same is printed as on one.
fn as_in_one_process(name: &str, body: &str) -> Result<(), Failed> {
    let lines: Vec<String> = body.lines().map(other_on_each_device).collect();
    let path = module(name, &lines.join("\n"))?;
    let run = |mut command: Command| command.arg(&path).args(["--full", "--random-inputs=7"]).output();
    let alone = run(hlo_run(1))?;
    if !alone.status.success() {
        return Err(text(&alone).into());
    }
    for ranks in [2, 3, 4] {
        let output = run(hlo_run(ranks))?;
        if !output.status.success() || output.stdout != alone.stdout {
            return Err(format!("{ranks} ranks: {}", text(&output)).into());
        }
    }
    Ok(())
}

/// A line; a parameter that is an array has the number of the device added to each element.
fn other_on_each_device(line: &str) -> String {
    let parts = line.trim().split_once(" = ").and_then(|(name, rest)| {
        let (ty, call) = rest.split_once(" parameter(")?;
        let (element, _) = ty.split_once('[').filter(|(element, _)| !element.starts_with('('))?;
        Some((name, ty, element, call))
    });
    let Some((name, ty, element, call)) = parts else { return line.to_string() };
    format!(
        "  {name}.given = {ty} parameter({call}
  {name}.replica = u32[] replica-id()
  {name}.number = {element}[] convert({name}.replica)
  {name}.numbers = {ty} broadcast({name}.number), dimensions={{}}
  {name} = {ty} add({name}.given, {name}.numbers)"
    )
}

/// The devices of a case.
fn devices(folder: &Path) -> u64 {
    let text = std::fs::read_to_string(folder.join("case.json")).unwrap_or_default();
    let case: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let number = |name: &str| case.get(name).and_then(serde_json::Value::as_u64).unwrap_or(1);
    number("num_replicas") * number("num_partitions")
}

/// `hlo-run` on so many ranks.
fn hlo_run(ranks: usize) -> Command {
    let mut command = Command::new("mpirun");
    command.args(["--allow-run-as-root", "--oversubscribe", "-n", &ranks.to_string()]);
    command.arg(env!("CARGO_BIN_EXE_hlo-run"));
    let engine = if cfg!(feature = "codegen") { "--engine=jit" } else { "--engine=eval" };
    command.arg(engine).args(["--timeout", "120"]);
    command
}

fn text(output: &Output) -> String {
    [&output.stdout[..], &output.stderr[..]].map(String::from_utf8_lossy).concat()
}

fn trial(folder: PathBuf, ranks: usize) -> Trial {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Trial::test(format!("{name} on {ranks} ranks"), move || {
        let output = hlo_run(ranks).arg("--case").arg(&folder).output()?;
        match output.status.success() && text(&output).contains("match the expected ones") {
            true => Ok(()),
            false => Err(text(&output).into()),
        }
    })
}

/// A module on four devices, in a file.
fn module(name: &str, body: &str) -> Result<PathBuf, Failed> {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("mpi_{name}.hlo"));
    let combine = |(name, ty, op): (&str, &str, &str)| {
        format!("{name} {{ a = {ty}[] parameter(0) b = {ty}[] parameter(1) ROOT c = {ty}[] {op}(a, b) }}\n")
    };
    let combiners =
        [("add", "s32", "add"), ("addf", "f32", "add"), ("least", "s64", "minimum"), ("sum16", "u16", "add")];
    let used = combiners.into_iter().filter(|(name, ..)| body.contains(&format!("to_apply={name}")));
    let combiners: String = used.map(combine).collect();
    std::fs::write(&path, format!("HloModule m, replica_count=4\n{combiners}{body}\n"))?;
    Ok(path)
}

/// Rank 0 prints what all devices have, in their order.
fn what_is_printed() -> Result<(), Failed> {
    let path = module("printed", "ENTRY e { r = u32[] replica-id() ROOT x = s32[] convert(r) }")?;
    for ranks in [2, 3, 4] {
        let output = hlo_run(ranks).arg(&path).output()?;
        let expected = "device 0:\ns32[] 0\ndevice 1:\ns32[] 1\ndevice 2:\ns32[] 2\ndevice 3:\ns32[] 3\n";
        if output.stdout != expected.as_bytes() {
            return Err(format!("{ranks} ranks: {}", text(&output)).into());
        }
    }
    let sum =
        "ENTRY e { r = u32[] replica-id() x = s32[] convert(r) ROOT y = s32[] all-reduce(x), to_apply=add }";
    let output = hlo_run(2).arg(module("sum", sum)?).output()?;
    match &output.stdout[..] == b"all 4 devices:\ns32[] 6\n" {
        true => Ok(()),
        false => Err(text(&output).into()),
    }
}

/// What is wrong on one rank ends all, and is said once.
fn what_is_wrong() -> Result<(), Failed> {
    let path =
        module("wrong", "ENTRY e { x = s32[] parameter(0) ROOT y = s32[] all-reduce(x), to_apply=add }")?;
    for (arguments, expected) in [
        (&["--input@3", "s32[2] {1, 2}", "--input", "s32[] 1"][..], "error: "),
        (&["--input", "s32[] 1", "--expect@3", "s32[] 5", "--expect", "s32[] 4"], "device 3: the"),
    ] {
        let output = hlo_run(2).arg(&path).args(arguments).output()?;
        let text = text(&output);
        if output.status.success() || text.matches(expected).count() != 1 {
            return Err(format!("{arguments:?}: {text}").into());
        }
    }
    Ok(())
}

/// The others say where they waited.
fn a_rank_that_is_killed() -> Result<(), Failed> {
    // Devices 2 and 3, of rank 1, count for long before they come to the sum.
    let path = module(
        "killed",
        "less { s = s32[] parameter(0) n = s32[] constant(2000000000) ROOT p = pred[] compare(s, n), direction=LT }
next { s = s32[] parameter(0) o = s32[] constant(1) ROOT t = s32[] add(s, o) }
ENTRY e {
  r = u32[] replica-id()
  x = s32[] convert(r)
  two = s32[] constant(2)
  most = s32[] constant(2000000000)
  low = pred[] compare(x, two), direction=LT
  from = s32[] select(low, most, x)
  w = s32[] while(from), condition=less, body=next
  ROOT sum = s32[] all-reduce(w), to_apply=add
}",
    )?;
    let mut command = hlo_run(2);
    command.arg(&path).stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let child = command.spawn()?;
    std::thread::sleep(Duration::from_secs(3));
    // mpirun's children are the ranks, in their order.
    let children = Command::new("ps").args(["-o", "pid=", "--ppid", &child.id().to_string()]).output()?;
    let pids = String::from_utf8_lossy(&children.stdout).into_owned();
    let last = pids.split_whitespace().last().ok_or("there are no ranks")?;
    Command::new("kill").args(["-9", last]).status()?;
    let output = child.wait_with_output()?;
    let text = text(&output);
    let expected = "rank 0: device 0 was at `all-reduce` `sum`, waiting for device 2 (rank 1) and 3 (rank 1)";
    let expected = [expected, &expected.replace("device 2 (rank 1) and 3 (rank 1)", "device 2 (rank 1)")];
    match !output.status.success() && expected.iter().any(|line| text.contains(line)) {
        true => Ok(()),
        false => Err(text.into()),
    }
}
