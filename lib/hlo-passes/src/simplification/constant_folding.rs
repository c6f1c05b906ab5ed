//! `constant_folding`: evaluates instructions whose operands are constants.
//!
//! ```text
//! a = s32[] constant(2)
//! b = s32[] constant(3)               →    ROOT c = s32[] constant(6)
//! ROOT c = s32[] multiply(a, b)
//! ```
//!
//! The interpreter evaluates them, within a budget. Broadcasts and iotas stay, because their users compute
//! them for free, while their values need memory.

use crate::pass_info::{OptionInfo, OptionValue, PassInfo};
use crate::rewrites::Rewrites;
use crate::support::constants::literal;
use crate::support::effects::{Impure, control_dependent, is_impure};
use hlo_ir::{Family, InstrId, Literal, Module, Op, Opcode};

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "constant_folding",
    summary: "evaluate instructions whose operands are constants",
    options: &[
        OptionInfo {
            name: "max-elements",
            summary: "maximum number of elements in a folded result",
            default: OptionValue::Count(4096),
        },
        OptionInfo {
            name: "max-operations",
            summary: "maximum number of element operations to evaluate one instruction",
            default: OptionValue::Count(1_000_000),
        },
    ],
    example: "\
HloModule constant_folding

ENTRY e {
  a = s32[] constant(2)
  b = s32[] constant(3)
  ROOT c = s32[] multiply(a, b)
}
",
    build: |_, options| {
        let (elements, operations) = (options.count("max-elements"), options.count("max-operations"));
        Box::new(move |module: &mut Module, rewrites: &mut Rewrites| {
            Ok(run(module, elements, operations, rewrites))
        })
    },
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, max_elements: u64, max_operations: u64, rewrites: &mut Rewrites) -> bool {
    let max_bytes = max_elements.saturating_mul(16).saturating_add(1 << 20);
    let options = hlo_eval::Options {
        max_operations: Some(max_operations),
        max_bytes: usize::try_from(max_bytes).unwrap_or(usize::MAX),
        watch: rewrites.watch(),
        ..hlo_eval::Options::default()
    };
    let pinned = control_dependent(module);
    let impure = Impure::of(module, is_impure);
    let mut folded = Vec::new();
    for c in module.computations().collect::<Vec<_>>() {
        // Operands come first, so one pass over the instructions folds whole expressions.
        for i in module.post_order(c) {
            if !rewrites.allowed() || pinned.contains(&i) || !is_candidate(module, &impure, i, max_elements) {
                continue;
            }
            let operands: Option<Vec<Literal>> =
                module[i].operands.iter().map(|&o| literal(module, o).cloned()).collect();
            let Some(operands) = operands else { continue };
            // Instructions that the interpreter rejects stay: too much work, or an unsupported opcode.
            let Ok(value) = hlo_eval::evaluate_instruction(module, i, &operands, &options) else { continue };
            if !value.shape().compatible(&module[i].shape) {
                continue;
            }
            let shape = module[i].shape.clone();
            let constant = module.add_like_in(c, i, shape.clone(), Op::constant(value.with_shape(shape)), []);
            rewrites.made("fold", &module[i].name);
            module.copy_annotations(i, constant);
            module.replace_all_uses_with(i, constant);
            folded.push(i);
        }
    }
    module.remove_all(&folded);
    !folded.is_empty()
}

/// Returns whether the result depends only on the operands and is small enough.
fn is_candidate(module: &Module, impure: &Impure, id: InstrId, max_elements: u64) -> bool {
    let instr = &module[id];
    let Some(array) = instr.shape.as_array() else { return false };
    let small = array.is_static() && array.element_count() as u64 <= max_elements;
    let pure = match instr.opcode().family() {
        Family::Elementwise
        | Family::DataMovement
        | Family::Indexing
        | Family::Reduction
        | Family::LinearAlgebra => !impure.has(&instr.op),
        Family::Structural
        | Family::Normalization
        | Family::Random
        | Family::Control
        | Family::Effects
        | Family::Collective => false,
    };
    let cheap_anyway = matches!(instr.op, Op::Broadcast(_) | Op::Iota(_));
    small && pure && !cheap_anyway && !instr.operands.is_empty() && instr.opcode() != Opcode::Bitcast
}
