//! Tests of element types, shapes, layouts and literals.

mod bytes;
mod float_format;
mod indices;
mod laid_out;
mod memory;
mod narrow;
mod native;
mod ndarray;
mod number;
mod packing;
mod padded;
mod reshape;
mod reuse;
mod shape;
