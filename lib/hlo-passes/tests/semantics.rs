//! Every pass, and the pipeline for compiled execution, keeps the meaning of modules: the interpreter gives the
//! same results before and after.
//!
//! The modules are the tests of the passes (`test/passes`), the corpus (`test/corpus`) as far as the interpreter
//! is quick on it, and modules that are made up at random. `HLO_MODULES=DIR` adds every `.hlo` file below a
//! folder. What the operation semantics leave open (the order of sums, roundings of transcendental functions) is
//! the same in both runs, so that the results are equal to the bit.

mod generate;

use hlo_ir::{ElementType, Instruction, Literal, Module, Op, Shape};
use hlo_passes::{CPU_PIPELINE, Observer, PASSES, Pipeline};
use hlo_testing::Numbers;
use std::path::{Path, PathBuf};

/// Holds every pass to leaving a valid module, and to the truth about whether it changed anything.
struct Strict;

impl Observer for Strict {
    fn verify_each(&self) -> bool {
        true
    }
}

fn options() -> hlo_eval::Options {
    hlo_eval::Options { max_bytes: 1 << 28, max_operations: Some(20_000_000), ..hlo_eval::Options::default() }
}

/// An input: small numbers, and now and then the special ones of the type.
fn input(shape: &Shape, numbers: &mut Numbers) -> Option<Literal> {
    if let Some(elements) = shape.as_tuple() {
        return Some(Literal::tuple(elements.iter().map(|e| input(e, numbers)).collect::<Option<_>>()?));
    }
    let array = shape.as_array()?;
    let mut literal = Literal::try_zeros(shape)?;
    let ty = array.element_type;
    let size = ty.byte_size();
    for chunk in literal.bytes_mut().chunks_exact_mut(size) {
        let n = numbers.bits();
        let small = (n % 9) as i64 - 3;
        let float = match n >> 32 & 63 {
            0 => f64::NAN,
            1 => f64::INFINITY,
            2 => f64::NEG_INFINITY,
            3 => -0.0,
            _ => small as f64 / 2.0,
        };
        match ty {
            ElementType::Pred => chunk[0] = (n & 1) as u8,
            ElementType::F32 => chunk.copy_from_slice(&(float as f32).to_le_bytes()),
            ElementType::F64 => chunk.copy_from_slice(&float.to_le_bytes()),
            ElementType::F16 => chunk.copy_from_slice(&half::f16::from_f64(float).to_le_bytes()),
            ElementType::Bf16 => chunk.copy_from_slice(&half::bf16::from_f64(float).to_le_bytes()),
            ElementType::C64 => {
                chunk[..4].copy_from_slice(&(float as f32).to_le_bytes());
                chunk[4..].copy_from_slice(&(small as f32).to_le_bytes());
            }
            t if t.is_integer() && t.bit_width() >= 8 => {
                let value = if t.is_unsigned_integer() { small.abs() } else { small };
                chunk.copy_from_slice(&value.to_le_bytes()[..size]);
            }
            _ => {}
        }
    }
    Some(literal)
}

/// The results of a module on made-up inputs; `None` if the interpreter can't run it or takes too long.
fn results(module: &Module) -> Option<Literal> {
    let mut numbers = Numbers::new(7);
    let inputs: Vec<Literal> = module
        .parameters(module.entry())
        .iter()
        .map(|&p| input(&module[p].shape, &mut numbers))
        .collect::<Option<_>>()?;
    hlo_eval::evaluate(module, &inputs, &options()).ok()
}

/// True if an instruction of the module is such a one.
fn has(module: &Module, what: impl Fn(&Instruction) -> bool) -> bool {
    module.computations().any(|c| module[c].instructions().iter().any(|&i| what(&module[i])))
}

/// Passes that expand an operation into others which round elsewhere than its own definition does.
const ROUNDING: &[&str] = &["batchnorm_expander", "ragged-dot-rewriter", "scaled-dot-rewriter"];

/// True for the operations that [`ROUNDING`] expands.
fn expansion_rounds(instr: &Instruction) -> bool {
    matches!(
        instr.op,
        Op::BatchNormGrad(_)
            | Op::BatchNormInference(_)
            | Op::BatchNormTraining(_)
            | Op::RaggedDot(_)
            | Op::ScaledDot(_)
    )
}

/// The error of an expansion that rounds elsewhere.
const EXPANSION: f64 = 1e-6;

/// The first difference of two results: every bit counts, but that a NaN is as good as another. `error` is what may be
/// between two numbers, relative to the larger one of this element and of 1, if they need not be the same.
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
        for (i, (x, y)) in a.bytes().chunks_exact(size).zip(b.bytes().chunks_exact(size)).enumerate() {
            if x == y {
                continue;
            }
            let value = |bytes: &[u8]| match part {
                ElementType::F32 => Some(f64::from(f32::from_le_bytes(bytes.try_into().ok()?))),
                ElementType::F64 => Some(f64::from_le_bytes(bytes.try_into().ok()?)),
                ElementType::F16 => Some(half::f16::from_le_bytes(bytes.try_into().ok()?).to_f64()),
                ElementType::Bf16 => Some(half::bf16::from_le_bytes(bytes.try_into().ok()?).to_f64()),
                _ => None,
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

/// Runs one pipeline over a module and compares.
fn check(name: &str, module: &Module, pipeline: &str, before: &Literal, error: Option<f64>) {
    let mut module = module.clone();
    let passes = Pipeline::parse(pipeline).unwrap();
    if let Err(diags) = passes.run(&mut module, &mut Strict) {
        panic!("{name}, {pipeline}: {diags:?}");
    }
    let Some(after) = results(&module) else { panic!("{name}: can't be run after {pipeline}") };
    if let Some(d) = difference(before, &after, error) {
        let text = hlo_ir::print::print_module(&module, &hlo_ir::print::PrintOptions::default());
        panic!("{name}: other results after {pipeline}: {d}\n{text}");
    }
}

/// Every pass by itself and the whole pipeline. Returns false if the interpreter can't run the module.
fn check_module(name: &str, text: &str) -> bool {
    let Ok(module) = hlo_parser::parse_module(text) else { return false };
    if !hlo_ir::verify::verify(&module).is_empty() {
        return false;
    }
    let Some(before) = results(&module) else { return false };
    // What dynamic_padder makes of arrays of dynamic sizes has other parameters and results; `test/dynamic.rs` compares
    // these.
    let dynamic = has(&module, |i| !i.shape.dynamic_dimensions().is_empty());
    let error = has(&module, expansion_rounds).then_some(EXPANSION);
    for pass in PASSES.iter().filter(|p| !(dynamic && p.name == "dynamic_padder")) {
        let error = error.filter(|_| ROUNDING.contains(&pass.name));
        check(name, &module, pass.name, &before, error);
    }
    if !dynamic {
        check(name, &module, CPU_PIPELINE, &before, error);
    }
    true
}

fn hlo_files(folder: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            hlo_files(&path, out);
        } else if path.extension().is_some_and(|e| e == "hlo") {
            out.push(path);
        }
    }
}

/// The largest text that is tried: the interpreter is no match for a whole network.
const MAX_TEXT: u64 = 100_000;

#[test]
fn files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test");
    let mut files = Vec::new();
    hlo_files(&root.join("passes"), &mut files);
    hlo_files(&root.join("corpus"), &mut files);
    if let Some(more) = std::env::var_os("HLO_MODULES") {
        hlo_files(Path::new(&more), &mut files);
    }
    let mut checked = 0;
    for file in &files {
        if file.metadata().is_ok_and(|m| m.len() > MAX_TEXT) {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(file) else { continue };
        let name = file.display().to_string();
        for part in text.split("// -----\n") {
            checked += usize::from(check_module(&name, part));
        }
    }
    println!("{checked} modules of {} files", files.len());
    assert!(checked > 0 || files.is_empty());
}

#[test]
fn random_modules() {
    for seed in 0..150 {
        let text = generate::module(&mut Numbers::new(seed));
        assert!(check_module(&format!("seed {seed}"), &text), "seed {seed} can't be run:\n{text}");
    }
}
