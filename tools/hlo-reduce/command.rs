//! The user's command: run on a candidate, it says whether what is looked for is still there.

use crate::interrupt::Interrupt;
use hlo_tools_common::Failure;
use regex::Regex;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What stands for the file in the arguments.
const PLACE: &str = "{}";
/// How much of the output is looked at.
const MAX_OUTPUT: u64 = 16 << 20;
/// How much of it is shown.
const SHOWN_LINES: usize = 12;

/// What a run must do for its module to be of interest.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// End with this exit code; without it, and without a pattern, with any but 0 or by a signal.
    pub exit: Option<i32>,
    /// Print something that matches.
    pub pattern: Option<Regex>,
    /// Not end within the time limit.
    pub hang: bool,
}

/// A command with what is wanted of it.
pub struct Tester {
    program: PathBuf,
    arguments: Vec<String>,
    wanted: Wanted,
    timeout: Duration,
    interrupt: Interrupt,
    folder: PathBuf,
    number: AtomicU64,
}

/// What a run did.
#[derive(Debug)]
pub struct Outcome {
    /// How it ended; `None` if it took too long or was interrupted.
    pub status: Option<ExitStatus>,
    /// What it printed, to standard output first.
    pub output: String,
}

impl Tester {
    /// A command: the program and its arguments. `{}` in them stands for the file; without it the file comes last.
    /// An interrupt ends the runs.
    pub fn new(
        command: &[String],
        wanted: Wanted,
        timeout: Duration,
        interrupt: Interrupt,
    ) -> Result<Self, Failure> {
        let (program, arguments) =
            command.split_first().ok_or_else(|| Failure::Usage("a command is needed after `--`".into()))?;
        let mut arguments = arguments.to_vec();
        if !arguments.iter().any(|a| a.contains(PLACE)) {
            arguments.push(PLACE.to_string());
        }
        let folder = std::env::temp_dir().join(format!("hlo-reduce-{}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(|e| Failure::file(&folder.display().to_string(), e))?;
        let program = beside_this(program).unwrap_or_else(|| PathBuf::from(program));
        Ok(Self { program, arguments, wanted, timeout, interrupt, folder, number: AtomicU64::new(0) })
    }

    /// Runs the command on a module's text.
    pub fn run(&self, text: &str) -> Result<Outcome, Failure> {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let file = self.folder.join(format!("candidate-{number}.hlo"));
        let output = self.folder.join(format!("output-{number}"));
        let result = self.run_on(text, &file, &output);
        // Best effort: the folder goes in the end.
        let _ = std::fs::remove_file(&file);
        let _ = std::fs::remove_file(output.with_extension("out"));
        let _ = std::fs::remove_file(output.with_extension("err"));
        result
    }

    fn run_on(&self, text: &str, file: &Path, output: &Path) -> Result<Outcome, Failure> {
        let failed = |path: &Path, e: std::io::Error| Failure::file(&path.display().to_string(), e);
        std::fs::write(file, text).map_err(|e| failed(file, e))?;
        // Files, not pipes: a process that a command leaves behind must not hold the reading end up.
        let (out, err) = (output.with_extension("out"), output.with_extension("err"));
        let create = |path: &Path| File::create(path).map_err(|e| failed(path, e));
        let name = file.to_string_lossy();
        let mut command = Command::new(&self.program);
        command
            .args(self.arguments.iter().map(|a| a.replace(PLACE, &name)))
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

    /// True if a run is what is looked for; one that was interrupted says nothing.
    pub fn is_wanted(&self, outcome: &Outcome) -> bool {
        if self.interrupt.is_set() {
            return false;
        }
        let Wanted { exit, pattern, hang } = &self.wanted;
        let Some(status) = outcome.status else { return *hang };
        let ended = match (exit, pattern) {
            (Some(code), _) => status.code() == Some(*code),
            (None, Some(_)) => true,
            (None, None) => !status.success(),
        };
        !hang && ended && pattern.as_ref().is_none_or(|p| p.is_match(&outcome.output))
    }

    /// Why a run is not what is looked for, for a person.
    pub fn explain(&self, outcome: &Outcome) -> String {
        let wanted = match &self.wanted {
            Wanted { hang: true, .. } => format!("run for more than {} s", self.timeout.as_secs_f64()),
            Wanted { exit, pattern, .. } => {
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
        let last = lines.get(lines.len().saturating_sub(SHOWN_LINES)..).unwrap_or_default();
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

/// The program of that name in the folder that this program is in: `hlo-opt` is the one of this build.
pub fn beside_this(name: &str) -> Option<PathBuf> {
    if name.contains(std::path::MAIN_SEPARATOR) {
        return None;
    }
    let path = std::env::current_exe().ok()?.with_file_name(name);
    path.is_file().then_some(path)
}

fn read(path: &Path) -> String {
    let mut bytes = Vec::new();
    if let Ok(file) = File::open(path) {
        // What can be read is what there is to match.
        let _ = file.take(MAX_OUTPUT).read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Gives the command a process group of its own, so that what it starts ends with it.
#[cfg(unix)]
fn in_group(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(unix)]
fn kill_group(child: &mut Child) {
    if let Ok(pid) = i32::try_from(child.id()) {
        // SAFETY: no memory is involved. The group is the child's own, which was not waited for yet, so that its
        // number belongs to nobody else.
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
