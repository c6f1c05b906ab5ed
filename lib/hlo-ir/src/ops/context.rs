//! The context of a rule: the operands' shapes, the declared shape, and the checks that many rules share.

use super::dim::{Dim, array_error, dim, dims_agree, shapes_agree};
use super::violation::{Place, Violation};
use crate::diag::Code;
use crate::opcode::Types;
use crate::rules::code;
use crate::types::precision::wider;
use crate::{
    Arity, ArrayShape, ComputationId, ElementType, FloatFormat, InstrId, Module, Opcode, Shape, Special,
};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Returns the largest exponent and the number of mantissa bits of a floating-point type. Types are ordered
/// by this pair.
pub(crate) fn float_width(t: ElementType) -> Option<(i32, u32)> {
    let f = FloatFormat::of(t)?;
    // IEEE formats reserve the largest exponent for infinities and NaN. Power-of-two formats reserve it for
    // NaN.
    let special = matches!(f.special, Special::Ieee | Special::PowerOfTwo);
    let largest = (1 << f.exponent_bits) - if special { 2 } else { 1 };
    Some((largest - f.bias, f.mantissa_bits))
}

/// The parameters of called computations. Each list is computed once, because a large computation may have
/// many callers.
#[derive(Default)]
pub(crate) struct Signatures(RefCell<HashMap<ComputationId, Rc<[InstrId]>>>);

impl Signatures {
    fn parameters(&self, module: &Module, c: ComputationId) -> Rc<[InstrId]> {
        self.0.borrow_mut().entry(c).or_insert_with(|| module.parameters(c).into()).clone()
    }
}

/// An instruction with everything that its rule needs.
pub(crate) struct Context<'a> {
    /// The module, which contains the called computations.
    pub(crate) module: &'a Module,
    /// The parameters of called computations.
    pub(crate) signatures: &'a Signatures,
    /// The opcode.
    pub(crate) opcode: Opcode,
    /// The operands' shapes.
    pub(crate) operands: &'a [&'a Shape],
    /// The declared shape if the instruction is being checked, or `None` if its shape is being inferred.
    pub(crate) written: Option<&'a Shape>,
    /// The violations found so far, without the one that ends the rule.
    found: RefCell<Vec<Violation>>,
}

/// A dimension of an operand.
#[derive(Clone, Copy)]
pub(crate) struct OperandDim<'a> {
    /// The number of the operand.
    pub(crate) operand: usize,
    pub(crate) array: &'a ArrayShape,
    pub(crate) dim: i64,
}

/// A called computation.
pub(crate) struct Callee {
    /// Its parameters, by number.
    pub(crate) parameters: Rc<[InstrId]>,
    /// Its root.
    pub(crate) root: InstrId,
}

/// Reporting. A rule ends with `?` at a violation that later checks depend on. Independent checks use
/// [`Context::record_violation`], so that all violations of an instruction are reported.
impl<'a> Context<'a> {
    /// Creates the context of an instruction with this `opcode`.
    pub(crate) fn new(
        module: &'a Module,
        signatures: &'a Signatures,
        opcode: Opcode,
        operands: &'a [&'a Shape],
        written: Option<&'a Shape>,
    ) -> Self {
        Self { module, signatures, opcode, operands, written, found: RefCell::default() }
    }

    /// Records the violation, if any, and returns the value; `None` if there was a violation.
    pub(crate) fn record_violation<T>(&self, result: Result<T, Violation>) -> Option<T> {
        result.map_err(|v| self.report(v)).ok()
    }

    /// Records a violation.
    pub(crate) fn report(&self, violation: Violation) {
        self.found.borrow_mut().push(violation);
    }

    /// Records all `violations` and ends the rule if there are any.
    pub(crate) fn all_of(&self, mut violations: Vec<Violation>) -> Result<(), Violation> {
        let last = violations.pop();
        self.found.borrow_mut().extend(violations);
        last.map_or(Ok(()), Err)
    }

    /// Returns whether a violation was recorded. Errors found later may be consequences of it.
    pub(crate) fn has_violations(&self) -> bool {
        !self.found.borrow().is_empty()
    }

    /// Returns all violations, including the one that ended the rule.
    pub(crate) fn violations(self, end: Result<(), Violation>) -> Vec<Violation> {
        let mut all = self.found.into_inner();
        all.extend(end.err());
        all
    }
}

/// Checks of operands.
impl<'a> Context<'a> {
    /// Creates a violation whose message starts with the name of the opcode.
    pub(crate) fn error(&self, code: Code, message: impl std::fmt::Display) -> Violation {
        Violation::new(code, format!("`{}` {message}", self.opcode))
    }

    /// Checks the number of operands and that each array shape is valid by itself. Rules can then rely on
    /// sizes not being negative.
    pub(crate) fn check_operands(&self) -> Result<(), Violation> {
        self.check_arity()?;
        match self
            .operands
            .iter()
            .copied()
            .chain(self.written)
            .filter_map(Shape::as_array)
            .find_map(array_error)
        {
            Some(e) => Err(Violation::new(code::INVALID_SHAPE, e)),
            None => Ok(()),
        }
    }

    /// Checks the number of operands.
    fn check_arity(&self) -> Result<(), Violation> {
        let n = self.operands.len();
        let (ok, expected) = match self.opcode.arity() {
            Arity::Exactly(k) => (n == k, format!("{k} operand{}", if k == 1 { "" } else { "s" })),
            Arity::AtLeast(k) => (n >= k, format!("at least {k} operand{}", if k == 1 { "" } else { "s" })),
        };
        if ok { Ok(()) } else { Err(self.error(code::ARITY, format!("takes {expected}, found {n}"))) }
    }

    /// Returns the shape of operand `i`.
    pub(crate) fn operand(&self, i: usize) -> Result<&'a Shape, Violation> {
        self.operands.get(i).copied().ok_or_else(|| {
            self.error(code::ARITY, format!("has no operand {i}: found {}", self.operands.len()))
        })
    }

    /// Returns operand `i`, which must be an array.
    pub(crate) fn array(&self, i: usize) -> Result<&'a ArrayShape, Violation> {
        let shape = self.operand(i)?;
        shape.as_array().ok_or_else(|| self.kind_error(i, "an array", shape))
    }

    /// Returns operand `i`, which must be an array with an element type in `types`.
    pub(crate) fn array_of(&self, i: usize, types: Types) -> Result<&'a ArrayShape, Violation> {
        let a = self.array(i)?;
        if types.contains(a.element_type) {
            return Ok(a);
        }
        Err(self
            .error(code::ELEMENT_TYPE, format!("works on {types}; operand {i} is {a}"))
            .with(Place::Operand(i), format!("this is {a}")))
    }

    /// Returns operand `i`, which must be a scalar.
    pub(crate) fn scalar(&self, i: usize) -> Result<&'a ArrayShape, Violation> {
        let a = self.array(i)?;
        if a.rank() == 0 { Ok(a) } else { Err(self.kind_error(i, "a scalar", self.operand(i)?)) }
    }

    /// Checks that operand `i` is a token.
    pub(crate) fn token(&self, i: usize) -> Result<(), Violation> {
        match self.operand(i)? {
            Shape::Token => Ok(()),
            other => Err(self.kind_error(i, "a token", other)),
        }
    }

    /// Returns operand `i`, which must be a tuple.
    pub(crate) fn tuple(&self, i: usize) -> Result<&'a [Shape], Violation> {
        let shape = self.operand(i)?;
        shape.as_tuple().ok_or_else(|| self.kind_error(i, "a tuple", shape))
    }

    /// Creates the violation for an operand `i` that is not of the `expected` kind.
    pub(crate) fn kind_error(&self, i: usize, expected: &str, found: &Shape) -> Violation {
        self.error(code::OPERAND_KIND, format!("needs {expected} as operand {i}, found {found}"))
            .with(Place::Operand(i), format!("this is {found}"))
    }

    /// Checks that operands `i` and `j` have the same element type.
    pub(crate) fn same_type(&self, i: usize, j: usize) -> Result<(), Violation> {
        let (a, b) = (self.array(i)?, self.array(j)?);
        if a.element_type == b.element_type {
            return Ok(());
        }
        Err(self
            .error(
                code::MIXED_TYPES,
                format!(
                    "needs one element type for operands {i} and {j}, found {} and {}",
                    a.element_type, b.element_type
                ),
            )
            .with(Place::Operand(i), format!("this is {a}"))
            .with(Place::Operand(j), format!("this is {b}")))
    }

    /// Returns the common element type of operands `i` and `j`: the wider one of two floating-point types.
    /// Records a violation if other types differ.
    pub(crate) fn shared_type(&self, i: usize, j: usize) -> Result<ElementType, Violation> {
        let (a, b) = (self.array(i)?.element_type, self.array(j)?.element_type);
        if !(a.is_float() && b.is_float()) {
            self.record_violation(self.same_type(i, j));
        }
        Ok(wider(a, b))
    }

    /// Checks that operands `i` and `j` have the same sizes.
    pub(crate) fn same_dims(&self, i: usize, j: usize) -> Result<(), Violation> {
        let (a, b) = (self.array(i)?, self.array(j)?);
        if dims_agree(a, b) {
            return Ok(());
        }
        Err(self
            .error(
                code::OPERAND_SHAPES,
                format!("needs operands {i} and {j} of the same sizes, found {a} and {b}"),
            )
            .with(Place::Operand(i), format!("this is {a}"))
            .with(Place::Operand(j), format!("this is {b}")))
    }

    /// Returns the declared shape, which must be an array; `None` if the shape is being inferred.
    pub(crate) fn written_array(&self) -> Result<Option<&'a ArrayShape>, Violation> {
        match self.written {
            None => Ok(None),
            Some(Shape::Array(a)) => Ok(Some(a)),
            Some(other) => {
                Err(self.written_error(format!("gives an array, but its shape is written {other}")))
            }
        }
    }

    /// Creates the violation for a declared shape that does not match.
    pub(crate) fn written_error(&self, message: impl std::fmt::Display) -> Violation {
        self.error(code::DECLARED_SHAPE, message).of_shape()
    }

    /// Checks that the declared shape, if there is one, agrees with the `expected` one.
    pub(crate) fn check_written(&self, expected: &Shape) -> Result<(), Violation> {
        match self.written {
            Some(w) if !shapes_agree(w, expected) => {
                let mut error =
                    self.written_error(format!("here gives {expected}, but its shape is written {w}"));
                error.shape = Some(Box::new(expected.clone()));
                // The operands determine the result. Two are enough: if there are many, they are alike.
                let deciding = self.operands.iter().enumerate().take(2);
                Err(deciding
                    .fold(error, |e, (i, shape)| e.with(Place::Operand(i), format!("this is {shape}"))))
            }
            _ => Ok(()),
        }
    }
}

/// Checks of attributes.
impl Context<'_> {
    /// Checks that each entry of `dims`, the attribute `name`, is a dimension of an array of rank `rank` and
    /// that no entry occurs twice. Returns the dimensions as a mask.
    pub(crate) fn check_dims(
        &self,
        name: &'static str,
        dims: &[i64],
        rank: usize,
    ) -> Result<Vec<bool>, Violation> {
        let mut seen = vec![false; rank];
        for &d in dims {
            match usize::try_from(d).ok().and_then(|d| seen.get_mut(d)) {
                Some(s) if *s => {
                    return Err(self
                        .error(code::DIMENSION_REPEATED, format!("names dimension {d} twice in `{name}`"))
                        .of(name));
                }
                Some(s) => *s = true,
                None => return Err(self.dim_error(name, d, rank)),
            }
        }
        Ok(seen)
    }

    /// Checks that no dimension occurs in both of two attributes, which are passed as name and mask.
    pub(crate) fn check_disjoint(
        &self,
        a: (&'static str, &[bool]),
        b: (&'static str, &[bool]),
    ) -> Result<(), Violation> {
        match a.1.iter().zip(b.1).position(|(&a, &b)| a && b) {
            Some(d) => Err(self
                .error(
                    code::DIMENSION_SHARED,
                    format!("names dimension {d} both in `{}` and in `{}`", a.0, b.0),
                )
                .of(a.0)),
            None => Ok(()),
        }
    }

    /// Checks that `d`, the attribute `name`, is a dimension of an array of rank `rank`. Returns it as an
    /// index.
    pub(crate) fn check_dim(&self, name: &'static str, d: i64, rank: usize) -> Result<usize, Violation> {
        usize::try_from(d).ok().filter(|&d| d < rank).ok_or_else(|| self.dim_error(name, d, rank))
    }

    /// Returns the only dimension in the list `dims`, the attribute `name`, as an index.
    pub(crate) fn one_dim(&self, name: &'static str, dims: &[i64], rank: usize) -> Result<usize, Violation> {
        match dims {
            [d] => self.check_dim(name, *d, rank),
            _ => Err(self
                .error(code::ONE_DIMENSION, format!("needs one dimension in `{name}`, found {}", dims.len()))
                .of(name)),
        }
    }

    fn dim_error(&self, name: &'static str, d: i64, rank: usize) -> Violation {
        self.error(code::DIMENSION_RANGE, format!("names dimension {d} in `{name}`, but the rank is {rank}"))
            .of(name)
    }

    /// Checks that the list `name` has `expected` entries.
    pub(crate) fn check_len(
        &self,
        name: &'static str,
        found: usize,
        expected: usize,
    ) -> Result<(), Violation> {
        if found == expected {
            return Ok(());
        }
        Err(self
            .error(code::ENTRY_COUNT, format!("needs {expected} entries in `{name}`, found {found}"))
            .of(name))
    }

    /// Checks that the list `name` is sorted.
    pub(crate) fn check_sorted(&self, name: &'static str, dims: &[i64]) -> Result<(), Violation> {
        if dims.is_sorted() {
            return Ok(());
        }
        Err(self.error(code::DIMENSIONS_SORTED, format!("needs `{name}` in increasing order")).of(name))
    }

    /// Checks that two dimensions have the same size.
    pub(crate) fn same_size(
        &self,
        left: OperandDim<'_>,
        right: OperandDim<'_>,
        what: &str,
    ) -> Result<Dim, Violation> {
        let OperandDim { operand: i, array: x, dim: a } = left;
        let OperandDim { operand: j, array: y, dim: b } = right;
        let (m, n) = (dim(x, a), dim(y, b));
        if m.agrees(n) {
            return Ok(m.merge(n));
        }
        Err(self
            .error(
                code::PAIRED_SIZES,
                format!(
                    "needs one size for the {what} dimensions, found {} in dimension {a} of operand {i} and {} in \
                     dimension {b} of operand {j}",
                    m.size, n.size
                ),
            )
            .with(Place::Operand(i), format!("this is {x}"))
            .with(Place::Operand(j), format!("this is {y}")))
    }

    /// Creates the violation for a computed size that does not fit in 64 bits.
    pub(crate) fn overflow(&self) -> Violation {
        self.error(code::OVERFLOW, "computes a size that does not fit 64 bits")
    }
}

/// Checks of called computations.
impl Context<'_> {
    /// Returns the computation that the attribute `name` names.
    pub(crate) fn callee(&self, name: &'static str, c: ComputationId) -> Result<Callee, Violation> {
        if !self.module.is_live_computation(c) {
            return Err(self
                .error(code::NO_CALLEE, format!("names a computation in `{name}` that is not there"))
                .of(name));
        }
        if !self.module.has_root(c) {
            return Err(self
                .error(code::NO_ROOT, format!("names a computation in `{name}` that has no root"))
                .of(name));
        }
        Ok(Callee { parameters: self.signatures.parameters(self.module, c), root: self.module[c].root() })
    }
}

/// Returns a single shape unchanged, and several shapes as a tuple. This is the result of opcodes that
/// process N arrays at once.
pub(crate) fn one_or_tuple(mut shapes: Vec<Shape>) -> Shape {
    if shapes.len() == 1 { shapes.remove(0) } else { Shape::tuple(shapes) }
}
