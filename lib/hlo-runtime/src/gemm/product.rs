//! The parts of a product that its tasks share.

use super::kernel::Kernel;
use super::store::Sink;

/// The number of rows of a task's block when the whole right operand is packed.
pub(super) const BLOCK_ROWS: usize = 64;

/// The parts of a product that its tasks need.
pub(super) struct Product<'a, K: Kernel, S: Sink> {
    pub(super) kernel: K,
    pub(super) words: usize,
    pub(super) sink: &'a S,
    /// Whether sums start at −128 times the sum of the column, which compensates for the bias of signed
    /// bytes.
    pub(super) biased: bool,
}
