//! Programs and arrays on a server (`hlo-serve`): the client of `hlo-remote`, as this crate has it.

use crate::{Buffer, CompileOptions, Device, Engine, Error, Executable, Passes, RunOptions};
use hlo_ir::{Literal, Module, Shape};
use hlo_remote::{RemoteBuffer, RemoteClient, RemoteExecutable};

/// A session with a server.
#[derive(Debug)]
pub(crate) struct Server {
    client: RemoteClient,
    pub(crate) devices: Vec<Device>,
}

impl Server {
    /// Opens a session.
    pub(crate) fn connect(client: RemoteClient) -> Result<Self, Error> {
        let devices = client.devices().into_iter();
        let devices = devices.map(|d| Device::on_server(d.id as usize, d.platform, d.threads as usize));
        let devices: Vec<Device> = devices.collect();
        match devices.is_empty() {
            true => Err(Error::Refused(format!("the server at {} has no device", client.address()))),
            false => Ok(Self { client, devices }),
        }
    }

    fn program(&self, program: RemoteExecutable) -> Executable {
        Executable::on_server(program, self.devices[0].clone())
    }

    pub(crate) fn compile_text(&self, text: &str, options: &CompileOptions) -> Result<Executable, Error> {
        Ok(self.program(self.client.compile_text(text, &asked(options)?)?))
    }

    pub(crate) fn compile(&self, module: &Module, options: &CompileOptions) -> Result<Executable, Error> {
        Ok(self.program(self.client.compile(module, &asked(options)?)?))
    }

    pub(crate) fn buffer(&self, value: &Literal, shape: &Shape) -> Result<Buffer, Error> {
        Ok(Buffer::on_server(self.client.buffer_from_literal(value, shape)?))
    }
}

/// What a server is asked for. How many threads a program takes, and whether it may be told of by debuggers, is the server's.
fn asked(options: &CompileOptions) -> Result<hlo_remote::CompileOptions, Error> {
    if options.custom_calls.number() != 0 {
        let message = "targets of custom calls are functions of this process: a server has its own";
        return Err(Error::new(message));
    }
    Ok(hlo_remote::CompileOptions {
        engine: match options.engine {
            Engine::Compiled => hlo_remote::Engine::Compiled,
            Engine::Interpreted => hlo_remote::Engine::Interpreted,
        },
        passes: match &options.passes {
            Passes::Default => hlo_remote::Passes::Default,
            Passes::Lowering => hlo_remote::Passes::Lowering,
            Passes::These(pipeline) => hlo_remote::Passes::Pipeline(pipeline.to_string()),
        },
        seed: options.seed,
        // Unless somebody chose it, it is what this computer has.
        memory_limit: Some(options.memory_limit).filter(|&bytes| bytes != crate::client::memory()),
    })
}

/// Runs a program on buffers of its server.
pub(crate) fn execute(
    program: &RemoteExecutable,
    arguments: &[Buffer],
    options: RunOptions<'_>,
) -> Result<Vec<Buffer>, Error> {
    let on_server = |(i, buffer): (usize, &Buffer)| {
        buffer.server_buffer().cloned().ok_or_else(|| {
            Error::new(format!(
                "argument {i}: expected an array on the program's server, found one of this process"
            ))
        })
    };
    let arguments: Vec<RemoteBuffer> =
        arguments.iter().enumerate().map(on_server).collect::<Result<_, _>>()?;
    let options = hlo_remote::RunOptions { watch: options.watch, time_limit: None };
    let results = program.execute(&arguments.iter().collect::<Vec<_>>(), options)?;
    Ok(results.into_iter().map(Buffer::on_server).collect())
}

impl From<hlo_remote::Error> for Error {
    fn from(error: hlo_remote::Error) -> Self {
        use hlo_remote::Error as Remote;
        match error {
            Remote::Diags(diags) => Error::Diags(diags),
            Remote::Sizes => Error::Sizes,
            Remote::Stopped { instruction, .. } => Error::Stopped { instruction },
            error @ (Remote::TimedOut { .. } | Remote::Refused { .. }) => Error::Refused(error.to_string()),
            error @ Remote::Disconnected { .. } => Error::Disconnected(error.to_string()),
        }
    }
}
