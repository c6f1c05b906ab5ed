//! The values of Tile expressions while a function is specialized.

use crate::contraction::Access;
use crate::lens::Lens;
use crate::poly::{IndexId, IndexNames, Poly};
use hlo_builder::Value as Hlo;
use hlo_ir::attr::OpMetadata;
use hlo_ir::contraction::{Aggregation, Combination};
use hlo_ir::{ElementType, Span};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// The value of an expression.
#[derive(Clone, Debug)]
pub(crate) enum Value<'b> {
    /// `None`.
    Nothing,
    /// An integer.
    Integer(i64),
    /// A floating-point number.
    Float(f64),
    /// `True` or `False`.
    Truth(bool),
    /// A string.
    Text(String),
    /// An element type, such as `DType.FLOAT32`.
    ElementType(ElementType),
    /// A `TensorDim`, or an expression of TensorDims.
    Dim(Rc<Dim>),
    /// A `TensorIndex`, or an affine expression of indices.
    Index(Poly),
    /// A constraint `index < bound`.
    Constraint(Poly, i64),
    /// A computed tensor.
    Tensor(Hlo<'b>),
    /// A `TensorOutput`.
    Output(Rc<Output<'b>>),
    /// Elements of tensors and their combination, which a contraction aggregates.
    Elements(Combination, Vec<Access<'b>>),
    /// A tuple or list.
    Sequence(Vec<Value<'b>>),
    /// A `Contraction()` with the properties set so far.
    Contraction(Rc<Output<'b>>),
    /// A lens `TensorLens(source, target)`.
    Lens(Lens),
    /// The value of `X.shape`, which has the attributes `ndims` and `dims`.
    ShapeOf(Vec<i64>),
}

/// A `TensorDim`.
#[derive(Debug, Default)]
pub(crate) struct Dim {
    /// The first name it was given.
    pub(crate) name: RefCell<Option<String>>,
    /// Its size after `bind_dims`, and the span of that call.
    pub(crate) size: Cell<Option<(i64, Span)>>,
}

impl Dim {
    /// Returns a dimension with a known size.
    pub(crate) fn known(size: i64, span: Span) -> Rc<Self> {
        Rc::new(Self { name: RefCell::default(), size: Cell::new(Some((size, span))) })
    }
}

/// The output of a contraction.
#[derive(Debug)]
pub(crate) struct Output<'b> {
    /// The first name it was given.
    pub(crate) name: RefCell<Option<String>>,
    /// The span of its creation.
    pub(crate) span: Span,
    /// Whether it is a `TensorOutput(…)`, not a `Contraction()`.
    pub(crate) is_call: bool,
    /// The properties set so far.
    pub(crate) state: RefCell<State<'b>>,
}

/// The properties of an [`Output`].
#[derive(Clone, Debug, Default)]
pub(crate) struct State<'b> {
    /// The sizes, if set. A `TensorOutput` has them from the beginning.
    pub(crate) sizes: Option<Vec<(Value<'b>, Span)>>,
    /// The indices of the written element, if set, and the span of the access.
    pub(crate) written: Option<(Vec<(Poly, Span)>, Span)>,
    /// The aggregated value, if set.
    pub(crate) contraction: Option<Rc<ElementwiseAggregation<'b>>>,
    /// The constraints `0 <= index < bound`.
    pub(crate) constraints: Vec<(Poly, i64, Span)>,
    /// The value of elements that are not written.
    pub(crate) default: Option<(Value<'b>, Span)>,
    /// The value that every element is also aggregated with (`init`).
    pub(crate) init: Option<(Value<'b>, Span)>,
    /// The lens of the output, if the order of the tensor's dimensions differs from that of the contraction.
    pub(crate) lens: Option<(Lens, Span)>,
    /// The tensor, once the output has been used, and the span of that use.
    pub(crate) made: Option<(Hlo<'b>, Span)>,
}

/// A combination of elements of tensors, and how a contraction aggregates it.
#[derive(Clone, Debug)]
pub(crate) struct ElementwiseAggregation<'b> {
    /// How several values for one element are aggregated.
    pub(crate) aggregation: Aggregation,
    /// How the operands are combined to one value.
    pub(crate) combination: Combination,
    /// The accesses to the operands.
    pub(crate) operands: Vec<Access<'b>>,
    /// The span of the statement.
    pub(crate) span: Span,
    /// The metadata of the resulting instruction.
    pub(crate) metadata: OpMetadata,
}

impl<'b> Output<'b> {
    /// Creates an output of the given sizes, or without sizes, which must be set later.
    pub(crate) fn new(sizes: Option<Vec<(Value<'b>, Span)>>, span: Span) -> Rc<Self> {
        let is_call = sizes.is_some();
        let state = RefCell::new(State { sizes, ..State::default() });
        Rc::new(Self { name: RefCell::default(), span, is_call, state })
    }
}

impl Value<'_> {
    /// Returns a description of the value for messages.
    pub(crate) fn describe(&self) -> String {
        match self {
            Value::Nothing => "nothing".into(),
            Value::Integer(n) => format!("the number {n}"),
            Value::Float(x) => format!("the number {x:?}"),
            Value::Truth(_) => "a truth value".into(),
            Value::Text(_) => "a text".into(),
            Value::ElementType(_) => "an element type".into(),
            Value::Dim(_) => "a TensorDim".into(),
            Value::Index(p) if p.indices().next().is_none() => "a number".into(),
            Value::Index(_) => "an index".into(),
            Value::Constraint(..) => "a constraint".into(),
            Value::Tensor(_) | Value::Output(_) => "a tensor".into(),
            Value::Elements(..) => "an element of a tensor".into(),
            Value::Sequence(all) => format!("a list of {}", all.len()),
            Value::Contraction(_) => "a Contraction that is not built".into(),
            Value::Lens(_) => "a TensorLens".into(),
            Value::ShapeOf(_) => "a shape".into(),
        }
    }
}

/// Creates index variables and stores their names.
#[derive(Debug, Default)]
pub(crate) struct Indices {
    names: RefCell<Vec<Option<String>>>,
}

impl Indices {
    /// Creates a variable.
    pub(crate) fn fresh(&self) -> IndexId {
        let names = &mut *self.names.borrow_mut();
        names.push(None);
        names.len() as IndexId - 1
    }

    /// Names a variable, unless it has a name.
    pub(crate) fn name(&self, id: IndexId, name: &str) {
        if let Some(slot @ None) = self.names.borrow_mut().get_mut(id as usize) {
            *slot = Some(name.to_owned());
        }
    }
}

impl IndexNames for Indices {
    fn name_of(&self, id: IndexId) -> String {
        let names = self.names.borrow();
        names.get(id as usize).cloned().flatten().unwrap_or_else(|| format!("index {id}"))
    }
}
