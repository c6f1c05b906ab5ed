//! What all engines share when they run a module: what is asked of a program and what it ends with, the host at the other
//! end of transfers, who watches a run, the streams of random numbers, and the devices that exchange data.

pub mod budget;
mod channels;
pub mod devices;
pub mod host;
pub mod program;
pub mod streams;
pub mod watch;
