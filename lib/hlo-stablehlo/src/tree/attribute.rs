//! What is said of operations.

use super::{Location, Name, Type, TypeKind};
use hlo_ir::AlignedBytes;
use std::sync::Arc;

/// A value that is known when the program is read.
#[derive(Clone, Debug, PartialEq)]
pub enum Attribute {
    /// `unit`: being there is all that it says.
    Unit,
    /// `true`, `false`.
    Bool(bool),
    /// `3 : i64`.
    Integer(i128, Type),
    /// `0.5 : f32`.
    Float(Number),
    /// `"…"`: bytes that need not be text.
    String(Arc<[u8]>),
    /// `@name`.
    Symbol(Name),
    /// A type.
    Type(Type),
    /// `[…]`.
    Array(Arc<[Attribute]>),
    /// `array<i64: 0, 1>`: numbers of a type; those of floating-point types are their bits, truth values 0 and 1.
    DenseArray(Type, Arc<[i64]>),
    /// `{…}`.
    Dictionary(Arc<Attributes>),
    /// `dense<…> : tensor<…>`.
    Elements(Arc<Elements>),
    /// `#stablehlo<precision DEFAULT>`: the kind, `stablehlo.precision`, and the word.
    Enum(Name, Name),
    /// `#stablehlo.dot<…>`: the kind, `stablehlo.dot`, and its fields.
    Struct(Name, Arc<Attributes>),
    /// `loc(…)`.
    Location(Location),
    /// An attribute of a dialect that has no meaning here, as it is written after `#`.
    Other(Arc<str>),
}

/// A floating-point number: its bits in the format of its type, for NaNs have many, and small types few numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    /// The bits.
    pub bits: u64,
    /// The type.
    pub ty: Type,
}

/// The elements of an array.
#[derive(Clone, Debug, PartialEq)]
pub struct Elements {
    /// The array's type, a ranked tensor.
    pub ty: Type,
    /// The elements row-major, as [`hlo_ir::Literal`] has them: a byte at least for each, truth values 0 and 1, numbers of
    /// four bits in the low half. Of an array whose elements are all the same the only one (`is_splat`).
    pub bytes: Arc<AlignedBytes>,
    /// True if `bytes` holds one element that stands for all.
    pub is_splat: bool,
}

impl Attribute {
    /// A string.
    pub fn string(text: &str) -> Self {
        Self::String(text.as_bytes().into())
    }

    /// An integer of type `i64`.
    pub fn i64(value: i64) -> Self {
        Self::Integer(value.into(), Type::integer(64))
    }

    /// `array<i64: …>`.
    pub fn i64s(values: impl Into<Arc<[i64]>>) -> Self {
        Self::DenseArray(Type::integer(64), values.into())
    }

    /// A structure.
    pub fn of_fields(kind: &str, fields: impl IntoIterator<Item = (&'static str, Attribute)>) -> Self {
        let fields = fields.into_iter().map(|(name, value)| (name.into(), value)).collect();
        Self::Struct(kind.into(), Arc::new(fields))
    }

    /// The text of a string, if it is text, or of a symbol.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(bytes) => std::str::from_utf8(bytes).ok(),
            Self::Symbol(name) => Some(name),
            _ => None,
        }
    }

    /// A truth value: a boolean, a unit, a number of one bit.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            Self::Unit => Some(true),
            Self::Integer(value, ty) if matches!(**ty, TypeKind::Integer(1, _)) => Some(*value != 0),
            _ => None,
        }
    }

    /// An integer.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Self::Integer(value, _) => i64::try_from(*value).ok(),
            Self::Bool(value) => Some((*value).into()),
            _ => None,
        }
    }

    /// A list.
    pub fn as_array(&self) -> Option<&[Attribute]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// Integers: of `array<…>`, of `dense<…>` whatever its rank, of a list.
    pub fn ints(&self) -> Option<Vec<i64>> {
        match self {
            Self::DenseArray(_, values) => Some(values.to_vec()),
            Self::Elements(elements) => elements.ints(),
            Self::Array(items) => items.iter().map(Self::as_int).collect(),
            _ => None,
        }
    }

    /// The word of an enumeration of a kind.
    pub fn word(&self, kind: &str) -> Option<&str> {
        match self {
            Self::Enum(of, word) if *of == kind => Some(word),
            _ => None,
        }
    }

    /// The fields of a structure of a kind.
    pub fn fields(&self, kind: &str) -> Option<&Attributes> {
        match self {
            Self::Struct(of, fields) if *of == kind => Some(fields),
            _ => None,
        }
    }
}

impl Elements {
    /// How many elements the array has; `None` if its type is none of an array.
    pub fn count(&self) -> Option<usize> {
        self.ty.as_tensor()?.count()
    }

    /// The elements of an array of integers.
    pub fn ints(&self) -> Option<Vec<i64>> {
        let tensor = self.ty.as_tensor()?;
        let count = tensor.count()?;
        let (size, signed) = match &*tensor.element {
            TypeKind::Index => (8, true),
            _ => {
                let ty = tensor.element.element_type().filter(|t| t.is_integer() || t.is_pred())?;
                (ty.byte_size(), ty.is_signed_integer())
            }
        };
        let one = |bytes: &[u8]| -> i64 {
            let mut wide = [if signed && bytes.last().is_some_and(|b| b & 0x80 != 0) { 0xff } else { 0 }; 8];
            wide[..size].copy_from_slice(bytes);
            i64::from_le_bytes(wide)
        };
        let mut all: Vec<i64> = self.bytes.chunks_exact(size).map(one).collect();
        if self.is_splat {
            let value = all.first().copied()?;
            // A list that nobody could have written is none.
            if count > 1 << 24 {
                return None;
            }
            all = vec![value; count];
        }
        (all.len() == count).then_some(all)
    }
}

/// Attributes by name, in the order in which they were given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attributes(Vec<(Name, Attribute)>);

impl Attributes {
    /// The attribute of a name.
    pub fn get(&self, name: &str) -> Option<&Attribute> {
        self.0.iter().find(|(n, _)| *n == name).map(|(_, value)| value)
    }

    /// Sets one, in place of one of that name.
    pub fn set(&mut self, name: impl Into<Name>, value: Attribute) {
        let name = name.into();
        match self.0.iter_mut().find(|(n, _)| *n == name) {
            Some(entry) => entry.1 = value,
            None => self.0.push((name, value)),
        }
    }

    /// Takes one out.
    pub fn remove(&mut self, name: &str) -> Option<Attribute> {
        let at = self.0.iter().position(|(n, _)| *n == name)?;
        Some(self.0.remove(at).1)
    }

    /// All of them.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Name, &Attribute)> {
        self.0.iter().map(|(name, value)| (name, value))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(Name, Attribute)> for Attributes {
    fn from_iter<I: IntoIterator<Item = (Name, Attribute)>>(items: I) -> Self {
        Self(items.into_iter().collect())
    }
}
