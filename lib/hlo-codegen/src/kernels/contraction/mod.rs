//! Contractions: the loop nest of `hlo_ir::contraction` over the valid indices, made to suit vectors and threads.
//!
//! The outer loops run over different elements of the result, and threads share them; the inner ones aggregate the values
//! of an element. What of it is made a vector depends on the accesses:
//!
//! - *Strips*: where the innermost outer variable goes along the elements of the operands (or is not in them), values for
//!   a strip of neighbouring elements are aggregated at once: `max` of `a[i,k] + b[k,j]` for 64 values of `j`, in loops
//!   over `k`. The bounds of the inner loops must be the same for all of a strip: what lies at the edges of windows is done
//!   element by element ([`Nest::interior`]). Of the loops of the result the one that has the longest strips is the
//!   innermost; where strips differ by an index modulo a number, as in transposed convolutions, there is a loop for each
//!   residue.
//! - *Blocks*: where the bounds of the inner loops differ from element to element, as in `o[i+j] += a[i,j]`, the inner loops are
//!   outside, and the innermost one runs along the elements of a block of the result, as far as they have values there.
//! - Otherwise element by element, the loop of the inner ones innermost that goes along the operands: LLVM makes vectors
//!   of it if it can.
//!
//! Each element is written by one iteration of the outer loops, and elements without a value not at all: those that there
//! may be are in the result before (the pass `contraction-default`).
//!
//! [`Nest::interior`]: hlo_ir::contraction::Nest::interior

mod blocks;
mod emit;
mod plan;
mod value;

pub use emit::emit;
pub use plan::Plan;
