//! The types of random values, and their text.

use crate::Numbers;
use hlo_ir::ElementType;
use std::fmt::Write;

/// The type of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// An array.
    Array(Array),
    /// A tuple.
    Tuple(Vec<Type>),
    /// A token.
    Token,
    /// A value that only custom calls can use.
    Opaque,
}

/// An array type.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// The type of the elements.
    pub element: ElementType,
    /// The sizes: bounds for dynamic dimensions, [`Array::UNBOUNDED`] if there is no bound.
    pub dims: Vec<i64>,
    /// Whether each dimension is dynamic. Empty if none is.
    pub dynamic: Vec<bool>,
}

impl Array {
    /// The size of a dynamic dimension without a bound.
    pub const UNBOUNDED: i64 = -1;

    /// Returns a static array type.
    pub fn new(element: ElementType, dims: &[i64]) -> Self {
        Self { element, dims: dims.to_vec(), dynamic: Vec::new() }
    }

    /// Returns the number of dimensions.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// Returns the number of elements.
    pub fn elements(&self) -> i64 {
        self.dims.iter().product()
    }

    /// Whether no dimension is dynamic.
    pub fn is_static(&self) -> bool {
        !self.dynamic.contains(&true)
    }

    /// Returns the array type with the same sizes and another element type.
    pub fn of(&self, element: ElementType) -> Array {
        Array { element, ..self.clone() }
    }
}

impl From<Array> for Type {
    fn from(a: Array) -> Self {
        Type::Array(a)
    }
}

impl Type {
    /// Returns a static array type.
    pub fn array(element: ElementType, dims: &[i64]) -> Self {
        Array::new(element, dims).into()
    }

    /// Returns a scalar type.
    pub fn scalar(element: ElementType) -> Self {
        Self::array(element, &[])
    }

    /// Returns the array type if this is one.
    pub fn as_array(&self) -> Option<&Array> {
        match self {
            Type::Array(a) => Some(a),
            Type::Tuple(_) | Type::Token | Type::Opaque => None,
        }
    }

    /// Replaces each array type with the result of `part` for its element type.
    pub fn map(&self, part: impl Fn(ElementType) -> Type + Copy) -> Type {
        match self {
            Type::Array(a) => part(a.element),
            Type::Tuple(t) => Type::Tuple(t.iter().map(|t| t.map(part)).collect()),
            Type::Token | Type::Opaque => self.clone(),
        }
    }

    /// Returns the types of the leaves of a tuple, or the type itself if it is not a tuple.
    pub fn leaves(&self) -> Vec<&Type> {
        match self {
            Type::Tuple(parts) => parts.iter().flat_map(Type::leaves).collect(),
            Type::Array(_) | Type::Token | Type::Opaque => vec![self],
        }
    }

    /// Returns the text of the type. With `layouts`, arrays get random layouts, some with all layout
    /// properties.
    pub fn write(&self, layouts: Option<&mut Numbers>) -> String {
        let mut out = String::new();
        write_type(self, &mut out, &mut layouts.map(|numbers| (numbers, layout as Layout)));
        out
    }

    /// Returns the text of the type with random orders of dimensions.
    pub fn write_orders(&self, numbers: &mut Numbers) -> String {
        let mut out = String::new();
        write_type(self, &mut out, &mut Some((numbers, order)));
        out
    }
}

/// A function that returns the text of a random layout of an array.
type Layout = fn(&Array, &mut Numbers) -> String;

fn write_type(ty: &Type, out: &mut String, layouts: &mut Option<(&mut Numbers, Layout)>) {
    match ty {
        Type::Token => out.push_str("token[]"),
        Type::Opaque => out.push_str("opaque[]"),
        Type::Tuple(parts) => {
            out.push('(');
            for (i, part) in parts.iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                write_type(part, out, layouts);
            }
            out.push(')');
        }
        Type::Array(a) => {
            let size = |i: usize| match a.dynamic.get(i) {
                Some(true) if a.dims[i] == Array::UNBOUNDED => "?".into(),
                Some(true) => format!("<={}", a.dims[i]),
                _ => a.dims[i].to_string(),
            };
            let sizes: Vec<String> = (0..a.rank()).map(size).collect();
            let _ = write!(out, "{}[{}]", a.element.name(), sizes.join(","));
            if let Some((numbers, layout)) = layouts
                && numbers.one_in(2)
            {
                out.push_str(&layout(a, numbers));
            }
        }
    }
}

/// Returns a random order of dimensions.
fn order(a: &Array, numbers: &mut Numbers) -> String {
    if a.rank() > 0 { braced(&numbers.permutation(a.rank())) } else { String::new() }
}

/// Returns a random layout of an array, with the items in XLA's order.
fn layout(a: &Array, numbers: &mut Numbers) -> String {
    let order = list(&numbers.permutation(a.rank()));
    let mut items = String::new();
    if numbers.one_in(4) && a.rank() > 0 {
        let tile: Vec<String> =
            (0..a.rank().min(2)).map(|_| numbers.pick(&["1", "2", "8", "128"]).into()).collect();
        let _ = write!(items, "T({})", tile.join(","));
        if numbers.one_in(3) {
            items.push_str("(2,1)");
        }
    }
    if numbers.one_in(12) {
        let _ = write!(items, "L({})", 1 + numbers.below(8));
    }
    let narrow = a.element.bit_width() < 8 && !a.element.is_pred();
    if narrow && numbers.one_in(2) {
        let _ = write!(items, "E({})", a.element.bit_width());
    }
    if numbers.one_in(8) {
        let _ = write!(items, "S({})", 1 + numbers.below(5));
    }
    match (items.is_empty(), a.rank()) {
        (true, 0) => String::new(),
        (true, _) => format!("{{{order}}}"),
        (false, _) => format!("{{{order}:{items}}}"),
    }
}

/// Returns a single type unchanged, and several types as a tuple.
pub(super) fn one_or_tuple(mut types: Vec<Type>) -> Type {
    if types.len() == 1 { types.remove(0) } else { Type::Tuple(types) }
}

/// Formats numbers as a comma-separated list.
pub fn list(numbers: &[i64]) -> String {
    numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(",")
}

/// Formats numbers as an attribute's value: `{0,1}`.
pub fn braced(numbers: &[i64]) -> String {
    format!("{{{}}}", list(numbers))
}
