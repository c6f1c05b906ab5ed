//! Custom calls that an external function partitions (`jax.custom_partitioning`): replaces each by a manual
//! region, in which each device has arrays of its own.
//!
//! ```text
//! y = f32[8,4] custom-call(x), …          p = f32[8,4] custom-call(x), … "Sharding", sharding={…}     as the function wants it
//!                                    →    l = f32[2,4] custom-call(p), … "SPMDFullToShardShape", sharding={manual}
//!                                         …                                                          what it says each device does
//!                                         y = f32[8,4] custom-call(r), … "SPMDShardToFullShape", sharding={…}
//! ```
//!
//! This runs after `sharding-propagation`, because the functions ask for the shardings of values, and before
//! `spmd-partitioning`, which does not know about such calls.

use super::channels::Channels;
use super::tilings::tilings;
use crate::simplification::dce::remove_unneeded;
use crate::support::clone::inline_computation;
use hlo_ir::attr::{Sharding, ShardingKind, TileAssignment};
use hlo_ir::build::{Build, ComputationNamer};
use hlo_ir::diag::Diag;
use hlo_ir::{ComputationId, InstrId, Module, Op, Shape};
use std::collections::HashMap;
use std::fmt::Debug;

/// A value and its sharding.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The shape of the whole value.
    pub shape: Shape,
    /// The sharding, for each leaf of a tuple.
    pub sharding: Sharding,
}

/// A custom call to partition.
#[derive(Clone, Debug)]
pub struct CustomPartition<'m> {
    /// The target of the call.
    pub target: &'m str,
    /// The `backend_config` of the call.
    pub config: &'m [u8],
    /// The operands, which are arrays.
    pub operands: Vec<Placed>,
    /// The result: an array, or a tuple of arrays.
    pub result: Placed,
}

/// The replacement of a custom call on each device.
#[derive(Clone, Debug)]
pub struct Partitioned {
    /// A verified module. Its entry takes a device's parts of the operands and returns the device's part of
    /// the result.
    pub module: Module,
    /// The required shardings of the operands.
    pub operands: Vec<Sharding>,
    /// The sharding of the result.
    pub result: Sharding,
}

/// A function that partitions custom calls.
pub trait CustomPartitioner: Debug + Send + Sync {
    /// Whether it partitions calls with this target.
    fn partitions(&self, target: &str) -> bool;

    /// Returns the replacement of a call.
    ///
    /// # Errors
    /// The reason why the call cannot be partitioned.
    fn partition(&self, call: &CustomPartition<'_>) -> Result<Partitioned, String>;
}

/// Returns whether a module contains custom calls that `partitioner` partitions.
pub fn has_custom_partitions(module: &Module, partitioner: &dyn CustomPartitioner) -> bool {
    module.computations().any(|c| module[c].instructions().iter().any(|&i| is_of(module, i, partitioner)))
}

fn is_of(module: &Module, id: InstrId, partitioner: &dyn CustomPartitioner) -> bool {
    let Op::CustomCall(a) = &module[id].op else { return false };
    a.custom_call_target.as_str().is_some_and(|target| partitioner.partitions(target))
}

/// Replaces the custom calls that `partitioner` partitions. The shardings of the module must have been
/// propagated. Returns whether there were any such calls.
///
/// # Errors
/// A call cannot be partitioned, or its replacement does not match it. The error points at the call.
pub fn expand_custom_partitions(
    module: &mut Module,
    partitioner: &dyn CustomPartitioner,
) -> Result<bool, Diag> {
    let devices = usize::try_from(module.header.num_partitions.0).unwrap_or(1);
    let every = module.computations().flat_map(|c| module[c].instructions().iter().copied());
    let calls: Vec<InstrId> = every.filter(|&i| is_of(module, i, partitioner)).collect();
    let Some(&first) = calls.first() else { return Ok(false) };
    let (namer, channels) = (ComputationNamer::new(module), Channels::of(module));
    let mut inserting = ProgramInserter { namer, channels, module, at: first };
    for &id in &calls {
        inserting.at = id;
        inserting.expand(devices, partitioner).map_err(|e| match e {
            ExpansionError::Sharding(diag) => diag,
            ExpansionError::Call(why) => {
                Diag::error(why).at(inserting.module.span(id), "this call can't be partitioned")
            }
        })?;
    }
    let every = module.computations().flat_map(|c| module[c].instructions().iter().copied());
    if let Some(inner) = every.into_iter().find(|&i| is_of(module, i, partitioner)) {
        let why = "expected a program of one device, found a call in it that is to be partitioned";
        return Err(Diag::error(why).at(module.span(inner), "this call can't be partitioned"));
    }
    remove_unneeded(module);
    Ok(true)
}

/// The reason why a call was not expanded.
enum ExpansionError {
    /// An invalid sharding.
    Sharding(Diag),
    /// An error of the call or of its replacement.
    Call(String),
}

impl From<String> for ExpansionError {
    fn from(why: String) -> Self {
        Self::Call(why)
    }
}

/// Builds the sharding of a value from those of its leaves.
fn sharding_of_leaves(shape: &Shape, kinds: impl Iterator<Item = ShardingKind>) -> Sharding {
    let mut each = kinds.map(Sharding::single);
    match shape {
        Shape::Tuple(_) => Sharding::Tuple(each.flat_map(|s| s.leaves().to_vec()).collect()),
        _ => each.next().unwrap_or_default(),
    }
}

/// Returns the tile assignments of the leaves of a value.
fn cuts(shape: &Shape, shardings: &[Sharding], devices: usize) -> Result<Vec<TileAssignment>, String> {
    let leaves = shape.leaves();
    let said: Vec<_> = shardings.iter().flat_map(|s| s.leaves()).collect();
    if said.len() != leaves.len() {
        return Err(format!("expected {} shardings, found {}", leaves.len(), said.len()));
    }
    let cut = |(one, leaf): (_, &&Shape)| -> Result<TileAssignment, String> {
        let rank = leaf.as_array().map_or(0, |a| a.rank());
        let found = TileAssignment::of(one, rank, devices)?;
        Ok(found.unwrap_or_else(|| TileAssignment::replicated(rank, devices)))
    };
    said.into_iter().map(|one| &**one).zip(&leaves).map(cut).collect()
}

/// The tile assignments of the operands and the result of a call, leaf by leaf.
struct CallTilings {
    operands: Vec<TileAssignment>,
    result: Vec<TileAssignment>,
    /// The shardings that the program requires for the result.
    wanted: Vec<ShardingKind>,
}

impl CallTilings {
    /// Checks that a module takes a device's parts of the operands and returns its part of the result.
    fn check(&self, module: &Module, operands: &[&Shape], result: &Shape) -> Result<(), String> {
        let (parameters, root) = module.entry_shapes();
        if parameters.len() != operands.len() {
            let (expected, found) = (operands.len(), parameters.len());
            return Err(format!(
                "expected a program of {expected} parameters for each device, found {found}"
            ));
        }
        let taken = parameters.into_iter().zip(operands.iter().zip(&self.operands));
        let taken = taken.map(|(found, (whole, cut))| ("parameters", found, *whole, cut));
        let (given, wholes) = (root.leaves(), result.leaves());
        if given.len() != wholes.len() || root.is_tuple() != result.is_tuple() {
            return Err(format!("expected a program that gives {result}, found {root}"));
        }
        let given = given.into_iter().zip(wholes.into_iter().zip(&self.result));
        let given = given.map(|(found, (whole, cut))| ("results", found, whole, cut));
        for (what, found, whole, cut) in taken.chain(given) {
            let expected = part(whole, cut);
            if !expected.compatible(found) {
                return Err(format!("expected {what} of shape {expected} on each device, found {found}"));
            }
        }
        Ok(())
    }
}

/// Returns the shape of a device's part of an array.
fn part(whole: &Shape, cut: &TileAssignment) -> Shape {
    whole
        .as_array()
        .map_or_else(|| whole.clone(), |a| a.with_sizes(&cut.shard(&a.dims)).into())
        .without_layout()
}

/// Inserts the program of one device into a module, in place of an instruction.
struct ProgramInserter<'m> {
    module: &'m mut Module,
    namer: ComputationNamer,
    channels: Channels,
    at: InstrId,
}

impl Build for ProgramInserter<'_> {
    fn add(&mut self, shape: impl Into<Shape>, op: Op, operands: &[InstrId]) -> InstrId {
        self.module.add_like(self.at, shape, op, operands.iter().copied())
    }

    fn shape_of(&self, id: InstrId) -> Shape {
        self.module[id].shape.clone()
    }
}

impl ProgramInserter<'_> {
    /// Replaces the call.
    fn expand(&mut self, devices: usize, partitioner: &dyn CustomPartitioner) -> Result<(), ExpansionError> {
        let (module, id) = (&*self.module, self.at);
        let operands = module[id].operands.to_vec();
        let is_static = |shape: &Shape| shape.as_array().is_some_and(|a| a.is_static());
        let placed = |id: InstrId| -> Result<Placed, ExpansionError> {
            let kinds = tilings(module, id, devices).map_err(ExpansionError::Sharding)?;
            let shape = module[id].shape.clone();
            let is_result = !operands.contains(&id);
            let parts = shape.as_tuple().filter(|_| is_result).unwrap_or(std::slice::from_ref(&shape));
            if !parts.iter().all(is_static) {
                return Err(format!("expected arrays of sizes that are known, found {shape}").into());
            }
            let kinds = kinds.into_iter().map(|k| k.map_or(ShardingKind::Replicated, |t| t.to_kind()));
            Ok(Placed { sharding: sharding_of_leaves(&shape, kinds), shape })
        };
        let Op::CustomCall(attrs) = &module[id].op else { return Ok(()) };
        let call = CustomPartition {
            target: attrs.custom_call_target.as_str().unwrap_or_default(),
            config: module[id].common.as_ref().map_or(&[], |c| c.backend_config.as_bytes()),
            operands: operands.iter().map(|&o| placed(o)).collect::<Result<_, _>>()?,
            result: placed(id)?,
        };
        let shapes: Vec<Shape> = call.operands.iter().map(|o| o.shape.clone()).collect();
        let partitioned = partitioner.partition(&call)?;
        let result = module[id].shape.clone();
        let ends = CallTilings {
            wanted: call.result.sharding.leaves().iter().map(|one| one.kind.clone()).collect(),
            operands: cuts(&Shape::tuple(shapes), &partitioned.operands, devices)?,
            result: cuts(&result, std::slice::from_ref(&partitioned.result), devices)?,
        };
        ends.check(
            &partitioned.module,
            &operands.iter().map(|&o| &module[o].shape).collect::<Vec<_>>(),
            &result,
        )?;
        self.insert(&partitioned, &ends)
    }

    fn insert(&mut self, partitioned: &Partitioned, ends: &CallTilings) -> Result<(), ExpansionError> {
        let mut parts = Vec::with_capacity(ends.operands.len());
        for (o, cut) in self.module[self.at].operands.clone().into_iter().zip(&ends.operands) {
            let shape = self.shape_of(o);
            let local = part(&shape, cut);
            let placed = self.call("Sharding", shape, o, cut.to_kind());
            parts.push(self.call("SPMDFullToShardShape", local, placed, ShardingKind::Manual));
        }
        let entry = self.copied(&partitioned.module);
        let to = self.module[self.at].parent;
        let made = inline_computation(self.module, &mut self.namer, entry, to, &parts);
        let made = made.ok_or_else(|| "internal error: parameters are missing".to_string())?;
        let whole = self.shape_of(self.at);
        let result = match &whole {
            Shape::Tuple(leaves) => {
                let mut elements = Vec::with_capacity(leaves.len());
                for (n, leaf) in leaves.iter().enumerate() {
                    let element = self.element(made, n);
                    let element = element.ok_or_else(|| "internal error: a result is missing".to_string())?;
                    self.is_manual(element);
                    elements.push(self.join_device_parts(leaf.clone(), element, ends, n));
                }
                let tuple = self.tuple(&elements);
                let sharding = self.module[self.at].sharding().cloned();
                self.module.common_mut(tuple).sharding = sharding;
                tuple
            }
            _ => self.join_device_parts(whole, made, ends, 0),
        };
        self.module.replace_all_uses_with(self.at, result);
        self.module.remove(self.at);
        Ok(())
    }

    /// Converts a device's part of a result to an array of the whole program, in the sharding that the
    /// program requires.
    fn join_device_parts(
        &mut self,
        shape: Shape,
        made: InstrId,
        ends: &CallTilings,
        number: usize,
    ) -> InstrId {
        let kind = ends.result.get(number).map_or(ShardingKind::Replicated, TileAssignment::to_kind);
        let whole = self.call("SPMDShardToFullShape", shape.clone(), made, kind.clone());
        match ends.wanted.get(number) {
            Some(wanted) if *wanted != kind => self.call("Sharding", shape, whole, wanted.clone()),
            _ => whole,
        }
    }

    /// Adds a custom call with a sharding.
    fn call(&mut self, target: &str, shape: Shape, id: InstrId, kind: ShardingKind) -> InstrId {
        let made = self.add(shape, Op::custom_call(target), &[id]);
        self.module.common_mut(made).sharding = Some(Sharding::single(kind));
        made
    }

    /// Marks a value as manual: each device has an array of its own.
    fn is_manual(&mut self, id: InstrId) {
        let manual = Sharding::single(ShardingKind::Manual).for_shape(&self.module[id].shape);
        self.module.common_mut(id).sharding = Some(manual);
    }

    /// Copies the computations of another module, and returns the copy of its entry. Collectives get new
    /// channel ids.
    fn copied(&mut self, from: &Module) -> ComputationId {
        let mut computations: HashMap<ComputationId, ComputationId> = HashMap::new();
        let mut channels: HashMap<i64, Option<i64>> = HashMap::new();
        for c in from.computations_post_order() {
            let name = self.namer.fresh(&from[c].name);
            let to = self.module.add_computation(&name);
            self.module[to].execution_thread = from[c].execution_thread.clone();
            let mut copies: HashMap<InstrId, InstrId> = HashMap::new();
            for i in from.post_order(c) {
                let mut op = from[i].op.clone();
                if let Some(attrs) = op.attrs_mut() {
                    attrs.for_each_computation_mut(&mut |callee| {
                        *callee = computations.get(callee).copied().unwrap_or(*callee);
                    });
                }
                if let Some(channel) = op.channel_mut()
                    && let Some(number) = *channel
                {
                    *channel = *channels.entry(number).or_insert_with(|| self.channels.channel());
                }
                let operands: Vec<InstrId> =
                    from[i].operands.iter().filter_map(|o| copies.get(o)).copied().collect();
                let copy = self.module.add_like_in(to, self.at, from[i].shape.clone(), op, operands);
                if let Some(common) = from[i].common.as_deref() {
                    let own = self.module.common_mut(copy);
                    own.backend_config = common.backend_config.clone();
                    own.frontend_attributes = common.frontend_attributes.clone();
                    own.result_accuracy = common.result_accuracy;
                    let before = common.control_predecessors.iter().filter_map(|p| copies.get(p));
                    own.control_predecessors = before.copied().collect();
                }
                self.is_manual(copy);
                copies.insert(i, copy);
            }
            if let Some(&root) = copies.get(&from[c].root()) {
                self.module.set_root(to, root);
            }
            computations.insert(c, to);
        }
        computations.get(&from.entry()).copied().unwrap_or_else(|| self.module.entry())
    }
}
