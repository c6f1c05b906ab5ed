//! What a device of a partitioned program sends: for each file of arguments, which is partitioned if it has shardings to
//! be followed, the bytes in all and by collective.
//!
//! `cargo run -p hlo-passes --example volume -- [--print] FILE...`

use hlo_ir::Module;
use hlo_passes::Pipeline;
use hlo_passes::analysis::ModuleCost;
use std::collections::BTreeMap;

fn sent(module: &Module) -> (u64, BTreeMap<&'static str, (u64, u64)>) {
    let cost = ModuleCost::of(module);
    let mut by: BTreeMap<&'static str, (u64, u64)> = BTreeMap::new();
    for &(c, runs) in &cost.runs {
        for &id in module[c].instructions() {
            let own = cost.instruction(id).sent;
            if own > 0
                && module[id].op.called_computations().len() < 2
                && !matches!(module[id].op, hlo_ir::Op::Call(_))
            {
                let e = by.entry(module[id].opcode().name()).or_default();
                *e = (e.0 + runs, e.1 + own * runs);
            }
        }
    }
    (cost.total(module).sent, by)
}

fn main() {
    let mut print = false;
    for file in std::env::args().skip(1) {
        if file == "--print" {
            print = true;
            continue;
        }
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        let mut module = match hlo_parser::parse_module(&text) {
            Ok(module) => module,
            Err(diags) => {
                println!("{file}: {:?}", diags.first().map(|d| &d.message));
                continue;
            }
        };
        if file.ends_with(".hlo") {
            let passes = Pipeline::parse("sharding-propagation,spmd-partitioning").expect("a pipeline");
            if let Err(diags) = passes.run(&mut module, &mut ()) {
                println!("{file}: {:?}", diags.first().map(|d| &d.message));
                continue;
            }
        }
        let (all, by) = sent(&module);
        println!("{file}\t{all}\t{by:?}");
        if print {
            println!("{}", hlo_ir::print::print_module(&module, &hlo_ir::print::PrintOptions::short()));
        }
    }
}
