//! Tests of kernels as data. They are one program, because each further program takes time to link.

mod blocks;
mod kernels;
