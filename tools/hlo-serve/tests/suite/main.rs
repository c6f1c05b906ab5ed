//! Tests of a server from the view of its clients. All connections use Unix sockets or the loopback.

mod calls;
mod client;
mod errors;
mod hostile;
mod limits;
mod process;
mod raw;
mod sharing;
mod tls;

use hlo_client::ENGINES;
use hlo_ir::{ElementType, Literal, Shape};
use hlo_remote::{Address, CompileOptions, RemoteClient, RemoteExecutable};
use hlo_serve::{Config, Server, Stop};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A server in this process.
struct TestServer {
    address: Address,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl TestServer {
    fn start() -> Self {
        Self::with(|_| {})
    }

    /// Starts a server with a changed configuration.
    fn with(configure: impl FnOnce(&mut Config)) -> Self {
        Self::at(Address::Unix(socket()), configure)
    }

    fn at(address: Address, configure: impl FnOnce(&mut Config)) -> Self {
        let mut config = Config::new(address);
        config.limits.client_memory = 256 << 20;
        config.limits.memory = 1 << 30;
        config.grace = Duration::from_millis(200);
        configure(&mut config);
        let (sender, started) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let server = Server::bind(config).await.unwrap_or_else(|e| panic!("{e:?}"));
                sender.send((server.address().clone(), server.stopper())).unwrap();
                server.serve().await.unwrap_or_else(|e| panic!("{e:?}"));
            });
        });
        let (address, stop) = started.recv().expect("a server that begins");
        Self { address, stop, thread: Some(thread) }
    }

    fn client(&self) -> RemoteClient {
        RemoteClient::connect(&self.address.to_string()).unwrap_or_else(|e| panic!("{e}"))
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
            && !std::thread::panicking()
        {
            panic!("the server has panicked");
        }
    }
}

/// Returns a path for a socket that no other test uses.
fn socket() -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("hlo-serve-{}-{number}.sock", std::process::id()))
}

/// Returns options for each engine of this build.
fn engines() -> Vec<CompileOptions> {
    let options = |&engine| CompileOptions { engine: Some(engine), ..CompileOptions::default() };
    ENGINES.iter().map(options).collect()
}

fn vector(values: &[f32]) -> Literal {
    Literal::from_elements(Shape::array(ElementType::F32, [values.len() as i64]), values)
}

fn compile(client: &RemoteClient, text: &str, options: &CompileOptions) -> RemoteExecutable {
    client.compile_text(text, options).unwrap_or_else(|e| panic!("{e:?}"))
}

/// Waits until a condition holds.
fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(20);
    while !is_so() {
        assert!(Instant::now() < until, "{what} is not so after 20 seconds");
        std::thread::sleep(Duration::from_millis(5));
    }
}

const AXPY: &str = "HloModule axpy
ENTRY main {
  a = f32[] parameter(0)
  x = f32[3] parameter(1)
  y = f32[3] parameter(2)
  b = f32[3] broadcast(a), dimensions={}
  p = f32[3] multiply(b, x)
  ROOT s = f32[3] add(p, y)
}";

const ENDLESS: &str = "HloModule endless
same { s = s32[] parameter(0) }
always { s = s32[] parameter(0) ROOT p = pred[] constant(true) }
ENTRY e { z = s32[] constant(0) ROOT w = s32[] while(z), condition=always, body=same }";

/// Without passes, which would remove the endless loop because its result is not used.
fn endless_options(options: &CompileOptions) -> CompileOptions {
    CompileOptions { passes: hlo_remote::Passes::Lowering, ..options.clone() }
}
