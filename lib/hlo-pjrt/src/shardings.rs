//! Shardings as protocol buffers.

use hlo_ir::attr::Sharding;
use prost::Message;

/// Encodes an `OpSharding`.
pub fn encoded(sharding: &Sharding) -> Vec<u8> {
    // Payloads belong to metadata, and this sharding has none.
    hlo_proto::write_sharding(sharding, &mut Vec::new()).encode_to_vec()
}
