//! Tests of the plans of programs. They are one program, because each further program takes time to link.

mod assignment;
mod comparator;
mod memory;
