//! Compile options: a client's options for the compilation of a program.

use super::shape::{read_shape, write_shape};
use crate::decode::{Decoded, decode};
use crate::messages::{
    CompileOptionsProto, ComputationDevice, DeviceAssignmentProto, EnvOptionOverride,
    ExecutableBuildOptionsProto, OptionOverrideProto,
};
use hlo_ir::Shape;
use hlo_ir::attr::HloString;
use hlo_ir::diag::Diag;
use prost::Message;

/// Compile options (CompileOptionsProto). Fields that this project does not use are kept unchanged.
///
/// # Example
/// ```
/// use hlo_proto::{CompileOptions, OptionValue};
///
/// let mut options = CompileOptions::default();
/// options.num_partitions = 4;
/// options.env_option_overrides.push(("xla_dump_to".into(), OptionValue::Text("/tmp".into())));
/// let read = CompileOptions::read(&options.write()).expect("options");
/// assert_eq!((read.num_replicas, read.num_partitions), (1, 4));
/// assert_eq!(read.env_option_overrides, options.env_option_overrides);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct CompileOptions {
    /// The shapes of the arguments, with their layouts. If empty, the compiler chooses the layouts.
    pub argument_layouts: Vec<Shape>,
    /// The shape of the result, with its required layout.
    pub result_layout: Option<Shape>,
    /// Whether the program's only parameter is a tuple of all arguments.
    pub parameter_is_tupled_arguments: bool,
    /// Whether the program may run on any device. Such options contain no device assignment.
    pub compile_portable_executable: bool,
    /// The number of replicas: copies of the program that run on different data.
    pub num_replicas: i64,
    /// The number of partitions: devices that share the work of one replica.
    pub num_partitions: i64,
    /// Whether the program is for all partitions, and the partitioner must split it.
    pub use_spmd_partitioning: bool,
    /// Whether the program uses Shardy's shardings.
    pub use_shardy_partitioner: bool,
    /// The devices that run the program.
    pub device_assignment: Option<DeviceAssignment>,
    /// Whether the partitioner may choose the shardings of parameters: one value for all, or one for each.
    pub allow_spmd_sharding_propagation_to_parameters: Vec<bool>,
    /// Whether the partitioner may choose the shardings of results: one value for all, or one for each.
    pub allow_spmd_sharding_propagation_to_output: Vec<bool>,
    /// Whether parameters that are returned unchanged may share memory with the results.
    pub alias_passthrough_params: bool,
    /// Debug options and other options by name, in the order of the message.
    pub env_option_overrides: Vec<(String, OptionValue)>,
    /// One warning for each unknown field. Unknown fields are dropped.
    pub warnings: Vec<Diag>,
    /// All other fields, unchanged, including the debug options.
    rest: CompileOptionsProto,
}

/// The devices that run a program, by their global ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceAssignment {
    /// The devices of the replicas, for each partition.
    pub devices: Vec<Vec<i64>>,
}

/// The value of an option in [`CompileOptions::env_option_overrides`].
#[derive(Clone, Debug, PartialEq)]
pub enum OptionValue {
    /// A string.
    Text(HloString),
    /// A Boolean.
    Bool(bool),
    /// An integer.
    Integer(i64),
    /// A floating-point number.
    Number(f64),
}

impl Default for CompileOptions {
    /// Returns XLA's defaults: one process, any device.
    fn default() -> Self {
        let build = ExecutableBuildOptionsProto {
            device_ordinal: -1,
            process_count: 1,
            num_replicas: 1,
            num_partitions: 1,
            ..ExecutableBuildOptionsProto::default()
        };
        Self {
            argument_layouts: Vec::new(),
            result_layout: None,
            parameter_is_tupled_arguments: false,
            compile_portable_executable: false,
            num_replicas: 1,
            num_partitions: 1,
            use_spmd_partitioning: false,
            use_shardy_partitioner: false,
            device_assignment: None,
            allow_spmd_sharding_propagation_to_parameters: Vec::new(),
            allow_spmd_sharding_propagation_to_output: Vec::new(),
            alias_passthrough_params: false,
            env_option_overrides: Vec::new(),
            warnings: Vec::new(),
            rest: CompileOptionsProto {
                executable_build_options: Some(Box::new(build)),
                ..CompileOptionsProto::default()
            },
        }
    }
}

impl CompileOptions {
    /// Reads a serialized CompileOptionsProto.
    ///
    /// # Errors
    /// The bytes are damaged, or a shape or the device assignment is invalid.
    pub fn read(bytes: &[u8]) -> Result<Self, Diag> {
        let Decoded { message, warnings } = decode::<CompileOptionsProto>(bytes)?;
        match Self::of(message) {
            Ok(options) => Ok(Self { warnings, ..options }),
            Err(message) => Err(Diag::error(format!("compile options: {message}"))),
        }
    }

    fn of(mut proto: CompileOptionsProto) -> super::Result<Self> {
        let mut build = proto.executable_build_options.take().unwrap_or_default();
        let count = |n: i64| if n == 0 { 1 } else { n };
        let entry = |entry: EnvOptionOverride| {
            let value = entry.value.as_deref().and_then(read_value);
            value.map(|value| (entry.key, value)).ok_or("an option that is given by name has no value")
        };
        let overrides = std::mem::take(&mut proto.env_option_overrides);
        Ok(Self {
            argument_layouts: std::mem::take(&mut proto.argument_layouts)
                .iter()
                .map(read_shape)
                .collect::<super::Result<_>>()?,
            result_layout: build.result_layout.take().map(|s| read_shape(&s)).transpose()?,
            parameter_is_tupled_arguments: proto.parameter_is_tupled_arguments,
            compile_portable_executable: proto.compile_portable_executable,
            num_replicas: count(build.num_replicas),
            num_partitions: count(build.num_partitions),
            use_spmd_partitioning: build.use_spmd_partitioning,
            use_shardy_partitioner: build.use_shardy_partitioner,
            device_assignment: build.device_assignment.take().map(|a| read_assignment(&a)).transpose()?,
            allow_spmd_sharding_propagation_to_parameters: std::mem::take(
                &mut build.allow_spmd_sharding_propagation_to_parameters,
            ),
            allow_spmd_sharding_propagation_to_output: std::mem::take(
                &mut build.allow_spmd_sharding_propagation_to_output,
            ),
            alias_passthrough_params: build.alias_passthrough_params,
            env_option_overrides: overrides.into_iter().map(entry).collect::<Result<_, _>>()?,
            warnings: Vec::new(),
            rest: CompileOptionsProto { executable_build_options: Some(build), ..proto },
        })
    }

    /// Returns the options as a message.
    pub fn to_proto(&self) -> CompileOptionsProto {
        let build = self.rest.executable_build_options.as_deref().cloned().unwrap_or_default();
        let entry = |(key, value): &(String, OptionValue)| EnvOptionOverride {
            key: key.clone(),
            value: Some(Box::new(write_value(value))),
        };
        CompileOptionsProto {
            argument_layouts: self.argument_layouts.iter().map(write_shape).collect(),
            parameter_is_tupled_arguments: self.parameter_is_tupled_arguments,
            compile_portable_executable: self.compile_portable_executable,
            env_option_overrides: self.env_option_overrides.iter().map(entry).collect(),
            executable_build_options: Some(Box::new(ExecutableBuildOptionsProto {
                result_layout: self.result_layout.as_ref().map(|s| Box::new(write_shape(s))),
                num_replicas: self.num_replicas,
                num_partitions: self.num_partitions,
                use_spmd_partitioning: self.use_spmd_partitioning,
                use_shardy_partitioner: self.use_shardy_partitioner,
                device_assignment: self.device_assignment.as_ref().map(|a| Box::new(write_assignment(a))),
                allow_spmd_sharding_propagation_to_parameters: self
                    .allow_spmd_sharding_propagation_to_parameters
                    .clone(),
                allow_spmd_sharding_propagation_to_output: self
                    .allow_spmd_sharding_propagation_to_output
                    .clone(),
                alias_passthrough_params: self.alias_passthrough_params,
                ..build
            })),
            ..self.rest.clone()
        }
    }

    /// Returns the options as a serialized CompileOptionsProto.
    pub fn write(&self) -> Vec<u8> {
        self.to_proto().encode_to_vec()
    }
}

fn read_value(proto: &OptionOverrideProto) -> Option<OptionValue> {
    let text = proto.string_field.as_ref().map(|t| OptionValue::Text(HloString::from_bytes(&t[..])));
    text.or(proto.bool_field.map(OptionValue::Bool))
        .or(proto.int_field.map(OptionValue::Integer))
        .or(proto.double_field.map(OptionValue::Number))
}

fn write_value(value: &OptionValue) -> OptionOverrideProto {
    let mut proto = OptionOverrideProto::default();
    match value {
        OptionValue::Text(text) => proto.string_field = Some(text.as_bytes().to_vec()),
        OptionValue::Bool(b) => proto.bool_field = Some(*b),
        OptionValue::Integer(n) => proto.int_field = Some(*n),
        OptionValue::Number(n) => proto.double_field = Some(*n),
    }
    proto
}

fn read_assignment(proto: &DeviceAssignmentProto) -> super::Result<DeviceAssignment> {
    let devices: Vec<Vec<i64>> =
        proto.computation_devices.iter().map(|c| c.replica_device_ids.clone()).collect();
    let (replicas, computations) = (proto.replica_count, proto.computation_count);
    let fits = |len: usize, count: i32| usize::try_from(count) == Ok(len);
    if !fits(devices.len(), computations) || devices.iter().any(|d| !fits(d.len(), replicas)) {
        return Err(format!(
            "{devices:?} are not the devices of {replicas} replicas of {computations} partitions"
        ));
    }
    Ok(DeviceAssignment { devices })
}

fn write_assignment(assignment: &DeviceAssignment) -> DeviceAssignmentProto {
    let count = |n: usize| i32::try_from(n).unwrap_or(i32::MAX);
    let devices = &assignment.devices;
    DeviceAssignmentProto {
        replica_count: count(devices.first().map_or(0, Vec::len)),
        computation_count: count(devices.len()),
        computation_devices: devices
            .iter()
            .map(|list| ComputationDevice { replica_device_ids: list.clone() })
            .collect(),
    }
}
