//! Random contractions in both engines. `HLO_CONTRACTIONS=N` sets the number of modules. The default is a few
//! dozen.

use crate::random::{Compilation, eval_options, run};
use hlo_ir::contraction::Aggregation;
use hlo_ir::{ElementType as E, Literal, Op, Shape};
use hlo_testing::generate::random_contraction;
use hlo_testing::{Numbers, agree, values};

/// Number of contractions per module. A module is compiled as a whole, so fewer modules take less time.
const CONTRACTIONS_PER_MODULE: usize = 6;

fn seeds() -> std::ops::Range<u64> {
    let n = std::env::var("HLO_CONTRACTIONS").ok().and_then(|n| n.parse().ok());
    0..n.unwrap_or(60)
}

/// Returns a module with several contractions. Elements have all types. Sizes are small, or large enough for
/// whole vectors and a remainder.
fn module(numbers: &mut Numbers) -> String {
    let (mut body, mut parameters, mut results) = (String::new(), 0, Vec::new());
    for _ in 0..CONTRACTIONS_PER_MODULE {
        let extent = numbers.pick(&[3, 5, 9, 70]);
        let case = random_contraction(numbers, extent);
        let is_ordered = matches!(case.contraction.aggregation, Aggregation::Max | Aggregation::Min);
        let types: &[E] = if numbers.one_in(2) { E::ALL } else { &[E::F32, E::F32, E::S32, E::F64, E::Bf16] };
        let mut draw = |fits: &dyn Fn(E) -> bool| {
            let fitting: Vec<E> = types.iter().copied().filter(|&t| fits(t)).collect();
            numbers.pick(&fitting)
        };
        let value = draw(&|t| !(is_ordered && t.is_complex()));
        let compared = draw(&|_| true);
        let default = numbers.one_in(3);
        body += &case.text(value, compared, default, parameters);
        results.push(format!("r{parameters}"));
        parameters += case.contraction.operands.len() + usize::from(default);
    }
    format!("HloModule m\nENTRY e {{\n{body}  ROOT all = tuple({})\n}}\n", results.join(", "))
}

#[test]
fn both_engines_agree() {
    for seed in seeds() {
        let mut numbers = Numbers::new(seed);
        let text = module(&mut numbers);
        let module = hlo_parser::parse_module(&text).unwrap_or_else(|d| panic!("{}\n{text}", d[0].message));
        assert_eq!(hlo_ir::verify::verify(&module), [], "{text}");
        let entry = module.entry();
        let inputs: Vec<Literal> = module
            .parameters(entry)
            .iter()
            .map(|&p| values::random(&module[p].shape, &mut numbers, seed % 3 == 0).expect("an array"))
            .collect();
        let compiled = |threads| {
            let how = Compilation { pipeline: "lowering", threads, optimize: true };
            run(&module, how, &inputs.iter().collect::<Vec<_>>())
                .unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"))
        };
        let (once, again) = (compiled(1), compiled(3));
        let ids = module[module[entry].root()].operands.to_vec();
        for ((&id, one), other) in ids.iter().zip(once.tuple_elements()).zip(again.tuple_elements()) {
            let operands: Vec<Literal> = module[id]
                .operands
                .iter()
                .map(|&o| match &module[o].op {
                    Op::Parameter(p) => inputs[p.number as usize].clone(),
                    _ => panic!("operands are parameters"),
                })
                .collect();
            let line = hlo_ir::print::print_instruction(&module, id, &hlo_ir::print::PrintOptions::short());
            assert_eq!(one.bytes(), other.bytes(), "seed {seed}, threads: {line}");
            let want = hlo_eval::evaluate_instruction(&module, id, &operands, &eval_options())
                .unwrap_or_else(|e| panic!("seed {seed}: {}", e.message));
            if let Some(difference) = agree::difference(one, &want, agree::bound(&module, id, &operands)) {
                panic!("seed {seed}: {difference}\n{line}\n{}", shapes(&module[id].shape, &operands));
            }
        }
    }
}

fn shapes(result: &Shape, operands: &[Literal]) -> String {
    let operands: Vec<String> = operands.iter().map(|o| o.shape().to_string()).collect();
    format!("{result} of {}", operands.join(", "))
}
