//! Finds the values that are available as summands: those with such an annotation, and results of operations
//! that are linear in them.

use super::linear::summand_operands;
use crate::partitioning::factors::Factors;
use crate::partitioning::reshapes::reshaped;
use crate::partitioning::sharding_propagation::forwards_device_array;
use crate::partitioning::tilings::{invalid_sharding, tilings};
use hlo_ir::attr::{Summands, TileAssignment};
use hlo_ir::diag::Diag;
use hlo_ir::{ArrayShape, ComputationId, InstrId, Module, Op};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The summands of a leaf, or `None` if the devices have the array itself.
pub(super) type State = Option<Rc<Summands>>;

/// The annotation of a leaf.
#[derive(Clone, Debug)]
pub(super) enum Annotation {
    /// No annotation.
    None,
    /// The sharding of the array itself.
    Plain(TileAssignment),
    /// The devices have summands.
    Summands(Rc<Summands>),
}

/// The states of a value, leaf by leaf.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    /// The states that the instruction produces.
    pub(super) given: Vec<State>,
    /// The states that its users receive.
    pub(super) wanted: Vec<State>,
}

/// The states of all values.
pub(super) struct Flow {
    devices: usize,
    said: HashMap<InstrId, Vec<Annotation>>,
    pub(super) nodes: HashMap<InstrId, Node>,
    /// The leaves of loop states that do not stay summands.
    plain: HashSet<(InstrId, usize)>,
}

impl Flow {
    /// Analyses a module. No two loops, branches or calls may share a computation.
    pub(super) fn of(module: &Module, devices: usize) -> Result<Self, Diag> {
        let said = written(module, devices)?;
        let mut flow = Self { devices, said, nodes: HashMap::new(), plain: HashSet::new() };
        // Each round finds another such leaf, or is the last.
        loop {
            let found = flow.plain.len();
            let arguments =
                module.parameters(module.entry()).iter().map(|&p| flow.written(module, p)).collect();
            flow.computation(module, module.entry(), arguments);
            if flow.plain.len() == found {
                return Ok(flow);
            }
        }
    }

    /// Returns the annotation of a leaf.
    pub(super) fn annotation(&self, id: InstrId, leaf: usize) -> &Annotation {
        self.said.get(&id).and_then(|leaves| leaves.get(leaf)).unwrap_or(&Annotation::None)
    }

    /// Returns the states of a value that its users receive.
    pub(super) fn received_states(&self, id: InstrId) -> &[State] {
        self.nodes.get(&id).map(|n| &n.wanted[..]).unwrap_or_default()
    }

    /// Returns the states of a value that its instruction produces.
    pub(super) fn produced_states(&self, id: InstrId) -> &[State] {
        self.nodes.get(&id).map(|n| &n.given[..]).unwrap_or_default()
    }

    /// Returns the annotated states of a value.
    fn written(&self, module: &Module, id: InstrId) -> Vec<State> {
        self.annotated_states(id, vec![None; module[id].shape.leaf_count()])
    }

    fn annotated_states(&self, id: InstrId, given: Vec<State>) -> Vec<State> {
        let one = |(n, state)| match self.annotation(id, n) {
            Annotation::None => state,
            Annotation::Plain(_) => None,
            Annotation::Summands(s) => match state {
                Some(own) if own == *s => Some(own),
                _ => Some(s.clone()),
            },
        };
        given.into_iter().enumerate().map(one).collect()
    }

    /// Analyses a computation with these arguments, and returns the states of its result.
    fn computation(&mut self, module: &Module, c: ComputationId, arguments: Vec<Vec<State>>) -> Vec<State> {
        for id in module.post_order(c) {
            let count = module[id].shape.leaf_count();
            let mut given = match &module[id].op {
                Op::Parameter(p) => {
                    let n = usize::try_from(p.number).ok();
                    n.and_then(|n| arguments.get(n)).cloned().unwrap_or_default()
                }
                _ => self.compute_states(module, id),
            };
            given.resize(count, None);
            // A tuple can accept its elements in the annotated states.
            let takes = matches!(module[id].op, Op::Tuple) || self.joins_program(module, id);
            let wanted = self.annotated_states(id, given.clone());
            // The instruction can produce the devices' arrays in the annotated sharding.
            for (given, wanted) in given.iter_mut().zip(&wanted) {
                if takes || wanted.as_ref().is_some_and(|w| goes_on(w, given)) {
                    given.clone_from(wanted);
                }
            }
            self.nodes.insert(id, Node { given, wanted });
        }
        self.received_states(module[c].root()).to_vec()
    }

    /// Returns whether the call converts the devices' arrays to summands of an array of the whole program.
    fn joins_program(&self, module: &Module, id: InstrId) -> bool {
        target(module, id) == Some("SPMDShardToFullShape")
            && matches!(self.annotation(id, 0), Annotation::Summands(_))
            && module[id]
                .operands
                .first()
                .is_some_and(|&o| self.received_states(o).iter().all(Option::is_none))
    }

    /// Returns whether the call converts each device's summand to an array of its own.
    pub(super) fn is_own(&self, module: &Module, id: InstrId) -> bool {
        if target(module, id) != Some("SPMDFullToShardShape") {
            return false;
        }
        let Some(Some(s)) = module[id].operands.first().and_then(|&o| self.received_states(o).first()) else {
            return false;
        };
        let Annotation::Plain(own) = self.annotation(id, 0) else { return true };
        // Devices with different summands must be in different groups.
        let pairs: HashSet<(usize, usize)> = (0..self.devices)
            .filter_map(|device| Some((s.own.place(device)?.group, own.place(device)?.group)))
            .collect();
        let groups: HashSet<usize> = pairs.iter().map(|&(_, group)| group).collect();
        groups.len() == pairs.len()
    }

    fn compute_states(&mut self, module: &Module, id: InstrId) -> Vec<State> {
        let operands = module[id].operands.clone();
        let states = |flow: &Self, n: usize| -> Vec<State> {
            operands.get(n).map(|&o| flow.received_states(o).to_vec()).unwrap_or_default()
        };
        match &module[id].op {
            Op::Tuple => operands.iter().flat_map(|&o| self.received_states(o).to_vec()).collect(),
            Op::GetTupleElement(a) => {
                let Some((&o, index)) = operands.first().zip(usize::try_from(a.index).ok()) else {
                    return Vec::new();
                };
                let before = module[o].shape.as_tuple().unwrap_or_default().iter().take(index);
                let start: usize = before.map(|s| s.leaf_count()).sum();
                let count = module[id].shape.leaf_count();
                self.received_states(o).get(start..start + count).unwrap_or_default().to_vec()
            }
            Op::While(a) => {
                let is_plain = |flow: &Self, n: usize| flow.plain.contains(&(id, n));
                let mut state: Vec<State> = states(self, 0);
                for (n, leaf) in state.iter_mut().enumerate() {
                    leaf.take_if(|_| is_plain(self, n));
                }
                self.computation(module, a.condition, vec![state.clone()]);
                let after = self.computation(module, a.body, vec![state.clone()]);
                for (n, leaf) in state.iter().enumerate() {
                    let stays = leaf.as_ref().is_none_or(|s| after.get(n).is_some_and(|a| goes_on(s, a)));
                    if !stays {
                        self.plain.insert((id, n));
                    }
                }
                state
            }
            Op::Conditional(a) => {
                let mut common: Option<Vec<State>> = None;
                for (n, &branch) in a.branches().iter().enumerate() {
                    let argument = states(self, n + 1);
                    let result = self.computation(module, branch, vec![argument]);
                    common = Some(match common {
                        None => result,
                        Some(before) => before.into_iter().zip(&result).map(|(a, b)| both(a, b)).collect(),
                    });
                }
                common.unwrap_or_default()
            }
            Op::Call(a) => {
                let arguments = (0..operands.len()).map(|n| states(self, n)).collect();
                self.computation(module, a.to_apply, arguments)
            }
            Op::OptBarrier | Op::AddDependency | Op::Domain(_) => states(self, 0),
            Op::CustomCall(_) if forwards_device_array(module, id) => states(self, 0),
            _ => vec![self.of_linear(module, id)],
        }
    }

    /// Returns the summands that an operation produces from summands of its operands.
    fn of_linear(&self, module: &Module, id: InstrId) -> State {
        let shape = module[id].shape.as_array().filter(|a| a.is_static())?;
        let operands = &module[id].operands;
        let state = |n: usize| self.received_states(*operands.get(n)?).first().cloned().flatten();
        let roles = summand_operands(module, id, |n| state(n).is_some())?;
        let mut summands = (0..operands.len()).filter(|&n| roles[n]).map(|n| Some((n, state(n)?)));
        let (n, first) = summands.next()??;
        if !summands.all(|other| other.is_some_and(|(_, other)| other.has_same_devices(&first))) {
            return None;
        }
        Some(Rc::new(result(module, id, n, &first, shape)))
    }
}

/// Returns whether any value of a module is annotated as summands.
pub(super) fn has_summands(module: &Module, devices: usize) -> Result<bool, Diag> {
    let said = written(module, devices)?;
    Ok(said.values().flatten().any(|s| matches!(s, Annotation::Summands(_))))
}

/// Returns the annotations of all instructions that have shardings.
fn written(module: &Module, devices: usize) -> Result<HashMap<InstrId, Vec<Annotation>>, Diag> {
    let all = module.computations().flat_map(|c| module[c].instructions().iter().copied());
    let sharded = all.filter(|&id| module[id].sharding().is_some());
    sharded.map(|id| Ok((id, read(module, id, devices)?))).collect()
}

/// Returns the summands of a result for which operand number `operand` has the summands `of`.
fn result(module: &Module, id: InstrId, operand: usize, of: &Summands, shape: &ArrayShape) -> Summands {
    let rank = shape.rank();
    if let (Op::Reshape(_), Some(from)) =
        (&module[id].op, module[module[id].operands[operand]].shape.as_array())
    {
        let through = |t| reshaped(t, &from.dims, &shape.dims).map(|(_, made)| made);
        return match (through(&of.own), through(&of.summed)) {
            (Some(own), Some(summed)) => Summands { own, summed }.or_whole(rank),
            _ => of.whole(rank),
        };
    }
    let Some(factors) = Factors::of(module, id) else { return of.whole(rank) };
    let Some(walk) = factors.operands.get(operand) else { return of.whole(rank) };
    let lifted = Summands { own: factors.lift(walk, &of.own), summed: factors.lift(walk, &of.summed) };
    lifted.or_whole(factors.factors.len()).select(&factors.result)
}

fn goes_on(summands: &Summands, after: &State) -> bool {
    after.as_ref().is_some_and(|after| after.has_same_devices(summands))
}

fn both(a: State, b: &State) -> State {
    a.filter(|a| goes_on(a, b))
}

/// Returns the annotations of the leaves of an instruction.
fn read(module: &Module, id: InstrId, devices: usize) -> Result<Vec<Annotation>, Diag> {
    let summands =
        Summands::of_instruction(&module[id], devices).map_err(|why| invalid_sharding(module, id, &why))?;
    let leaves = module[id].shape.leaves();
    let one = |((tiling, summands), leaf): ((Option<TileAssignment>, Option<Summands>), _)| match (
        tiling, summands,
    ) {
        (Some(_), Some(s)) if is_static(leaf) => Annotation::Summands(Rc::new(s)),
        (Some(tiling), _) => Annotation::Plain(tiling),
        (None, _) => Annotation::None,
    };
    Ok(tilings(module, id, devices)?.into_iter().zip(summands).zip(leaves).map(one).collect())
}

fn is_static(leaf: &hlo_ir::Shape) -> bool {
    leaf.as_array().is_some_and(ArrayShape::is_static)
}

/// Returns the target of a custom call.
fn target(module: &Module, id: InstrId) -> Option<&str> {
    match &module[id].op {
        Op::CustomCall(a) => a.custom_call_target.as_str(),
        _ => None,
    }
}
