//! Tests of custom calls. They are one program, because linking each test program takes time.

mod attributes;
mod check;
mod site;
mod trace;
