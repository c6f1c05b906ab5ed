//! Each limit, and that the client can continue after it was exceeded.

use crate::{AXPY, ENDLESS, TestServer, compile, endless_options, engines, eventually, vector};
use hlo_ir::{ElementType, Literal, Shape};
use hlo_remote::{CompileOptions, Error, Refusal, RemoteClient, RunOptions};
use std::time::{Duration, Instant};

/// Returns the kind and the message of a rejection.
pub fn refusal<T>(result: Result<T, Error>) -> (Refusal, String) {
    match result.err() {
        Some(Error::Refused { kind, message, .. }) => (kind, message),
        other => panic!("expected a refusal, found {other:?}"),
    }
}

/// Asserts that a client can compile and run a program.
pub fn assert_works(client: &RemoteClient) {
    let axpy = compile(client, AXPY, &CompileOptions::default());
    let values = [Literal::scalar(ElementType::F32, 1f32), vector(&[1., 2., 3.]), vector(&[0.; 3])];
    assert_eq!(axpy.run(&values).unwrap().elements::<f32>(), [1., 2., 3.]);
}

#[test]
fn memory_of_buffers() {
    // An array is charged with its own size and, during a transfer, with that of its messages.
    let server = TestServer::with(|config| config.limits.client_memory = 12 << 20);
    let client = server.client();
    let large = vector(&vec![0.; 1_200_000]);
    let held = client.buffer_from_literal(&large, large.shape()).unwrap();
    let (code, message) = refusal(client.buffer_from_literal(&large, large.shape()));
    assert_eq!(code, Refusal::Limit);
    assert!(message.contains("of the 12.0 MiB that a client may take (--client-memory)"), "{message}");
    drop(held);
    eventually("the buffer is freed", || client.statistics().unwrap().bytes == 0);
    client.buffer_from_literal(&large, large.shape()).unwrap();
    assert_works(&client);
}

#[test]
fn memory_of_runs_and_results() {
    let server = TestServer::with(|config| config.limits.client_memory = 4 << 20);
    let client = server.client();
    for options in engines() {
        let text =
            "HloModule m ENTRY e { x = f32[] parameter(0) ROOT y = f32[800000] broadcast(x), dimensions={} }";
        let one = client.compile_text(text, &options);
        let x = client
            .buffer_from_literal(&Literal::scalar(ElementType::F32, 1f32), &Shape::scalar(ElementType::F32))
            .unwrap();
        // One result fits in the account, but two do not.
        let outcome = one.and_then(|program| {
            let first = program.execute(&[&x], RunOptions::default())?;
            program.execute(&[&x], RunOptions::default()).map(|second| (first, second))
        });
        match outcome {
            Err(Error::Refused { kind: Refusal::Limit, message, .. }) => {
                assert!(message.contains("that a client may take (--client-memory)"), "{message}");
            }
            other => panic!("expected a refusal, found {other:?}"),
        }
        // A program that needs more memory than the limit is rejected when it is compiled or when it runs.
        let text = "HloModule m ENTRY e { x = f32[] parameter(0) y = f32[1000000000] broadcast(x), dimensions={} ROOT z = f32[1000000000] negate(y) }";
        let outcome =
            client.compile_text(text, &options).and_then(|p| p.execute(&[&x], RunOptions::default()));
        assert!(
            matches!(outcome, Err(Error::Diags(_) | Error::Refused { kind: Refusal::Limit, .. })),
            "{outcome:?}"
        );
        drop(x);
        eventually("all is freed", || client.statistics().unwrap().bytes == 0);
    }
    assert_works(&client);
}

#[test]
fn memory_of_all_clients() {
    let server = TestServer::with(|config| config.limits.memory = 6 << 20);
    let (client, other) = (server.client(), server.client());
    let large = vector(&vec![0.; 600_000]);
    let held = client.buffer_from_literal(&large, large.shape()).unwrap();
    let (_, message) = refusal(other.buffer_from_literal(&large, large.shape()));
    assert!(message.contains("that all clients together may take (--memory)"), "{message}");
    drop((client, held));
    eventually("the buffer is freed", || other.statistics().unwrap().bytes == 0);
    other.buffer_from_literal(&large, large.shape()).unwrap();
}

#[test]
fn texts_and_numbers() {
    let server = TestServer::with(|config| {
        config.limits.module = 1000;
        config.limits.buffers = 3;
        config.limits.programs = 2;
        config.limits.clients = 2;
        config.limits.message = 2000;
    });
    let client = server.client();
    let (code, message) =
        refusal(client.compile_text(&format!("{AXPY}{}", " ".repeat(1000)), &CompileOptions::default()));
    assert_eq!(
        (code, message.as_str()),
        (Refusal::Limit, "a module's text may have 1000 bytes (--max-module)")
    );

    // Larger than a message, so it is sent in parts.
    let x = vector(&[1.; 3000]);
    let buffers: Vec<_> = (0..3).map(|_| client.buffer_from_literal(&x, x.shape()).unwrap()).collect();
    assert_eq!(buffers[2].to_literal().unwrap(), x);
    let (_, message) = refusal(client.buffer_from_literal(&x, x.shape()));
    assert_eq!(message, "1 further buffers: a client may have 3 (--client-buffers), and has 3");

    let programs: Vec<_> = (0..2).map(|_| compile(&client, AXPY, &CompileOptions::default())).collect();
    let (_, message) = refusal(client.compile_text(AXPY, &CompileOptions::default()));
    assert_eq!(message, "a further program: a client may have 2 (--client-programs), and has 2");
    drop((buffers, programs));

    let second = server.client();
    let (_, message) = refusal(RemoteClient::connect(&server.address.to_string()));
    assert_eq!(message, "the server has 2 clients, as many as it may (--clients)");
    drop(second);
    eventually("there is room", || RemoteClient::connect(&server.address.to_string()).is_ok());
    eventually("programs are freed", || client.statistics().unwrap().programs == 0);
    assert_works(&client);
}

#[test]
fn time_of_runs() {
    let server = TestServer::with(|config| config.limits.run_time = Duration::from_millis(100));
    let client = server.client();
    for options in engines() {
        let program = compile(&client, ENDLESS, &endless_options(&options));
        let began = Instant::now();
        let error = program.execute(&[], RunOptions::default()).unwrap_err();
        assert!(began.elapsed() >= Duration::from_millis(100));
        assert!(matches!(&error, Error::TimedOut { after, .. } if after.as_millis() == 100), "{error:?}");
        // A client may request a shorter time, but not a longer one.
        let longer = RunOptions { time_limit: Some(Duration::from_secs(3600)), ..RunOptions::default() };
        let error = program.execute(&[], longer).unwrap_err();
        assert!(matches!(&error, Error::TimedOut { after, .. } if after.as_millis() == 100), "{error:?}");
    }
    assert_eq!(client.statistics().unwrap().runs_stopped, 2 * engines().len() as u64);
    assert_works(&client);
}
