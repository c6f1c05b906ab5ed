//! The binary form without structs: reads and writes single fields, and scans a file before it is decoded.

use crate::descriptor::{Field, Kind, MessageType, WireType};
use std::collections::BTreeMap;

/// Maximum nesting depth of messages. Decoders of protocol buffers have the same limit.
pub const MAX_DEPTH: usize = 100;

/// Maximum ratio of the decoded size of a file to its size in bytes. For modules of small instructions, the
/// ratio is about 30.
const MAX_EXPANSION: usize = 128;

/// Damage in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The offset of the damage in the file, in bytes.
    pub offset: usize,
    /// A description of the damage.
    pub message: String,
}

/// A stored value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// A variable-length integer.
    Varint(u64),
    /// Four bytes.
    Fixed32(u32),
    /// Eight bytes.
    Fixed64(u64),
    /// A string, bytes, a message, or packed numbers.
    Delimited(&'a [u8]),
}

/// An iterator over the fields of a message.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The offset of the message in the file.
    base: usize,
}

impl<'a> Reader<'a> {
    /// Creates a reader of the message in `bytes`, which starts at offset `base` of a file.
    pub fn new(bytes: &'a [u8], base: usize) -> Self {
        Self { bytes, at: 0, base }
    }

    /// Returns the file offset of the next field, or of the damage.
    pub fn offset(&self) -> usize {
        self.base + self.at
    }

    /// Returns the next field's number and value, or `None` at the end.
    ///
    /// # Errors
    /// An invalid field number, an unknown wire type, or a value that extends past the end.
    pub fn field(&mut self) -> Result<Option<(u32, Value<'a>)>, Damage> {
        if self.at == self.bytes.len() {
            return Ok(None);
        }
        let start = self.at;
        let tag = self.varint()?;
        let number = u32::try_from(tag >> 3).ok().filter(|n| (1..1 << 29).contains(n));
        let (Some(number), Some(wire)) = (number, WireType::from_number(tag & 7)) else {
            self.at = start;
            return Err(self.damage(format!("expected a field, found the number {tag}")));
        };
        let value = match wire {
            WireType::Varint => Value::Varint(self.varint()?),
            WireType::Fixed32 => Value::Fixed32(u32::from_le_bytes(self.fixed()?)),
            WireType::Fixed64 => Value::Fixed64(u64::from_le_bytes(self.fixed()?)),
            WireType::Delimited => {
                let length = self.varint()?;
                let left = self.bytes.len() - self.at;
                let Some(length) = usize::try_from(length).ok().filter(|&n| n <= left) else {
                    let message = format!("field {number} is {length} bytes long, but {left} are left");
                    return Err(self.damage(message));
                };
                Value::Delimited(self.take(length))
            }
            WireType::StartGroup | WireType::EndGroup => {
                self.at = start;
                return Err(self.damage(format!("field {number} is a group, which none of these files have")));
            }
        };
        Ok(Some((number, value)))
    }

    /// Reads a variable-length integer, with seven bits in each byte.
    ///
    /// # Errors
    /// The number does not end, or has more than 64 bits.
    pub fn varint(&mut self) -> Result<u64, Damage> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let Some(&byte) = self.bytes.get(self.at) else {
                return Err(self.damage("the file ends within a number".into()));
            };
            self.at += 1;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(self.damage("a number has more than 64 bits".into()))
    }

    fn fixed<const N: usize>(&mut self) -> Result<[u8; N], Damage> {
        match self.bytes[self.at..].first_chunk() {
            Some(&bytes) => {
                self.at += N;
                Ok(bytes)
            }
            None => Err(self.damage("the file ends within a number".into())),
        }
    }

    fn take(&mut self, length: usize) -> &'a [u8] {
        let bytes = &self.bytes[self.at..self.at + length];
        self.at += length;
        bytes
    }

    fn damage(&self, message: String) -> Damage {
        Damage { offset: self.offset(), message }
    }
}

/// The result of scanning a file.
#[derive(Clone, Debug, Default)]
pub struct Scan {
    /// Fields that the types of their messages do not contain, with their numbers of occurrences.
    pub unknown: BTreeMap<(&'static str, u32), usize>,
    /// The approximate size of the decoded message, in bytes.
    memory: usize,
}

/// Scans a message of the given type. Checks that it can be decoded in bounded memory, and finds the fields
/// that would be dropped.
///
/// # Errors
/// The first damage.
pub fn scan(bytes: &[u8], ty: &MessageType) -> Result<Scan, Damage> {
    let mut scan = Scan { memory: ty.size, ..Scan::default() };
    scan.message(&mut Reader::new(bytes, 0), ty, 0)?;
    if scan.memory / MAX_EXPANSION > bytes.len().max(1 << 16) {
        let message =
            format!("{} bytes would be {} in memory: the messages are empty", bytes.len(), scan.memory);
        return Err(Damage { offset: 0, message });
    }
    Ok(scan)
}

impl Scan {
    fn message(&mut self, reader: &mut Reader<'_>, ty: &MessageType, depth: usize) -> Result<(), Damage> {
        if depth > MAX_DEPTH {
            return Err(reader.damage(format!("messages nest more than {MAX_DEPTH} deep")));
        }
        while let Some((number, value)) = reader.field()? {
            match ty.field(number) {
                Some(field) => self.value(reader, ty, field, value, depth)?,
                None => *self.unknown.entry((ty.name, number)).or_default() += 1,
            }
        }
        Ok(())
    }

    fn value(
        &mut self,
        reader: &Reader<'_>,
        ty: &MessageType,
        field: &Field,
        value: Value<'_>,
        depth: usize,
    ) -> Result<(), Damage> {
        match (field.kind, value) {
            (Kind::Message(inner), Value::Delimited(bytes)) => {
                let inner = inner();
                self.memory = self.memory.saturating_add(inner.size);
                let base = reader.offset() - bytes.len();
                self.message(&mut Reader::new(bytes, base), inner, depth + 1)
            }
            (Kind::String | Kind::Bytes | Kind::Opaque, Value::Delimited(bytes)) => {
                self.memory = self.memory.saturating_add(field.kind.size() + bytes.len());
                Ok(())
            }
            // Each value takes at least one byte of the file.
            (kind, Value::Delimited(bytes)) if kind.is_packable() => {
                self.memory = self.memory.saturating_add(kind.size() * bytes.len());
                Ok(())
            }
            (kind, value) if value.wire_type() == kind.wire_type() => {
                self.memory = self.memory.saturating_add(kind.size());
                Ok(())
            }
            (_, value) => {
                let found = value.wire_type();
                Err(reader.damage(format!("field `{}` of {} is stored as {found:?}", field.name, ty.name)))
            }
        }
    }
}

impl Value<'_> {
    /// Returns the wire type of the value.
    pub fn wire_type(&self) -> WireType {
        match self {
            Value::Varint(_) => WireType::Varint,
            Value::Fixed32(_) => WireType::Fixed32,
            Value::Fixed64(_) => WireType::Fixed64,
            Value::Delimited(_) => WireType::Delimited,
        }
    }
}

/// Appends a variable-length integer, with seven bits in each byte.
pub fn push_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends the tag that precedes a value: the field number and the wire type.
pub fn push_tag(out: &mut Vec<u8>, number: u32, wire: WireType) {
    let wire = match wire {
        WireType::Varint => 0,
        WireType::Fixed64 => 1,
        WireType::Delimited => 2,
        WireType::StartGroup => 3,
        WireType::EndGroup => 4,
        WireType::Fixed32 => 5,
    };
    push_varint(out, u64::from(number) << 3 | wire);
}

/// Appends a field with its value.
pub fn push_field(out: &mut Vec<u8>, number: u32, value: Value<'_>) {
    push_tag(out, number, value.wire_type());
    match value {
        Value::Varint(n) => push_varint(out, n),
        Value::Fixed32(n) => out.extend(n.to_le_bytes()),
        Value::Fixed64(n) => out.extend(n.to_le_bytes()),
        Value::Delimited(bytes) => {
            push_varint(out, bytes.len() as u64);
            out.extend(bytes);
        }
    }
}
