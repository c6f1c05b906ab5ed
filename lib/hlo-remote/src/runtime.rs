//! The threads that perform a client's input and output, and functions to wait for calls.

use crate::Error;
use std::future::Future;
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, sync_channel};
use tokio::runtime::{Builder, Runtime};

/// Number of threads for all clients of the process. They only move bytes.
const RUNTIME_THREADS: usize = 2;

fn runtime() -> Result<&'static Runtime, Error> {
    static RUNTIME: OnceLock<Result<Runtime, String>> = OnceLock::new();
    let start = || {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(RUNTIME_THREADS).thread_name("hlo-remote").enable_all();
        builder.build().map_err(|e| e.to_string())
    };
    let runtime = RUNTIME.get_or_init(start).as_ref();
    runtime.map_err(|e| Error::new(format!("threads for the connection can't be started: {e}")))
}

/// The future result of a call.
#[derive(Debug)]
pub(crate) struct Pending<T>(Receiver<T>);

impl<T> Pending<T> {
    /// Waits for the result.
    pub(crate) fn wait(self) -> Result<T, Error> {
        self.0.recv().map_err(|_| Error::new("internal error: the call ended without a result"))
    }
}

/// Starts a call. It continues even if its result is not waited for.
pub(crate) fn start<T: Send + 'static>(
    call: impl Future<Output = T> + Send + 'static,
) -> Result<Pending<T>, Error> {
    let (sender, receiver) = sync_channel(1);
    runtime()?.spawn(async move {
        // The receiver may have been dropped.
        let _ = sender.send(call.await);
    });
    Ok(Pending(receiver))
}

/// Makes a call and waits for its result. Unlike tokio's `block_on`, this works on a thread of another
/// runtime, which it blocks.
pub(crate) fn wait<T: Send + 'static>(
    call: impl Future<Output = Result<T, Error>> + Send + 'static,
) -> Result<T, Error> {
    start(call)?.wait()?
}
