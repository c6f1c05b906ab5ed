//! Tests of integer operations, comparisons and conversions, which are exact.

use super::Compiled;
use hlo_ir::ElementType::*;
use hlo_ir::Op;
use hlo_testing::Numbers;

macro_rules! integers {
    ($name:ident $t:ident $element:ident $unsigned:ident) => {
        #[test]
        fn $name() {
            let mut random = Numbers::new(7);
            let special: Vec<$t> =
                [0, 1, 2, 3, 7, $t::MAX, $t::MIN, $t::MAX - 1, $t::MIN + 1, (0 as $t).wrapping_sub(1)]
                    .to_vec();
            let (mut xs, mut ys) = (Vec::new(), Vec::new());
            for &a in &special {
                for &b in &special {
                    xs.push(a);
                    ys.push(b);
                }
            }
            for _ in 0..500 {
                xs.push(random.bits() as $t);
                ys.push(random.bits() as $t >> (random.bits() % u64::from($t::BITS)));
                xs.push(random.bits() as $t);
                ys.push((random.bits() % (2 * u64::from($t::BITS))) as $t);
            }
            let bits = $t::BITS as $unsigned;
            let check = |op: Op, f: &dyn Fn($t, $t) -> $t| {
                let got: Vec<$t> = Compiled::new(op.clone(), $element, &[$element; 2]).on(&[&xs, &ys]);
                for ((&x, &y), &r) in xs.iter().zip(&ys).zip(&got) {
                    assert_eq!(r, f(x, y), "{} of {x} and {y}", op.name());
                }
            };
            check(Op::Add, &|x, y| x.wrapping_add(y));
            check(Op::Subtract, &|x, y| x.wrapping_sub(y));
            check(Op::Multiply, &|x, y| x.wrapping_mul(y));
            check(Op::Divide, &|x, y| if y == 0 { (0 as $t).wrapping_sub(1) } else { x.wrapping_div(y) });
            check(Op::Remainder, &|x, y| if y == 0 { x } else { x.wrapping_rem(y) });
            check(Op::Maximum, &|x, y| x.max(y));
            check(Op::Minimum, &|x, y| x.min(y));
            check(Op::And, &|x, y| x & y);
            check(Op::Or, &|x, y| x | y);
            check(Op::Xor, &|x, y| x ^ y);
            check(Op::ShiftLeft, &|x, y| if (y as $unsigned) < bits { x << y } else { 0 });
            check(Op::ShiftRightLogical, &|x, y| {
                if (y as $unsigned) < bits { ((x as $unsigned) >> y) as $t } else { 0 }
            });
            check(Op::ShiftRightArithmetic, &|x, y| {
                let signed = x as i128 as i64 as i128;
                let sign_extended = if $t::MIN == 0 {
                    ((signed << (128 - $t::BITS)) >> (128 - $t::BITS)) as i128
                } else {
                    signed
                };
                (sign_extended >> (y as $unsigned).min(bits - 1)) as $t
            });
            check(Op::Mulhi, &|x, y| ((x as i128).wrapping_mul(y as i128) >> $t::BITS) as $t);
            check(Op::Power, &|x, y| {
                #[allow(unused_comparisons, reason = "the macro serves unsigned types too")]
                if y < 0 {
                    return match x as i128 {
                        1 => 1,
                        -1 => {
                            if y & 1 == 1 {
                                (0 as $t).wrapping_sub(1)
                            } else {
                                1
                            }
                        }
                        _ => 0,
                    };
                }
                let (mut r, mut s, mut e) = (1 as $t, x, y);
                while e != 0 {
                    if e & 1 == 1 {
                        r = r.wrapping_mul(s);
                    }
                    s = s.wrapping_mul(s);
                    e >>= 1;
                }
                r
            });
            let unary = |op: Op, f: &dyn Fn($t) -> $t| {
                let got: Vec<$t> = Compiled::new(op.clone(), $element, &[$element]).on(&[&xs]);
                for (&x, &r) in xs.iter().zip(&got) {
                    assert_eq!(r, f(x), "{} of {x}", op.name());
                }
            };
            unary(Op::Negate, &|x| x.wrapping_neg());
            unary(Op::Not, &|x| !x);
            unary(Op::CountLeadingZeros, &|x| x.leading_zeros() as $t);
            unary(Op::PopulationCount, &|x| x.count_ones() as $t);
            #[allow(unused_comparisons, reason = "the macro serves unsigned types too")]
            unary(Op::Abs, &|x| if x < 0 { x.wrapping_neg() } else { x });
            #[allow(unused_comparisons, reason = "the macro serves unsigned types too")]
            unary(Op::Sign, &|x| if x < 0 { (0 as $t).wrapping_sub(1) } else { (x > 0) as $t });
            let to_float: Vec<f32> = Compiled::new(Op::Convert, F32, &[$element]).on(&[&xs]);
            let to_double: Vec<f64> = Compiled::new(Op::Convert, F64, &[$element]).on(&[&xs]);
            for ((&x, &f), &d) in xs.iter().zip(&to_float).zip(&to_double) {
                assert_eq!((f, d), (x as f32, x as f64));
            }
            let floats: Vec<f32> = (0..4000)
                .map(|_| f32::from_bits(random.bits() as u32))
                .chain([
                    0.0,
                    -0.0,
                    0.5,
                    -0.5,
                    1e10,
                    -1e10,
                    f32::NAN,
                    f32::INFINITY,
                    f32::NEG_INFINITY,
                    2147483648.0,
                    4294967296.0,
                    -2147483648.0,
                    9223372036854775808.0,
                    18446744073709551616.0,
                    127.5,
                    128.0,
                    255.5,
                    256.0,
                    -128.5,
                    -129.0,
                ])
                .collect();
            let from_float: Vec<$t> = Compiled::new(Op::Convert, $element, &[F32]).on(&[&floats]);
            for (&x, &r) in floats.iter().zip(&from_float) {
                assert_eq!(r, x as $t, "convert of {x}");
            }
            let doubles: Vec<f64> = floats.iter().map(|&x| f64::from(x) * 1.0000001).collect();
            let from_double: Vec<$t> = Compiled::new(Op::Convert, $element, &[F64]).on(&[&doubles]);
            for (&x, &r) in doubles.iter().zip(&from_double) {
                assert_eq!(r, x as $t, "convert of {x}");
            }
        }
    };
}

integers! { operations_on_s8 i8 S8 u8 }
integers! { operations_on_s16 i16 S16 u16 }
integers! { operations_on_s32 i32 S32 u32 }
integers! { operations_on_s64 i64 S64 u64 }
integers! { operations_on_u8 u8 U8 u8 }
integers! { operations_on_u16 u16 U16 u16 }
integers! { operations_on_u32 u32 U32 u32 }
integers! { operations_on_u64 u64 U64 u64 }

#[test]
fn four_bit_integers_wrap_and_keep_their_sign() {
    let x: Vec<i8> = (0..256).map(|i| ((i / 16) as i8) << 4 >> 4).collect();
    let y: Vec<i8> = (0..256).map(|i| ((i % 16) as i8) << 4 >> 4).collect();
    let wrap = |v: i8| v << 4 >> 4;
    let sum: Vec<i8> = Compiled::new(Op::Add, S4, &[S4; 2]).on(&[&x, &y]);
    let quotient: Vec<i8> = Compiled::new(Op::Divide, S4, &[S4; 2]).on(&[&x, &y]);
    for i in 0..256 {
        assert_eq!(sum[i], wrap(x[i] + y[i]));
        assert_eq!(quotient[i], if y[i] == 0 { -1 } else { wrap(x[i].wrapping_div(y[i])) });
    }
}

#[test]
fn extrema_of_floats_propagate_nan_and_order_zeros() {
    let x = [1.0f32, f32::NAN, 0.0, -0.0, 3.0, f32::NEG_INFINITY];
    let y = [2.0f32, 1.0, -0.0, 0.0, f32::NAN, 1.0];
    let max: Vec<f32> = Compiled::new(Op::Maximum, F32, &[F32; 2]).on(&[&x, &y]);
    let min: Vec<f32> = Compiled::new(Op::Minimum, F32, &[F32; 2]).on(&[&x, &y]);
    assert_eq!(max[0], 2.0);
    assert!(max[1].is_nan() && max[4].is_nan() && min[1].is_nan() && min[4].is_nan());
    assert!(max[2].is_sign_positive() && max[3].is_sign_positive());
    assert!(min[2].is_sign_negative() && min[3].is_sign_negative());
    assert_eq!((max[5], min[5]), (1.0, f32::NEG_INFINITY));
}

#[test]
fn remainder_and_rounding_of_floats_are_exact() {
    let mut random = Numbers::new(9);
    let x: Vec<f32> = (0..5000)
        .map(|_| f32::from_bits(random.bits() as u32))
        .chain([2.5, -2.5, 0.49999997, -0.0, 8388609.0])
        .collect();
    let y: Vec<f32> = x.iter().map(|_| f32::from_bits(random.bits() as u32)).collect();
    let same = |a: f32, b: f32| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
    let r: Vec<f32> = Compiled::new(Op::Remainder, F32, &[F32; 2]).on(&[&x, &y]);
    let even: Vec<f32> = Compiled::new(Op::RoundNearestEven, F32, &[F32]).on(&[&x]);
    let away: Vec<f32> = Compiled::new(Op::RoundNearestAfz, F32, &[F32]).on(&[&x]);
    let floor: Vec<f32> = Compiled::new(Op::Floor, F32, &[F32]).on(&[&x]);
    for i in 0..x.len() {
        assert!(same(r[i], x[i] % y[i]), "{} % {}", x[i], y[i]);
        assert!(same(even[i], x[i].round_ties_even()), "{}", x[i]);
        assert!(same(away[i], x[i].round()), "{}", x[i]);
        assert!(same(floor[i], x[i].floor()), "{}", x[i]);
    }
}
