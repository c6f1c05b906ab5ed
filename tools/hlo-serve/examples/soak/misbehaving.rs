//! Clients that are killed, that send invalid data, and that are slow.

use crate::Outcome;
use crate::report::Report;
use crate::work::{ENDLESS, Random, endless_options};
use hlo_ir::{ElementType, Literal, Shape};
use hlo_remote::proto::hlo_client::HloClient;
use hlo_remote::proto::session_event::Event;
use hlo_remote::proto::{AttachRequest, SESSION_KEY, SessionEvent, UploadRequest};
use hlo_remote::{RemoteClient, RunOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tonic::metadata::MetadataValue;
use tonic::transport::Endpoint;
use tonic::{Code, Request};

/// Holds memory and runs an endless program until it is killed.
pub fn run_until_killed(address: &str) -> Outcome<()> {
    let client = RemoteClient::connect(address)?;
    let value = Literal::try_zeros(&Shape::array(ElementType::F32, [1 << 20])).ok_or("no memory")?;
    let _held = [(); 4].map(|()| client.buffer_from_literal(&value, value.shape()));
    let program = client.compile_text(ENDLESS, &endless_options())?;
    println!("ready");
    program.execute(&[], RunOptions::default())?;
    Ok(())
}

/// Starts such clients and kills them.
pub fn kill_clients(address: &str, report: &Report, over: &AtomicBool, mut random: Random) {
    while !over.load(Ordering::Relaxed) {
        let outcome = kill_one(address, random.below(200));
        match outcome {
            Ok(true) => report.count("clients killed in the middle of a run"),
            // The client, or its server, was killed earlier.
            Ok(false) => report.count("clients killed before"),
            Err(error) => report.check(false, || format!("a client can't be killed: {error}")),
        }
        std::thread::sleep(Duration::from_millis(random.below(500)));
    }
}

fn kill_one(address: &str, after: u64) -> Outcome<bool> {
    let mut child = Command::new(std::env::current_exe()?)
        .args(["--victim", address])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut line = String::new();
    // Half of the clients are killed while they connect or transfer.
    if after.is_multiple_of(2) {
        BufReader::new(child.stdout.as_mut().ok_or("no output")?).read_line(&mut line)?;
    }
    std::thread::sleep(Duration::from_millis(after));
    child.kill()?;
    child.wait()?;
    Ok(line.trim() == "ready")
}

/// Sends bytes that are not the protocol, some of which begin like it.
pub fn send_nonsense(address: &str, report: &Report, over: &AtomicBool, mut random: Random) {
    const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    while !over.load(Ordering::Relaxed) {
        let mut bytes: Vec<u8> = PREFACE[..random.below(PREFACE.len() as u64 + 1) as usize].to_vec();
        bytes.extend((0..random.below(20_000)).map(|_| random.next() as u8));
        if let Ok(mut socket) = TcpStream::connect(address) {
            let _ = socket.set_read_timeout(Some(Duration::from_millis(50)));
            // The server may close the connection at any time.
            let _ = socket.write_all(&bytes);
            let _ = socket.read(&mut [0; 1000]);
            report.count("connections with nonsense");
        }
        std::thread::sleep(Duration::from_millis(random.below(50)));
    }
}

/// Sends messages that are too large, and arrays that never become complete.
pub fn send_slowly(address: &str, report: &Report, over: &AtomicBool, mut random: Random) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        report.check(false, || "no runtime".to_string());
        return;
    };
    while !over.load(Ordering::Relaxed) {
        let oversized = random.below(2) == 0;
        match runtime.block_on(upload(address, oversized)) {
            Ok((code, message)) => {
                let (expected, words) = if oversized {
                    (Code::OutOfRange, "message length too large")
                } else {
                    (Code::DeadlineExceeded, "no message came for 5s (--idle-timeout)")
                };
                let is_so = code == expected && message.contains(words);
                report.check(is_so || report.may_disconnect(), || {
                    format!("expected {words}, found {code:?} {message}")
                });
                report.count(if oversized {
                    "messages that are too large, refused"
                } else {
                    "uploads that never end, ended"
                });
            }
            Err(error) => {
                report.check(report.may_disconnect(), || format!("a slow client: {error}"));
                std::thread::sleep(Duration::from_millis(100));
            }
        }
    }
}

/// Returns the error of an upload.
async fn upload(address: &str, oversized: bool) -> Outcome<(Code, String)> {
    let mut grpc = HloClient::new(Endpoint::from_shared(format!("http://{address}"))?.connect().await?);
    let mut events = grpc.attach(AttachRequest { protocol: 1, name: "slow".into() }).await?.into_inner();
    let Some(SessionEvent { event: Some(Event::Welcome(welcome)) }) = events.message().await? else {
        return Err("no welcome".into());
    };
    let (sender, parts) = tokio::sync::mpsc::channel(4);
    let bytes = if oversized { 5 << 20 } else { 1 << 20 };
    sender.send(UploadRequest { shape: "u8[33554432]".into(), data: vec![0; bytes].into() }).await?;
    let mut request = Request::new(tokio_stream::wrappers::ReceiverStream::new(parts));
    request.metadata_mut().insert_bin(SESSION_KEY, MetadataValue::from_bytes(&welcome.token));
    match grpc.upload(request).await {
        Ok(_) => Err("half an array was taken".into()),
        Err(status) => Ok((status.code(), status.message().to_string())),
    }
}
