//! How the arrays at a program's ends are cut among devices.

use crate::program::Program;
use hlo_ir::attr::{Sharding, ShardingKind, SingleSharding};
use prost::Message;
use std::sync::Arc;

/// The shardings of parameters and of results, each an `OpSharding`; nothing if the program was not cut.
pub fn of(program: &Program) -> Option<[Vec<Vec<u8>>; 2]> {
    let partition = program.engines.best().partition()?;
    Some(partition.shardings().map(|kinds| kinds.into_iter().map(encoded).collect()))
}

fn encoded(kind: ShardingKind) -> Vec<u8> {
    let sharding = Sharding::Single(Arc::new(SingleSharding { kind, group: None, metadata: Vec::new() }));
    // Payloads are of metadata, which there is none of.
    hlo_proto::write_sharding(&sharding, &mut Vec::new()).encode_to_vec()
}
