//! Tests of printed floating-point numbers.

use hlo_ir::internals::Decimal;
use hlo_ir::print::{format_f32, format_f64};

#[test]
fn floats_print_as_c_prints_them() {
    for (value, text) in [
        (0.0f32, "0"),
        (-0.0, "-0"),
        (1.0, "1"),
        (1e10, "1e+10"),
        (1e-5, "1e-05"),
        (0.0001, "0.0001"),
        (0.00012, "0.00012"),
        (0.5, "0.5"),
        (123456.7, "123456.703"),
        (0.1, "0.1"),
        (999999.0, "999999"),
        (1e6, "1e+06"),
        (16777216.0, "16777216"),
        (3.4028235e38, "3.40282347e+38"),
        (1e-45, "1.4013e-45"),
        (-2.5, "-2.5"),
        // A tie at the ninth digit rounds to even.
        (2f32.powi(-13), "0.000122070312"),
        (f32::INFINITY, "inf"),
        (f32::NEG_INFINITY, "-inf"),
        (f32::from_bits(0x7fc0_0000), "nan"),
        (f32::from_bits(0xffc0_0000), "-nan"),
        (f32::from_bits(0x7f80_0007), "nan(0x7)"),
    ] {
        assert_eq!(format_f32(value), text);
    }
}

#[test]
fn doubles_print_with_15_or_17_digits() {
    for (value, text) in [
        (0.1, "0.1"),
        (1.0 / 3.0, "0.33333333333333331"),
        (1e300, "1e+300"),
        (5e-324, "4.94065645841247e-324"),
        (123456789012345.0, "123456789012345"),
        (1e15, "1e+15"),
        (1e5, "100000"),
        (1e6, "1000000"),
        (999999.5, "999999.5"),
    ] {
        assert_eq!(format_f64(value), text);
    }
}

/// The integer method computes the same digits as the standard library, for numbers of every size.
#[test]
fn both_ways_to_digits_agree() {
    let mut state = 1u64;
    let mut fast = 0;
    for i in 0..200_000 {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let random = f64::from_bits(state ^ state >> 29);
        let near_one = (state >> 11) as f64 / (1u64 << 50) as f64;
        let few_bits = (state >> 50) as f64 * 2f64.powi((state >> 40 & 63) as i32 - 40);
        let value = [random, near_one, few_bits, f64::from(near_one as f32)][i % 4].abs();
        if value.is_nan() || value.is_infinite() || value == 0.0 {
            continue;
        }
        for count in [2, 4, 6, 9, 15, 17] {
            if let Some(exact) = Decimal::exact(value, count) {
                fast += 1;
                assert_eq!(exact, Decimal::from_std(value, count), "{value:e} with {count} digits");
            }
        }
    }
    assert!(fast > 500_000, "{fast}");
}
