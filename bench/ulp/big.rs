//! Real functions of large precision: what results are measured against.

use astro_float::{BigFloat, Consts, RoundingMode, Sign};

const RM: RoundingMode = RoundingMode::None;

/// Arithmetic of so many bits.
pub struct Big {
    constants: Consts,
    /// The bits of a number.
    pub precision: usize,
}

impl Big {
    /// Arithmetic of `precision` bits.
    pub fn new(precision: usize) -> Result<Self, String> {
        let constants = Consts::new().map_err(|e| format!("no constants of large precision: {e:?}"))?;
        Ok(Self { constants, precision })
    }

    /// A number; zeros have no sign.
    pub fn num(&self, x: f64) -> BigFloat {
        // Subnormal numbers, which the library does not read, by way of a normal one.
        let normal = if x.is_subnormal() { libm::ldexp(x, 200) } else { x };
        let mut big = BigFloat::from_f64(normal, self.precision);
        if let (true, Some(exponent)) = (x.is_subnormal(), big.exponent()) {
            big.set_exponent(exponent - 200);
        }
        big
    }

    /// The sum.
    pub fn add(&self, x: &BigFloat, y: &BigFloat) -> BigFloat {
        x.add(y, self.precision, RM)
    }

    /// The difference.
    pub fn sub(&self, x: &BigFloat, y: &BigFloat) -> BigFloat {
        x.sub(y, self.precision, RM)
    }

    /// The product.
    pub fn mul(&self, x: &BigFloat, y: &BigFloat) -> BigFloat {
        x.mul(y, self.precision, RM)
    }

    /// The quotient.
    pub fn div(&self, x: &BigFloat, y: &BigFloat) -> BigFloat {
        x.div(y, self.precision, RM)
    }

    /// `x` times a number.
    pub fn times(&self, x: &BigFloat, factor: f64) -> BigFloat {
        self.mul(x, &self.num(factor))
    }

    /// `x` plus a number.
    pub fn plus(&self, x: &BigFloat, term: f64) -> BigFloat {
        self.add(x, &self.num(term))
    }

    /// True where a few terms of a power series at 0 are enough.
    fn tiny(x: &BigFloat, bits: usize) -> bool {
        x.exponent().is_none_or(|e| e < -(bits as i32 / 4))
    }

    /// x + a x² + b x³.
    fn series(&self, x: &BigFloat, a: f64, b: &BigFloat) -> BigFloat {
        let tail = self.plus(&self.mul(x, b), a);
        self.add(x, &self.mul(&self.mul(x, x), &tail))
    }

    /// eˣ - 1.
    pub fn exp_m1(&mut self, x: &BigFloat) -> BigFloat {
        if Self::tiny(x, self.precision) {
            self.series(x, 0.5, &self.div(&self.num(1.0), &self.num(6.0)))
        } else {
            let e = self.exp(x);
            self.plus(&e, -1.0)
        }
    }

    /// log(1 + x).
    pub fn log1p(&mut self, x: &BigFloat) -> BigFloat {
        if Self::tiny(x, self.precision) {
            self.series(x, -0.5, &self.div(&self.num(1.0), &self.num(3.0)))
        } else {
            // Exact for an f64: the sum has at most 117 bits, or the 1 is far below the last.
            self.log(&self.plus(x, 1.0))
        }
    }

    /// 1 / (1 + e⁻ˣ).
    pub fn logistic(&mut self, x: &BigFloat) -> BigFloat {
        let e = self.exp(&x.neg());
        self.div(&self.num(1.0), &self.plus(&e, 1.0))
    }

    /// The hyperbolic tangent.
    pub fn tanh(&mut self, x: &BigFloat) -> BigFloat {
        if to_f64(x).abs() > 350.0 {
            return self.num(to_f64(x).signum());
        }
        let e = self.exp_m1(&self.add(x, x));
        self.div(&e, &self.plus(&e, 2.0))
    }

    /// π.
    pub fn pi(&mut self) -> BigFloat {
        let quarter = self.atan(&self.num(1.0));
        self.times(&quarter, 4.0)
    }

    /// The power series, which loses 60 bits at the most below 6.5; beyond, one.
    pub fn erf(&mut self, x: &BigFloat) -> BigFloat {
        if to_f64(x).abs() > 6.5 {
            return self.num(to_f64(x).signum());
        }
        let square = self.mul(x, x).neg();
        let (mut power, mut sum) = (x.clone(), x.clone());
        for n in 1..400 {
            power = self.div(&self.mul(&power, &square), &self.num(n.into()));
            let term = self.div(&power, &self.num(f64::from(2 * n + 1)));
            if term.exponent().zip(sum.exponent()).is_none_or(|(t, s)| t < s - self.precision as i32) {
                break;
            }
            sum = self.add(&sum, &term);
        }
        let root = self.pi();
        let root = self.sqrt(&root);
        self.div(&self.times(&sum, 2.0), &root)
    }

    /// |x|ʸ, negative for a negative `x` and an odd `y`.
    pub fn power(&mut self, x: &BigFloat, y: &BigFloat) -> BigFloat {
        let magnitude = self.log(&x.abs());
        let magnitude = self.exp(&self.mul(&magnitude, y));
        let odd = to_f64(y) % 2.0 != 0.0;
        if x.is_negative() && odd { magnitude.neg() } else { magnitude }
    }

    /// The angle of the point (x, y).
    pub fn atan2(&mut self, y: &BigFloat, x: &BigFloat) -> BigFloat {
        let angle = self.atan(&self.div(y, x));
        if !x.is_negative() {
            return angle;
        }
        let half_turn = self.pi();
        if y.is_negative() { self.sub(&angle, &half_turn) } else { self.add(&angle, &half_turn) }
    }

    /// 1 / √x.
    pub fn rsqrt(&mut self, x: &BigFloat) -> BigFloat {
        let root = self.sqrt(x);
        self.div(&self.num(1.0), &root)
    }

    /// √x.
    pub fn sqrt(&mut self, x: &BigFloat) -> BigFloat {
        x.sqrt(self.precision, RM)
    }

    /// The cube root.
    pub fn cbrt(&mut self, x: &BigFloat) -> BigFloat {
        x.cbrt(self.precision, RM)
    }

    /// The natural logarithm.
    pub fn log(&mut self, x: &BigFloat) -> BigFloat {
        x.ln(self.precision, RM, &mut self.constants)
    }
}

/// The functions that the library has.
macro_rules! given {
    ($($name:ident)*) => {
        impl Big {
            $(
                #[doc = concat!("`", stringify!($name), "`.")]
                pub fn $name(&mut self, x: &BigFloat) -> BigFloat {
                    x.$name(self.precision, RM, &mut self.constants)
                }
            )*
        }
    };
}
given! { exp sin cos tan asin acos atan sinh cosh asinh acosh atanh }

/// The nearest `f64` or one next to it.
pub fn to_f64(x: &BigFloat) -> f64 {
    if x.is_inf() {
        return if x.is_negative() { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    let Some((words, _, sign, exponent, _)) = x.as_raw_parts() else { return f64::NAN };
    // The value is 0.mantissa · 2^exponent, the last word being the highest.
    let unit = 2f64.powi(-64);
    let parts = words.iter().rev().take(2).fold((0.0, unit), |(sum, u), &w| (sum + w as f64 * u, u * unit));
    let value = libm::ldexp(parts.0, exponent);
    if sign == Sign::Neg { -value } else { value }
}
