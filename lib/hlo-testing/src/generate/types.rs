//! The types of random values, and how they are written.

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
    /// A value that only custom calls know.
    Opaque,
}

/// An array type.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// The type of the elements.
    pub element: ElementType,
    /// The sizes; bounds where dynamic, [`Array::UNBOUNDED`] where there is none.
    pub dims: Vec<i64>,
    /// Which dimensions are dynamic: one entry a dimension, or none.
    pub dynamic: Vec<bool>,
}

impl Array {
    /// The size of a dynamic dimension without a bound.
    pub const UNBOUNDED: i64 = -1;

    /// A static array.
    pub fn new(element: ElementType, dims: &[i64]) -> Self {
        Self { element, dims: dims.to_vec(), dynamic: Vec::new() }
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// The number of elements.
    pub fn elements(&self) -> i64 {
        self.dims.iter().product()
    }

    /// True if no dimension is dynamic.
    pub fn is_static(&self) -> bool {
        !self.dynamic.contains(&true)
    }

    /// The same sizes with other elements.
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
    /// A static array type.
    pub fn array(element: ElementType, dims: &[i64]) -> Self {
        Array::new(element, dims).into()
    }

    /// A scalar type.
    pub fn scalar(element: ElementType) -> Self {
        Self::array(element, &[])
    }

    /// The array type that it is, if it is one.
    pub fn as_array(&self) -> Option<&Array> {
        match self {
            Type::Array(a) => Some(a),
            Type::Tuple(_) | Type::Token | Type::Opaque => None,
        }
    }

    /// The tuple, or the one type, of what `part` gives for the element type of each array in it.
    pub fn map(&self, part: impl Fn(ElementType) -> Type + Copy) -> Type {
        match self {
            Type::Array(a) => part(a.element),
            Type::Tuple(t) => Type::Tuple(t.iter().map(|t| t.map(part)).collect()),
            Type::Token | Type::Opaque => self.clone(),
        }
    }

    /// The types in the leaves of a tuple; itself if it is none.
    pub fn leaves(&self) -> Vec<&Type> {
        match self {
            Type::Tuple(parts) => parts.iter().flat_map(Type::leaves).collect(),
            Type::Array(_) | Type::Token | Type::Opaque => vec![self],
        }
    }

    /// The type as it is written. With `layouts`, arrays get random ones, some with all that layouts may have.
    pub fn write(&self, layouts: Option<&mut Numbers>) -> String {
        let mut out = String::new();
        write_type(self, &mut out, &mut layouts.map(|numbers| (numbers, layout as Layout)));
        out
    }

    /// The type with random orders of dimensions.
    pub fn write_orders(&self, numbers: &mut Numbers) -> String {
        let mut out = String::new();
        write_type(self, &mut out, &mut Some((numbers, order)));
        out
    }
}

/// The text of a random layout of an array.
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

/// A random order of dimensions.
fn order(a: &Array, numbers: &mut Numbers) -> String {
    if a.rank() > 0 { braced(&numbers.permutation(a.rank())) } else { String::new() }
}

/// A random layout of an array, in XLA's order of items.
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

/// Numbers with commas between them.
pub fn list(numbers: &[i64]) -> String {
    numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(",")
}

/// `{0,1}`: numbers as an attribute's value.
pub fn braced(numbers: &[i64]) -> String {
    format!("{{{}}}", list(numbers))
}
