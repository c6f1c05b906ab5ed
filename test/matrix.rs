//! Runs every pass on every module of `test/corpus`. The module must stay valid, and a second run must change
//! nothing. The interpreter's results must be the same before and after the pass (to the bit if the pass
//! promises that). Compiled code must produce XLA's results, within the tolerance of the case.
//!
//! `HLO_MATRIX=N` selects every Nth pair of a module and a pass. `make test-full` runs all pairs, `make test`
//! a sample. `HLO_MATRIX_PASSES=a,b` selects these passes instead of all.

mod tool;

use hlo_ir::devices::DeviceCounts;
use hlo_ir::print::{PrintOptions, print_module};
use hlo_ir::{Module, Op};
use hlo_passes::{Observer, PassInfo, Pipeline, Preservation, find, passes};
use libtest_mimic::{Arguments, Trial};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tool::tool;

/// The sampling interval of `make test`: it runs one pair out of this many.
const SAMPLE: usize = 10;

/// Maximum length of a module's text in the sample, in bytes.
const SAMPLE_TEXT: u64 = 50_000;

/// Passes that change their own result again, and the reason why that is correct.
const NOT_IDEMPOTENT: &[(&str, &str)] = &[
    ("fusion", "what is left between fusions can be fused with them: it is there to run once, at the end"),
    (
        "spmd-partitioning",
        "parameters are cut by their shardings, and nothing says that they are cut already",
    ),
];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let (every, chosen) = match settings() {
        Ok(settings) => settings,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::from(2);
        }
    };
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("test/corpus");
    let mut folders: Vec<PathBuf> = std::fs::read_dir(&corpus)
        .map(|entries| entries.flatten().map(|e| e.path()).collect())
        .unwrap_or_default();
    folders.retain(|f| f.join("case.json").is_file());
    let text_size = |f: &PathBuf| f.join("module.hlo").metadata().map_or(u64::MAX, |m| m.len());
    folders.retain(|f| every == 1 || text_size(f) <= SAMPLE_TEXT);
    folders.sort();
    let found = folders.len();
    let mut trials: Vec<Trial> = Vec::new();
    for (n, folder) in folders.into_iter().enumerate() {
        // Each module is tested with another part of the passes.
        let picked: Vec<&'static PassInfo> =
            (0..chosen.len()).filter(|p| (n + p).is_multiple_of(every)).map(|p| chosen[p]).collect();
        if !picked.is_empty() {
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            trials.push(Trial::test(name.clone(), move || {
                check_case(&name, &folder, &picked).map_err(Into::into)
            }));
        }
    }
    trials.push(Trial::test("the-corpus-is-there", move || match found {
        0 => Err("there are no cases".into()),
        _ => Ok(()),
    }));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Returns the sampling interval and the passes.
fn settings() -> Result<(usize, Vec<&'static PassInfo>), String> {
    hlo_passes_xla::register();
    let every = match std::env::var("HLO_MATRIX") {
        Ok(n) => n.parse().ok().filter(|&n| n > 0).ok_or(format!("HLO_MATRIX: {n:?} is no number"))?,
        Err(_) => SAMPLE,
    };
    let chosen = match std::env::var("HLO_MATRIX_PASSES") {
        Ok(names) => names
            .split(',')
            .map(|name| find(name).ok_or(format!("HLO_MATRIX_PASSES: there is no pass {name:?}")))
            .collect::<Result<_, _>>()?,
        Err(_) => passes(),
    };
    Ok((every, chosen))
}

/// Verifies the module after each pass, and checks what the pass reports.
struct Strict;

impl Observer for Strict {
    fn verify_each(&self) -> bool {
        true
    }
}

/// A case and the results known about it.
struct Case<'a> {
    folder: &'a Path,
    /// The folder for its files.
    work: PathBuf,
    module: Module,
    /// The outcomes for modules that passes produced, by their text and whether bits must be equal.
    known: HashMap<(String, bool), Result<(), String>>,
}

fn check_case(name: &str, folder: &Path, picked: &[&'static PassInfo]) -> Result<(), String> {
    let work = Path::new(env!("CARGO_TARGET_TMPDIR")).join("matrix").join(name);
    // Results of another build must not be used.
    let _ = std::fs::remove_dir_all(&work);
    std::fs::create_dir_all(&work).map_err(|e| e.to_string())?;
    let text = std::fs::read_to_string(folder.join("module.hlo")).map_err(|e| e.to_string())?;
    let module = hlo_parser::parse_module(&text).map_err(|diags| format!("{diags:?}"))?;
    let mut case = Case { folder, work, module, known: HashMap::new() };
    let mut failures = Vec::new();
    for pass in picked {
        if let Err(message) = case.check(pass) {
            failures.push(format!("{}: {message}", pass.name));
        }
    }
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n")) }
}

impl Case<'_> {
    /// Checks one pass on the case's module.
    fn check(&mut self, pass: &'static PassInfo) -> Result<(), String> {
        let pipeline = Pipeline::parse(pass.name).map_err(|d| d.message)?;
        let mut after = self.module.clone();
        let run = |module: &mut Module| pipeline.run(module, &mut Strict).map_err(|d| format!("{d:?}"));
        if !run(&mut after)? {
            return Ok(());
        }
        let text = print_module(&after, &PrintOptions::default());
        let again = run(&mut after)?;
        if again && !NOT_IDEMPOTENT.iter().any(|(name, _)| *name == pass.name) {
            return Err(format!("a second run changes what the first one made:\n{text}"));
        }
        // Modules of the corpus with several partitions are already partitioned.
        let is_partitioned_twice = pass.name == "spmd-partitioning";
        if is_partitioned_twice || self.changes_interface(&after) || self.draws_random_numbers() {
            return Ok(());
        }
        let bits = pass.keeps == Preservation::Bits;
        if let Some(known) = self.known.get(&(text.clone(), bits)) {
            return known.clone();
        }
        let found = self.run(&text, bits);
        self.known.insert((text, bits), found.clone());
        found
    }

    /// Checks whether a pass changed the parameters or the result, as `dynamic_padder` does for dynamic
    /// sizes.
    fn changes_interface(&self, after: &Module) -> bool {
        let shapes = |m: &Module| {
            let all = m.parameters(m.entry()).into_iter().chain([m[m.entry()].root()]);
            all.map(|i| m[i].shape.clone()).collect::<Vec<_>>()
        };
        let (before, after) = (shapes(&self.module), shapes(after));
        before.len() != after.len() || before.iter().zip(&after).any(|(a, b)| !a.compatible(b))
    }

    /// Checks whether the results depend on the number of random instructions. A pass may remove unused ones.
    fn draws_random_numbers(&self) -> bool {
        let draws = |op: &Op| matches!(op, Op::Rng(_) | Op::RngGetAndUpdateState(_));
        self.module
            .computations()
            .any(|c| self.module[c].instructions().iter().any(|&i| draws(&self.module[i].op)))
    }

    /// Runs the result of a pass in both engines.
    fn run(&self, text: &str, bits: bool) -> Result<(), String> {
        let devices = DeviceCounts::of(&self.module).map_or(1, DeviceCounts::devices);
        let name = if devices == 1 { "before.npz" } else { "before.dev{d}.npz" };
        let before = self.work.join(name).display().to_string();
        if !Path::new(&before.replace("{d}", "0")).exists() {
            self.hlo_run(None, &["--engine=eval", "--output", &before])?;
        }
        let after = self.work.join("after.hlo").display().to_string();
        std::fs::write(&after, text).map_err(|e| e.to_string())?;
        let mut arguments = vec!["--engine=eval", "--expected", &before];
        if bits {
            arguments.extend(["--rtol=0", "--atol=0", "--max-mismatches=0"]);
        }
        let interpreted = self.hlo_run(Some(&after), &arguments);
        interpreted.map_err(|e| format!("interpreted results before and after differ: {e}\n{text}"))?;
        if cfg!(feature = "codegen") {
            let compiled = self.hlo_run(Some(&after), &["--engine=jit"]);
            compiled.map_err(|e| format!("compiled results are not those of the case: {e}\n{text}"))?;
        }
        Ok(())
    }

    fn hlo_run(&self, module: Option<&str>, arguments: &[&str]) -> Result<(), String> {
        let mut command = tool(env!("CARGO_BIN_EXE_hlo-run"));
        command.args(module).arg("--case").arg(self.folder).arg("--quiet").args(arguments);
        let output = command.output().map_err(|e| e.to_string())?;
        if output.status.success() {
            Ok(())
        } else {
            Err(format!("{} {}", output.status, String::from_utf8_lossy(&output.stderr)))
        }
    }
}
