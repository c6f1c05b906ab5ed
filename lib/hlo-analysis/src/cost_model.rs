//! The cost model: constants that several crates use to estimate and limit work.

/// Number of iterations assumed for a loop whose trip count is unknown.
pub const UNKNOWN_TRIP_COUNT: u64 = 100;

/// Maximum number of operands of a concatenation that a loop computes. The code of such a loop contains one branch for each
/// operand, so a longer concatenation is faster as copies.
pub const MAX_JOINED_OPERANDS: usize = 32;

/// Number of iterations of the outer loops that is sufficient to share a loop nest among threads. More outer iterations leave
/// inner loops too short for vectors.
pub const TARGET_PARALLEL_ITERATIONS: i64 = 512;
