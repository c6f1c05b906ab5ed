//! The passes that go by layouts and by values in memory, on modules that the verifier would refuse (`--no-verify`): they
//! end, and none panics.

use hlo_ir::{InstrId, Module};
use hlo_passes::{Observer, Pipeline};
use hlo_testing::Numbers;
use hlo_testing::generate::{Options, Style, program};

struct Trusting;

impl Observer for Trusting {
    fn verify_each(&self) -> bool {
        false
    }
}

/// Changes an instruction such that it does not fit any more: its shape, its operation or its operands.
fn damage(module: &mut Module, draw: &mut Numbers) {
    let all: Vec<InstrId> = module.computations().flat_map(|c| module[c].instructions().to_vec()).collect();
    let (id, other) = (all[draw.below(all.len())], all[draw.below(all.len())]);
    let mut operands = module[id].operands.to_vec();
    let beside = module[id].parent == module[other].parent;
    match draw.below(5) {
        0 => module.set_shape(id, module[other].shape.clone()),
        1 => module.set_op(id, module[other].op.clone()),
        2 if !operands.is_empty() => {
            operands.remove(draw.below(operands.len()));
            module.set_operands(id, operands);
        }
        3 if beside => {
            operands.push(other);
            module.set_operands(id, operands);
        }
        4 if beside && !operands.is_empty() => {
            module.replace_operand(id, draw.below(operands.len()), other);
        }
        _ => {}
    }
}

/// `HLO_SEEDS=N` tries N random programs of each kind.
#[test]
fn passes_end_on_damaged_modules() {
    let seeds: u64 = std::env::var("HLO_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(300);
    for seed in 0..seeds {
        for executable in [true, false] {
            let options = Options { steps: 8, decorated: seed % 2 == 0, executable, ..Options::default() };
            let style = Style { layouts: !executable, orders: executable, ..Style::default() };
            let Ok(mut module) = hlo_parser::parse_module(&program(seed, options).text(style)) else {
                continue;
            };
            let mut draw = Numbers::new(seed);
            for _ in 0..1 + draw.below(4) {
                damage(&mut module, &mut draw);
            }
            for pass in ["layout-assignment", "layout-normalization", "copy-insertion"] {
                // An error is an answer.
                let _ = Pipeline::parse(pass).unwrap().run(&mut module.clone(), &mut Trusting);
            }
        }
    }
}
