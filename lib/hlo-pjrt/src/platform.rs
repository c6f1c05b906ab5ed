//! The state behind a caller's client: devices, memories, and the client that compiles and runs programs.

use crate::device::{Device, MEMORY_KINDS, Memory};
use crate::fault::{Fault, Result};
use crate::in_order::InOrder;
use crate::pool::Pool;
use crate::sys::{Handle, NamedValue, Value};
use hlo_client::ClientOptions;
use hlo_custom_call::Registry;
use hlo_ir::suggest::nearest;
use std::path::PathBuf;
use std::sync::Arc;

/// The devices, the memories, and the client that compiles and runs programs. All objects of a client keep
/// its platform alive.
pub struct Platform {
    /// The name of the platform, by which JAX selects lowering rules. `cpu` by default.
    pub name: String,
    /// The library and its version.
    pub version: String,
    /// The client that compiles and runs programs.
    pub client: hlo_client::Client,
    /// The devices.
    pub devices: Box<[Device]>,
    /// The memories of the devices, those of the first device first.
    pub memories: Box<[Memory]>,
    /// The addresses of the devices.
    pub device_handles: Vec<Handle<Device>>,
    /// The addresses of the memories.
    pub memory_handles: Vec<Handle<Memory>>,
    /// The threads that execute asynchronous runs.
    pub pool: Pool,
    /// The runs with effects.
    pub effects: InOrder,
    /// The policy that selects the engine of a run.
    pub engines: crate::policy::Policy,
    /// Number of threads that a program uses, 0 for one per processor.
    pub threads: usize,
}

/// Options of a client.
#[derive(Clone, Debug)]
pub struct Options {
    /// Number of devices.
    pub devices: usize,
    /// Number of threads that a program uses, 0 for one per processor.
    pub threads: usize,
    /// The name of the platform.
    pub platform: String,
    /// The reported kind of the devices.
    pub device_kind: String,
    /// A folder for compiled code.
    pub cache_dir: Option<PathBuf>,
    /// The policy that selects the engine of a run.
    pub engines: crate::policy::Policy,
}

impl Default for Options {
    /// One device of the platform `cpu`, with one thread per processor.
    fn default() -> Self {
        Self {
            devices: 1,
            threads: 0,
            platform: "cpu".into(),
            device_kind: "hlo".into(),
            cache_dir: None,
            engines: crate::policy::Policy::default(),
        }
    }
}

/// The names of the options. The first two are numbers, the others are texts.
const NAMES: [&str; 6] =
    ["num_devices", "num_threads", "platform_name", "device_kind", "cache_dir", "engine"];

impl Options {
    /// Reads the caller's options.
    ///
    /// # Errors
    /// An option is unknown, has a value of the wrong type, or is out of range.
    pub fn read(values: &[NamedValue]) -> Result<Self> {
        let mut options = Self::default();
        for named in values {
            let name = named.name.text()?;
            let value = named.value()?;
            match (name.as_str(), &value) {
                ("num_devices", Value::Integer(n)) => {
                    options.devices = count(&name, *n, hlo_ir::devices::MAX_DEVICES)?;
                }
                ("num_threads", Value::Integer(n)) => {
                    options.threads = count(&name, *n, hlo_client::MAX_THREADS)?
                }
                ("platform_name", Value::Text(text)) => options.platform = utf8(text),
                ("device_kind", Value::Text(text)) => options.device_kind = utf8(text),
                ("cache_dir", Value::Text(text)) => options.cache_dir = Some(PathBuf::from(utf8(text))),
                ("engine", Value::Text(text)) => {
                    let found = utf8(text);
                    options.engines = crate::policy::Policy::from_name(&found).ok_or_else(|| {
                        Fault::invalid(format!(
                            "engine: expected `tiered`, `compiled` or `interpreted`, found `{found}`"
                        ))
                    })?;
                }
                (known, found) if NAMES.contains(&known) => {
                    let expected = if NAMES[..2].contains(&known) { "a number" } else { "a text" };
                    return Err(Fault::invalid(format!("{name}: expected {expected}, found {found}")));
                }
                (unknown, _) => {
                    let meant = nearest(unknown, NAMES);
                    let hint = meant.map_or_else(
                        || format!("known: {}", NAMES.join(", ")),
                        |name| format!("did you mean `{name}`?"),
                    );
                    return Err(Fault::invalid(format!("there is no option `{unknown}` of clients; {hint}")));
                }
            }
        }
        Ok(options)
    }
}

/// Reads a number from 1 to `most`.
fn count(name: &str, n: i64, most: usize) -> Result<usize> {
    let number = usize::try_from(n).ok().filter(|n| (1..=most).contains(n));
    number.ok_or_else(|| Fault::invalid(format!("{name}: expected a number from 1 to {most}, found {n}")))
}

fn utf8(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

impl Platform {
    /// Creates a platform with these options.
    ///
    /// # Errors
    /// The folder for compiled code cannot be created, or other users may write to it.
    pub fn new(options: &Options) -> Result<Arc<Self>> {
        let mut custom_calls = Registry::new();
        custom_calls.add(crate::ffi::Handlers);
        // Both engines use the same routines, so that results do not depend on the engine of a run.
        #[cfg(feature = "codegen")]
        if options.engines != crate::policy::Policy::Interpreted {
            custom_calls.add(hlo_lapack::LAPACK);
        }
        custom_calls.add(crate::callbacks::Callbacks);
        let client = hlo_client::Client::new(&ClientOptions {
            devices: options.devices,
            custom_calls,
            custom_partitioner: Some(Arc::new(crate::partitioners::Partitioners)),
            cache_dir: options.cache_dir.clone(),
            ..ClientOptions::default()
        })?;
        let name = &options.platform;
        let devices: Box<[Device]> =
            (0..options.devices).map(|id| Device::new(id, &options.device_kind, name)).collect();
        let kinds = 0..MEMORY_KINDS.len();
        let memories: Box<[Memory]> = (0..options.devices)
            .flat_map(|device| kinds.clone().map(move |kind| Memory::new(device, kind, name)))
            .collect();
        for (device, own) in devices.iter().zip(memories.chunks(MEMORY_KINDS.len())) {
            device.memories.get_or_init(|| own.iter().map(Handle::to).collect());
            for memory in own {
                memory.devices.get_or_init(|| vec![Handle::to(device)]);
            }
        }
        Ok(Arc::new(Self {
            name: name.clone(),
            version: format!("hlo-pjrt {}", env!("CARGO_PKG_VERSION")),
            client,
            device_handles: devices.iter().map(Handle::to).collect(),
            memory_handles: memories.iter().map(Handle::to).collect(),
            devices,
            memories,
            pool: Pool::new(options.threads),
            effects: InOrder::default(),
            engines: options.engines,
            threads: options.threads,
        }))
    }

    /// Returns the number of a device that the caller passes.
    ///
    /// # Errors
    /// The handle is null or belongs to another client.
    pub fn device(&self, handle: Handle<Device>) -> Result<usize> {
        let device = handle.get()?;
        match self.devices.get(device.id) {
            Some(own) if handle.is(own) => Ok(device.id),
            _ => Err(Fault::invalid(format!("the device {} is another client's", device.description.name))),
        }
    }

    /// Returns the number of a memory that the caller passes.
    ///
    /// # Errors
    /// The handle is null or belongs to another client.
    pub fn memory(&self, handle: Handle<Memory>) -> Result<usize> {
        let memory = handle.get()?;
        match self.memories.get(memory.id) {
            Some(own) if handle.is(own) => Ok(memory.id),
            _ => Err(Fault::invalid(format!("the memory {} is another client's", memory.name))),
        }
    }

    /// Returns the number of the memory that the caller selects, directly or as the default memory of a
    /// device.
    ///
    /// # Errors
    /// Both handles are null, or one belongs to another client.
    pub fn place(&self, memory: Handle<Memory>, device: Handle<Device>) -> Result<usize> {
        if memory.is_null() { Ok(self.default_memory(self.device(device)?)) } else { self.memory(memory) }
    }

    /// Returns the number of the default memory of a device.
    pub fn default_memory(&self, device: usize) -> usize {
        self.memory_of_kind(device, 0)
    }

    /// Returns the number of the memory of a device that has this kind in [`MEMORY_KINDS`].
    pub fn memory_of_kind(&self, device: usize, kind: usize) -> usize {
        device * MEMORY_KINDS.len() + kind
    }
}
