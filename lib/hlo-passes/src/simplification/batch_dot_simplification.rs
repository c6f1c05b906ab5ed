//! `batch-dot-simplification`: removes batch dimensions of size 1 from dots.
//!
//! ```text
//! d = f32[1,4,5] dot(x, y), lhs_batch_dims={0}, …
//! →
//! d = f32[4,5] dot(reshape(x), reshape(y)), …
//! r = f32[1,4,5] reshape(d)
//! ```

use super::algsimp::BATCH_OF_ONE;
use crate::pass_info::PassInfo;

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "batch-dot-simplification",
    summary: "drop batch dimensions of size 1 from dots",
    example: "\
HloModule batch_dot_simplification

ENTRY e {
  x = f32[1,4,8] parameter(0)
  y = f32[1,8,5] parameter(1)
  ROOT d = f32[1,4,5] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
}
",
    patterns: &[BATCH_OF_ONE],
    ..PassInfo::PLAIN
};
