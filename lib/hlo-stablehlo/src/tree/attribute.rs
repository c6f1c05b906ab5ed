//! Attributes of operations.

use super::{Location, Name, Type, TypeKind};
use hlo_ir::AlignedBytes;
use std::sync::Arc;

/// A constant property of an operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Attribute {
    /// `unit`: an attribute without a value.
    Unit,
    /// `true`, `false`.
    Bool(bool),
    /// `3 : i64`.
    Integer(i128, Type),
    /// `0.5 : f32`.
    Float(Number),
    /// `"…"`: bytes, which need not be UTF-8.
    String(Arc<[u8]>),
    /// `@name`.
    Symbol(Name),
    /// A type.
    Type(Type),
    /// `[…]`.
    Array(Arc<[Attribute]>),
    /// `array<i64: 0, 1>`: numbers of a type. Floating-point numbers are their bits, Booleans are 0 and 1.
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
    /// An attribute of an unknown kind, as text after `#`.
    Other(Arc<str>),
}

/// A floating-point number, as bits in the format of its type. Other formats could not represent every NaN.
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
    /// The elements in row-major order, as in [`hlo_ir::Literal`]: at least a byte for each, Booleans as 0
    /// and 1, four-bit numbers in the low half. If all elements are equal, `bytes` may contain only one
    /// (`is_splat`).
    pub bytes: Arc<AlignedBytes>,
    /// Whether `bytes` contains one element that stands for all.
    pub is_splat: bool,
}

impl Attribute {
    /// Returns a string attribute.
    pub fn string(text: &str) -> Self {
        Self::String(text.as_bytes().into())
    }

    /// Returns an integer of type `i64`.
    pub fn i64(value: i64) -> Self {
        Self::Integer(value.into(), Type::integer(64))
    }

    /// Returns `array<i64: …>`.
    pub fn i64s(values: impl Into<Arc<[i64]>>) -> Self {
        Self::DenseArray(Type::integer(64), values.into())
    }

    /// Returns a structure of the given kind.
    pub fn of_fields(kind: &str, fields: impl IntoIterator<Item = (&'static str, Attribute)>) -> Self {
        let fields = fields.into_iter().map(|(name, value)| (name.into(), value)).collect();
        Self::Struct(kind.into(), Arc::new(fields))
    }

    /// Returns the text of a symbol, or of a string if it is UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(bytes) => std::str::from_utf8(bytes).ok(),
            Self::Symbol(name) => Some(name),
            _ => None,
        }
    }

    /// Returns the value of a Boolean, a unit, or a one-bit number.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            Self::Unit => Some(true),
            Self::Integer(value, ty) if matches!(**ty, TypeKind::Integer(1, _)) => Some(*value != 0),
            _ => None,
        }
    }

    /// Returns the value of an integer.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Self::Integer(value, _) => i64::try_from(*value).ok(),
            Self::Bool(value) => Some((*value).into()),
            _ => None,
        }
    }

    /// Returns the items of a list.
    pub fn as_array(&self) -> Option<&[Attribute]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// Returns the integers of an `array<…>`, of a `dense<…>` of any rank, or of a list.
    pub fn ints(&self) -> Option<Vec<i64>> {
        match self {
            Self::DenseArray(_, values) => Some(values.to_vec()),
            Self::Elements(elements) => elements.ints(),
            Self::Array(items) => items.iter().map(Self::as_int).collect(),
            _ => None,
        }
    }

    /// Returns the word of an enumeration of the given kind.
    pub fn word(&self, kind: &str) -> Option<&str> {
        match self {
            Self::Enum(of, word) if *of == kind => Some(word),
            _ => None,
        }
    }

    /// Returns the fields of a structure of the given kind.
    pub fn fields(&self, kind: &str) -> Option<&Attributes> {
        match self {
            Self::Struct(of, fields) if *of == kind => Some(fields),
            _ => None,
        }
    }
}

impl Elements {
    /// Returns the number of elements, or `None` if the type is not an array.
    pub fn count(&self) -> Option<usize> {
        self.ty.as_tensor()?.count()
    }

    /// Returns the elements of an array of integers.
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
            // The list is longer than any that the program could have written out.
            if count > 1 << 24 {
                return None;
            }
            all = vec![value; count];
        }
        (all.len() == count).then_some(all)
    }
}

/// Attributes by name, in their original order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attributes(Vec<(Name, Attribute)>);

impl Attributes {
    /// Returns the attribute of a name.
    pub fn get(&self, name: &str) -> Option<&Attribute> {
        self.0.iter().find(|(n, _)| *n == name).map(|(_, value)| value)
    }

    /// Sets an attribute, replacing one of the same name.
    pub fn set(&mut self, name: impl Into<Name>, value: Attribute) {
        let name = name.into();
        match self.0.iter_mut().find(|(n, _)| *n == name) {
            Some(entry) => entry.1 = value,
            None => self.0.push((name, value)),
        }
    }

    /// Removes an attribute and returns it.
    pub fn remove(&mut self, name: &str) -> Option<Attribute> {
        let at = self.0.iter().position(|(n, _)| *n == name)?;
        Some(self.0.remove(at).1)
    }

    /// Returns an iterator over all attributes.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Name, &Attribute)> {
        self.0.iter().map(|(name, value)| (name, value))
    }

    /// Returns the number of attributes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Checks whether there are no attributes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(Name, Attribute)> for Attributes {
    fn from_iter<I: IntoIterator<Item = (Name, Attribute)>>(items: I) -> Self {
        Self(items.into_iter().collect())
    }
}
