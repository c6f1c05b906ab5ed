//! Requirements of opcodes on the computations that they call.

use super::context::{Callee, Context, one_or_tuple};
use super::dim::dims;
use super::violation::{Place, Violation};
use crate::diag::Code;
use crate::{ArrayShape, ComputationId, ElementType, InstrId, Shape};

/// The rules for one attribute that names a computation.
#[derive(Clone, Copy)]
pub(super) struct Contract {
    /// The name of the attribute.
    pub(super) attribute: &'static str,
    /// The code of the rule for the parameters of the computation.
    pub(super) parameters: Code,
    /// The code of the rule for the root of the computation.
    pub(super) result: Code,
}

/// Maximum number of mismatched parameters that a report shows.
const MAX_LABELS: usize = 4;

/// Returns whether a value of shape `a` can be passed where `b` is expected. The two may differ in which
/// dimensions are dynamic, unlike an inferred and a declared shape, because memory is allocated for the
/// bound.
pub(super) fn fits(a: &Shape, b: &Shape) -> bool {
    match (a, b) {
        (Shape::Array(a), Shape::Array(b)) => a.element_type == b.element_type && sizes_fit(a, b),
        (Shape::Tuple(a), Shape::Tuple(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| fits(a, b)),
        (Shape::Token, Shape::Token) | (Shape::Opaque, Shape::Opaque) => true,
        (Shape::Buffer(a), Shape::Buffer(b)) => fits(a, b),
        (Shape::Array(_) | Shape::Tuple(_) | Shape::Token | Shape::Opaque | Shape::Buffer(_), _) => false,
    }
}

fn sizes_fit(a: &ArrayShape, b: &ArrayShape) -> bool {
    a.rank() == b.rank() && dims(a).zip(dims(b)).all(|(a, b)| a.agrees(b))
}

/// Formats a count with its noun: `1 parameter`, `2 parameters`.
pub(crate) fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// A called computation whose parameters have been checked.
#[derive(Clone, Copy)]
pub(super) struct Called {
    /// The root.
    pub(super) root: InstrId,
    /// Whether the parameters match the arguments. If not, the shape of the root may be meaningless.
    pub(super) parameters_fit: bool,
}

impl Context<'_> {
    /// Checks that the parameters of a called computation match `arguments`. All mismatches are reported as
    /// one violation.
    ///
    /// # Errors
    /// If the computation does not exist or has no root.
    pub(super) fn check_parameters(
        &self,
        contract: Contract,
        c: ComputationId,
        arguments: &[&Shape],
    ) -> Result<Called, Violation> {
        let Contract { attribute, parameters: code, .. } = contract;
        let callee = self.callee(attribute, c)?;
        if callee.parameters.len() != arguments.len() {
            self.report(self.parameter_count(code, attribute, c, &callee, arguments.len()));
            return Ok(Called { root: callee.root, parameters_fit: false });
        }
        self.check_first_parameters(contract, c, arguments)
    }

    /// Checks that the first parameters of a called computation match `arguments`, like
    /// [`Context::check_parameters`].
    ///
    /// # Errors
    /// If the computation does not exist or has no root.
    pub(super) fn check_first_parameters(
        &self,
        contract: Contract,
        c: ComputationId,
        arguments: &[&Shape],
    ) -> Result<Called, Violation> {
        let Contract { attribute, parameters: code, .. } = contract;
        let callee = self.callee(attribute, c)?;
        let root = callee.root;
        let computation = &self.module[c].name;
        if callee.parameters.len() < arguments.len() {
            self.report(self.parameter_count(code, attribute, c, &callee, arguments.len()));
            return Ok(Called { root, parameters_fit: false });
        }
        let mut mismatches = callee
            .parameters
            .iter()
            .zip(arguments)
            .enumerate()
            .map(|(i, (&p, &a))| (i, p, &self.module[p].shape, a))
            .filter(|(_, _, found, a)| !fits(found, a));
        let Some((i, p, found, a)) = mismatches.next() else {
            return Ok(Called { root, parameters_fit: true });
        };
        let rest: Vec<_> = mismatches.collect();
        let others = match rest.len() {
            0 => String::new(),
            n => format!("; {n} more {}", if n == 1 { "does not fit" } else { "don't fit" }),
        };
        let message = format!(
            "passes {a} as argument {i} to `{computation}` in `{attribute}`, whose parameter {i} is {found}{others}"
        );
        let mut violation = self.error(code, message).of(attribute);
        for (i, p, found, a) in std::iter::once((i, p, found, a)).chain(rest).take(MAX_LABELS) {
            let here = format!("parameter {i} is {found}, argument {i} is {a}");
            violation = violation.with(Place::Instruction(p), here);
        }
        self.report(violation);
        Ok(Called { root, parameters_fit: false })
    }

    /// Creates the violation for a called computation that does not have `expected` parameters. Its
    /// parameters are shown.
    pub(super) fn parameter_count(
        &self,
        code: Code,
        attribute: &'static str,
        c: ComputationId,
        callee: &Callee,
        expected: usize,
    ) -> Violation {
        let computation = &self.module[c].name;
        let message = format!(
            "needs a computation of {} in `{attribute}`, but `{computation}` has {}",
            counted(expected, "parameter"),
            callee.parameters.len()
        );
        let mut violation = self.error(code, message).of(attribute);
        for (i, &p) in callee.parameters.iter().enumerate().take(MAX_LABELS) {
            violation = violation.with(Place::Instruction(p), format!("parameter {i} of `{computation}`"));
        }
        if callee.parameters.is_empty() {
            let here = format!("the root of `{computation}`");
            violation = violation.with(Place::Instruction(callee.root), here);
        }
        violation
    }

    /// Checks that the root of a called computation has the shape `expected`.
    pub(super) fn check_result(&self, contract: Contract, called: Called, expected: &Shape) {
        let found = &self.module[called.root].shape;
        if !called.parameters_fit || fits(found, expected) {
            return;
        }
        let Contract { attribute, result: code, .. } = contract;
        let computation = &self.module[self.module[called.root].parent].name;
        let message = format!(
            "needs a computation that gives {expected} in `{attribute}`, but `{computation}` gives {found}"
        );
        let here = format!("this root is {found}");
        self.report(self.error(code, message).of(attribute).with(Place::Instruction(called.root), here));
    }

    /// Checks that the root of a called computation contains one scalar of each type: a tuple, or a plain
    /// scalar if there is one type.
    pub(super) fn check_scalar_results(&self, contract: Contract, called: Called, types: &[ElementType]) {
        let scalars = types.iter().copied().map(Shape::scalar).collect();
        let tuple = self.module[called.root].shape.is_tuple();
        self.check_result(
            contract,
            called,
            &if tuple { Shape::tuple(scalars) } else { one_or_tuple(scalars) },
        );
    }

    /// Checks a called computation whose parameters are scalars of the types `parameters`.
    ///
    /// # Errors
    /// If the computation does not exist or has no root.
    pub(super) fn check_scalars(
        &self,
        contract: Contract,
        c: ComputationId,
        parameters: impl IntoIterator<Item = ElementType>,
    ) -> Result<Called, Violation> {
        let arguments: Vec<Shape> = parameters.into_iter().map(Shape::scalar).collect();
        let arguments: Vec<&Shape> = arguments.iter().collect();
        self.check_parameters(contract, c, &arguments)
    }

    /// Creates a violation of the rule `code` by operand `i`, with that operand as the other side.
    pub(super) fn operand_error(&self, code: Code, i: usize, message: impl std::fmt::Display) -> Violation {
        let violation = self.error(code, message);
        match self.operands.get(i) {
            Some(shape) => violation.with(Place::Operand(i), format!("this is {shape}")),
            None => violation,
        }
    }
}
