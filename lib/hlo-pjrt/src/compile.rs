//! Compilation of the programs that callers pass.

use crate::fault::{Fault, Result, diagnostics_text};
use crate::options;
use crate::platform::Platform;
use crate::program::Program;
use crate::source::Source;
use hlo_client::CompileOptions;
use hlo_forms::Form;
use hlo_ir::Module;
use hlo_ir::attr::{Count, PropagationAllowed};
use hlo_ir::verify::verify;
use hlo_proto::file::FileKind;
use std::sync::Arc;

/// Compiles a program that a caller passes.
///
/// # Errors
/// The format is unknown, the program is damaged, or the errors of [`hlo_client::Client::compile`].
pub fn compile(platform: &Arc<Platform>, source: Source) -> Result<Arc<Program>> {
    let asked = hlo_proto::CompileOptions::read(&source.options)
        .map_err(|d| Fault::invalid(diagnostics_text(&[d])))?;
    asked.env_option_overrides.iter().try_for_each(|(name, value)| options::check(name, value))?;
    let mut module = read(&source)?;
    module.header.replica_count = Count(asked.num_replicas.max(module.header.replica_count.0));
    module.header.num_partitions = Count(asked.num_partitions.max(module.header.num_partitions.0));
    let header = &mut module.header;
    for (allowed, asked) in [
        (
            &mut header.allow_spmd_sharding_propagation_to_parameters,
            &asked.allow_spmd_sharding_propagation_to_parameters,
        ),
        (
            &mut header.allow_spmd_sharding_propagation_to_output,
            &asked.allow_spmd_sharding_propagation_to_output,
        ),
    ] {
        if !asked.is_empty() {
            *allowed = PropagationAllowed(asked.clone());
        }
    }
    let violations = verify(&module);
    if !violations.is_empty() {
        return Err(Fault::invalid(diagnostics_text(&violations)));
    }
    hlo_passes::choose_result_layouts(&mut module)
        .map_err(|diag| Fault::invalid(diagnostics_text(&[diag])))?;
    let options = CompileOptions {
        threads: platform.threads,
        donation: true,
        device_assignment: assignment(&asked)?,
        spmd_partitioning: asked.use_spmd_partitioning && module.header.num_partitions.0 > 1,
        ..CompileOptions::default()
    };
    Program::compile(platform, module, options, asked.compile_portable_executable, source)
}

/// Reads the module of a program.
fn read(source: &Source) -> Result<Module> {
    let code = source.code.as_slice();
    match source.format.as_str() {
        "mlir" => {
            let is_bytecode = Form::of(code) == Form::Bytecode;
            program(if is_bytecode { Form::Bytecode } else { Form::StableHlo }, code)
        }
        "hlo" if Form::of(code) == Form::Hlo => program(Form::Hlo, code),
        "hlo" => message(code, FileKind::Module),
        "hlo_with_config" => message(code, FileKind::ModuleWithConfig),
        other => Err(Fault::invalid(format!(
            "expected a program in the format `mlir`, `hlo` or `hlo_with_config`, found `{other}`"
        ))),
    }
}

fn program(form: Form, code: &[u8]) -> Result<Module> {
    form.read(code).map(|program| program.module).map_err(|d| Fault::invalid(diagnostics_text(&d)))
}

fn message(code: &[u8], kind: FileKind) -> Result<Module> {
    hlo_proto::file::read_as(code, kind)
        .map(|file| file.module)
        .map_err(|d| Fault::invalid(diagnostics_text(&d)))
}

/// Returns the numbers of the devices, replica by replica. The list is empty if the options have no device
/// assignment.
fn assignment(asked: &hlo_proto::CompileOptions) -> Result<Vec<usize>> {
    let Some(assignment) = asked.device_assignment.as_ref().filter(|_| !asked.compile_portable_executable)
    else {
        return Ok(Vec::new());
    };
    let replicas = assignment.devices.first().map_or(0, Vec::len);
    let mut devices = Vec::new();
    for replica in 0..replicas {
        for of_partition in &assignment.devices {
            let id = of_partition.get(replica).and_then(|&id| usize::try_from(id).ok());
            devices.push(id.ok_or_else(|| Fault::invalid("the device assignment lacks a device"))?);
        }
    }
    Ok(devices)
}
