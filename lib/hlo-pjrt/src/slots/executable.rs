//! Functions for properties of compiled programs.

use crate::compile;
use crate::executable::LoadedExecutable;
use crate::fault::{Fault, Result};
use crate::sys::{Handle, List, Serialized, Text, args::*};
use std::ptr;

pub fn destroy(a: &mut ExecutableDestroy) -> Result {
    drop(a.executable.take());
    Ok(())
}

pub fn name(a: &mut ExecutableName) -> Result {
    a.name = Text::of(a.executable.get()?.program().name());
    Ok(())
}

pub fn num_replicas(a: &mut ExecutableNumReplicas) -> Result {
    a.num_replicas = a.executable.get()?.program().replicas;
    Ok(())
}

pub fn num_partitions(a: &mut ExecutableNumPartitions) -> Result {
    a.num_partitions = a.executable.get()?.program().partitions;
    Ok(())
}

pub fn num_outputs(a: &mut ExecutableNumOutputs) -> Result {
    a.num_outputs = a.executable.get()?.program().results.len();
    Ok(())
}

pub fn size_of_generated_code_in_bytes(a: &mut ExecutableSizeOfGeneratedCodeInBytes) -> Result {
    a.executable.get()?;
    // The size is unknown. The header specifies -1 for that.
    a.size_in_bytes = -1;
    Ok(())
}

pub fn get_cost_analysis(a: &mut ExecutableGetCostAnalysis) -> Result {
    let costs = a.executable.get()?.costs();
    (a.properties, a.num_properties) = (costs.as_ptr(), costs.len());
    Ok(())
}

pub fn get_compiled_memory_stats(a: &mut ExecutableGetCompiledMemoryStats) -> Result {
    let [arguments, outputs, aliases, temporaries] = a.executable.get()?.memory();
    (a.argument, a.output, a.alias, a.temp) = (arguments, outputs, aliases, temporaries);
    (a.generated_code, a.host_generated_code) = (0, 0);
    (a.host_argument, a.host_output, a.host_alias, a.host_temp) = (0, 0, 0, 0);
    let total = arguments.saturating_add(outputs).saturating_sub(aliases).saturating_add(temporaries);
    (a.peak_memory, a.total_size, a.total_allocation) = (total, total, total);
    (a.indefinite_allocations, a.peak_unpadded_heap) = (0, total);
    Ok(())
}

pub fn output_element_types(a: &mut ExecutableOutputElementTypes) -> Result {
    a.types = List::to(a.executable.get()?.output_types());
    Ok(())
}

pub fn output_dimensions(a: &mut ExecutableOutputDimensions) -> Result {
    let (dims, ranks) = a.executable.get()?.output_dims();
    (a.num_outputs, a.dims, a.dim_sizes) = (ranks.len(), dims.as_ptr(), ranks.as_ptr());
    Ok(())
}

pub fn output_memory_kinds(a: &mut ExecutableOutputMemoryKinds) -> Result {
    let executable = a.executable.get()?;
    a.num_outputs = executable.program().results.len();
    (a.kinds, a.kind_sizes) = executable.memory_kinds().1.pointers();
    Ok(())
}

pub fn parameter_memory_kinds(a: &mut ExecutableParameterMemoryKinds) -> Result {
    let executable = a.executable.get()?;
    a.num_parameters = executable.program().parameters.len();
    (a.kinds, a.kind_sizes) = executable.memory_kinds().0.pointers();
    Ok(())
}

pub fn optimized_program(a: &mut ExecutableOptimizedProgram) -> Result {
    let bytes = a.executable.get()?.optimized()?;
    // SAFETY: the caller passes a program or null.
    let program = unsafe { a.program.as_mut() };
    let program = program.ok_or_else(|| Fault::invalid("expected a program, found a null pointer"))?;
    program.format = Text::of("hlo_with_config");
    if program.code.is_null() {
        program.code_size = bytes.len();
        return Ok(());
    }
    if program.code_size < bytes.len() {
        let (needed, found) = (bytes.len(), program.code_size);
        return Err(Fault::invalid(format!("the program has {needed} bytes, found room for {found}")));
    }
    program.code_size = bytes.len();
    // SAFETY: the caller guarantees that there is room for `code_size` bytes.
    unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), program.code, bytes.len()) };
    Ok(())
}

pub fn fingerprint(a: &mut ExecutableFingerprint) -> Result {
    a.fingerprint = Text::of(&a.executable.get()?.program().fingerprint);
    Ok(())
}

pub fn serialize(a: &mut ExecutableSerialize) -> Result {
    a.serialized = Serialized::new(a.executable.get()?.program().source.to_bytes());
    Ok(())
}

pub fn get_compile_options(a: &mut ExecutableGetCompileOptions) -> Result {
    a.serialized = Serialized::new(a.executable.get()?.program().source.options.clone());
    Ok(())
}

pub fn deserialize_and_load(a: &mut ExecutableDeserializeAndLoad) -> Result {
    let platform = &a.client.get()?.platform;
    let mut source = crate::source::Source::from_bytes(a.serialized.get()?)?;
    let options = a.compile_options.get()?;
    if !options.is_empty() {
        source.options = options.to_vec();
    }
    a.executable = Handle::allocate(LoadedExecutable::new(compile::compile(platform, source)?));
    Ok(())
}
