//! What messages are made of: numbers, names and types of their fields. One table is behind the structs, the text form,
//! and the look at a file before it is decoded.

/// A type of messages.
#[derive(Debug)]
pub struct MessageType {
    /// Its name, such as `ShapeProto`.
    pub name: &'static str,
    /// Its fields by ascending number.
    pub fields: &'static [Field],
    /// The bytes that a decoded message takes, without what its fields own.
    pub size: usize,
}

/// A field of a type of messages.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The number by which the binary form knows it.
    pub number: u32,
    /// The name by which the text form knows it.
    pub name: &'static str,
    /// What its values are.
    pub kind: Kind,
    /// True if it has any number of values.
    pub repeated: bool,
}

/// What the values of a field are.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A truth value.
    Bool,
    /// An integer of 32 bits.
    Int32,
    /// An integer of 64 bits.
    Int64,
    /// An unsigned integer of 32 bits.
    Uint32,
    /// An unsigned integer of 64 bits.
    Uint64,
    /// An `f32`.
    Float,
    /// An `f64`.
    Double,
    /// A text.
    String,
    /// Bytes.
    Bytes,
    /// One of a few names, each of which has a number.
    Enum(&'static [(&'static str, i32)]),
    /// A message. A function, as types may contain each other.
    Message(fn() -> &'static MessageType),
    /// A message that is passed on as it is: what is in it is not known here.
    Opaque,
}

/// How a value is stored: the low three bits of what stands before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireType {
    /// Seven bits a byte, the lowest first.
    Varint,
    /// Eight bytes.
    Fixed64,
    /// A length and as many bytes.
    Delimited,
    /// Fields up to an end mark, of old files.
    StartGroup,
    /// That mark.
    EndGroup,
    /// Four bytes.
    Fixed32,
}

impl WireType {
    /// The one of that number.
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
    /// How a value is stored.
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

    /// True if several values may be stored one behind the other, behind one length.
    pub fn is_packable(self) -> bool {
        self.wire_type() != WireType::Delimited
    }

    /// The bytes that a decoded value takes in a list.
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
    /// The field of that number.
    pub fn field(&self, number: u32) -> Option<&'static Field> {
        let fields: &'static [Field] = self.fields;
        fields.binary_search_by_key(&number, |f| f.number).ok().map(|i| &fields[i])
    }

    /// The field of that name.
    pub fn field_named(&self, name: &str) -> Option<&'static Field> {
        let fields: &'static [Field] = self.fields;
        fields.iter().find(|f| f.name == name)
    }
}
