//! Input that our client never sends: bytes that are not the protocol, invalid messages, and silence.

use crate::{AXPY, TestServer, compile, eventually, vector};
use hlo_ir::{ElementType, Literal};
use hlo_remote::proto;
use hlo_remote::proto::hlo_client::HloClient;
use hlo_remote::proto::session_event::Event;
use hlo_remote::proto::{
    Argument, AttachRequest, CompileRequest, DownloadRequest, ExecuteRequest, Piece, SESSION_KEY,
    SessionEvent, UploadRequest, argument,
};
use hlo_remote::{Address, CompileOptions};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;
use tokio_stream::iter;
use tonic::metadata::MetadataValue;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Streaming};

fn path(server: &TestServer) -> &PathBuf {
    match &server.address {
        Address::Unix(path) => path,
        other => panic!("expected a Unix socket, found {other}"),
    }
}

fn assert_works(server: &TestServer) {
    let axpy = compile(&server.client(), AXPY, &CompileOptions::default());
    let values = [Literal::scalar(ElementType::F32, 1f32), vector(&[1., 2., 3.]), vector(&[0.; 3])];
    assert_eq!(axpy.run(&values).unwrap().elements::<f32>(), [1., 2., 3.]);
}

/// The raw calls of a session.
struct Raw {
    grpc: HloClient<Channel>,
    token: Vec<u8>,
    _events: Streaming<SessionEvent>,
}

impl Raw {
    async fn open(server: &TestServer) -> Self {
        let endpoint = Endpoint::from_shared(server.address.to_string()).unwrap();
        let mut grpc = HloClient::new(endpoint.connect().await.unwrap());
        let request = AttachRequest { protocol: 1, name: "raw".into() };
        let mut events = grpc.attach(request).await.unwrap().into_inner();
        let Some(SessionEvent { event: Some(Event::Welcome(welcome)) }) = events.message().await.unwrap()
        else {
            panic!("no welcome")
        };
        Self { grpc, token: welcome.token.to_vec(), _events: events }
    }

    fn request<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        request.metadata_mut().insert_bin(SESSION_KEY, MetadataValue::from_bytes(&self.token));
        request
    }

    async fn upload(&mut self, parts: Vec<(&str, Vec<u8>)>) -> Result<u64, (Code, String)> {
        let part = |(shape, data): (&str, Vec<u8>)| UploadRequest { shape: shape.into(), data: data.into() };
        let parts: Vec<_> = parts.into_iter().map(part).collect();
        let reply = self.grpc.upload(self.request(iter(parts))).await;
        reply.map(|r| r.into_inner().handle).map_err(|s| (s.code(), s.message().to_string()))
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

/// Uploads an array of one element with this rank.
pub fn upload_of_rank(server: &TestServer, rank: usize) -> Result<u64, (Code, String)> {
    let shape = format!("f32[{}]", vec!["1"; rank].join(","));
    block_on(async { Raw::open(server).await.upload(vec![(shape.as_str(), vec![0; 4])]).await })
}

/// Runs a nonexistent program on many arguments, with or without a session.
pub fn execute_with_arguments(server: &TestServer, arguments: usize, in_session: bool) -> (Code, String) {
    block_on(async {
        let mut raw = Raw::open(server).await;
        let argument = Argument { value: Some(argument::Value::Buffer(1)) };
        let message = ExecuteRequest { arguments: vec![argument; arguments], ..ExecuteRequest::default() };
        let request = if in_session { raw.request(message) } else { Request::new(message) };
        let status = raw.grpc.execute(request).await.unwrap_err();
        (status.code(), status.message().to_string())
    })
}

/// Starts a compilation and cancels the call.
pub fn abandon_compilation(server: &TestServer, text: &str, pipeline: &str) {
    block_on(async {
        let mut raw = Raw::open(server).await;
        let options = proto::CompileOptions {
            passes: Some(proto::compile_options::Passes::Pipeline(pipeline.to_string())),
            ..proto::CompileOptions::default()
        };
        let message = CompileRequest { options: Some(options), text: text.to_string().into() };
        let request = raw.request(iter([message]));
        let call = raw.grpc.compile(request);
        assert!(tokio::time::timeout(Duration::from_millis(500), call).await.is_err(), "it goes on");
    });
}

#[test]
fn bytes_that_are_no_protocol() {
    let server = TestServer::start();
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let messages: [Vec<u8>; 7] = [
        b"GET / HTTP/1.1\r\nHost: a\r\n\r\n".to_vec(),
        vec![0; 10_000],
        vec![0xff; 10_000],
        [&preface[..], &[0xff; 1000]].concat(),
        // A settings frame with a declared size of 16 MB.
        [&preface[..], &[0xff, 0xff, 0xff, 4, 0, 0, 0, 0, 0], &[0; 1000]].concat(),
        // Headers without an end.
        [&preface[..], &[0, 0, 0, 4, 0, 0, 0, 0, 0], &[0, 0, 1, 1, 0, 0, 0, 0, 1, 0x82]].concat(),
        preface[..10].to_vec(),
    ];
    for message in &messages {
        let mut socket = UnixStream::connect(path(&server)).unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        // The server may close the connection before all bytes are written.
        let _ = socket.write_all(message);
        let mut answer = Vec::new();
        let _ = socket.take(10_000).read_to_end(&mut answer);
    }
    // Many connections at once, each cut off at some point.
    let mut state = 1u32;
    let sockets: Vec<_> = (0..50)
        .map(|_| {
            let mut socket = UnixStream::connect(path(&server)).unwrap();
            let noise: Vec<u8> = (0..500)
                .map(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (state >> 24) as u8
                })
                .collect();
            let _ = socket.write_all(preface);
            let _ = socket.write_all(&noise);
            socket
        })
        .collect();
    drop(sockets);
    assert_works(&server);
    eventually("connections are closed", || {
        hlo_remote::statistics(&server.address, Default::default()).unwrap().connections <= 2
    });
}

#[test]
fn messages_that_make_no_sense() {
    let server = TestServer::start();
    block_on(async {
        let mut raw = Raw::open(&server).await;
        for (parts, message) in [
            (vec![("f32[2", vec![])], "expected a shape, found `f32[2`"),
            (vec![("", vec![0])], "expected a shape, found ``"),
            (
                vec![("(f32[2], f32[])", vec![])],
                "expected the shape of an array without dynamic dimensions, or a token, found `(f32[2], f32[])`",
            ),
            (vec![("f32[<=2]", vec![0; 8])], "expected the shape of an array"),
            (vec![("f32[2]", vec![0; 7])], "expected 8 bytes for f32[2], found 7"),
            (vec![("f32[2]", vec![0; 4]), ("", vec![0; 5])], "expected 8 bytes for f32[2], found 9 at least"),
            (vec![("pred[3]", vec![0, 1, 2])], "pred[3]: element 2 is the byte 2, which is no pred"),
            (vec![("s4[2]", vec![7, 8])], "s4[2]: element 1 is the byte 8, which is no s4"),
            (vec![("f32[2]{0,0}", vec![0; 8])], "expected a shape, found `f32[2]{0,0}`"),
            (vec![], "expected an array, found no message"),
        ] {
            let (code, found) = raw.upload(parts).await.unwrap_err();
            assert_eq!(code, Code::InvalidArgument);
            assert!(found.starts_with(message), "{found}");
        }
        let huge = raw.upload(vec![("f32[9223372036854775807]", vec![])]).await.unwrap_err();
        assert_eq!(huge.0, Code::ResourceExhausted);
        assert_eq!(raw.upload(vec![("token[]", vec![])]).await.unwrap(), 1);
        assert!(raw.upload(vec![("f32[2]{0}", vec![0; 3]), ("", vec![0; 5])]).await.is_ok());

        // An oversized message is rejected, and the session continues.
        let (code, message) = raw.upload(vec![("u8[9000000]", vec![0; 9_000_000])]).await.unwrap_err();
        assert_eq!(code, Code::OutOfRange);
        assert!(message.contains("the limit is: 4194304 bytes"), "{message}");

        let not_text = iter([CompileRequest { options: None, text: vec![b'a', 0xff].into() }]);
        let status = raw.grpc.compile(raw.request(not_text)).await.unwrap_err();
        assert_eq!(status.message(), "expected a text in UTF-8, found another byte at 1");

        let status = raw.grpc.download(raw.request(DownloadRequest { buffer: 77 })).await.unwrap_err();
        assert_eq!(
            (status.code(), status.message()),
            (Code::NotFound, "there is no buffer 77: it was never made, or was released")
        );
        let nothing = ExecuteRequest { program: 5, ..ExecuteRequest::default() };
        assert_eq!(raw.grpc.execute(raw.request(nothing)).await.unwrap_err().code(), Code::NotFound);
        let text = iter([CompileRequest { options: None, text: AXPY.into() }]);
        let reply = raw.grpc.compile(raw.request(text)).await.unwrap().into_inner();
        let Some(hlo_remote::proto::compile_reply::Outcome::Program(program)) = reply.outcome else {
            panic!("no program")
        };
        let argument = |value| Argument { value };
        let inline = |shape: &str, data: Vec<u8>| {
            Some(argument::Value::Inline(Piece { shape: shape.into(), data: data.into() }))
        };
        let arguments = vec![argument(None)];
        let request = ExecuteRequest { program: program.handle, arguments, ..ExecuteRequest::default() };
        let status = raw.grpc.execute(raw.request(request)).await.unwrap_err();
        assert_eq!(status.message(), "argument 0: expected a buffer or an array, found nothing");
        let arguments = vec![argument(inline("f32[]", vec![0; 4])), argument(inline("f32[3]", vec![0; 11]))];
        let request = ExecuteRequest { program: program.handle, arguments, ..ExecuteRequest::default() };
        let status = raw.grpc.execute(raw.request(request)).await.unwrap_err();
        assert_eq!(status.message(), "expected 12 bytes for f32[3], found 11");
        // Fewer arguments than parameters: the run fails.
        let request = ExecuteRequest { program: program.handle, ..ExecuteRequest::default() };
        let failure = raw.grpc.execute(raw.request(request)).await.unwrap().into_inner().failure.unwrap();
        assert!(failure.diagnostics[0].message.starts_with("expected 3 arguments"));

        // A call without a session, and calls with a wrong token.
        let status = raw.grpc.download(DownloadRequest { buffer: 1 }).await.unwrap_err();
        assert_eq!(status.code(), Code::Unauthenticated);
        raw.token = vec![0; 16];
        let status = raw.grpc.download(raw.request(DownloadRequest { buffer: 1 })).await.unwrap_err();
        assert!(status.message().starts_with("the server does not know the session"), "{status:?}");
        raw.token = vec![1; 3];
        assert_eq!(
            raw.grpc.download(raw.request(DownloadRequest { buffer: 1 })).await.unwrap_err().code(),
            Code::Unauthenticated
        );

        let old = AttachRequest { protocol: 99, name: "x".repeat(10_000) };
        let status = raw.grpc.attach(old).await.unwrap_err();
        assert_eq!(status.message(), "the server speaks version 1 of the protocol, the client version 99");
    });
    assert_works(&server);
    assert_eq!(hlo_remote::statistics(&server.address, Default::default()).unwrap().defects, 0);
}

#[test]
fn those_who_are_silent_are_left() {
    let server = TestServer::with(|config| config.limits.idle = Duration::from_millis(300));
    block_on(async {
        let mut raw = Raw::open(&server).await;
        // An upload whose second part never arrives.
        let (sender, parts) = tokio::sync::mpsc::channel(1);
        sender.send(UploadRequest { shape: "f32[1000]".into(), data: vec![0; 4].into() }).await.unwrap();
        let stream = tokio_stream::wrappers::ReceiverStream::new(parts);
        let status = raw.grpc.upload(raw.request(stream)).await.unwrap_err();
        assert_eq!(
            (status.code(), status.message()),
            (Code::DeadlineExceeded, "no message came for 300ms (--idle-timeout)")
        );
        drop(sender);

        // A download that is not read. The server frees the memory that it holds for the download.
        let data: Vec<_> =
            (0..24).map(|k| (if k == 0 { "u8[25165824]" } else { "" }, vec![0; 1 << 20])).collect();
        let buffer = raw.upload(data).await.unwrap();
        let stalled = raw.grpc.download(raw.request(DownloadRequest { buffer })).await.unwrap();
        raw.grpc
            .release(
                raw.request(hlo_remote::proto::ReleaseRequest { buffers: vec![buffer], programs: vec![] }),
            )
            .await
            .unwrap();
        tokio::time::sleep(Duration::from_millis(700)).await;
        let statistics =
            raw.grpc.statistics(hlo_remote::proto::StatisticsRequest {}).await.unwrap().into_inner();
        let mut stalled = stalled.into_inner();
        let mut outcome = Ok(());
        while outcome.is_ok() {
            match stalled.message().await {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(status) => outcome = Err(status),
            }
        }
        let status = outcome.unwrap_err();
        assert_eq!(status.message(), "nothing was read for 300ms (--idle-timeout)");
        assert_eq!(statistics.clients, 1, "a session that is idle stays");
        eventually("the array is freed", || {
            hlo_remote::statistics(&server.address, Default::default()).unwrap().bytes == 0
        });
    });
    // Connections that send nothing, or only the beginning of the protocol.
    let mut silent = UnixStream::connect(path(&server)).unwrap();
    let mut begun = UnixStream::connect(path(&server)).unwrap();
    begun.write_all(b"PRI * HTTP/2.0\r\n").unwrap();
    for socket in [&mut silent, &mut begun] {
        socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let mut rest = Vec::new();
        let ended = socket.read_to_end(&mut rest);
        assert!(ended.is_ok() || ended.is_err_and(|e| e.kind() == std::io::ErrorKind::ConnectionReset));
    }
    assert_works(&server);
}
