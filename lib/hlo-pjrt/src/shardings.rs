//! How the arrays at a program's ends are cut among devices.

use crate::program::Program;
use hlo_ir::attr::{Sharding, ShardingKind};
use prost::Message;

/// The shardings of parameters and of results, each an `OpSharding`; nothing if the program was not cut.
pub fn of(program: &Program) -> Option<[Vec<Vec<u8>>; 2]> {
    let partition = program.engines.best().partition()?;
    Some(partition.shardings().map(|kinds| kinds.into_iter().map(encoded).collect()))
}

/// An `OpSharding`.
pub fn encoded(kind: ShardingKind) -> Vec<u8> {
    // Payloads are of metadata, which there is none of.
    hlo_proto::write_sharding(&Sharding::single(kind), &mut Vec::new()).encode_to_vec()
}
