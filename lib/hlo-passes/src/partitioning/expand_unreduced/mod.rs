//! `expand-unreduced`: replaces values that are stored as summands on devices by manual regions, in which
//! each device has an array of its own. Inserts exchanges where the whole values are needed.
//!
//! ```text
//! d = f32[4,5] dot(x, w), …, sharding={unreduced}        d = f32[4,5] dot(part of x, part of w), …, sharding={manual}
//! ROOT n = f32[4,5] abs(d)                          →    s = f32[4,5] all-reduce(d), …, sharding={manual}
//!                                                        f = f32[4,5] custom-call(s), … "SPMDShardToFullShape"
//!                                                        ROOT n = f32[4,5] abs(f)
//! ```
//!
//! A value with the sharding `unreduced` is the sum of the devices' summands. So are the results of
//! operations that are linear in such values, including loop states ([`flow`], [`linear`]). These operations
//! work on the summands. All other operations need the sum.
//!
//! A product or a sum with the sharding `unreduced` is computed in parts. For any other value with this
//! sharding, the first device of each group has the whole value, and the others zeros ([`exchange`]).
//!
//! `sharding-propagation` and `spmd-partitioning` run later and need not handle summands.

mod exchange;
mod flow;
mod linear;

use super::channels::Channels;
use super::factors::Factors;
use super::sharding_propagation::forwards_device_array;
use crate::control_flow::flatten_call_graph::flatten_control_flow;
use crate::pass_info::{PassInfo, Preservation};
use crate::rewrites::Rewrites;
use crate::simplification::dce::remove_unneeded;
use crate::support::combiner::Combiners;
use flow::{Annotation, Flow, State, has_summands};
use hlo_ir::attr::{Sharding, ShardingKind, SingleSharding, Summands, TileAssignment};
use hlo_ir::build::{Build, ComputationNamer};
use hlo_ir::diag::Diag;
use hlo_ir::{ComputationId, InstrId, Module, Op, Shape};
use std::collections::HashMap;
use std::sync::Arc;

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "expand-unreduced",
    summary: "replace `unreduced` shardings by summands on each device, and collectives that add them",
    keeps: Preservation::Values,
    example: "\
HloModule expand_unreduced, num_partitions=2

ENTRY e {
  x = f32[4,6] parameter(0), sharding={devices=[1,2]<=[2]}
  w = f32[6,8] parameter(1), sharding={devices=[2,1]<=[2]}
  d = f32[4,8] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, sharding={unreduced}
  n = f32[4,8] negate(d)
  ROOT r = f32[4,8] copy(n), sharding={replicated}
}
",
    build: |_, _| Box::new(run),
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, _: &mut Rewrites) -> Result<bool, Diag> {
    let Some(devices) = usize::try_from(module.header.num_partitions.0).ok().filter(|&n| n > 1) else {
        return Ok(false);
    };
    // The analysis visits a computation once for each caller. So check whether there are summands first, and
    // then give each caller its own copy.
    if !has_summands(module, devices)? {
        return Ok(false);
    }
    flatten_control_flow(module)?;
    let flow = Flow::of(module, devices)?;
    let mut expansion = Expansion {
        devices,
        channels: Channels::of(module),
        namer: ComputationNamer::new(module),
        combiners: Combiners::default(),
        to: module.entry(),
        at: module[module.entry()].root(),
        arguments: HashMap::new(),
        now: HashMap::new(),
        sums: HashMap::new(),
        flow,
        module,
    };
    expansion.run();
    remove_unneeded(module);
    Ok(true)
}

struct Expansion<'m> {
    module: &'m mut Module,
    flow: Flow,
    devices: usize,
    channels: Channels,
    namer: ComputationNamer,
    combiners: Combiners,
    /// The computation in which instructions are replaced, and the current instruction.
    to: ComputationId,
    at: InstrId,
    /// The arguments of the parameters of called computations.
    arguments: HashMap<InstrId, InstrId>,
    /// The replacement that the users of an instruction receive.
    now: HashMap<InstrId, InstrId>,
    /// The sums of values, by value and requested sharding.
    sums: HashMap<(InstrId, Option<TileAssignment>), InstrId>,
}

/// The form in which an instruction takes an operand.
enum OperandForm {
    /// Unchanged.
    AsIs,
    /// In these states.
    As(Vec<State>),
    /// As a value that all of these summands share.
    ForAll(Summands),
}

impl Build for Expansion<'_> {
    fn add(&mut self, shape: impl Into<Shape>, op: Op, operands: &[InstrId]) -> InstrId {
        self.module.add_like_in(self.to, self.at, shape, op, operands.iter().copied())
    }

    fn shape_of(&self, id: InstrId) -> Shape {
        self.module[id].shape.clone()
    }
}

impl Expansion<'_> {
    fn run(&mut self) {
        let mut results: HashMap<ComputationId, Vec<State>> = HashMap::new();
        let reached: Vec<ComputationId> =
            self.module.computations().filter(|&c| self.is_reached(c)).collect();
        for &c in &reached {
            for &id in self.module[c].instructions() {
                match &self.module[id].op {
                    Op::While(a) => {
                        results.insert(a.body, self.flow.produced_states(id).to_vec());
                    }
                    Op::Conditional(a) => {
                        results.extend(
                            a.branches().iter().map(|&b| (b, self.flow.produced_states(id).to_vec())),
                        );
                    }
                    Op::Call(a) => {
                        results.insert(a.to_apply, self.flow.produced_states(id).to_vec());
                        let parameters = self.module.parameters(a.to_apply);
                        self.arguments.extend(parameters.into_iter().zip(self.module[id].operands.clone()));
                    }
                    _ => {}
                }
            }
        }
        let root = self.module[self.module.entry()].root();
        let written = |n| match self.flow.annotation(root, n) {
            Annotation::Summands(s) => Some(s.clone()),
            _ => None,
        };
        let leaves = self.module[root].shape.leaf_count();
        results.insert(self.module.entry(), (0..leaves).map(written).collect());
        for c in reached {
            self.computation(c, results.remove(&c));
        }
    }

    fn is_reached(&self, c: ComputationId) -> bool {
        self.module.has_root(c) && self.flow.nodes.contains_key(&self.module[c].root())
    }

    fn computation(&mut self, c: ComputationId, result: Option<Vec<State>>) {
        self.to = c;
        for id in self.module.post_order(c) {
            self.at = id;
            self.instruction(id);
        }
        let root = self.module[c].root();
        self.at = root;
        let have = self.flow.received_states(root).to_vec();
        let want = result.unwrap_or_else(|| vec![None; have.len()]);
        let value = self.now.get(&root).copied().unwrap_or(root);
        let value = self.converted(value, &have, &want);
        if value != root {
            self.module.set_root(c, value);
        }
    }

    fn instruction(&mut self, id: InstrId) {
        let operands = self.module[id].operands.clone();
        let taken: Vec<OperandForm> = (0..operands.len()).map(|n| self.operand_form(id, n)).collect();
        for (n, (&o, taken)) in operands.iter().zip(taken).enumerate() {
            let now = self.now.get(&o).copied().unwrap_or(o);
            let new = match taken {
                OperandForm::AsIs => now,
                OperandForm::As(want) => {
                    let have = self.flow.received_states(o).to_vec();
                    self.converted(now, &have, &want)
                }
                OperandForm::ForAll(summands) => self.for_all(now, &summands),
            };
            if new != o {
                self.module.replace_operand(id, n, new);
            }
        }
        let (given, wanted) =
            (self.flow.produced_states(id).to_vec(), self.flow.received_states(id).to_vec());
        self.annotate(id, &given, id);
        let changed = given.iter().zip(&wanted).any(|(a, b)| !same(a, b));
        if changed {
            let new = self.convert_to_annotation(id, &given, &wanted);
            self.now.insert(id, new);
        }
    }

    /// Returns the form in which an instruction takes an operand.
    fn operand_form(&self, id: InstrId, n: usize) -> OperandForm {
        let operands = &self.module[id].operands;
        let there =
            |n: usize| operands.get(n).is_some_and(|&o| matches!(self.flow.received_states(o), [Some(_)]));
        let given = self.flow.produced_states(id);
        match &self.module[id].op {
            Op::Tuple => {
                let count = |&o: &InstrId| self.module[o].shape.leaf_count();
                let start: usize = operands[..n].iter().map(count).sum();
                let own = given.get(start..start + count(&operands[n])).unwrap_or_default();
                return OperandForm::As(own.to_vec());
            }
            Op::While(_) => return OperandForm::As(given.to_vec()),
            Op::Conditional(_) if n > 0 => return OperandForm::AsIs,
            Op::GetTupleElement(_) | Op::Call(_) | Op::OptBarrier | Op::AddDependency | Op::Domain(_) => {
                return OperandForm::AsIs;
            }
            Op::CustomCall(_)
                if forwards_device_array(self.module, id) || self.flow.is_own(self.module, id) =>
            {
                return OperandForm::AsIs;
            }
            _ => {}
        }
        match (given, linear::summand_operands(self.module, id, there)) {
            ([Some(_)], Some(taken)) if taken.get(n) == Some(&true) => OperandForm::AsIs,
            ([Some(own)], Some(_)) => OperandForm::ForAll(self.of_operand(id, n, own)),
            _ => OperandForm::As(vec![None; self.module[operands[n]].shape.leaf_count()]),
        }
    }

    /// Returns the summands of a result in terms of the dimensions of an operand.
    fn of_operand(&self, id: InstrId, n: usize, result: &Summands) -> Summands {
        let rank = self.module[self.module[id].operands[n]].shape.as_array().map_or(0, |a| a.rank());
        let factors = Factors::of(self.module, id);
        match factors.as_ref().and_then(|f| Some((f, f.operands.get(n)?))) {
            Some((factors, walk)) => partition_of_summands(factors, &factors.result, result).select(walk),
            None => result.whole(rank),
        }
    }

    /// Writes the sharding of a value of which a leaf is summands or was annotated as summands.
    fn annotate(&mut self, id: InstrId, states: &[State], as_said_of: InstrId) {
        let is_said = |n| matches!(self.flow.annotation(as_said_of, n), Annotation::Summands(_));
        if !states.iter().enumerate().any(|(n, s)| s.is_some() || is_said(n)) {
            return;
        }
        let leaf = |(n, state): (usize, &State)| match (state, self.flow.annotation(as_said_of, n)) {
            (Some(summands), _) => summands.own.to_kind(),
            (None, Annotation::Plain(tiling)) => tiling.to_kind(),
            // The sharding of the whole value before it is converted to summands is left open.
            (None, Annotation::None | Annotation::Summands(_)) => ShardingKind::Unknown,
        };
        let mut leaves = states.iter().enumerate().map(leaf);
        let sharding = if self.module[id].shape.is_tuple() {
            Sharding::Tuple(leaves.map(single).collect())
        } else {
            Sharding::single(leaves.next().unwrap_or_default())
        };
        self.module.common_mut(id).sharding = Some(sharding);
    }

    /// Converts a value to other states.
    fn converted(&mut self, id: InstrId, have: &[State], want: &[State]) -> InstrId {
        if have.iter().zip(want).all(|(a, b)| same(a, b)) {
            return id;
        }
        match self.module[id].shape.clone() {
            Shape::Tuple(parts) => {
                let mut at = 0;
                let mut elements = Vec::with_capacity(parts.len());
                for (n, part) in parts.iter().enumerate() {
                    let leaves = at..at + part.leaf_count();
                    at = leaves.end;
                    let (have, want) = (&have[leaves.clone()], &want[leaves]);
                    let Some(element) = self.element(id, n) else { return id };
                    self.annotate(element, have, element);
                    elements.push(self.converted(element, have, want));
                }
                let tuple = self.tuple(&elements);
                self.annotate(tuple, want, tuple);
                tuple
            }
            Shape::Array(_) => {
                let whole = match have {
                    [Some(own), ..] => self.summed(id, own, None),
                    _ => id,
                };
                match want {
                    [Some(wanted), ..] => self.summands(whole, wanted),
                    _ => whole,
                }
            }
            _ => id,
        }
    }

    /// Converts the result of an instruction to the annotated states. The sum of an array gets the annotated
    /// sharding.
    fn convert_to_annotation(&mut self, id: InstrId, given: &[State], wanted: &[State]) -> InstrId {
        match (given, wanted, self.flow.annotation(id, 0)) {
            ([Some(own)], [None], Annotation::Plain(tiling)) => {
                let tiling = tiling.clone();
                self.summed(id, own, Some(&tiling))
            }
            _ => {
                let new = self.converted(id, given, wanted);
                self.annotate(new, wanted, id);
                new
            }
        }
    }
}

/// Converts the summands of an array to a partition of the factors.
fn partition_of_summands(
    factors: &Factors,
    walk: &super::factors::DimensionFactors,
    of: &Summands,
) -> Summands {
    let lifted = Summands { own: factors.lift(walk, &of.own), summed: factors.lift(walk, &of.summed) };
    lifted.or_whole(factors.factors.len())
}

/// Returns whether two states are equal, ignoring how the devices' arrays are split.
fn same(a: &State, b: &State) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => a.has_same_devices(b),
        _ => false,
    }
}

fn single(kind: ShardingKind) -> Arc<SingleSharding> {
    Arc::new(SingleSharding { kind, group: None, metadata: Vec::new() })
}
