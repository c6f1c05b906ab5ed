//! Element types at the C interface, and the operations that generic loops need for each.

use half::{bf16, f16};
use num_complex::Complex;

use crate::error::Error;

macro_rules! element_codes {
    ($($(#[$doc:meta])* $variant:ident = $code:literal, $bytes:literal;)*) => {
        /// The code of an element type in a descriptor. The values are part of the interface of compiled
        /// objects.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(i64)]
        pub enum ElementCode { $($(#[$doc])* $variant = $code,)* }

        impl ElementCode {
            /// All codes.
            pub const ALL: &[ElementCode] = &[$(ElementCode::$variant,)*];

            /// Returns the element type with code `code`.
            ///
            /// # Errors
            /// Returns an error if no type has this code.
            pub fn from_code(code: i64) -> Result<ElementCode, Error> {
                match code {
                    $($code => Ok(ElementCode::$variant),)*
                    _ => Err(Error(format!("unknown element type code {code}"))),
                }
            }

            /// Returns the size of one element in memory, in bytes.
            pub fn byte_size(self) -> usize {
                match self { $(ElementCode::$variant => $bytes,)* }
            }
        }
    };
}

element_codes! {
    /// A predicate in one byte, 0 or 1.
    Pred = 1, 1;
    /// A signed 8-bit integer; also the storage of narrower signed types.
    S8 = 2, 1;
    /// A signed 16-bit integer.
    S16 = 3, 2;
    /// A signed 32-bit integer.
    S32 = 4, 4;
    /// A signed 64-bit integer.
    S64 = 5, 8;
    /// An unsigned 8-bit integer; also the storage of narrower unsigned types.
    U8 = 6, 1;
    /// An unsigned 16-bit integer.
    U16 = 7, 2;
    /// An unsigned 32-bit integer.
    U32 = 8, 4;
    /// An unsigned 64-bit integer.
    U64 = 9, 8;
    /// IEEE half precision.
    F16 = 10, 2;
    /// bfloat16.
    Bf16 = 11, 2;
    /// IEEE single precision.
    F32 = 12, 4;
    /// IEEE double precision.
    F64 = 13, 8;
    /// A complex number: a pair of f32.
    C64 = 14, 8;
    /// A complex number: a pair of f64.
    C128 = 15, 16;
}

/// The types in which products and sums accumulate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accumulator {
    /// Predicates: the logical or of logical ands.
    Pred,
    /// Integers for results of up to 32 bits, wrapping.
    I32,
    /// Integers for results of 64 bits, wrapping.
    I64,
    /// Floating-point numbers for results of up to 32 bits.
    F32,
    /// Floating-point numbers for results of 64 bits.
    F64,
    /// Complex numbers of pairs of f32.
    C64,
    /// Complex numbers of pairs of f64.
    C128,
}

impl ElementCode {
    /// Returns whether the type is complex.
    pub fn is_complex(self) -> bool {
        matches!(self, ElementCode::C64 | ElementCode::C128)
    }

    /// Returns whether the type is a real floating-point type.
    pub fn is_float(self) -> bool {
        matches!(self, ElementCode::F16 | ElementCode::Bf16 | ElementCode::F32 | ElementCode::F64)
    }
}

/// Returns the accumulator for products of `lhs` and `rhs` whose sum is stored as `out`. It is wide enough
/// for all three types.
///
/// # Errors
/// Returns an error if the types are of several kinds (complex, floating-point, integer), or if `out` is
/// `pred` and an operand is an integer.
pub fn accumulator(lhs: ElementCode, rhs: ElementCode, out: ElementCode) -> Result<Accumulator, Error> {
    let all = [lhs, rhs, out];
    if all.iter().all(|t| t.is_complex()) {
        return Ok(if all.contains(&ElementCode::C128) { Accumulator::C128 } else { Accumulator::C64 });
    }
    if all.iter().all(|t| t.is_float()) {
        return Ok(if all.contains(&ElementCode::F64) { Accumulator::F64 } else { Accumulator::F32 });
    }
    if all.iter().all(|t| *t == ElementCode::Pred) {
        return Ok(Accumulator::Pred);
    }
    if all.iter().all(|t| !t.is_complex() && !t.is_float()) && out != ElementCode::Pred {
        return Ok(if out.byte_size() == 8 { Accumulator::I64 } else { Accumulator::I32 });
    }
    Err(Error(format!("no product of {lhs:?} and {rhs:?} gives {out:?}")))
}

/// Returns whether `hlo_rt_dot` and `hlo_rt_conv` support these element types.
pub fn has_product(lhs: ElementCode, rhs: ElementCode, out: ElementCode) -> bool {
    accumulator(lhs, rhs, out).is_ok()
}

/// A number type in which sums of products accumulate.
pub trait Number: Copy + Send + Sync + 'static {
    /// The empty sum.
    const ZERO: Self;
    /// Returns `self + a * b`. Each operation rounds (or wraps) separately.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// Returns the sum of `self` and `other`.
    fn plus(self, other: Self) -> Self;
    /// Returns whether the number is neither infinite nor NaN. If it is infinite or NaN, its product with
    /// zero is not zero.
    fn is_finite(self) -> bool;
    /// Loads the element of type `code` at `pointer`. The conversion is exact if the accumulator was chosen
    /// for this type.
    ///
    /// # Safety
    /// `pointer` must be readable for an element of type `code` (any alignment).
    unsafe fn load(code: ElementCode, pointer: *const u8) -> Self;
    /// Stores the value as an element of type `code`. The conversion rounds once or wraps.
    ///
    /// # Safety
    /// `pointer` must be writable for an element of type `code` (any alignment).
    unsafe fn store(self, code: ElementCode, pointer: *mut u8);
}

/// # Safety
/// `p` must be readable for a `T` (any alignment).
#[inline(always)]
unsafe fn read<T: Copy>(p: *const u8) -> T {
    // SAFETY: guaranteed by the caller.
    unsafe { p.cast::<T>().read_unaligned() }
}

/// # Safety
/// `p` must be writable for a `T` (any alignment).
#[inline(always)]
unsafe fn write<T: Copy>(p: *mut u8, value: T) {
    // SAFETY: guaranteed by the caller.
    unsafe { p.cast::<T>().write_unaligned(value) }
}

macro_rules! impl_integer_number {
    ($t:ty) => {
        impl Number for $t {
            const ZERO: Self = 0;
            #[inline(always)]
            fn mul_add(self, a: Self, b: Self) -> Self {
                self.wrapping_add(a.wrapping_mul(b))
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                true
            }
            #[inline(always)]
            unsafe fn load(code: ElementCode, p: *const u8) -> Self {
                // SAFETY: guaranteed by the caller; wrapping casts are exact modulo the accumulator's width.
                unsafe {
                    match code {
                        ElementCode::Pred | ElementCode::U8 => *p as $t,
                        ElementCode::S8 => read::<i8>(p) as $t,
                        ElementCode::S16 => read::<i16>(p) as $t,
                        ElementCode::S32 => read::<i32>(p) as $t,
                        ElementCode::S64 => read::<i64>(p) as $t,
                        ElementCode::U16 => read::<u16>(p) as $t,
                        ElementCode::U32 => read::<u32>(p) as $t,
                        ElementCode::U64 => read::<u64>(p) as $t,
                        ElementCode::F16 => f32::from(read::<f16>(p)) as $t,
                        ElementCode::Bf16 => f32::from(read::<bf16>(p)) as $t,
                        ElementCode::F32 | ElementCode::C64 => read::<f32>(p) as $t,
                        ElementCode::F64 | ElementCode::C128 => read::<f64>(p) as $t,
                    }
                }
            }
            #[inline(always)]
            unsafe fn store(self, code: ElementCode, p: *mut u8) {
                // SAFETY: guaranteed by the caller.
                unsafe {
                    match code {
                        ElementCode::Pred => *p = u8::from(self != 0),
                        ElementCode::S8 | ElementCode::U8 => *p = self as u8,
                        ElementCode::S16 | ElementCode::U16 => write(p, self as u16),
                        ElementCode::S32 | ElementCode::U32 => write(p, self as u32),
                        ElementCode::S64 | ElementCode::U64 => write(p, self as u64),
                        ElementCode::F16 => write(p, f16::from_f32(self as f32)),
                        ElementCode::Bf16 => write(p, bf16::from_f32(self as f32)),
                        ElementCode::F32 => write(p, self as f32),
                        ElementCode::F64 => write(p, self as f64),
                        ElementCode::C64 => write(p, Complex::new(self as f32, 0.0)),
                        ElementCode::C128 => write(p, Complex::new(self as f64, 0.0)),
                    }
                }
            }
        }
    };
}

impl_integer_number!(i32);
impl_integer_number!(i64);

macro_rules! impl_float_number {
    ($t:ty) => {
        impl Number for $t {
            const ZERO: Self = 0.0;
            #[inline(always)]
            fn mul_add(self, a: Self, b: Self) -> Self {
                self + a * b
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                self.is_finite()
            }
            #[inline(always)]
            unsafe fn load(code: ElementCode, p: *const u8) -> Self {
                // SAFETY: guaranteed by the caller.
                unsafe {
                    match code {
                        ElementCode::F16 => f32::from(read::<f16>(p)) as $t,
                        ElementCode::Bf16 => f32::from(read::<bf16>(p)) as $t,
                        ElementCode::F32 | ElementCode::C64 => read::<f32>(p) as $t,
                        ElementCode::F64 | ElementCode::C128 => read::<f64>(p) as $t,
                        ElementCode::Pred
                        | ElementCode::S8
                        | ElementCode::S16
                        | ElementCode::S32
                        | ElementCode::S64
                        | ElementCode::U8
                        | ElementCode::U16
                        | ElementCode::U32
                        | ElementCode::U64 => i64::load(code, p) as $t,
                    }
                }
            }
            #[inline(always)]
            unsafe fn store(self, code: ElementCode, p: *mut u8) {
                // SAFETY: guaranteed by the caller.
                unsafe {
                    match code {
                        // Converting f64 directly to the narrow types rounds only once.
                        ElementCode::F16 => write(p, f16::from_f64(self as f64)),
                        ElementCode::Bf16 => write(p, bf16::from_f64(self as f64)),
                        ElementCode::F32 => write(p, self as f32),
                        ElementCode::F64 => write(p, self as f64),
                        ElementCode::C64 => write(p, Complex::new(self as f32, 0.0)),
                        ElementCode::C128 => write(p, Complex::new(self as f64, 0.0)),
                        ElementCode::Pred => *p = u8::from(self != 0.0),
                        ElementCode::S8
                        | ElementCode::S16
                        | ElementCode::S32
                        | ElementCode::S64
                        | ElementCode::U8
                        | ElementCode::U16
                        | ElementCode::U32
                        | ElementCode::U64 => (self as i64).store(code, p),
                    }
                }
            }
        }
    };
}

impl_float_number!(f32);
impl_float_number!(f64);

macro_rules! impl_complex_number {
    ($t:ty) => {
        impl Number for Complex<$t> {
            const ZERO: Self = Complex::new(0.0, 0.0);
            #[inline(always)]
            fn mul_add(self, a: Self, b: Self) -> Self {
                self + a * b
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                self.re.is_finite() && self.im.is_finite()
            }
            #[inline(always)]
            unsafe fn load(code: ElementCode, p: *const u8) -> Self {
                // SAFETY: guaranteed by the caller.
                unsafe {
                    match code {
                        ElementCode::C64 => {
                            let v = read::<Complex<f32>>(p);
                            Complex::new(v.re as $t, v.im as $t)
                        }
                        ElementCode::C128 => {
                            let v = read::<Complex<f64>>(p);
                            Complex::new(v.re as $t, v.im as $t)
                        }
                        _ => Complex::new(<$t as Number>::load(code, p), 0.0),
                    }
                }
            }
            #[inline(always)]
            unsafe fn store(self, code: ElementCode, p: *mut u8) {
                // SAFETY: guaranteed by the caller.
                unsafe {
                    match code {
                        ElementCode::C64 => write(p, Complex::new(self.re as f32, self.im as f32)),
                        ElementCode::C128 => write(p, Complex::new(self.re as f64, self.im as f64)),
                        _ => self.re.store(code, p),
                    }
                }
            }
        }
    };
}

impl_complex_number!(f32);
impl_complex_number!(f64);

/// A predicate as an accumulator: the logical or of logical ands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truth(pub u8);

impl Number for Truth {
    const ZERO: Self = Truth(0);
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        Truth(self.0 | (a.0 & b.0))
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Truth(self.0 | other.0)
    }
    #[inline(always)]
    fn is_finite(self) -> bool {
        true
    }
    #[inline(always)]
    unsafe fn load(code: ElementCode, p: *const u8) -> Self {
        // SAFETY: guaranteed by the caller.
        Truth(u8::from(unsafe { i64::load(code, p) } != 0))
    }
    #[inline(always)]
    unsafe fn store(self, code: ElementCode, p: *mut u8) {
        // SAFETY: guaranteed by the caller.
        unsafe { i64::from(self.0).store(code, p) }
    }
}
