//! Checks that random modules of every opcode are valid, print and parse as the same module, and have the
//! inferred shapes. `HLO_SEEDS=N` tests N modules instead of a few hundred.

use hlo_ir::print::{PrintOptions, print_module};
use hlo_ir::{Module, Opcode};
use hlo_testing::check;
use hlo_testing::generate::{Options, Program, Style, program};
use std::collections::BTreeSet;

fn seeds() -> std::ops::Range<u64> {
    let n = std::env::var("HLO_SEEDS").ok().and_then(|n| n.parse().ok());
    0..n.unwrap_or(4 * Opcode::ALL.len() as u64)
}

/// Returns the style for the module of a seed.
fn style(seed: u64) -> Style {
    let bit = |n: u64| seed >> n & 1 == 1;
    Style { layouts: bit(0), percent: bit(1), operand_shapes: bit(2), ..Style::default() }
}

/// Returns the options for a seed. Every fourth round through the opcodes has many arrays without elements.
fn options(seed: u64) -> Options {
    let round = seed / Opcode::ALL.len() as u64;
    Options { empty: if round % 4 == 3 { 4 } else { 0 }, ..Options::default() }
}

fn read(text: &str) -> check::Check<Module> {
    check::parse(text)?.ok_or_else(|| {
        let diags = match hlo_parser::parse_module(text) {
            Ok(module) => hlo_ir::verify::verify(&module),
            Err(diags) => diags,
        };
        let source = hlo_ir::diag::Source { name: "random".into(), text: text.into() };
        diags.iter().take(1).map(|d| hlo_ir::diag::render(d, &source, false)).collect()
    })
}

/// Checks a property of the module of every seed. Panics with the smallest failing module that shrinking
/// finds.
fn for_each_seed(property: impl Fn(u64, &Program) -> check::Check) {
    let mut failures = Vec::new();
    for seed in seeds() {
        let random = program(seed, options(seed));
        if let Err(first) = property(seed, &random) {
            // The smaller module must fail for the same reason: the code of an error, or the first words.
            let reason = |finding: &str| finding.chars().take(12).collect::<String>();
            let small = random.shrink(|p| property(seed, p).is_err_and(|f| reason(&f) == reason(&first)));
            let why = property(seed, &small).err().unwrap_or_default();
            failures.push(format!("seed {seed}:\n{why}\n{}", small.text(style(seed))));
            if failures.len() == 3 {
                break;
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n----\n"));
}

#[test]
fn are_valid_and_read_back() {
    for_each_seed(|seed, p| read(&p.text(style(seed))).map(drop));
}

#[test]
fn infer_the_shapes_that_are_left_out() {
    for_each_seed(|_, p| {
        let written = read(&p.text(Style::default()))?;
        let inferred = read(&p.text(Style { omit_shapes: true, ..Style::default() }))?;
        // An inferred layout may depend on those of the operands.
        let without_layouts = PrintOptions { layouts: false, ..PrintOptions::default() };
        let [written, inferred] = [written, inferred].map(|m| print_module(&m, &without_layouts));
        if written == inferred {
            Ok(())
        } else {
            Err(format!("left out, {}", check::first_difference(&written, &inferred)))
        }
    });
}

#[test]
fn print_the_same_from_every_style() {
    for_each_seed(|seed, p| {
        let print = |style| Ok(print_module(&read(&p.text(style))?, &PrintOptions::default()));
        let plain: check::Check<String> = print(Style { layouts: seed % 2 == 1, ..Style::default() });
        let styled =
            print(Style { layouts: seed % 2 == 1, percent: true, operand_shapes: true, ..Style::default() })?;
        let plain = plain?;
        if plain == styled { Ok(()) } else { Err(check::first_difference(&plain, &styled)) }
    });
}

/// Passes move conversions and ranges of values through operands that the table names as moved.
#[test]
fn moved_elements_keep_their_type() {
    for_each_seed(|seed, p| {
        let module = read(&p.text(style(seed)))?;
        for id in module.computations().flat_map(|c| module[c].instructions().to_vec()) {
            let Some(result) = module[id].shape.as_array() else { continue };
            let moves = module[id].opcode().traits().moves;
            for (n, &operand) in module[id].operands.iter().enumerate().filter(|&(n, _)| moves.contains(n)) {
                let Some(moved) = module[operand].shape.as_array() else { continue };
                let (from, to) = (moved.element_type, result.element_type);
                if from != to && !(from.is_float() && to.is_float()) {
                    return Err(format!("{} moves operand {n} from {from} to {to}", module[id].opcode()));
                }
            }
        }
        Ok(())
    });
}

#[test]
fn have_every_opcode_with_every_attribute() {
    let mut found: BTreeSet<String> = BTreeSet::new();
    for seed in 0..20 * Opcode::ALL.len() as u64 {
        let random = program(seed, options(seed));
        for line in random.computations.iter().flat_map(|c| &c.lines) {
            found.insert(line.opcode.name().into());
            found.extend(line.attributes.iter().map(|(name, _)| format!("{} {name}", line.opcode)));
            found.extend(line.attributes.iter().map(|(name, _)| format!("* {name}")));
            if !line.control.is_empty() {
                found.insert("* control-predecessors".into());
            }
        }
        found.extend(random.header.iter().map(|(name, _)| format!("header {name}")));
    }
    let mut missing: Vec<String> =
        COMMON_ATTRIBUTES.iter().filter(|name| !found.contains(**name)).map(ToString::to_string).collect();
    for &opcode in Opcode::ALL {
        if !found.contains(opcode.name()) {
            missing.push(opcode.name().to_string());
        }
        let op = opcode.default_op();
        for field in op.attrs().map_or(&[][..], |a| a.fields()) {
            let own = format!("{opcode} {}", field.name);
            if !found.contains(&own) && !UNGENERATED_ATTRIBUTES.contains(&own.as_str()) {
                missing.push(own);
            }
        }
    }
    assert!(missing.is_empty(), "never drawn: {}", missing.join(", "));
}

/// Attributes that occur in every instruction, and in the header.
const COMMON_ATTRIBUTES: &[&str] = &[
    "* backend_config",
    "* control-predecessors",
    "* frontend_attributes",
    "* metadata",
    "* origin",
    "* parameter_replication",
    "* result_accuracy",
    "* sharding",
    "* statistics",
    "header alias_passthrough_params",
    "header allow_spmd_sharding_propagation_to_output",
    "header allow_spmd_sharding_propagation_to_parameters",
    "header buffer_donor",
    "header entry_computation_layout",
    "header frontend_attributes",
    "header input_output_alias",
    "header is_scheduled",
    "header num_partitions",
    "header origin_recovery_table",
    "header replica_count",
];

/// Attributes that no random module has. The text format has them, but XLA's current parser does not read
/// them.
const UNGENERATED_ATTRIBUTES: &[&str] = &[
    "topk is_stable",
    "convolution algorithm",
    "async-done async_execution_thread",
    "async-done calls",
    "async-done output_to_operand_aliasing",
    "async-update async_execution_thread",
    "async-update calls",
    "async-update output_to_operand_aliasing",
    "collective-broadcast has_dynamic_root",
    "ragged-all-to-all dimensions",
];

#[test]
fn are_the_same_for_the_same_seed() {
    for seed in [0, 17, 1 << 40] {
        let text = || program(seed, Options::default()).text(Style::default());
        assert_eq!(text(), text());
    }
}
