//! From what callers give to programs that run.

use crate::fault::{Fault, Result, said};
use crate::platform::Platform;
use crate::program::Program;
use crate::source::Source;
use hlo_client::CompileOptions;
use hlo_ir::Module;
use hlo_ir::attr::Count;
use hlo_ir::verify::verify;
use hlo_proto::messages::{CompileOptionsProto, DeviceAssignmentProto, EnvOptionOverride, ExecutableBuildOptionsProto};
use prost::Message;
use std::sync::Arc;

/// Compiles what a caller gives.
///
/// # Errors
/// It is in a format that is not known, damaged, or what [`hlo_client::Client::compile`] refuses.
pub fn compile(platform: &Arc<Platform>, source: Source) -> Result<Arc<Program>> {
    let options = CompileOptionsProto::decode(source.options.as_slice())
        .map_err(|e| Fault::invalid(format!("the options are no CompileOptionsProto: {e}")))?;
    check_overrides(&options.env_option_overrides)?;
    let mut module = read(&source)?;
    let build = options.executable_build_options.as_deref().cloned().unwrap_or_default();
    let is_portable = options.compile_portable_executable;
    for (count, said) in [
        (&mut module.header.replica_count, build.num_replicas),
        (&mut module.header.num_partitions, build.num_partitions),
    ] {
        if said > 0 {
            *count = Count(said);
        }
    }
    let violations = verify(&module);
    if !violations.is_empty() {
        return Err(Fault::invalid(said(&violations)));
    }
    let options = CompileOptions {
        donation: true,
        device_assignment: if is_portable { Vec::new() } else { assignment(&build)? },
        spmd_partitioning: build.use_spmd_partitioning && module.header.num_partitions.0 > 1,
        ..CompileOptions::default()
    };
    Program::compile(platform, module, options, is_portable, source)
}

/// The module of a program.
fn read(source: &Source) -> Result<Module> {
    let code = source.code.as_slice();
    match source.format.as_str() {
        "mlir" => {
            let tree = match code.starts_with(b"ML\xefR") {
                true => hlo_stablehlo::bytecode::read(code).map_err(|d| Fault::invalid(said(&[d])))?,
                false => hlo_stablehlo::text::parse(text(code)?).map_err(|d| Fault::invalid(said(&d)))?,
            };
            hlo_stablehlo::import::import(&tree).map_err(|d| Fault::invalid(said(&d)))
        }
        "hlo" if code.trim_ascii_start().starts_with(b"HloModule") => {
            hlo_parser::parse_module(text(code)?).map_err(|d| Fault::invalid(said(&d)))
        }
        "hlo" => hlo_proto::read_module(code).map_err(|d| Fault::invalid(said(&[d]))),
        "hlo_with_config" => hlo_proto::read_module_with_config(code).map_err(|d| Fault::invalid(said(&[d]))),
        other => Err(Fault::invalid(format!(
            "expected a program in the format `mlir`, `hlo` or `hlo_with_config`, found `{other}`"
        ))),
    }
}

fn text(code: &[u8]) -> Result<&str> {
    std::str::from_utf8(code).map_err(|_| Fault::invalid("the program is a text, but no UTF-8"))
}

/// The numbers of the devices, replica by replica; none if it is not said.
fn assignment(build: &ExecutableBuildOptionsProto) -> Result<Vec<usize>> {
    let Some(assignment) = &build.device_assignment else {
        let ordinal = usize::try_from(build.device_ordinal).ok();
        return Ok(ordinal.filter(|_| build.num_replicas <= 1 && build.num_partitions <= 1).into_iter().collect());
    };
    let DeviceAssignmentProto { replica_count, computation_devices, .. } = &**assignment;
    let mut devices = Vec::new();
    for replica in 0..usize::try_from(*replica_count).unwrap_or(0) {
        for partition in computation_devices {
            let id = partition.replica_device_ids.get(replica).and_then(|&id| usize::try_from(id).ok());
            devices.push(id.ok_or_else(|| Fault::invalid("the device assignment lacks devices"))?);
        }
    }
    Ok(devices)
}

/// Refuses options of the caller that no compiler has. Those of XLA are about its own compilers, and are not followed.
fn check_overrides(overrides: &[EnvOptionOverride]) -> Result {
    for option in overrides {
        if !option.key.starts_with("xla_") {
            return Err(Fault::invalid(format!("No such compile option: '{}'", option.key)));
        }
    }
    Ok(())
}
