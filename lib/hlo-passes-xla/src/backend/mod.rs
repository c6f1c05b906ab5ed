//! Passes that prepare code generation: fusion, layouts, copies, schedules, buffers.

pub(crate) mod add_original_value;
pub(crate) mod convert_memory_placement_to_internal_annotations;
pub(crate) mod copy_insertion;
pub(crate) mod fusion_constant_sinking;
pub(crate) mod hlo_descheduler;
pub(crate) mod hlo_memory_scheduler;
pub(crate) mod hlo_rematerialization;
pub(crate) mod hlo_trivial_scheduler;
pub(crate) mod host_compute_asyncifier;
pub(crate) mod host_memory_transfer_asyncifier;
pub(crate) mod host_offload_legalize;
pub(crate) mod host_offloader;
pub(crate) mod host_offloading_prepare;
pub(crate) mod instruction_hoister;
pub(crate) mod memory_space_propagation;
pub(crate) mod optimize_input_output_buffer_alias;
pub(crate) mod root_instruction_sinker;

use hlo_passes::PassInfo;

/// The passes of this folder.
pub(crate) static PASSES: &[&PassInfo] = &[
    &add_original_value::INFO,
    &convert_memory_placement_to_internal_annotations::INFO,
    &copy_insertion::INFO,
    &fusion_constant_sinking::INFO,
    &hlo_descheduler::INFO,
    &hlo_memory_scheduler::INFO,
    &hlo_rematerialization::INFO,
    &hlo_trivial_scheduler::INFO,
    &host_compute_asyncifier::INFO,
    &host_memory_transfer_asyncifier::INFO,
    &host_offload_legalize::INFO,
    &host_offloader::INFO,
    &host_offloading_prepare::INFO,
    &instruction_hoister::INFO,
    &memory_space_propagation::INFO,
    &optimize_input_output_buffer_alias::INFO,
    &root_instruction_sinker::INFO,
];
