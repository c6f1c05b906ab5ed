//! Compile options: what a client asks of the compilation of a program.

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

/// Compile options (CompileOptionsProto): those that have a meaning here, the others as they came.
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
    /// The shapes of the arguments with the layouts that they will have; empty if that is left to the compiler.
    pub argument_layouts: Vec<Shape>,
    /// The shape of the result with the layouts that it must have.
    pub result_layout: Option<Shape>,
    /// True if all arguments are elements of one tuple, the program's only parameter.
    pub parameter_is_tupled_arguments: bool,
    /// True if the program may run on any device: no assignment is given.
    pub compile_portable_executable: bool,
    /// How many copies of the program run on different data.
    pub num_replicas: i64,
    /// How many devices work on each copy.
    pub num_partitions: i64,
    /// True if the program is for all partitions, and has to be cut for each.
    pub use_spmd_partitioning: bool,
    /// True if its shardings are Shardy's.
    pub use_shardy_partitioner: bool,
    /// Which devices run it.
    pub device_assignment: Option<DeviceAssignment>,
    /// Whether the partitioner may choose shardings of parameters: for all, or one by one.
    pub allow_spmd_sharding_propagation_to_parameters: Vec<bool>,
    /// Whether the partitioner may choose shardings of results: for all, or one by one.
    pub allow_spmd_sharding_propagation_to_output: Vec<bool>,
    /// True if parameters that are results unchanged may share memory with them.
    pub alias_passthrough_params: bool,
    /// Debug options and the like by name, in the order in which they were given.
    pub env_option_overrides: Vec<(String, OptionValue)>,
    /// Fields that are not known, and left out: a warning for each of them.
    pub warnings: Vec<Diag>,
    /// All other fields, debug options among them, as they came.
    rest: CompileOptionsProto,
}

/// The devices that run a program, by their global ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceAssignment {
    /// For each partition, the devices of its replicas.
    pub devices: Vec<Vec<i64>>,
}

/// The value of an option that is given by name.
#[derive(Clone, Debug, PartialEq)]
pub enum OptionValue {
    /// A text.
    Text(HloString),
    /// A truth value.
    Bool(bool),
    /// An integer.
    Integer(i64),
    /// A number.
    Number(f64),
}

impl Default for CompileOptions {
    /// As XLA has it: one process, any device.
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
    /// The options in a serialized CompileOptionsProto.
    ///
    /// # Errors
    /// The bytes are damaged, or shapes and devices do not make sense.
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

    /// The options as a message.
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

    /// The options as a serialized CompileOptionsProto.
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
