//! Tests of devices of one process: the values that they exchange, and the errors that they receive if one of
//! them is missing.

use hlo_communicator::collective::{self, Rows};
use hlo_communicator::{Communicator, Failure, Member, Options, Process, Reduced, Table};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Runs `body` on devices. Collective 0 has these groups.
fn run<R: Send>(
    devices: usize,
    groups: &[Vec<usize>],
    body: impl Fn(&Member<'_>) -> Result<R, Failure> + Sync,
) -> Result<Vec<R>, (usize, String)> {
    run_within(Duration::from_secs(30), devices, groups, body)
}

/// Like [`run`], with a maximum time that devices wait for each other.
fn run_within<R: Send>(
    timeout: Duration,
    devices: usize,
    groups: &[Vec<usize>],
    body: impl Fn(&Member<'_>) -> Result<R, Failure> + Sync,
) -> Result<Vec<R>, (usize, String)> {
    let mut table = Table::new(devices);
    table.add("all-reduce `a`", groups);
    table.add("all-gather `b`", groups);
    let options = Options { timeout, ..Options::default() };
    let outcome = Process::new(Arc::new(table), options).run(vec![(); devices], |member, ()| body(member));
    outcome.map_err(|(device, failure)| (device, failure.to_string()))
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
    bytes.chunks_exact(8).map(|b| u64::from_le_bytes(b.try_into().expect("eight bytes")))
}

/// Computes `3 * a + b`, for which the order matters.
fn fold(_: usize, members: &[&[u8]], result: &mut [u8]) -> Result<(), Failure> {
    let mut all: Vec<_> = members.iter().map(|m| words(m)).collect();
    for to in result.chunks_exact_mut(8) {
        let values = all.iter_mut().map(|m| m.next().expect("as many"));
        let value = values.reduce(|a, b| a.wrapping_mul(3).wrapping_add(b)).expect("a member");
        to.copy_from_slice(&value.to_le_bytes());
    }
    Ok(())
}

fn value(device: usize, at: usize, round: usize) -> u64 {
    (device * 1_000_003 + at * 7919 + round * 101) as u64
}

fn array(device: usize, elements: usize, round: usize) -> Vec<u8> {
    (0..elements).flat_map(|at| value(device, at, round).to_le_bytes()).collect()
}

#[test]
fn reductions_are_the_same_every_time_in_groups_of_any_order() {
    for devices in [1, 2, 3, 4, 8] {
        let all: Vec<usize> = (0..devices).rev().collect();
        let groups = match devices {
            8 => vec![vec![6, 0, 3], vec![1, 2, 4, 7, 5]],
            _ => vec![all],
        };
        for elements in [0, 1, 5, 511, 513, 30_000] {
            let rounds = if elements > 1000 { 5 } else { 100 };
            let results = run(devices, &groups, |device| {
                let mut sums = Vec::new();
                for round in 0..rounds {
                    let operand = array(device.device(), elements, round);
                    let mut result = vec![0; operand.len()];
                    let reduced = Reduced { operand: &operand, result: &mut result, element_bytes: 8 };
                    device.all_reduce(0, &mut [reduced], &mut fold)?;
                    sums.push(result);
                }
                Ok(sums)
            });
            for (device, sums) in results.expect("sums").into_iter().enumerate() {
                let group = groups.iter().find(|g| g.contains(&device)).expect("a group");
                for (round, sum) in sums.into_iter().enumerate() {
                    let expected = (0..elements).map(|at| {
                        let values = group.iter().map(|&d| value(d, at, round));
                        values.reduce(|a, b| a.wrapping_mul(3).wrapping_add(b)).expect("a member")
                    });
                    assert!(
                        words(&sum).eq(expected),
                        "{devices} devices, {elements} elements, round {round}"
                    );
                }
            }
        }
    }
}

#[test]
fn pieces_go_where_they_belong() {
    let groups = [vec![2, 0, 1]];
    let results = run(3, &groups, |device| {
        let d = device.device() as u8;
        let mut gathered = [0u8; 6];
        collective::all_gather(device, 1, &[&[d, 10 + d]], &mut [&mut gathered])?;
        let mut exchanged = [0u8; 3];
        collective::all_to_all(device, 1, &[10 * d, 10 * d + 1, 10 * d + 2], &mut exchanged)?;
        let mut tuple = [[0u8; 1]; 3];
        let mut parts: Vec<&mut [u8]> = tuple.iter_mut().map(|t| &mut t[..]).collect();
        collective::all_to_all_tuple(device, 1, &[&[d], &[50 + d], &[90 + d]], &mut parts)?;
        let mut sent = [[0u8; 1]; 3];
        let [one, first, second] = &mut sent;
        collective::broadcast(device, 1, &[1], &[&[70 + d]], &mut [one])?;
        collective::broadcast(device, 1, &[2, 0], &[&[80 + d], &[90 + d]], &mut [first, second])?;
        let mut moved = [99u8; 1];
        let pair = match d {
            0 => (Some(2), None),
            2 => (None, Some(0)),
            _ => (None, None),
        };
        let came = collective::permute(device, 1, pair, &[&[30 + d]], &mut [&mut moved])?;
        let mut scattered = [0u8; 8];
        let operand: Vec<u8> = (0..3).flat_map(|k| u64::from(d + 10 * k).to_le_bytes()).collect();
        collective::reduce_scatter(device, 0, &[&operand], &mut [&mut scattered], &mut fold)?;
        let scattered = u64::from_le_bytes(scattered);
        Ok((gathered, exchanged, tuple.concat(), sent.concat(), (came, moved[0]), scattered))
    });
    let gathered = [2, 12, 0, 10, 1, 11];
    // Position 0 is device 2. It receives the first piece of devices 2, 0 and 1.
    let folded = |k: u64| ((2 + 10 * k) * 3 + 10 * k) * 3 + 1 + 10 * k;
    let expected = vec![
        (gathered, [21, 1, 11], vec![52, 50, 51], vec![70, 81, 92], (false, 99), folded(1)),
        (gathered, [22, 2, 12], vec![92, 90, 91], vec![70, 81, 92], (false, 99), folded(2)),
        (gathered, [20, 0, 10], vec![2, 0, 1], vec![70, 81, 92], (true, 30), folded(0)),
    ];
    assert_eq!(results, Ok(expected));
}

#[test]
fn rows_go_to_offsets_that_their_sender_names() {
    // Device 0 sends its row 1 to itself at row 0, and its rows 0 and 1 to device 1 at row 1. Device 1 sends
    // its row 2 to device 0 at row 3.
    let results = run(2, &[vec![0, 1]], |device| {
        let d = device.device();
        let input: Vec<u8> = (0..8).map(|n| n + 10 * d as u8).collect();
        let mut output = [255u8; 8];
        let rows = Rows {
            input: &input,
            counts: [4, 4],
            row_bytes: 2,
            input_offsets: [&[1, 0], &[2, 0]][d],
            send_sizes: [&[1, 2], &[1, 0]][d],
            output_offsets: [&[0, 1], &[3, 0]][d],
            receive_sizes: [&[1, 1], &[2, 0]][d],
        };
        collective::ragged_all_to_all(device, 1, rows, &mut output)?;
        Ok(output)
    });
    assert_eq!(results, Ok(vec![[2, 3, 255, 255, 255, 255, 14, 15], [255, 255, 0, 1, 2, 3, 255, 255]]));
}

fn gather(device: &Member<'_>, site: usize, bytes: usize) -> Result<(), Failure> {
    let mut result = vec![0; bytes * device.table().group(site, device.device()).map_or(1, <[usize]>::len)];
    collective::all_gather(device, site, &[&vec![1; bytes]], &mut [&mut result])
}

#[test]
fn whoever_is_missing_is_named() {
    let all = [vec![0, 1, 2]];
    // One device ends. The others do not wait for the timeout.
    let start = Instant::now();
    let error =
        run(3, &all, |d| if d.device() == 1 { Ok(()) } else { gather(d, 1, 4) }).expect_err("one ends");
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    let message = format!(
        "the devices diverge: device {} at all-gather `b` waits for device 1, at its end already",
        error.0
    );
    assert_eq!(error.1, message);
    // One device fails. The others do not report a failure of their own.
    let failing = |d: &Member<'_>| match d.device() {
        1 => Err(Failure::Local("no memory".into())),
        _ => gather(d, 1, 4),
    };
    assert_eq!(run(3, &all, failing), Err((1, "no memory".into())));
    // One device panics.
    let panicking = |d: &Member<'_>| {
        if d.device() == 2 { std::panic::resume_unwind(Box::new("oh")) } else { gather(d, 1, 4) }
    };
    assert_eq!(run(3, &all, panicking), Err((2, "internal error: a panic".into())));
    // One device is at another collective.
    let (device, message) =
        run(3, &all, |d| gather(d, usize::from(d.device() != 1), 4)).expect_err("one diverges");
    let ends = ["device 1 at all-reduce `a`", "device 1 is at all-reduce `a`", "at all-reduce `a`"];
    assert!(message.starts_with("the devices diverge: "), "{device}: {message}");
    assert!(ends.iter().any(|e| message.contains(e)), "{device}: {message}");
    // Each device waits for the other.
    let start = Instant::now();
    let mut table = Table::new(2);
    table.add("all-gather `b`", &[vec![0, 1]]);
    table.add("all-gather `c`", &[vec![1, 0]]);
    let options = Options { timeout: Duration::from_secs(30), ..Options::default() };
    let process = Process::new(Arc::new(table), options);
    let outcome = process.run(vec![(); 2], |d, ()| gather(d, d.device(), 4));
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    let (device, failure) = outcome.expect_err("both wait");
    let (b, c) = ("device 0 at all-gather `b` for device 1", "device 1 at all-gather `c` for device 0");
    let listed = if device == 0 { format!("{b} and {c}") } else { format!("{c} and {b}") };
    assert_eq!(failure.to_string(), format!("the devices diverge, and wait for each other: {listed}"));
    // One device has an operand of another size.
    let (_, message) = run(3, &all, |d| gather(d, 1, 4 + d.device() / 2)).expect_err("one has more");
    assert!(message.starts_with("all-gather `b`: "), "{message}");
    // One device does not arrive.
    let late = |d: &Member<'_>| {
        if d.device() == 0 {
            std::thread::sleep(Duration::from_millis(1500));
        }
        gather(d, 1, 4)
    };
    let (_, message) = run_within(Duration::from_millis(300), 3, &all, late).expect_err("one is late");
    assert!(message.ends_with("at all-gather `b` has waited 0.3 s for device 0"), "{message}");
}

/// A device that is stopped while it combines only reports the stop, whichever device observes it first.
#[test]
fn a_device_that_is_told_to_end_while_it_combines_has_not_failed() {
    for elements in [1, 30_000] {
        let outcome = run(2, &[vec![0, 1]], |device| {
            let operand = array(device.device(), elements, 0);
            let mut result = vec![0; operand.len()];
            let reduced = Reduced { operand: &operand, result: &mut result, element_bytes: 8 };
            device.all_reduce(0, &mut [reduced], &mut |_, _, _| Err(Failure::Stopped))
        });
        assert_eq!(outcome.expect_err("no result").1, Failure::Stopped.to_string());
    }
}

#[test]
fn values_are_sent_and_received() {
    let results = run(2, &[], |d| {
        if d.device() == 0 {
            d.send(Some(3), 1, vec![vec![1, 2]])?;
            d.send(Some(3), 1, vec![vec![3]])?;
            return Ok(vec![]);
        }
        Ok([d.receive(Some(3), 0, "recv-done `r`")?, d.receive(Some(3), 0, "recv-done `r`")?].concat())
    });
    assert_eq!(results, Ok(vec![vec![], vec![vec![1, 2], vec![3]]]));
    let unreceived = run(2, &[], |d| d.send(Some(3), 1 - d.device(), vec![vec![1]]));
    let (device, message) = unreceived.expect_err("nobody receives");
    assert_eq!(
        (device, &message[..]),
        (0, "device 1 did not receive what was sent to it on channel 3 (1 left)")
    );
    let unsent =
        run(2, &[], |d| if d.device() == 0 { Ok(vec![]) } else { d.receive(None, 0, "recv-done `r`") });
    let expected = "the devices diverge: device 1 at recv-done `r` waits for device 0, at its end already";
    assert_eq!(unsent, Err((1, expected.into())));
}

#[test]
fn a_thousand_large_reductions_have_no_wrong_bit() {
    let devices = 4;
    let elements = 4096;
    let results = run(devices, &[vec![0, 1, 2, 3]], |device| {
        let operand = array(device.device(), elements, 0);
        for round in 0..1000 {
            let mut result = vec![0; operand.len()];
            let reduced = Reduced { operand: &operand, result: &mut result, element_bytes: 8 };
            device.all_reduce(0, &mut [reduced], &mut fold)?;
            let mut piece = vec![0; operand.len() / devices];
            collective::reduce_scatter(device, 0, &[&operand], &mut [&mut piece], &mut fold)?;
            let own = device.device() * piece.len();
            if result[own..own + piece.len()] != piece {
                return Err(Failure::Local(format!("round {round} differs")));
            }
        }
        Ok(())
    });
    assert_eq!(results, Ok(vec![(); devices]));
}
