//! Descriptors of message types: the numbers, names and types of their fields. The structs, the text form and
//! the scan before decoding use the same table.

/// The type of a message.
#[derive(Debug)]
pub struct MessageType {
    /// The name, such as `ShapeProto`.
    pub name: &'static str,
    /// The fields, by ascending number.
    pub fields: &'static [Field],
    /// The size in bytes of a decoded message, without memory that its fields own.
    pub size: usize,
}

/// A field of a message type.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The number of the field in the binary form.
    pub number: u32,
    /// The name of the field in the text form.
    pub name: &'static str,
    /// The type of the values.
    pub kind: Kind,
    /// Whether the field may occur any number of times.
    pub repeated: bool,
}

/// The type of a field's values.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A Boolean.
    Bool,
    /// A 32-bit signed integer.
    Int32,
    /// A 64-bit signed integer.
    Int64,
    /// A 32-bit unsigned integer.
    Uint32,
    /// A 64-bit unsigned integer.
    Uint64,
    /// An `f32`.
    Float,
    /// An `f64`.
    Double,
    /// A string.
    String,
    /// Bytes.
    Bytes,
    /// An enumeration: names and their numbers.
    Enum(&'static [(&'static str, i32)]),
    /// A message. The variant contains a function because types may contain each other.
    Message(fn() -> &'static MessageType),
    /// A message that is kept as bytes, because its type is not described here.
    Opaque,
}

/// The encoding of a value in the binary form: the low three bits of the tag before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireType {
    /// An integer with seven bits in each byte, the lowest bits first.
    Varint,
    /// Eight bytes.
    Fixed64,
    /// A length, followed by that many bytes.
    Delimited,
    /// The start of a group, which old files use: its fields follow up to an end mark.
    StartGroup,
    /// The end of a group.
    EndGroup,
    /// Four bytes.
    Fixed32,
}

impl WireType {
    /// Returns the wire type of a number.
    pub fn from_number(number: u64) -> Option<Self> {
        Some(match number {
            0 => WireType::Varint,
            1 => WireType::Fixed64,
            2 => WireType::Delimited,
            3 => WireType::StartGroup,
            4 => WireType::EndGroup,
            5 => WireType::Fixed32,
            _ => return None,
        })
    }
}

impl Kind {
    /// Returns the wire type of the values.
    pub fn wire_type(self) -> WireType {
        match self {
            Kind::Bool | Kind::Int32 | Kind::Int64 | Kind::Uint32 | Kind::Uint64 | Kind::Enum(_) => {
                WireType::Varint
            }
            Kind::Double => WireType::Fixed64,
            Kind::Float => WireType::Fixed32,
            Kind::String | Kind::Bytes | Kind::Message(_) | Kind::Opaque => WireType::Delimited,
        }
    }

    /// Checks whether several values may be stored contiguously after one length.
    pub fn is_packable(self) -> bool {
        self.wire_type() != WireType::Delimited
    }

    /// Returns the size in bytes of a decoded value in a list.
    pub fn size(self) -> usize {
        match self {
            Kind::Bool => 1,
            Kind::Int32 | Kind::Uint32 | Kind::Float | Kind::Enum(_) => 4,
            Kind::Int64 | Kind::Uint64 | Kind::Double => 8,
            Kind::String | Kind::Bytes | Kind::Opaque => size_of::<Vec<u8>>(),
            Kind::Message(message) => message().size,
        }
    }
}

impl MessageType {
    /// Returns the field of a number.
    pub fn field(&self, number: u32) -> Option<&'static Field> {
        let fields: &'static [Field] = self.fields;
        fields.binary_search_by_key(&number, |f| f.number).ok().map(|i| &fields[i])
    }

    /// Returns the field of a name.
    pub fn field_named(&self, name: &str) -> Option<&'static Field> {
        let fields: &'static [Field] = self.fields;
        fields.iter().find(|f| f.name == name)
    }
}
