//! Clients that try to stop the server for everybody, or to use more memory than their account has.

use crate::limits::{assert_works, refusal};
use crate::{AXPY, TestServer, eventually, raw, vector};
use hlo_remote::{Address, CompileOptions, Passes, Refusal, RemoteClient};
use std::io::Read;
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// Returns a pipeline that never ends, because one pass undoes the other.
fn endless_pipeline() -> CompileOptions {
    let again = "fix{limit=1024}(";
    let pipeline = format!("{}fusion,defuser{}", again.repeat(20), ")".repeat(20));
    CompileOptions { passes: Passes::Pipeline(pipeline), ..CompileOptions::default() }
}

/// Returns a module that `fusion` changes. Each number gives another module.
fn module(number: usize) -> String {
    format!(
        "HloModule m{number}
ENTRY e {{
  x = f32[64] parameter(0)
  a = f32[64] negate(x)
  b = f32[64] exponential(a)
  c = f32[64] tanh(b)
  ROOT d = f32[64] add(c, a)
}}"
    )
}

#[test]
fn compilations_end_when_their_time_is_over() {
    let server = TestServer::with(|config| config.limits.compile_time = Duration::from_millis(300));
    let began = Instant::now();
    std::thread::scope(|scope| {
        for number in 0..6 {
            let server = &server;
            scope.spawn(move || {
                let client = server.client();
                let (kind, message) = refusal(client.compile_text(&module(number), &endless_pipeline()));
                assert_eq!(
                    (kind, &*message),
                    (Refusal::Time, "the compilation took longer than 300ms (--compile-time)")
                );
                assert_works(&client);
            });
        }
    });
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    let client = server.client();
    eventually("nothing runs any more", || client.statistics().unwrap().running == 0);
    assert_eq!(client.statistics().unwrap().defects, 0);
}

#[test]
fn compilations_take_memory_from_the_account_of_their_client() {
    let server = TestServer::with(|config| config.limits.client_memory = 4 << 20);
    let client = server.client();
    let (kind, message) = refusal(client.compile_text(&module(0), &endless_pipeline()));
    assert_eq!(kind, Refusal::Limit);
    assert!(
        message.starts_with("a compilation takes ") && message.contains("(--client-memory)"),
        "{message}"
    );
    // The limit of the first client does not affect another client.
    let other = server.client();
    assert_works(&other);
    eventually("what it took is given back", || {
        let statistics = client.statistics().unwrap();
        statistics.each.iter().all(|c| c.bytes < 1 << 20) && statistics.running == 0
    });
}

#[test]
fn pipelines_of_clients_are_bounded() {
    let server = TestServer::start();
    let client = server.client();
    for (pipeline, expected) in [
        ("fix{limit=1000000000}(fusion,defuser)".to_string(), "expected at most 1024 for `limit` of `fix`"),
        ("constant_folding{max-elements=1000000000}".to_string(), "expected at most 4096 for `max-elements`"),
        ("dce,".repeat(10_000), "expected a pipeline of at most 8192 bytes"),
        ("@/etc/passwd".to_string(), "passes: "),
    ] {
        let options = CompileOptions { passes: Passes::Pipeline(pipeline), ..CompileOptions::default() };
        let error = client.compile_text(AXPY, &options).unwrap_err().to_string();
        assert!(error.contains(expected) && !error.contains("root:"), "{error}");
    }
    assert_works(&client);
}

#[test]
fn a_compilation_that_nobody_waits_for_ends() {
    let server = TestServer::start();
    let Passes::Pipeline(pipeline) = endless_pipeline().passes else { panic!("expected a pipeline") };
    raw::abandon_compilation(&server, &module(0), &pipeline);
    let client = server.client();
    eventually("the compilation ends", || client.statistics().unwrap().running == 0);
    assert_eq!(client.statistics().unwrap().compilations, 1);
}

#[test]
fn arrays_of_many_dimensions_are_refused() {
    let server = TestServer::start();
    raw::upload_of_rank(&server, 256).unwrap();
    let (code, message) = raw::upload_of_rank(&server, 1_000_000).unwrap_err();
    assert_eq!(code, tonic::Code::InvalidArgument);
    assert!(message.contains("an array has at most 256 dimensions, found 257"), "{message}");
    // A small array takes more memory than its elements.
    let client = server.client();
    let buffers: Vec<_> = (0..100)
        .map(|_| client.buffer_from_literal(&vector(&[1.]), vector(&[1.]).shape()).unwrap())
        .collect();
    assert!(client.statistics().unwrap().bytes >= 100 << 10);
    drop(buffers);
    eventually("all is freed", || client.statistics().unwrap().bytes == 0);
}

#[test]
fn messages_take_memory_from_the_account() {
    let server = TestServer::with(|config| config.limits.client_memory = 8 << 20);
    // A megabyte of arguments takes many times as much memory after decoding.
    let (code, message) = raw::execute_with_arguments(&server, 500_000, true);
    assert_eq!(code, tonic::Code::ResourceExhausted, "{message}");
    assert!(message.starts_with("a message takes ") && message.contains("(--client-memory)"), "{message}");
    let (code, message) = raw::execute_with_arguments(&server, 500_000, false);
    assert_eq!(
        (code, &*message),
        (tonic::Code::Unauthenticated, "a call without a session has a small message only")
    );
    assert_works(&server.client());
}

/// Opens many silent connections, some of which the server closes.
fn silent<T>(open: impl Fn() -> std::io::Result<T>) -> Vec<T> {
    (0..400).map(|_| open().unwrap()).collect()
}

#[test]
fn silent_connections_keep_nobody_out() {
    let server = TestServer::with(|config| config.limits.clients = 8);
    let Address::Unix(path) = server.address.clone() else { panic!("expected a Unix socket") };
    let sockets = silent(|| UnixStream::connect(&path));
    let began = Instant::now();
    let clients: Vec<_> = (0..8).map(|_| server.client()).collect();
    clients.iter().for_each(assert_works);
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    drop(sockets);

    let server = TestServer::at("127.0.0.1:0".parse().unwrap(), |config| {
        config.limits.handshake = Duration::from_millis(300);
    });
    let Address::Tcp { host, port } = server.address.clone() else { panic!("expected a port") };
    let mut sockets = silent(|| TcpStream::connect((host.as_str(), port)));
    assert_works(&server.client());
    // The server closes the remaining connections after the time for handshakes.
    let began = Instant::now();
    for socket in &mut sockets {
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let _ = socket.read(&mut [0]);
    }
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    assert_works(&server.client());
}

#[test]
fn names_of_clients_are_one_line() {
    let server = TestServer::start();
    let options =
        hlo_remote::ConnectOptions { name: "a\nb\u{1b}[31m".into(), ..hlo_remote::ConnectOptions::default() };
    let client = RemoteClient::connect_with(server.address.clone(), options).unwrap();
    assert_eq!(client.statistics().unwrap().each[0].name, "a?b?[31m");
}

#[test]
fn a_connection_that_is_closed_to_make_room_is_opened_again() {
    let server = TestServer::at("127.0.0.1:0".parse().unwrap(), |_| {});
    let behind = server.address.to_string();
    let proxy = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let front = proxy.local_addr().unwrap();
    let closing = std::thread::spawn(move || {
        // The first two connections are lost before there is a session.
        for _ in 0..2 {
            drop(proxy.accept().unwrap());
        }
        let (client, _) = proxy.accept().unwrap();
        let server = std::net::TcpStream::connect(behind).unwrap();
        let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
        std::thread::spawn(move || std::io::copy(&mut from, &mut to));
        let (mut from, mut to) = (server, client);
        std::thread::spawn(move || std::io::copy(&mut from, &mut to));
    });
    let client = RemoteClient::connect(&front.to_string()).unwrap_or_else(|e| panic!("{e}"));
    client.statistics().unwrap();
    closing.join().unwrap();
}
