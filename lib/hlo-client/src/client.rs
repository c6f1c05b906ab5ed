//! Who compiles programs and runs them.

use crate::cache::{CacheStatistics, ProgramKey, Programs};
use crate::custom_calls::CustomCalls;
use crate::executable::Executable;
use crate::local::{CodeCache, Given, LocalProgram};
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

/// Who compiles programs and runs them. Cloning is cheap: both are the same client.
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
/// // The same text again is the same program.
/// client.compile_text(text, &CompileOptions::default())?;
/// assert_eq!(client.cache_statistics().hits, 1);
/// # Ok::<(), hlo_client::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Client(Arc<Place>);

/// Where a client's programs are.
#[derive(Debug)]
enum Place {
    Here(Box<Here>),
    #[cfg(feature = "remote")]
    Server(crate::remote::Server),
}

/// What a client of this process has.
#[derive(Debug)]
struct Here {
    devices: Vec<Device>,
    programs: Programs,
    custom_calls: CustomCalls,
    custom_partitioner: Option<Arc<dyn CustomPartitioner>>,
    code_cache: Option<CodeCache>,
}

/// What a client of this process has and keeps.
#[derive(Clone, Debug)]
pub struct ClientOptions {
    /// The devices, at least one and at most 1024. Those of this process share its processors; a program of several replicas
    /// or partitions runs on as many.
    pub devices: usize,
    /// The targets of custom calls. Those that are built in, and LAPACK's routines, are there besides.
    pub custom_calls: Registry,
    /// Who partitions custom calls of programs that are for all partitions together; `None` leaves them to each device.
    pub custom_partitioner: Option<Arc<dyn CustomPartitioner>>,
    /// How many programs are kept, those that were asked for last: what is compiled again with the same options is not compiled
    /// again. 0 for none.
    pub cached_programs: usize,
    /// About the bytes that these may hold together, for constants and temporaries.
    pub cached_program_bytes: u64,
    /// A folder for compiled code, which other processes may use at the same time and later ones find there. It is made if it
    /// is not there. What it holds is run: nobody else may write to it.
    pub cache_dir: Option<PathBuf>,
    /// The bytes of files that are kept in that folder: what was not used for longest goes first.
    pub cache_bytes: u64,
}

impl Default for ClientOptions {
    /// One device; 64 programs of together a GiB, and no folder; of a folder that is named, a GiB.
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
    /// A client that runs programs in this process.
    pub fn local() -> Self {
        Self::with_cache(&ClientOptions::default(), None)
    }

    /// A client that runs programs in this process, and has and keeps what the options say.
    ///
    /// # Errors
    /// The folder for compiled code can't be made, is none, or others may write to it.
    pub fn new(options: &ClientOptions) -> Result<Self, Error> {
        let code_cache = options.cache_dir.as_ref().map(|path| code_folder(path, options.cache_bytes));
        Ok(Self::with_cache(options, code_cache.transpose()?.flatten()))
    }

    fn with_cache(options: &ClientOptions, code_cache: Option<CodeCache>) -> Self {
        let here = Here {
            devices: (0..options.devices.clamp(1, MAX_DEVICES)).map(Device::processors).collect(),
            programs: Programs::new(options.cached_programs, options.cached_program_bytes),
            custom_calls: CustomCalls::new(options.custom_calls.clone()),
            custom_partitioner: options.custom_partitioner.clone(),
            code_cache,
        };
        Self(Arc::new(Place::Here(Box::new(here))))
    }

    /// A client of the server at an address, such as `unix:/run/hlo.sock` or `127.0.0.1:7070`: programs and arrays are there. It
    /// has a session with the server, which ends with the last clone of it and of what it made; how many threads a program
    /// takes, and which custom calls there are, is up to the server.
    ///
    /// # Errors
    /// The text is no address, there is no such server, or it has as many clients as it may.
    #[cfg(feature = "remote")]
    pub fn connect(address: &str) -> Result<Self, Error> {
        let client = hlo_remote::RemoteClient::connect(address)?;
        Ok(Self(Arc::new(Place::Server(crate::remote::Server::connect(client)?))))
    }

    /// As [`Client::connect`], with certificates, or a name.
    ///
    /// # Errors
    /// As [`Client::connect`], or the certificates are not accepted.
    #[cfg(feature = "remote")]
    pub fn connect_with(
        address: hlo_remote::Address,
        options: hlo_remote::ConnectOptions,
    ) -> Result<Self, Error> {
        let client = hlo_remote::RemoteClient::connect_with(address, options)?;
        Ok(Self(Arc::new(Place::Server(crate::remote::Server::connect(client)?))))
    }

    /// The devices, at least one. Programs run on the first, those of several replicas or partitions on the first of them, unless
    /// [`CompileOptions::device_assignment`] says others.
    pub fn devices(&self) -> &[Device] {
        match &*self.0 {
            Place::Here(here) => &here.devices,
            #[cfg(feature = "remote")]
            Place::Server(server) => &server.devices,
        }
    }

    /// How often programs were compiled in this process, and how often they were there.
    pub fn cache_statistics(&self) -> CacheStatistics {
        match &*self.0 {
            Place::Here(here) => here.programs.statistics(),
            #[cfg(feature = "remote")]
            Place::Server(_) => CacheStatistics::default(),
        }
    }

    /// A value as an array on a device, row-major. It shares the value's memory.
    ///
    /// # Errors
    /// The value is no array.
    pub fn transfer_to(&self, value: &Literal) -> Result<Buffer, Error> {
        self.transfer_to_layout(value, &value.shape().without_layout())
    }

    /// A value as an array on a device, in the layout of `shape`.
    ///
    /// # Errors
    /// The value is of another type, or of other sizes.
    pub fn transfer_to_layout(&self, value: &Literal, shape: &Shape) -> Result<Buffer, Error> {
        match &*self.0 {
            Place::Here(_) => Buffer::from_literal(value, shape),
            #[cfg(feature = "remote")]
            Place::Server(server) => server.buffer(value, shape),
        }
    }

    /// A value as an array on one of the client's devices, row-major: programs take it there only.
    ///
    /// # Errors
    /// The value is no array, or there is no such device.
    pub fn transfer_to_device(&self, value: &Literal, device: usize) -> Result<Buffer, Error> {
        let there = self.devices();
        let Some(device) = there.get(device) else {
            return Err(no_device(device, there.len()));
        };
        Ok(self.transfer_to(value)?.on(device))
    }

    /// An array that lies in a program's memory in any order of dimensions, with padding or without, as one on a device in the
    /// layout of `shape` (XLA preview, "Layout").
    ///
    /// # Errors
    /// The memory is not that of such an array, or there is no memory for another one.
    pub fn transfer_to_laid_out(
        &self,
        memory: &[u8],
        layout: &HostLayout,
        shape: &Shape,
    ) -> Result<Buffer, Error> {
        let value = layout.read(memory, shape).map_err(|e| Error::new(e.to_string()))?;
        self.transfer_to_layout(&value, shape)
    }

    /// An array on a device, once it is ready, as it lies in a program's memory in any order of dimensions, with padding or
    /// without.
    ///
    /// # Errors
    /// The array can't lie like that, there is no memory for it, or what the run ended with that was to compute it.
    pub fn transfer_from_laid_out(
        &self,
        buffer: &Buffer,
        layout: &HostLayout,
    ) -> Result<AlignedBytes, Error> {
        layout.write(&buffer.to_literal()?).map_err(|e| Error::new(e.to_string()))
    }

    /// The value of an array on a device, once it is ready.
    ///
    /// # Errors
    /// What the run ended with that was to compute it.
    pub fn transfer_from(&self, buffer: &Buffer) -> Result<Literal, Error> {
        buffer.to_literal()
    }

    /// Compiles a text, unless it was compiled with these options before.
    ///
    /// # Errors
    /// The text does not parse or verify, or one of those of [`Client::compile`].
    pub fn compile_text(&self, text: &str, options: &CompileOptions) -> Result<Executable, Error> {
        let _standard = StandardFloats::set();
        match &*self.0 {
            Place::Here(here) => here.compile_text(text, options),
            #[cfg(feature = "remote")]
            Place::Server(server) => server.compile_text(text, options),
        }
    }

    /// Verifies a module and compiles it, unless it was compiled with these options before. Constants are computed in the
    /// standard mode for floats, whatever that of the caller's thread is, as runs are.
    ///
    /// # Errors
    /// The rules that the module breaks; the client's devices can't run it; a pass refuses it; or one of those of
    /// [`Client::load`].
    pub fn compile(&self, module: &Module, options: &CompileOptions) -> Result<Executable, Error> {
        let _standard = StandardFloats::set();
        match &*self.0 {
            Place::Here(here) => here.compile(Verified::new(module)?, options),
            #[cfg(feature = "remote")]
            Place::Server(server) => server.compile(module, options),
        }
    }

    /// As [`Client::compile`], but the compilation ends once its budget is used up, and is not kept. A pipeline of the options is
    /// bounded as well ([`hlo_passes::Pipeline::parse_bounded`]). A server has a budget of its own.
    ///
    /// # Errors
    /// As [`Client::compile`], or the budget is used up.
    pub fn compile_within(
        &self,
        module: &Module,
        options: &CompileOptions,
        budget: &Arc<dyn Budget>,
    ) -> Result<Executable, Error> {
        let _standard = StandardFloats::set();
        match &*self.0 {
            Place::Here(here) => here.compile_anew(Verified::new(module)?, options, Some(budget)),
            #[cfg(feature = "remote")]
            Place::Server(server) => server.compile(module, options),
        }
    }

    /// Makes a program of a module and of what passes made of it: those of [`crate::prepare`], or others before [`crate::lower`]. The
    /// options' passes and partitioning do not count. It is compiled each time, but for what [`ClientOptions::cache_dir`] has.
    ///
    /// # Errors
    /// The rules that one of the modules breaks; what the engine does not have, each at its instruction; custom calls without
    /// a target, or that it refuses; more memory than the options allow; more devices than the client has.
    pub fn load(
        &self,
        given: &Module,
        prepared: Module,
        options: &CompileOptions,
    ) -> Result<Executable, Error> {
        let _standard = StandardFloats::set();
        match &*self.0 {
            Place::Here(here) => {
                here.load_partitioned(Verified::new(given)?, Verified::new(prepared)?, None, options, None)
            }
            #[cfg(feature = "remote")]
            Place::Server(server) => {
                let passes = crate::Passes::Lowering;
                let options = CompileOptions { passes, spmd_partitioning: false, ..options.clone() };
                server.compile(&prepared, &options)
            }
        }
    }

    /// Runs a program on values, and gives its result: [`Executable::run`].
    ///
    /// # Errors
    /// A value does not fit its parameter; or what the run ends with.
    pub fn execute_and_transfer(&self, program: &Executable, values: &[Literal]) -> Result<Literal, Error> {
        program.run(values)
    }
}

impl Here {
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
        // What a partitioner makes of the same calls may be another program each time.
        let partitioner = self.custom_partitioner.as_deref();
        if options.spmd_partitioning && partitioner.is_some_and(|p| has_custom_partitions(&module, p)) {
            return compile();
        }
        self.kept(options, || ProgramKey::of_module(&module, options), compile)
    }

    /// The program of a key, if it is there or worth keeping: debuggers want to hear of each.
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
        let partition = match options.spmd_partitioning {
            true => {
                changed = true;
                Some(partition_with(&mut module, self.custom_partitioner.as_deref())?)
            }
            false => None,
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
            Given { custom_calls: &self.custom_calls, code_cache: self.code_cache.as_ref(), budget };
        let program =
            LocalProgram::new(&given, prepared, options, given_by_client)?.with_partition(partition);
        Ok(Executable::local(program, devices))
    }

    /// The devices that a program on so many runs on.
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

/// Nothing is compiled, so nothing is kept.
#[cfg(not(feature = "codegen"))]
fn code_folder(_: &std::path::Path, _: u64) -> Result<Option<CodeCache>, Error> {
    Ok(None)
}
