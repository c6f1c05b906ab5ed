//! Tests of the builder: built computations, rejected calls, and the documentation.

mod documented;
mod errors;
mod gradients;
mod misuse;
mod padding;
mod replay;
mod scopes;
mod sources;
