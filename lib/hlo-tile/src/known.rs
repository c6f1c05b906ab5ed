//! The values of the names in a specialized function, for editors.

use crate::value::Value;
use hlo_ir::{ArrayShape, Shape, Span};
use std::collections::BTreeMap;
use std::fmt;

/// The value of a name at its definition: a parameter or an assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// The span of the definition.
    pub span: Span,
    /// The value. If a function is called several times, the value in the first call.
    pub value: KnownValue,
}

/// The value of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KnownValue {
    /// A tensor of the given type and shape.
    Tensor(ArrayShape),
    /// The size of a TensorDim or of an expression of TensorDims.
    Dim(i64),
    /// A description of any other value.
    Other(String),
}

/// Prints a description in Markdown, such as ``a tensor `f32[2,3]` ``.
impl fmt::Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            KnownValue::Tensor(shape) => write!(f, "a tensor `{shape}`"),
            KnownValue::Dim(size) => write!(f, "a TensorDim, {size}"),
            KnownValue::Other(what) => f.write_str(what),
        }
    }
}

/// The names defined so far, by the start of their spans, with their values. A value may become known in more
/// detail later.
#[derive(Debug, Default)]
pub(crate) struct KnownValues<'b>(BTreeMap<u32, (Span, Value<'b>)>);

impl<'b> KnownValues<'b> {
    /// Records the value of the name defined at `span`, unless an earlier call recorded it.
    pub(crate) fn note(&mut self, span: Span, value: &Value<'b>) {
        self.0.entry(span.start).or_insert_with(|| (span, value.clone()));
    }

    /// Returns the descriptions of the names, in the order of the text.
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
