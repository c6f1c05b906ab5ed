//! The header of a module (the first line of HLO text) and its tables: fields of the messages of the module
//! and of its configuration.

use super::Result;
use super::frontend::{read_frontend, write_frontend};
use super::origin::{read_recovery, write_recovery};
use super::shape::{read_shape, write_program_shape};
use super::text::{read_text, write_text};
use crate::messages::{
    AliasEntryProto, AliasKind, BufferDonorEntryProto, FileLocationProto, HloBufferDonorProto,
    HloInputOutputAliasProto, HloModuleConfigProto, HloModuleProto, ProgramShapeProto, StackFrameIndexProto,
    StackFrameProto,
};
use hlo_ir::attr::{BufferDonor, Count, EntryLayout, HloString, InputOutputAlias, PropagationAllowed};
use hlo_ir::diag::Diag;
use hlo_ir::{FileLocation, Module, StackFrame, StackFrames};

/// Reads the fields of a module's message other than its computations and schedule. `to_module` reads the
/// modules that recover arrays.
pub fn read_header(
    proto: &HloModuleProto,
    module: &mut Module,
    to_module: impl Fn(&HloModuleProto) -> std::result::Result<Module, Vec<Diag>>,
) -> Result<()> {
    if let Some(shape) = &proto.host_program_shape {
        module.header.entry_computation_layout = read_entry_layout(shape)?;
    }
    if let Some(frames) = &proto.stack_frame_index {
        module.stack_frames = read_frames(frames);
    }
    let header = &mut module.header;
    header.input_output_alias = read_aliases(proto.input_output_alias.as_deref());
    header.buffer_donor = read_donors(proto.buffer_donor.as_deref());
    header.frontend_attributes = read_frontend(proto.frontend_attributes.as_deref());
    if let Some(table) = &proto.original_value_recovery_table {
        header.origin_recovery_table = read_recovery(table, to_module)?;
    }
    header.debug_attributes = read_text(&proto.text_attributes, "debug_attributes")?;
    Ok(())
}

/// Writes the fields that [`read_header`] reads. `from_module` writes the modules that recover arrays.
pub fn write_header(
    module: &Module,
    proto: &mut HloModuleProto,
    from_module: impl Fn(&Module) -> HloModuleProto,
) {
    let header = &module.header;
    proto.host_program_shape = write_entry_layout(module);
    proto.input_output_alias = Some(Box::new(write_aliases(&header.input_output_alias)));
    proto.buffer_donor = Some(Box::new(write_donors(&header.buffer_donor)));
    proto.frontend_attributes = Some(Box::new(write_frontend(&header.frontend_attributes)));
    if module.stack_frames != StackFrames::default() {
        proto.stack_frame_index = Some(Box::new(write_frames(&module.stack_frames)));
    }
    if !header.origin_recovery_table.is_empty() {
        proto.original_value_recovery_table =
            Some(Box::new(write_recovery(&header.origin_recovery_table, from_module)));
    }
    proto.text_attributes.extend(write_text("debug_attributes", &header.debug_attributes));
}

/// Adds the contents of a configuration to a module: numbers of devices, layouts, and the permissions of the
/// partitioner.
///
/// # Errors
/// A message if a shape is invalid.
pub fn read_config(config: &HloModuleConfigProto, module: &mut Module) -> Result<()> {
    if let Some(shape) = &config.entry_computation_layout {
        module.header.entry_computation_layout = read_entry_layout(shape)?;
    }
    let header = &mut module.header;
    // A configuration without the field means 1.
    let count = |n: i64| Count(if n == 0 { 1 } else { n });
    header.replica_count = count(config.replica_count);
    header.num_partitions = count(config.num_partitions);
    header.alias_passthrough_params = config.alias_passthrough_params;
    let allowed = |list: &Vec<bool>| {
        if list.is_empty() { PropagationAllowed::default() } else { PropagationAllowed(list.clone()) }
    };
    header.allow_spmd_sharding_propagation_to_parameters =
        allowed(&config.allow_spmd_sharding_propagation_to_parameters);
    header.allow_spmd_sharding_propagation_to_output =
        allowed(&config.allow_spmd_sharding_propagation_to_output);
    Ok(())
}

/// Returns the configuration of a module, with the parts that the module's own message cannot express.
pub fn write_config(module: &Module) -> HloModuleConfigProto {
    let header = &module.header;
    HloModuleConfigProto {
        entry_computation_layout: write_entry_layout(module),
        replica_count: header.replica_count.0,
        num_partitions: header.num_partitions.0,
        alias_passthrough_params: header.alias_passthrough_params,
        allow_spmd_sharding_propagation_to_parameters: header
            .allow_spmd_sharding_propagation_to_parameters
            .0
            .clone(),
        allow_spmd_sharding_propagation_to_output: header.allow_spmd_sharding_propagation_to_output.0.clone(),
        ..HloModuleConfigProto::default()
    }
}

/// Reads the shapes of the entry computation, with the layouts that callers use.
fn read_entry_layout(proto: &ProgramShapeProto) -> Result<Option<EntryLayout>> {
    let Some(result) = &proto.result else { return Ok(None) };
    let parameters = proto.parameters.iter().map(read_shape).collect::<Result<Vec<_>>>()?;
    Ok(Some(EntryLayout { parameters, result: read_shape(result)? }))
}

fn write_entry_layout(module: &Module) -> Option<Box<ProgramShapeProto>> {
    let layout = module.entry_layout()?;
    let parameters = layout.parameters.iter().enumerate().map(|(n, shape)| (shape, format!("p{n}")));
    Some(Box::new(write_program_shape(parameters, &layout.result)))
}

fn read_aliases(proto: Option<&HloInputOutputAliasProto>) -> Vec<InputOutputAlias> {
    let alias = |entry: &AliasEntryProto| InputOutputAlias {
        output: entry.output_shape_index.clone(),
        parameter: entry.parameter_number,
        parameter_index: entry.parameter_shape_index.clone(),
        must: entry.kind == AliasKind::MUST_ALIAS,
    };
    let mut list: Vec<InputOutputAlias> = proto.iter().flat_map(|p| &p.entries).map(alias).collect();
    list.sort_by(|a, b| a.output.cmp(&b.output));
    list.dedup_by(|later, first| later.output == first.output);
    list
}

fn write_aliases(list: &[InputOutputAlias]) -> HloInputOutputAliasProto {
    let entry = |alias: &InputOutputAlias| AliasEntryProto {
        output_shape_index: alias.output.clone(),
        parameter_number: alias.parameter,
        parameter_shape_index: alias.parameter_index.clone(),
        kind: if alias.must { AliasKind::MUST_ALIAS } else { AliasKind::MAY_ALIAS },
    };
    HloInputOutputAliasProto { entries: list.iter().map(entry).collect() }
}

fn read_donors(proto: Option<&HloBufferDonorProto>) -> Vec<BufferDonor> {
    let donor = |entry: &BufferDonorEntryProto| BufferDonor {
        parameter: entry.parameter_number,
        index: entry.parameter_shape_index.clone(),
    };
    let mut list: Vec<BufferDonor> = proto.iter().flat_map(|p| &p.entries).map(donor).collect();
    list.sort();
    list.dedup();
    list
}

fn write_donors(list: &[BufferDonor]) -> HloBufferDonorProto {
    let entry = |donor: &BufferDonor| BufferDonorEntryProto {
        parameter_number: donor.parameter,
        parameter_shape_index: donor.index.clone(),
    };
    HloBufferDonorProto { entries: list.iter().map(entry).collect() }
}

/// Reads the tables of stack frames. In messages a parent is the id of a frame, with 0 for none. In HLO text
/// it is one higher.
fn read_frames(proto: &StackFrameIndexProto) -> StackFrames {
    let texts = |list: &[Vec<u8>]| list.iter().map(|t| HloString::from_bytes(&t[..])).collect();
    let location = |l: &FileLocationProto| FileLocation {
        file: l.file_name_id,
        function: l.function_name_id,
        line: l.line,
        end_line: l.end_line,
        column: l.column,
        end_column: l.end_column,
    };
    let frame = |f: &StackFrameProto| StackFrame {
        location: f.file_location_id,
        parent: f.parent_frame_id.saturating_add(1),
    };
    StackFrames {
        file_names: texts(&proto.file_names),
        function_names: texts(&proto.function_names),
        file_locations: proto.file_locations.iter().map(location).collect(),
        stack_frames: proto.stack_frames.iter().map(frame).collect(),
    }
}

fn write_frames(frames: &StackFrames) -> StackFrameIndexProto {
    let texts = |list: &[HloString]| list.iter().map(|t| t.as_bytes().to_vec()).collect();
    let location = |l: &FileLocation| FileLocationProto {
        file_name_id: l.file,
        function_name_id: l.function,
        line: l.line,
        end_line: l.end_line,
        column: l.column,
        end_column: l.end_column,
    };
    // If a table contains the parent 0, its parents are frame ids already.
    let offset = i32::from(frames.stack_frames.iter().all(|f| f.parent != 0));
    let frame = |f: &StackFrame| StackFrameProto {
        file_location_id: f.location,
        parent_frame_id: f.parent.saturating_sub(offset),
    };
    StackFrameIndexProto {
        file_names: texts(&frames.file_names),
        function_names: texts(&frames.function_names),
        file_locations: frames.file_locations.iter().map(location).collect(),
        stack_frames: frames.stack_frames.iter().map(frame).collect(),
    }
}
