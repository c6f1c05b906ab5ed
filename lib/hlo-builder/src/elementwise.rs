//! Elementwise operations (operation semantics, "Element-wise …", "Clamp", "Select", "ConvertElementType").

use crate::broadcasting::alike;
use crate::operand::{Kind, Operand};
use crate::{Builder, Value};
use hlo_ir::attr::{CompareAttrs, ComparisonDirection, ComparisonType, ReducePrecisionAttrs};
use hlo_ir::diag::Diag;
use hlo_ir::{Arity, ElementType, Op};
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
    /// A unary elementwise operation.
    #[track_caller]
    pub fn unary(self, op: Op) -> Value<'b> {
        self.builder.add(op, &[self])
    }

    /// A binary elementwise operation of operands that are broadcast to each other: scalars to arrays, sizes of 1 to others,
    /// and arrays of lower rank that lie along dimensions ([`Value::along`]).
    #[track_caller]
    pub fn binary(self, op: Op, other: impl Into<Operand<'b>>) -> Value<'b> {
        let opcode = op.opcode();
        if opcode.arity() != Arity::Exactly(2) {
            let message = format!("`{opcode}` has no two operands");
            return self.builder.fail(Location::caller(), Diag::error(message));
        }
        match self.together(other.into(), opcode.name()) {
            Some(operands) => self.builder.add(op, &operands),
            None => self.builder.nothing(),
        }
    }

    /// Whether a relation holds, in an order.
    #[track_caller]
    pub fn compare(
        self,
        other: impl Into<Operand<'b>>,
        direction: ComparisonDirection,
        comparison_type: ComparisonType,
    ) -> Value<'b> {
        self.binary(Op::Compare(CompareAttrs { direction, comparison_type }), other)
    }

    /// Each element rounded to a type, up or down at random by the bits of `random`.
    #[track_caller]
    pub fn stochastic_convert(self, random: Value<'b>, element_type: ElementType) -> Value<'b> {
        let Some(shape) = self.array("stochastic-convert") else { return self.builder.nothing() };
        let shape = shape.with_element_type(element_type);
        self.builder.add_shaped(Op::StochasticConvert, &[self, random], shape)
    }

    /// Each element's value in another type.
    #[track_caller]
    pub fn convert(self, element_type: ElementType) -> Value<'b> {
        let Some(shape) = self.array("convert") else { return self.builder.nothing() };
        self.builder.add_shaped(Op::Convert, &[self], shape.with_element_type(element_type))
    }

    /// Each element rounded to a format of fewer bits, in the same type.
    #[track_caller]
    pub fn reduce_precision(self, exponent_bits: i64, mantissa_bits: i64) -> Value<'b> {
        self.unary(Op::ReducePrecision(ReducePrecisionAttrs { exponent_bits, mantissa_bits }))
    }

    /// Each element limited to a range, whose ends may be scalars.
    #[track_caller]
    pub fn clamp(self, min: impl Into<Operand<'b>>, max: impl Into<Operand<'b>>) -> Value<'b> {
        let element_type = self.element_type("clamp");
        let [min, max] = [min.into(), max.into()].map(|end| end.plain(self.builder, element_type));
        self.builder.add(Op::Clamp, &[min, self, max])
    }

    /// The elements of `on_true` where this is true, those of `on_false` where it is false. Any of the three may be a scalar;
    /// of two tuples, where this is a scalar, the whole one or the other.
    #[track_caller]
    pub fn select(self, on_true: impl Into<Operand<'b>>, on_false: impl Into<Operand<'b>>) -> Value<'b> {
        let (on_true, on_false) = (on_true.into(), on_false.into());
        let is_tuple = |operand: &Operand<'b>| match &operand.0 {
            Kind::Value(value) => value.shape_if_made().is_some_and(|s| s.is_tuple()),
            _ => false,
        };
        if is_tuple(&on_true) || is_tuple(&on_false) {
            let [a, b] = [on_true, on_false].map(|operand| operand.plain(self.builder, None));
            return self.select_tuple(a, b);
        }
        // A number has the type of the value beside it.
        let pair = match (&on_true.0, &on_false.0) {
            (Kind::Number(_), Kind::Value(other)) | (Kind::Number(_), Kind::Along(other, _)) => {
                let other = *other;
                let on_true = on_true.beside(other).0;
                on_true.together(on_false, "select")
            }
            (Kind::Number(_), Kind::Number(_)) => {
                let message = "`select` of two numbers has no element type: make one a constant";
                self.builder.fail(Location::caller(), Diag::error(message));
                None
            }
            (Kind::Value(value), _) => value.together(on_false, "select"),
            (Kind::Along(value, _), Kind::Value(other)) => {
                let value = *value;
                other.together(on_true, "select").map(|[b, a]| [a, b]).filter(|_| value.id.is_some())
            }
            (Kind::Along(..), _) => {
                let message = "`select` needs one operand of the result's rank";
                self.builder.fail(Location::caller(), Diag::error(message));
                None
            }
        };
        let Some([on_true, on_false]) = pair else { return self.builder.nothing() };
        let (Some(test), Some(value)) = (self.array("select"), on_true.array("select")) else {
            return self.builder.nothing();
        };
        if test.rank() == value.rank() {
            return self.builder.add(Op::Select, &[self, on_true, on_false]);
        }
        // A scalar of values chosen by an array, or the other way around.
        if value.rank() == 0 {
            let [a, b] = [on_true, on_false].map(|x| alike([self, x], None, "select", self.builder));
            let (Some([_, a]), Some([_, b])) = (a, b) else { return self.builder.nothing() };
            return self.builder.add(Op::Select, &[self, a, b]);
        }
        match alike([self, on_true], None, "select", self.builder) {
            Some([test, _]) => self.builder.add(Op::Select, &[test, on_true, on_false]),
            None => self.builder.nothing(),
        }
    }

    /// The tuple `on_true` if this scalar is true, otherwise the tuple `on_false`, element by element.
    #[track_caller]
    fn select_tuple(self, on_true: Value<'b>, on_false: Value<'b>) -> Value<'b> {
        let (Some(a), Some(b)) = (on_true.shape_if_made(), on_false.shape_if_made()) else {
            return self.builder.nothing();
        };
        let (Some(parts), true) = (a.as_tuple(), a.compatible(&b)) else {
            let message = format!("`select` needs two tuples of one shape, found {a} and {b}");
            return self.builder.fail(Location::caller(), Diag::error(message));
        };
        let values: Vec<Value<'b>> = (0..parts.len() as i64)
            .map(|n| self.select(on_true.get_tuple_element(n), on_false.get_tuple_element(n)))
            .collect();
        self.builder.tuple(&values)
    }

    /// The square of each element.
    #[track_caller]
    pub fn square(self) -> Value<'b> {
        self.binary(Op::Multiply, self)
    }

    /// 1 divided by each element.
    #[track_caller]
    pub fn reciprocal(self) -> Value<'b> {
        let Some(element_type) = self.element_type("reciprocal") else { return self.builder.nothing() };
        self.builder.number(crate::operand::Number::Integer(1), element_type).binary(Op::Divide, self)
    }

    /// The complex conjugate of each element.
    #[track_caller]
    pub fn conj(self) -> Value<'b> {
        self.real().complex(-self.imag())
    }
}

macro_rules! operators {
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
                    // The first operand may be the one that lies along dimensions of the second.
                    other.binary_after(Op::$op, self)
                }
            }

            operators! { numbers $trait $method bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 }
        )*
    };
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
    /// The operation of `first` and this value.
    #[track_caller]
    fn binary_after(self, op: Op, first: Operand<'b>) -> Value<'b> {
        match self.together(first, op.opcode().name()) {
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

/// The complement of each element: logical of truth values, of every bit of integers.
impl<'b> std::ops::Not for Value<'b> {
    type Output = Value<'b>;

    #[track_caller]
    fn not(self) -> Value<'b> {
        self.unary(Op::Not)
    }
}

/// The bits moved down by the other operand: copies of the sign bit are moved into signed integers, zeros into others.
impl<'b, T: Into<Operand<'b>>> std::ops::Shr<T> for Value<'b> {
    type Output = Value<'b>;

    #[track_caller]
    fn shr(self, other: T) -> Value<'b> {
        let Some(element_type) = self.element_type("shift-right") else { return self.builder.nothing() };
        match element_type.is_signed_integer() {
            true => self.shift_right_arithmetic(other),
            false => self.shift_right_logical(other),
        }
    }
}

impl Builder {
    /// The sum, product or other combination of several values, of one or more.
    #[track_caller]
    pub fn combined<'b>(&'b self, op: Op, values: &[Value<'b>]) -> Value<'b> {
        let Some((&first, others)) = values.split_first() else {
            let message = format!("`{}` of no values has no shape", op.opcode());
            return self.fail(Location::caller(), Diag::error(message));
        };
        others.iter().fold(first, |all, &value| all.binary(op.clone(), value))
    }
}
