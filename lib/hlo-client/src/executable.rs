//! Compiled programs.
//!
//! The *leaves* of a value are its arrays and tokens, with all tuples flattened. Programs take and return one
//! buffer for each leaf.

use crate::local::LocalProgram;
use crate::time_limit::limited;
use crate::{Buffer, Device, Error, Partition, RunOptions, boundary};
use hlo_ir::{Literal, Module, Shape};
use std::sync::Arc;

/// A compiled program. Several threads can run it at the same time. Cloning is cheap, because all clones
/// share the program.
#[derive(Clone, Debug)]
pub struct Executable(Arc<Program>);

#[derive(Debug)]
struct Program {
    /// The devices that the program runs on. At least one.
    devices: Vec<Device>,
    place: ProgramState,
}

/// The program, in this process or on a server.
#[derive(Debug)]
enum ProgramState {
    Local(Box<LocalProgram>),
    #[cfg(feature = "remote")]
    Server(hlo_remote::RemoteExecutable),
}

/// The arguments of a program, converted to the layouts and padded to the sizes that the program requires.
/// See [`Executable::arguments`].
#[derive(Clone, Debug)]
pub struct Arguments {
    buffers: Vec<Buffer>,
    /// The device of the arguments, if any of them has one.
    device: Option<Device>,
}

/// Memory for the results of a program. Several runs can use it, one after another. See
/// [`Executable::allocate_results`].
#[derive(Debug)]
pub struct Results(Vec<Buffer>);

impl Results {
    /// Returns the arrays that the last run wrote. They are the arrays of [`Executable::leaves`], except that
    /// arrays with dynamic sizes are padded to their bounds, and their sizes are separate arrays after all
    /// others. Before the first run, the contents are unspecified.
    pub fn buffers(&self) -> &[Buffer] {
        &self.0
    }

    pub(crate) fn buffers_mut(&mut self) -> &mut Vec<Buffer> {
        &mut self.0
    }

    /// Assigns the results to the device that computed them.
    pub(crate) fn set_device(&mut self, device: &Device) {
        self.0.iter_mut().for_each(|buffer| buffer.set_device(device));
    }
}

impl Arguments {
    pub(crate) fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    /// Checks that the arguments are on `device`.
    pub(crate) fn check_device(&self, device: &Device) -> Result<(), Error> {
        check_device(self.device.as_ref(), device)
    }
}

/// Checks that arguments with a device are on the device that the program runs on.
pub(crate) fn check_device(found: Option<&Device>, expected: &Device) -> Result<(), Error> {
    match found.map(Device::id).filter(|&found| found != expected.id()) {
        None => Ok(()),
        Some(found) => Err(Error::new(format!(
            "expected arguments on device {}, where the program runs, found them on device {found} (Buffer::copy_to_device)",
            expected.id()
        ))),
    }
}

/// Returns the device of the arguments of a run, if any of them has one. Fails if two arguments are on
/// different devices.
pub(crate) fn common_device<'a>(buffers: impl Iterator<Item = &'a Buffer>) -> Result<Option<Device>, Error> {
    let mut common: Option<(usize, &Device)> = None;
    for (i, device) in buffers.enumerate().filter_map(|(i, b)| Some((i, b.device()?))) {
        match common {
            Some((first, other)) if other.id() != device.id() => {
                let (a, b) = (other.id(), device.id());
                return Err(Error::new(format!(
                    "expected the arguments of a run on one device, found argument {first} on device {a} and argument {i} on device {b}"
                )));
            }
            Some(_) => {}
            None => common = Some((i, device)),
        }
    }
    Ok(common.map(|(_, device)| device.clone()))
}

impl Executable {
    pub(crate) fn local(program: LocalProgram, devices: Vec<Device>) -> Self {
        Self(Arc::new(Program { devices, place: ProgramState::Local(Box::new(program)) }))
    }

    /// Creates a program on a server.
    #[cfg(feature = "remote")]
    pub(crate) fn on_server(program: hlo_remote::RemoteExecutable, device: Device) -> Self {
        Self(Arc::new(Program { devices: vec![device], place: ProgramState::Server(program) }))
    }

    /// Returns the program if it runs in this process.
    pub(crate) fn local_program(&self) -> Option<&LocalProgram> {
        match &self.0.place {
            ProgramState::Local(program) => Some(program),
            #[cfg(feature = "remote")]
            ProgramState::Server(_) => None,
        }
    }

    /// Returns how the parameters and results of the whole program are divided among devices, or `None` if
    /// the client did not partition the program ([`crate::CompileOptions::spmd_partitioning`]).
    pub fn partition(&self) -> Option<&Partition> {
        self.local_program()?.partition()
    }

    /// Returns the module after the passes, which is the module that runs, or `None` for a program on a
    /// server.
    pub fn module(&self) -> Option<&Module> {
        self.local_program().map(|program| &*program.module)
    }

    /// Returns the module after the passes, which is the module that runs. Requests it from the server if
    /// necessary.
    ///
    /// # Errors
    /// There is no connection to the server.
    pub fn lowered(&self) -> Result<Module, Error> {
        match &self.0.place {
            ProgramState::Local(program) => Ok(program.module.as_ref().get().clone()),
            #[cfg(feature = "remote")]
            ProgramState::Server(program) => program.lowered(),
        }
    }

    /// Returns the devices that the program runs on. Their number is `replica_count × num_partitions` of the
    /// module. Element `replica × num_partitions + partition` is the device that runs that replica and
    /// partition.
    pub fn devices(&self) -> &[Device] {
        &self.0.devices
    }

    /// Returns the first device that the program runs on. Most programs have only one.
    pub fn device(&self) -> &Device {
        &self.0.devices[0]
    }

    /// Returns the shapes of the leaves of the parameters, in order, with the layouts that the module
    /// specifies.
    pub fn parameters(&self) -> &[Shape] {
        match &self.0.place {
            ProgramState::Local(program) => &program.parameters,
            #[cfg(feature = "remote")]
            ProgramState::Server(program) => program.parameters(),
        }
    }

    /// Returns the shape of the result, with the layout that the module specifies.
    pub fn result(&self) -> &Shape {
        match &self.0.place {
            ProgramState::Local(program) => &program.result,
            #[cfg(feature = "remote")]
            ProgramState::Server(program) => program.result(),
        }
    }

    /// Returns the compiled program, or `None` if the program is interpreted or on a server.
    #[cfg(feature = "codegen")]
    pub fn compiled(&self) -> Option<&hlo_codegen::Executable> {
        self.local_program()?.compiled()
    }

    /// Estimates the memory that the program occupies in this process, in bytes. 0 for a program on a server.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.local_program().map_or(0, LocalProgram::memory_bytes)
    }

    /// Runs the program on values, one for each leaf of the parameters, and returns the result.
    ///
    /// # Errors
    /// The shape of a value does not match its parameter, or the run fails.
    pub fn run(&self, values: &[Literal]) -> Result<Literal, Error> {
        #[cfg(feature = "remote")]
        if let ProgramState::Server(program) = &self.0.place {
            return program.run(values);
        }
        let buffers = self.buffers(values)?;
        let leaves = self.execute(&buffers.iter().collect::<Vec<_>>(), RunOptions::default())?;
        self.value(leaves)
    }

    /// Converts values, one for each leaf of the parameters, into arrays in the layouts of the parameters.
    /// Every device of the program accepts the arrays. If the program is on a server, the arrays are stored
    /// on the server.
    ///
    /// # Errors
    /// The shape of a value does not match its parameter, or the server rejects the value.
    pub fn buffers(&self, values: &[Literal]) -> Result<Vec<Buffer>, Error> {
        let shapes = self.parameters();
        if values.len() != shapes.len() {
            return Err(Error::argument_count(shapes.len(), values.len()));
        }
        match &self.0.place {
            ProgramState::Local(_) => {
                (values.iter().zip(shapes)).map(|(value, shape)| Buffer::from_literal(value, shape)).collect()
            }
            #[cfg(feature = "remote")]
            ProgramState::Server(program) => {
                Ok(program.buffers(values)?.into_iter().map(Buffer::on_server).collect())
            }
        }
    }

    /// Builds the result of a run from its leaves.
    ///
    /// # Errors
    /// The arrays do not have the shapes of the leaves of the result, or the run that computes one of them
    /// failed.
    pub fn value(&self, leaves: Vec<Buffer>) -> Result<Literal, Error> {
        let shapes = self.result().leaves();
        boundary::check_leaves(&shapes, &leaves)?;
        let leaves = leaves.into_iter().map(Buffer::into_literal).collect::<Result<Vec<_>, _>>()?;
        let value = Literal::from_leaves(self.result(), &mut leaves.into_iter());
        value.ok_or_else(|| Error::new(format!("the arrays are no result of shape {}", self.result())))
    }

    /// Runs the program on one buffer for each leaf of the parameters, and returns one buffer for each leaf
    /// of the result. If the program runs in this process and a buffer is on a server, transfers the buffer.
    ///
    /// # Errors
    /// The shape of a buffer does not match its parameter, the program is on a server and a buffer is not, or
    /// the run fails.
    pub fn execute(&self, arguments: &[&Buffer], options: RunOptions<'_>) -> Result<Vec<Buffer>, Error> {
        let arguments = self.arguments(arguments)?;
        let mut results = self.allocate_results()?;
        self.execute_into(&arguments, &mut results, options)?;
        self.leaves(results)
    }

    /// Converts buffers into the arguments of a run: changes their layouts, and pads arrays with dynamic
    /// sizes to their bounds, if the program requires it. Waits for buffers that are not ready. Several runs
    /// can use the same arguments.
    ///
    /// # Errors
    /// The shape of a buffer does not match its parameter, two buffers are on different devices, the run that
    /// computes a buffer failed, or there is no memory for a converted array.
    pub fn arguments(&self, buffers: &[&Buffer]) -> Result<Arguments, Error> {
        let buffers = buffers.iter().map(|b| b.settled()).collect::<Result<Vec<_>, _>>()?;
        self.check_arguments(&buffers.iter().collect::<Vec<_>>())?;
        match &self.0.place {
            ProgramState::Local(program) => {
                let device = common_device(buffers.iter())?;
                Ok(Arguments { buffers: program.arguments(buffers)?, device })
            }
            #[cfg(feature = "remote")]
            ProgramState::Server(_) => Ok(Arguments { buffers, device: None }),
        }
    }

    /// Checks the number of arguments, and the shapes of the arguments that are ready.
    pub(crate) fn check_arguments(&self, buffers: &[&Buffer]) -> Result<(), Error> {
        let shapes = self.parameters();
        if buffers.len() != shapes.len() {
            return Err(Error::argument_count(shapes.len(), buffers.len()));
        }
        for (i, (shape, buffer)) in shapes.iter().zip(buffers).enumerate() {
            if buffer.is_ready() && !shape.accepts(buffer.shape()) {
                let found = buffer.shape();
                return Err(Error::new(format!(
                    "argument {i}: expected an array of shape {shape}, found {found}"
                )));
            }
        }
        Ok(())
    }

    /// Allocates memory for the results of a run. Later runs can reuse the memory.
    ///
    /// # Errors
    /// There is no memory for a result.
    pub fn allocate_results(&self) -> Result<Results, Error> {
        match &self.0.place {
            ProgramState::Local(program) => program.allocate_results().map(Results),
            #[cfg(feature = "remote")]
            ProgramState::Server(_) => Ok(Results(Vec::new())),
        }
    }

    /// Runs the program, and writes the results to `results`. Compiled code in this process overwrites the
    /// results of the previous run, unless other buffers still share their memory.
    ///
    /// # Errors
    /// There is no item of the right shape for an infeed, a custom call fails, dynamic sizes do not match
    /// ([`Error::Sizes`]), the watch stops the run, the run exceeds its time limit, the interpreter does not
    /// support an instruction, the server rejects the run, or the arguments are on another device than the
    /// program.
    pub fn execute_into(
        &self,
        arguments: &Arguments,
        results: &mut Results,
        options: RunOptions<'_>,
    ) -> Result<(), Error> {
        match &self.0.place {
            ProgramState::Local(program) => {
                arguments.check_device(self.device())?;
                let buffers = &arguments.buffers;
                limited(options, |options| program.execute_into(buffers, &mut results.0, options))?;
                results.set_device(self.device());
            }
            #[cfg(feature = "remote")]
            ProgramState::Server(program) => {
                results.0 = crate::remote::execute(program, &arguments.buffers, options)?;
            }
        }
        Ok(())
    }

    /// Returns the leaves of the result of the last run that wrote to `results`. Cuts arrays with dynamic
    /// sizes to their sizes.
    ///
    /// # Errors
    /// `results` belongs to another program, or there is no memory for an array that is cut to its size.
    pub fn leaves(&self, results: Results) -> Result<Vec<Buffer>, Error> {
        match &self.0.place {
            ProgramState::Local(program) => {
                program.check_results(&results.0)?;
                program.leaves(results.0)
            }
            #[cfg(feature = "remote")]
            ProgramState::Server(_) => Ok(results.0),
        }
    }
}
