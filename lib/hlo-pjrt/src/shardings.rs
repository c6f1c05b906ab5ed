//! The shardings of a program's parameters and results.

use crate::program::Program;
use hlo_ir::attr::Sharding;
use prost::Message;

/// Returns the shardings of the parameters and of the results, each an `OpSharding`, or `None` if the program
/// was not partitioned.
pub fn of(program: &Program) -> Option<[Vec<Vec<u8>>; 2]> {
    let partition = program.engines.best().partition()?;
    let written = |kind| encoded(&Sharding::single(kind));
    Some(partition.shardings().map(|kinds| kinds.into_iter().map(written).collect()))
}

/// Encodes an `OpSharding`.
pub fn encoded(sharding: &Sharding) -> Vec<u8> {
    // Payloads belong to metadata, and this sharding has none.
    hlo_proto::write_sharding(sharding, &mut Vec::new()).encode_to_vec()
}
