//! The caller's executables: the properties of compiled programs.

use crate::device::{Device, MEMORY_KINDS};
use crate::fault::{Fault, Result};
use crate::layouts::Layouts;
use crate::program::{Leaf, Program};
use crate::shardings::encoded;
use crate::sys::{Handle, LogicalDeviceIds, NamedValue, Value};
use hlo_ir::attr::Sharding;
use hlo_passes::analysis::ModuleCost;
use hlo_proto::messages::{ComputationDevice, DeviceAssignmentProto};
use prost::Message;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// A program and the properties that the caller can query.
pub struct Executable {
    program: Arc<Program>,
    output_types: Vec<i32>,
    output_dims: Vec<i64>,
    output_ranks: Vec<usize>,
    parameter_kinds: Texts,
    output_kinds: Texts,
    costs: OnceLock<Vec<NamedValue>>,
    optimized: OnceLock<Result<Vec<u8>>>,
    shardings: OnceLock<(Texts, Texts)>,
    layouts: OnceLock<(Layouts, Layouts)>,
}

/// Texts that the caller receives as two lists.
#[derive(Default)]
pub struct Texts {
    /// The owner of the memory that the addresses refer to.
    _texts: Vec<Vec<u8>>,
    addresses: Vec<*const u8>,
    sizes: Vec<usize>,
}

// SAFETY: the addresses refer to memory that this value owns, and nothing is written.
unsafe impl Send for Texts {}
// SAFETY: as above.
unsafe impl Sync for Texts {}

impl Texts {
    /// Stores texts.
    pub fn new(texts: Vec<Vec<u8>>) -> Self {
        let addresses = texts.iter().map(|text| text.as_ptr()).collect();
        let sizes = texts.iter().map(Vec::len).collect();
        Self { _texts: texts, addresses, sizes }
    }

    /// Returns the two lists. Both are null if there are no texts.
    pub fn pointers(&self) -> (*const *const u8, *const usize) {
        if self.addresses.is_empty() {
            (ptr::null(), ptr::null())
        } else {
            (self.addresses.as_ptr(), self.sizes.as_ptr())
        }
    }
}

impl Executable {
    /// Computes the properties of a program.
    pub fn new(program: Arc<Program>) -> Self {
        let results = &program.results;
        let kinds = |leaves: &[Leaf]| {
            Texts::new(leaves.iter().map(|leaf| MEMORY_KINDS[leaf.memory_kind].into()).collect())
        };
        Self {
            output_types: results.iter().map(Leaf::type_number).collect(),
            output_dims: results.iter().flat_map(|leaf| leaf.dims.iter().copied()).collect(),
            output_ranks: results.iter().map(|leaf| leaf.dims.len()).collect(),
            parameter_kinds: kinds(&program.parameters),
            output_kinds: kinds(results),
            costs: OnceLock::new(),
            optimized: OnceLock::new(),
            shardings: OnceLock::new(),
            layouts: OnceLock::new(),
            program,
        }
    }

    /// Returns the program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Returns the numbers of the element types of the results.
    pub fn output_types(&self) -> &[i32] {
        &self.output_types
    }

    /// Returns the sizes of all results, one result after the other, and the rank of each result.
    pub fn output_dims(&self) -> (&[i64], &[usize]) {
        (&self.output_dims, &self.output_ranks)
    }

    /// Returns the memory kinds of the parameters and of the results.
    pub fn memory_kinds(&self) -> (&Texts, &Texts) {
        (&self.parameter_kinds, &self.output_kinds)
    }

    /// Returns the layouts of the parameters and of the results.
    pub fn layouts(&self) -> &(Layouts, Layouts) {
        let program = &self.program;
        self.layouts.get_or_init(|| (Layouts::of(&program.parameters), Layouts::of(&program.results)))
    }

    /// Returns the cost of a run, by XLA's measures.
    pub fn costs(&self) -> &[NamedValue] {
        self.costs.get_or_init(|| {
            let module = &self.program.module;
            let total = ModuleCost::of(module).total(module);
            let measures: [(&str, u64); 3] = [
                ("flops", total.flops),
                ("transcendentals", total.transcendentals),
                ("bytes accessed", total.bytes),
            ];
            measures.map(|(name, n)| NamedValue::new(name, Value::Float(n as f32))).into()
        })
    }

    /// Returns the module that runs, as an `HloModuleProtoWithConfig`.
    ///
    /// # Errors
    /// The module cannot be written.
    pub fn optimized(&self) -> Result<&[u8]> {
        let made = self.optimized.get_or_init(|| {
            let program = &self.program;
            let module = program.engines.best().module().unwrap_or(&program.module);
            let mut whole = hlo_proto::from_module_with_config(module);
            if let Some(config) = &mut whole.config {
                config.replica_count = count(program.replicas);
                config.num_partitions = count(program.partitions);
                config.use_spmd_partitioning = program.options.spmd_partitioning;
                config.static_device_assignment = Some(Box::new(self.assignment()));
            }
            Ok(whole.encode_to_vec())
        });
        made.as_ref().map(Vec::as_slice).map_err(Clone::clone)
    }

    /// Returns the devices that run the program, replica by replica.
    pub fn assignment(&self) -> DeviceAssignmentProto {
        let program = &self.program;
        let number = |n: usize| i32::try_from(n).unwrap_or(i32::MAX);
        let device = |replica: usize, partition: usize| {
            let devices = &program.devices;
            count(devices.get(replica * program.partitions + partition).copied().unwrap_or(0))
        };
        let computation_devices = (0..program.partitions).map(|partition| ComputationDevice {
            replica_device_ids: (0..program.replicas).map(|replica| device(replica, partition)).collect(),
        });
        DeviceAssignmentProto {
            replica_count: number(program.replicas),
            computation_count: number(program.partitions),
            computation_devices: computation_devices.collect(),
        }
    }

    /// Returns the shardings of the parameters and of the results, each an `OpSharding`. Both lists are empty
    /// if the program was not partitioned.
    pub fn shardings(&self) -> &(Texts, Texts) {
        self.shardings.get_or_init(|| {
            let Some([parameters, results]) = encoded_shardings(&self.program) else {
                return Default::default();
            };
            (Texts::new(parameters), Texts::new(results))
        })
    }

    /// Returns the total bytes of the arguments, of the results, of the donated arguments, and of the
    /// temporaries.
    pub fn memory(&self) -> [i64; 4] {
        let program = &self.program;
        let size = |leaves: &mut dyn Iterator<Item = &Leaf>| -> i64 {
            leaves.map(|leaf| count(leaf.shape.byte_size())).fold(0, i64::saturating_add)
        };
        let aliased =
            program.parameters.iter().zip(&program.donated).filter(|(_, d)| **d).map(|(leaf, _)| leaf);
        [
            size(&mut program.parameters.iter()),
            size(&mut program.results.iter()),
            size(&mut { aliased }),
            self.temporaries(),
        ]
    }
}

#[cfg(feature = "codegen")]
impl Executable {
    /// Returns the bytes of the temporaries of compiled code, or 0 for an interpreted program.
    fn temporaries(&self) -> i64 {
        let compiled = self.program.engines.best().compiled();
        i64::try_from(compiled.map_or(0, |code| code.arena_bytes())).unwrap_or(i64::MAX)
    }
}

#[cfg(not(feature = "codegen"))]
impl Executable {
    /// Returns 0, because the temporaries of an interpreted program are unknown.
    fn temporaries(&self) -> i64 {
        0
    }
}

fn count(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// A program that the caller can run.
pub struct LoadedExecutable {
    program: Arc<Program>,
    devices: Vec<Handle<Device>>,
    logical: Vec<LogicalDeviceIds>,
    is_deleted: AtomicBool,
}

impl LoadedExecutable {
    /// Creates an executable that the caller can run.
    pub fn new(program: Arc<Program>) -> Self {
        let platform = &program.platform;
        let number = |n: usize| i32::try_from(n).unwrap_or(i32::MAX);
        // A portable program is not assigned to devices.
        let numbers: &[usize] = if program.is_portable { &[] } else { &program.devices };
        let devices = numbers.iter().filter_map(|&id| platform.device_handles.get(id).copied()).collect();
        let logical = (0..numbers.len()).map(|n| LogicalDeviceIds {
            replica: number(n / program.partitions.max(1)),
            partition: number(n % program.partitions.max(1)),
        });
        Self { devices, logical: logical.collect(), is_deleted: AtomicBool::new(false), program }
    }

    /// Returns the program.
    ///
    /// # Errors
    /// The executable was deleted.
    pub fn program(&self) -> Result<&Arc<Program>> {
        if self.is_deleted() {
            Err(Fault::invalid("the executable has been deleted"))
        } else {
            Ok(&self.program)
        }
    }

    /// Returns the properties of the program, even if the executable was deleted.
    pub fn properties(&self) -> Executable {
        Executable::new(self.program.clone())
    }

    /// Returns the devices that the program runs on.
    pub fn devices(&self) -> &[Handle<Device>] {
        &self.devices
    }

    /// Returns the replica and partition that each device runs.
    pub fn logical_ids(&self) -> &[LogicalDeviceIds] {
        &self.logical
    }

    /// Deletes the executable. It cannot run any more.
    pub fn delete(&self) {
        self.is_deleted.store(true, Ordering::Relaxed);
    }

    /// Returns whether the executable was deleted.
    pub fn is_deleted(&self) -> bool {
        self.is_deleted.load(Ordering::Relaxed)
    }
}

/// Returns the shardings of the parameters and of the results, each an `OpSharding`, or `None` if the program
/// was not partitioned.
fn encoded_shardings(program: &Program) -> Option<[Vec<Vec<u8>>; 2]> {
    let partition = program.engines.best().partition()?;
    let written = |kind| encoded(&Sharding::single(kind));
    Some(partition.shardings().map(|kinds| kinds.into_iter().map(written).collect()))
}
