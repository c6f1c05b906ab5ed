//! Accounting for the memory of messages. A message is charged to the session of its call while it arrives
//! and while the call uses it.

use crate::account::Charge;
use crate::connection::ConnectionInfo;
use crate::service::Service;
use crate::shared::Shared;
use hlo_remote::proto::hlo_server::HloServer;
use http_body::Frame;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::{BoxFuture, Bytes, http};
use tonic::metadata::MetadataMap;

/// Maximum memory for each byte of a message that is a list of small parts, such as arguments and handles, in
/// bytes.
const LIST_BYTES_PER_BYTE: u64 = 24;

/// Maximum size of a message of a call without a session, in bytes.
const MAX_SESSIONLESS_MESSAGE_BYTES: u64 = 64 << 10;

/// The service, with accounting for its messages.
#[derive(Clone, Debug)]
pub struct Metered {
    pub service: HloServer<Service>,
    pub shared: Arc<Shared>,
}

/// Charges the bytes of messages.
#[derive(Debug)]
struct Meter {
    /// The charge to the call's session, if there is one.
    charge: Option<Charge>,
    charged: u64,
    bytes_per_byte: u64,
    /// Maximum size of a message. A stream holds one message at a time.
    message: u64,
}

/// The body of a call, which charges the bytes of its messages.
struct MeteredBody {
    body: Body,
    meter: Arc<Mutex<Meter>>,
}

impl Meter {
    fn take(&mut self, bytes: u64) -> Result<(), Status> {
        let Some(charge) = &mut self.charge else {
            self.charged = self.charged.saturating_add(bytes);
            return if self.charged <= MAX_SESSIONLESS_MESSAGE_BYTES {
                Ok(())
            } else {
                Err(Status::unauthenticated("a call without a session has a small message only"))
            };
        };
        let most = self.message.saturating_mul(self.bytes_per_byte);
        let more = bytes.saturating_mul(self.bytes_per_byte).min(most.saturating_sub(self.charged));
        charge.grow(more, "a message")?;
        self.charged += more;
        Ok(())
    }
}

impl tonic::codegen::Body for MeteredBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        if let Some(Ok(frame)) = &frame
            && let Some(data) = frame.data_ref()
        {
            let mut meter = self.meter.lock().unwrap_or_else(PoisonError::into_inner);
            if let Err(status) = meter.take(data.len() as u64) {
                return Poll::Ready(Some(Err(status)));
            }
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
}

impl tonic::codegen::Service<http::Request<Body>> for Metered {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Infallible>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        tonic::codegen::Service::<http::Request<Body>>::poll_ready(&mut self.service, context)
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        if let Some(connection) = ConnectionInfo::of(request.extensions()) {
            connection.note_call();
        }
        let metadata = MetadataMap::from_headers(request.headers().clone());
        let session = self.shared.session_of(&metadata).ok();
        let charge = session.and_then(|session| session.account.charge(0, "a message").ok());
        // The data of arrays and texts is not decoded, so it needs no additional memory.
        let is_stream = ["/Upload", "/Compile"].iter().any(|end| request.uri().path().ends_with(end));
        let meter = Arc::new(Mutex::new(Meter {
            charge,
            charged: 0,
            bytes_per_byte: if is_stream { 1 } else { LIST_BYTES_PER_BYTE },
            message: self.shared.config.limits.message as u64,
        }));
        let metered = MeteredBody { body: Body::default(), meter: meter.clone() };
        let request = request.map(|body| Body::new(MeteredBody { body, ..metered }));
        let answer = self.service.call(request);
        Box::pin(async move {
            let _meter = meter;
            answer.await
        })
    }
}
