//! Conversion of modules to messages.
//!
//! The ids are those that XLA assigns when it reads the module's text. Computations are numbered in the order
//! in which they are completed. An instruction's id contains the computation's id in the upper half and its
//! position in the lower half.

use super::context::{Ids, Writing};
use super::frontend::write_frontend;
use super::header::{write_config, write_header};
use super::metadata::write_metadata;
use super::operation::write_attributes;
use super::origin::write_origin;
use super::shape::{write_program_shape, write_shape};
use super::sharding::write_sharding;
use crate::messages::{
    HloComputationProto, HloInstructionProto, HloModuleProto, HloModuleProtoWithConfig, HloScheduleProto,
    InstructionSequence, ParameterReplication, ResultAccuracyMode, ResultAccuracyProto, SequencesEntry,
    Statistic, StatisticsViz, Tolerance,
};
use hlo_ir::attr::{ResultAccuracy, Statistics};
use hlo_ir::{CommonAttrs, ComputationId, InstrId, Module, Op, Shape};
use std::collections::HashSet;

/// Returns the message of a module. It does not contain the numbers of devices and the permissions of the
/// partitioner; [`from_module_with_config`] adds them.
pub fn from_module(module: &Module) -> HloModuleProto {
    let mut proto = HloModuleProto { name: module.name.to_string(), ..HloModuleProto::default() };
    let fused: HashSet<ComputationId> = fused_computations(module);
    let mut writer = Writing {
        payloads: Vec::new(),
        precisions: 0,
        operand_element_type: None,
        ids: Ids::of(module),
        module,
    };
    for c in callees_first(module) {
        let computation = writer.computation(c, fused.contains(&c));
        proto.computations.push(computation);
    }
    if let Some(entry) = module.entry_if_set() {
        proto.entry_computation_name = module[entry].name.to_string();
        proto.entry_computation_id = writer.ids.computation(entry);
    }
    if module.header.is_scheduled {
        proto.schedule = Some(Box::new(writer.schedule(&fused)));
    }
    write_header(module, &mut proto, from_module);
    proto.payloads = writer.payloads;
    proto
}

/// Returns the message of a module, with the configuration that contains the rest.
pub fn from_module_with_config(module: &Module) -> HloModuleProtoWithConfig {
    HloModuleProtoWithConfig {
        hlo_module: Some(Box::new(from_module(module))),
        config: Some(Box::new(write_config(module))),
    }
}

/// Returns the computations in the order in which they are completed, as XLA writes them. If a caller
/// precedes its callee in that order, the result is a post-order instead.
fn callees_first(module: &Module) -> Vec<ComputationId> {
    let order = module.completion_order();
    let mut written = HashSet::with_capacity(order.len());
    let in_order = order.iter().all(|&c| {
        let instructions = module[c].instructions().iter();
        let is_ready =
            instructions.flat_map(|&i| module[i].op.called_computations()).all(|c| written.contains(&c));
        written.insert(c);
        is_ready
    });
    if in_order { order } else { module.computations_post_order() }
}

/// Returns the computations of fusions. They have no schedule.
fn fused_computations(module: &Module) -> HashSet<ComputationId> {
    let instructions = module.computations().flat_map(|c| module[c].instructions());
    let called = instructions.filter_map(|&i| match &module[i].op {
        Op::Fusion(a) => Some(a.calls),
        _ => None,
    });
    called.collect()
}

impl Writing<'_> {
    fn computation(&mut self, id: ComputationId, is_fused: bool) -> HloComputationProto {
        let module = self.module;
        let c = &module[id];
        let root = module.has_root(id).then(|| c.root());
        let parameters = module.parameters(id);
        let shapes = parameters.iter().map(|&p| (&module[p].shape, module[p].name.to_string()));
        let result = root.map_or(&Shape::Token, |root| &module[root].shape);
        HloComputationProto {
            name: c.name.to_string(),
            program_shape: Some(Box::new(write_program_shape(shapes, result))),
            id: self.ids.computation(id),
            root_id: root.map_or(0, |root| self.ids.instruction(root)),
            is_fusion_computation: is_fused,
            execution_thread: c.execution_thread.as_ref().map_or(Vec::new(), |t| t.as_bytes().to_vec()),
            instructions: module.dependency_order(id).into_iter().map(|i| self.instruction(i)).collect(),
        }
    }

    fn schedule(&self, fused: &HashSet<ComputationId>) -> HloScheduleProto {
        let mut sequences: Vec<SequencesEntry> = Vec::new();
        for c in self.module.computations().filter(|c| !fused.contains(c)) {
            let order = self.module[c].instructions().iter();
            let instruction_ids = order.map(|&i| self.ids.instruction(i)).collect();
            let value = Some(Box::new(InstructionSequence { instruction_ids }));
            sequences.push(SequencesEntry { key: self.ids.computation(c), value });
        }
        sequences.sort_by_key(|s| s.key);
        HloScheduleProto { sequences }
    }

    fn instruction(&mut self, id: InstrId) -> HloInstructionProto {
        let i = &self.module[id];
        let mut proto = HloInstructionProto {
            name: i.name.to_string(),
            opcode: i.op.name().to_owned(),
            shape: Some(Box::new(write_shape(&i.shape))),
            id: self.ids.instruction(id),
            operand_ids: i.operands.iter().map(|&o| self.ids.instruction(o)).collect(),
            ..HloInstructionProto::default()
        };
        let first = i.operands.first().and_then(|&o| self.module[o].shape.as_array());
        // Products have a precision only for their two factors, not for further operands.
        self.precisions = match &i.op {
            Op::CustomCall(_) => i.operands.len(),
            _ => 2,
        };
        self.operand_element_type = first.map(|a| a.element_type);
        write_attributes(&i.op, &mut proto, self);
        match &i.common {
            Some(common) => self.common(common, &mut proto),
            None => self.common(&CommonAttrs::default(), &mut proto),
        }
        proto
    }

    /// Writes the attributes that any instruction may have. As in XLA, some fields are written even if they
    /// are empty.
    fn common(&mut self, common: &CommonAttrs, proto: &mut HloInstructionProto) {
        proto.metadata = Some(Box::new(if common.metadata.is_empty() {
            Default::default()
        } else {
            write_metadata(&common.metadata, &mut self.payloads)
        }));
        proto.frontend_attributes = Some(Box::new(write_frontend(&common.frontend_attributes)));
        proto.statistics_viz =
            Some(Box::new(common.statistics.as_deref().map(write_statistics).unwrap_or_default()));
        proto.backend_config = common.backend_config.as_bytes().to_vec();
        let predecessors = common.control_predecessors.iter();
        proto.control_predecessor_ids = predecessors.map(|&p| self.ids.instruction(p)).collect();
        if !common.parameter_replication.is_empty() {
            let replicated_at_leaf_buffers = common.parameter_replication.clone();
            proto.parameter_replication = Some(Box::new(ParameterReplication { replicated_at_leaf_buffers }));
        }
        proto.sharding = common.sharding.as_ref().map(|s| Box::new(write_sharding(s, &mut self.payloads)));
        proto.result_accuracy = write_accuracy(&common.result_accuracy).map(Box::new);
        proto.original_value = common.origin.as_deref().map(|o| Box::new(write_origin(o)));
    }
}

fn write_statistics(statistics: &Statistics) -> StatisticsViz {
    let value = |(name, value): &(Box<str>, f64)| Statistic { stat_name: name.to_string(), stat_val: *value };
    StatisticsViz {
        stat_index_to_visualize: statistics.visualizing_index,
        statistics: statistics.values.iter().map(value).collect(),
    }
}

fn write_accuracy(accuracy: &ResultAccuracy) -> Option<ResultAccuracyProto> {
    match *accuracy {
        ResultAccuracy::Default => None,
        ResultAccuracy::Highest => {
            Some(ResultAccuracyProto { mode: Some(ResultAccuracyMode::HIGHEST), tolerance: None })
        }
        ResultAccuracy::Tolerance { atol, rtol, ulps } => Some(ResultAccuracyProto {
            mode: None,
            tolerance: Some(Box::new(Tolerance { atol, rtol, ulps })),
        }),
    }
}
