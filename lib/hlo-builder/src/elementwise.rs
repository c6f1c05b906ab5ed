//! Elementwise operations (operation semantics, "Element-wise …", "Clamp", "Select", "ConvertElementType").

use crate::broadcasting::broadcast_to_common_shape;
use crate::operand::{Kind, Operand};
use crate::{Builder, Value};
use hlo_ir::attr::{CompareAttrs, ComparisonDirection, ComparisonType, ReducePrecisionAttrs};
use hlo_ir::diag::Diag;
use hlo_ir::{Arity, ArrayShape, ElementType, Family, Op};
use std::panic::Location;

macro_rules! unary {
    ($($method:ident $op:ident $summary:literal)*) => {
        impl<'b> Value<'b> {
            $(
                #[doc = $summary]
                #[track_caller]
                pub fn $method(self) -> Value<'b> {
                    self.builder.add(Op::$op, &[self])
                }
            )*
        }
    };
}

unary! {
    abs Abs "The absolute value of each element; the magnitude of a complex one."
    acos Acos "The inverse cosine of each element."
    acosh Acosh "The inverse hyperbolic cosine of each element."
    asin Asin "The inverse sine of each element."
    asinh Asinh "The inverse hyperbolic sine of each element."
    atanh Atanh "The inverse hyperbolic tangent of each element."
    cbrt Cbrt "The cube root of each element."
    ceil Ceil "Each element rounded up."
    clz CountLeadingZeros "The number of zero bits above the highest set bit of each element."
    cos Cosine "The cosine of each element."
    cosh Cosh "The hyperbolic cosine of each element."
    erf Erf "The Gauss error function of each element."
    exp Exponential "e to the power of each element."
    expm1 ExponentialMinusOne "e to the power of each element, minus 1."
    floor Floor "Each element rounded down."
    imag Imag "The imaginary part of each element."
    is_finite IsFinite "Whether each element is neither infinite nor NaN."
    log Log "The natural logarithm of each element."
    log1p LogPlusOne "The natural logarithm of 1 plus each element."
    logistic Logistic "1 / (1 + exp(-x)) of each element."
    population_count PopulationCount "The number of set bits of each element."
    real Real "The real part of each element."
    round RoundNearestAfz "Each element rounded to the nearest integral value, ties away from zero."
    round_nearest_even RoundNearestEven "Each element rounded to the nearest integral value, ties to even."
    rsqrt Rsqrt "1 / the square root of each element."
    sign Sign "-1, 0 or 1 by the sign of each element; x/|x| of a complex one."
    sin Sine "The sine of each element."
    sinh Sinh "The hyperbolic sine of each element."
    sqrt Sqrt "The square root of each element."
    tan Tan "The tangent of each element."
    tanh Tanh "The hyperbolic tangent of each element."
}

macro_rules! binary {
    ($($method:ident $op:ident $summary:literal)*) => {
        impl<'b> Value<'b> {
            $(
                #[doc = $summary]
                #[track_caller]
                pub fn $method(self, other: impl Into<Operand<'b>>) -> Value<'b> {
                    self.binary(Op::$op, other)
                }
            )*
        }
    };
}

binary! {
    atan2 Atan2 "The angle of the point (`other`, `self`) from the positive x axis."
    complex Complex "The complex numbers with real parts `self` and imaginary parts `other`."
    max Maximum "The larger of both; NaN if either is NaN."
    min Minimum "The smaller of both; NaN if either is NaN."
    mulhi Mulhi "The upper half of the double-width product of integers."
    pow Power "Each element to the power of the other."
    shift_right_arithmetic ShiftRightArithmetic "The bits moved down by `other`, copies of the sign bit moved in."
    shift_right_logical ShiftRightLogical "The bits moved down by `other`, zeros moved in."
}

macro_rules! comparisons {
    ($($method:ident $total:ident $direction:ident $relation:literal)*) => {
        impl<'b> Value<'b> {
            $(
                #[doc = concat!("Whether each element is ", $relation, " the other.")]
                #[track_caller]
                pub fn $method(self, other: impl Into<Operand<'b>>) -> Value<'b> {
                    self.compare(other, ComparisonDirection::$direction, ComparisonType::Default)
                }

                #[doc = concat!("Whether each element is ", $relation, " the other in the total order of floating-point numbers: -NaN, -∞, …, -0, 0, …, ∞, NaN.")]
                #[track_caller]
                pub fn $total(self, other: impl Into<Operand<'b>>) -> Value<'b> {
                    self.compare(other, ComparisonDirection::$direction, ComparisonType::TotalOrder)
                }
            )*
        }
    };
}

comparisons! {
    eq eq_total_order Eq "equal to"
    ne ne_total_order Ne "not equal to"
    ge ge_total_order Ge "greater than or equal to"
    gt gt_total_order Gt "greater than"
    le le_total_order Le "less than or equal to"
    lt lt_total_order Lt "less than"
}

impl<'b> Value<'b> {
    /// Applies a unary elementwise operation.
    #[track_caller]
    pub fn unary(self, op: Op) -> Value<'b> {
        match check_elementwise(&op, 1) {
            Ok(()) => self.builder.add(op, &[self]),
            Err(error) => self.builder.fail(Location::caller(), error),
        }
    }

    /// Applies a binary elementwise operation. The operands are broadcast to each other: scalars to arrays,
    /// dimensions of size 1 to other sizes, and arrays of lower rank along given dimensions
    /// ([`Value::along`]).
    #[track_caller]
    pub fn binary(self, op: Op, other: impl Into<Operand<'b>>) -> Value<'b> {
        if let Err(error) = check_elementwise(&op, 2) {
            return self.builder.fail(Location::caller(), error);
        }
        match self.broadcast_operands(other.into(), op.opcode().name()) {
            Some(operands) => self.builder.add(op, &operands),
            None => self.builder.nothing(),
        }
    }

    /// Compares the elements of two operands in the given order.
    #[track_caller]
    pub fn compare(
        self,
        other: impl Into<Operand<'b>>,
        direction: ComparisonDirection,
        comparison_type: ComparisonType,
    ) -> Value<'b> {
        self.binary(Op::Compare(CompareAttrs { direction, comparison_type }), other)
    }

    /// Rounds each element to a type, up or down at random. The bits of `random` decide the direction.
    #[track_caller]
    pub fn stochastic_convert(self, random: Value<'b>, element_type: ElementType) -> Value<'b> {
        let Some(shape) = self.array("stochastic-convert") else { return self.builder.nothing() };
        let shape = shape.with_element_type(element_type);
        self.builder.add_shaped(Op::StochasticConvert, &[self, random], shape)
    }

    /// Converts each element to another type.
    #[track_caller]
    pub fn convert(self, element_type: ElementType) -> Value<'b> {
        let Some(shape) = self.array("convert") else { return self.builder.nothing() };
        self.builder.add_shaped(Op::Convert, &[self], shape.with_element_type(element_type))
    }

    /// Rounds each element to a format of fewer bits. The element type does not change.
    #[track_caller]
    pub fn reduce_precision(self, exponent_bits: i64, mantissa_bits: i64) -> Value<'b> {
        self.unary(Op::ReducePrecision(ReducePrecisionAttrs { exponent_bits, mantissa_bits }))
    }

    /// Clamps each element to a range. The bounds may be scalars.
    #[track_caller]
    pub fn clamp(self, min: impl Into<Operand<'b>>, max: impl Into<Operand<'b>>) -> Value<'b> {
        let element_type = self.element_type("clamp");
        let min = min.into().plain(self.builder, element_type);
        let max = max.into().plain(self.builder, element_type);
        self.builder.add(Op::Clamp, &[min, self, max])
    }

    /// Selects the elements of `on_true` where this value is true, and those of `on_false` where it is false.
    /// Each of the three may be a scalar. If the choices are tuples, this value must be a scalar and selects
    /// one of the tuples.
    #[track_caller]
    pub fn select(self, on_true: impl Into<Operand<'b>>, on_false: impl Into<Operand<'b>>) -> Value<'b> {
        let (on_true, on_false) = (on_true.into(), on_false.into());
        let [a, b] = [&on_true, &on_false].map(|operand| match &operand.0 {
            Kind::Value(value) | Kind::Along(value, _) => Some(*value),
            Kind::Number(_) => None,
        });
        let is_tuple = |value: Option<Value<'b>>| {
            value.and_then(Value::shape_if_made).is_some_and(|shape| shape.is_tuple())
        };
        match (a, b) {
            (Some(a), Some(b)) if is_tuple(Some(a)) || is_tuple(Some(b)) => return self.select_tuple(a, b),
            _ if is_tuple(a) || is_tuple(b) => {
                let message = "`select` of a tuple needs another tuple, found a number";
                return self.builder.fail(Location::caller(), Diag::error(message));
            }
            _ => {}
        }
        let (Some(on_true), Some(on_false)) = (self.choice(on_true, b), self.choice(on_false, a)) else {
            return self.builder.nothing();
        };
        let pair = broadcast_to_common_shape([on_true, on_false], None, "select", self.builder);
        let Some([on_true, on_false]) = pair else { return self.builder.nothing() };
        let (Some(test), Some(value)) = (self.array("select"), on_true.array("select")) else {
            return self.builder.nothing();
        };
        // A scalar selects all elements of an array.
        if test.rank() == 0 || test.rank() == value.rank() {
            return self.builder.add(Op::Select, &[self, on_true, on_false]);
        }
        // The choices are scalars, but the selector is an array.
        let a = broadcast_to_common_shape([self, on_true], None, "select", self.builder);
        let b = broadcast_to_common_shape([self, on_false], None, "select", self.builder);
        match (a, b) {
            (Some([_, a]), Some([_, b])) => self.builder.add(Op::Select, &[self, a, b]),
            _ => self.builder.nothing(),
        }
    }

    /// Converts a choice of a select to a value. A number gets the element type of the other choice. An array
    /// of lower rank is broadcast along its dimensions to the shape of the selector or of the other choice.
    #[track_caller]
    fn choice(self, operand: Operand<'b>, other: Option<Value<'b>>) -> Option<Value<'b>> {
        if !self.builder.owns(other.as_slice()) {
            return None;
        }
        match (operand.0, other) {
            (Kind::Value(value), _) => Some(value),
            (Kind::Along(value, dimensions), _) => {
                let rank = |value: &Value<'b>| value.shape_if_made()?.as_array().map(ArrayShape::rank);
                let whole = [Some(self), other].into_iter().flatten().max_by_key(rank)?;
                let [_, value] =
                    broadcast_to_common_shape([whole, value], Some(dimensions), "select", self.builder)?;
                Some(value)
            }
            (Kind::Number(number), Some(other)) => {
                Some(self.builder.number(number, other.element_type("select")?))
            }
            (Kind::Number(_), None) => {
                let message = "`select` of two numbers has no element type: make one a constant";
                self.builder.fail(Location::caller(), Diag::error(message));
                None
            }
        }
    }

    /// Selects the tuple `on_true` if this scalar is true, and `on_false` otherwise, element by element.
    #[track_caller]
    fn select_tuple(self, on_true: Value<'b>, on_false: Value<'b>) -> Value<'b> {
        if !self.builder.owns(&[on_true, on_false]) {
            return self.builder.nothing();
        }
        let (Some(a), Some(b)) = (on_true.shape_if_made(), on_false.shape_if_made()) else {
            return self.builder.nothing();
        };
        let (Some(parts), true) = (a.as_tuple(), a.compatible(&b)) else {
            let message = format!("`select` needs two tuples of one shape, found {a} and {b}");
            return self.builder.fail(Location::caller(), Diag::error(message));
        };
        let mut values = Vec::with_capacity(parts.len());
        for n in 0..parts.len() as i64 {
            values.push(self.select(on_true.get_tuple_element(n), on_false.get_tuple_element(n)));
        }
        self.builder.tuple(&values)
    }

    /// Squares each element.
    #[track_caller]
    pub fn square(self) -> Value<'b> {
        self.binary(Op::Multiply, self)
    }

    /// Divides 1 by each element.
    #[track_caller]
    pub fn reciprocal(self) -> Value<'b> {
        let Some(element_type) = self.element_type("reciprocal") else { return self.builder.nothing() };
        self.builder.number(crate::operand::Number::Integer(1), element_type).binary(Op::Divide, self)
    }

    /// Returns the complex conjugate of each element.
    #[track_caller]
    pub fn conj(self) -> Value<'b> {
        self.real().complex(-self.imag())
    }
}

/// Checks that an operation is elementwise and has the given number of operands. The attributes of other
/// operations may refer to dimensions or to computations of another module.
fn check_elementwise(op: &Op, operands: usize) -> Result<(), Diag> {
    let opcode = op.opcode();
    if opcode.family() == Family::Elementwise && opcode.arity() == Arity::Exactly(operands) {
        return Ok(());
    }
    let kind = if operands == 1 { "unary" } else { "binary" };
    Err(Diag::error(format!("`{opcode}` is no {kind} elementwise operation")))
}

macro_rules! operators {
    (numbers $trait:ident $method:ident $($number:ty)*) => {
        $(
            impl<'b> std::ops::$trait<Value<'b>> for $number {
                type Output = Value<'b>;

                #[track_caller]
                fn $method(self, other: Value<'b>) -> Value<'b> {
                    std::ops::$trait::$method(Operand::from(self), other)
                }
            }
        )*
    };
    ($($trait:ident $method:ident $op:ident)*) => {
        $(
            impl<'b, T: Into<Operand<'b>>> std::ops::$trait<T> for Value<'b> {
                type Output = Value<'b>;

                #[track_caller]
                fn $method(self, other: T) -> Value<'b> {
                    self.binary(Op::$op, other)
                }
            }

            impl<'b> std::ops::$trait<Value<'b>> for Operand<'b> {
                type Output = Value<'b>;

                #[track_caller]
                fn $method(self, other: Value<'b>) -> Value<'b> {
                    // The first operand may be the one that is mapped along dimensions of the second.
                    other.binary_after(Op::$op, self)
                }
            }

            // One type for each kind of literal: with more types, the type of `(2.0 * x).exp()` would be
            // ambiguous.
            operators! { numbers $trait $method bool i64 f64 }
        )*
    };
}

operators! {
    Add add Add
    Sub sub Subtract
    Mul mul Multiply
    Div div Divide
    Rem rem Remainder
    BitAnd bitand And
    BitOr bitor Or
    BitXor bitxor Xor
    Shl shl ShiftLeft
}

impl<'b> Value<'b> {
    /// Applies an operation with `first` as the first operand and this value as the second.
    #[track_caller]
    fn binary_after(self, op: Op, first: Operand<'b>) -> Value<'b> {
        match self.broadcast_operands(first, op.opcode().name()) {
            Some([second, first]) => self.builder.add(op, &[first, second]),
            None => self.builder.nothing(),
        }
    }
}

impl<'b> std::ops::Neg for Value<'b> {
    type Output = Value<'b>;

    #[track_caller]
    fn neg(self) -> Value<'b> {
        self.unary(Op::Negate)
    }
}

/// Logical complement of booleans, bitwise complement of integers.
impl<'b> std::ops::Not for Value<'b> {
    type Output = Value<'b>;

    #[track_caller]
    fn not(self) -> Value<'b> {
        self.unary(Op::Not)
    }
}

/// Right shift by the other operand: arithmetic for signed integers, logical for other types.
impl<'b, T: Into<Operand<'b>>> std::ops::Shr<T> for Value<'b> {
    type Output = Value<'b>;

    #[track_caller]
    fn shr(self, other: T) -> Value<'b> {
        let Some(element_type) = self.element_type("shift-right") else { return self.builder.nothing() };
        if element_type.is_signed_integer() {
            self.shift_right_arithmetic(other)
        } else {
            self.shift_right_logical(other)
        }
    }
}

impl Builder {
    /// Combines one or more values with a binary operation, for example to their sum or product.
    #[track_caller]
    pub fn combined<'b>(&'b self, op: Op, values: &[Value<'b>]) -> Value<'b> {
        let Some((&first, others)) = values.split_first() else {
            let message = format!("`{}` of no values has no shape", op.opcode());
            return self.fail(Location::caller(), Diag::error(message));
        };
        let mut all = first;
        for &value in others {
            all = all.binary(op.clone(), value);
        }
        all
    }
}
