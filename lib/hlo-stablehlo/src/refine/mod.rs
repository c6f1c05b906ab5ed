//! Refinement: specializes a program for arguments of unknown sizes to arguments of given shapes.
//!
//! `jax.export` with symbolic shapes and the exporters of PyTorch and TensorFlow write such programs:
//! `func.func @main(%x: tensor<?x4xf32>)`. [`refine`] copies the entry function in program order. When it
//! copies an operation, it knows the types of the operands, so it can infer the types of the results:
//!
//! - Integers that depend on sizes are computed. `stablehlo.get_dimension_size` and arithmetic on it become
//!   constants (`fold`), so operations with sizes as operands, such as `stablehlo.dynamic_reshape`, get
//!   constants.
//! - Result types follow from operand types by the rules of HLO. `infer` translates the single operation and
//!   uses the shape of the resulting instruction.
//! - A called function is copied for each list of argument types and known integers (`function`).
//! - `shape_assertion` is checked and removed. Custom calls that stand for operations with sizes as operands
//!   become these operations (`custom_call`).
//!
//! All sizes of the resulting tree are known or bounded, and [`crate::import`] can translate it. Dynamic
//! operations remain in it with constant operands. The translation converts them to static instructions.

mod assertion;
mod control;
mod copies;
mod custom_call;
mod failure;
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
    /// The value, for an integer scalar that determines sizes or branches of the program
    /// ([`Parameter::is_global_constant`]). The refined program is correct only for this value.
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
    /// The shape. An unknown size is [`hlo_ir::ArrayShape::UNBOUNDED`].
    pub shape: Shape,
    /// Whether all callers of one kind pass the same integer: JAX's `jax.global_constant`, such as the number
    /// of the platform. If a value is given for it, refinement keeps only the branches for that value.
    pub is_global_constant: bool,
}

/// Returns the parameters of the entry function. Without `function`, it is the only function, or `main` if
/// there are several.
///
/// # Errors
/// There is no such function, or HLO lacks the type of an argument.
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

/// Checks whether a program needs refinement: it contains a size that is neither known nor bounded, or
/// assertions about sizes.
pub fn is_needed(tree: &Tree) -> bool {
    tree.module.attribute("jax.uses_shape_polymorphism").and_then(Attribute::as_bool) == Some(true)
        || tree.types().any(types::is_unknown)
}

/// Checks whether a size of an argument of the entry function is neither known nor bounded. If so, [`refine`]
/// requires the shapes of the arguments.
///
/// # Errors
/// There is no such function.
pub fn needs_shapes(tree: &Tree, function: Option<&str>) -> Result<bool, Diag> {
    let entry = entry_function(tree, function)?;
    Ok(entry.body().is_some_and(|b| b.arguments.iter().any(|&a| types::is_unknown(tree.type_of(a)))))
}

/// Returns the program for arguments of the given shapes, one for each argument of the entry function. The
/// result contains only functions that the entry reaches.
///
/// # Errors
/// The first error: an argument does not match, an assertion of the program fails, or a size depends on
/// values that are known only at run time.
pub fn refine(tree: &Tree, function: Option<&str>, arguments: &[Argument]) -> Result<Tree, Vec<Diag>> {
    let entry = entry_function(tree, function).map_err(|diag| vec![diag])?;
    Refiner::new(tree).run(entry, arguments)
}

/// Refines a program for the declared types of its arguments, whose sizes must all be known or bounded.
///
/// # Errors
/// The errors of [`refine`], and an error if the size of an argument is unknown.
pub(crate) fn refine_as_declared(tree: &Tree, function: Option<&str>) -> Result<Tree, Vec<Diag>> {
    let one = |diag| vec![diag];
    let entry = entry_function(tree, function).map_err(one)?;
    let arguments = entry.body().map_or(&[][..], |block| &block.arguments);
    if let Some((number, &argument)) =
        arguments.iter().enumerate().find(|&(_, &a)| types::is_unknown(tree.type_of(a)))
    {
        let ty = type_text(tree.type_of(argument));
        let message = format!("the sizes of argument {number}, {ty}, are not known");
        return Err(vec![entry.diag(message).note(SHAPES_HINT)]);
    }
    let arguments: Vec<Argument> =
        parameters(tree, function).map_err(one)?.into_iter().map(|p| p.shape.into()).collect();
    Refiner::new(tree).run(entry, &arguments)
}

/// The note on errors about programs that require the shapes of their arguments.
pub const SHAPES_HINT: &str = "the program is for arguments of any sizes: give the shapes of all arguments, such as \
     `hlo-opt --refine='f32[8,4],f32[4]'`, or run it with `hlo-run`, which takes them from the inputs";
