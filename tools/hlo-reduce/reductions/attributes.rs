//! Removes attributes that do not change results: metadata, shardings, layouts, frontend attributes, backend
//! configs, header attributes.

use super::{Reduction, at_sites};
use hlo_ir::attr::{Header, OperandPrecision};
use hlo_ir::{CommonAttrs, CommonField, InstrId, Module, Op, StackFrames};

/// Removes such attributes.
pub const ATTRIBUTES: Reduction = Reduction {
    name: "metadata, shardings, layouts, attributes",
    changes_interface: false,
    grows: false,
    apply: |module, range| {
        let sites = sites(module);
        at_sites(module, range, sites, |module, chosen| {
            for note in chosen {
                remove(module, note);
            }
        })
    },
};

/// An attribute that can be removed.
#[derive(Clone, Copy)]
enum Note {
    /// An attribute of the header.
    Header(fn(&mut Header)),
    StackFrames,
    /// An attribute that every instruction may have.
    Common(InstrId, CommonField),
    /// The layouts of the shape.
    Layout(InstrId),
    /// The precision of a dot product or convolution.
    Precision(InstrId),
}

/// The parts of the header, each as a function that removes it.
const HEADER: &[fn(&mut Header)] = &[
    |h| h.is_scheduled = false,
    |h| h.input_output_alias.clear(),
    |h| h.buffer_donor.clear(),
    |h| h.alias_passthrough_params = false,
    |h| h.entry_computation_layout = None,
    |h| h.allow_spmd_sharding_propagation_to_parameters = Default::default(),
    |h| h.allow_spmd_sharding_propagation_to_output = Default::default(),
    |h| h.replica_count = Default::default(),
    |h| h.num_partitions = Default::default(),
    |h| h.frontend_attributes = Default::default(),
    |h| h.origin_recovery_table.clear(),
    |h| h.debug_attributes.clear(),
];

/// Returns all attributes, grouped by kind.
fn sites(module: &Module) -> Vec<Note> {
    let mut out = Vec::new();
    for &clear in HEADER {
        let mut header = module.header.clone();
        clear(&mut header);
        if header != module.header {
            out.push(Note::Header(clear));
        }
    }
    if module.stack_frames != StackFrames::default() {
        out.push(Note::StackFrames);
    }
    let all: Vec<InstrId> = module.computations().flat_map(|c| module[c].instructions()).copied().collect();
    for &field in CommonField::ALL {
        let has = |i: &&InstrId| module[**i].common.as_deref().is_some_and(|c| !c.is_default(field));
        out.extend(all.iter().filter(has).map(|&i| Note::Common(i, field)));
    }
    let laid_out = |i: &&InstrId| module[**i].shape.without_layout() != module[**i].shape;
    out.extend(all.iter().filter(laid_out).map(|&i| Note::Layout(i)));
    let precise = |i: &&InstrId| match &module[**i].op {
        Op::Dot(a) => a.operand_precision != OperandPrecision::default(),
        Op::Convolution(a) => a.operand_precision != OperandPrecision::default(),
        _ => false,
    };
    out.extend(all.iter().filter(precise).map(|&i| Note::Precision(i)));
    out
}

fn remove(module: &mut Module, note: &Note) {
    match *note {
        Note::Header(clear) => clear(&mut module.header),
        Note::StackFrames => {
            module.stack_frames = StackFrames::default();
            let all: Vec<InstrId> =
                module.computations().flat_map(|c| module[c].instructions()).copied().collect();
            for i in all {
                if module[i].common.as_deref().is_some_and(|c| c.metadata.stack_frame_id != 0) {
                    module.common_mut(i).metadata.stack_frame_id = 0;
                }
            }
        }
        Note::Common(id, field) => clear(module.common_mut(id), field),
        Note::Layout(id) => {
            let shape = module[id].shape.without_layout();
            module.set_shape(id, shape);
        }
        Note::Precision(id) => match module.op_mut(id) {
            Op::Dot(a) => a.operand_precision = OperandPrecision::default(),
            Op::Convolution(a) => a.operand_precision = OperandPrecision::default(),
            _ => {}
        },
    }
}

fn clear(common: &mut CommonAttrs, field: CommonField) {
    let none = CommonAttrs::default();
    match field {
        CommonField::ParameterReplication => common.parameter_replication = none.parameter_replication,
        CommonField::Sharding => common.sharding = none.sharding,
        CommonField::FrontendAttributes => common.frontend_attributes = none.frontend_attributes,
        CommonField::ControlPredecessors => common.control_predecessors = none.control_predecessors,
        CommonField::Statistics => common.statistics = none.statistics,
        CommonField::ResultAccuracy => common.result_accuracy = none.result_accuracy,
        CommonField::Origin => common.origin = none.origin,
        CommonField::Metadata => common.metadata = none.metadata,
        CommonField::BackendConfig => common.backend_config = none.backend_config,
    }
}
