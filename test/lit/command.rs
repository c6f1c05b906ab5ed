//! Runs one command of a RUN line with a given input and a time limit. Returns its output and exit status.

use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The outcome of a command.
pub struct Outcome {
    /// The standard output. With `2>&1` it also contains the standard error, in the order of writing.
    pub stdout: Vec<u8>,
    /// The standard error, unless it was merged into `stdout`.
    pub stderr: Vec<u8>,
    /// The exit status.
    pub status: ExitStatus,
}

/// Returns the time limit of a command.
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
    // `command` holds the writing ends of the pipe. Without this drop, the reader would never see the end of
    // the output.
    drop(command);

    let stdin = child.stdin.take();
    let stderr = child.stderr.take();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if let Some(mut stdin) = stdin {
                // A command may end without reading all of its input.
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
    // After an error, the output read so far is still shown.
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
