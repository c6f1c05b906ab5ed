//! Programs on a server.

use crate::proto::argument::Value;
use crate::proto::{Argument, ExecuteRequest, LoweredRequest, Program};
use crate::run::{self, Run};
use crate::session::{Handle, Session};
use crate::wire::read_shape;
use crate::{Error, RemoteBuffer, RemoteClient, RunOptions, buffer, runtime};
use hlo_ir::{Literal, Module, Shape};
use std::sync::Arc;

/// Maximum total size of arguments that are sent within the call of a run, in bytes.
const MAX_INLINE_ARGUMENT_BYTES: usize = 256 << 10;

/// A program on a server, which several threads can run at once. Cloning is cheap: both clones are the same
/// program.
#[derive(Clone, Debug)]
pub struct RemoteExecutable(Arc<ExecutableHandle>);

#[derive(Debug)]
struct ExecutableHandle {
    session: Arc<Session>,
    handle: u64,
    parameters: Vec<Shape>,
    result: Shape,
    cached: bool,
    arena_bytes: u64,
}

impl Drop for ExecutableHandle {
    fn drop(&mut self) {
        self.session.release(Handle::Program(self.handle));
    }
}

impl RemoteExecutable {
    pub(crate) fn new(session: Arc<Session>, program: Program) -> Result<Self, Error> {
        let parameters = program.parameters.iter().map(|s| read_shape(s)).collect::<Result<_, _>>();
        Ok(Self(Arc::new(ExecutableHandle {
            session,
            handle: program.handle,
            parameters: parameters.map_err(Error::new)?,
            result: read_shape(&program.result).map_err(Error::new)?,
            cached: program.cached,
            arena_bytes: program.arena_bytes,
        })))
    }

    /// Returns the client that compiled the program.
    pub fn client(&self) -> RemoteClient {
        RemoteClient(self.0.session.clone())
    }

    /// Returns the leaves of the parameters, in order, in the layouts that the module asks for.
    pub fn parameters(&self) -> &[Shape] {
        &self.0.parameters
    }

    /// Returns the shape of the result, in the layout that the module asks for.
    pub fn result(&self) -> &Shape {
        &self.0.result
    }

    /// Returns whether the server had already compiled the same text with the same options.
    pub fn was_cached(&self) -> bool {
        self.0.cached
    }

    /// Returns the size of the temporaries of a run in bytes, or 0 if it is unknown, as for interpreted
    /// programs.
    pub fn arena_bytes(&self) -> u64 {
        self.0.arena_bytes
    }

    /// Returns the module after the passes, which is the module that runs.
    ///
    /// # Errors
    /// The session has ended.
    pub fn lowered(&self) -> Result<Module, Error> {
        let held = self.0.clone();
        let text = runtime::wait(async move {
            let session = &held.session;
            let _turn = session.acquire_call().await?;
            let request = session.request(LoweredRequest { program: held.handle });
            let stream = session.grpc().lowered(request).await.map_err(|s| session.error(&s))?;
            let mut stream = stream.into_inner();
            let mut text = Vec::new();
            while let Some(part) = stream.message().await.map_err(|s| session.error(&s))? {
                text.extend_from_slice(&part.text);
            }
            String::from_utf8(text).map_err(|_| Error::new("internal error: a module that is no text"))
        })?;
        hlo_parser::parse_module(&text).map_err(Error::Diags)
    }

    /// Runs the program on values, one for each leaf of the parameters, and returns the result. Small values
    /// are sent within the call, and the result within its reply.
    ///
    /// # Errors
    /// A value does not fit its parameter, or the run fails.
    pub fn run(&self, values: &[Literal]) -> Result<Literal, Error> {
        self.check_count(values.len())?;
        let shapes = self.parameters().iter();
        let arrays: Vec<_> =
            values.iter().zip(shapes).map(|(v, s)| buffer::laid_out(v, s)).collect::<Result<_, _>>()?;
        let bytes = arrays.iter().fold(0usize, |n, a| n.saturating_add(a.len()));
        if bytes > MAX_INLINE_ARGUMENT_BYTES.min(self.0.session.chunk() / 2) {
            let buffers = self.buffers(values)?;
            return self.execute_and_transfer(&buffers.iter().collect::<Vec<_>>(), RunOptions::default());
        }
        let inline = |a: buffer::LaidOut| Argument { value: Some(Value::Inline(a.into_piece())) };
        let request = self.request(arrays.into_iter().map(inline).collect(), &RunOptions::default());
        self.transfer(request, Vec::new(), RunOptions::default())
    }

    /// Transfers values to the server, one for each leaf of the parameters, in the layouts of the parameters.
    ///
    /// # Errors
    /// A value does not fit its parameter, or the request exceeds a limit of the server.
    pub fn buffers(&self, values: &[Literal]) -> Result<Vec<RemoteBuffer>, Error> {
        self.check_count(values.len())?;
        let client = self.client();
        values.iter().zip(self.parameters()).map(|(v, s)| client.buffer_from_literal(v, s)).collect()
    }

    /// Transfers the leaves of a result and returns the result.
    ///
    /// # Errors
    /// The arrays are not the leaves of a result of this program, or the session has ended.
    pub fn value(&self, leaves: Vec<RemoteBuffer>) -> Result<Literal, Error> {
        let values = leaves.iter().map(RemoteBuffer::to_literal).collect::<Result<_, _>>()?;
        self.result_of(values)
    }

    /// Runs the program on one buffer for each leaf of the parameters, and returns one buffer for each leaf
    /// of the result.
    ///
    /// # Errors
    /// A buffer does not fit its parameter, the run fails, or the request exceeds a limit of the server.
    pub fn execute(
        &self,
        arguments: &[&RemoteBuffer],
        options: RunOptions<'_>,
    ) -> Result<Vec<RemoteBuffer>, Error> {
        self.start(arguments, options)?.wait()
    }

    /// Starts a run as [`RemoteExecutable::execute`] does, and returns a handle to wait for it.
    ///
    /// # Errors
    /// The number of buffers is wrong, or they belong to another session. [`Run::wait`] returns all other
    /// errors.
    pub fn start(&self, arguments: &[&RemoteBuffer], options: RunOptions<'_>) -> Result<Run, Error> {
        let request = self.request(self.handles(arguments)?, &options);
        let held: Vec<RemoteBuffer> = arguments.iter().map(|&b| b.clone()).collect();
        run::start(self.0.session.clone(), request, (self.clone(), held), options.watch)
    }

    /// Runs the program and transfers the result. The result does not stay on the server.
    ///
    /// # Errors
    /// As [`RemoteExecutable::execute`].
    pub fn execute_and_transfer(
        &self,
        arguments: &[&RemoteBuffer],
        options: RunOptions<'_>,
    ) -> Result<Literal, Error> {
        let request = self.request(self.handles(arguments)?, &options);
        let held = arguments.iter().map(|&b| b.clone()).collect();
        self.transfer(request, held, options)
    }

    fn transfer(
        &self,
        request: ExecuteRequest,
        arguments: Vec<RemoteBuffer>,
        options: RunOptions<'_>,
    ) -> Result<Literal, Error> {
        let (session, program, watch) = (self.0.session.clone(), self.clone(), options.watch);
        let leaves = runtime::wait(async move {
            // The call keeps its program and arguments alive, even if its caller drops them.
            let _held = (program, arguments);
            let _turn = session.acquire_call().await?;
            let id = request.run;
            let call = async {
                let stream = session.grpc().execute_and_transfer(session.request(request)).await;
                let stream = stream.map_err(|s| session.error(&s))?;
                buffer::receive(&session, stream.into_inner()).await
            };
            run::watched(&session, id, watch, call).await
        })?;
        self.result_of(leaves)
    }

    fn result_of(&self, leaves: Vec<Literal>) -> Result<Literal, Error> {
        let count = leaves.len();
        let value = Literal::from_leaves(self.result(), &mut leaves.into_iter());
        value.ok_or_else(|| Error::new(format!("{count} arrays are no result of shape {}", self.result())))
    }

    fn handles(&self, arguments: &[&RemoteBuffer]) -> Result<Vec<Argument>, Error> {
        self.check_count(arguments.len())?;
        let argument = |(i, buffer): (usize, &&RemoteBuffer)| {
            if !buffer.is_of(&self.0.session) {
                return Err(Error::new(format!(
                    "argument {i}: expected a buffer of the program's session, found one of another"
                )));
            }
            Ok(Argument { value: Some(Value::Buffer(buffer.handle())) })
        };
        arguments.iter().enumerate().map(argument).collect()
    }

    fn request(&self, arguments: Vec<Argument>, options: &RunOptions<'_>) -> ExecuteRequest {
        let millis =
            options.time_limit.map_or(0, |t| u64::try_from(t.as_millis()).unwrap_or(u64::MAX).max(1));
        let run = self.0.session.next_run();
        ExecuteRequest { program: self.0.handle, arguments, time_millis: millis, run }
    }

    fn check_count(&self, found: usize) -> Result<(), Error> {
        let expected = self.parameters().len();
        if expected == found { Ok(()) } else { Err(Error::argument_count(expected, found)) }
    }
}
