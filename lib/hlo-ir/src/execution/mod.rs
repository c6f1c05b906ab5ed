//! Common parts of all engines: options and errors of programs, the host at the other end of transfers,
//! watches, the streams of random numbers, and the devices that exchange data.

pub mod budget;
mod channels;
pub mod devices;
pub mod host;
pub mod program;
pub mod streams;
pub mod watch;
