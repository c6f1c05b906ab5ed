//! Every pass, and the pipeline for compiled execution, preserves the meaning of modules: the interpreter
//! computes the same results before and after.
//!
//! The modules are the tests of the passes (`test/passes`), those of the corpus (`test/corpus`) that the
//! interpreter runs fast enough, and random modules. `HLO_MODULES=DIR` adds every `.hlo` file below a folder.
//! The operation semantics leave some results open, such as the order of sums and the rounding of
//! transcendental functions. These are the same in both runs, so results are equal bit for bit.

use crate::{hlo_files, passes};
use hlo_ir::attr::ShardingKind;
use hlo_ir::devices::DeviceCounts;
use hlo_ir::print::{PrintOptions, print_module};
use hlo_ir::{FloatFormat, Instruction, Literal, Module, Op, Shape};
use hlo_passes::{Observer, PIPELINES, PassInfo, PassRun, Preservation};
use hlo_testing::generate::{Options, Program, Style, program, related};
use hlo_testing::{Numbers, values};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// Checks that every pass leaves a valid module and correctly reports whether it changed it. Counts the
/// rewrites by pass and name.
#[derive(Default)]
struct Strict {
    rewrites: BTreeMap<(&'static str, &'static str), u64>,
}

impl Observer for Strict {
    fn verify_each(&self) -> bool {
        true
    }

    fn after_pass(&mut self, pass: &'static PassInfo, run: &PassRun, _: &Module) {
        for (name, count) in run.rewrites.counts() {
            *self.rewrites.entry((pass.name, name)).or_default() += count;
        }
    }
}

/// Maximum number of operations of a module whose results are compared. Some modules count to an input, which may be
/// large.
const MAX_OPERATIONS: u64 = 3_000_000;

/// Maximum number of operations of a module after passes, which may need more than before.
const MAX_OPERATIONS_AFTER: u64 = 100_000_000;

/// Returns the results of a module on random inputs, with or without NaN, infinities and huge numbers.
/// Returns `None` if the interpreter cannot run it or needs too many operations.
fn results(module: &Module, special: bool, max_operations: u64) -> Option<Literal> {
    let options = hlo_eval::Options {
        max_bytes: 1 << 28,
        max_operations: Some(max_operations),
        ..hlo_eval::Options::default()
    };
    let devices = DeviceCounts::of(module).map(DeviceCounts::devices).filter(|&n| n <= MAX_DEVICES)?;
    let inputs = |device: usize| -> Option<Vec<Literal>> {
        let mut numbers = Numbers::new(7 + device as u64);
        let parameters = module.parameters(module.entry()).into_iter();
        parameters.map(|p| values::random(&module[p].shape, &mut numbers, special)).collect()
    };
    let mut inputs = (0..devices).map(inputs).collect::<Option<Vec<_>>>()?;
    // Some inputs are annotated as equal on all devices.
    let (first, others) = inputs.split_first_mut()?;
    for (n, p) in module.parameters(module.entry()).into_iter().enumerate() {
        let replication = module[p].common.as_ref().map(|c| &c.parameter_replication);
        let is_whole = module[p]
            .sharding()
            .is_some_and(|s| s.leaves().iter().all(|leaf| leaf.kind == ShardingKind::Replicated));
        if is_whole || replication.is_some_and(|all| all.contains(&true)) {
            others.iter_mut().for_each(|of_device| of_device[n] = first[n].clone());
        }
    }
    hlo_eval::evaluate_on_devices(module, &inputs, &options).ok().map(Literal::tuple)
}

/// The results of modules by their text, with and without special numbers. Most passes leave most modules unchanged,
/// and others make the same changes: each text is evaluated once.
#[derive(Default)]
struct KnownResults(HashMap<(String, bool), Option<Literal>>);

impl KnownResults {
    /// Returns [`results`].
    fn of(&mut self, module: &Module, special: bool, max_operations: u64) -> Option<&Literal> {
        let key = (print_module(module, &PrintOptions::default()), special);
        self.0.entry(key).or_insert_with(|| results(module, special, max_operations)).as_ref()
    }
}

/// Maximum number of devices of a module that is run.
const MAX_DEVICES: usize = 16;

/// Returns whether the predicate is true for any instruction of the module.
fn has(module: &Module, what: impl Fn(&Instruction) -> bool) -> bool {
    module.computations().any(|c| module[c].instructions().iter().any(|&i| what(&module[i])))
}

/// Returns whether passes that only preserve values expand the operation into others that round differently.
fn expansion_rounds(instr: &Instruction) -> bool {
    // Sums too: sums of narrow types are rounded differently if the expansion uses a wider type.
    let sums = matches!(instr.op, Op::Convolution(_) | Op::Dot(_) | Op::Reduce(_) | Op::Scatter(_));
    expansion_loses(instr) || sums || matches!(instr.op, Op::Logistic)
}

/// Returns whether the expansion of the operation does not handle special numbers.
fn expansion_loses(instr: &Instruction) -> bool {
    matches!(
        instr.op,
        // Elementary functions of infinite numbers.
        Op::Acos
            | Op::Acosh
            | Op::Asin
            | Op::Asinh
            | Op::Atanh
            | Op::Cosh
            | Op::Sinh
            | Op::Erf
            | Op::BatchNormGrad(_)
            | Op::BatchNormInference(_)
            | Op::BatchNormTraining(_)
            | Op::Cholesky(_)
            // A convolution multiplies its padding too.
            | Op::Contraction(_)
            | Op::RaggedDot(_)
            | Op::ReduceWindow(_)
            | Op::ScaledDot(_)
            | Op::TriangularSolve(_)
    )
}

/// Returns whether results must be correct for special numbers too. Expansions of some operations do not
/// handle them.
fn takes_special(module: &Module) -> bool {
    !has(module, expansion_loses)
}

/// The tolerance for expansions that round differently. For linear algebra, the error depends on how close to
/// singular a matrix is.
const EXPANSION: f64 = 1e-6;
const LINEAR_ALGEBRA: f64 = 1e-4;

/// Returns the tolerance for the expansions of a module's operations.
fn expansion_error(module: &Module) -> f64 {
    let solves = has(module, |i| matches!(i.op, Op::Cholesky(_) | Op::TriangularSolve(_)));
    if solves { LINEAR_ALGEBRA } else { EXPANSION }
}

/// Passes that fail on modules that request something impossible.
const REJECTING_PASSES: &[&str] = &["host-offload-legalize", "host-offloader", "sharding-propagation"];

/// Passes that reorder sums. Overflow of huge numbers, and the rest after cancellation, depend on the order.
const REORDERS_SUMS: &[&str] = &["tree_reduction_rewriter"];

/// Targets of custom calls whose results are one of several valid ones.
const FACTORIZATIONS: &[&str] = &["Qr", "Eigh", "ProductOfElementaryHouseholderReflectors"];

/// Passes that omit roundings, which changes overflow and the rest after cancellation.
const LEAVES_ROUNDINGS_OUT: &[&str] = &["excess-precision"];

/// Non-default options that reorder floating-point sums or round them differently.
const WITH_OPTIONS: &[&str] = &["recognize-reduce-window{level=2}", "recognize-reduce-window{level=3}"];

/// Maximum number of instructions of a program whose results are compared when floating-point sums are
/// rounded differently.
const MAX_STABLE: usize = 32;

/// Returns whether the instruction is a floating-point sum or difference.
fn is_float_sum(instr: &Instruction) -> bool {
    matches!(instr.op, Op::Add | Op::Subtract)
        && instr.shape.as_array().is_some_and(|a| a.element_type.is_float())
}

/// The tolerance for reordered long sums, and for narrow floating-point numbers computed from them.
const LONG_SUMS: f64 = 1e-4;
const NARROW_SUMS: f64 = 1.0 / 64.0;

/// Returns the tolerance for reordered sums.
fn reordering_error(module: &Module) -> f64 {
    let is_narrow = |s: &Shape| {
        s.leaves()
            .iter()
            .filter_map(|s| s.as_array())
            .any(|a| a.element_type.is_float() && a.element_type.bit_width() < 32)
    };
    if has(module, |i| is_narrow(&i.shape)) { NARROW_SUMS } else { LONG_SUMS }
}

/// Returns the first difference of two results. All bits must be equal, except that NaNs are equal to each
/// other. If `error` is given, numbers may differ by this tolerance, relative to the larger of the element's
/// magnitude and 1.
fn difference(a: &Literal, b: &Literal, error: Option<f64>) -> Option<String> {
    let (a, b) = (a.leaves(), b.leaves());
    if a.len() != b.len() {
        return Some(format!("{} results and {}", a.len(), b.len()));
    }
    for (n, (a, b)) in a.iter().zip(&b).enumerate() {
        let Some(array) = a.shape().as_array() else { continue };
        if !a.shape().compatible(b.shape()) {
            return Some(format!("result {n}: {} and {}", a.shape(), b.shape()));
        }
        let part = array.element_type.real_type();
        let size = part.byte_size();
        // In a narrow type, one unit in the last place is larger than the tolerance.
        let last_place = FloatFormat::of(part).map_or(0.0, |f| 0.5f64.powi(f.mantissa_bits as i32));
        let error = error.map(|e| e.max(last_place));
        for (i, (x, y)) in a.bytes().chunks_exact(size).zip(b.bytes().chunks_exact(size)).enumerate() {
            if x == y {
                continue;
            }
            let value = |bytes: &[u8]| {
                let mut bits = [0; 8];
                bits[..size].copy_from_slice(bytes);
                Some(FloatFormat::of(part)?.decode(u64::from_le_bytes(bits)))
            };
            let same = matches!((value(x), value(y)), (Some(x), Some(y))
                if x.is_nan() && y.is_nan() || error.is_some_and(|e| (x - y).abs() <= e * x.abs().max(1.0)));
            if !same {
                return Some(format!("result {n}, element {i} of {}: {x:02x?} and {y:02x?}", a.shape()));
            }
        }
    }
    None
}

/// How results before and after must agree.
#[derive(Clone, Copy)]
enum Agree {
    /// Bit for bit.
    Exactly,
    /// Numbers within this tolerance, relative to the larger of 1 and their magnitude.
    Nearly(f64),
    /// Not at all, because later instructions may amplify a different rounding.
    NotAtAll,
}

/// Runs a pipeline on a module, and compares the results with those before, on special numbers or not.
fn check(
    name: &str,
    module: &Module,
    pipeline: &str,
    (before, special): (&Literal, bool),
    agree: Agree,
    (observer, known): (&mut Strict, &mut KnownResults),
) {
    let mut module = module.clone();
    let passes = crate::pipeline(pipeline);
    match passes.run(&mut module, observer) {
        Err(_) if REJECTING_PASSES.contains(&pipeline) => return,
        Err(diags) => panic!("{name}, {pipeline}: {diags:?}"),
        Ok(_) => {}
    }
    let Some(after) = known.of(&module, special, MAX_OPERATIONS_AFTER) else {
        panic!("{name}: can't be run after {pipeline}")
    };
    let error = match agree {
        Agree::Exactly => None,
        Agree::Nearly(error) => Some(error),
        Agree::NotAtAll => return,
    };
    if let Some(d) = difference(before, after, error) {
        let text = print_module(&module, &PrintOptions::default());
        panic!("{name}: other results after {pipeline}: {d}\n{text}");
    }
}

/// Checks every pass on its own and every named pipeline. If `open` is true, results need not agree where an
/// expansion rounds differently. Returns false if the interpreter cannot run the module.
fn check_module(name: &str, text: &str, open: bool, observer: &mut Strict) -> bool {
    let Ok(module) = hlo_parser::parse_module(text) else { return false };
    if !hlo_ir::verify::verify(&module).is_empty() {
        return false;
    }
    // The value of an `rng` depends on the number of earlier ones, and unused ones may be removed.
    if has(&module, |i| matches!(i.op, Op::Rng(_) | Op::RngGetAndUpdateState(_))) {
        return false;
    }
    // Another method may choose other signs.
    if has(
        &module,
        |i| matches!(&i.op, Op::CustomCall(a) if a.custom_call_target.as_str().is_some_and(|t| FACTORIZATIONS.contains(&t))),
    ) {
        return false;
    }
    let special = takes_special(&module);
    let mut known = KnownResults::default();
    let Some(before) = known.of(&module, special, MAX_OPERATIONS).cloned() else { return false };
    let ordinary = known.of(&module, false, MAX_OPERATIONS).cloned();
    // dynamic_padder changes the parameters and results of modules with dynamic sizes. `test/dynamic.rs`
    // compares these.
    let dynamic = has(&module, |i| !i.shape.dynamic_dimensions().is_empty());
    let rounds = has(&module, expansion_rounds);
    let nearly = |error| match (rounds, open) {
        (false, _) => Agree::Exactly,
        (true, false) => Agree::Nearly(error),
        (true, true) => Agree::NotAtAll,
    };
    let rounded = nearly(expansion_error(&module));
    // The parameters of a partitioned or partly partitioned program are parts. `partitioning` compares these.
    let several = module.header.num_partitions.0 > 1;
    let devices = DeviceCounts::of(&module).map_or(1, DeviceCounts::devices);
    let cuts = ["expand-unreduced", "spmd-partitioning"];
    let left_out = |name: &str| (dynamic && name == "dynamic_padder") || (several && cuts.contains(&name));
    for pass in passes().iter().filter(|p| !left_out(p.name)) {
        let agree = match pass.keeps {
            _ if LEAVES_ROUNDINGS_OUT.contains(&pass.name) => Agree::NotAtAll,
            Preservation::Values => rounded,
            Preservation::Bits => Agree::Exactly,
        };
        // Sums over devices may be computed in another order, or first within other groups.
        let between_devices = devices > 1 && pass.keeps == Preservation::Values;
        if !REORDERS_SUMS.contains(&pass.name) && !between_devices {
            check(name, &module, pass.name, (&before, special), agree, (observer, &mut known));
        } else if let Some(ordinary) = &ordinary {
            let error = reordering_error(&module);
            let agree = if between_devices { Agree::Nearly(error) } else { nearly(error) };
            check(name, &module, pass.name, (ordinary, false), agree, (observer, &mut known));
        }
    }
    // In a large program, later instructions may amplify a different rounding.
    let size: usize = module.computations().map(|c| module[c].instructions().len()).sum();
    let sums = has(&module, is_float_sum);
    for pipeline in WITH_OPTIONS.iter().filter(|_| open || !sums || size <= MAX_STABLE) {
        if !sums {
            check(name, &module, pipeline, (&before, special), Agree::Exactly, (observer, &mut known));
        } else if let Some(ordinary) = &ordinary {
            let agree = if open { Agree::NotAtAll } else { Agree::Nearly(reordering_error(&module)) };
            check(name, &module, pipeline, (ordinary, false), agree, (observer, &mut known));
        }
    }
    if !dynamic {
        for pipeline in PIPELINES {
            check(name, &module, pipeline.name, (&before, special), rounded, (observer, &mut known));
        }
    }
    true
}

/// Maximum size in bytes of a text, because the interpreter is too slow for a whole network.
const MAX_TEXT: u64 = 100_000;

/// Minimum number of modules of each share that are compared.
const MIN_CHECKED: usize = 350;

/// Number of tests that share the files, so that they run in parallel.
const FILE_SHARDS: usize = 4;

/// Checks every [`FILE_SHARDS`]-th file, starting with file `share`.
fn check_files(share: usize) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test");
    let mut files = Vec::new();
    hlo_files(&root.join("passes"), &mut files);
    hlo_files(&root.join("corpus"), &mut files);
    if let Some(more) = std::env::var_os("HLO_MODULES") {
        hlo_files(Path::new(&more), &mut files);
    }
    let mut checked = 0;
    for file in files.iter().skip(share).step_by(FILE_SHARDS) {
        if file.metadata().is_ok_and(|m| m.len() > MAX_TEXT) {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(file) else { continue };
        let name = file.display().to_string();
        for part in text.split("// -----\n") {
            checked += usize::from(check_module(&name, part, false, &mut Strict::default()));
        }
    }
    println!("{checked} modules of {} files", files.len().div_ceil(FILE_SHARDS));
    assert!(checked >= MIN_CHECKED, "only {checked} modules can be run");
}

#[test]
fn files_first_share() {
    check_files(0);
}

#[test]
fn files_second_share() {
    check_files(1);
}

#[test]
fn files_third_share() {
    check_files(2);
}

#[test]
fn files_fourth_share() {
    check_files(3);
}

/// Checks `HLO_SEEDS` random programs of `steps` steps, from number `HLO_FIRST_SEED` on.
fn check_programs(make: fn(u64, Options) -> Program, steps: usize) -> Strict {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let (first, seeds) = (number("HLO_FIRST_SEED").unwrap_or(0), number("HLO_SEEDS").unwrap_or(300));
    let options = Options { steps, decorated: false, executable: true, ..Options::default() };
    let mut observer = Strict::default();
    let mut runs = |seed: &u64| {
        // Every third program has many arrays without elements.
        let options = Options { empty: if seed % 3 == 2 { 4 } else { 0 }, ..options };
        let text = make(*seed, options).text(Style::default());
        check_module(&format!("seed {seed}"), &text, true, &mut observer)
    };
    let count = (first..first + seeds).filter(|seed| runs(seed)).count() as u64;
    assert!(count > seeds * 3 / 4, "only {count} of {seeds} programs can be run");
    observer
}

#[test]
fn random_modules() {
    check_programs(program, 8);
}

/// Random programs that match patterns: most patterns of algsimp must apply. `HLO_PATTERNS=1` prints how
/// often each pattern did.
#[test]
fn related_modules() {
    let found = check_programs(related, 4).rewrites;
    let count = |pattern| found.get(pattern).copied().unwrap_or(0);
    let patterns: Vec<_> =
        passes().iter().flat_map(|pass| pass.patterns().map(|(name, _)| (pass.name, name))).collect();
    if std::env::var_os("HLO_PATTERNS").is_some() {
        patterns.iter().for_each(|p| println!("{:8} {} {}", count(p), p.0, p.1));
    }
    let algsimp: Vec<_> = patterns.iter().filter(|(pass, _)| *pass == "algsimp").collect();
    let without: Vec<_> = algsimp.iter().filter(|p| count(p) == 0).collect();
    assert!(without.len() * 3 < algsimp.len(), "patterns that found nothing: {without:?}");
}
