//! Runs random collectives on several devices. In some runs, a device ends, fails or calls another
//! collective. Checks the results, and that every run ends. `scripts/tsan.sh` also runs it under
//! ThreadSanitizer: `cargo run --release -p hlo-communicator --example stress -- RUNS SEED`.

use hlo_communicator::{Communicator, Failure, Member, Options, Process, Reduced, Table, collective};
use std::sync::Arc;
use std::time::Duration;

/// A pseudorandom number generator.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n.max(1)
    }
}

/// A step of all devices, except for one that breaks off.
#[derive(Clone, Copy)]
struct Step {
    site: usize,
    kind: usize,
    elements: usize,
}

fn value(device: usize, step: usize, at: usize) -> u64 {
    (device * 7919 + step * 104_729 + at * 31) as u64
}

fn words(values: &[u64]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

fn add(_: usize, members: &[&[u8]], result: &mut [u8]) -> Result<(), Failure> {
    let word = |bytes: &[u8]| bytes.try_into().map(u64::from_le_bytes).unwrap_or(0);
    for (at, out) in result.chunks_exact_mut(8).enumerate() {
        let sum = members.iter().map(|m| word(&m[8 * at..8 * at + 8])).fold(0, u64::wrapping_add);
        out.copy_from_slice(&sum.to_le_bytes());
    }
    Ok(())
}

/// Runs a step and checks its results.
fn step(device: &Member<'_>, number: usize, step: Step) -> Result<(), Failure> {
    let own = device.device();
    let Some((group, place)) = device.table().place(step.site, own) else { return Ok(()) };
    let n = step.elements * group.len();
    let array = |d: usize| (0..n).map(|at| value(d, number, at)).collect::<Vec<u64>>();
    let operand = words(&array(own));
    let sum = |at: usize| group.iter().map(|&d| value(d, number, at)).fold(0, u64::wrapping_add);
    let (expected, result) = match step.kind {
        0 => {
            let mut result = vec![0; operand.len()];
            let reduced = Reduced { operand: &operand, result: &mut result, element_bytes: 8 };
            device.all_reduce(step.site, &mut [reduced], &mut add)?;
            ((0..n).map(sum).collect::<Vec<u64>>(), result)
        }
        1 => {
            let mut result = vec![0; operand.len() / group.len()];
            collective::reduce_scatter(device, step.site, &[&operand], &mut [&mut result], &mut add)?;
            let first = place * step.elements;
            ((first..first + step.elements).map(sum).collect(), result)
        }
        2 => {
            let mut result = vec![0; operand.len() * group.len()];
            collective::all_gather(device, step.site, &[&operand], &mut [&mut result])?;
            (group.iter().flat_map(|&d| array(d)).collect(), result)
        }
        _ => {
            let mut result = vec![0; operand.len()];
            collective::all_to_all(device, step.site, &operand, &mut result)?;
            let first = place * step.elements;
            (group.iter().flat_map(|&d| array(d)[first..first + step.elements].to_vec()).collect(), result)
        }
    };
    if result == words(&expected) {
        Ok(())
    } else {
        Err(Failure::Local(format!("WRONG: device {own}, step {number}")))
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter_map(|a| a.parse::<u64>().ok());
    let (runs, seed) = (arguments.next().unwrap_or(1000), arguments.next().unwrap_or(1));
    let mut numbers = Numbers(seed);
    let (mut broken, mut done) = (0, 0);
    for run in 0..runs {
        let devices = 2 + numbers.below(3);
        let mut table = Table::new(devices);
        let all: Vec<usize> = (0..devices).rev().collect();
        table.add("`all` `a`", std::slice::from_ref(&all));
        table.add("`all` `b`", &[all[..2].to_vec(), all[2..].to_vec()].map(|g: Vec<usize>| g));
        let steps: Vec<Step> = (0..10 + numbers.below(30))
            .map(|_| Step { site: numbers.below(2), kind: numbers.below(4), elements: numbers.below(700) })
            .collect();
        // In every other run, one device breaks off at some step.
        let breaks =
            (run % 2 == 1).then(|| (numbers.below(devices), numbers.below(steps.len()), numbers.below(3)));
        let options = Options { timeout: Duration::from_secs(30), ..Options::default() };
        let process = Process::new(Arc::new(table), options);
        let outcome = process.run(vec![(); devices], |device, ()| {
            for (number, &each) in steps.iter().enumerate() {
                match breaks {
                    Some((who, at, how)) if (who, at) == (device.device(), number) => match how {
                        0 => return Ok(()),
                        1 => return Err(Failure::Local("as planned".into())),
                        _ => step(device, number, Step { site: 1 - each.site, ..each })?,
                    },
                    _ => step(device, number, each)?,
                }
            }
            Ok(())
        });
        match outcome {
            Ok(_) => done += 1,
            Err((device, failure)) => {
                let message = failure.to_string();
                // A device at another collective may meet the others at a later step there, with the values
                // of an earlier one.
                let is_wrong = message.contains("WRONG") && breaks.is_none_or(|(_, _, how)| how != 2);
                if is_wrong || message.contains("waited") || breaks.is_none() {
                    eprintln!("run {run}, device {device}: {message}");
                    std::process::exit(1);
                }
                broken += 1;
            }
        }
    }
    println!("{runs} runs: {done} to their end, {broken} broken off as planned");
}
