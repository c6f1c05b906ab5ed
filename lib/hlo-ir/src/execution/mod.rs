//! What all engines share when they run a module: the host at the other end of transfers, who watches a run, and the
//! streams of random numbers.

pub mod host;
pub mod streams;
pub mod watch;
