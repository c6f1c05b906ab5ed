//! Random programs in both engines: each instruction alone on the interpreter's values, and the whole program
//! through the passes.
//!
//! `HLO_RANDOM=N` sets the number of programs, starting with seed `HLO_SEED`, and reports progress
//! (`make random COUNT=N`). The default is a few hundred. Every third batch contains many arrays without
//! elements. With `HLO_EMPTY=1` all batches do (`EMPTY=1`). A finding is reduced to the smallest program that
//! fails in the same way.

use hlo_client::{Client, CompileOptions, Passes};
use hlo_ir::{ElementType, InstrId, Literal, Module, Opcode};
use hlo_testing::agree::{self, Bound};
use hlo_testing::generate::{Line, Options, Part, Program, Style, is_exact, program};
use hlo_testing::{Numbers, values};
use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The outcome of a check: success, or a message.
pub(crate) type Check<T = ()> = Result<T, String>;

/// How a program becomes a module, which is verified.
#[derive(Clone, Copy)]
pub(crate) struct ModuleSource {
    pub(crate) module: fn(&Program) -> Check<Module>,
    /// The prefix that instruction names have before the name of a line.
    pub(crate) prefix: &'static str,
}

/// Parses the text of the program.
const PARSED: ModuleSource = ModuleSource { module: parse, prefix: "" };

/// Number of programs that `cargo test` tests.
const DEFAULT_PROGRAMS: u64 = 300;

/// Number of programs that together contain every opcode and element type.
const COVERAGE_PROGRAMS: u64 = 10_000;

/// Maximum time to reduce a finding. A failure that needs several programs of a batch takes many attempts.
const SHRINK_TIMEOUT: Duration = Duration::from_secs(60);

/// Limit on operations, slightly more than the largest program needs.
const MAX_OPERATIONS: u64 = 50_000_000;

/// Statistics of a run.
#[derive(Default)]
pub(crate) struct Tally {
    programs: u64,
    instructions: u64,
    /// Number of instructions compared by bits or numbers, compared within a bound, and not compared.
    compared: [u64; 3],
    /// Number of instructions by opcode, including those of called computations, and of their arrays by
    /// element type.
    opcodes: BTreeMap<&'static str, u64>,
    types: BTreeMap<&'static str, u64>,
    /// Findings by their first line, with seeds.
    findings: BTreeMap<String, Vec<(u64, String)>>,
}

/// A program with the interpreter's value of each line of its entry. `None` for lines without data.
struct Evaluated {
    module: Module,
    /// The instruction of each line.
    ids: Vec<InstrId>,
    values: Vec<Option<Literal>>,
}

/// The text style of programs: with the dimension orders of layouts.
const STYLE: Style =
    Style { layouts: false, orders: true, omit_shapes: false, percent: false, operand_shapes: false };

fn parse(program: &Program) -> Check<Module> {
    let text = program.text(STYLE);
    let module = hlo_parser::parse_module(&text).map_err(|d| format!("does not parse: {}", d[0].message))?;
    match hlo_ir::verify::verify(&module).first() {
        None => Ok(module),
        Some(d) => Err(format!("does not verify: {}", d.message)),
    }
}

/// Returns the instructions for the lines of the entry.
fn instructions(program: &Program, module: &Module, making: ModuleSource) -> Check<Vec<InstrId>> {
    let of = |line: &Line| {
        let name = format!("{}{}", making.prefix, line.name);
        let found = module[module.entry()].instructions().iter().copied().find(|&i| *module[i].name == *name);
        found.ok_or_else(|| format!("`{name}` is lost"))
    };
    program.entry().lines.iter().map(of).collect()
}

pub(crate) fn eval_options() -> hlo_eval::Options {
    hlo_eval::Options { max_operations: Some(MAX_OPERATIONS), max_bytes: 1 << 28, ..Default::default() }
}

/// Interprets the entry, instruction by instruction.
fn interpret(program: &Program, seed: u64, making: ModuleSource) -> Check<Evaluated> {
    let module = (making.module)(program)?;
    let ids = instructions(program, &module, making)?;
    let options = eval_options();
    let mut numbers = Numbers::new(!seed);
    let mut values: Vec<Option<Literal>> = Vec::new();
    for (line, &id) in program.entry().lines.iter().zip(&ids) {
        if line.opcode == Opcode::Parameter {
            let special = !numbers.one_in(3);
            values.push(values::random(&module[id].shape, &mut numbers, special));
            continue;
        }
        let operands: Option<Vec<Literal>> = line.operands.iter().map(|&o| values[o].clone()).collect();
        let Some(operands) = operands else {
            return Err(format!("`{}` has an operand that is no data", line.name));
        };
        let value = hlo_eval::evaluate_instruction(&module, id, &operands, &options)
            .map_err(|e| format!("eval, {}: {}", line.opcode, e.to_diag(&module).message))?;
        values.push(Some(value));
    }
    Ok(Evaluated { module, ids, values })
}

/// The options for compiling a part.
#[derive(Clone, Copy)]
pub(crate) struct Compilation {
    pub(crate) pipeline: &'static str,
    pub(crate) threads: usize,
    pub(crate) optimize: bool,
}

/// Compiles a part with the passes of a pipeline, and runs it on the interpreter's values. Returns the
/// results.
fn compiled(
    part: &Part,
    how: Compilation,
    values: &[Option<Literal>],
    making: ModuleSource,
) -> Check<Vec<Literal>> {
    let module = (making.module)(&part.program)?;
    let inputs: Vec<&Literal> = part.parameters.iter().filter_map(|&p| values[p].as_ref()).collect();
    Ok(run(&module, how, &inputs)?.tuple_elements().to_vec())
}

/// Runs a module after the passes of a pipeline. Without compiled execution, the interpreter runs the result
/// of the passes.
pub(crate) fn run(module: &Module, how: Compilation, inputs: &[&Literal]) -> Check<Literal> {
    let options = CompileOptions {
        passes: Passes::Pipeline(how.pipeline.into()),
        threads: how.threads,
        optimize: how.optimize,
        ..CompileOptions::default()
    };
    let program = Client::local().compile(module, &options).map_err(|e| format!("compilation: {e}"))?;
    let inputs: Vec<Literal> = inputs.iter().flat_map(|value| value.leaves()).cloned().collect();
    program.run(&inputs).map_err(|e| format!("run: {e}"))
}

/// Returns the comparison that applies to each line, and whether its value depends on unspecified behavior.
fn bounds(program: &Program, e: &Evaluated) -> Vec<(Bound, bool)> {
    let mut out: Vec<(Bound, bool)> = Vec::new();
    for (line, &id) in program.entry().lines.iter().zip(&e.ids) {
        let operands: Option<Vec<Literal>> = line.operands.iter().map(|&o| e.values[o].clone()).collect();
        let Some(operands) = operands else {
            out.push((Bound::Open, true));
            continue;
        };
        let bound = agree::bound(&e.module, id, &operands);
        // The bits of a NaN are unspecified, and these instructions turn them into numbers.
        let sees_bits = !is_exact(line.opcode) || sees_nan_bits(&e.module, id);
        let exact = matches!(bound, Bound::Bits | Bound::Numbers);
        let tainted = !exact
            || line.operands.iter().any(|&o| out[o].1)
            || (sees_bits && operands.iter().any(agree::has_nan));
        out.push((bound, tainted));
    }
    out
}

/// Checks whether the bits of a NaN affect the instruction's result.
fn sees_nan_bits(module: &Module, id: InstrId) -> bool {
    use Opcode::*;
    let one = |o: Opcode| {
        matches!(o, BitcastConvert | Compare | Sort | TopK | StochasticConvert | SelectAndScatter)
    };
    let called = module[id].op.called_computations();
    one(module[id].opcode())
        || called.iter().any(|&c| module[c].instructions().iter().any(|&i| sees_nan_bits(module, i)))
}

/// Compares the results of a part.
fn compare(
    program: &Program,
    e: &Evaluated,
    part: &Part,
    got: &[Literal],
    bound: impl Fn(usize) -> Bound,
) -> Check {
    for (&line, got) in part.results.iter().zip(got) {
        let Some(want) = &e.values[line] else { continue };
        if let Some(difference) = agree::difference(got, want, bound(line)) {
            let line = &program.entry().lines[line];
            return Err(format!("{} differs: `{}`, {difference}", line.opcode, line.name));
        }
    }
    Ok(())
}

/// Checks both properties of a program: each instruction alone, and the whole program.
fn check(program: &Program, seed: u64, making: ModuleSource, tally: Option<&Mutex<Tally>>) -> Check {
    // LLVM's optimizer takes most of the time, so only some programs use it.
    let (threads, optimize) =
        (1 + (seed / BATCH_PROGRAMS / 2 % 2) as usize, (seed / BATCH_PROGRAMS / 4).is_multiple_of(8));
    let evaluated = interpret(program, seed, making)?;
    let bounds = bounds(program, &evaluated);
    let isolated = program.isolated();
    if let Some(tally) = tally {
        let mut tally = tally.lock().expect("no panic holds it");
        tally.instructions += isolated.results.len() as u64;
        for &r in &isolated.results {
            let kind = match bounds[r].0 {
                Bound::Bits | Bound::Numbers => 0,
                Bound::Within { .. } => 1,
                Bound::Open => 2,
            };
            tally.compared[kind] += 1;
        }
        for line in program.computations.iter().flat_map(|c| &c.lines) {
            *tally.opcodes.entry(line.opcode.name()).or_default() += 1;
            for array in line.ty.leaves().into_iter().filter_map(|t| t.as_array()) {
                *tally.types.entry(array.element.name()).or_default() += 1;
            }
        }
    }
    // With all passes, and with only those that code generation requires.
    let pipeline = if (seed / BATCH_PROGRAMS).is_multiple_of(2) {
        hlo_passes::LOWERING
    } else {
        hlo_passes::CPU_PIPELINE
    };
    let how = Compilation { pipeline, threads, optimize };
    let got = compiled(&isolated, how, &evaluated.values, making)?;
    compare(program, &evaluated, &isolated, &got, |line| bounds[line].0)?;

    let certain: Vec<usize> = program.computing().filter(|&l| !bounds[l].1).collect();
    let mut numbers = Numbers::new(seed ^ 1);
    let some: Vec<usize> = certain.into_iter().filter(|_| numbers.one_in(2)).collect();
    if some.is_empty() {
        return Ok(());
    }
    let whole = program.with_results(&some);
    let how = Compilation { pipeline: hlo_passes::CPU_PIPELINE, threads, optimize };
    let got = compiled(&whole, how, &evaluated.values, making).map_err(|e| format!("whole: {e}"))?;
    compare(program, &evaluated, &whole, &got, |_| Bound::Numbers).map_err(|e| format!("whole: {e}"))
}

/// Like [`check`], with a panic reported as a finding.
pub(crate) fn caught(
    program: &Program,
    seed: u64,
    making: ModuleSource,
    tally: Option<&Mutex<Tally>>,
) -> Check {
    catch_unwind(AssertUnwindSafe(|| check(program, seed, making, tally))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
        Err(format!("panic: {}", text.unwrap_or_default()))
    })
}

/// Returns the kind of a failure. A reduced program must fail with the same kind.
fn kind(failure: &str) -> String {
    let words = failure.split(['`', '\n']).next().unwrap_or_default();
    words.chars().filter(|c| !c.is_ascii_digit()).take(80).collect()
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Number of programs that are compiled as one module, because most of the time is the fixed cost of a
/// compilation.
pub(crate) const BATCH_PROGRAMS: u64 = 32;

/// Returns the program of a seed. Its names differ from those of the other programs of its batch.
pub(crate) fn program_of(seed: u64) -> Program {
    let first_name = (seed % BATCH_PROGRAMS) as usize * 10_000;
    let often_empty = seed / BATCH_PROGRAMS % 3 == 2 || std::env::var_os("HLO_EMPTY").is_some();
    let empty = if often_empty { 4 } else { 0 };
    program(seed, Options { steps: 6, decorated: false, executable: true, first_name, empty })
}

/// Tests the programs of some seeds together. If there is a failure, tests each program alone.
fn try_batch(seeds: Range<u64>, tally: &Mutex<Tally>) {
    let programs: Vec<Program> = seeds.clone().map(program_of).collect();
    tally.lock().expect("no panic holds it").programs += programs.len() as u64;
    let merged = Program::merged(&programs);
    let Err(failure) = caught(&merged, seeds.start, PARSED, Some(tally)) else { return };
    let mut found = false;
    for (seed, program) in seeds.clone().zip(&programs) {
        // Compiles the program as in the batch, and as it is compiled when the seed is tested alone.
        let failures = [seeds.start, seed].map(|how| (how, caught(program, how, PARSED, None).err()));
        if let Some((how, Some(failure))) = failures.into_iter().find(|f| f.1.is_some()) {
            found = true;
            report_finding(seed, how, program, failure, tally);
        }
    }
    if !found {
        report_finding(seeds.start, seeds.start, &merged, failure, tally);
    }
}

/// Records a failure. The first few of a kind are reduced. `how` is the seed of inputs and compilation.
fn report_finding(seed: u64, how: u64, program: &Program, failure: String, tally: &Mutex<Tally>) {
    let kind = kind(&failure);
    let known = tally.lock().expect("no panic holds it").findings.get(&kind).map_or(0, Vec::len);
    let text = match known {
        0..3 => {
            let end = Instant::now() + SHRINK_TIMEOUT;
            let fails = |p: &Program| caught(p, how, PARSED, None).is_err_and(|f| self::kind(&f) == kind);
            let small = program.shrink(|p| Instant::now() < end && fails(p));
            let why = caught(&small, how, PARSED, None).err().unwrap_or(failure);
            format!("{why}\n{}", small.text(STYLE))
        }
        _ => failure,
    };
    let mut tally = tally.lock().expect("no panic holds it");
    if known < 3 {
        println!("seed {seed}: {text}");
    }
    tally.findings.entry(kind).or_default().push((seed, text));
}

#[test]
fn both_engines_agree() {
    let (count, first) = (number("HLO_RANDOM"), number("HLO_SEED").unwrap_or(0));
    let start = Instant::now();
    let tally = Mutex::new(Tally::default());
    let next = AtomicU64::new(first);
    let last = first + count.unwrap_or(DEFAULT_PROGRAMS);
    // Panics are reported with their seed.
    std::panic::set_hook(Box::new(|_| ()));
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(BATCH_PROGRAMS, Ordering::Relaxed);
                    if seed >= last {
                        break;
                    }
                    try_batch(seed..last.min(seed + BATCH_PROGRAMS), &tally);
                    if count.is_some() && (seed - first) % 1000 >= 1000 - BATCH_PROGRAMS {
                        println!("{} programs, {:?}", seed - first + BATCH_PROGRAMS, start.elapsed());
                    }
                }
            });
        }
    });
    let _ = std::panic::take_hook();
    report(&tally.into_inner().expect("no panic holds it"));
}

fn report(t: &Tally) {
    let [same, near, open] = t.compared;
    println!(
        "{} programs, {} instructions: {same} compared exactly, {near} within a bound, {open} not compared",
        t.programs, t.instructions
    );
    let opcodes = Opcode::ALL.iter().filter(|&&o| hlo_testing::generate::runs_alone(o)).map(|o| o.name());
    let types = ElementType::ALL.iter().map(|t| t.name());
    let missing: Vec<String> =
        [covered("opcode", opcodes, &t.opcodes), covered("element type", types, &t.types)].concat();
    let findings: Vec<String> = t
        .findings
        .iter()
        .map(|(kind, all)| format!("{kind}: {} programs, seed {}:\n{}", all.len(), all[0].0, all[0].1))
        .collect();
    assert!(findings.is_empty(), "{} findings\n{}", findings.len(), findings.join("\n"));
    assert!(t.programs < COVERAGE_PROGRAMS || missing.is_empty(), "no program has {missing:?}");
}

/// Prints how often each item occurred. Returns the wanted items that did not occur.
fn covered<'n>(what: &str, wanted: impl Iterator<Item = &'n str>, had: &BTreeMap<&str, u64>) -> Vec<String> {
    let counts: Vec<String> = had.iter().map(|(name, n)| format!("{name} {n}")).collect();
    println!("by {what}: {}", counts.join(", "));
    wanted.filter(|n| !had.contains_key(n)).map(str::to_string).collect()
}
