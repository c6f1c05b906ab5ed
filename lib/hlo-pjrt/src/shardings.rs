//! How the arrays at a program's ends are cut among devices.

use crate::program::Program;
use hlo_ir::attr::Sharding;
use prost::Message;

/// The shardings of parameters and of results, each an `OpSharding`; nothing if the program was not cut.
pub fn of(program: &Program) -> Option<[Vec<Vec<u8>>; 2]> {
    let partition = program.engines.best().partition()?;
    let written = |kind| encoded(&Sharding::single(kind));
    Some(partition.shardings().map(|kinds| kinds.into_iter().map(written).collect()))
}

/// An `OpSharding`.
pub fn encoded(sharding: &Sharding) -> Vec<u8> {
    // Payloads are of metadata, which there is none of.
    hlo_proto::write_sharding(sharding, &mut Vec::new()).encode_to_vec()
}
