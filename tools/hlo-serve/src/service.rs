//! The implementation of the protocol's calls.

use crate::cache::{Client, NoProgram};
use crate::compile::Recipe;
use crate::session::{HeldBuffer, HeldProgram, Session};
use crate::shared::{Events, Shared};
use crate::transfer::{IncomingArray, MAX_IN_FLIGHT_BYTES, Replies, messages, next, send};
use bytes::Bytes;
use hlo_ir::print::{PrintOptions, print_module};
use hlo_remote::proto::compile_reply::Outcome;
use hlo_remote::proto::hlo_server::Hlo;
use hlo_remote::proto::{
    AttachRequest, BufferReply, CompileReply, CompileRequest, DownloadRequest, ExecuteReply, ExecuteRequest,
    LoweredRequest, Program, ReleaseReply, ReleaseRequest, StatisticsReply, StatisticsRequest, StopReply,
    StopRequest, TextReply, TransferReply, UploadRequest,
};
use hlo_remote::wire::{CHUNK_BYTES, chunks, shape_text};
use std::sync::Arc;
use tokio::sync::OwnedSemaphorePermit;
use tonic::{Request, Response, Status, Streaming};

/// The service that handles calls.
#[derive(Clone, Debug)]
pub struct Service(pub Arc<Shared>);

impl Shared {
    async fn compile(&self, request: Request<Streaming<CompileRequest>>) -> Result<CompileReply, Status> {
        self.check_running()?;
        let (session, _right) = self.admit(&request)?;
        session.check_programs()?;
        let mut stream = request.into_inner();
        let mut options = None;
        let mut text = Vec::new();
        let mut charge = session.account.charge(0, "a module")?;
        while let Some(part) = next(&mut stream, self.idle()).await? {
            options = options.or(part.options);
            let limit = self.config.limits.module;
            if text.len() + part.text.len() > limit {
                return Err(Status::resource_exhausted(format!(
                    "a module's text may have {limit} bytes (--max-module)"
                )));
            }
            charge.grow(part.text.len() as u64, "a module")?;
            self.counters.bytes_received.add(part.text.len() as u64);
            text.extend_from_slice(&part.text);
        }
        let text = String::from_utf8(text).map_err(|e| {
            Status::invalid_argument(format!(
                "expected a text in UTF-8, found another byte at {}",
                e.utf8_error().valid_up_to()
            ))
        })?;
        let options = options.unwrap_or_default();
        let recipe = Recipe::new(&options, text.into(), self.config.limits.client_memory);
        let client = Client { number: session.number, account: &session.account };
        let got = self.cache.get(recipe, charge, client, &self.compiler).await;
        let (hold, cached) = match got {
            Ok(got) => got,
            Err(NoProgram::Failed(why)) => {
                let outcome = Some(Outcome::Failure(Arc::unwrap_or_clone(why)));
                return Ok(CompileReply { outcome });
            }
            Err(NoProgram::Refused(status)) => return Err(status),
            Err(NoProgram::Defect) => {
                self.counters.defects.add(1);
                return Err(Status::internal("compilation broke off: a defect of the server"));
            }
            Err(NoProgram::Stopping) => return Err(Status::unavailable("the server is stopping")),
        };
        if cached {
            self.counters.cache_hits.add(1);
        }
        let charge = session.account.charge(hold.program.bytes, "a program")?;
        let program = hold.program.clone();
        let handle = session.add_program(HeldProgram::new(hold, charge))?;
        let executable = &program.executable;
        let outcome = Outcome::Program(Program {
            handle,
            parameters: executable.parameters().iter().map(shape_text).collect(),
            result: shape_text(executable.result()),
            cached,
            arena_bytes: if program.keeps_memory { program.run_bytes } else { 0 },
        });
        Ok(CompileReply { outcome: Some(outcome) })
    }

    async fn upload(&self, request: Request<Streaming<UploadRequest>>) -> Result<BufferReply, Status> {
        self.check_running()?;
        let (session, _right) = self.admit(&request)?;
        session.check_buffers(1)?;
        let mut stream = request.into_inner();
        let first = next(&mut stream, self.idle()).await?;
        let first = first.ok_or_else(|| Status::invalid_argument("expected an array, found no message"))?;
        let mut array = IncomingArray::new(&first.shape, &session.account)?;
        let mut part = Some(first);
        while let Some(UploadRequest { data, .. }) = part {
            array.add(&data)?;
            self.counters.bytes_received.add(data.len() as u64);
            part = next(&mut stream, self.idle()).await?;
        }
        let buffer = array.finish()?;
        let shape = shape_text(buffer.buffer.shape());
        let handle = session.add_buffers(vec![buffer])?.into_iter().next().unwrap_or_default();
        Ok(BufferReply { handle, shape })
    }

    fn download(&self, request: &Request<DownloadRequest>) -> Result<Replies<TransferReply>, Status> {
        let (session, right) = self.admit(request)?;
        let held = session.buffer(request.get_ref().buffer)?;
        self.send(&session, [held], right)
    }

    /// Sends arrays. The call is over when all of them have been sent.
    ///
    /// # Errors
    /// There is no memory for messages.
    fn send(
        &self,
        session: &Session,
        buffers: impl IntoIterator<Item = Arc<HeldBuffer>>,
        right: OwnedSemaphorePermit,
    ) -> Result<Replies<TransferReply>, Status> {
        let buffers: Vec<_> = buffers.into_iter().collect();
        let bytes = buffers.iter().map(|b| b.bytes().len() as u64).sum();
        let charge = session.account.charge(MAX_IN_FLIGHT_BYTES.min(bytes), "an array on its way")?;
        self.counters.bytes_sent.add(bytes);
        Ok(send(messages(buffers), (right, charge), self.idle()))
    }

    async fn execute(&self, request: Request<ExecuteRequest>) -> Result<ExecuteReply, Status> {
        self.check_running()?;
        let (session, _right) = self.admit(&request)?;
        let request = request.into_inner();
        let program = session.program(request.program)?;
        session.check_buffers(program.hold.program.executable.result().leaf_count())?;
        match self.runner.run(&session, request).await? {
            Ok(leaves) => {
                let shapes: Vec<String> = leaves.iter().map(|l| shape_text(l.buffer.shape())).collect();
                let handles = session.add_buffers(leaves)?;
                let reply = |(handle, shape)| BufferReply { handle, shape };
                Ok(ExecuteReply {
                    results: handles.into_iter().zip(shapes).map(reply).collect(),
                    failure: None,
                })
            }
            Err(failure) => Ok(ExecuteReply { results: Vec::new(), failure: Some(failure) }),
        }
    }

    async fn execute_and_transfer(
        &self,
        request: Request<ExecuteRequest>,
    ) -> Result<Replies<TransferReply>, Status> {
        self.check_running()?;
        let (session, right) = self.admit(&request)?;
        match self.runner.run(&session, request.into_inner()).await? {
            Ok(leaves) => self.send(&session, leaves.into_iter().map(Arc::new), right),
            Err(failure) => {
                let message = TransferReply { pieces: Vec::new(), failure: Some(failure) };
                Ok(send(std::iter::once(message), right, self.idle()))
            }
        }
    }

    fn lowered(&self, request: &Request<LoweredRequest>) -> Result<Replies<TextReply>, Status> {
        let (session, right) = self.admit(request)?;
        let program = session.program(request.get_ref().program)?;
        let module = program.hold.program.executable.module();
        let text = module.map(|module| print_module(module, &PrintOptions::default())).unwrap_or_default();
        let charge = session
            .account
            .charge(MAX_IN_FLIGHT_BYTES.saturating_add(text.len() as u64), "a text on its way")?;
        let parts = chunks(Bytes::from(text), CHUNK_BYTES).map(|text| TextReply { text });
        Ok(send(parts, (right, charge), self.idle()))
    }
}

#[tonic::async_trait]
impl Hlo for Service {
    type AttachStream = Events;
    type DownloadStream = Replies<TransferReply>;
    type ExecuteAndTransferStream = Replies<TransferReply>;
    type LoweredStream = Replies<TextReply>;

    async fn attach(&self, request: Request<AttachRequest>) -> Result<Response<Events>, Status> {
        self.0.counted(self.0.attach(request))
    }

    async fn compile(
        &self,
        request: Request<Streaming<CompileRequest>>,
    ) -> Result<Response<CompileReply>, Status> {
        self.0.counted(self.0.compile(request).await)
    }

    async fn upload(
        &self,
        request: Request<Streaming<UploadRequest>>,
    ) -> Result<Response<BufferReply>, Status> {
        self.0.counted(self.0.upload(request).await)
    }

    async fn download(
        &self,
        request: Request<DownloadRequest>,
    ) -> Result<Response<Self::DownloadStream>, Status> {
        self.0.counted(self.0.download(&request))
    }

    async fn execute(&self, request: Request<ExecuteRequest>) -> Result<Response<ExecuteReply>, Status> {
        self.0.counted(self.0.execute(request).await)
    }

    async fn execute_and_transfer(
        &self,
        request: Request<ExecuteRequest>,
    ) -> Result<Response<Self::ExecuteAndTransferStream>, Status> {
        self.0.counted(self.0.execute_and_transfer(request).await)
    }

    async fn stop(&self, request: Request<StopRequest>) -> Result<Response<StopReply>, Status> {
        let stopped = self.0.session(&request).map(|s| StopReply { found: s.stop(request.get_ref().run) });
        self.0.counted(stopped)
    }

    async fn lowered(
        &self,
        request: Request<LoweredRequest>,
    ) -> Result<Response<Self::LoweredStream>, Status> {
        self.0.counted(self.0.lowered(&request))
    }

    async fn release(&self, request: Request<ReleaseRequest>) -> Result<Response<ReleaseReply>, Status> {
        let released = self.0.session(&request).map(|session| {
            let ReleaseRequest { buffers, programs } = request.get_ref();
            session.release(buffers, programs);
            ReleaseReply {}
        });
        self.0.counted(released)
    }

    async fn statistics(&self, _: Request<StatisticsRequest>) -> Result<Response<StatisticsReply>, Status> {
        Ok(Response::new(crate::statistics::collect(&self.0)))
    }
}
