//! The choice of the engine for a run. The tests identify the engine by the last bits of a result, which may
//! differ.

use crate::plugin::*;
use hlo_pjrt::client::Client;
use hlo_pjrt::sys::Handle;
use std::time::Duration;

/// Returns a program that adds this many numbers. The interpreter adds in `f64`, and compiled code in `f32`.
fn sum(count: usize) -> String {
    format!(
        "HloModule sum
add {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }}
ENTRY main {{ x = f32[{count}] parameter(0) z = f32[] constant(0) ROOT r = f32[] reduce(x, z), dimensions={{0}}, to_apply=add }}"
    )
}

/// Returns the results of `runs` runs of the sum. The caller pauses after some of them.
fn sums(client: Handle<Client>, count: usize, runs: usize, is_away_after: &[usize]) -> Vec<f32> {
    let program = compile(client, &sum(count), &[]).expect("a program");
    // Terms of both signs, so that the sum has more bits than the partial sums.
    let terms: Vec<f32> = (0..count).map(|i| (i * 7919 % 10007) as f32 * 0.37 - 1851.3).collect();
    let x = floats(client, 0, &[count as i64], &terms);
    (0..runs)
        .map(|n| {
            let results = run(program, &[x]).expect("results");
            let sum = numbers(results[0]).expect("a number")[0];
            delete(results[0]);
            if is_away_after.contains(&n) {
                std::thread::sleep(Duration::from_millis(300));
            }
            sum
        })
        .collect()
}

/// Returns the index of the first run in which compiled code computed the sum, and checks the engines of all
/// runs.
fn switch(sums: &[f32], interpreted: f32, compiled: f32) -> usize {
    let at = sums.iter().position(|&sum| sum == compiled).expect("a run of compiled code");
    assert!(sums[..at].iter().all(|&sum| sum == interpreted), "the runs before {at} are interpreted");
    assert!(sums[at..].iter().all(|&sum| sum == compiled), "the runs from {at} on are of compiled code");
    at
}

#[test]
fn the_engine_of_a_run_follows_from_its_number_and_not_from_time() {
    if !cfg!(feature = "codegen") {
        return;
    }
    for (count, runs, away) in [(3_000, 6_000, &[0, 700, 2_000][..]), (400_000, 4, &[0][..])] {
        let one = |engine| sums(with_engine(engine), count, 1, &[])[0];
        let (interpreted, compiled) = (one(b"interpreted"), one(b"compiled"));
        assert_ne!(interpreted, compiled, "the engines can't be told apart by a sum of {count}");
        let at_once = switch(&sums(with_engine(b"tiered"), count, runs, &[]), interpreted, compiled);
        let with_pauses = switch(&sums(with_engine(b"tiered"), count, runs, away), interpreted, compiled);
        assert_eq!(at_once, with_pauses, "the sum of {count}");
        assert_eq!(at_once == 1, count > 100_000, "what is slow is compiled before its second run");
    }
}
