//! A partitioned program on several devices computes the same as the program on one device: each device has
//! the part that the sharding defines.
//!
//! The programs are those of the corpus (`test/corpus`) and the tests of the passes
//! (`test/passes/spmd-partitioning`). Parameters and results of the corpus get random shardings for 2, 4 and
//! 8 devices, including uneven ones. The tests have shardings of their own. Padding of tiles is NaN, or a
//! number that would be noticed. `HLO_SEEDS=N` tries N shardings of each program, `HLO_MODULES=DIR` adds the
//! programs below a folder, and `HLO_ONLY=TEXT` selects those whose name contains the text.

use crate::hlo_files;
use hlo_eval::{EvalError, evaluate, evaluate_on_devices};
use hlo_ir::attr::{Sharding, ShardingKind, SingleSharding, Subgroup, TileAssignment};
use hlo_ir::{Dims, ElementType, FloatFormat, Literal, Module, Op, Shape, unravel};
use hlo_testing::{Numbers, values};
use std::path::Path;
use std::sync::Arc;

const PIPELINE: &str = "expand-unreduced,sharding-propagation,spmd-partitioning";

fn options() -> hlo_eval::Options {
    hlo_eval::Options { max_bytes: 1 << 28, max_operations: Some(5_000_000), ..hlo_eval::Options::default() }
}

/// Splits some of the dimensions at random: each factor of two of the devices splits one dimension or none.
fn random_tiling(dims: &[i64], devices: usize, numbers: &mut Numbers) -> TileAssignment {
    let axes = devices.trailing_zeros() as usize;
    let mut along: Vec<Vec<usize>> = vec![Vec::new(); dims.len()];
    for axis in 0..axes {
        if dims.is_empty() || numbers.one_in(4) {
            continue;
        }
        let d = (numbers.bits() % dims.len() as u64) as usize;
        if dims[d] >= 2 << along[d].len() {
            along[d].push(axis);
        }
    }
    let tiles: Dims = along.iter().map(|axes| 1 << axes.len()).collect();
    let tile = |device: usize| -> Dims {
        let bit = |axis: &usize| (device >> (axes - 1 - axis) & 1) as i64;
        along.iter().map(|axes| axes.iter().fold(0, |n, axis| 2 * n + bit(axis))).collect()
    };
    TileAssignment::of_places(&tiles, 1, (0..devices).map(|device| (tile(device), 0))).expect("a tiling")
}

fn single(tiling: &TileAssignment) -> Arc<SingleSharding> {
    Arc::new(SingleSharding { kind: tiling.to_kind(), group: None, metadata: Vec::new() })
}

/// Returns the annotated shardings of an instruction's leaves. Leaves without one are replicated.
fn tilings(module: &Module, id: hlo_ir::InstrId, devices: usize) -> Vec<TileAssignment> {
    let said = TileAssignment::of_instruction(&module[id], devices).expect("shardings that fit");
    let whole = |leaf: &Shape| TileAssignment::replicated(leaf.as_array().map_or(0, |a| a.rank()), devices);
    let leaves = module[id].shape.leaves().into_iter();
    said.into_iter().zip(leaves).map(|(found, leaf)| found.unwrap_or_else(|| whole(leaf))).collect()
}

/// Gives parameters and results random shardings.
fn annotate(module: &mut Module, devices: usize, numbers: &mut Numbers) {
    module.header.num_partitions.0 = devices as i64;
    let entry = module.entry();
    let mut ends = module.parameters(entry);
    let root = module[entry].root();
    if !matches!(module[root].op, Op::Parameter(_)) {
        ends.push(root);
    }
    for id in ends {
        let dims = |s: &&Shape| s.as_array().map_or(Dims::new(), |a| a.dims.clone());
        let all: Vec<Dims> = module[id].shape.leaves().iter().map(dims).collect();
        let found: Vec<_> = all.iter().map(|d| single(&random_tiling(d, devices, numbers))).collect();
        let sharding = match (module[id].shape.is_tuple(), found.first()) {
            (false, Some(one)) => Sharding::Single(one.clone()),
            _ => Sharding::Tuple(found),
        };
        module.common_mut(id).sharding = Some(sharding);
    }
}

/// Annotates some values as summands, including those of loops and branches.
fn annotate_with_summands(module: &mut Module, devices: usize, numbers: &mut Numbers) {
    let mut computations = vec![module.entry()];
    let mut at = 0;
    while let Some(&c) = computations.get(at) {
        at += 1;
        for id in module[c].instructions().to_vec() {
            match &module[id].op {
                Op::While(a) => computations.push(a.body),
                Op::Conditional(a) => computations.extend(a.branches()),
                Op::Call(a) => computations.push(a.to_apply),
                _ => {}
            }
            let annotated = module[id].sharding().is_some() || matches!(module[id].op, Op::Parameter(_));
            let Some(dims) = module[id].shape.as_array().map(|a| a.dims.clone()) else { continue };
            if annotated || !numbers.one_in(3) {
                continue;
            }
            let kind = match random_tiling(&dims, devices, numbers).to_kind() {
                ShardingKind::Replicated => ShardingKind::Unreduced,
                ShardingKind::Tiled(mut tiled) => {
                    tiled.subgroups.fill(Subgroup::Unreduced);
                    ShardingKind::Tiled(tiled)
                }
                other => other,
            };
            module.common_mut(id).sharding = Some(Sharding::single(kind));
        }
    }
}

/// Returns a device's padded tile of an array, and for each element its index in the array unless it is
/// padding.
fn tile(array: &Literal, tiling: &TileAssignment, device: usize) -> (Literal, Vec<Option<usize>>) {
    let shape = array.shape().as_array().expect("an array");
    let local = tiling.shard(&shape.dims);
    let strides = shape.row_major_strides();
    let place = &tiling.places()[device].tile;
    let mut out =
        Literal::try_zeros(&Shape::array(shape.element_type, local.clone())).expect("a small array");
    let size = shape.element_type.byte_size();
    let count: i64 = local.iter().product();
    let mut of = Vec::with_capacity(count as usize);
    for at in 0..count as usize {
        let index = unravel(at, &local);
        let whole: Vec<i64> = index.iter().zip(place).zip(&local).map(|((i, p), n)| p * n + i).collect();
        let inside = whole.iter().zip(&shape.dims).all(|(i, n)| i < n);
        let from = whole.iter().zip(&strides).map(|(i, s)| i * s).sum::<i64>() as usize;
        of.push(inside.then_some(from));
        let bytes = &mut out.bytes_mut()[at * size..][..size];
        if inside {
            bytes.copy_from_slice(&array.bytes()[from * size..][..size])
        } else {
            let part = shape.element_type.real_type();
            let odd = FloatFormat::of(part).map_or(1, |f| f.nan(false)).to_le_bytes();
            bytes.chunks_exact_mut(part.byte_size()).for_each(|b| b.copy_from_slice(&odd[..b.len()]));
        }
    }
    (out, of)
}

/// Returns the tiles of a value's leaves.
fn tiles(value: &Literal, tilings: &mut std::slice::Iter<'_, TileAssignment>, device: usize) -> Literal {
    match value.shape() {
        Shape::Tuple(_) => {
            Literal::tuple(value.tuple_elements().iter().map(|v| tiles(v, tilings, device)).collect())
        }
        Shape::Array(_) => tile(value, tilings.next().expect("a tiling for each leaf"), device).0,
        _ => value.clone(),
    }
}

/// Returns the first element that differs from the expected one. Sums may be computed in another order.
fn difference(got: &Literal, want: &Literal, tilings: &[TileAssignment], device: usize) -> Option<String> {
    for (n, ((got, want), tiling)) in got.leaves().iter().zip(want.leaves()).zip(tilings).enumerate() {
        let Some(array) = want.shape().as_array() else { continue };
        let (expected, of) = tile(want, tiling, device);
        if !got.shape().compatible(expected.shape()) {
            return Some(format!("result {n}: {} in place of {}", got.shape(), expected.shape()));
        }
        let part = array.element_type.real_type();
        let (size, parts) = (part.byte_size(), array.element_type.byte_size() / part.byte_size());
        let last_place = FloatFormat::of(part).map_or(0.0, |f| 4.0 * 0.5f64.powi(f.mantissa_bits as i32));
        let chunks = got.bytes().chunks_exact(size).zip(expected.bytes().chunks_exact(size));
        for (i, (x, y)) in chunks.enumerate().filter(|(i, _)| of[i / parts].is_some()) {
            let value = |bytes: &[u8]| {
                let mut bits = [0; 8];
                bits[..size].copy_from_slice(bytes);
                Some(FloatFormat::of(part)?.decode(u64::from_le_bytes(bits)))
            };
            let same = x == y
                || matches!((value(x), value(y)), (Some(x), Some(y))
                    if x.is_nan() && y.is_nan() || (x - y).abs() <= last_place.max(2e-4) * y.abs().max(1.0));
            if !same {
                let (x, y) = (value(x), value(y));
                return Some(format!("result {n}, element {i} on device {device}: {x:?} in place of {y:?}"));
            }
        }
    }
    None
}

/// Converts an array of `f32` to `f64`.
fn widened(value: &Literal) -> Literal {
    match value.shape() {
        Shape::Tuple(_) => Literal::tuple(value.tuple_elements().iter().map(widened).collect()),
        Shape::Array(array) if array.element_type == ElementType::F32 => {
            let wide: Vec<f64> = value.elements::<f32>().iter().map(|&x| x.into()).collect();
            Literal::from_elements(Shape::Array(array.with_element_type(ElementType::F64)), &wide)
        }
        _ => value.clone(),
    }
}

/// Returns the results of the program in `f64` instead of `f32`.
fn exactly(program: &Module, inputs: &[Literal]) -> Option<Literal> {
    let text = hlo_ir::print::print_module(program, &hlo_ir::print::PrintOptions::short());
    let wide = hlo_parser::parse_module(&text.replace(" f32[", " f64[").replace("(f32[", "(f64[")).ok()?;
    let inputs: Vec<Literal> = inputs.iter().map(widened).collect();
    evaluate(&wide, &inputs, &options()).ok()
}

/// Returns whether a device's results are about as accurate as those of the whole program, which adds in
/// another order. The error may be eight times the largest error of the whole program in the same array.
fn is_rounding(got: &Literal, (want, exact): (&Literal, &Literal), of: (&[TileAssignment], usize)) -> bool {
    let (tilings, device) = of;
    let far = |values: &Literal, exact: &Literal, is_counted: &dyn Fn(usize) -> bool| {
        let pairs = values.elements::<f32>().iter().zip(exact.elements::<f64>()).enumerate();
        let errors = pairs.filter(|(i, _)| is_counted(*i)).map(|(_, (&x, y))| (f64::from(x) - y).abs());
        errors.fold(0.0, |most: f64, e| if e.is_nan() { f64::INFINITY } else { most.max(e) })
    };
    let leaves = got.leaves().into_iter().zip(want.leaves()).zip(exact.leaves()).zip(tilings);
    leaves
        .filter(|(((got, _), _), _)| {
            got.shape().as_array().is_some_and(|a| a.element_type == ElementType::F32)
        })
        .all(|(((got, want), exact), tiling)| {
            let (tile, of) = tile(exact, tiling, device);
            far(got, &tile, &|i| of[i].is_some()) <= 8.0 * far(want, exact, &|_| true)
        })
}

/// Returns whether results of an instruction do not depend only on its operands, or are one of several valid
/// results.
fn is_open(module: &Module) -> bool {
    module.computations().flat_map(|c| module[c].instructions().iter()).any(|&i| {
        let dynamic = !module[i].shape.dynamic_dimensions().is_empty();
        dynamic || matches!(module[i].op, Op::Rng(_) | Op::Infeed(_) | Op::Outfeed(_) | Op::CustomCall(_))
    })
}

/// Programs that amplify rounding errors of sums.
const UNSTABLE: &[&str] = &[
    "attention_grad",
    "bf16_mixed_precision_mlp",
    "conjugate_gradient",
    "kalman_filter_scan",
    "levenberg_curve_fit",
    "llama_block_bf16",
    "vae_train_step",
];

/// Programs with infinite values: the product of zero and infinity in a summand is NaN.
const INFINITE: &[&str] = &["binary_f32", "gamma_family", "mlp_multi_step_scan"];

/// Returns the program of one device.
///
/// # Errors
/// The diagnostics of the passes.
pub(super) fn partitioned(program: &Module) -> Result<Module, String> {
    let mut made = program.clone();
    let passes = crate::pipeline(PIPELINE);
    match passes.run(&mut made, &mut ()) {
        Ok(_) => Ok(made),
        Err(diags) => Err(format!("{} {:?}", diags[0].message, diags[0].notes)),
    }
}

/// Partitions an annotated program and compares results. Returns false if the interpreter cannot run it.
///
/// # Errors
/// The difference, and the programs.
fn check(name: &str, program: &Module, numbers: &mut Numbers) -> Result<bool, String> {
    let devices = program.header.num_partitions.0 as usize;
    let entry = program.entry();
    let parameters = program.parameters(entry);
    let inputs: Option<Vec<Literal>> =
        parameters.iter().map(|&p| values::random(&program[p].shape, numbers, false)).collect();
    let Some(inputs) = inputs else { return Ok(false) };
    let mut alone = program.clone();
    alone.header.num_partitions.0 = 1;
    let Ok(want) = evaluate(&alone, &inputs, &options()) else { return Ok(false) };
    let of_inputs: Vec<_> = parameters.iter().map(|&p| tilings(program, p, devices)).collect();
    let of_result = tilings(program, program[entry].root(), devices);
    let text = |m: &Module| hlo_ir::print::print_module(m, &hlo_ir::print::PrintOptions::short());
    let partitioned = partitioned(program).map_err(|e| format!("{name}: {e}\n{}", text(program)))?;
    let local = |device| -> Vec<Literal> {
        inputs.iter().zip(&of_inputs).map(|(v, t)| tiles(v, &mut t.iter(), device)).collect()
    };
    let local_inputs: Vec<Vec<Literal>> = (0..devices).map(local).collect();
    let got: Result<Vec<Literal>, EvalError> = evaluate_on_devices(&partitioned, &local_inputs, &options());
    let got = match got {
        Ok(got) => got,
        // Each device may compute almost as much as a single one, and also exchanges data.
        Err(e) if e.message.contains("operations") || e.message.contains("stopped") => return Ok(false),
        Err(e) => return Err(format!("{name}: {}\n{}\n{}", e.message, text(program), text(&partitioned))),
    };
    for (device, got) in got.iter().enumerate() {
        if let Some(d) = difference(got, &want, &of_result, device) {
            let exact = exactly(&alone, &inputs);
            if exact.is_some_and(|exact| is_rounding(got, (&want, &exact), (&of_result, device))) {
                continue;
            }
            let texts = format!("{}\n{}", text(program), text(&partitioned));
            return Err(format!("{name}, {devices} devices: {d}\n{texts}"));
        }
    }
    Ok(true)
}

/// Counts the compared programs, and reports all failures at the end.
#[derive(Default)]
pub(super) struct Tally {
    checked: u32,
    wrong: Vec<String>,
}

impl Tally {
    pub(super) fn add(&mut self, name: &str, program: &Module, numbers: &mut Numbers) {
        match check(name, program, numbers) {
            Ok(done) => self.checked += u32::from(done),
            Err(what) => self.wrong.push(what),
        }
    }

    pub(super) fn end(&self, least: u32) {
        println!("{} programs", self.checked);
        let heads: Vec<&str> = self.wrong.iter().filter_map(|w| w.lines().next()).collect();
        assert!(self.wrong.is_empty(), "{}\n\n{}", heads.join("\n"), self.wrong[0]);
        assert!(self.checked >= least || std::env::var_os("HLO_ONLY").is_some(), "{}", self.checked);
    }
}

fn programs(folder: &str) -> Vec<(String, Module)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test").join(folder);
    let mut files = Vec::new();
    hlo_files(&root, &mut files);
    if let Some(more) = std::env::var_os("HLO_MODULES") {
        hlo_files(Path::new(&more), &mut files);
    }
    let only = std::env::var("HLO_ONLY").unwrap_or_default();
    let mut found = Vec::new();
    for file in files.iter().filter(|f| f.to_string_lossy().contains(&only)) {
        let Ok(text) = std::fs::read_to_string(file) else { continue };
        // The interpreter is too slow for a whole network.
        for part in text.split("// -----\n").filter(|_| text.len() < 60_000) {
            if let Ok(module) = hlo_parser::parse_module(part)
                && hlo_ir::verify::verify(&module).is_empty()
            {
                found.push((file.display().to_string(), module));
            }
        }
    }
    found
}

/// The numbers of devices that programs are partitioned for.
const DEVICES: [usize; 3] = [2, 4, 8];

/// Compares the annotated programs of the corpus. `counts` returns the numbers of devices for the program with an index.
fn of_the_corpus(
    left_out: &[&str],
    counts: impl Fn(usize) -> Vec<usize>,
    annotated: impl Fn(&mut Module, usize, &mut Numbers),
) -> Tally {
    let seeds = std::env::var("HLO_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(1u64);
    let mut tally = Tally::default();
    for (index, (name, module)) in programs("corpus").into_iter().enumerate() {
        let several = module.header.num_partitions.0 > 1 || module.header.replica_count.0 > 1;
        if several || is_open(&module) || left_out.iter().chain(UNSTABLE).any(|u| name.contains(u)) {
            continue;
        }
        for devices in counts(index) {
            for seed in 0..seeds {
                let mut numbers = Numbers::new(seed * 8 + devices as u64);
                let mut program = module.clone();
                annotated(&mut program, devices, &mut numbers);
                tally.add(&name, &program, &mut numbers);
            }
        }
    }
    tally
}

#[test]
fn programs_of_the_corpus() {
    of_the_corpus(&[], |_| DEVICES.to_vec(), annotate).end(120);
}

#[test]
fn programs_of_the_corpus_with_summands() {
    let both = |module: &mut Module, devices: usize, numbers: &mut Numbers| {
        annotate(module, devices, numbers);
        annotate_with_summands(module, devices, numbers);
    };
    // Summands take several times as long: each program runs on one number of devices, in turn. HLO_SEEDS selects all.
    let counts = |index: usize| match std::env::var_os("HLO_SEEDS") {
        Some(_) => DEVICES.to_vec(),
        None => vec![DEVICES[index % DEVICES.len()]],
    };
    of_the_corpus(INFINITE, counts, both).end(40);
}

#[test]
fn programs_of_the_tests() {
    let mut tally = Tally::default();
    for (name, module) in programs("passes/spmd-partitioning") {
        if module.header.num_partitions.0 > 1 && module.header.replica_count.0 == 1 && !is_open(&module) {
            tally.add(&name, &module, &mut Numbers::new(7));
        }
    }
    tally.end(0);
}
