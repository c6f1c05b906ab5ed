//! Types of values.

use super::Attribute;
use hlo_ir::ElementType;
use std::ops::Deref;
use std::sync::Arc;

/// The size of a dimension that is known only at run time (`?`), or an absent bound. The number is MLIR's.
pub const DYNAMIC: i64 = i64::MIN;

/// A type. Cheap to clone.
#[derive(Clone, Debug, PartialEq)]
pub struct Type(Arc<TypeKind>);

/// The kinds of types.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeKind {
    /// `i32`, `ui8`, `si4`: an integer of the given number of bits.
    Integer(u32, Signedness),
    /// `index`.
    Index,
    /// `f32`, `bf16`, `f8E4M3FN`.
    Float(FloatType),
    /// `complex<f32>`.
    Complex(Type),
    /// `!quant.uniform<i8:f32, 0.5:3>`.
    Quantized(Quantization),
    /// `tensor<2x?xf32>`.
    Tensor(TensorType),
    /// `tensor<*xf32>`.
    UnrankedTensor(Type),
    /// `memref<2xf32>`: a buffer of StableHLO.
    MemRef(TensorType),
    /// `tuple<…>`.
    Tuple(Vec<Type>),
    /// `(…) -> …`.
    Function {
        /// The types of the arguments.
        inputs: Vec<Type>,
        /// The types of the results.
        results: Vec<Type>,
    },
    /// `!stablehlo.token`.
    Token,
    /// `!stablehlo.future<…>`: the pending results of an asynchronous operation.
    Future(Vec<Type>),
    /// `none`.
    None,
    /// A type of an unknown dialect, as text after `!`.
    Other(Arc<str>),
}

/// The signedness of an integer type. Signed integers of StableHLO are signless.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Signedness {
    /// `i32`.
    Signless,
    /// `si32`.
    Signed,
    /// `ui32`.
    Unsigned,
}

/// An array's type.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorType {
    /// The sizes. A dynamic size is [`DYNAMIC`].
    pub dims: Vec<i64>,
    /// The element type.
    pub element: Type,
    /// Additional properties, such as bounds (`stablehlo.bounds`).
    pub encoding: Option<Attribute>,
}

/// The representation of numbers as small integers: `(stored - zero point) · scale`.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantization {
    /// The type of the stored integers.
    pub storage: Type,
    /// The type of the expressed numbers.
    pub expressed: Type,
    /// The smallest stored integer.
    pub storage_min: i64,
    /// The largest stored integer.
    pub storage_max: i64,
    /// The dimension along which scales differ, or `None` if there is one scale for all elements.
    pub axis: Option<i32>,
    /// The scales.
    pub scales: Vec<f64>,
    /// The zero points, one for each scale.
    pub zero_points: Vec<i64>,
}

/// Declares the floating-point types: variant, MLIR's name, number of bits.
macro_rules! float_types {
    ($($variant:ident = $text:literal $bits:literal;)*) => {
        /// A floating-point type.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum FloatType {
            $(#[doc = concat!("`", $text, "`.")] $variant,)*
        }

        impl FloatType {
            /// All types.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Returns MLIR's name.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// Returns the number of bits of an element.
            pub fn bits(self) -> u32 {
                match self { $(Self::$variant => $bits,)* }
            }

            /// Returns the HLO type, or `None` if HLO lacks it.
            pub fn element_type(self) -> Option<ElementType> {
                // HLO writes the same names in lower case.
                ElementType::from_name(&self.name().to_ascii_lowercase())
            }
        }
    };
}

float_types! {
    F4E2M1FN = "f4E2M1FN" 4;
    F6E2M3FN = "f6E2M3FN" 6;
    F6E3M2FN = "f6E3M2FN" 6;
    F8E3M4 = "f8E3M4" 8;
    F8E4M3 = "f8E4M3" 8;
    F8E4M3FN = "f8E4M3FN" 8;
    F8E4M3FNUZ = "f8E4M3FNUZ" 8;
    F8E4M3B11FNUZ = "f8E4M3B11FNUZ" 8;
    F8E5M2 = "f8E5M2" 8;
    F8E5M2FNUZ = "f8E5M2FNUZ" 8;
    F8E8M0FNU = "f8E8M0FNU" 8;
    BF16 = "bf16" 16;
    F16 = "f16" 16;
    TF32 = "tf32" 19;
    F32 = "f32" 32;
    F64 = "f64" 64;
    F80 = "f80" 80;
    F128 = "f128" 128;
}

impl FloatType {
    /// Returns the type with the given MLIR name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|t| t.name() == name)
    }
}

impl From<TypeKind> for Type {
    fn from(kind: TypeKind) -> Self {
        Self(Arc::new(kind))
    }
}

impl From<FloatType> for Type {
    fn from(float: FloatType) -> Self {
        TypeKind::Float(float).into()
    }
}

impl Deref for Type {
    type Target = TypeKind;

    fn deref(&self) -> &TypeKind {
        &self.0
    }
}

impl Type {
    /// Returns a signless integer type. `i1` is StableHLO's Boolean type; others are signed.
    pub fn integer(bits: u32) -> Self {
        TypeKind::Integer(bits, Signedness::Signless).into()
    }

    /// Returns an unsigned integer type.
    pub fn unsigned(bits: u32) -> Self {
        TypeKind::Integer(bits, Signedness::Unsigned).into()
    }

    /// Returns an array type.
    pub fn tensor(dims: impl Into<Vec<i64>>, element: Type) -> Self {
        TypeKind::Tensor(TensorType { dims: dims.into(), element, encoding: None }).into()
    }

    /// Returns MLIR's type of elements, or `None` if MLIR lacks it.
    pub fn of_element(ty: ElementType) -> Option<Self> {
        use ElementType as E;
        Some(match ty {
            E::Pred => Self::integer(1),
            _ if ty.is_complex() => TypeKind::Complex(Self::of_element(ty.real_type())?).into(),
            _ if ty.is_float() => {
                FloatType::ALL.iter().copied().find(|t| t.element_type() == Some(ty))?.into()
            }
            _ if ty.is_signed_integer() => Self::integer(ty.name().strip_prefix('s')?.parse().ok()?),
            _ if ty.is_unsigned_integer() => Self::unsigned(ty.name().strip_prefix('u')?.parse().ok()?),
            _ => return None,
        })
    }

    /// Returns the HLO element type of a number type, or `None` if there is none.
    pub fn element_type(&self) -> Option<ElementType> {
        match &**self {
            TypeKind::Integer(1, Signedness::Signless) => Some(ElementType::Pred),
            TypeKind::Integer(bits, Signedness::Unsigned) => ElementType::from_name(&format!("u{bits}")),
            TypeKind::Integer(bits, _) => ElementType::from_name(&format!("s{bits}")),
            TypeKind::Float(float) => float.element_type(),
            TypeKind::Complex(part) => part.element_type()?.complex_type(),
            _ => None,
        }
    }

    /// Returns the array type, if this is a ranked tensor.
    pub fn as_tensor(&self) -> Option<&TensorType> {
        match &**self {
            TypeKind::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }
}

impl TensorType {
    /// Returns the number of elements, or `None` if a size is dynamic or the number overflows.
    pub fn count(&self) -> Option<usize> {
        self.dims.iter().try_fold(1usize, |n, &d| n.checked_mul(usize::try_from(d).ok()?))
    }
}
