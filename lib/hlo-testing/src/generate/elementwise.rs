//! Elementwise opcodes.

use super::builder::Generator;
use super::types::Array;
use hlo_ir::{ElementType as E, Opcode};

fn inexact(t: E) -> bool {
    t.is_float() || t.is_complex()
}

/// The element types that an opcode's first operand may have.
fn operand_types(opcode: Opcode) -> fn(E) -> bool {
    use Opcode::*;
    match opcode {
        Cbrt | Ceil | Erf | Floor | RoundNearestAfz | RoundNearestEven | IsFinite | ReducePrecision
        | StochasticConvert => E::is_float,
        Acos | Acosh | Asin | Asinh | Atanh | Cosine | Cosh | Exponential | ExponentialMinusOne | Log
        | LogPlusOne | Logistic | Rsqrt | Sine | Sinh | Sqrt | Tan | Tanh | Atan2 | Real | Imag => inexact,
        CountLeadingZeros | PopulationCount | Mulhi | ShiftLeft | ShiftRightArithmetic
        | ShiftRightLogical => E::is_integer,
        Not | And | Or | Xor => |t| t.is_pred() || t.is_integer(),
        Abs | Sign => |t| inexact(t) || t.is_signed_integer(),
        Negate | Divide | Power | Remainder | Subtract => |t| !t.is_pred(),
        Complex => |t| matches!(t, E::F32 | E::F64),
        Clamp => |t| !t.is_complex(),
        _ => |_| true,
    }
}

/// The opcodes that take `result_accuracy`.
fn has_accuracy(opcode: Opcode) -> bool {
    use Opcode::*;
    matches!(
        opcode,
        Cbrt | Cosine
            | Erf
            | Exponential
            | ExponentialMinusOne
            | Log
            | LogPlusOne
            | Logistic
            | Rsqrt
            | Sine
            | Sqrt
            | Tan
            | Tanh
    )
}

impl Generator {
    /// An elementwise instruction. Sometimes its operands have dynamic dimensions.
    pub(super) fn elementwise(&mut self, opcode: Opcode) -> usize {
        use Opcode::*;
        let allowed = operand_types(opcode);
        // No remainder of complex numbers is defined; in what is called, all must be exact.
        let rounds_twice = matches!(opcode, Multiply | Divide | Sqrt | Sign | Abs);
        let real = self.executable && (opcode == Remainder || (rounds_twice && self.is_called()));
        let fits = |t: E| allowed(t) && !(real && t.is_complex());
        let dynamic: Vec<usize> = (0..self.lines().len())
            .filter(|&i| self.lines()[i].ty.as_array().is_some_and(|a| !a.is_static() && fits(a.element)))
            .collect();
        let x = match dynamic.is_empty() || self.numbers.one_in(2) {
            true => self.array_of(fits, 0, 4),
            false => self.numbers.pick(&dynamic),
        };
        let a = self.array_type(x);
        match opcode {
            Copy => self.copy_of_anything(x),
            Abs | Real | Imag => self.add(a.of(a.element.real_type()), opcode, &[x], &[]),
            IsFinite => self.add(a.of(E::Pred), opcode, &[x], &[]),
            Convert => {
                let complex = a.element.is_complex();
                let to = self.element(|t| !complex || t.is_complex());
                self.add(a.of(to), opcode, &[x], &[])
            }
            BitcastConvert => self.bitcast_convert(x),
            ReducePrecision => {
                let bits = [
                    ("exponent_bits", self.numbers.between(1, 11)),
                    ("mantissa_bits", self.numbers.between(0, 52)),
                ];
                self.add(a, opcode, &[x], &bits.map(|(n, v)| (n, v.to_string())))
            }
            StochasticConvert => self.stochastic_convert(),
            Compare => self.compare(x),
            Complex => {
                let to = a.element.complex_type().unwrap_or(E::C64);
                let y = self.value(&a.clone().into());
                self.add(a.of(to), opcode, &[x, y], &[])
            }
            Select | Clamp => self.ternary(opcode, x),
            Add | And | Atan2 | Divide | Maximum | Minimum | Mulhi | Multiply | Or | Power | Remainder
            | ShiftLeft | ShiftRightArithmetic | ShiftRightLogical | Subtract | Xor => {
                let y = self.value(&a.clone().into());
                self.add(a, opcode, &[x, y], &[])
            }
            _ => {
                let value = self.add(a, opcode, &[x], &[]);
                if has_accuracy(opcode) && self.numbers.one_in(3) {
                    let accuracy = self.numbers.pick(&[
                        "{mode=highest}",
                        "{tolerance={atol=0,rtol=0.5,ulps=2}}",
                        "{mode=default}",
                    ]);
                    self.attribute(value, "result_accuracy", accuracy);
                }
                value
            }
        }
    }

    fn copy_of_anything(&mut self, x: usize) -> usize {
        let all = self.lines().len();
        let other = self.numbers.below(all);
        let plain = self.ty(other).leaves().iter().all(|t| t.as_array().is_some());
        let x = if plain && self.numbers.one_in(2) { other } else { x };
        self.add(self.ty(x), Opcode::Copy, &[x], &[])
    }

    fn compare(&mut self, x: usize) -> usize {
        let a = self.array_type(x);
        let y = self.value(&a.clone().into());
        let directions =
            if a.element.is_complex() { &["EQ", "NE"][..] } else { &["EQ", "NE", "GE", "GT", "LE", "LT"] };
        let direction = self.numbers.pick(directions).to_string();
        let value = self.add(a.of(E::Pred), Opcode::Compare, &[x, y], &[("direction", direction)]);
        let ty = match a.element {
            t if t.is_float() => self.numbers.pick(&["FLOAT", "TOTALORDER"]),
            t if t.is_complex() => "FLOAT",
            t if t.is_signed_integer() => "SIGNED",
            _ => "UNSIGNED",
        };
        if self.numbers.one_in(3) {
            self.attribute(value, "type", ty);
        }
        value
    }

    /// Between types of one width, or of widths of which one is a multiple of the other.
    fn bitcast_convert(&mut self, x: usize) -> usize {
        // Dynamic dimensions are left to others.
        let x = if self.array_type(x).is_static() { x } else { self.array_of(|_| true, 0, 3) };
        let a = self.array_type(x);
        let from = a.element;
        let last = a.dims.last().copied().unwrap_or(0);
        let (width, complex) = (i64::from(from.bit_width()), from.is_complex());
        let ratio = |t: E| {
            let to = i64::from(t.bit_width());
            match (t.is_complex() == complex, width.cmp(&to)) {
                (false, _) => false,
                (true, std::cmp::Ordering::Less) => to % width == 0 && last == to / width,
                (true, std::cmp::Ordering::Equal) => true,
                (true, std::cmp::Ordering::Greater) => width % to == 0,
            }
        };
        // Of one-bit types XLA and the tools disagree on what the ratio is.
        let to = self.element(|t| t == from || (ratio(t) && t.bit_width() > 1 && width > 1));
        let mut result = a.of(to);
        match width.cmp(&i64::from(to.bit_width())) {
            std::cmp::Ordering::Less => drop(result.dims.pop()),
            std::cmp::Ordering::Equal => {}
            std::cmp::Ordering::Greater => result.dims.push(width / i64::from(to.bit_width())),
        }
        self.add(result, Opcode::BitcastConvert, &[x], &[])
    }

    fn stochastic_convert(&mut self) -> usize {
        let x = self.array_of(|t| matches!(t, E::F32 | E::F16 | E::Bf16 | E::F64), 0, 3);
        let a = self.array_type(x);
        let random = match a.element.bit_width() {
            16 => E::U16,
            32 => E::U32,
            _ => E::U64,
        };
        let random = self.value(&a.of(random).into());
        let to = self.numbers.pick(&[E::S8, E::F8E5M2, E::Bf16, E::S32]);
        self.add(a.of(to), Opcode::StochasticConvert, &[x, random], &[])
    }

    fn ternary(&mut self, opcode: Opcode, x: usize) -> usize {
        let a = self.array_type(x);
        // Bounds and predicates may be scalars.
        let one = |g: &mut Self, element: E| {
            let ty =
                if g.numbers.one_in(2) && a.is_static() { Array::new(element, &[]) } else { a.of(element) };
            g.value(&ty.into())
        };
        match opcode {
            Opcode::Select => {
                let predicate = one(self, E::Pred);
                let y = self.value(&a.clone().into());
                self.add(a, opcode, &[predicate, x, y], &[])
            }
            _ => {
                let (low, high) = (one(self, a.element), one(self, a.element));
                self.add(a, opcode, &[low, x, high], &[])
            }
        }
    }
}
