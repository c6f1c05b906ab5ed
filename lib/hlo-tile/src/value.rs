//! What expressions of Tile are while a function is specialised.

use crate::contraction::Access;
use crate::evaluate::Lens;
use crate::poly::{IndexId, IndexNames, Poly};
use hlo_builder::Value as Hlo;
use hlo_ir::attr::OpMetadata;
use hlo_ir::contraction::{Aggregation, Combination};
use hlo_ir::{ElementType, Span};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// What an expression is.
#[derive(Clone, Debug)]
pub(crate) enum Value<'b> {
    /// `None`.
    Nothing,
    /// A whole number.
    Integer(i64),
    /// A number with a point.
    Float(f64),
    /// `True` or `False`.
    Truth(bool),
    /// A string.
    Text(String),
    /// `DType.FLOAT32`.
    ElementType(ElementType),
    /// A `TensorDim`, or what is computed of some.
    Dim(Rc<Dim>),
    /// A `TensorIndex`, or an affine expression of some.
    Index(Poly),
    /// `index < bound`.
    Constraint(Poly, i64),
    /// A tensor that there is.
    Tensor(Hlo<'b>),
    /// A `TensorOutput`.
    Output(Rc<Output<'b>>),
    /// Elements of tensors, combined: what a contraction aggregates.
    Elements(Combination, Vec<Access<'b>>),
    /// A tuple or list.
    Sequence(Vec<Value<'b>>),
    /// `Contraction()` and what was said of it.
    Contraction(Rc<Output<'b>>),
    /// `TensorLens(source, target)`.
    Lens(Lens),
    /// `X.shape`, whose `ndims` and `dims` may be asked.
    ShapeOf(Vec<i64>),
}

/// A `TensorDim`.
#[derive(Debug, Default)]
pub(crate) struct Dim {
    /// The name that it was first given.
    pub(crate) name: RefCell<Option<String>>,
    /// Its size, when `bind_dims` has said it, and where that was.
    pub(crate) size: Cell<Option<(i64, Span)>>,
}

impl Dim {
    /// A size that was computed.
    pub(crate) fn known(size: i64, span: Span) -> Rc<Self> {
        Rc::new(Self { name: RefCell::default(), size: Cell::new(Some((size, span))) })
    }
}

/// The tensor that a contraction makes.
#[derive(Debug)]
pub(crate) struct Output<'b> {
    /// The name that it was first given.
    pub(crate) name: RefCell<Option<String>>,
    /// Where it was made.
    pub(crate) span: Span,
    /// It is a `TensorOutput(…)`, not a `Contraction()`.
    pub(crate) is_call: bool,
    /// What has been said of it.
    pub(crate) state: RefCell<State<'b>>,
}

/// What has been said of a [`Output`].
#[derive(Clone, Debug, Default)]
pub(crate) struct State<'b> {
    /// Its sizes, if they have been said: a `TensorOutput` has them from the beginning.
    pub(crate) sizes: Option<Vec<(Value<'b>, Span)>>,
    /// The indices of the element that is written, if they have been said, and where that was.
    pub(crate) written: Option<(Vec<(Poly, Span)>, Span)>,
    /// What is aggregated, if that has been said.
    pub(crate) contraction: Option<Rc<Written<'b>>>,
    /// The constraints: `0 <= index < bound`.
    pub(crate) constraints: Vec<(Poly, i64, Span)>,
    /// What elements have that are not written.
    pub(crate) default: Option<(Value<'b>, Span)>,
    /// What every element is aggregated with (`init`).
    pub(crate) init: Option<(Value<'b>, Span)>,
    /// The order of the dimensions that the tensor gets, where it is another one than the contraction's.
    pub(crate) lens: Option<(Lens, Span)>,
    /// What it is, once it has been used.
    pub(crate) made: Option<(Hlo<'b>, Span)>,
}

/// `aggregation` of what elements of tensors are combined to.
#[derive(Clone, Debug)]
pub(crate) struct Written<'b> {
    /// How values for one element become one.
    pub(crate) aggregation: Aggregation,
    /// How elements of the tensors become one value.
    pub(crate) combination: Combination,
    /// The elements.
    pub(crate) operands: Vec<Access<'b>>,
    /// The statement.
    pub(crate) span: Span,
    /// The metadata of what it makes.
    pub(crate) metadata: OpMetadata,
}

impl<'b> Output<'b> {
    /// An output of these sizes, or of sizes that will be said.
    pub(crate) fn new(sizes: Option<Vec<(Value<'b>, Span)>>, span: Span) -> Rc<Self> {
        let is_call = sizes.is_some();
        let state = RefCell::new(State { sizes, ..State::default() });
        Rc::new(Self { name: RefCell::default(), span, is_call, state })
    }
}

impl Value<'_> {
    /// What a person calls such a thing.
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

/// Hands out index variables, and knows their names.
#[derive(Debug, Default)]
pub(crate) struct Indices {
    names: RefCell<Vec<Option<String>>>,
}

impl Indices {
    /// A new variable.
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
