//! Contractions: the loop nest of `hlo_ir::contraction` over the valid indices, adapted to vectors and
//! threads.
//!
//! The outer loops run over different elements of the result, and threads share them. The inner loops
//! aggregate the values of an element. The accesses determine which loop is vectorized:
//!
//! - *Strips*: used if the innermost outer variable runs along the operands' elements (or does not occur in
//!   them). The values of a strip of neighboring elements are aggregated together. For example, `max` of
//!   `a[i,k] + b[k,j]` is computed for 64 values of `j` in loops over `k`. All elements of a strip must have
//!   the same bounds of the inner loops. Elements at the edges of windows are computed one by one
//!   ([`Nest::interior`]). The loop of the result with the longest strips becomes the innermost. If strips
//!   differ by an index modulo a number, as in transposed convolutions, each residue gets its own loop.
//! - *Blocks*: used if the bounds of the inner loops differ from element to element, as in
//!   `o[i+j] += a[i,j]`. The inner loops become the outer ones. The innermost loop runs along the elements of
//!   a block of the result that have values there.
//! - Otherwise elements are computed one by one. The innermost loop is the inner loop that runs along the
//!   operands, which LLVM vectorizes if possible.
//!
//! One iteration of the outer loops writes each element. Elements without a value are not written. If there
//! may be such elements, the result buffer already contains their values (the pass `contraction-default`).
//!
//! [`Nest::interior`]: hlo_ir::contraction::Nest::interior

mod blocks;
mod loops;
mod plan;

pub use loops::{ElementBlocks, ElementStrategy, Loops, Shared};
pub use plan::ContractionPlan;
