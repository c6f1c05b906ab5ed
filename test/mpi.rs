//! Tests of `hlo-run` under `mpirun`: programs of several devices on two to four ranks must produce the same
//! results as in one process. Without the feature `mpi` or without `mpirun`, the tests do not run, and the
//! reason is printed.
//!
//! The corpus cases of several devices (`test/corpus`, or `HLO_CORPUS=DIR`) run on two and four ranks, in
//! both engines.

use hlo_ir::ElementType;
use hlo_testing::collectives::{self, Array, COUNTS};
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
    let of_project = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/test/corpus"));
    let corpus = std::env::var_os("HLO_CORPUS").map_or_else(of_project, PathBuf::from);
    let entries = std::fs::read_dir(corpus).into_iter().flatten();
    let mut folders: Vec<PathBuf> = entries.filter_map(|e| e.ok()).map(|e| e.path()).collect();
    folders.retain(|folder| devices(folder) > 1);
    folders.sort();
    let of_folder = |folder: PathBuf| [2, 4].map(|ranks| trial(folder.clone(), ranks));
    let mut trials: Vec<Trial> = folders.into_iter().flat_map(of_folder).collect();
    trials.extend(MODULES.map(|(name, body)| {
        Trial::test(format!("{name} as in one process"), move || as_in_one_process(name, body))
    }));
    for counts in COUNTS.into_iter().filter(|&(replicas, partitions)| replicas * partitions > 1) {
        // More types are tested in one process (test/devices.rs).
        let types = if counts == (2, 2) { 5 } else { 2 };
        for ty in collectives::types(counts).into_iter().take(types) {
            let name = format!("collectives of {ty} on {} x {} devices", counts.0, counts.1);
            trials.push(Trial::test(name, move || every_collective(counts, ty)));
        }
    }
    trials.push(Trial::test("what-is-printed", what_is_printed));
    trials.push(Trial::test("a-program-that-is-cut", a_program_that_is_cut));
    trials.push(Trial::test("devices-that-diverge", devices_that_diverge));
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

/// Checks that several ranks print the same as one.
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

/// Checks that every collective with every form of groups produces the same bits as in one process, where
/// they are compared with the semantics (test/devices.rs). The interpreter runs all cases. Compiled code runs
/// those with both replicas and partitions.
fn every_collective(counts: (usize, usize), ty: ElementType) -> Result<(), Failed> {
    let devices = counts.0 * counts.1;
    let name = format!("mpi_{ty}_{}_{}", counts.0, counts.1);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let programs =
        [("a", collectives::reductions_and_gathers(counts, ty)), ("b", collectives::exchanges(counts, ty))];
    for (part, program) in programs {
        let path = folder.join(format!("{name}_{part}.hlo"));
        std::fs::write(&path, program.text())?;
        let mut arguments: Vec<String> = Vec::new();
        for (device, arrays) in program.given.iter().enumerate() {
            for array in arrays {
                arguments.extend([format!("--input@{device}"), literal(array, ty)]);
            }
        }
        let files = folder.join(format!("{name}_{part}_{{d}}.npz"));
        let engines: &[&str] =
            if cfg!(feature = "codegen") && counts == (2, 2) { &["eval", "jit"] } else { &["eval"] };
        for engine in engines {
            let run = |ranks: usize, what: &str| {
                let mut command = hlo_run_by(engine, ranks);
                command.arg(&path).args(&arguments).arg(what).arg(&files).args(["--rtol=0", "--atol=0"]);
                command.output()
            };
            let alone = run(1, "-o")?;
            if !alone.status.success() {
                return Err(text(&alone).into());
            }
            let output = run(devices.min(4), "--expected")?;
            if !output.status.success() || !text(&output).contains("match the expected ones") {
                return Err(format!("{engine}: {}", text(&output)).into());
            }
        }
    }
    Ok(())
}

/// Returns an array in the syntax of `--input`.
fn literal(array: &Array, ty: ElementType) -> String {
    let rows: Vec<String> = array
        .values
        .chunks(array.dims[1])
        .map(|row| {
            let number = |n: &i64| if ty.is_complex() { format!("({n}, 0)") } else { n.to_string() };
            format!("{{{}}}", row.iter().map(number).collect::<Vec<_>>().join(","))
        })
        .collect();
    format!("{} {{{}}}", array.shape(ty), rows.join(","))
}

/// Returns a line of the module. If it is a parameter that is an array, the number of the device is added to
/// each element.
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

/// Returns the number of devices of a case.
fn devices(folder: &Path) -> u64 {
    let text = std::fs::read_to_string(folder.join("case.json")).unwrap_or_default();
    let case: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let number = |name: &str| case.get(name).and_then(serde_json::Value::as_u64).unwrap_or(1);
    number("num_replicas") * number("num_partitions")
}

/// Returns an `hlo-run` command on this many ranks, with an engine.
fn hlo_run_by(engine: &str, ranks: usize) -> Command {
    let mut command = Command::new("mpirun");
    command.args(["--allow-run-as-root", "--oversubscribe", "-n", &ranks.to_string()]);
    command.arg(env!("CARGO_BIN_EXE_hlo-run"));
    command.arg(format!("--engine={engine}")).args(["--timeout", "120"]);
    command
}

/// Returns an `hlo-run` command on this many ranks.
fn hlo_run(ranks: usize) -> Command {
    hlo_run_by(if cfg!(feature = "codegen") { "jit" } else { "eval" }, ranks)
}

fn text(output: &Output) -> String {
    [&output.stdout[..], &output.stderr[..]].map(String::from_utf8_lossy).concat()
}

fn trial(folder: PathBuf, ranks: usize) -> Trial {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Trial::test(format!("{name} on {ranks} ranks"), move || {
        let engine = if cfg!(feature = "codegen") { "both" } else { "eval" };
        let output = hlo_run_by(engine, ranks).arg("--case").arg(&folder).output()?;
        if output.status.success() && text(&output).contains("match the expected ones") {
            Ok(())
        } else {
            Err(text(&output).into())
        }
    })
}

/// Writes a module on four devices to a file.
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

/// Rank 0 prints the results of all devices, in order.
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
    if &output.stdout[..] == b"all 4 devices:\ns32[] 6\n" { Ok(()) } else { Err(text(&output).into()) }
}

/// A partitioned program has whole inputs and results, wherever the devices are.
fn a_program_that_is_cut() -> Result<(), Failed> {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mpi_cut.hlo");
    std::fs::write(
        &path,
        "HloModule cut, num_partitions=4
ENTRY e {
  x = f32[7,6] parameter(0), sharding={devices=[2,2]<=[4]}
  w = f32[6,5] parameter(1), sharding={devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}
  d = f32[7,5] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = (f32[7,5], f32[6,5]) tuple(d, w), sharding={{devices=[4,1]<=[4]}, {devices=[1,4]<=[4]}}
}
",
    )?;
    let run = |mut command: Command| {
        command.arg(&path).args(["--use-spmd-partitioning", "--full", "--random-inputs=7"]).output()
    };
    let alone = run(hlo_run(1))?;
    // With five ranks the first has no device.
    for ranks in [3, 5] {
        let output = run(hlo_run(ranks))?;
        if !alone.status.success() || !output.status.success() || output.stdout != alone.stdout {
            return Err(format!("{ranks} ranks: {}{}", text(&alone), text(&output)).into());
        }
    }
    Ok(())
}

/// If devices reach different collectives, the job ends in each engine. The error names the devices.
fn devices_that_diverge() -> Result<(), Failed> {
    let path = module(
        "diverging",
        "less { s = (s32[], s32[], s32[]) parameter(0) i = s32[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=1 ROOT p = pred[] compare(i, n), direction=LT }
next {
  s = (s32[], s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=1
  x = s32[] get-tuple-element(s), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  sum = s32[] all-reduce(x), to_apply=add
  ROOT t = (s32[], s32[], s32[]) tuple(j, n, sum)
}
ENTRY e {
  r = u32[] replica-id()
  n = s32[] convert(r)
  o = s32[] constant(0)
  s = (s32[], s32[], s32[]) tuple(o, n, n)
  ROOT w = (s32[], s32[], s32[]) while(s), condition=less, body=next
}",
    )?;
    for engine in if cfg!(feature = "codegen") { &["jit", "eval"][..] } else { &["eval"] } {
        let output = hlo_run_by(engine, 2).arg(&path).args(["--collective-timeout", "20"]).output()?;
        let text = text(&output);
        let says = text.contains("the devices diverge") && text.contains("`all-reduce` `sum`");
        if output.status.success() || !says || text.contains("panicked") {
            return Err(format!("{engine}: {text}").into());
        }
    }
    Ok(())
}

/// An error on one rank ends all ranks and is reported once.
fn what_is_wrong() -> Result<(), Failed> {
    let path =
        module("wrong", "ENTRY e { x = s32[] parameter(0) ROOT y = s32[] all-reduce(x), to_apply=add }")?;
    for (arguments, expected) in [
        (&["--input@3", "s32[2] {1, 2}", "--input", "s32[] 1"][..], "error: "),
        (&["--input", "s32[] 1", "--expect@3", "s32[] 5", "--expect", "s32[] 4"], "error: device 3: "),
    ] {
        let output = hlo_run(2).arg(&path).args(arguments).output()?;
        let text = text(&output);
        if output.status.success() || text.matches(expected).count() != 1 {
            return Err(format!("{arguments:?}: {text}").into());
        }
    }
    Ok(())
}

/// If a rank is killed, the other ranks report where they waited.
fn a_rank_that_is_killed() -> Result<(), Failed> {
    // Devices 2 and 3, on rank 1, run a loop that never ends, so they never reach the sum.
    let path = module(
        "killed",
        "less { s = s32[] parameter(0) n = s32[] constant(2000000000) ROOT p = pred[] compare(s, n), direction=LT }
next { s = s32[] parameter(0) o = s32[] constant(1) ROOT t = s32[] xor(s, o) }
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
    // The children of mpirun are the ranks, in order.
    let children = Command::new("ps").args(["-o", "pid=", "--ppid", &child.id().to_string()]).output()?;
    let pids = String::from_utf8_lossy(&children.stdout).into_owned();
    let last = pids.split_whitespace().last().ok_or("there are no ranks")?;
    Command::new("kill").args(["-9", last]).status()?;
    let output = child.wait_with_output()?;
    let text = text(&output);
    let expected = "rank 0: device 0 was at `all-reduce` `sum`, waiting for device 2 (rank 1) and 3 (rank 1)";
    let expected = [expected, &expected.replace("device 2 (rank 1) and 3 (rank 1)", "device 2 (rank 1)")];
    if !output.status.success() && expected.iter().any(|line| text.contains(line)) {
        Ok(())
    } else {
        Err(text.into())
    }
}
