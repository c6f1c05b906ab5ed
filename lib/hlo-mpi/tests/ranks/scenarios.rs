//! The scenarios that ranks run. Each compares the results of its devices with those of devices of one
//! process.

use crate::harness::DEVICES;
use hlo_communicator::collective::{self, Rows};
use hlo_communicator::{
    Communicator, Failure, InProcess, MAX_IN_FLIGHT_BYTES, Options, Reduced, Reduction, ReductionKind, Table,
    World, run_in,
};
use hlo_mpi::MpiWorld;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The collectives of the tests, by their numbers.
struct Sites {
    gather: usize,
    fold: usize,
    pairs: usize,
    late: usize,
    /// Reductions of each kind, of unsigned and of signed integers.
    reductions: Vec<usize>,
    /// The same reductions in pairs.
    reductions_of_pairs: Vec<usize>,
}

fn table(devices: usize) -> (Table, Sites) {
    let mut table = Table::new(devices);
    let all: Vec<Vec<usize>> = vec![(0..devices).map(|d| (d + 1) % devices).collect()];
    let pairs: Vec<Vec<usize>> = (0..devices / 2).map(|pair| vec![devices - 1 - pair, pair]).collect();
    let gather = table.add("all-gather `g`", &all);
    let fold = table.add("all-reduce `f`", &all);
    let of_pairs = table.add("all-reduce `p`", &pairs);
    let late = table.add("all-gather `late`", &all);
    let mut reductions = |groups: &[Vec<usize>]| -> Vec<usize> {
        let each = ReductionKind::ALL.into_iter().flat_map(|kind| [(kind, false), (kind, true)]);
        let add = |(kind, is_signed): (ReductionKind, bool)| {
            let site = table.add(format!("all-reduce `{}`", kind.name()), groups);
            table.set_reduction(site, Some(Reduction { kind, is_signed }));
            site
        };
        each.map(add).collect()
    };
    let (reductions, reductions_of_pairs) = (reductions(&all), reductions(&pairs));
    (table, Sites { gather, fold, pairs: of_pairs, late, reductions, reductions_of_pairs })
}

fn numbers(seed: usize, bytes: usize) -> Vec<u8> {
    let mut state = (seed as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u8
    };
    (0..bytes).map(|_| next()).collect()
}

/// Computes `3 * a + b` of bytes, for which the order matters.
fn fold(_: usize, members: &[&[u8]], result: &mut [u8]) -> Result<(), Failure> {
    for (n, to) in result.iter_mut().enumerate() {
        let values = members.iter().map(|m| m[n]);
        *to = values
            .reduce(|a, b| a.wrapping_mul(3).wrapping_add(b))
            .ok_or_else(|| Failure::Local("no members".into()))?;
    }
    Ok(())
}

/// Returns the result of a reduction of integers of `bytes` bytes.
fn reduce(kind: ReductionKind, is_signed: bool, bytes: usize, a: &[u8], b: &[u8]) -> Vec<u8> {
    let unused = 128 - 8 * bytes as u32;
    let read = |from: &[u8]| {
        let mut word = [0u8; 16];
        word[..bytes].copy_from_slice(from);
        let value = i128::from_le_bytes(word);
        if is_signed { value << unused >> unused } else { value }
    };
    let (a, b) = (read(a), read(b));
    let value = match kind {
        ReductionKind::Add => a.wrapping_add(b),
        ReductionKind::Multiply => a.wrapping_mul(b),
        ReductionKind::Minimum => a.min(b),
        ReductionKind::Maximum => a.max(b),
        ReductionKind::And => a & b,
        ReductionKind::Or => a | b,
        ReductionKind::Xor => a ^ b,
    };
    value.to_le_bytes()[..bytes].to_vec()
}

fn reduced(
    comm: &dyn Communicator,
    site: usize,
    operands: &[Vec<u8>],
    element_bytes: usize,
) -> Result<Vec<u8>, Failure> {
    let reduction = comm.table().reduction(site);
    let mut results: Vec<Vec<u8>> = operands.iter().map(|o| vec![0; o.len()]).collect();
    let arrays = operands.iter().zip(&mut results);
    let mut arrays: Vec<Reduced<'_>> =
        arrays.map(|(operand, result)| Reduced { operand, result, element_bytes }).collect();
    comm.all_reduce(site, &mut arrays, &mut |array, members, result| {
        let Some(Reduction { kind, is_signed }) = reduction else { return fold(array, members, result) };
        let mut all = members[0].to_vec();
        for member in &members[1..] {
            for (a, b) in all.chunks_mut(element_bytes).zip(member.chunks(element_bytes)) {
                a.copy_from_slice(&reduce(kind, is_signed, element_bytes, a, b));
            }
        }
        result.copy_from_slice(&all);
        Ok(())
    })?;
    Ok(results.concat())
}

/// Runs all collectives on arrays of about `bytes` bytes. Returns the concatenated results.
fn collectives(
    comm: &dyn Communicator,
    sites: &Sites,
    bytes: usize,
    round: usize,
) -> Result<Vec<u8>, Failure> {
    let device = comm.device();
    let devices = comm.table().devices();
    let mine = |n: usize, bytes: usize| numbers(device * 1000 + n + 77 * round, bytes);
    let mut out = Vec::new();
    let site = sites.gather;
    let (a, b) = (mine(0, bytes), mine(1, 3));
    let (mut x, mut y) = (vec![0; bytes * devices], vec![0; 3 * devices]);
    collective::all_gather(comm, site, &[&a, &b], &mut [&mut x, &mut y])?;
    out.extend(x);
    out.extend(y);
    let operand = mine(2, bytes * devices);
    let mut result = vec![0; bytes * devices];
    collective::all_to_all(comm, site, &operand, &mut result)?;
    out.extend_from_slice(&result);
    let operands: Vec<Vec<u8>> = (0..devices).map(|n| mine(3 + n, bytes)).collect();
    let mut results = vec![vec![0; bytes]; devices];
    let operands: Vec<&[u8]> = operands.iter().map(Vec::as_slice).collect();
    let mut parts: Vec<&mut [u8]> = results.iter_mut().map(Vec::as_mut_slice).collect();
    collective::all_to_all_tuple(comm, site, &operands, &mut parts)?;
    out.extend(results.concat());
    let mut sent = vec![0; bytes];
    collective::broadcast(comm, site, &[devices as i64 - 1], &[&a], &mut [&mut sent])?;
    out.extend(&sent);
    let ends = (Some((device + 1) % devices), (device > 0).then(|| device - 1));
    let ends = if device + 1 == devices { (None, ends.1) } else { ends };
    let mut moved = vec![7; bytes];
    let came = collective::permute(comm, site, ends, &[&a], &mut [&mut moved])?;
    out.push(came.into());
    out.extend(&moved);
    let mut piece = vec![0; bytes];
    collective::reduce_scatter(comm, sites.fold, &[&operand], &mut [&mut piece], &mut fold)?;
    out.extend(&piece);
    // Each device sends its m first rows to member m, which stores them at a position that depends on the
    // sender.
    let own = comm.table().place(site, device).map_or(0, |(_, place)| place);
    let row_bytes = bytes.div_ceil(devices);
    let input = mine(4, row_bytes * devices);
    let member = |f: &dyn Fn(usize) -> usize| (0..devices).map(|m| f(m) as i64).collect::<Vec<i64>>();
    let mut output = vec![9; row_bytes * devices * devices];
    let rows = Rows {
        input: &input,
        counts: [devices, devices * devices],
        row_bytes,
        input_offsets: &member(&|_| 0),
        send_sizes: &member(&|m| m),
        output_offsets: &member(&|_| own * devices),
        receive_sizes: &member(&|_| own),
    };
    collective::ragged_all_to_all(comm, site, rows, &mut output)?;
    out.extend(&output);
    out.extend(reduced(comm, sites.fold, &[mine(5, bytes), mine(6, bytes / 2)], 1)?);
    if comm.table().group(sites.pairs, device).is_some() {
        out.extend(reduced(comm, sites.pairs, &[mine(7, bytes)], 1)?);
    }
    for (n, (&all, &pair)) in sites.reductions.iter().zip(&sites.reductions_of_pairs).enumerate() {
        let element_bytes = 1 << ((n + round) % 4);
        let arrays = [mine(8, bytes / 8 * 8), mine(9, bytes / 16 * 8)];
        out.extend(reduced(comm, all, &arrays, element_bytes)?);
        if comm.table().group(pair, device).is_some() {
            out.extend(reduced(comm, pair, &arrays, element_bytes)?);
        }
    }
    // Values are sent around the ring on two channels, and received in the other order.
    let (to, from) = ((device + 1) % devices, (device + devices - 1) % devices);
    comm.send(Some(1), to, vec![a.clone(), b.clone()])?;
    comm.send(None, to, vec![b])?;
    comm.send(Some(1), to, vec![vec![]])?;
    for (channel, count) in [(None, 1), (Some(1), 2), (Some(1), 1)] {
        let arrays = comm.receive(channel, from, "recv-done `r`")?;
        assert_eq!(arrays.len(), count);
        out.extend(arrays.concat());
    }
    Ok(out)
}

/// Runs `body` in a world and returns the results of its devices.
fn results(
    world: &dyn World,
    devices: usize,
    body: impl Fn(&dyn Communicator, &Sites) -> Result<Vec<u8>, Failure> + Sync,
) -> Result<Vec<Vec<u8>>, (usize, Failure)> {
    let (table, sites) = table(devices);
    let states = vec![(); world.local_devices(devices).len()];
    run_in(world, Arc::new(table), options(20_000), states, |comm, ()| body(comm, &sites))
}

fn options(milliseconds: u64) -> Options<'static> {
    Options { timeout: Duration::from_millis(milliseconds), ..Options::default() }
}

/// Compares the results of this rank's devices with those of one process.
fn compare(world: &MpiWorld, devices: usize, bytes: usize, rounds: usize) {
    let body = |comm: &dyn Communicator, sites: &Sites| {
        let mut out = Vec::new();
        for round in 0..rounds {
            out.extend(collectives(comm, sites, bytes, round)?);
        }
        Ok(out)
    };
    let found = results(world, devices, body).expect("results");
    let expected = results(&InProcess, devices, body).expect("results of one process");
    for (device, found) in world.local_devices(devices).zip(found) {
        assert!(found == expected[device], "device {device} of {devices}, {bytes} bytes");
    }
}

fn gather(comm: &dyn Communicator, site: usize, bytes: usize) -> Result<Vec<u8>, Failure> {
    let mut result = vec![0; bytes * comm.table().devices()];
    collective::all_gather(comm, site, &[&vec![1; bytes]], &mut [&mut result])?;
    Ok(result)
}

/// Returns the failure of a run as text, which must be the same on all ranks.
fn failure(
    world: &MpiWorld,
    devices: usize,
    body: impl Fn(&dyn Communicator, &Sites) -> Result<Vec<u8>, Failure> + Sync,
) -> (usize, String) {
    let (table, sites) = table(devices);
    let states = vec![(); world.local_devices(devices).len()];
    let outcome = run_in(world, Arc::new(table), options(1000), states, |comm, ()| body(comm, &sites));
    let (device, failure) = outcome.expect_err("a failure");
    let told = (device, failure.to_string());
    assert_eq!(world.failed_device(), Some(device));
    assert_eq!(world.failed_here(), Some(world.local_devices(devices).contains(&device)));
    assert_eq!(world.gather_flags(world.rank() == 1), Ok((0..world.size()).map(|rank| rank == 1).collect()));
    let texts = world.gather(format!("{told:?}").into_bytes()).expect("texts");
    if let Some(texts) = texts {
        assert!(texts.iter().all(|t| *t == texts[0]), "ranks tell different failures: {texts:?}");
    }
    told
}

/// Runs that fail. All ranks report the failure, and it does not affect the next run.
fn failures(world: &MpiWorld, devices: usize) {
    let last = devices - 1;
    for bytes in [4, 300_000] {
        // One device fails.
        let told = failure(world, devices, |comm, sites| {
            if comm.device() == last {
                Err(Failure::Local("no memory".into()))
            } else {
                gather(comm, sites.gather, bytes)
            }
        });
        assert_eq!(told, (last, "no memory".to_string()));
        // One device panics, without output on the standard error.
        let told = failure(world, devices, |comm, sites| match comm.device() {
            0 => std::panic::resume_unwind(Box::new("this is meant")),
            _ => gather(comm, sites.gather, bytes),
        });
        assert_eq!(told, (0, "internal error: a panic".to_string()));
        // One device is at another collective.
        let (device, message) = failure(world, devices, |comm, sites| {
            gather(comm, if comm.device() == last { sites.late } else { sites.gather }, bytes)
        });
        let (here, there) = if device == last { ("late", "g") } else { ("g", "late") };
        let start = format!("the devices diverge: device {device} is at all-gather `{here}`, device ");
        let end = format!(" at all-gather `{there}`");
        assert!(message.starts_with(&start) && message.ends_with(&end), "{message}");
        // One device ends. The others do not wait for the timeout.
        let start = Instant::now();
        let (device, message) = failure(world, devices, |comm, sites| {
            if comm.device() == last { Ok(vec![]) } else { gather(comm, sites.gather, bytes) }
        });
        let start = (
            start.elapsed(),
            format!("the devices diverge: device {device} at all-gather `g` waits for device {last}"),
        );
        assert!(message.starts_with(&start.1) && message.ends_with(", at its end already"), "{message}");
        // One device has an array of another size.
        let (_, message) = failure(world, devices, |comm, sites| {
            let mut result = vec![0; bytes];
            let operand = vec![0; bytes + 8 * usize::from(comm.device() == last)];
            result.resize(operand.len(), 0);
            let array = Reduced { operand: &operand, result: &mut result, element_bytes: 1 };
            comm.all_reduce(sites.reductions[0], &mut [array], &mut fold)?;
            Ok(result)
        });
        assert!(
            message.starts_with("all-reduce `add`: device ") && message.ends_with("arrays of other sizes"),
            "{message}"
        );
        // One device does not arrive in time.
        let (_, message) = failure(world, devices, |comm, sites| {
            if comm.device() == last {
                std::thread::sleep(Duration::from_millis(2000));
            }
            gather(comm, sites.gather, bytes)
        });
        assert!(
            message.contains(&format!("at all-gather `g` has waited 1 s for device {last}")),
            "{message}"
        );
        // A value is sent and not received.
        let told = failure(world, devices, |comm, _| {
            if comm.device() == 0 {
                comm.send(Some(3), last, vec![vec![1; bytes]])?;
            }
            Ok(vec![])
        });
        let message = format!("device {last} did not receive what was sent to it on channel 3 (1 left)");
        assert_eq!(told, (0, message));
        // A value is expected and not sent.
        let (device, message) = failure(world, devices, |comm, _| match comm.device() {
            0 => comm.receive(None, last, "recv-done `r`").map(|arrays| arrays.concat()),
            _ => Ok(vec![]),
        });
        assert!(
            message.starts_with("the devices diverge: device 0 at recv-done `r` waits for device "),
            "{message}"
        );
        assert_eq!(device, 0);
        compare(world, devices, 1000, 1);
    }
}

/// A sender waits for a receiver that is slower, so that the memory of values in transit is bounded. This is true for large
/// values, and for small ones, which MPI would copy.
fn slow_receiver(world: &MpiWorld, devices: usize) {
    const PAUSE: Duration = Duration::from_secs(1);
    for (count, bytes) in [(6, MAX_IN_FLIGHT_BYTES / 2), (5000, 8)] {
        let value = |n: usize| vec![vec![n as u8; bytes]];
        let body = |comm: &dyn Communicator, sites: &Sites| {
            gather(comm, sites.gather, 1)?;
            let start = Instant::now();
            if comm.device() == 0 {
                (0..count).try_for_each(|n| comm.send(Some(1), 1, value(n)))?;
                assert!(start.elapsed() > PAUSE / 2, "the sender of {bytes} bytes did not wait");
            } else if comm.device() == 1 {
                std::thread::sleep(PAUSE);
                for n in 0..count {
                    let found = comm.receive(Some(1), 0, "a slow receiver")?;
                    assert!(found == value(n), "value {n} is wrong");
                }
            }
            Ok(Vec::new())
        };
        results(world, devices, body).expect("results");
    }
    // A receiver that ends does not let the sender wait forever.
    let message = results(world, devices, |comm, _| {
        if comm.device() == 0 {
            (0..6).try_for_each(|n| comm.send(Some(1), 1, vec![vec![n; MAX_IN_FLIGHT_BYTES / 2]]))?;
        }
        Ok(Vec::new())
    });
    assert!(message.is_err(), "values that nobody received: {message:?}");
}

/// Rank 1 is killed while the others wait for it. They print their positions when they receive SIGTERM.
fn killed(world: &MpiWorld, devices: usize) {
    extern "C" fn nothing(_: libc::c_int) {}
    static SIGNAL_RECEIVED: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);
    extern "C" fn on_signal(_: libc::c_int) {
        SIGNAL_RECEIVED.store(true, std::sync::atomic::Ordering::SeqCst);
    }
    let handler: extern "C" fn(libc::c_int) = if world.rank() == 1 { nothing } else { on_signal };
    // SAFETY: the handler only stores a flag.
    unsafe { libc::signal(libc::SIGTERM, handler as *const () as libc::sighandler_t) };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !SIGNAL_RECEIVED.load(std::sync::atomic::Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(10));
            }
            world.waiting().iter().for_each(|line| eprintln!("{line}"));
            // SAFETY: the function only ends the process.
            unsafe { libc::_exit(143) };
        });
        let rank = world.rank();
        let first = world.devices_of(1, devices).start;
        let outcome = results(world, devices, |comm, sites| {
            gather(comm, sites.gather, 100)?;
            // The other devices of the rank have arrived when it is killed.
            if rank == 1 && comm.device() == first {
                std::thread::sleep(Duration::from_millis(1500));
                // SAFETY: the process kills itself.
                unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
            }
            gather(comm, sites.late, 100)
        });
        panic!("the job goes on: {outcome:?}");
    });
}

/// Runs a scenario as one rank.
pub fn run(scenario: &str) {
    let devices = std::env::var(DEVICES).ok().and_then(|n| n.parse().ok()).expect("a number of devices");
    let world = MpiWorld::new().expect("MPI");
    match scenario {
        "collectives" => {
            [1, 16, 1000, 5000, 40_000].into_iter().for_each(|bytes| compare(&world, devices, bytes, 4))
        }
        "large" => compare(&world, devices, 1 << 20, 1),
        "slow-receiver" => slow_receiver(&world, devices),
        "repetitions" => compare(&world, devices, 500, 100),
        "failures" => failures(&world, devices),
        "killed" => killed(&world, devices),
        other => panic!("there is no scenario {other}"),
    }
    println!("rank {}: {scenario} is right", world.rank());
}
