//! Tests of devices on several ranks. This program starts itself under `mpirun`, once for each scenario and
//! number of ranks. Without the feature `mpi`, or without `mpirun`, it runs nothing and prints the reason.

#[cfg(feature = "mpi")]
mod harness;
#[cfg(feature = "mpi")]
mod scenarios;

#[cfg(feature = "mpi")]
fn main() {
    match std::env::var(harness::SCENARIO) {
        Ok(scenario) => scenarios::run(&scenario),
        Err(_) => harness::run(),
    }
}

#[cfg(not(feature = "mpi"))]
fn main() {
    println!("skipped: the feature `mpi` of hlo-mpi is off");
}
