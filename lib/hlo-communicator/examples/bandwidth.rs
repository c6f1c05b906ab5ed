//! Measures the time of collectives among devices of one process, compared with a copy of the same number of
//! bytes by one thread: `cargo run --release -p hlo-communicator --example bandwidth -- DEVICES`.

use hlo_communicator::{Communicator, Failure, Member, Options, Process, Reduced, Table, collective};
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

const SITE: usize = 0;

/// Returns the average time of a round.
fn timed(mut round: impl FnMut() -> Result<(), Failure>, rounds: usize) -> Result<Duration, Failure> {
    round()?;
    let start = Instant::now();
    for _ in 0..rounds {
        round()?;
    }
    Ok(start.elapsed() / rounds as u32)
}

/// Computes sums of `f32`.
fn add(_: usize, members: &[&[u8]], result: &mut [u8]) -> Result<(), Failure> {
    let numbers = |bytes: &[u8]| -> *const f32 { bytes.as_ptr().cast() };
    let n = result.len() / 4;
    // SAFETY: all arrays are aligned and have n numbers.
    let out = unsafe { std::slice::from_raw_parts_mut(result.as_mut_ptr().cast::<f32>(), n) };
    for (k, member) in members.iter().enumerate() {
        // SAFETY: as above.
        let values = unsafe { std::slice::from_raw_parts(numbers(member), n) };
        match k {
            0 => out.copy_from_slice(values),
            _ => out.iter_mut().zip(values).for_each(|(a, b)| *a += b),
        }
    }
    Ok(())
}

/// Returns the times of an all-reduce, an all-gather and an all-to-all of arrays of `bytes` bytes.
fn measured(device: &Member<'_>, bytes: usize, rounds: usize) -> Result<[Duration; 3], Failure> {
    let devices = device.table().devices();
    let operand = vec![1f32; bytes / 4];
    // SAFETY: every number can be read as bytes.
    let operand: &[u8] = unsafe { std::slice::from_raw_parts(operand.as_ptr().cast(), bytes) };
    let mut result = vec![0f32; bytes / 4];
    // SAFETY: as above.
    let result: &mut [u8] = unsafe { std::slice::from_raw_parts_mut(result.as_mut_ptr().cast(), bytes) };
    let mut gathered = vec![0u8; bytes * devices];
    let reduce = timed(
        || {
            let reduced = Reduced { operand, result: &mut *result, element_bytes: 4 };
            device.all_reduce(SITE, &mut [reduced], &mut add)
        },
        rounds,
    )?;
    let gather = timed(|| collective::all_gather(device, SITE, &[operand], &mut [&mut gathered]), rounds)?;
    let exchange = timed(|| collective::all_to_all(device, SITE, operand, &mut *result), rounds)?;
    Ok([reduce, gather, exchange])
}

fn main() {
    let devices = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(2);
    let mut table = Table::new(devices);
    table.add("all", &[(0..devices).collect()]);
    let table = Arc::new(table);
    println!("{devices} devices; microseconds, and GB/s of the bytes of one operand");
    println!("{:>10} {:>18} {:>18} {:>18} {:>18}", "bytes", "copy", "all-reduce", "all-gather", "all-to-all");
    for power in [2usize, 10, 13, 16, 18, 20, 22, 24, 26] {
        let bytes = (1usize << power).max(4 * devices);
        let rounds = (1usize << 28 >> power).clamp(5, 20_000);
        let (from, mut to) = (vec![1u8; bytes], vec![0u8; bytes]);
        let copy = timed(
            || {
                black_box(&mut to).copy_from_slice(black_box(&from));
                Ok(())
            },
            rounds,
        );
        let process = Process::new(table.clone(), Options::default());
        let times = process.run(vec![(); devices], |device, ()| measured(device, bytes, rounds));
        match (copy, times) {
            (Ok(copy), Ok(times)) => {
                let shown = |t: Duration| {
                    let micros = t.as_secs_f64() * 1e6;
                    format!("{micros:>10.2} {:>7.2}", bytes as f64 / 1e3 / micros)
                };
                let [a, b, c] = times[0].map(shown);
                println!("{bytes:>10} {} {a} {b} {c}", shown(copy));
            }
            (_, error) => println!("{bytes:>10} {error:?}"),
        }
    }
}
