//! Transfer of arrays in parts, in both directions.

use crate::account::Account;
use crate::session::HeldBuffer;
use bytes::Bytes;
use hlo_client::Buffer;
use hlo_ir::laid_out::first_odd_byte;
use hlo_ir::{ArrayShape, Shape};
use hlo_remote::proto::{Piece, TransferReply};
use hlo_remote::wire::{self, CHUNK_BYTES, shape_text};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_stream::Stream;
use tonic::{Status, Streaming};

/// Maximum number of replies that wait for a slow client.
const MAX_QUEUED_REPLIES: usize = 2;

/// A stream of replies.
#[derive(Debug)]
pub struct Replies<T> {
    receiver: mpsc::Receiver<T>,
    /// The error that ended the stream early, if any.
    broken: Arc<OnceLock<Status>>,
    is_over: bool,
}

/// Returns the maximum number of bytes that an array of the shape occupies in addition to its elements.
pub fn shape_bytes(shape: &Shape) -> u64 {
    const BYTES_PER_ARRAY: u64 = 1 << 10;
    const BYTES_PER_DIMENSION: u64 = 64;
    BYTES_PER_ARRAY + BYTES_PER_DIMENSION * shape.as_array().map_or(0, |array| array.rank() as u64)
}

/// Returns the next message of a client.
///
/// # Errors
/// No message arrived in time, or the message is invalid.
pub async fn next<T>(stream: &mut Streaming<T>, idle: Duration) -> Result<Option<T>, Status> {
    let silent = |_| Status::deadline_exceeded(format!("no message came for {idle:?} (--idle-timeout)"));
    tokio::time::timeout(idle, stream.message()).await.map_err(silent)?
}

/// An array that is being received.
#[derive(Debug)]
pub struct IncomingArray {
    held: HeldBuffer,
    /// The array shape, to validate elements. `None` for a token.
    array: Option<ArrayShape>,
    filled: usize,
}

impl IncomingArray {
    /// Allocates memory for an array.
    ///
    /// # Errors
    /// The text is not a shape of an array or a token, or there is not enough memory.
    pub fn new(shape: &str, account: &Arc<Account>) -> Result<Self, Status> {
        let shape = wire::read_shape(shape).map_err(Status::invalid_argument)?;
        let is_array = shape.as_array().is_some_and(ArrayShape::is_static);
        if !is_array && shape != Shape::Token {
            return Err(Status::invalid_argument(format!(
                "expected the shape of an array without dynamic dimensions, or a token, found `{shape}`"
            )));
        }
        // The charge also covers the array in the form that a program takes.
        let bytes = (shape.stored_size().max(shape.byte_size()) as u64).saturating_add(shape_bytes(&shape));
        let charge = account.charge(bytes, &format!("an array of shape {shape}"))?;
        let buffer = Buffer::zeros(&shape).map_err(|e| Status::resource_exhausted(e.to_string()))?;
        Ok(Self { held: HeldBuffer { buffer, _charge: charge }, array: shape.as_array().cloned(), filled: 0 })
    }

    /// Adds elements.
    ///
    /// # Errors
    /// There are more elements than the shape has, or an element is not a value of its type.
    pub fn add(&mut self, data: &[u8]) -> Result<(), Status> {
        let (at, end) = (self.filled, self.filled.saturating_add(data.len()));
        let shape = self.held.buffer.shape().clone();
        let bytes = self.held.buffer.bytes_mut().unwrap_or_default();
        let all = bytes.len();
        let Some(room) = bytes.get_mut(at..end) else {
            return Err(Status::invalid_argument(format!(
                "expected {all} bytes for {shape}, found {end} at least"
            )));
        };
        if let Some(array) = &self.array
            && let Some(k) = first_odd_byte(array, data)
        {
            let (byte, ty) = (data[k], array.element_type);
            return Err(Status::invalid_argument(format!(
                "{shape}: element {} is the byte {byte}, which is no {ty}",
                at + k
            )));
        }
        room.copy_from_slice(data);
        self.filled = end;
        Ok(())
    }

    /// Returns the complete array.
    ///
    /// # Errors
    /// Elements are missing.
    pub fn finish(self) -> Result<HeldBuffer, Status> {
        let (buffer, found) = (&self.held.buffer, self.filled);
        let expected = self.held.bytes().len();
        if found == expected {
            Ok(self.held)
        } else {
            Err(Status::invalid_argument(format!(
                "expected {expected} bytes for {}, found {found}",
                buffer.shape()
            )))
        }
    }
}

/// The memory of an array, which is shared.
struct Shared<T>(T);

impl AsRef<[u8]> for Shared<Arc<HeldBuffer>> {
    fn as_ref(&self) -> &[u8] {
        self.0.bytes()
    }
}

/// Splits arrays into messages. Small arrays share a message. A message keeps its array alive.
pub fn messages(buffers: impl IntoIterator<Item = Arc<HeldBuffer>>) -> impl Iterator<Item = TransferReply> {
    let pieces = buffers.into_iter().flat_map(|held| {
        let mut shape = shape_text(held.buffer.shape());
        let parts = wire::chunks(Bytes::from_owner(Shared(held)), CHUNK_BYTES);
        parts.map(move |data| Piece { shape: std::mem::take(&mut shape), data })
    });
    let mut pieces = pieces.peekable();
    std::iter::from_fn(move || {
        let mut message = TransferReply { pieces: vec![pieces.next()?], failure: None };
        let size = |p: &Piece| p.data.len() + p.shape.len();
        let mut sum: usize = message.pieces.iter().map(size).sum();
        while let Some(piece) = pieces.next_if(|p| sum + size(p) <= CHUNK_BYTES) {
            sum += size(&piece);
            message.pieces.push(piece);
        }
        Some(message)
    })
}

/// Maximum memory of messages that are being sent, in bytes. Each message is at most [`CHUNK_BYTES`] bytes.
pub const MAX_IN_FLIGHT_BYTES: u64 = (MAX_QUEUED_REPLIES as u64 + 1) * CHUNK_BYTES as u64;

/// Sends messages as fast as the client reads them. Stops if the client does not read for too long. Keeps
/// `held` until then.
pub fn send<T: Send + 'static>(
    messages: impl Iterator<Item = T> + Send + 'static,
    held: impl Send + 'static,
    idle: Duration,
) -> Replies<T> {
    let (sender, receiver) = mpsc::channel(MAX_QUEUED_REPLIES);
    let broken = Arc::new(OnceLock::new());
    let replies = Replies { receiver, broken: broken.clone(), is_over: false };
    tokio::spawn(async move {
        let _held = held;
        for message in messages {
            match tokio::time::timeout(idle, sender.send(message)).await {
                Ok(Ok(())) => {}
                // The client has disconnected.
                Ok(Err(_)) => return,
                Err(_) => {
                    let why = format!("nothing was read for {idle:?} (--idle-timeout)");
                    // No other code sets it.
                    let _ = broken.set(Status::deadline_exceeded(why));
                    return;
                }
            }
        }
    });
    replies
}

impl<T> Stream for Replies<T> {
    type Item = Result<T, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(message) = ready!(self.receiver.poll_recv(context)) {
            return Poll::Ready(Some(Ok(message)));
        }
        // Report the error once, after the replies that were already queued.
        let is_over = std::mem::replace(&mut self.is_over, true);
        Poll::Ready(self.broken.get().filter(|_| !is_over).cloned().map(Err))
    }
}
