//! RUN lines: splits them into commands and runs these, with each command's output as the next one's input.
//!
//! The supported syntax is: the tools `hlo-opt`, `hlo-run`, `hlo-diff` and `hlo-reduce`; `not` before a tool;
//! `FileCheck FILE` and `diff FILE -` as the last command; `|`, `2>&1` and quotes. In words, `%s` is the test
//! file, `%S` its folder, `%t` a path for files of the test, and `%T` a path outside of the checkout.
//! Anything else is an error.

use crate::tool::tool;
use crate::{check, command, directive};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a test file. The error is a message that can be shown to the user.
pub fn run_test(file: &Path, work: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(file).map_err(|e| format!("can't read the test: {e}"))?;
    let run_lines = directive::run_lines(&text)?;
    if run_lines.is_empty() {
        return Err("the file has no RUN line".to_string());
    }
    let test = Test { file, work, outside: TemporaryFolder::of(work), text: &text };
    let pipelines = run_lines.iter().map(|l| test.parse(l)).collect::<Result<Vec<_>, _>>()?;
    let mut prefixes: Vec<String> = pipelines.iter().flat_map(|p| p.last.prefixes()).cloned().collect();
    prefixes.sort();
    prefixes.dedup();
    directive::refuse_unknown(&text, &prefixes)?;
    if !pipelines.iter().any(Pipeline::checks) {
        return Err(
            "no RUN line checks anything: end one in FileCheck or diff, begin it with not, or give hlo-run \
                    what to expect"
                .into(),
        );
    }
    for (line, pipeline) in run_lines.iter().zip(pipelines) {
        test.run(pipeline).map_err(|e| format!("RUN: {line}\n{e}"))?;
    }
    Ok(())
}

struct Test<'a> {
    file: &'a Path,
    work: &'a Path,
    outside: TemporaryFolder,
    text: &'a str,
}

/// A path of the test among the system's temporary files. It is for tests that depend on who may write to the
/// parent folders, because the checkout may be anywhere. The files are removed when the value is dropped.
struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    fn of(work: &Path) -> Self {
        let name = work.file_name().unwrap_or_default().to_string_lossy();
        let path = std::env::temp_dir().join(format!("hlo-lit-{}-{name}", std::process::id()));
        // An earlier process with the same number may have been killed and left files.
        remove(&path);
        Self(path)
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

/// Removes a file or a folder, if it exists.
fn remove(path: &Path) {
    let _ = std::fs::remove_dir_all(path).or_else(|_| std::fs::remove_file(path));
}

/// A RUN line.
struct Pipeline {
    stages: Vec<Stage>,
    last: OutputUse,
}

impl Pipeline {
    /// Checks whether some output would make the line fail.
    fn checks(&self) -> bool {
        !matches!(self.last, OutputUse::Nothing) || self.stages.iter().any(|s| s.fails || s.compares())
    }
}

/// A tool with its arguments.
struct Stage {
    program: &'static str,
    arguments: Vec<String>,
    /// Whether `not` comes before the tool: it must end with an error of its own.
    fails: bool,
    merge_stderr: bool,
}

impl Stage {
    /// Checks whether the tool is an `hlo-run` that fails if its results are not the expected ones.
    fn compares(&self) -> bool {
        self.program == env!("CARGO_BIN_EXE_hlo-run")
            && self.arguments.iter().any(|a| matches!(a.as_str(), "--expect" | "--expected" | "--case"))
    }
}

/// The use of the output.
enum OutputUse {
    Nothing,
    FileCheck { checks: PathBuf, prefixes: Vec<String>, allow_empty: bool },
    Diff { expected: PathBuf },
}

impl OutputUse {
    fn prefixes(&self) -> &[String] {
        match self {
            OutputUse::FileCheck { prefixes, .. } => prefixes,
            OutputUse::Nothing | OutputUse::Diff { .. } => &[],
        }
    }
}

impl Test<'_> {
    fn parse(&self, line: &str) -> Result<Pipeline, String> {
        let words = split(line).map_err(|e| format!("RUN: {line}\n{e}"))?;
        let mut stages = Vec::new();
        let mut last = OutputUse::Nothing;
        for words in words.split(|w| *w == Word::Pipe) {
            if !matches!(last, OutputUse::Nothing) {
                return Err(format!("RUN: {line}\nFileCheck and diff come last"));
            }
            match self.parse_command(words).map_err(|e| format!("RUN: {line}\n{e}"))? {
                Parsed::Stage(stage) => stages.push(stage),
                Parsed::Last(parsed) => last = parsed,
            }
        }
        if stages.is_empty() {
            return Err(format!("RUN: {line}\nno tool is run"));
        }
        Ok(Pipeline { stages, last })
    }

    fn parse_command(&self, words: &[Word]) -> Result<Parsed, String> {
        let mut merge_stderr = false;
        let mut texts = Vec::new();
        for word in words {
            match word {
                Word::MergeStderr => merge_stderr = true,
                Word::Text(text) => texts.push(self.substitute(text)?),
                Word::Pipe => {}
            }
        }
        let fails = texts.first().is_some_and(|w| w == "not");
        let rest = &texts[usize::from(fails)..];
        let (name, arguments) = rest.split_first().ok_or("an empty command")?;
        let program = match name.as_str() {
            "hlo-opt" => env!("CARGO_BIN_EXE_hlo-opt"),
            "hlo-run" => env!("CARGO_BIN_EXE_hlo-run"),
            "hlo-diff" => env!("CARGO_BIN_EXE_hlo-diff"),
            "hlo-reduce" => env!("CARGO_BIN_EXE_hlo-reduce"),
            "FileCheck" | "diff" if fails || merge_stderr => {
                return Err(format!("`not` and `2>&1` don't go with {name}"));
            }
            "FileCheck" => return file_check(arguments).map(Parsed::Last),
            "diff" => match arguments {
                [expected, dash] if dash == "-" => {
                    return Ok(Parsed::Last(OutputUse::Diff { expected: expected.into() }));
                }
                _ => return Err("diff is understood as `diff FILE -` only".to_string()),
            },
            other => return Err(format!("unknown command `{other}`")),
        };
        let arguments = arguments.iter().map(|a| without_codegen(a)).collect();
        Ok(Parsed::Stage(Stage { program, arguments, fails, merge_stderr }))
    }

    /// Replaces `%s`, `%S`, `%t` and `%T`. `%%` is a percent sign.
    fn substitute(&self, word: &str) -> Result<String, String> {
        let mut out = String::new();
        let mut chars = word.chars();
        while let Some(c) = chars.next() {
            if c != '%' {
                out.push(c);
                continue;
            }
            let path = match chars.next() {
                Some('s') => self.file.to_path_buf(),
                Some('S') => self.file.parent().unwrap_or(Path::new(".")).to_path_buf(),
                Some('t') => self.work.join("t"),
                Some('T') => self.outside.0.clone(),
                Some('%') => {
                    out.push('%');
                    continue;
                }
                other => return Err(format!("unknown substitution `%{}`", other.unwrap_or(' '))),
            };
            out.push_str(path.to_str().ok_or("a path that is not UTF-8")?);
        }
        Ok(out)
    }

    fn run(&self, pipeline: Pipeline) -> Result<(), String> {
        let mut output = Vec::new();
        let mut errors = String::new();
        for stage in &pipeline.stages {
            let mut command = tool(stage.program);
            // Relative names in messages do not depend on where the tests were started.
            command.args(&stage.arguments).current_dir(self.work).env_remove("RUST_BACKTRACE");
            let outcome = command::run(command, std::mem::take(&mut output), stage.merge_stderr)?;
            let stderr = String::from_utf8_lossy(&outcome.stderr).into_owned();
            let shown = || format!("{stderr}{}", String::from_utf8_lossy(&outcome.stdout));
            match outcome.status.code() {
                Some(0) if stage.fails => return Err(format!("it should have failed\n{}", shown())),
                Some(0) => {}
                // 101 is a panic, which a test may never expect.
                Some(code) if stage.fails && code != 101 => {}
                _ => return Err(format!("it ended with {}\n{}", outcome.status, shown())),
            }
            errors.push_str(&stderr);
            output = outcome.stdout;
        }
        let output = String::from_utf8_lossy(&output).into_owned();
        self.finish(&pipeline.last, &output)
            .map_err(|e| if errors.is_empty() { e } else { format!("{e}\nstderr:\n{errors}") })
    }

    fn finish(&self, last: &OutputUse, output: &str) -> Result<(), String> {
        match last {
            OutputUse::Nothing => Ok(()),
            OutputUse::Diff { expected } => diff(expected, output),
            OutputUse::FileCheck { checks, prefixes, allow_empty } => {
                let text;
                let text = if checks == self.file {
                    self.text
                } else {
                    text = std::fs::read_to_string(checks)
                        .map_err(|e| format!("can't read {}: {e}", checks.display()))?;
                    directive::refuse_unknown(&text, prefixes)?;
                    &text
                };
                let directives = directive::checks(text, prefixes)?;
                if output.is_empty() && !allow_empty {
                    return Err("the output is empty; --allow-empty permits that".to_string());
                }
                let ours = check::check(&directives, output);
                llvm_agrees(checks, prefixes, *allow_empty, output, ours)
            }
        }
    }
}

enum Parsed {
    Stage(Stage),
    Last(OutputUse),
}

/// Replaces `--engine=both` by the interpreter in a build without compiled execution.
fn without_codegen(argument: &str) -> String {
    match argument {
        "--engine=both" if !cfg!(feature = "codegen") => "--engine=eval".to_string(),
        other => other.to_string(),
    }
}

fn file_check(arguments: &[String]) -> Result<OutputUse, String> {
    let mut checks = None;
    let mut prefixes = Vec::new();
    let mut allow_empty = false;
    for argument in arguments {
        let list =
            argument.strip_prefix("--check-prefix=").or_else(|| argument.strip_prefix("--check-prefixes="));
        if let Some(list) = list {
            prefixes.extend(list.split(',').map(str::to_string));
        } else if argument == "--allow-empty" {
            allow_empty = true;
        } else if argument.starts_with('-') {
            return Err(format!("FileCheck's option {argument} is not understood"));
        } else if checks.replace(PathBuf::from(argument)).is_some() {
            return Err("FileCheck takes one file".to_string());
        }
    }
    let checks = checks.ok_or("FileCheck needs the file with the checks, mostly %s")?;
    if prefixes.is_empty() {
        prefixes.push("CHECK".to_string());
    }
    Ok(OutputUse::FileCheck { checks, prefixes, allow_empty })
}

/// Compares with the contents of a file. With `BLESS=1` in the environment, writes the file instead.
fn diff(expected: &Path, output: &str) -> Result<(), String> {
    let name = expected.display();
    if std::env::var_os("BLESS").is_some_and(|v| v == "1") {
        return std::fs::write(expected, output).map_err(|e| format!("can't write {name}: {e}"));
    }
    let want = std::fs::read_to_string(expected)
        .map_err(|e| format!("can't read {name}: {e}\nBLESS=1 in the environment writes it"))?;
    if want == output {
        return Ok(());
    }
    let (mut got_lines, mut want_lines) = (output.lines(), want.lines());
    let mut number = 0;
    loop {
        number += 1;
        let (got, want) = (got_lines.next(), want_lines.next());
        if got != want || got.is_none() {
            let show = |line: Option<&str>| line.unwrap_or("(the end)").to_string();
            return Err(format!(
                "the output differs from {name} at line {number}:\n- {}\n+ {}\n\
                 BLESS=1 in the environment rewrites it. The whole output:\n{output}",
                show(want),
                show(got),
            ));
        }
    }
}

/// Also runs LLVM's own FileCheck, if it is installed. If the two disagree, the test is wrong: it relies on a
/// difference between them.
pub fn llvm_agrees(
    checks: &Path,
    prefixes: &[String],
    allow_empty: bool,
    output: &str,
    ours: Result<(), String>,
) -> Result<(), String> {
    let prefix = std::env::var("LLVM_22_PREFIX").unwrap_or_else(|_| "/usr/lib/llvm-22".to_string());
    let program = Path::new(&prefix).join("bin/FileCheck");
    if !program.exists() {
        return match std::env::var_os("HLO_LIT_REQUIRE_LLVM_FILECHECK") {
            Some(_) => Err(format!("{} is required here and does not exist", program.display())),
            None => ours,
        };
    }
    let mut command = Command::new(program);
    command.arg(checks).arg(format!("--check-prefixes={}", prefixes.join(",")));
    if allow_empty {
        command.arg("--allow-empty");
    }
    let outcome = command::run(command, output.as_bytes().to_vec(), true)?;
    let theirs = String::from_utf8_lossy(&outcome.stdout).into_owned();
    match (ours, outcome.status.success()) {
        (Ok(()), true) => Ok(()),
        (Err(e), false) => Err(e),
        (Ok(()), false) => Err(format!("LLVM's FileCheck does not accept this:\n{theirs}")),
        (Err(e), true) => Err(format!("LLVM's FileCheck accepts this, ours does not:\n{e}")),
    }
}

#[derive(Debug, PartialEq)]
enum Word {
    Text(String),
    Pipe,
    MergeStderr,
}

/// Splits a RUN line into words. Quotes preserve their contents. Redirections and other shell syntax are
/// rejected.
fn split(line: &str) -> Result<Vec<Word>, String> {
    let mut words = Vec::new();
    let mut chars = line.chars().peekable();
    while let Some(&c) = chars.peek() {
        if c.is_whitespace() {
            chars.next();
            continue;
        }
        if c == '|' {
            chars.next();
            words.push(Word::Pipe);
            continue;
        }
        let mut text = String::new();
        let mut quoted = false;
        while let Some(c) = chars.next_if(|c| !c.is_whitespace() && *c != '|') {
            match c {
                '\'' | '"' => {
                    quoted = true;
                    loop {
                        match chars.next() {
                            Some(end) if end == c => break,
                            Some(inside) => text.push(inside),
                            None => return Err(format!("{c} without its end")),
                        }
                    }
                }
                '<' | '>' | '&' | ';' | '$' | '`' | '*' | '\\' if !(quoted || text.starts_with('2')) => {
                    return Err(format!("`{c}` is a shell's: not understood outside quotes"));
                }
                c => text.push(c),
            }
        }
        match text.as_str() {
            "2>&1" if !quoted => words.push(Word::MergeStderr),
            _ if !quoted && text.contains(['>', '<', '&']) => {
                return Err(format!("redirection `{text}` is not understood"));
            }
            _ => words.push(Word::Text(text)),
        }
    }
    Ok(words)
}
