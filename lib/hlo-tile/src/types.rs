//! Element types: their names in Tile, and type promotion.

use hlo_ir::ElementType;

/// The types of Tile in PlaidML's order of promotion. An operation on two types works in the later one.
const ORDER: [ElementType; 13] = [
    ElementType::Pred,
    ElementType::S8,
    ElementType::U8,
    ElementType::S16,
    ElementType::U16,
    ElementType::S32,
    ElementType::U32,
    ElementType::S64,
    ElementType::U64,
    ElementType::Bf16,
    ElementType::F16,
    ElementType::F32,
    ElementType::F64,
];

/// The names of the members of `DType` in PlaidML's Python package.
const NAMES: [(&str, ElementType); 13] = [
    ("BOOLEAN", ElementType::Pred),
    ("INT8", ElementType::S8),
    ("UINT8", ElementType::U8),
    ("INT16", ElementType::S16),
    ("UINT16", ElementType::U16),
    ("INT32", ElementType::S32),
    ("UINT32", ElementType::U32),
    ("INT64", ElementType::S64),
    ("UINT64", ElementType::U64),
    ("BFLOAT16", ElementType::Bf16),
    ("FLOAT16", ElementType::F16),
    ("FLOAT32", ElementType::F32),
    ("FLOAT64", ElementType::F64),
];

/// Returns the type of `DType.name`.
pub(crate) fn of_name(name: &str) -> Option<ElementType> {
    NAMES.iter().find(|(n, _)| *n == name).map(|(_, t)| *t)
}

/// Returns the names of all types.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    NAMES.iter().map(|(n, _)| *n)
}

/// Whether Tile supports the type.
pub(crate) fn is_known(element_type: ElementType) -> bool {
    ORDER.contains(&element_type)
}

/// An operand as far as its type is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A tensor of the given type.
    Tensor(ElementType),
    /// An integer or a dimension. Its type is that of the tensor operand.
    Integer,
    /// A floating-point number. Its type is that of the tensor operand, or `f32` if that contains integers.
    Float,
    /// `True` or `False`.
    Truth,
}

/// Returns the type that an operation on these operands works in.
pub fn promoted(kinds: &[Kind]) -> ElementType {
    let rank = |t: &ElementType| ORDER.iter().position(|o| o == t);
    let tensors = kinds.iter().filter_map(|k| match k {
        Kind::Tensor(t) => Some(*t),
        Kind::Truth => Some(ElementType::Pred),
        Kind::Integer | Kind::Float => None,
    });
    let has = |kind| kinds.contains(&kind);
    match tensors.max_by_key(rank) {
        Some(t) if has(Kind::Float) && !t.is_float() => ElementType::F32,
        // An integer next to booleans stays an integer.
        Some(ElementType::Pred) if has(Kind::Integer) => ElementType::S32,
        Some(t) => t,
        None if has(Kind::Float) => ElementType::F32,
        None => ElementType::S32,
    }
}
