//! What the names of a function are when it is specialised, for editors.

use crate::value::Value;
use hlo_ir::{ArrayShape, Shape, Span};
use std::collections::BTreeMap;
use std::fmt;

/// What a name was where it is defined: a parameter, or what is assigned to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// Where it is defined.
    pub span: Span,
    /// What it was. Of a function that is called several times, in the first call.
    pub value: KnownValue,
}

/// What a name was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KnownValue {
    /// A tensor of that type and shape.
    Tensor(ArrayShape),
    /// A TensorDim, or what is computed of some: its size.
    Dim(i64),
    /// Something else: what a person calls it.
    Other(String),
}

/// ``a tensor `f32[2,3]` ``, in Markdown.
impl fmt::Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            KnownValue::Tensor(shape) => write!(f, "a tensor `{shape}`"),
            KnownValue::Dim(size) => write!(f, "a TensorDim, {size}"),
            KnownValue::Other(what) => f.write_str(what),
        }
    }
}

/// The names that have been defined so far, by where, with their values, of which more may become known later.
#[derive(Debug, Default)]
pub(crate) struct Notes<'b>(BTreeMap<u32, (Span, Value<'b>)>);

impl<'b> Notes<'b> {
    /// Notes what the name that is defined at `span` is, unless that is known from an earlier call.
    pub(crate) fn note(&mut self, span: Span, value: &Value<'b>) {
        self.0.entry(span.start).or_insert_with(|| (span, value.clone()));
    }

    /// What is known of the names by now, in the order of the text.
    pub(crate) fn described(&self) -> Vec<Known> {
        self.0.values().map(|(span, value)| Known { span: *span, value: described(value) }).collect()
    }
}

fn described(value: &Value<'_>) -> KnownValue {
    let tensor = match value {
        Value::Tensor(tensor) => Some(*tensor),
        Value::Output(output) => output.state.borrow().made.as_ref().map(|(tensor, _)| *tensor),
        Value::Dim(dim) => {
            return match dim.size.get() {
                Some((size, _)) => KnownValue::Dim(size),
                None => KnownValue::Other("a TensorDim without a size".into()),
            };
        }
        _ => None,
    };
    match (tensor.map(hlo_builder::Value::shape), value) {
        (Some(Ok(Shape::Array(shape))), _) => {
            KnownValue::Tensor(ArrayShape::new(shape.element_type, shape.dims))
        }
        (None, Value::Output(_)) => KnownValue::Other("a TensorOutput that nothing has used".into()),
        _ => KnownValue::Other(value.describe()),
    }
}

#[cfg(test)]
mod tests {
    use crate::Tile;

    #[test]
    fn names_are_known_by_what_they_become() {
        let text = "\
# tile: I: f32[2,3], s = 2
def f(I, s, half=0.5):
  M, N = TensorDims(2)
  P = TensorDim()
  m, n = TensorIndexes(2)
  I.bind_dims(M, N)
  O = TensorOutput(N * s)
  O[s * n] += I[m, n]
  Q = TensorOutput(N)
  A = O + half
  A = g(A) > 1
  return A

def g(X):
  Y = X * X
  return Y
";
        let tile = Tile::new("known.tile", text).unwrap();
        let arguments = &tile.directive("f").unwrap().arguments;
        let (made, names) = tile.inspect("f", arguments, &[]);
        made.unwrap();
        let all: Vec<_> = names.iter().map(|k| format!("{}: {k}", &text[k.span.range()])).collect();
        let expected = [
            "I: a tensor `f32[2,3]`",
            "s: the number 2",
            "half: the number 0.5",
            "M: a TensorDim, 2",
            "N: a TensorDim, 3",
            "P: a TensorDim without a size",
            "m: an index",
            "n: an index",
            "O: a tensor `f32[6]`",
            "Q: a TensorOutput that nothing has used",
            "A: a tensor `f32[6]`",
            "A: a tensor `pred[6]`",
            "X: a tensor `f32[6]`",
            "Y: a tensor `f32[6]`",
        ];
        assert_eq!(all, expected);
    }
}
