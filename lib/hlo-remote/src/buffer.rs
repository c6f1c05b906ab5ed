//! Arrays on a server.

use crate::proto::{DownloadRequest, Piece, TransferReply, UploadRequest};
use crate::session::{Handle, Session};
use crate::wire::{chunks, read_failure, read_shape, shape_text};
use crate::{Error, runtime};
use bytes::Bytes;
use hlo_ir::laid_out::{in_buffer, of_buffer};
use hlo_ir::{AlignedBytes, Literal, Shape};
use std::sync::Arc;
use tonic::Streaming;

/// An array on a server, in the layout of its shape, or a token. Cloning is cheap: both clones are the same
/// array. The array is freed when the last clone is dropped.
#[derive(Clone, Debug)]
pub struct RemoteBuffer(Arc<BufferHandle>);

#[derive(Debug)]
struct BufferHandle {
    session: Arc<Session>,
    handle: u64,
    shape: Shape,
}

impl Drop for BufferHandle {
    fn drop(&mut self) {
        self.session.release(Handle::Buffer(self.handle));
    }
}

impl RemoteBuffer {
    pub(crate) fn new(session: Arc<Session>, handle: u64, shape: &str) -> Result<Self, Error> {
        let shape = read_shape(shape).map_err(Error::new)?;
        Ok(Self(Arc::new(BufferHandle { session, handle, shape })))
    }

    pub(crate) fn handle(&self) -> u64 {
        self.0.handle
    }

    /// Returns whether the buffer belongs to this session.
    pub(crate) fn is_of(&self, session: &Arc<Session>) -> bool {
        Arc::ptr_eq(&self.0.session, session)
    }

    /// Returns the shape, with the actual sizes instead of bounds.
    pub fn shape(&self) -> &Shape {
        &self.0.shape
    }

    /// Transfers the value from the server.
    ///
    /// # Errors
    /// The session has ended, or there is no memory for the value.
    pub fn to_literal(&self) -> Result<Literal, Error> {
        let held = self.0.clone();
        runtime::wait(async move {
            let session = &held.session;
            let _turn = session.acquire_call().await?;
            let request = session.request(DownloadRequest { buffer: held.handle });
            let stream = session.grpc().download(request).await.map_err(|s| session.error(&s))?;
            let leaves = receive(session, stream.into_inner()).await?;
            let count = leaves.len();
            let only = leaves.into_iter().next().filter(|_| count == 1);
            only.ok_or_else(|| Error::new(format!("internal error: {count} arrays for a buffer")))
        })
    }
}

/// The elements of an array in the layout of its shape.
#[derive(Clone, Debug)]
pub(crate) struct LaidOut {
    shape: Shape,
    bytes: Bytes,
}

/// The memory of a literal, which is shared.
struct SharedBytes(Arc<AlignedBytes>);

impl AsRef<[u8]> for SharedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Returns a value in the layout of `shape`. A row-major array shares the memory of the value.
pub(crate) fn laid_out(literal: &Literal, shape: &Shape) -> Result<LaidOut, Error> {
    let (shape, bytes) = in_buffer(literal, shape)?;
    Ok(LaidOut { shape, bytes: Bytes::from_owner(SharedBytes(bytes)) })
}

impl LaidOut {
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn into_piece(self) -> Piece {
        Piece { shape: shape_text(&self.shape), data: self.bytes }
    }
}

/// Transfers an array to the server.
pub(crate) async fn upload(session: Arc<Session>, array: LaidOut) -> Result<RemoteBuffer, Error> {
    let _turn = session.acquire_call().await?;
    let mut shape = shape_text(&array.shape);
    let parts = chunks(array.bytes, session.chunk());
    let messages = parts.map(move |data| UploadRequest { shape: std::mem::take(&mut shape), data });
    let request = session.request(tokio_stream::iter(messages));
    let reply = session.grpc().upload(request).await.map_err(|s| session.error(&s))?.into_inner();
    RemoteBuffer::new(session.clone(), reply.handle, &reply.shape)
}

/// An array that is being received.
struct IncomingArray {
    shape: Shape,
    bytes: AlignedBytes,
    filled: usize,
}

impl IncomingArray {
    fn new(shape: &str) -> Result<Self, Error> {
        let shape = read_shape(shape).map_err(Error::new)?;
        let bytes = AlignedBytes::try_zeroed(shape.stored_size());
        let bytes =
            bytes.ok_or_else(|| Error::memory(format!("there is no memory for an array of {shape}")))?;
        Ok(Self { shape, bytes, filled: 0 })
    }

    fn add(&mut self, data: &[u8]) -> Result<(), Error> {
        let end = self.filled.saturating_add(data.len());
        let wrong = || Error::new(format!("internal error: too many bytes came for {}", self.shape));
        self.bytes.get_mut(self.filled..end).ok_or_else(wrong)?.copy_from_slice(data);
        self.filled = end;
        Ok(())
    }

    fn finish(self) -> Result<Literal, Error> {
        if self.filled != self.bytes.len() {
            let (filled, all) = (self.filled, self.bytes.len());
            return Err(Error::new(format!("{filled} of the {all} bytes of {} have come", self.shape)));
        }
        of_buffer(self.shape, Arc::new(self.bytes))
            .ok_or_else(|| Error::new("internal error: an array of another size"))
    }
}

/// Receives the arrays of a stream.
pub(crate) async fn receive(
    session: &Session,
    mut stream: Streaming<TransferReply>,
) -> Result<Vec<Literal>, Error> {
    let mut leaves = Vec::new();
    let mut current: Option<IncomingArray> = None;
    while let Some(message) = stream.message().await.map_err(|s| session.error(&s))? {
        if let Some(why) = message.failure {
            return Err(read_failure(why));
        }
        for piece in message.pieces {
            if !piece.shape.is_empty() {
                leaves.extend(current.take().map(IncomingArray::finish).transpose()?);
                current = Some(IncomingArray::new(&piece.shape)?);
            }
            match &mut current {
                Some(array) => array.add(&piece.data)?,
                None => return Err(Error::new("internal error: elements came before a shape")),
            }
        }
    }
    leaves.extend(current.map(IncomingArray::finish).transpose()?);
    Ok(leaves)
}
