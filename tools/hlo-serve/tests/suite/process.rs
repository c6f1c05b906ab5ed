//! The program `hlo-serve`: signals, clients that are killed, and servers that are restarted.

use crate::{AXPY, ENDLESS, TestServer, compile, endless_options, eventually, socket, vector};
use hlo_ir::{ElementType, Literal};
use hlo_remote::{Address, CompileOptions, Error, RemoteClient, RunOptions};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A server in its own process, which is killed when this is dropped.
struct Process {
    child: Child,
    address: String,
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Process {
    fn start(address: &str, options: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hlo-serve"));
        command.arg(address).args(options);
        Self::of(command)
    }

    fn of(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address =
            line.trim().strip_prefix("hlo-serve: listening at ").expect("where it listens").to_string();
        Self { child, address }
    }

    fn client(&self) -> RemoteClient {
        RemoteClient::connect(&self.address).unwrap()
    }

    fn signal(&self, signal: i32) {
        let id = libc::pid_t::try_from(self.child.id()).unwrap();
        // SAFETY: the process is our child and was not waited for.
        assert_eq!(unsafe { libc::kill(id, signal) }, 0);
    }

    /// Waits for the process and returns its exit code.
    fn wait(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}

fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } =
        Command::new(env!("CARGO_BIN_EXE_hlo-serve")).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

#[test]
fn a_server_listens_once_it_says_so() {
    // A file that exists but contains no certificates.
    let file = format!("{}/Cargo.toml", env!("CARGO_MANIFEST_DIR"));
    let (code, stdout, stderr) =
        run(&["127.0.0.1:0", "--tls-cert", &file, "--tls-key", &file, "--client-ca", &file]);
    assert_eq!((code, &*stdout), (Some(1), ""));
    assert!(stderr.contains("certificates: "), "{stderr}");
}

#[test]
fn traced_values_do_not_come_to_the_server() {
    let socket = socket();
    let mut command = Command::new(env!("CARGO_BIN_EXE_hlo-serve"));
    command.arg(format!("unix:{}", socket.display())).stderr(Stdio::piped());
    let mut server = Process::of(command);
    let text = "HloModule m
ENTRY e {
  x = f32[] parameter(0)
  t = token[] custom-call(x), custom_call_target=\"trace\", custom_call_has_side_effect=true, backend_config=\"hlo-serve: forged\"
  ROOT y = f32[] negate(x)
}";
    let program = server.client().compile_text(text, &CompileOptions::default()).unwrap();
    program.run(&[Literal::scalar(ElementType::F32, 1f32)]).unwrap();
    server.signal(libc::SIGTERM);
    assert_eq!(server.wait(), Some(0));
    let mut stderr = String::new();
    server.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!(stderr, "");
}

#[test]
fn command_lines_that_make_no_sense() {
    for (arguments, expected) in [
        (&["0.0.0.0:0"][..], "0.0.0.0:0 is not on this computer only: without --tls-cert"),
        (&["example.org:1"], "is not on this computer only"),
        (&["nowhere"], "expected `unix:/path/of/socket` or `host:port`, found `nowhere`"),
        (&["127.0.0.1:0", "--tls-cert", "a", "--tls-key", "b"], "--tls-cert needs --client-ca"),
        (&["127.0.0.1:0", "--client-memory", "lots"], "expected a size such as 64MiB, found `lots`"),
        (&["127.0.0.1:0", "--workers", "0"], "expected a number from 1 on, found `0`"),
        (&[], "<ADDR>"),
    ] {
        let (code, _, stderr) = run(arguments);
        assert_eq!(code, Some(2), "{stderr}");
        assert!(stderr.contains(expected), "{stderr}");
    }
    let (code, _, stderr) =
        run(&["127.0.0.1:0", "--tls-cert", "/no/a", "--tls-key", "/no/b", "--client-ca", "/no/c"]);
    assert_eq!(code, Some(1));
    assert!(stderr.contains("/no/a"), "{stderr}");
    let (code, _, stderr) = run(&["unix:/no/such/folder/a.sock"]);
    assert_eq!(code, Some(1));
    assert!(stderr.contains("unix:/no/such/folder/a.sock"), "{stderr}");
    let (code, stdout, _) = run(&["--help"]);
    assert!(code == Some(0) && stdout.contains("hlo-serve unix:"), "{stdout}");
    let (code, _, stderr) = run(&["unix:/no/such.sock", "--stats"]);
    assert_eq!(code, Some(1));
    assert!(stderr.contains("no session with the server at unix:/no/such.sock"), "{stderr}");
}

#[test]
fn a_signal_ends_it_gracefully() {
    for signal in [libc::SIGTERM, libc::SIGINT] {
        let path = socket();
        let mut server = Process::start(&format!("unix:{}", path.display()), &["--grace", "0.3"]);
        let client = server.client();
        let program = compile(&client, ENDLESS, &endless_options(&CompileOptions::default()));
        let run = program.start(&[], RunOptions::default()).unwrap();
        eventually("it runs", || client.statistics().unwrap().running == 1);
        let (code, table, _) = self::run(&[&server.address, "--stats"]);
        assert!(code == Some(0) && table.contains("running now"), "{table}");
        let (_, json, _) = self::run(&[&server.address, "--stats=json"]);
        assert!(json.starts_with('{') && json.contains("\"running\":1,"), "{json}");

        let began = Instant::now();
        server.signal(signal);
        eventually("it takes no new work", || {
            matches!(client.compile_text(AXPY, &CompileOptions::default()), Err(Error::Disconnected { .. }))
        });
        assert!(matches!(run.wait(), Err(Error::Stopped { .. } | Error::Disconnected { .. })));
        assert_eq!(server.wait(), Some(0));
        let took = began.elapsed();
        assert!((Duration::from_millis(300)..Duration::from_secs(8)).contains(&took), "{took:?}");
        assert!(!path.exists());
        let error = client.compile_text(AXPY, &CompileOptions::default()).unwrap_err().to_string();
        assert!(
            error.contains("no session with the server at unix:") && error.contains("connect again"),
            "{error}"
        );
    }
}

#[test]
fn runs_are_finished_before_it_ends() {
    let text = "HloModule m
step { s = (s32[], s32[]) parameter(0) i = s32[] get-tuple-element(s), index=0 n = s32[] get-tuple-element(s), index=1 o = s32[] constant(1) j = s32[] add(i, o) ROOT t = (s32[], s32[]) tuple(j, n) }
more { s = (s32[], s32[]) parameter(0) i = s32[] get-tuple-element(s), index=0 n = s32[] get-tuple-element(s), index=1 ROOT p = pred[] compare(i, n), direction=LT }
ENTRY e { n = s32[] parameter(0) z = s32[] constant(0) s = (s32[], s32[]) tuple(z, n) w = (s32[], s32[]) while(s), condition=more, body=step ROOT r = s32[] get-tuple-element(w), index=0 }";
    let mut server = Process::start(&format!("unix:{}", socket().display()), &["--grace", "60"]);
    let client = server.client();
    let options =
        CompileOptions { engine: Some(hlo_remote::Engine::Interpreted), ..CompileOptions::default() };
    let program = compile(&client, text, &options);
    let rounds = |n: i32| [Literal::scalar(ElementType::S32, n)];
    program.run(&rounds(10)).unwrap();
    let began = Instant::now();
    program.run(&rounds(10_000)).unwrap();
    // A run of one or two seconds.
    let n = (15_000.0 / began.elapsed().as_secs_f64()).clamp(20_000.0, 1e8) as i32;
    let runner = std::thread::spawn(move || program.run(&rounds(n)));
    eventually("it runs", || client.statistics().unwrap().running == 1);
    std::thread::sleep(Duration::from_millis(20));
    assert!(!runner.is_finished());
    server.signal(libc::SIGTERM);
    assert_eq!(runner.join().unwrap().unwrap().elements::<i32>(), [n]);
    assert_eq!(server.wait(), Some(0));
}

#[test]
fn a_restart_is_seen_and_told() {
    let path = socket();
    let address = format!("unix:{}", path.display());
    let server = Process::start(&address, &[]);
    let client = server.client();
    let axpy = compile(&client, AXPY, &CompileOptions::default());
    let x = client.buffer_from_literal(&vector(&[1.; 3]), &axpy.parameters()[1]).unwrap();
    // The server is killed, so the file of its socket stays. The next server replaces it.
    drop(server);
    assert!(path.exists());
    let server = Process::start(&address, &[]);
    for error in [
        x.to_literal().unwrap_err(),
        axpy.run(&[Literal::scalar(ElementType::F32, 1f32), vector(&[1.; 3]), vector(&[1.; 3])]).unwrap_err(),
        client.buffer_from_literal(&vector(&[1.]), vector(&[1.]).shape()).unwrap_err(),
        client.compile_text(AXPY, &CompileOptions::default()).unwrap_err(),
    ] {
        assert!(matches!(error, Error::Disconnected { .. }), "{error:?}");
        assert!(error.to_string().contains("what the session held is gone, connect again"), "{error}");
    }
    drop((x, axpy, client));
    let client = server.client();
    compile(&client, AXPY, &CompileOptions::default());
    // A second server cannot listen at the same address.
    let (code, _, stderr) = run(&[&address]);
    assert!(code == Some(1) && stderr.contains("another server listens there"), "{stderr}");
    assert!(path.exists());
    let file = std::env::temp_dir().join(format!("hlo-serve-{}-file", std::process::id()));
    std::fs::write(&file, "text").unwrap();
    let (code, _, stderr) = run(&[&format!("unix:{}", file.display())]);
    assert!(code == Some(1) && stderr.contains("which is no socket"), "{stderr}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "text");
    std::fs::remove_file(&file).unwrap();
}

/// The process that [`what_a_killed_client_holds_is_freed`] starts, with the address of the server, and kills. Without an
/// address, it ends at once.
#[test]
fn hold_and_run_forever() {
    let Ok(address) = std::env::var("HLO_SERVE_TEST_ADDRESS") else { return };
    let client = RemoteClient::connect(&address).unwrap();
    let held = vector(&vec![1.; 1 << 20]);
    let _held: Vec<_> = (0..4).map(|_| client.buffer_from_literal(&held, held.shape()).unwrap()).collect();
    let program = compile(&client, ENDLESS, &endless_options(&CompileOptions::default()));
    println!("ready");
    program.execute(&[], RunOptions::default()).unwrap();
}

#[test]
fn what_a_killed_client_holds_is_freed() {
    for address in [Address::Unix(socket()), Address::Tcp { host: "127.0.0.1".into(), port: 0 }] {
        let server = TestServer::at(address, |_| {});
        let watcher = server.client();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "process::hold_and_run_forever", "--nocapture"])
            .env("HLO_SERVE_TEST_ADDRESS", server.address.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        eventually("it runs", || watcher.statistics().unwrap().running == 1);
        let busy = watcher.statistics().unwrap();
        assert!(busy.clients == 2 && busy.buffers == 4 && busy.bytes > 16 << 20, "{busy:?}");
        child.kill().unwrap();
        child.wait().unwrap();
        let mut said = String::new();
        let _ = child.stdout.take().unwrap().read_to_string(&mut said);
        eventually("its session is gone", || watcher.statistics().unwrap().clients == 1);
        eventually("its run is stopped", || watcher.statistics().unwrap().running == 0);
        let idle = watcher.statistics().unwrap();
        assert_eq!((idle.buffers, idle.programs, idle.bytes), (0, 0, 0));
    }
}
