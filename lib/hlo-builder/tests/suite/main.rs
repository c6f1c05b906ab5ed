//! What programs build, what is refused, and what is documented.

mod documented;
mod errors;
mod gradients;
mod misuse;
mod replay;
mod scopes;
mod sources;
