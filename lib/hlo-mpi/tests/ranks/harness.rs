//! Starts scenarios under `mpirun`.

use libtest_mimic::{Arguments, Failed, Trial};
use std::process::{Command, Output};

/// The environment variable with the scenario that a rank runs.
pub const SCENARIO: &str = "HLO_MPI_SCENARIO";

/// The environment variable with the number of devices.
pub const DEVICES: &str = "HLO_MPI_DEVICES";

fn mpirun(ranks: usize) -> Command {
    let mut command = Command::new("mpirun");
    command.args(["--allow-run-as-root", "--oversubscribe", "-n", &ranks.to_string()]);
    command
}

fn start(scenario: &str, ranks: usize, devices: usize) -> Result<(Output, String), Failed> {
    let own = std::env::current_exe()?;
    let mut command = mpirun(ranks);
    command.arg(own).env(SCENARIO, scenario).env(DEVICES, devices.to_string());
    let output = command.output()?;
    let text = [&output.stdout[..], &output.stderr[..]].map(String::from_utf8_lossy).concat();
    Ok((output, text))
}

/// Returns a test that succeeds if all ranks report that they are done, and no error occurs.
fn succeeds(scenario: &'static str, ranks: usize, devices: usize) -> Trial {
    let name = format!("{scenario}, {devices} devices on {ranks} ranks");
    Trial::test(name, move || {
        let (output, text) = start(scenario, ranks, devices)?;
        let done = (0..ranks).all(|rank| text.contains(&format!("rank {rank}: {scenario} is right")));
        if output.status.success() && done {
            Ok(())
        } else {
            Err(format!("{}\n{text}", output.status).into())
        }
    })
}

/// Returns a test that succeeds if the job fails with text that contains these parts.
fn fails(scenario: &'static str, ranks: usize, devices: usize, parts: &'static [&'static str]) -> Trial {
    let name = format!("{scenario}, {devices} devices on {ranks} ranks");
    Trial::test(name, move || {
        let (output, text) = start(scenario, ranks, devices)?;
        let missing: Vec<_> = parts.iter().filter(|part| !text.contains(**part)).collect();
        if !output.status.success() && missing.is_empty() {
            Ok(())
        } else {
            Err(format!("{}, without {missing:?}\n{text}", output.status).into())
        }
    })
}

pub fn run() {
    let arguments = Arguments::from_args();
    if let Err(e) = Command::new("mpirun").arg("--version").output() {
        println!("skipped: mpirun can't be started ({e}); `sh scripts/deps.sh --mpi` installs it");
        return;
    }
    let mut trials = Vec::new();
    for (ranks, devices) in [(1, 1), (1, 3), (2, 2), (3, 3), (4, 4), (2, 4), (3, 4), (3, 2)] {
        trials.push(succeeds("collectives", ranks, devices));
    }
    for (ranks, devices) in [(2, 2), (4, 4), (2, 4)] {
        trials.push(succeeds("large", ranks, devices));
        trials.push(succeeds("repetitions", ranks, devices));
        trials.push(succeeds("failures", ranks, devices));
    }
    trials.push(succeeds("slow-receiver", 2, 2));
    let told = &["rank 0: device 0 was at all-gather `late`, waiting for device 1 (rank 1)"];
    trials.push(fails("killed", 2, 2, told));
    let told = &["rank 0: device 0 was at all-gather `late`, waiting for device 2 (rank 1)"];
    trials.push(fails("killed", 2, 4, told));
    libtest_mimic::run(&Arguments { test_threads: Some(1), ..arguments }, trials).exit();
}
