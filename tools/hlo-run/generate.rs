//! Generates inputs. The same seed always produces the same values.

use hlo_ir::{AlignedBytes, ArrayShape, ElementType, FloatFormat, Literal, Shape};

/// The distribution of values.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    /// Uniform in `[0, 1)`.
    Uniform,
    /// The standard normal distribution.
    Normal,
    /// Uniform integers in `low..high`.
    Integers {
        /// The smallest value.
        low: i64,
        /// One more than the largest value.
        high: i64,
    },
    /// A single value.
    Constant(f64),
}

/// The specification of a generated array: a value of the distribution, times `scale`, plus `shift`.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// The distribution of values.
    pub distribution: Distribution,
    /// The factor.
    pub scale: f64,
    /// The summand.
    pub shift: f64,
    /// The seed of the sequence.
    pub seed: u64,
}

impl Spec {
    /// Returns a specification of small values of a type. Integers that are used as indices are in
    /// `0..=bound`.
    pub fn small(ty: ElementType, bound: Option<i64>, seed: u64) -> Self {
        let integers = |low, high| Distribution::Integers { low, high };
        let distribution = match bound {
            Some(bound) if ty.is_integer() => integers(0, bound.saturating_add(1)),
            _ if ty.is_pred() => integers(0, 2),
            _ if ty.is_unsigned_integer() => integers(0, 11),
            _ if ty.is_signed_integer() => integers(-5, 6),
            // This type has no negative numbers.
            _ if ty == ElementType::F8E8M0Fnu => {
                return Self { distribution: Distribution::Uniform, scale: 1.0, shift: 0.0, seed };
            }
            _ => return Self { distribution: Distribution::Uniform, scale: 2.0, shift: -1.0, seed },
        };
        Self { distribution, scale: 1.0, shift: 0.0, seed }
    }

    /// Generates the array. Returns `None` if there is not enough memory.
    pub fn generate(&self, shape: &ArrayShape) -> Option<Literal> {
        let mut bytes = AlignedBytes::try_zeroed(shape.byte_size())?;
        let ty = shape.element_type;
        let mut random = Random::new(self.seed);
        let (least, greatest) = integer_range(ty);
        for number in bytes.chunks_exact_mut(ty.real_type().byte_size()) {
            match self.distribution {
                Distribution::Integers { low, high } if !(ty.is_float() || ty.is_complex()) => {
                    // Restrict the interval to the values of the type.
                    let end = high.min(greatest.saturating_add(1));
                    let value = random.integer(low.max(least), end).clamp(least, greatest);
                    let value = if ty.is_pred() { i64::from(value != 0) } else { value };
                    number.copy_from_slice(&value.to_le_bytes()[..number.len()]);
                }
                _ => encode(ty.real_type(), self.next(&mut random), number),
            }
        }
        Some(Literal::from_bytes(Shape::Array(ArrayShape { layout: None, ..shape.clone() }), bytes))
    }

    fn next(&self, random: &mut Random) -> f64 {
        let base = match self.distribution {
            Distribution::Uniform => random.uniform(),
            Distribution::Normal => random.normal(),
            Distribution::Integers { low, high } => random.integer(low, high) as f64,
            Distribution::Constant(value) => value,
        };
        base * self.scale + self.shift
    }
}

/// Returns the minimum and maximum of an integer type, as far as `i64` can represent them. For other types,
/// returns those of `i64`.
fn integer_range(ty: ElementType) -> (i64, i64) {
    let unused = 64u32.saturating_sub(ty.bit_width()).min(63);
    if ty.is_signed_integer() {
        (i64::MIN >> unused, i64::MAX >> unused)
    } else if ty.is_unsigned_integer() {
        (0, i64::try_from(u64::MAX >> unused).unwrap_or(i64::MAX))
    } else {
        (i64::MIN, i64::MAX)
    }
}

/// Writes a number as an element of a real type.
fn encode(ty: ElementType, value: f64, out: &mut [u8]) {
    let bits = match FloatFormat::of(ty) {
        Some(format) => format.encode(value).to_le_bytes(),
        // Integers from a real distribution are truncated, as in `convert`.
        None => {
            let (least, greatest) = integer_range(ty);
            (value as i64).clamp(least, greatest).to_le_bytes()
        }
    };
    out.copy_from_slice(&bits[..out.len()]);
}

/// SplitMix64: small, and good enough to fill arrays. It is not from a library, because those may change
/// (`fastrand` did with 2.1): a seed that was printed once must produce the same inputs later.
struct Random {
    state: u64,
    /// The second number of a pair of normally distributed numbers.
    spare: Option<f64>,
}

impl Random {
    fn new(seed: u64) -> Self {
        Self {
            state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x1234_5678_9abc_def1),
            spare: None,
        }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number in `[0, 1)`.
    fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns a normally distributed number by the Box-Muller method.
    fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        let (sin, cos) = (std::f64::consts::TAU * self.uniform()).sin_cos();
        self.spare = Some(radius * sin);
        radius * cos
    }

    /// Returns an integer in `low..high`, or `low` if that is empty.
    fn integer(&mut self, low: i64, high: i64) -> i64 {
        let range = high.wrapping_sub(low).max(1) as u64;
        // The high part of the product is uniform enough, and needs no division.
        let offset = (u128::from(self.next()) * u128::from(range)) >> 64;
        low.wrapping_add(offset as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generate(ty: ElementType, bound: Option<i64>) -> Literal {
        Spec::small(ty, bound, 7).generate(&ArrayShape::new(ty, [1000])).unwrap()
    }

    #[test]
    fn the_same_seed_gives_the_same_values() {
        for &ty in ElementType::ALL {
            assert_eq!(generate(ty, None), generate(ty, None));
        }
        let shape = ArrayShape::new(ElementType::F32, [1000]);
        let other = Spec::small(ElementType::F32, None, 8).generate(&shape).unwrap();
        assert_ne!(generate(ElementType::F32, None), other);
    }

    #[test]
    fn indices_are_in_range_and_reach_its_ends() {
        let literal = generate(ElementType::S32, Some(3));
        let mut values = literal.elements::<i32>().to_vec();
        values.sort_unstable();
        values.dedup();
        assert_eq!(values, [0, 1, 2, 3]);
    }

    #[test]
    fn values_are_small() {
        assert!(generate(ElementType::S8, None).elements::<i8>().iter().all(|v| (-5..=5).contains(v)));
        assert!(generate(ElementType::S2, None).elements::<i8>().iter().all(|v| (-2..=1).contains(v)));
        assert!(generate(ElementType::U2, None).elements::<u8>().iter().all(|v| *v <= 3));
        assert!(generate(ElementType::Pred, None).elements::<u8>().iter().all(|v| *v <= 1));
        assert!(generate(ElementType::F32, None).elements::<f32>().iter().all(|v| v.abs() <= 1.0));
        for ty in [ElementType::F8E4M3Fn, ElementType::F8E5M2Fnuz, ElementType::F4E2M1Fn] {
            let literal = generate(ty, None);
            let format = FloatFormat::of(ty).unwrap();
            assert!(literal.bytes().iter().all(|&b| format.decode(b.into()).abs() <= 1.0), "{ty}");
        }
    }

    #[test]
    fn integers_are_of_their_type() {
        let bytes = |ty, distribution| {
            let spec = Spec { distribution, scale: 1.0, shift: 0.0, seed: 3 };
            let mut bytes = spec.generate(&ArrayShape::new(ty, [1000])).unwrap().bytes().to_vec();
            bytes.sort_unstable_by_key(|&b| b as i8);
            bytes.dedup();
            bytes
        };
        // With the bound of a long dimension, indices use the range of the type.
        let indices = |ty| bytes(ty, Spec::small(ty, Some(1000), 0).distribution);
        assert_eq!(indices(ElementType::U1), [0, 1]);
        assert_eq!(indices(ElementType::S1), [0]);
        assert_eq!(indices(ElementType::U2), [0, 1, 2, 3]);
        assert_eq!(indices(ElementType::S2), [0, 1]);
        assert_eq!(indices(ElementType::S4), (0..=7).collect::<Vec<u8>>());
        assert_eq!(indices(ElementType::U4), (0..=15).collect::<Vec<u8>>());
        assert!(indices(ElementType::S8).iter().all(|&b| b <= 127));
        // As specified in a case.
        let wide = Distribution::Integers { low: -100, high: 100 };
        assert_eq!(bytes(ElementType::U2, wide.clone()), [0, 1, 2, 3]);
        assert_eq!(bytes(ElementType::S2, wide), [-2i8 as u8, -1i8 as u8, 0, 1]);
        assert_eq!(bytes(ElementType::S4, Distribution::Constant(1e9)), [7]);
        assert_eq!(bytes(ElementType::U4, Distribution::Constant(-3.0)), [0]);
        assert_eq!(bytes(ElementType::S2, Distribution::Integers { low: 50, high: 60 }), [1]);
    }

    #[test]
    fn the_normal_distribution_has_its_moments() {
        let spec = Spec { distribution: Distribution::Normal, scale: 1.0, shift: 0.0, seed: 3 };
        let literal = spec.generate(&ArrayShape::new(ElementType::F64, [100_000])).unwrap();
        let values = literal.elements::<f64>();
        let mean = values.iter().sum::<f64>() / 1e5;
        let variance = values.iter().map(|v| v * v).sum::<f64>() / 1e5;
        assert!(mean.abs() < 0.02 && (variance - 1.0).abs() < 0.02, "{mean} {variance}");
    }
}
