//! Unfinished runs on a server.

use crate::proto::{ExecuteRequest, StopRequest};
use crate::runtime::Pending;
use crate::session::Session;
use crate::wire::read_failure;
use crate::{Error, RemoteBuffer, runtime};
use hlo_ir::watch::Watch;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

/// Interval at which a run's watch is checked for a stop request.
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(5);

/// An unfinished run. If this is dropped, the run continues, and its results are freed when it ends.
#[derive(Debug)]
pub struct Run {
    results: Pending<Result<Vec<RemoteBuffer>, Error>>,
    watch: Arc<Watch>,
}

impl Run {
    /// Waits for the results, one for each leaf of the program's result.
    ///
    /// # Errors
    /// The run fails, or it exceeds a limit of the server.
    pub fn wait(self) -> Result<Vec<RemoteBuffer>, Error> {
        self.results.wait()?
    }

    /// Stops the run. [`Run::wait`] then returns [`Error::Stopped`], unless the run was over before.
    pub fn stop(&self) {
        self.watch.stop();
    }
}

/// Starts a run. Keeps `held`, its program and arguments, alive until it is over.
pub(crate) fn start(
    session: Arc<Session>,
    request: ExecuteRequest,
    held: impl Send + 'static,
    watch: Option<Arc<Watch>>,
) -> Result<Run, Error> {
    let watch = watch.unwrap_or_default();
    let watched_by = watch.clone();
    let results = runtime::start(async move {
        let _held = held;
        let _turn = session.acquire_call().await?;
        let id = request.run;
        let call = async {
            let reply = session.grpc().execute(session.request(request)).await;
            let reply = reply.map_err(|s| session.error(&s))?.into_inner();
            if let Some(why) = reply.failure {
                return Err(read_failure(why));
            }
            reply.results.iter().map(|r| RemoteBuffer::new(session.clone(), r.handle, &r.shape)).collect()
        };
        watched(&session, id, Some(watched_by), call).await
    })?;
    Ok(Run { results, watch })
}

/// Makes the call of a run, and stops the run once its watch requests that.
pub(crate) async fn watched<T>(
    session: &Session,
    id: u64,
    watch: Option<Arc<Watch>>,
    call: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let Some(watch) = watch else { return call.await };
    let mut call = pin!(call);
    // The server may not know the run yet when the stop request arrives, so it is sent until the server finds
    // the run.
    let mut heard = false;
    loop {
        tokio::select! {
            outcome = &mut call => return outcome,
            () = tokio::time::sleep(STOP_POLL_INTERVAL) => {}
        }
        if watch.is_stopped() && !heard {
            let reply = session.grpc().stop(session.request(StopRequest { run: id })).await;
            // Without a connection the call ends by itself.
            heard = reply.map_or(true, |r| r.into_inner().found);
        }
    }
}
