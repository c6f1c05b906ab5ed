//! Decoding of messages from bytes, after a scan that checks them.

use crate::messages::Described;
use crate::wire::{Damage, scan};
use hlo_ir::diag::Diag;

/// A decoded message, with warnings about the dropped fields.
#[derive(Clone, Debug)]
pub struct Decoded<M> {
    /// The message.
    pub message: M,
    /// One warning for each unknown field. Unknown fields are dropped.
    pub warnings: Vec<Diag>,
}

/// Decodes a message.
///
/// # Errors
/// A diagnostic that describes the damage and its byte offset.
///
/// # Example
/// ```
/// use hlo_proto::messages::ShapeProto;
/// use hlo_proto::{decode, read_shape};
///
/// let bytes = [0x10, 11, 0x1a, 2, 2, 3, 0x78, 1];
/// let shape = decode::<ShapeProto>(&bytes).expect("a shape");
/// assert_eq!(read_shape(&shape.message).expect("a shape").to_string(), "f32[2,3]");
/// assert_eq!(shape.warnings[0].message, "ShapeProto: field 15 is not known, and left out");
///
/// let damaged = decode::<ShapeProto>(&bytes[..5]).expect_err("a part of it");
/// assert_eq!(damaged.message, "ShapeProto: byte 4: field 3 is 2 bytes long, but 1 are left");
/// ```
pub fn decode<M: Described>(bytes: &[u8]) -> Result<Decoded<M>, Diag> {
    let ty = M::message_type();
    let damaged = |Damage { offset, message }| Diag::error(format!("{}: byte {offset}: {message}", ty.name));
    let scan = scan(bytes, ty).map_err(damaged)?;
    let warning = |(&(message, number), &count): (&(&str, u32), &usize)| {
        let times = if count == 1 { String::new() } else { format!(" ({count} times)") };
        Diag::warning(format!("{message}: field {number} is not known, and left out{times}"))
    };
    let message = M::decode(bytes).map_err(|e| Diag::error(format!("{}: {e}", ty.name)))?;
    Ok(Decoded { message, warnings: scan.unknown.iter().map(warning).collect() })
}
