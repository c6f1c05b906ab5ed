//! Refinement: a program for arguments of unknown sizes becomes the program for arguments of given shapes.
//!
//! `jax.export` with symbolic shapes and the exporters of PyTorch and TensorFlow write such programs:
//! `func.func @main(%x: tensor<?x4xf32>)`. [`refine`] copies the entry function in program order. When an operation is copied,
//! the types of its operands are known, so that the types of its results follow:
//!
//! - integers that follow from sizes are computed: `stablehlo.get_dimension_size` and arithmetic on it become constants
//!   (`fold`), so that operations whose sizes are operands, such as `stablehlo.dynamic_reshape`, get constants;
//! - types of results follow from those of operands by the rules of HLO: `infer` translates the one operation and takes the
//!   shape of what it becomes;
//! - a function that is called is copied for each list of argument types and known integers (`function`);
//! - `shape_assertion` is checked and removed, and custom calls that stand for operations with sizes as operands become
//!   these operations (`custom_call`).
//!
//! The result is a tree whose sizes are all known or bounded, which [`crate::import`] translates. Dynamic operations remain in
//! it with constants as operands: the translation makes static instructions of them.

mod assertion;
mod control;
mod custom_call;
mod fold;
mod function;
mod infer;
mod refiner;
mod types;

use crate::Tree;
use crate::entry::entry_function;
use crate::import::types::{Quantized, shape_of};
use crate::text::type_text;
use crate::tree::{Attribute, Operation, ValueId};
use hlo_ir::Shape;
use hlo_ir::diag::Diag;
use refiner::Refiner;

/// An argument for which a program is refined.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Argument {
    /// The shape of the argument.
    pub shape: Shape,
    /// The value, of an integer scalar that the program takes sizes or branches from ([`Parameter::is_global_constant`]).
    /// The refined program is right for this value only.
    pub value: Option<i64>,
}

impl From<Shape> for Argument {
    fn from(shape: Shape) -> Self {
        Self { shape, value: None }
    }
}

/// A parameter of a program, as the program declares it.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The shape. A size that is not known is [`hlo_ir::ArrayShape::UNBOUNDED`].
    pub shape: Shape,
    /// Whether all callers of one kind pass the same integer: JAX's `jax.global_constant`, such as the number of the platform.
    /// With a value for it, refinement keeps only the branches for that value.
    pub is_global_constant: bool,
}

/// Returns the parameters of the entry function: `function`, or else `main` or the only function.
///
/// # Errors
/// There is no such function, or HLO does not have the type of an argument.
pub fn parameters(tree: &Tree, function: Option<&str>) -> Result<Vec<Parameter>, Diag> {
    let entry = entry_function(tree, function)?;
    let arguments = entry.body().map_or(&[][..], |block| &block.arguments);
    let parameter = |(number, &argument): (usize, &ValueId)| {
        let shape = shape_of(tree.type_of(argument), Quantized::Stored)
            .map_err(|why| entry.diag(format!("the type of argument {number}: {why}")))?;
        Ok(Parameter { shape, is_global_constant: is_global_constant(entry, number) })
    };
    arguments.iter().enumerate().map(parameter).collect()
}

/// Checks whether an argument of a function has the attribute `jax.global_constant`.
fn is_global_constant(function: &Operation, number: usize) -> bool {
    let attributes = function.attribute("arg_attrs").and_then(Attribute::as_array);
    match attributes.and_then(|list| list.get(number)) {
        Some(Attribute::Dictionary(attributes)) => attributes.get("jax.global_constant").is_some(),
        _ => false,
    }
}

/// Checks whether a program needs refinement: a size in it is neither known nor bounded, or it asserts something of sizes.
pub fn is_needed(tree: &Tree) -> bool {
    tree.module.attribute("jax.uses_shape_polymorphism").and_then(Attribute::as_bool) == Some(true)
        || tree.types().any(types::is_unknown)
}

/// Checks whether a size of an argument of the entry function is neither known nor bounded, so that [`refine`] needs the shapes
/// of the arguments.
///
/// # Errors
/// There is no such function.
pub fn needs_shapes(tree: &Tree, function: Option<&str>) -> Result<bool, Diag> {
    let entry = entry_function(tree, function)?;
    Ok(entry.body().is_some_and(|b| b.arguments.iter().any(|&a| types::is_unknown(tree.type_of(a)))))
}

/// Returns the program for arguments of given shapes, one for each argument of the entry function. It has the functions only
/// that the entry reaches.
///
/// # Errors
/// The first fault: an argument does not fit, an assertion of the program fails, or a size depends on values that are known at
/// run time only.
pub fn refine(tree: &Tree, function: Option<&str>, arguments: &[Argument]) -> Result<Tree, Vec<Diag>> {
    let entry = entry_function(tree, function).map_err(|diag| vec![diag])?;
    Refiner::new(tree).run(entry, arguments)
}

/// Returns the program for arguments of the types that it declares, which must all be known or bounded.
///
/// # Errors
/// As [`refine`]; or the size of an argument is not known.
pub(crate) fn refine_as_declared(tree: &Tree, function: Option<&str>) -> Result<Tree, Vec<Diag>> {
    let one = |diag| vec![diag];
    let entry = entry_function(tree, function).map_err(one)?;
    let arguments = entry.body().map_or(&[][..], |block| &block.arguments);
    if let Some((number, &argument)) =
        arguments.iter().enumerate().find(|&(_, &a)| types::is_unknown(tree.type_of(a)))
    {
        let ty = type_text(tree.type_of(argument));
        let message = format!("the sizes of argument {number}, {ty}, are not known");
        return Err(vec![entry.diag(message).note(HOW_TO_GIVE_SIZES)]);
    }
    let arguments: Vec<Argument> =
        parameters(tree, function).map_err(one)?.into_iter().map(|p| p.shape.into()).collect();
    Refiner::new(tree).run(entry, &arguments)
}

/// The note of errors about programs that need the shapes of their arguments.
pub const HOW_TO_GIVE_SIZES: &str = "the program is for arguments of any sizes: give the shapes of all arguments, such as \
     `hlo-opt --refine='f32[8,4],f32[4]'`, or run it with `hlo-run`, which takes them from the inputs";
