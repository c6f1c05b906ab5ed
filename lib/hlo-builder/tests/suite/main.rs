//! Tests of the builder: built computations, rejected calls, and the documentation.

mod documented;
mod errors;
mod gradients;
mod misuse;
mod replay;
mod scopes;
mod sources;
