//! Running one command of a RUN line: input in, output and exit status out, within a time limit.

use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// What a command did.
pub struct Outcome {
    /// What it printed; with `2>&1` its errors too, in the order in which they came.
    pub stdout: Vec<u8>,
    /// What it printed to stderr, unless that went to stdout.
    pub stderr: Vec<u8>,
    /// How it ended.
    pub status: ExitStatus,
}

/// How long a command may take.
fn limit() -> Duration {
    let seconds = std::env::var("HLO_LIT_TIMEOUT").ok().and_then(|s| s.parse().ok()).unwrap_or(120);
    Duration::from_secs(seconds)
}

/// Runs `command` with `input` as its standard input.
pub fn run(mut command: Command, input: Vec<u8>, merge_stderr: bool) -> Result<Outcome, String> {
    let failed = |e: std::io::Error| format!("can't run the command: {e}");
    let (reader, writer) = std::io::pipe().map_err(failed)?;
    command.stdin(Stdio::piped());
    if merge_stderr {
        command.stderr(writer.try_clone().map_err(failed)?);
    } else {
        command.stderr(Stdio::piped());
    }
    command.stdout(writer);
    let mut child = command.spawn().map_err(failed)?;
    // The command holds the pipe's writing ends; without this drop its end would never be seen.
    drop(command);

    let stdin = child.stdin.take();
    let stderr = child.stderr.take();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if let Some(mut stdin) = stdin {
                // A command that does not read all of its input is fine.
                let _ = stdin.write_all(&input);
            }
        });
        let stdout = scope.spawn(move || read_all(reader));
        let stderr = scope.spawn(move || stderr.map(read_all).unwrap_or_default());
        let status = wait(&mut child)?;
        let joined = |text: std::thread::Result<Vec<u8>>| text.map_err(|_| "a reader failed".to_string());
        Ok(Outcome { stdout: joined(stdout.join())?, stderr: joined(stderr.join())?, status })
    })
}

fn read_all(mut from: impl Read) -> Vec<u8> {
    let mut out = Vec::new();
    // What was read before an error is still worth showing.
    let _ = from.read_to_end(&mut out);
    out
}

fn wait(child: &mut Child) -> Result<ExitStatus, String> {
    let start = Instant::now();
    let limit = limit();
    loop {
        match child.try_wait().map_err(|e| e.to_string())? {
            Some(status) => return Ok(status),
            None if start.elapsed() > limit => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("not done after {} s", limit.as_secs()));
            }
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}
