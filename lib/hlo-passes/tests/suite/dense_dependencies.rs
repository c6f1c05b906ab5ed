//! Modules in which everything depends on many nearby values: fusions must still have a valid order and
//! preserve the meaning. The arrays are large enough for loops to be fused.

use hlo_ir::{Literal, Module};
use hlo_passes::Observer;
use hlo_testing::{Numbers, values};
use std::fmt::Write as _;

struct Strict;

impl Observer for Strict {
    fn verify_each(&self) -> bool {
        true
    }
}

/// Returns a module of about `count` instructions, each of which reads some of the last `window` values.
fn tangled(seed: u64, count: usize, window: usize) -> String {
    let mut draw = Numbers::new(seed);
    let mut out = String::from(
        "HloModule tangled\n\nsum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n\n\
         ENTRY main {\n  z = f32[] constant(0)\n",
    );
    let mut names: Vec<String> = (0..8).map(|n| format!("p{n}")).collect();
    for (n, name) in names.iter().enumerate() {
        writeln!(out, "  {name} = f32[64,64] parameter({n})").unwrap();
    }
    for n in names.len()..count {
        let recent = names.len().saturating_sub(window);
        let a = names[recent + draw.below(names.len() - recent)].clone();
        let b = names[recent + draw.below(names.len() - recent)].clone();
        let v = format!("v{n}");
        match draw.below(10) {
            0 => writeln!(out, "  {v} = f32[64,64] dot({a}, {b}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}"),
            1 => writeln!(
                out,
                "  r{n} = f32[64] reduce({a}, z), dimensions={{1}}, to_apply=sum\n\
                 \x20 {v} = f32[64,64] broadcast(r{n}), dimensions={{0}}"
            ),
            2 => writeln!(out, "  {v} = f32[64,64] transpose({a}), dimensions={{1,0}}"),
            3 => writeln!(
                out,
                "  q{n} = pred[64,64] compare({a}, {b}), direction=LT\n  {v} = f32[64,64] select(q{n}, {b}, {a})"
            ),
            4 => writeln!(
                out,
                "  x{n} = f32[32,64] slice({a}), slice={{[0:32],[0:64]}}\n\
                 \x20 y{n} = f32[32,64] slice({b}), slice={{[32:64],[0:64]}}\n\
                 \x20 {v} = f32[64,64] concatenate(x{n}, y{n}), dimensions={{0}}"
            ),
            5 => writeln!(out, "  {v} = f32[64,64] tanh({a})"),
            6 => writeln!(out, "  {v} = f32[64,64] negate({a})"),
            k => {
                let op = ["add", "multiply", "maximum"][k - 7];
                writeln!(out, "  {v} = f32[64,64] {op}({a}, {b})")
            }
        }
        .unwrap();
        names.push(v);
    }
    let last: Vec<&str> = names.iter().rev().take(6).map(String::as_str).collect();
    let shapes = vec!["f32[64,64]"; last.len()].join(", ");
    writeln!(out, "  ROOT out = ({shapes}) tuple({})\n}}", last.join(", ")).unwrap();
    out
}

fn parse(text: &str) -> Module {
    hlo_parser::parse(text).unwrap_or_else(|d| panic!("{d:?}\n{text}")).module
}

fn run(pipeline: &str, module: &mut Module) {
    crate::pipeline(pipeline).run(module, &mut Strict).unwrap_or_else(|d| panic!("{pipeline}: {d:?}"));
}

/// Returns the bytes of all results.
fn results(module: &Module) -> Vec<Vec<u8>> {
    let mut numbers = Numbers::new(3);
    let inputs: Vec<Literal> = module
        .parameters(module.entry())
        .iter()
        .map(|&p| values::random(&module[p].shape, &mut numbers, false).unwrap())
        .collect();
    let result = hlo_eval::evaluate(module, &inputs, &hlo_eval::Options::default()).unwrap();
    result.leaves().iter().map(|l| l.bytes().to_vec()).collect()
}

#[test]
fn what_is_fused_has_an_order() {
    for seed in 0..24 {
        for window in [6, 40, 200] {
            let mut module = parse(&tangled(seed, 300, window));
            run("fusion", &mut module);
            let mut module = parse(&tangled(seed + 1000, 300, window));
            run("cpu", &mut module);
        }
    }
}

#[test]
fn what_is_fused_means_the_same() {
    for seed in 0..3 {
        let before = parse(&tangled(seed, 150, 30));
        let mut after = before.clone();
        run("fusion", &mut after);
        assert!(results(&before) == results(&after), "seed {seed}");
    }
}
