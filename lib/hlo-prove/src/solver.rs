//! Runs an SMT solver as a process, so that a crash or an endless search ends with the process.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

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
    /// Returns whether the solver can be started and answers.
    pub fn is_installed(&self) -> bool {
        self.run("(echo \"ready\")\n").is_ok_and(|answer| answer.contains("ready"))
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
        let (output, input) = (process.stdout.take(), process.stdin.take());
        let script = format!("(set-option :timeout {})\n{text}", self.limit.as_millis());
        // A solver that ends early closes its input. Its output says why.
        std::thread::spawn(move || input.map(|mut input| input.write_all(script.as_bytes())));
        let (sender, answer) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let mut text = String::new();
            if let Some(output) = output {
                let _ = output.take(MAX_OUTPUT).read_to_string(&mut text);
            }
            sender.send(text)
        });
        // The solver's own limit is not exact. Its children may keep the output open after its end.
        let answer = answer.recv_timeout(self.limit + Duration::from_secs(5));
        let _ = process.kill();
        process.wait()?;
        Ok(answer.unwrap_or_else(|_| "unknown\n".to_string()))
    }
}

/// Maximum size of a solver's output in bytes.
const MAX_OUTPUT: u64 = 1 << 20;
