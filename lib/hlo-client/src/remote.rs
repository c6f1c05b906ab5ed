//! Programs and arrays on a server (`hlo-serve`), by the client of `hlo-remote`.

use crate::{Buffer, CompileOptions, Device, Error, Executable, RunOptions};
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
        if devices.is_empty() {
            Err(Error::new(format!("the server at {} has no device", client.address())))
        } else {
            Ok(Self { client, devices })
        }
    }

    fn program(&self, program: RemoteExecutable) -> Executable {
        Executable::on_server(program, self.devices[0].clone())
    }

    pub(crate) fn compile_text(&self, text: &str, options: &CompileOptions) -> Result<Executable, Error> {
        check(options)?;
        self.client.compile_text(text, options).map(|program| self.program(program))
    }

    pub(crate) fn compile(&self, module: &Module, options: &CompileOptions) -> Result<Executable, Error> {
        check(options)?;
        self.client.compile(module, options).map(|program| self.program(program))
    }

    pub(crate) fn buffer(&self, value: &Literal, shape: &Shape) -> Result<Buffer, Error> {
        self.client.buffer_from_literal(value, shape).map(Buffer::on_server)
    }
}

/// Rejects options for several devices, which a server does not support.
fn check(options: &CompileOptions) -> Result<(), Error> {
    match options.device_assignment[..] {
        [] | [0] if !options.spmd_partitioning => Ok(()),
        _ => Err(Error::new(
            "a server runs programs of one device, its first: expected no other assignment and no partitioning",
        )),
    }
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
    let results = program.execute(&arguments.iter().collect::<Vec<_>>(), options)?;
    Ok(results.into_iter().map(Buffer::on_server).collect())
}
