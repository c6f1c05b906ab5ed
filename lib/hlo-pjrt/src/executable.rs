//! Executables of the caller's: what can be asked of a compiled program.

use crate::device::{Device, MEMORY_KINDS};
use crate::fault::{Fault, Result};
use crate::layouts::Layouts;
use crate::program::{Leaf, Program};
use crate::sys::{Handle, LogicalDeviceIds, NamedValue, Value};
use hlo_passes::analysis::ModuleCost;
use hlo_proto::messages::{ComputationDevice, DeviceAssignmentProto};
use prost::Message;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// A program, as the caller asks for its properties.
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

/// Texts that the caller gets as two lists.
#[derive(Default)]
pub struct Texts {
    /// What the addresses are of.
    _texts: Vec<Vec<u8>>,
    addresses: Vec<*const u8>,
    sizes: Vec<usize>,
}

// SAFETY: the addresses are of what it has, and nothing is written.
unsafe impl Send for Texts {}
// SAFETY: as above.
unsafe impl Sync for Texts {}

impl Texts {
    /// Texts to be kept.
    pub fn new(texts: Vec<Vec<u8>>) -> Self {
        let addresses = texts.iter().map(|text| text.as_ptr()).collect();
        let sizes = texts.iter().map(Vec::len).collect();
        Self { _texts: texts, addresses, sizes }
    }

    /// The two lists; null if there are no texts.
    pub fn pointers(&self) -> (*const *const u8, *const usize) {
        match self.addresses.is_empty() {
            true => (ptr::null(), ptr::null()),
            false => (self.addresses.as_ptr(), self.sizes.as_ptr()),
        }
    }
}

impl Executable {
    /// What the caller asks about a program.
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

    /// The program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// The numbers of the results' element types.
    pub fn output_types(&self) -> &[i32] {
        &self.output_types
    }

    /// The sizes of all results, one after the other, and how many each has.
    pub fn output_dims(&self) -> (&[i64], &[usize]) {
        (&self.output_dims, &self.output_ranks)
    }

    /// The kinds of the memories of parameters and results.
    pub fn memory_kinds(&self) -> (&Texts, &Texts) {
        (&self.parameter_kinds, &self.output_kinds)
    }

    /// The layouts of parameters and of results.
    pub fn layouts(&self) -> &(Layouts, Layouts) {
        let program = &self.program;
        self.layouts.get_or_init(|| (Layouts::of(&program.parameters), Layouts::of(&program.results)))
    }

    /// What a run costs, by XLA's measures.
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

    /// The module that runs, as an `HloModuleProtoWithConfig`.
    ///
    /// # Errors
    /// It can't be written.
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

    /// The devices that run it, replica by replica.
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

    /// The shardings of parameters and of results, each an `OpSharding`; nothing if it runs on one device.
    pub fn shardings(&self) -> &(Texts, Texts) {
        self.shardings.get_or_init(|| {
            let Some([parameters, results]) = crate::shardings::of(&self.program) else {
                return Default::default();
            };
            (Texts::new(parameters), Texts::new(results))
        })
    }

    /// The bytes of arguments, of results, of those of results that lie in arguments' memory, and of temporaries.
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
    /// The bytes of the temporaries of compiled code; nothing is known of those of a program that is interpreted.
    fn temporaries(&self) -> i64 {
        let compiled = self.program.engines.best().compiled();
        i64::try_from(compiled.map_or(0, |code| code.arena_bytes())).unwrap_or(i64::MAX)
    }
}

#[cfg(not(feature = "codegen"))]
impl Executable {
    /// Nothing is known of the temporaries of a program that is interpreted.
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
    /// A program that can be run.
    pub fn new(program: Arc<Program>) -> Self {
        let platform = &program.platform;
        let number = |n: usize| i32::try_from(n).unwrap_or(i32::MAX);
        // What is for no device in particular has none.
        let numbers: &[usize] = if program.is_portable { &[] } else { &program.devices };
        let devices = numbers.iter().filter_map(|&id| platform.device_handles.get(id).copied()).collect();
        let logical = (0..numbers.len()).map(|n| LogicalDeviceIds {
            replica: number(n / program.partitions.max(1)),
            partition: number(n % program.partitions.max(1)),
        });
        Self { devices, logical: logical.collect(), is_deleted: AtomicBool::new(false), program }
    }

    /// The program.
    ///
    /// # Errors
    /// It was deleted.
    pub fn program(&self) -> Result<&Arc<Program>> {
        match self.is_deleted() {
            false => Ok(&self.program),
            true => Err(Fault::invalid("the executable has been deleted")),
        }
    }

    /// The program, deleted or not.
    pub fn properties(&self) -> Executable {
        Executable::new(self.program.clone())
    }

    /// The devices that it runs on.
    pub fn devices(&self) -> &[Handle<Device>] {
        &self.devices
    }

    /// Which replica and partition each of them runs.
    pub fn logical_ids(&self) -> &[LogicalDeviceIds] {
        &self.logical
    }

    /// Lets it run no more.
    pub fn delete(&self) {
        self.is_deleted.store(true, Ordering::Relaxed);
    }

    /// True once it was deleted.
    pub fn is_deleted(&self) -> bool {
        self.is_deleted.load(Ordering::Relaxed)
    }
}
