//! Clients, which compile and run programs.

use crate::cache::{CacheStatistics, ProgramKey, Programs};
use crate::custom_calls::CustomCalls;
use crate::executable::Executable;
use crate::local::{CodeCache, CompileContext, LocalProgram};
use crate::options::engine;
use crate::partition::{Partition, partition_with};
use crate::passes::prepare_within;
use crate::{Buffer, CompileOptions, Device, Error, StandardFloats};
use hlo_custom_call::Registry;
use hlo_ir::budget::Budget;
use hlo_ir::devices::{DeviceCounts, MAX_DEVICES};
use hlo_ir::verify::Verified;
use hlo_ir::{AlignedBytes, HostLayout, Literal, Module, Shape};
use hlo_passes::{CustomPartitioner, has_custom_partitions};
use std::path::PathBuf;
use std::sync::Arc;

/// A client, which compiles and runs programs. Cloning is cheap, because all clones share the client.
///
/// # Example
/// ```
/// use hlo_client::{Client, CompileOptions};
/// use hlo_ir::Literal;
///
/// let client = Client::local();
/// let text = "HloModule m ENTRY e { x = f32[] parameter(0) ROOT y = f32[] negate(x) }";
/// let negate = client.compile_text(text, &CompileOptions::default())?;
/// let x = client.transfer_to(&Literal::r0(2.5f32))?;
/// let y = negate.execute(&[&x], Default::default())?;
/// assert_eq!(client.transfer_from(&y[0])?.get::<f32>(&[]), Some(-2.5));
/// // Compiling the same text again returns the same program.
/// client.compile_text(text, &CompileOptions::default())?;
/// assert_eq!(client.cache_statistics().hits, 1);
/// # Ok::<(), hlo_client::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Client(Arc<ClientState>);

/// The state of a client, in this process or on a server.
#[derive(Debug)]
enum ClientState {
    Local(Box<LocalState>),
    #[cfg(feature = "remote")]
    Server(crate::remote::Server),
}

/// The state of a client that runs programs in this process.
#[derive(Debug)]
struct LocalState {
    devices: Vec<Device>,
    programs: Programs,
    custom_calls: CustomCalls,
    custom_partitioner: Option<Arc<dyn CustomPartitioner>>,
    code_cache: Option<CodeCache>,
}

/// Options of a client that runs programs in this process.
#[derive(Clone, Debug)]
pub struct ClientOptions {
    /// Number of devices, from 1 to 1024. They share the processors of this process. A program with several
    /// replicas or partitions runs on that many devices.
    pub devices: usize,
    /// The targets of custom calls. The built-in targets and the LAPACK routines are always available.
    pub custom_calls: Registry,
    /// The function that partitions custom calls, such as those of `jax.custom_partitioning`, when the client
    /// partitions a program. With `None`, all custom calls are partitioned by the same built-in rules.
    pub custom_partitioner: Option<Arc<dyn CustomPartitioner>>,
    /// Maximum number of compiled programs to keep, 0 for none. If the same program is compiled again with
    /// the same options, the client returns the kept program. It removes the least recently requested program
    /// first.
    pub cached_programs: usize,
    /// Maximum total size of the kept programs, in bytes. The size of a program is an estimate, which
    /// includes its constants and temporaries.
    pub cached_program_bytes: u64,
    /// The folder for compiled code. Several processes can use it at the same time. The client creates the
    /// folder if it does not exist. The process executes the code in the folder, so only the user of the
    /// process may have write access.
    pub cache_dir: Option<PathBuf>,
    /// Maximum total size of the files in `cache_dir`, in bytes. The client removes the least recently used
    /// file first.
    pub cache_bytes: u64,
}

impl Default for ClientOptions {
    /// Returns options with one device and without a folder for compiled code. The client keeps up to 64
    /// programs with a total size of 1 GiB. If a folder is set, its files may have a total size of 1 GiB.
    fn default() -> Self {
        Self {
            devices: 1,
            custom_calls: Registry::new(),
            custom_partitioner: None,
            cached_programs: 64,
            cached_program_bytes: 1 << 30,
            cache_dir: None,
            cache_bytes: 1 << 30,
        }
    }
}

impl Client {
    /// Creates a client that runs programs in this process.
    pub fn local() -> Self {
        Self::with_cache(&ClientOptions::default(), None)
    }

    /// Creates a client that runs programs in this process, with these options.
    ///
    /// # Errors
    /// The folder for compiled code cannot be created, is not a folder, or other users may write to it.
    pub fn new(options: &ClientOptions) -> Result<Self, Error> {
        let code_cache = options.cache_dir.as_ref().map(|path| code_folder(path, options.cache_bytes));
        Ok(Self::with_cache(options, code_cache.transpose()?.flatten()))
    }

    fn with_cache(options: &ClientOptions, code_cache: Option<CodeCache>) -> Self {
        let here = LocalState {
            devices: (0..options.devices.clamp(1, MAX_DEVICES)).map(Device::processors).collect(),
            programs: Programs::new(options.cached_programs, options.cached_program_bytes),
            custom_calls: CustomCalls::new(options.custom_calls.clone()),
            custom_partitioner: options.custom_partitioner.clone(),
            code_cache,
        };
        Self(Arc::new(ClientState::Local(Box::new(here))))
    }

    /// Connects to the server at an address such as `unix:/run/hlo.sock` or `127.0.0.1:7070`. Programs and
    /// arrays are stored on the server. The client has a session with the server. The session ends when all
    /// clones of the client, and all programs and arrays that they created, are dropped. The server decides
    /// how many threads a program uses and which custom calls are available.
    ///
    /// # Errors
    /// The text is not an address, there is no such server, or the server has reached its maximum number of
    /// clients.
    #[cfg(feature = "remote")]
    pub fn connect(address: &str) -> Result<Self, Error> {
        let client = hlo_remote::RemoteClient::connect(address)?;
        Ok(Self(Arc::new(ClientState::Server(crate::remote::Server::connect(client)?))))
    }

    /// Connects to a server as [`Client::connect`] does, with certificates or a name.
    ///
    /// # Errors
    /// As [`Client::connect`], or the certificates are not accepted.
    #[cfg(feature = "remote")]
    pub fn connect_with(
        address: hlo_remote::Address,
        options: hlo_remote::ConnectOptions,
    ) -> Result<Self, Error> {
        let client = hlo_remote::RemoteClient::connect_with(address, options)?;
        Ok(Self(Arc::new(ClientState::Server(crate::remote::Server::connect(client)?))))
    }

    /// Returns the devices, at least one. A program runs on the first device, or on the first devices if it
    /// has several replicas or partitions. [`CompileOptions::device_assignment`] selects other devices.
    pub fn devices(&self) -> &[Device] {
        match &*self.0 {
            ClientState::Local(here) => &here.devices,
            #[cfg(feature = "remote")]
            ClientState::Server(server) => &server.devices,
        }
    }

    /// Returns how often this process compiled a program and how often it reused a kept program.
    pub fn cache_statistics(&self) -> CacheStatistics {
        match &*self.0 {
            ClientState::Local(here) => here.programs.statistics(),
            #[cfg(feature = "remote")]
            ClientState::Server(_) => CacheStatistics::default(),
        }
    }

    /// Converts a value into a row-major array. Every device of the client accepts the array. In this
    /// process, the array shares the memory of the value.
    ///
    /// # Errors
    /// The value is not an array.
    pub fn transfer_to(&self, value: &Literal) -> Result<Buffer, Error> {
        self.transfer_to_layout(value, &value.shape().without_layout())
    }

    /// Converts a value into an array in the layout of `shape`. Every device of the client accepts the array.
    ///
    /// # Errors
    /// The element type or the sizes of the value differ from those of `shape`.
    pub fn transfer_to_layout(&self, value: &Literal, shape: &Shape) -> Result<Buffer, Error> {
        match &*self.0 {
            ClientState::Local(_) => Buffer::from_literal(value, shape),
            #[cfg(feature = "remote")]
            ClientState::Server(server) => server.buffer(value, shape),
        }
    }

    /// Converts a value into a row-major array on one of the client's devices. Programs accept it on that
    /// device only.
    ///
    /// # Errors
    /// The value is not an array, or there is no such device.
    pub fn transfer_to_device(&self, value: &Literal, device: usize) -> Result<Buffer, Error> {
        let there = self.devices();
        let Some(device) = there.get(device) else {
            return Err(no_device(device, there.len()));
        };
        Ok(self.transfer_to(value)?.on(device))
    }

    /// Converts the array in `memory` into an array in the layout of `shape`. `layout` describes `memory`:
    /// the dimensions may be in any order, with or without padding (XLA preview, "Layout").
    ///
    /// # Errors
    /// The memory does not match the layout, or there is no memory for the array.
    pub fn transfer_to_laid_out(
        &self,
        memory: &[u8],
        layout: &HostLayout,
        shape: &Shape,
    ) -> Result<Buffer, Error> {
        let value = layout.read(memory, shape).map_err(|e| Error::new(e.to_string()))?;
        self.transfer_to_layout(&value, shape)
    }

    /// Copies an array into new memory that `layout` describes: the dimensions may be in any order, with or
    /// without padding. Waits until the buffer is ready.
    ///
    /// # Errors
    /// The array cannot have the layout, there is no memory for the copy, or the run that computes the array
    /// failed.
    pub fn transfer_from_laid_out(
        &self,
        buffer: &Buffer,
        layout: &HostLayout,
    ) -> Result<AlignedBytes, Error> {
        layout.write(&buffer.to_literal()?).map_err(|e| Error::new(e.to_string()))
    }

    /// Returns the value of an array on a device. Waits until the buffer is ready.
    ///
    /// # Errors
    /// The error of the run that computes the buffer.
    pub fn transfer_from(&self, buffer: &Buffer) -> Result<Literal, Error> {
        buffer.to_literal()
    }

    /// Compiles HLO text. If the client keeps a program for the same text and options, returns this program.
    ///
    /// # Errors
    /// The text cannot be parsed, the module is invalid, or the errors of [`Client::compile`].
    pub fn compile_text(&self, text: &str, options: &CompileOptions) -> Result<Executable, Error> {
        let _standard = StandardFloats::set();
        match &*self.0 {
            ClientState::Local(here) => here.compile_text(text, options),
            #[cfg(feature = "remote")]
            ClientState::Server(server) => server.compile_text(text, options),
        }
    }

    /// Verifies and compiles a module. If the client keeps a program for the same module and options, returns
    /// this program. Constant folding uses the standard floating-point mode, regardless of the mode of the
    /// calling thread. Runs use the same mode.
    ///
    /// # Errors
    /// The module is invalid, the client's devices cannot run it, a pass rejects it, or the errors of
    /// [`Client::load`].
    pub fn compile(&self, module: &Module, options: &CompileOptions) -> Result<Executable, Error> {
        let _standard = StandardFloats::set();
        match &*self.0 {
            ClientState::Local(here) => here.compile(Verified::new(module)?, options),
            #[cfg(feature = "remote")]
            ClientState::Server(server) => server.compile(module, options),
        }
    }

    /// Compiles a module as [`Client::compile`] does, within a budget. The compilation stops when the budget
    /// is exhausted. The client does not keep the program. If the options contain a pipeline, its text and
    /// counts are limited too ([`hlo_passes::Pipeline::parse_bounded`]). A server ignores `budget` and uses
    /// its own.
    ///
    /// # Errors
    /// As [`Client::compile`], or the budget is exhausted.
    pub fn compile_within(
        &self,
        module: &Module,
        options: &CompileOptions,
        budget: &Arc<dyn Budget>,
    ) -> Result<Executable, Error> {
        let _standard = StandardFloats::set();
        match &*self.0 {
            ClientState::Local(here) => here.compile_anew(Verified::new(module)?, options, Some(budget)),
            #[cfg(feature = "remote")]
            ClientState::Server(server) => server.compile(module, options),
        }
    }

    /// Creates a program from a module, `given`, and the result of running passes on it, `prepared`.
    /// `prepared` comes from [`crate::prepare`], or from other passes followed by [`crate::lower`]. Ignores
    /// the passes and the partitioning in the options. Compiles the module each time, unless
    /// [`ClientOptions::cache_dir`] contains its code.
    ///
    /// # Errors
    /// One of the modules is invalid, the engine does not support an instruction, a custom call has no target
    /// or its target rejects it, or the program needs more memory than the options allow or more devices than
    /// the client has.
    pub fn load(
        &self,
        given: &Module,
        prepared: Module,
        options: &CompileOptions,
    ) -> Result<Executable, Error> {
        let _standard = StandardFloats::set();
        match &*self.0 {
            ClientState::Local(here) => {
                here.load_partitioned(Verified::new(given)?, Verified::new(prepared)?, None, options, None)
            }
            #[cfg(feature = "remote")]
            ClientState::Server(server) => {
                let passes = crate::Passes::Lowering;
                let options = CompileOptions { passes, spmd_partitioning: false, ..options.clone() };
                server.compile(&prepared, &options)
            }
        }
    }

    /// Runs a program on values and returns its result. See [`Executable::run`].
    ///
    /// # Errors
    /// A value does not fit its parameter, or the run fails.
    pub fn execute_and_transfer(&self, program: &Executable, values: &[Literal]) -> Result<Literal, Error> {
        program.run(values)
    }
}

impl LocalState {
    fn compile_text(&self, text: &str, options: &CompileOptions) -> Result<Executable, Error> {
        let read = || Ok::<_, Error>(Verified::new(hlo_parser::parse_module(text)?)?);
        if self.custom_partitioner.is_some() {
            return self.compile(read()?.as_ref(), options);
        }
        let compile = || self.compile_anew(read()?.as_ref(), options, None);
        self.kept(options, || ProgramKey::of_text(text, options), compile)
    }

    fn compile(&self, module: Verified<&Module>, options: &CompileOptions) -> Result<Executable, Error> {
        let compile = || self.compile_anew(module, options, None);
        // The partitioner may return another program for the same calls each time.
        let partitioner = self.custom_partitioner.as_deref();
        if options.spmd_partitioning && partitioner.is_some_and(|p| has_custom_partitions(&module, p)) {
            return compile();
        }
        self.kept(options, || ProgramKey::of_module(&module, options), compile)
    }

    /// Returns the kept program of a key, or compiles it. Programs with debug information are not kept,
    /// because debuggers must be notified of each compilation.
    fn kept(
        &self,
        options: &CompileOptions,
        key: impl FnOnce() -> ProgramKey,
        compile: impl FnOnce() -> Result<Executable, Error>,
    ) -> Result<Executable, Error> {
        match options.debug_info {
            None => self.programs.get(key, compile),
            Some(_) => compile(),
        }
    }

    fn compile_anew(
        &self,
        given: Verified<&Module>,
        options: &CompileOptions,
        budget: Option<&Arc<dyn Budget>>,
    ) -> Result<Executable, Error> {
        let mut module = given.get().clone();
        let mut changed = module.make_explicit();
        let refused = hlo_ir::verify::verify_execution(&module);
        if !refused.is_empty() {
            return Err(Error::Diags(refused));
        }
        let partition = if options.spmd_partitioning {
            changed = true;
            Some(partition_with(&mut module, self.custom_partitioner.as_deref())?)
        } else {
            None
        };
        let module = if changed { Verified::new(&module)? } else { given };
        let prepared = prepare_within(module, engine(options), &options.passes, budget)?.module;
        self.load_partitioned(module, Verified::new(prepared)?, partition, options, budget)
    }

    fn load_partitioned(
        &self,
        given: Verified<&Module>,
        prepared: Verified<Module>,
        partition: Option<Partition>,
        options: &CompileOptions,
        budget: Option<&Arc<dyn Budget>>,
    ) -> Result<Executable, Error> {
        let devices = self.assigned(DeviceCounts::of(&given).map_or(1, DeviceCounts::devices), options)?;
        let given_by_client =
            CompileContext { custom_calls: &self.custom_calls, code_cache: self.code_cache.as_ref(), budget };
        let program =
            LocalProgram::new(&given, prepared, options, given_by_client)?.with_partition(partition);
        Ok(Executable::local(program, devices))
    }

    /// Returns the devices for a program that needs `needed` devices.
    fn assigned(&self, needed: usize, options: &CompileOptions) -> Result<Vec<Device>, Error> {
        let (there, said) = (self.devices.len(), &options.device_assignment);
        if said.is_empty() {
            let first = self.devices.get(..needed).map(<[Device]>::to_vec);
            return first.ok_or_else(|| {
                Error::new(format!("the program runs on {needed} devices, but the client has {there}"))
            });
        }
        if said.len() != needed {
            let found = said.len();
            return Err(Error::new(format!(
                "the program runs on {needed} devices, but {found} are assigned to it"
            )));
        }
        let mut assigned: Vec<Device> = Vec::with_capacity(needed);
        for (place, &id) in said.iter().enumerate() {
            if let Some(before) = said[..place].iter().position(|&other| other == id) {
                return Err(Error::new(format!(
                    "device {id} is assigned twice, as the program's device {before} and {place}"
                )));
            }
            assigned.push(self.devices.get(id).ok_or_else(|| no_device(id, there))?.clone());
        }
        Ok(assigned)
    }
}

fn no_device(id: usize, there: usize) -> Error {
    Error::new(format!("there is no device {id}: the client's are 0 to {}", there.saturating_sub(1)))
}

impl Default for Client {
    fn default() -> Self {
        Self::local()
    }
}

#[cfg(feature = "codegen")]
fn code_folder(path: &std::path::Path, most_bytes: u64) -> Result<Option<CodeCache>, Error> {
    Ok(Some(Arc::new(crate::cache::CodeFolder::open(path, most_bytes)?)))
}

/// Without code generation there is no compiled code to keep.
#[cfg(not(feature = "codegen"))]
fn code_folder(_: &std::path::Path, _: u64) -> Result<Option<CodeCache>, Error> {
    Ok(None)
}
