//! Tests of the analyses of modules. They are one program, because linking each test program takes time.

mod buffers;
mod donation;
mod liveness;
mod schedule;
mod sharing;
