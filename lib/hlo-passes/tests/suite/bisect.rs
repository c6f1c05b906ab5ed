//! Bisection finds a pass with one wrong rewrite, by name, on modules of the corpus.

use crate::wrong;
use hlo_ir::diag::Diag;
use hlo_ir::{FloatFormat, Literal, Module, Opcode};
use hlo_passes::{Bisection, Culprit, PassInfo, Pipeline, Rewrites, bisect, register};
use hlo_testing::{Numbers, values};
use std::path::Path;

fn module(name: &str) -> Module {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test/corpus").join(name).join("module.hlo");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut module = hlo_parser::parse(&text).unwrap_or_else(|d| panic!("{name}: {d:?}")).module;
    module.normalize();
    module
}

fn results(module: &Module) -> Result<Literal, String> {
    let mut numbers = Numbers::new(7);
    let inputs: Option<Vec<Literal>> = module
        .parameters(module.entry())
        .iter()
        .map(|&p| values::random(&module[p].shape, &mut numbers, false))
        .collect();
    let inputs = inputs.ok_or("no inputs")?;
    hlo_eval::evaluate(module, &inputs, &hlo_eval::Options::default()).map_err(|e| format!("{e:?}"))
}

/// Returns an error about the first number that is not close to the expected one.
fn difference(got: &Literal, want: &Literal) -> Result<(), String> {
    for (number, (got, want)) in got.leaves().into_iter().zip(want.leaves()).enumerate() {
        let Some(ty) = want.shape().as_array().map(|a| a.element_type.real_type()) else { continue };
        let size = ty.byte_size();
        for (x, y) in got.bytes().chunks_exact(size).zip(want.bytes().chunks_exact(size)) {
            let value = |bytes: &[u8]| {
                let mut bits = [0; 8];
                bits[..size].copy_from_slice(bytes);
                Some(FloatFormat::of(ty)?.decode(u64::from_le_bytes(bits)))
            };
            let near = x == y
                || matches!((value(x), value(y)), (Some(x), Some(y))
                    if x.is_nan() && y.is_nan() || (x - y).abs() <= 1e-4 * y.abs().max(1.0));
            if !near {
                return Err(format!("result {number}: {x:02x?} instead of {y:02x?}"));
            }
        }
    }
    Ok(())
}

fn find(module: &Module, pipeline: &str) -> Bisection {
    let want = results(module).unwrap();
    let pipeline = Pipeline::parse(pipeline).unwrap_or_else(|d| panic!("{d:?}"));
    bisect(&pipeline, module, &mut |m| results(m).and_then(|got| difference(&got, &want)))
}

#[track_caller]
fn found(module: &Module, pipeline: &str) -> Box<Culprit> {
    match find(module, pipeline) {
        Bisection::Found(culprit) => culprit,
        other => panic!("{other:?}"),
    }
}

/// Modules that subtract something from a constant.
const MODULES: &[&str] = &["gru_language_model", "lstm_bptt_step", "logistic_regression_newton"];

#[test]
fn the_wrong_rewrite_is_found_on_modules_of_the_corpus() {
    register(&wrong::INFO);
    for name in MODULES {
        let module = module(name);
        let pipeline = "call-inliner,fix{limit=4}(algsimp,wrong-rewrite,cse,dce),algsimp,dce";
        let culprit = found(&module, pipeline);
        assert_eq!(culprit.pass.name, "wrong-rewrite", "{name}");
        let rewrite = culprit.rewrite.as_ref().unwrap_or_else(|| panic!("{name}: no rewrite"));
        assert_eq!(rewrite.rewrite.name, "subtract-constant", "{name}: {rewrite:?}");
        assert!((1..=rewrite.total).contains(&rewrite.number), "{name}: {rewrite:?}");
        // Only the operands of this instruction were exchanged.
        let of = |m: &Module| {
            let all: Vec<_> = m.computations().flat_map(|c| m[c].instructions().to_vec()).collect();
            let id = all.into_iter().find(|&i| *m[i].name == *rewrite.rewrite.instruction);
            let i = &m[id.unwrap_or_else(|| panic!("{name}: no {}", rewrite.rewrite.instruction))];
            (i.opcode(), i.operands.to_vec())
        };
        let ((opcode, mut before), (_, after)) = (of(&culprit.before), of(&culprit.after));
        assert_eq!(opcode, Opcode::Subtract);
        before.reverse();
        assert_eq!(before, after, "{name}");
        let want = results(&module).unwrap();
        assert!(difference(&results(&culprit.before).unwrap(), &want).is_ok(), "{name}");
        assert!(difference(&results(&culprit.after).unwrap(), &want).is_err(), "{name}");
    }
}

#[test]
fn passes_that_are_right_are_not_blamed() {
    let kept = find(&module(MODULES[0]), "call-inliner,fix{limit=4}(algsimp,cse,dce)");
    assert!(matches!(kept, Bisection::Kept { executions } if executions > 4), "{kept:?}");
}

/// Changes the module as a whole, without counting rewrites.
static WHOLE: PassInfo = PassInfo::own("wrong-as-a-whole", "every add subtracts", |_, _| {
    Box::new(|module: &mut Module, _: &mut Rewrites| -> Result<bool, Diag> {
        let all: Vec<_> = module.computations().flat_map(|c| module[c].instructions().to_vec()).collect();
        let adds: Vec<_> = all.into_iter().filter(|&i| module[i].opcode() == Opcode::Add).collect();
        adds.iter().for_each(|&i| module.set_op(i, hlo_ir::Op::Subtract));
        Ok(!adds.is_empty())
    })
});

/// Leaves an invalid module.
static INVALID: PassInfo = PassInfo::own("wrong-shape", "negates get another shape", |_, _| {
    Box::new(|module: &mut Module, rewrites: &mut Rewrites| -> Result<bool, Diag> {
        let all: Vec<_> = module.computations().flat_map(|c| module[c].instructions().to_vec()).collect();
        for i in all {
            if module[i].opcode() == Opcode::Negate && rewrites.allowed() {
                module.set_shape(i, hlo_ir::Shape::Token);
                rewrites.made("shape", &module[i].name);
            }
        }
        Ok(rewrites.total() > 0)
    })
});

#[test]
fn passes_that_do_not_count_and_those_that_break_rules_are_found() {
    register(&WHOLE);
    register(&INVALID);
    let text = "HloModule m\nENTRY e {\n  x = f32[4] parameter(0)\n  a = f32[4] add(x, x)\n  n = f32[4] negate(a)\n\
                \x20 k = f32[4] negate(n)\n  ROOT t = f32[4] tanh(k)\n}\n";
    let module = hlo_parser::parse(text).unwrap().module;
    let culprit = found(&module, "dce,wrong-as-a-whole,cse");
    assert_eq!((culprit.pass.name, culprit.execution, culprit.executions), ("wrong-as-a-whole", 2, 3));
    assert!(culprit.rewrite.is_none());
    let culprit = found(&module, "dce,wrong-shape,cse");
    assert_eq!((culprit.pass.name, culprit.execution), ("wrong-shape", 2));
    let rewrite = culprit.rewrite.unwrap();
    assert_eq!((rewrite.number, rewrite.rewrite.instruction.as_str()), (1, "n"));
    assert!(culprit.why.contains("invalid after pass `wrong-shape`"), "{}", culprit.why);
}

#[test]
fn a_module_that_is_wrong_before_is_no_fault_of_a_pass() {
    let module = module(MODULES[0]);
    let pipeline = Pipeline::parse("algsimp,dce").unwrap();
    let never = bisect(&pipeline, &module, &mut |_| Err("never right".to_string()));
    assert!(matches!(never, Bisection::WrongBefore(why) if why == "never right"));
}
