//! The server in its own process.

use crate::Outcome;
use hlo_remote::proto::StatisticsReply;
use hlo_serve::{Config, Server};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Memory limit of a client in bytes. Some clients request more.
pub const CLIENT_MEMORY: u64 = 64 << 20;

/// Runs the server.
pub fn serve(address: &str, clients: usize) -> Outcome<()> {
    let mut config = Config::new(address.parse()?);
    config.limits.client_memory = CLIENT_MEMORY;
    config.limits.memory = 4 << 30;
    // More than the number of working clients, because the server does not notice killed clients at once.
    config.limits.clients = clients * 4;
    config.limits.compile_time = Duration::from_secs(2);
    config.limits.run_time = Duration::from_secs(20);
    config.limits.idle = Duration::from_secs(5);
    config.grace = Duration::from_secs(1);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let outcome = runtime.block_on(async {
        let server = Server::bind(config).await.map_err(|e| format!("{e:?}"))?;
        let stop = server.stopper();
        let mut signals = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
        tokio::spawn(async move {
            while signals.recv().await.is_some() {
                stop.stop();
            }
        });
        println!("{}", server.address());
        server.serve().await.map_err(|e| format!("{e:?}"))?;
        Ok(())
    });
    runtime.shutdown_background();
    outcome
}

/// A running server process.
pub struct ServerProcess {
    child: Child,
    pub address: String,
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl ServerProcess {
    pub fn start(address: &str, clients: usize) -> Outcome<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["--server", address, "--clients", &clients.to_string()])
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().ok_or("no output")?).read_line(&mut line)?;
        match line.trim() {
            "" => Err("the server does not begin".into()),
            address => Ok(Self { child, address: address.to_string() }),
        }
    }

    pub fn kill(&mut self) -> Outcome<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Stops the server with SIGTERM.
    pub fn stop(&mut self) -> Outcome<()> {
        let id = libc::pid_t::try_from(self.child.id())?;
        // SAFETY: the process is our child and was not waited for.
        if unsafe { libc::kill(id, libc::SIGTERM) } != 0 {
            return Err(std::io::Error::last_os_error().into());
        }
        let status = self.child.wait()?;
        if status.success() { Ok(()) } else { Err(format!("the server ended with {status}").into()) }
    }

    /// Returns the statistics once all clients have disconnected.
    pub fn quiet(&mut self) -> Outcome<StatisticsReply> {
        let address = self.address.parse()?;
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Err(format!("the server has ended with {status}").into());
            }
            let s = hlo_remote::statistics(&address, Default::default())?;
            if (s.clients, s.running, s.waiting, s.bytes) == (0, 0, 0, 0) || Instant::now() > until {
                // The allocator may return the last freed memory to the system with a delay.
                std::thread::sleep(Duration::from_secs(1));
                return Ok(hlo_remote::statistics(&address, Default::default())?);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}
