//! Functions that have no HLO opcode, as formulas of those that have one. The approximations are those of
//! XLA.

mod bessel;
mod bits;
mod complex;
mod erf;
mod gamma;
mod zeta;

use crate::import::failure::Result;
use crate::import::importer::Importer;
use crate::tree::Operation;
use hlo_ir::attr::ComparisonDirection as Is;
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, ElementType, InstrId, Op};

/// A builder of formulas: operations on arrays of one shape, whose elements are of type `f32` or `f64`.
pub struct Formula<'a, 't> {
    importer: &'a mut Importer<'t>,
    shape: ArrayShape,
}

impl Importer<'_> {
    /// Translates a function by its name. The operands have the same type. Numbers of less than 32 bits are
    /// computed as `f32`.
    pub(super) fn special_function_of(
        &mut self,
        op: &Operation,
        name: &str,
        operands: &[InstrId],
    ) -> Result<()> {
        let function: fn(&mut Formula, &[InstrId]) -> InstrId = match (name, operands) {
            ("bessel_i1e", [_]) => |f, x| f.bessel_i1e(x[0]),
            ("digamma", [_]) => |f, x| f.digamma(x[0]),
            ("erf_inv", [_]) => |f, x| f.erf_inv(x[0]),
            ("erfc", [_]) => |f, x| f.erfc(x[0]),
            ("lgamma", [_]) => |f, x| f.lgamma(x[0]),
            ("polygamma", [_, _]) => |f, x| f.polygamma(x[0], x[1]),
            ("zeta", [_, _]) => |f, x| f.zeta(x[0], x[1]),
            ("next_after", &[x, y]) => {
                let next = self.next_after(op, x, y)?;
                return self.set_result(op, next);
            }
            _ => return op.fail("it is not known, or has no translation to HLO"),
        };
        let array = self.array(op, operands[0])?;
        let ty = array.element_type;
        if !ty.is_float() {
            return op.fail(format!("it is not for elements of type {ty}"));
        }
        let wide = if ty == ElementType::F64 { ty } else { ElementType::F32 };
        let shape = array.with_element_type(wide);
        let mut widened = operands.to_vec();
        if wide != ty {
            for id in &mut widened {
                *id = self.add(shape.clone(), Op::Convert, &[*id]);
            }
        }
        let result = function(&mut Formula { importer: self, shape }, &widened);
        let result = if wide == ty { result } else { self.add(array, Op::Convert, &[result]) };
        self.set_result(op, result)
    }
}

/// Defines methods that add an elementwise operation.
macro_rules! functions {
    ($($name:ident($($x:ident),*) = $op:expr;)*) => {$(
        fn $name(&mut self, $($x: InstrId),*) -> InstrId {
            self.importer.add(self.shape.clone(), $op, &[$($x),*])
        }
    )*};
}

impl Formula<'_, '_> {
    functions! {
        add(a, b) = Op::Add;
        sub(a, b) = Op::Subtract;
        mul(a, b) = Op::Multiply;
        div(a, b) = Op::Divide;
        rem(a, b) = Op::Remainder;
        pow(a, b) = Op::Power;
        neg(a) = Op::Negate;
        abs(a) = Op::Abs;
        sign(a) = Op::Sign;
        floor(a) = Op::Floor;
        sqrt(a) = Op::Sqrt;
        exp(a) = Op::Exponential;
        log(a) = Op::Log;
        log_plus_one(a) = Op::LogPlusOne;
        sin(a) = Op::Sine;
        cos(a) = Op::Cosine;
        select(condition, a, b) = Op::Select;
    }

    fn is_f64(&self) -> bool {
        self.shape.element_type == ElementType::F64
    }

    /// Returns a number as an array.
    fn num(&mut self, value: f64) -> InstrId {
        let ty = self.shape.element_type;
        let scalar = match ty {
            ElementType::F64 => self.importer.scalar(ty, &value.to_le_bytes()),
            _ => self.importer.scalar(ty, &(value as f32).to_le_bytes()),
        };
        match scalar {
            Some(scalar) if self.shape.rank() > 0 => self.importer.broadcast(scalar, &self.shape, &[]),
            Some(scalar) => scalar,
            // The bytes match the type.
            None => unreachable!("{value} is a number of type {ty}"),
        }
    }

    /// Compares two arrays.
    fn is(&mut self, a: InstrId, relation: Is, b: InstrId) -> InstrId {
        let shape = self.shape.with_element_type(ElementType::Pred);
        self.importer.add(shape, Op::compare(relation), &[a, b])
    }

    /// Computes the logical and.
    fn both(&mut self, a: InstrId, b: InstrId) -> InstrId {
        let shape = self.shape.with_element_type(ElementType::Pred);
        self.importer.add(shape, Op::And, &[a, b])
    }

    /// Computes the logical or.
    fn either(&mut self, a: InstrId, b: InstrId) -> InstrId {
        let shape = self.shape.with_element_type(ElementType::Pred);
        self.importer.add(shape, Op::Or, &[a, b])
    }

    /// Checks for numbers that are neither infinite nor NaN.
    fn is_finite(&mut self, a: InstrId) -> InstrId {
        let shape = self.shape.with_element_type(ElementType::Pred);
        self.importer.add(shape, Op::IsFinite, &[a])
    }

    /// Checks for numbers without a fractional part.
    fn is_whole(&mut self, a: InstrId) -> InstrId {
        let floor = self.floor(a);
        self.is(a, Is::Eq, floor)
    }

    /// Evaluates a polynomial by Horner's scheme. The coefficient of the highest power comes first.
    fn polynomial(&mut self, x: InstrId, coefficients: &[f64]) -> InstrId {
        let mut coefficients = coefficients.iter();
        let mut value = self.num(coefficients.next().copied().unwrap_or(0.0));
        for &c in coefficients {
            let c = self.num(c);
            value = self.mul(value, x);
            value = self.add(value, c);
        }
        value
    }
}
