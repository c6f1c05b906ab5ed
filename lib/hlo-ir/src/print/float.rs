//! Floats in text as XLA prints them: C's `%g` with as few digits as read back to the same value.

use std::fmt::{self, Write};

/// Writes a finite or infinite `value` as C's `printf("%.{digits}g")` does.
pub fn write_g(out: &mut dyn Write, value: f64, digits: usize) -> fmt::Result {
    if value.is_infinite() {
        return out.write_str(if value < 0.0 { "-inf" } else { "inf" });
    }
    let digits = digits.max(1);
    let scientific = format!("{value:.*e}", digits - 1);
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return out.write_str(&scientific) };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", mantissa),
    };
    let trimmed = mantissa.trim_end_matches('0').trim_end_matches('.');
    out.write_str(sign)?;
    if exponent < -4 || exponent >= digits as i32 {
        let exponent_sign = if exponent < 0 { '-' } else { '+' };
        return write!(out, "{trimmed}e{exponent_sign}{:02}", exponent.abs());
    }
    let number = trimmed.replace('.', "");
    if exponent < 0 {
        out.write_str("0.")?;
        for _ in 1..-exponent {
            out.write_str("0")?;
        }
        return out.write_str(&number);
    }
    let whole = exponent as usize + 1;
    if number.len() <= whole {
        out.write_str(&number)?;
        for _ in number.len()..whole {
            out.write_str("0")?;
        }
        return Ok(());
    }
    write!(out, "{}.{}", &number[..whole], &number[whole..])
}

/// Writes an `f32` with 6 significant digits if they read back to the same value, else with 9.
pub fn write_f32(out: &mut dyn Write, value: f32) -> fmt::Result {
    if value.is_nan() {
        return write_nan(out, u64::from(value.to_bits()), 23, 32);
    }
    // Small integers, the commonest constants, need no search.
    if value.abs() < 1e6 && value.fract() == 0.0 && (value != 0.0 || value.is_sign_positive()) {
        return write!(out, "{}", value as i64);
    }
    let short = g(f64::from(value), 6);
    match short.parse::<f64>() {
        Ok(back) if back as f32 == value => out.write_str(&short),
        _ => write_g(out, f64::from(value), 9),
    }
}

/// Writes an `f64` with 15 significant digits if they read back to the same value, else with 17.
pub fn write_f64(out: &mut dyn Write, value: f64) -> fmt::Result {
    if value.is_nan() {
        return write_nan(out, value.to_bits(), 52, 64);
    }
    let short = g(value, 15);
    match short.parse::<f64>() {
        Ok(back) if back == value => out.write_str(&short),
        _ => write_g(out, value, 17),
    }
}

fn g(value: f64, digits: usize) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = write_g(&mut out, value, digits);
    out
}

/// Writes a NaN given by its bits, of a type with so many mantissa bits and bits in all: the payload is
/// printed unless it is that of the default quiet NaN.
pub fn write_nan(out: &mut dyn Write, bits: u64, mantissa: u32, width: u32) -> fmt::Result {
    if bits >> (width - 1) & 1 != 0 {
        out.write_str("-")?;
    }
    out.write_str("nan")?;
    let payload = bits & ((1 << mantissa) - 1);
    if payload != 1 << (mantissa - 1) {
        write!(out, "(0x{payload:x})")?;
    }
    Ok(())
}

/// The shortest decimal text that reads back to the same `f32`, as XLA prints it.
pub fn format_f32(value: f32) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = write_f32(&mut out, value);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_print_as_c_prints_them() {
        for (value, text) in [
            (0.0f32, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (1e10, "1e+10"),
            (1e-5, "1e-05"),
            (0.0001, "0.0001"),
            (123456.7, "123456.703"),
            (0.1, "0.1"),
            (999999.0, "999999"),
            (1e6, "1e+06"),
            (16777216.0, "16777216"),
            (3.4028235e38, "3.40282347e+38"),
            (1e-45, "1.4013e-45"),
            (-2.5, "-2.5"),
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
        ] {
            let mut out = String::new();
            assert!(write_f64(&mut out, value).is_ok());
            assert_eq!(out, text);
        }
    }
}
