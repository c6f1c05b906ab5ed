//! Measures this crate's collectives and Open MPI's own, from 1 KiB to 64 MiB per device, with one device per
//! rank:
//!
//! ```text
//! cargo build --release -p hlo-mpi --features mpi --example bandwidth
//! mpirun -n 2 target/release/examples/bandwidth
//! ```
//!
//! Times are those of the slowest rank, and the minimum of several runs. `fixed` is this crate's all-reduce
//! in the order of the group, as for floats. `any` is the all-reduce of integers, which uses MPI's above 4
//! KiB.

use hlo_communicator::{
    Communicator, Failure, Options, Reduced, Reduction, ReductionKind, Table, collective, run_in,
};
use hlo_mpi::MpiWorld;
use mpi::ffi;
use std::os::raw::c_void;
use std::sync::Arc;
use std::time::Instant;

/// The measurements, in the order of the columns.
const COLUMNS: [&str; 7] = [
    "all-reduce fixed",
    "all-reduce any",
    "MPI_Allreduce",
    "all-gather",
    "MPI_Allgather",
    "all-to-all",
    "MPI_Alltoall",
];

/// Returns the minimum time of several calls, in seconds.
fn least(rounds: usize, mut call: impl FnMut() -> Result<(), Failure>) -> Result<f64, Failure> {
    let mut least = f64::INFINITY;
    for _ in 0..rounds {
        // SAFETY: all ranks call this.
        unsafe { ffi::MPI_Barrier(ffi::RSMPI_COMM_WORLD) };
        let start = Instant::now();
        call()?;
        least = least.min(start.elapsed().as_secs_f64());
    }
    Ok(least)
}

/// Computes sums of `u32`.
fn sum(_: usize, members: &[&[u8]], result: &mut [u8]) -> Result<(), Failure> {
    result.copy_from_slice(members[0]);
    for member in &members[1..] {
        for (to, from) in result.as_chunks_mut::<4>().0.iter_mut().zip(member.as_chunks::<4>().0) {
            *to = u32::from_ne_bytes(*to).wrapping_add(u32::from_ne_bytes(*from)).to_ne_bytes();
        }
    }
    Ok(())
}

/// Returns the times of all columns for arrays of `bytes` bytes.
fn measure(
    comm: &dyn Communicator,
    [fixed, any]: [usize; 2],
    bytes: usize,
) -> Result<[f64; COLUMNS.len()], Failure> {
    let devices = comm.table().devices();
    let rounds = (1 << 24).clamp(5 * bytes, 100 * bytes) / bytes;
    let operand = vec![1u8; bytes];
    let mut result = vec![0u8; bytes];
    let mut gathered = vec![0u8; bytes * devices];
    let piece = bytes / devices / 4 * 4;
    let whole = piece * devices;
    let (from, to) = (operand.as_ptr().cast::<c_void>(), result.as_mut_ptr().cast::<c_void>());
    let into = gathered.as_mut_ptr().cast::<c_void>();
    let mut all_reduce = |site: usize| {
        least(rounds, || {
            let array = Reduced { operand: &operand, result: &mut result, element_bytes: 4 };
            comm.all_reduce(site, &mut [array], &mut sum)
        })
    };
    let ours = [all_reduce(fixed)?, all_reduce(any)?];
    let gather = least(rounds, || collective::all_gather(comm, fixed, &[&operand], &mut [&mut gathered]))?;
    let exchange =
        least(rounds, || collective::all_to_all(comm, fixed, &operand[..whole], &mut result[..whole]))?;
    // SAFETY: the arrays have this number of bytes, and nothing else accesses them.
    let theirs = unsafe {
        let (count, piece) = (bytes as i32, piece as i32);
        let (byte, word) = (ffi::RSMPI_UINT8_T, ffi::RSMPI_UINT32_T);
        let world = ffi::RSMPI_COMM_WORLD;
        [
            least(rounds, || {
                ffi::MPI_Allreduce(from, to, count / 4, word, ffi::RSMPI_SUM, world);
                Ok(())
            })?,
            least(rounds, || {
                ffi::MPI_Allgather(from, count, byte, into, count, byte, world);
                Ok(())
            })?,
            least(rounds, || {
                ffi::MPI_Alltoall(from, piece, byte, to, piece, byte, world);
                Ok(())
            })?,
        ]
    };
    Ok([ours[0], ours[1], theirs[0], gather, theirs[1], exchange, theirs[2]])
}

fn main() -> Result<(), String> {
    let world = MpiWorld::new()?;
    let ranks = world.size();
    let mut table = Table::new(ranks);
    let all = [(0..ranks).collect::<Vec<usize>>()];
    let sites = [table.add("all-reduce `fixed`", &all), table.add("all-reduce `any`", &all)];
    table.set_reduction(sites[1], Some(Reduction { kind: ReductionKind::Add, is_signed: false }));
    let sizes: Vec<usize> = (10..=26).step_by(2).map(|n| 1 << n).collect();
    let measured = run_in(&world, Arc::new(table), Options::default(), vec![()], |comm, ()| {
        sizes.iter().map(|&bytes| measure(comm, sites, bytes)).collect::<Result<Vec<_>, Failure>>()
    });
    let measured = measured.map_err(|(device, failure)| format!("device {device}: {failure}"))?;
    let own: Vec<u8> = measured.iter().flatten().flatten().flat_map(|t| t.to_le_bytes()).collect();
    let Some(all) = world.gather(own).map_err(|failure| failure.to_string())? else { return Ok(()) };
    println!("{ranks} ranks, microseconds");
    println!("{:>10} {}", "bytes", COLUMNS.map(|name| format!("{name:>16}")).join(" "));
    for (row, bytes) in sizes.iter().enumerate() {
        let slowest = |column: usize| {
            let of_rank = |rank: &Vec<u8>| {
                let words = rank.as_chunks::<8>().0;
                words.get(row * COLUMNS.len() + column).map_or(0.0, |word| f64::from_le_bytes(*word))
            };
            all.iter().map(of_rank).fold(0.0, f64::max)
        };
        let cells: Vec<String> =
            (0..COLUMNS.len()).map(|column| format!("{:>16.1}", slowest(column) * 1e6)).collect();
        println!("{bytes:>10} {}", cells.join(" "));
    }
    Ok(())
}
