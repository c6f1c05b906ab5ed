//! Conversion of messages to modules.
//!
//! As in XLA, computations and instructions are ordered by their ids. A schedule determines the order of the
//! instructions of the computations that it lists. The other computations of a scheduled module are the fused
//! ones; their instructions are in post-order. Operands and called computations must precede the instructions
//! that refer to them.

use super::context::{Map, Reading};
use super::frontend::read_frontend;
use super::metadata::Payloads;
use super::operation::read_attributes;
use super::origin::read_origin;
use super::parts::thread;
use super::shape::read_shape;
use super::sharding::read_sharding;
use super::{Result, header};
use crate::messages::{
    HloComputationProto, HloInstructionProto, HloModuleConfigProto, HloModuleProto, StatisticsViz,
};
use foldhash::fast::RandomState;
use hlo_ir::attr::{HloString, ResultAccuracy, Statistics};
use hlo_ir::diag::Diag;
use hlo_ir::{Arity, CommonAttrs, ComputationId, InstrId, Module, Op, Opcode, ShapePool};
use std::collections::HashSet;
use std::collections::hash_map::Entry;

/// The maximum number of errors to report.
const MAX_ERRORS: usize = 20;

/// Returns the module that a message describes. The module may be invalid; call [`hlo_ir::verify::verify`] to
/// check it.
///
/// # Errors
/// Missing computations and instructions, numbers out of range, unknown opcodes. Each error names the place;
/// at most 20 are reported.
pub fn to_module(proto: &HloModuleProto) -> std::result::Result<Module, Vec<Diag>> {
    let mut reader = Reader {
        module: Module::new(if proto.name.is_empty() { "module" } else { &proto.name }),
        payloads: Payloads(&proto.payloads),
        computations: Map::default(),
        instructions: Map::default(),
        starts: Map::default(),
        shapes: ShapePool::default(),
        errors: Vec::new(),
    };
    reader.read(proto);
    if reader.errors.is_empty() { Ok(reader.module) } else { Err(reader.errors) }
}

/// Returns the module that a message and its configuration describe. The configuration contains the numbers
/// of devices and the layouts.
///
/// # Errors
/// The errors of [`to_module`].
pub fn to_module_with_config(
    proto: &HloModuleProto,
    config: &HloModuleConfigProto,
) -> std::result::Result<Module, Vec<Diag>> {
    let mut module = to_module(proto)?;
    match header::read_config(config, &mut module) {
        Ok(()) => Ok(module),
        Err(message) => Err(vec![Diag::error(format!("the module's configuration: {message}"))]),
    }
}

struct Reader<'p> {
    module: Module,
    payloads: Payloads<'p>,
    /// The complete computations by id. Instructions may call these.
    computations: Map<i64, ComputationId>,
    /// The instructions of the current computation by id.
    instructions: Map<i64, InstrId>,
    /// The start of an asynchronous operation, for each instruction of that operation.
    starts: Map<InstrId, InstrId>,
    shapes: ShapePool,
    errors: Vec<Diag>,
}

impl<'p> Reader<'p> {
    fn report(&mut self, message: String) {
        self.errors.push(Diag::error(message));
    }

    fn read(&mut self, proto: &'p HloModuleProto) {
        let mut by_id: Vec<&HloComputationProto> = proto.computations.iter().collect();
        by_id.sort_by_key(|c| c.id);
        let mut ids: Map<i64, ComputationId> = Map::default();
        for computation in by_id {
            let id = self.module.add_computation(&computation.name);
            if ids.insert(computation.id, id).is_some() {
                let (name, id) = (&computation.name, computation.id);
                return self.report(format!("computation `{name}` has the id {id} of another one"));
            }
        }
        for computation in &proto.computations {
            if let Some(&id) = ids.get(&computation.id) {
                self.computation(id, computation);
                self.computations.insert(computation.id, id);
            }
            if self.errors.len() >= MAX_ERRORS {
                return;
            }
        }
        match Self::entry(proto, &ids) {
            Some(entry) => self.module.set_entry(entry),
            None => {
                return self
                    .report(format!("the entry, computation {}, is not there", proto.entry_computation_id));
            }
        }
        if self.errors.is_empty() {
            self.finish(proto, &ids);
        }
    }

    /// Returns the entry computation. Old files contain only its name.
    fn entry(proto: &HloModuleProto, ids: &Map<i64, ComputationId>) -> Option<ComputationId> {
        let name = &proto.entry_computation_name;
        let mut named = proto.computations.iter().filter(|c| c.name == *name);
        let with_id = |c: &HloComputationProto| c.id == proto.entry_computation_id;
        let id = match named.clone().find(|c| with_id(c)).or_else(|| named.next()) {
            Some(computation) if !name.is_empty() => computation.id,
            _ => proto.entry_computation_id,
        };
        ids.get(&id).copied()
    }

    fn finish(&mut self, proto: &HloModuleProto, ids: &Map<i64, ComputationId>) {
        let schedule = self.schedule(proto, ids);
        if let Err(message) = schedule.and_then(|()| header::read_header(proto, &mut self.module, to_module))
        {
            return self.report(message);
        }
        // HLO text cannot express that the instructions of an asynchronous operation have different
        // attributes.
        self.module.spread_async_attributes();
        if self.has_equal_names() {
            self.module.make_names_unique();
        }
    }

    /// Checks whether a name is missing, or is used more than once where names must be unique.
    fn has_equal_names(&self) -> bool {
        let mut names: HashSet<&str, RandomState> = Default::default();
        let m = &self.module;
        let mut instructions = m.computations().flat_map(|c| m[c].instructions()).map(|&i| &*m[i].name);
        instructions.any(|name| name.is_empty() || !names.insert(name)) || {
            names.clear();
            m.computations().any(|c| m[c].name.is_empty() || !names.insert(&m[c].name))
        }
    }

    fn schedule(&mut self, proto: &HloModuleProto, ids: &Map<i64, ComputationId>) -> Result<()> {
        let Some(schedule) = &proto.schedule else { return Ok(()) };
        self.module.header.is_scheduled = true;
        let by_id: Map<i64, &HloComputationProto> = proto.computations.iter().map(|c| (c.id, c)).collect();
        let listed: HashSet<i64, RandomState> = schedule.sequences.iter().map(|entry| entry.key).collect();
        for (_, &id) in ids.iter().filter(|(key, _)| !listed.contains(key)) {
            self.module.set_order(id, self.module.dependency_order(id));
        }
        for entry in &schedule.sequences {
            let (Some(&id), Some(computation)) = (ids.get(&entry.key), by_id.get(&entry.key)) else {
                return Err(format!("the schedule names computation {}, which is not there", entry.key));
            };
            // The order is a permutation if it has the same length as the list and each instruction occurs
            // once.
            let list = self.module[id].instructions();
            let mut places: Map<i64, InstrId> =
                sorted(computation).map(|i| i.id).zip(list.iter().copied()).collect();
            let sequence = entry.value.as_deref().map_or(&[][..], |s| &s.instruction_ids);
            let order: Vec<InstrId> = sequence.iter().filter_map(|i| places.remove(i)).collect();
            if order.len() != list.len() || order.len() != sequence.len() {
                let name = &computation.name;
                return Err(format!(
                    "the schedule of computation `{name}` does not name each of its instructions once"
                ));
            }
            self.module.set_order(id, order);
        }
        Ok(())
    }

    fn computation(&mut self, id: ComputationId, proto: &'p HloComputationProto) {
        self.module[id].execution_thread = thread(&proto.execution_thread);
        self.instructions.clear();
        let first = self.module.instruction_capacity();
        let errors = self.errors.len();
        for instruction in sorted(proto) {
            if let Err(message) = self.declare(id, instruction) {
                self.report_in(proto, instruction, &message);
                return;
            }
        }
        let mut ready = Ready { first, seen: vec![false; self.module.instruction_capacity() - first] };
        for instruction in &proto.instructions {
            if let Err(message) = self.instruction(instruction, &mut ready) {
                self.report_in(proto, instruction, &message);
                if self.errors.len() >= MAX_ERRORS {
                    return;
                }
            }
        }
        match self.instructions.get(&proto.root_id) {
            Some(&root) => self.module.set_root(id, root),
            None if self.errors.len() == errors => {
                self.report(format!("the root of computation `{}` is not there", proto.name));
            }
            None => {}
        }
    }

    fn report_in(&mut self, computation: &HloComputationProto, i: &HloInstructionProto, message: &str) {
        self.report(format!("instruction `{}` of computation `{}`: {message}", i.name, computation.name));
    }

    /// Adds an instruction that has only its shape and opcode so far.
    fn declare(&mut self, id: ComputationId, proto: &HloInstructionProto) -> Result<()> {
        let Some(opcode) = Opcode::from_name(&proto.opcode) else {
            return Err(format!("unknown opcode `{}`", proto.opcode));
        };
        let Some(shape) = &proto.shape else { return Err("it has no shape".into()) };
        let shape = self.shapes.share(read_shape(shape)?);
        match self.instructions.entry(proto.id) {
            Entry::Occupied(_) => Err(format!("it has the id {} of another one", proto.id)),
            Entry::Vacant(slot) => {
                slot.insert(self.module.add(id, &proto.name, shape, opcode.default_op(), []));
                Ok(())
            }
        }
    }

    fn instruction(&mut self, proto: &HloInstructionProto, ready: &mut Ready) -> Result<()> {
        let Some(&id) = self.instructions.get(&proto.id) else { return Ok(()) };
        let mut operands = Vec::with_capacity(proto.operand_ids.len());
        for operand in &proto.operand_ids {
            match self.instructions.get(operand).filter(|&&o| ready.has(o)) {
                Some(&operand) => operands.push(operand),
                None => return Err(format!("its operand {operand} is not there before it")),
            }
        }
        ready.add(id);
        let mut op = std::mem::replace(self.module.op_mut(id), Op::Tuple);
        let opcode = op.opcode();
        check_arity(opcode, operands.len())?;
        let start = operands.first().and_then(|o| self.starts.get(o)).copied();
        let context = Reading {
            payloads: self.payloads,
            start: start.and_then(|s| match &self.module[s].op {
                Op::AsyncStart(a) => Some(a),
                _ => None,
            }),
            module: &self.module,
            computations: &self.computations,
            operands: &operands,
        };
        read_attributes(&mut op, proto, &context)?;
        match opcode {
            Opcode::AsyncStart => drop(self.starts.insert(id, id)),
            Opcode::AsyncUpdate => drop(start.and_then(|s| self.starts.insert(id, s))),
            _ => {}
        }
        self.module.set_op(id, op);
        if !operands.is_empty() {
            self.module.set_operands(id, operands);
        }
        let common = self.common(proto)?;
        if common != CommonAttrs::default() {
            *self.module.common_mut(id) = common;
        }
        Ok(())
    }

    /// Reads the attributes that any instruction may have.
    fn common(&self, proto: &HloInstructionProto) -> Result<CommonAttrs> {
        let sharding = proto.sharding.as_deref().map(|s| read_sharding(s, self.payloads));
        let predecessor = |id: &i64| {
            let known = self.instructions.get(id).copied();
            known.ok_or_else(|| format!("its control predecessor {id} is not there"))
        };
        let backend_config = match &proto.backend_config_payload {
            Some(payload) if proto.backend_config.is_empty() => self.payloads.read(payload)?,
            _ => HloString::from_bytes(&proto.backend_config[..]),
        };
        Ok(CommonAttrs {
            parameter_replication: proto
                .parameter_replication
                .as_ref()
                .map_or(Vec::new(), |p| p.replicated_at_leaf_buffers.clone()),
            sharding: sharding.transpose()?,
            frontend_attributes: read_frontend(proto.frontend_attributes.as_deref()),
            control_predecessors: proto
                .control_predecessor_ids
                .iter()
                .map(predecessor)
                .collect::<Result<_>>()?,
            statistics: proto.statistics_viz.as_deref().and_then(read_statistics),
            result_accuracy: read_accuracy(proto),
            origin: proto.original_value.as_deref().map(read_origin).transpose()?.map(Box::new),
            metadata: match &proto.metadata {
                Some(metadata) => self.payloads.metadata(metadata)?,
                None => Default::default(),
            },
            backend_config,
        })
    }
}

/// The instructions of a computation that were read already. Only these may be operands.
struct Ready {
    /// The arena index of the computation's first instruction.
    first: usize,
    seen: Vec<bool>,
}

impl Ready {
    fn has(&self, id: InstrId) -> bool {
        id.index().checked_sub(self.first).and_then(|n| self.seen.get(n)).copied().unwrap_or(false)
    }

    fn add(&mut self, id: InstrId) {
        if let Some(seen) = id.index().checked_sub(self.first).and_then(|n| self.seen.get_mut(n)) {
            *seen = true;
        }
    }
}

/// Returns the instructions of a computation, sorted by id.
fn sorted(proto: &HloComputationProto) -> impl Iterator<Item = &HloInstructionProto> {
    let mut list: Vec<&HloInstructionProto> = proto.instructions.iter().collect();
    list.sort_by_key(|i| i.id);
    list.into_iter()
}

fn check_arity(opcode: Opcode, count: usize) -> Result<()> {
    match opcode.arity() {
        Arity::Exactly(n) if n != count => Err(format!("`{opcode}` has {n} operands, found {count}")),
        Arity::AtLeast(n) if n > count => Err(format!("`{opcode}` has at least {n} operands, found {count}")),
        _ => Ok(()),
    }
}

fn read_statistics(proto: &StatisticsViz) -> Option<Box<Statistics>> {
    let values = proto.statistics.iter().map(|s| (s.stat_name.as_str().into(), s.stat_val)).collect();
    let statistics = Statistics { visualizing_index: proto.stat_index_to_visualize, values };
    (statistics != Statistics::default()).then(|| Box::new(statistics))
}

fn read_accuracy(proto: &HloInstructionProto) -> ResultAccuracy {
    use crate::messages::ResultAccuracyMode;
    let Some(accuracy) = &proto.result_accuracy else { return ResultAccuracy::Default };
    match (&accuracy.tolerance, accuracy.mode) {
        (Some(t), _) => ResultAccuracy::Tolerance { atol: t.atol, rtol: t.rtol, ulps: t.ulps },
        (None, Some(ResultAccuracyMode::HIGHEST)) => ResultAccuracy::Highest,
        (None, _) => ResultAccuracy::Default,
    }
}
