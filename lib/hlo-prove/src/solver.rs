//! Runs an SMT solver as a process, so that a crash or an endless search ends with the process.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// An SMT solver that reads SMT-LIB from its standard input.
#[derive(Clone, Debug)]
pub struct Solver {
    /// The command, such as `z3`.
    pub command: String,
    /// The time for one question.
    pub limit: Duration,
}

impl Default for Solver {
    fn default() -> Self {
        Self { command: "z3".to_string(), limit: Duration::from_secs(10) }
    }
}

/// The answer of a solver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// No values satisfy the assertions.
    Unsatisfiable,
    /// These values, one line of the solver's text for each asked name, satisfy them.
    Satisfiable(String),
    /// The solver did not decide in time, or its output is not understood. Contains the output.
    Unknown(String),
}

impl Solver {
    /// Returns whether the solver can be started.
    pub fn is_installed(&self) -> bool {
        let mut command = Command::new(&self.command);
        command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }

    /// Asks whether the assertions of a text can be satisfied, and for the values of `names` if they can.
    ///
    /// # Errors
    /// The solver cannot be started.
    pub fn ask(&self, text: &str, names: &[String]) -> std::io::Result<Answer> {
        let mut script = format!("{text}(check-sat)\n");
        for name in names {
            script.push_str(&format!("(get-value ({name}))\n"));
        }
        let output = self.run(&script)?;
        Ok(match output.split_once('\n') {
            Some(("unsat", _)) => Answer::Unsatisfiable,
            Some(("sat", values)) => Answer::Satisfiable(values.to_string()),
            _ => Answer::Unknown(output),
        })
    }

    /// Runs the commands of a text, and returns what the solver prints.
    ///
    /// # Errors
    /// The solver cannot be started.
    pub fn run(&self, text: &str) -> std::io::Result<String> {
        let mut process = Command::new(&self.command)
            .args(["-in", "-smt2"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let output = process.stdout.take();
        let reader = std::thread::spawn(move || {
            let mut text = String::new();
            if let Some(mut output) = output {
                let _ = output.read_to_string(&mut text);
            }
            text
        });
        if let Some(mut input) = process.stdin.take() {
            // A solver that ends early closes its input. Its output says why.
            let _ = writeln!(input, "(set-option :timeout {})", self.limit.as_millis());
            let _ = input.write_all(text.as_bytes());
        }
        // The solver's own limit is not exact.
        let end = Instant::now() + self.limit + Duration::from_secs(5);
        while process.try_wait()?.is_none() {
            if Instant::now() > end {
                let _ = process.kill();
                let _ = process.wait();
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok(reader.join().unwrap_or_default())
    }
}
