//! Metadata of instructions, and the payloads that it refers to by number.

use super::Result;
use crate::messages::{OpMetadataProto, Payload};
use hlo_ir::attr::{HloString, OpMetadata, RareMetadata};

/// The byte strings of a module that its messages refer to by number.
#[derive(Clone, Copy, Debug, Default)]
pub struct Payloads<'a>(pub &'a [Vec<u8>]);

impl Payloads<'_> {
    /// Returns the bytes of a payload.
    ///
    /// # Errors
    /// A message if the module has no byte string of that number.
    pub fn read(self, payload: &Payload) -> Result<HloString> {
        let bytes = match (&payload.value, payload.id) {
            (Some(bytes), _) => Some(bytes),
            (None, Some(id)) => usize::try_from(id).ok().and_then(|n| self.0.get(n)),
            (None, None) => return Ok(HloString::default()),
        };
        match bytes {
            Some(bytes) => Ok(HloString::from_bytes(&bytes[..])),
            None => {
                let id = payload.id.unwrap_or_default();
                Err(format!("payload {id} is named, and the module has {}", self.0.len()))
            }
        }
    }

    /// Reads the metadata of an instruction.
    ///
    /// # Errors
    /// The errors of [`Payloads::read`].
    pub fn metadata(self, proto: &OpMetadataProto) -> Result<OpMetadata> {
        let text = |bytes: &Vec<u8>| HloString::from_bytes(&bytes[..]);
        let metadata_payload = match &proto.metadata_payload {
            Some(payload) => self.read(payload)?,
            None => HloString::default(),
        };
        let rare = RareMetadata {
            profile_type: proto.profile_type.iter().map(|&n| n.into()).collect(),
            deduplicated_name: text(&proto.deduplicated_name),
            scheduling_name: text(&proto.scheduling_name),
            metadata_payload,
        };
        Ok(OpMetadata {
            op_type: text(&proto.op_type),
            op_name: text(&proto.op_name),
            source_file: text(&proto.source_file),
            source_line: proto.source_line,
            source_end_line: proto.source_end_line,
            source_column: proto.source_column,
            source_end_column: proto.source_end_column,
            stack_frame_id: proto.stack_frame_id,
            rare: (rare != RareMetadata::default()).then(|| Box::new(rare)),
        })
    }
}

/// Writes metadata. Appends the byte strings that it refers to by number to `payloads`.
pub fn write_metadata(metadata: &OpMetadata, payloads: &mut Vec<Vec<u8>>) -> OpMetadataProto {
    let mut proto = OpMetadataProto {
        op_type: metadata.op_type.as_bytes().to_vec(),
        op_name: metadata.op_name.as_bytes().to_vec(),
        source_file: metadata.source_file.as_bytes().to_vec(),
        source_line: metadata.source_line,
        source_end_line: metadata.source_end_line,
        source_column: metadata.source_column,
        source_end_column: metadata.source_end_column,
        stack_frame_id: metadata.stack_frame_id,
        ..OpMetadataProto::default()
    };
    if let Some(rare) = &metadata.rare {
        // Profile types are from 0 to 3.
        proto.profile_type = rare.profile_type.iter().filter_map(|&n| i32::try_from(n).ok()).collect();
        proto.deduplicated_name = rare.deduplicated_name.as_bytes().to_vec();
        proto.scheduling_name = rare.scheduling_name.as_bytes().to_vec();
        if !rare.metadata_payload.is_empty() {
            proto.metadata_payload = Some(Box::new(write_payload(&rare.metadata_payload, payloads)));
        }
    }
    proto
}

/// Returns a payload that refers to the given bytes. Neighboring instructions often have equal bytes, so
/// these share an entry.
fn write_payload(bytes: &HloString, payloads: &mut Vec<Vec<u8>>) -> Payload {
    if payloads.last().is_none_or(|last| last != bytes.as_bytes()) {
        payloads.push(bytes.as_bytes().to_vec());
    }
    Payload { value: None, id: i64::try_from(payloads.len() - 1).ok() }
}
