//! Programs that can be run.

use crate::local::LocalProgram;
use crate::time_limit::limited;
use crate::{Buffer, Device, Error, Partition, RunOptions, boundary};
use hlo_ir::{Literal, Module, Shape};
use std::sync::Arc;

/// A program that can be run, from several threads at once. Cloning is cheap: both are the same program.
#[derive(Clone, Debug)]
pub struct Executable(Arc<Program>);

#[derive(Debug)]
struct Program {
    /// At least one.
    devices: Vec<Device>,
    place: Place,
}

/// Where a program is.
#[derive(Debug)]
enum Place {
    Here(Box<LocalProgram>),
    #[cfg(feature = "remote")]
    Server(hlo_remote::RemoteExecutable),
}

/// The arguments of a program as it takes them: see [`Executable::arguments`].
#[derive(Clone, Debug)]
pub struct Arguments {
    buffers: Vec<Buffer>,
    /// Where they are, if that is said of one.
    device: Option<Device>,
}

/// The memory of a program's results, from run to run: see [`Executable::room`].
#[derive(Debug)]
pub struct Results(Vec<Buffer>);

impl Results {
    /// The arrays that the last run wrote, as the program has them: those of [`Executable::leaves`] but for sizes that are known
    /// at run time only, which come after them. Before the first run, zeros.
    pub fn buffers(&self) -> &[Buffer] {
        &self.0
    }

    pub(crate) fn buffers_mut(&mut self) -> &mut Vec<Buffer> {
        &mut self.0
    }

    /// They were computed on this device.
    pub(crate) fn lie_on(&mut self, device: &Device) {
        self.0.iter_mut().for_each(|buffer| buffer.lie_on(device));
    }
}

impl Arguments {
    pub(crate) fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    /// Checks that a device has them all.
    pub(crate) fn check_device(&self, device: &Device) -> Result<(), Error> {
        check_device(self.device.as_ref(), device)
    }
}

/// Checks that arguments are where a program takes them, if that is said of one.
pub(crate) fn check_device(found: Option<&Device>, expected: &Device) -> Result<(), Error> {
    match found.map(Device::id).filter(|&found| found != expected.id()) {
        None => Ok(()),
        Some(found) => Err(Error::new(format!(
            "expected arguments on device {}, where the program runs, found them on device {found} (Buffer::copy_to_device)",
            expected.id()
        ))),
    }
}

/// The device that arguments of one run lie on, if that is said of one.
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
        Self(Arc::new(Program { devices, place: Place::Here(Box::new(program)) }))
    }

    /// A program on a server.
    #[cfg(feature = "remote")]
    pub(crate) fn on_server(program: hlo_remote::RemoteExecutable, device: Device) -> Self {
        Self(Arc::new(Program { devices: vec![device], place: Place::Server(program) }))
    }

    /// The program, if it is one of this process.
    pub(crate) fn here(&self) -> Option<&LocalProgram> {
        match &self.0.place {
            Place::Here(program) => Some(program),
            #[cfg(feature = "remote")]
            Place::Server(_) => None,
        }
    }

    /// How values of the whole program are cut into those of the devices, of a program that was
    /// ([`crate::CompileOptions::spmd_partitioning`]).
    pub fn partition(&self) -> Option<&Partition> {
        self.here()?.partition()
    }

    /// The module that runs, what passes made of the one that was given; `None` of a program on a server.
    pub fn module(&self) -> Option<&Module> {
        self.here().map(|program| &*program.module)
    }

    /// The module that runs, what passes made of the one that was given; a server is asked for it.
    ///
    /// # Errors
    /// There is no connection to the server.
    pub fn lowered(&self) -> Result<Module, Error> {
        match &self.0.place {
            Place::Here(program) => Ok(program.module.as_ref().get().clone()),
            #[cfg(feature = "remote")]
            Place::Server(program) => program.lowered(),
        }
    }

    /// The devices that it runs on, the module's `replica_count` times `num_partitions`: device `replica × num_partitions +
    /// partition` is that replica and partition.
    pub fn devices(&self) -> &[Device] {
        &self.0.devices
    }

    /// The first device that it runs on, and the only one of most programs.
    pub fn device(&self) -> &Device {
        &self.0.devices[0]
    }

    /// The leaves of the parameters, in order, in the layouts that the module asks for.
    pub fn parameters(&self) -> &[Shape] {
        match &self.0.place {
            Place::Here(program) => &program.parameters,
            #[cfg(feature = "remote")]
            Place::Server(program) => program.parameters(),
        }
    }

    /// The shape of the result, in the layout that the module asks for.
    pub fn result(&self) -> &Shape {
        match &self.0.place {
            Place::Here(program) => &program.result,
            #[cfg(feature = "remote")]
            Place::Server(program) => program.result(),
        }
    }

    /// The compiled program; `None` for one that is interpreted, or on a server.
    #[cfg(feature = "codegen")]
    pub fn compiled(&self) -> Option<&hlo_codegen::Executable> {
        self.here()?.compiled()
    }

    /// The bytes that the program holds in this process as long as it is there.
    pub(crate) fn held_bytes(&self) -> u64 {
        self.here().map_or(0, LocalProgram::held_bytes)
    }

    /// Runs the program on values, one for each leaf of the parameters, and gives the result.
    ///
    /// # Errors
    /// A value does not fit its parameter; or what the run ends with.
    pub fn run(&self, values: &[Literal]) -> Result<Literal, Error> {
        #[cfg(feature = "remote")]
        if let Place::Server(program) = &self.0.place {
            return program.run(values);
        }
        let buffers = self.buffers(values)?;
        let leaves = self.execute(&buffers.iter().collect::<Vec<_>>(), RunOptions::default())?;
        self.value(leaves)
    }

    /// Values as arrays that the program's devices take, on a server those of a program there, one for each leaf of the parameters, in the layouts of these.
    ///
    /// # Errors
    /// A value does not fit its parameter; or a server does not take it.
    pub fn buffers(&self, values: &[Literal]) -> Result<Vec<Buffer>, Error> {
        let shapes = self.parameters();
        if values.len() != shapes.len() {
            return Err(Error::argument_count(shapes.len(), values.len()));
        }
        match &self.0.place {
            Place::Here(_) => {
                (values.iter().zip(shapes)).map(|(value, shape)| Buffer::from_literal(value, shape)).collect()
            }
            #[cfg(feature = "remote")]
            Place::Server(program) => {
                Ok(program.buffers(values)?.into_iter().map(Buffer::on_server).collect())
            }
        }
    }

    /// The result whose leaves are these.
    ///
    /// # Errors
    /// These are not the leaves of a result of this program; or one that was waited for could not be computed.
    pub fn value(&self, leaves: Vec<Buffer>) -> Result<Literal, Error> {
        let shapes = self.result().leaves();
        boundary::check_leaves(&shapes, &leaves)?;
        let leaves = leaves.into_iter().map(Buffer::into_literal).collect::<Result<Vec<_>, _>>()?;
        let value = Literal::from_leaves(self.result(), &mut leaves.into_iter());
        value.ok_or_else(|| Error::new(format!("the arrays are no result of shape {}", self.result())))
    }

    /// Runs the program on one buffer for each leaf of the parameters, and gives one for each leaf of the result.
    ///
    /// # Errors
    /// A buffer does not fit its parameter, or is one of this process and the program is on a server (the other way round it is
    /// transferred); or what the run ends with.
    pub fn execute(&self, arguments: &[&Buffer], options: RunOptions<'_>) -> Result<Vec<Buffer>, Error> {
        let arguments = self.arguments(arguments)?;
        let mut results = self.room()?;
        self.execute_into(&arguments, &mut results, options)?;
        self.leaves(results)
    }

    /// The arguments of a run as the program takes them: in its layouts, and, where sizes are known at run time only, of the
    /// bounds. For those that several runs have. Waits for buffers that are not ready.
    ///
    /// # Errors
    /// A buffer does not fit its parameter, lies on another device than others, could not be computed, or there is no memory for
    /// its other form.
    pub fn arguments(&self, buffers: &[&Buffer]) -> Result<Arguments, Error> {
        let buffers = buffers.iter().map(|b| b.settled()).collect::<Result<Vec<_>, _>>()?;
        self.check_arguments(&buffers.iter().collect::<Vec<_>>())?;
        match &self.0.place {
            Place::Here(program) => {
                let device = common_device(buffers.iter())?;
                Ok(Arguments { buffers: program.arguments(buffers)?, device })
            }
            #[cfg(feature = "remote")]
            Place::Server(_) => Ok(Arguments { buffers, device: None }),
        }
    }

    /// Checks the number of arguments, and the shapes of those that are there.
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

    /// Memory for the results of a run, which the next one can use again.
    ///
    /// # Errors
    /// There is no memory for a result.
    pub fn room(&self) -> Result<Results, Error> {
        match &self.0.place {
            Place::Here(program) => program.room().map(Results),
            #[cfg(feature = "remote")]
            Place::Server(_) => Ok(Results(Vec::new())),
        }
    }

    /// Runs the program. Compiled code of this process writes the results where those of the last run were, unless buffers of
    /// these are still there.
    ///
    /// # Errors
    /// What the run ends with: an infeed without an item that fits, a custom call that fails, sizes that do not fit each
    /// other ([`Error::Sizes`]), the stop by who watches it, its time; whatever the interpreter does not have; what a server
    /// refuses. The arguments lie on another device.
    pub fn execute_into(
        &self,
        arguments: &Arguments,
        results: &mut Results,
        options: RunOptions<'_>,
    ) -> Result<(), Error> {
        match &self.0.place {
            Place::Here(program) => {
                arguments.check_device(self.device())?;
                let buffers = &arguments.buffers;
                limited(options, |options| program.execute_into(buffers, &mut results.0, options))?;
                results.lie_on(self.device());
            }
            #[cfg(feature = "remote")]
            Place::Server(program) => {
                results.0 = crate::remote::execute(program, &arguments.buffers, options)?;
            }
        }
        Ok(())
    }

    /// The leaves of the result of the last run in this memory.
    ///
    /// # Errors
    /// The memory is that of another program's results, or there is none for a result that is cut to its size.
    pub fn leaves(&self, results: Results) -> Result<Vec<Buffer>, Error> {
        match &self.0.place {
            Place::Here(program) => {
                program.check_results(&results.0)?;
                program.leaves(results.0)
            }
            #[cfg(feature = "remote")]
            Place::Server(_) => Ok(results.0),
        }
    }
}
