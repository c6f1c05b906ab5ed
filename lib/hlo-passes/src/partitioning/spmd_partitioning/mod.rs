//! `spmd-partitioning`: turns a program for `num_partitions` devices into the program that each device runs
//! on its parts of the arrays, according to the shardings.
//!
//! ```text
//! x = f32[8,4] parameter(0), sharding={devices=[2,1]<=[2]}    →    x = f32[4,4] parameter(0), sharding=…
//! s = f32[4] reduce(x, zero), dimensions={0}, …                    p = f32[4] reduce(x, zero), dimensions={0}, …
//!                                                                  s = f32[4] all-reduce(p), replica_groups={{0,1}}, …
//! ```
//!
//! A value without a sharding is replicated; run `sharding-propagation` first. If the number of tiles does
//! not divide a dimension, all tiles have the size of the largest. The padding of the last tiles has
//! unspecified contents, and is masked where it would affect the result. Operations that cannot be
//! partitioned are computed in full on each device, on gathered operands.
//!
//! [`plan`] finds the collectives that convert a value from one sharding to another. [`by_factors`]
//! partitions the operations whose parts are the same operation on parts. Other operations have their own
//! files.

mod alternatives;
mod by_factors;
mod collectives;
mod control_flow;
mod custom_calls;
mod cutting;
mod halo;
mod hoisting;
mod indexing;
mod instructions;
mod movement;
mod partial;
mod partitioner;
mod plan;
mod random;
mod resharding;
mod value;

use super::tilings::{invalid_sharding, tilings};
use crate::pass_info::{PassInfo, Preservation};
use crate::rewrites::Rewrites;
use crate::simplification::dce::remove_unneeded_and;
use hlo_ir::attr::{ShardingKind, TileAssignment};
use hlo_ir::diag::Diag;
use hlo_ir::{InstrId, Module, Op, Shape};
use partitioner::Partitioner;

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "spmd-partitioning",
    summary: "turn the program for all devices into the program of one device, according to its shardings",
    keeps: Preservation::Values,
    example: "\
HloModule spmd_partitioning, num_partitions=2

ENTRY e {
  x = f32[4,6] parameter(0), sharding={devices=[1,2]<=[2]}
  w = f32[6,8] parameter(1), sharding={devices=[2,1]<=[2]}
  ROOT d = f32[4,8] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, sharding={replicated}
}
",
    lacks: without_partitions,
    build: |_, _| Box::new(run),
    ..PassInfo::PLAIN
};

/// Returns a warning if a module has shardings but only one device.
fn without_partitions(module: &Module) -> Option<Diag> {
    let count = module.header.num_partitions.0;
    if count > 1 {
        return None;
    }
    let is_cut = |id: &&InstrId| {
        let leaves = module[**id].sharding().map_or(&[][..], |s| s.leaves());
        leaves.iter().any(|leaf| matches!(leaf.kind, ShardingKind::Tiled(_) | ShardingKind::Named(_)))
    };
    let first = module.computations().find_map(|c| module[c].instructions().iter().find(is_cut))?;
    let message = format!(
        "pass `{}` leaves module `{}` as it is: it has shardings, but is for one device",
        INFO.name, module.name
    );
    let diag = Diag::warning(message).at(module.span(*first), "the first value with a sharding");
    Some(diag.note(
        "`HloModule NAME, num_partitions=2` says how many devices there are; `hlo-run` takes --num-partitions",
    ))
}

fn run(module: &mut Module, _: &mut Rewrites) -> Result<bool, Diag> {
    if module.header.num_partitions.0 < 2 {
        return Ok(false);
    }
    let partitioner = Partitioner::new(module);
    check(partitioner.module, partitioner.devices)?;
    partition(partitioner)?;
    Ok(true)
}

/// Checks all shardings of the program. Parameters and results of the program need a sharding that defines a
/// part for each device.
fn check(module: &Module, devices: usize) -> Result<(), Diag> {
    for c in module.computations() {
        for &id in module[c].instructions() {
            tilings(module, id, devices)?;
        }
    }
    let entry = module.entry();
    let root = module[entry].root();
    for id in module.parameters(entry).into_iter().chain([root]) {
        let leaves = module[id].sharding().map_or(&[][..], |s| s.leaves());
        let shape = module[id].shape.leaves();
        for (n, one) in leaves.iter().enumerate() {
            let is_token = shape.get(n).is_some_and(|leaf| leaf.as_array().is_none());
            let why = match one.kind {
                // A result on a single device is computed on all devices.
                ShardingKind::Maximal(_) if id == root || is_token => continue,
                ShardingKind::Maximal(_) => "only one device has it",
                ShardingKind::Unreduced => "each device has a summand of it",
                _ => continue,
            };
            return Err(invalid_sharding(module, id, &format!("{why}, at an end of the program")));
        }
    }
    Ok(())
}

fn partition(mut p: Partitioner<'_>) -> Result<(), Diag> {
    let entry = p.module.entry();
    let numbers = p.module.parameters(entry);
    let parameters: Vec<Vec<TileAssignment>> = numbers.iter().map(|&id| p.required_shardings(id)).collect();
    let root = p.module[entry].root();
    let result = p.required_shardings(root);
    let made = p.computation(entry, &parameters, &result)?;
    update_header(&mut p, &parameters, &result);
    let annotated: Vec<_> = numbers.iter().map(|&id| p.module[id].sharding().cloned()).collect();
    let (module, exchanges) = (p.module, p.exchanges);
    for (id, sharding) in module.parameters(made).into_iter().zip(annotated) {
        if sharding.is_some() {
            module.common_mut(id).sharding = sharding;
        }
    }
    module.set_entry(made);
    // Removes the original program and discarded alternatives. All devices remove the same collectives.
    remove_unneeded_and(module, |id| exchanges.contains(&id));
    drop_shardings(module);
    Ok(())
}

/// Writes the shapes of the parts into the header, and removes aliases between parts of different shapes.
fn update_header(p: &mut Partitioner<'_>, parameters: &[Vec<TileAssignment>], result: &[TileAssignment]) {
    let local =
        |p: &Partitioner<'_>, shape: &Shape, tilings: &[TileAssignment]| p.local_shape(shape, tilings);
    if let Some(mut layout) = p.module.header.entry_computation_layout.take() {
        for (shape, tilings) in layout.parameters.iter_mut().zip(parameters) {
            *shape = local(p, shape, tilings);
        }
        layout.result = local(p, &layout.result, result);
        p.module.header.entry_computation_layout = Some(layout);
    }
    let entry = p.module.entry();
    let root = &p.module[p.module[entry].root()].shape;
    let result = p.local_shape(root, result);
    let arguments: Vec<Shape> = p
        .module
        .parameters(entry)
        .iter()
        .zip(parameters)
        .map(|(&id, tilings)| p.local_shape(&p.module[id].shape, tilings))
        .collect();
    p.module.header.input_output_alias.retain(|alias| {
        let argument = usize::try_from(alias.parameter).ok().and_then(|n| arguments.get(n));
        let argument = argument.and_then(|a| a.part(&alias.parameter_index));
        matches!((argument, result.part(&alias.output)), (Some(a), Some(b)) if a.compatible(b))
    });
}

/// Removes the shardings of all instructions except the entry's parameters.
fn drop_shardings(module: &mut Module) {
    let entry = module.entry();
    let said = |module: &Module, id: InstrId| {
        let parameter = module[id].parent == entry && matches!(module[id].op, Op::Parameter(_));
        module[id].sharding().is_some() && !parameter
    };
    for c in module.computations().collect::<Vec<_>>() {
        for id in module[c].instructions().to_vec() {
            if said(module, id) {
                module.common_mut(id).sharding = None;
            }
        }
    }
}
