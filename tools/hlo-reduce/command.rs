//! Runs the user's command on a candidate and checks whether the failure still occurs.

use crate::interrupt::Interrupt;
use hlo_tools_common::Failure;
use regex_lite::Regex;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Placeholder for the file in the arguments.
const FILE_PLACEHOLDER: &str = "{}";
/// Maximum number of bytes of output that are examined.
const MAX_OUTPUT: u64 = 16 << 20;
/// Maximum number of lines of output that are shown.
const MAX_SHOWN_LINES: usize = 12;

/// The conditions for a module to be interesting.
#[derive(Clone, Debug, Default)]
pub struct FailureConditions {
    /// The required exit code. Without it, and without a pattern, the command must exit with a code other
    /// than 0 or by a signal.
    pub exit: Option<i32>,
    /// A pattern that the output must match.
    pub pattern: Option<Regex>,
    /// Whether the command must exceed the time limit.
    pub hang: bool,
}

/// A command and the conditions.
pub struct Tester {
    program: PathBuf,
    arguments: Vec<String>,
    wanted: FailureConditions,
    timeout: Duration,
    interrupt: Interrupt,
    folder: PathBuf,
    number: AtomicU64,
}

/// The outcome of a run.
#[derive(Debug)]
pub struct Outcome {
    /// The exit status; `None` if the run took too long or was interrupted.
    pub status: Option<ExitStatus>,
    /// The output: standard output, then standard error.
    pub output: String,
}

impl Tester {
    /// Creates a tester for a program and its arguments. `{}` in the arguments stands for the file. Without
    /// it, the file is the last argument. An interrupt ends the runs.
    pub fn new(
        command: &[String],
        wanted: FailureConditions,
        timeout: Duration,
        interrupt: Interrupt,
    ) -> Result<Self, Failure> {
        let (program, arguments) =
            command.split_first().ok_or_else(|| Failure::Usage("a command is needed after `--`".into()))?;
        let mut arguments = arguments.to_vec();
        if !arguments.iter().any(|a| a.contains(FILE_PLACEHOLDER)) {
            arguments.push(FILE_PLACEHOLDER.to_string());
        }
        let folder = std::env::temp_dir().join(format!("hlo-reduce-{}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(|e| Failure::file(&folder.display().to_string(), e))?;
        let program = sibling_program(program).unwrap_or_else(|| PathBuf::from(program));
        Ok(Self { program, arguments, wanted, timeout, interrupt, folder, number: AtomicU64::new(0) })
    }

    /// Runs the command on a module's text.
    pub fn run(&self, text: &str) -> Result<Outcome, Failure> {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let file = self.folder.join(format!("candidate-{number}.hlo"));
        let output = self.folder.join(format!("output-{number}"));
        let result = self.run_on(text, &file, &output);
        // Best effort: the folder is removed at the end.
        let _ = std::fs::remove_file(&file);
        let _ = std::fs::remove_file(output.with_extension("out"));
        let _ = std::fs::remove_file(output.with_extension("err"));
        result
    }

    fn run_on(&self, text: &str, file: &Path, output: &Path) -> Result<Outcome, Failure> {
        let failed = |path: &Path, e: std::io::Error| Failure::file(&path.display().to_string(), e);
        std::fs::write(file, text).map_err(|e| failed(file, e))?;
        // Use files, not pipes: a background process of the command would keep a pipe open.
        let (out, err) = (output.with_extension("out"), output.with_extension("err"));
        let create = |path: &Path| File::create(path).map_err(|e| failed(path, e));
        let name = file.to_string_lossy();
        let mut command = Command::new(&self.program);
        command
            .args(self.arguments.iter().map(|a| a.replace(FILE_PLACEHOLDER, &name)))
            .stdin(Stdio::null())
            .stdout(create(&out)?)
            .stderr(create(&err)?);
        in_group(&mut command);
        let mut child = command.spawn().map_err(|e| failed(&self.program, e))?;
        let status = self.wait(&mut child).map_err(|e| failed(&self.program, e))?;
        let mut shown = read(&out);
        shown.push_str(&read(&err));
        Ok(Outcome { status, output: shown })
    }

    fn wait(&self, child: &mut Child) -> std::io::Result<Option<ExitStatus>> {
        let start = Instant::now();
        let mut pause = Duration::from_micros(500);
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(Some(status));
            }
            if start.elapsed() > self.timeout || self.interrupt.is_set() {
                kill_group(child);
                child.wait()?;
                return Ok(None);
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
        }
    }

    /// Whether a run meets the conditions. An interrupted run does not.
    pub fn is_wanted(&self, outcome: &Outcome) -> bool {
        if self.interrupt.is_set() {
            return false;
        }
        let FailureConditions { exit, pattern, hang } = &self.wanted;
        let Some(status) = outcome.status else { return *hang };
        let ended = match (exit, pattern) {
            (Some(code), _) => status.code() == Some(*code),
            (None, Some(_)) => true,
            (None, None) => !status.success(),
        };
        !hang && ended && pattern.as_ref().is_none_or(|p| p.is_match(&outcome.output))
    }

    /// Explains why a run does not meet the conditions.
    pub fn explain(&self, outcome: &Outcome) -> String {
        let wanted = match &self.wanted {
            FailureConditions { hang: true, .. } => {
                format!("run for more than {} s", self.timeout.as_secs_f64())
            }
            FailureConditions { exit, pattern, .. } => {
                let exit = exit.map(|code| format!("end with exit code {code}"));
                let pattern = pattern.as_ref().map(|p| format!("print what matches `{p}`"));
                let both: Vec<String> = exit.into_iter().chain(pattern).collect();
                if both.is_empty() { "fail".to_string() } else { both.join(" and ") }
            }
        };
        let ended = match outcome.status {
            Some(status) => format!("ended with {status}"),
            None => format!("did not end within {} s (--timeout)", self.timeout.as_secs_f64()),
        };
        let lines: Vec<&str> = outcome.output.lines().collect();
        let last = lines.get(lines.len().saturating_sub(MAX_SHOWN_LINES)..).unwrap_or_default();
        let printed = match last {
            [] => ", and printed nothing".to_string(),
            last => format!(", and printed\n  {}", last.join("\n  ")),
        };
        format!("on the whole module the command should {wanted}, but it {ended}{printed}")
    }
}

impl Drop for Tester {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Returns the program with the given name in the folder of this program, so that `hlo-opt` is the one of
/// this build.
pub fn sibling_program(name: &str) -> Option<PathBuf> {
    if name.contains(std::path::MAIN_SEPARATOR) {
        return None;
    }
    let path = std::env::current_exe().ok()?.with_file_name(name);
    path.is_file().then_some(path)
}

fn read(path: &Path) -> String {
    let mut bytes = Vec::new();
    if let Ok(file) = File::open(path) {
        // Match as much as can be read.
        let _ = file.take(MAX_OUTPUT).read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Runs the command in its own process group, so that its child processes end with it.
#[cfg(unix)]
fn in_group(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(unix)]
fn kill_group(child: &mut Child) {
    if let Ok(pid) = i32::try_from(child.id()) {
        // SAFETY: no memory is involved. The group belongs to the child, which was not waited for yet, so no
        // other process can have its number.
        unsafe { libc::kill(-pid, libc::SIGKILL) };
    }
}

#[cfg(not(unix))]
fn in_group(_: &mut Command) {}

#[cfg(not(unix))]
fn kill_group(child: &mut Child) {
    // Best effort: it may have ended by itself.
    let _ = child.kill();
}
