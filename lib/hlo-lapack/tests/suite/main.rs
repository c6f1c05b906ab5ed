//! Tests of LAPACK's routines: this crate's and the interpreter's. They are one program, because linking each
//! test program takes time.

mod agree;
mod lapack;
mod registry;
mod support;
