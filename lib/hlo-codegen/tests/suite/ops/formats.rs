//! Tests of narrow floats: every bit pattern, and rounding to the formats.

use super::Compiled;
use hlo_codegen::internals::Format;
use hlo_ir::{ElementType, Op};
use hlo_testing::Numbers;

/// Returns the bits of the nearest value of a format, found by a search over all of its bit patterns. Ties go
/// to the even pattern.
fn nearest(format: Format, ty: ElementType, x: f32) -> Option<u32> {
    let patterns = 1u32 << ty.bit_width();
    let mut best: Option<(f64, u32)> = None;
    for bits in 0..patterns {
        let v = format.decode_constant(bits);
        if !v.is_finite() || (v != 0.0 && v.is_sign_negative() != x.is_sign_negative()) {
            continue;
        }
        let d = (f64::from(v) - f64::from(x)).abs();
        let better = match best {
            None => true,
            Some((e, b)) => d < e || (d == e && bits % 2 == 0 && b % 2 == 1),
        };
        if better {
            best = Some((d, bits));
        }
    }
    best.map(|b| b.1)
}

fn narrow_types() -> Vec<ElementType> {
    ElementType::ALL.iter().copied().filter(|&t| t.is_float() && t.bit_width() <= 8).collect()
}

#[test]
fn every_pattern_of_the_small_formats_survives() {
    for ty in narrow_types() {
        let format = Format::of(ty).expect("a narrow format");
        let patterns: Vec<u8> = (0..1u32 << ty.bit_width()).map(|b| b as u8).collect();
        let wide: Vec<f32> = Compiled::new(Op::Convert, ElementType::F32, &[ty]).on(&[&patterns]);
        let back: Vec<u8> = Compiled::new(Op::Convert, ty, &[ElementType::F32]).on(&[&wide]);
        for (i, &bits) in patterns.iter().enumerate() {
            let want = format.decode_constant(u32::from(bits));
            assert!(wide[i] == want || (wide[i].is_nan() && want.is_nan()), "{ty} {bits:#x}: {}", wide[i]);
            if !want.is_nan() {
                assert_eq!(back[i], bits, "{ty} {want}");
            }
        }
    }
}

/// Moves preserve all bits, including those of NaNs. Tests every pattern with `copy`, `select` and
/// `bitcast-convert`.
#[test]
fn every_pattern_of_the_narrow_formats_is_moved_as_it_is() {
    for ty in ElementType::ALL.iter().copied().filter(|&t| t.is_float() && t.bit_width() <= 16) {
        let size = ty.byte_size();
        let patterns: Vec<u8> =
            (0..1u32 << ty.bit_width()).flat_map(|b| b.to_le_bytes()[..size].to_vec()).collect();
        let n = patterns.len() / size;
        assert_eq!(Compiled::new(Op::Copy, ty, &[ty]).run(&[&patterns]), patterns, "copy of {ty}");
        let select = Compiled::new(Op::Select, ty, &[ElementType::Pred, ty, ty]);
        let (chosen, zeros) = (vec![1; n], vec![0; patterns.len()]);
        assert_eq!(select.run(&[&chosen, &patterns, &zeros]), patterns, "select of {ty}");
        let integer = match ty.bit_width() {
            4 => ElementType::U4,
            8 => ElementType::U8,
            16 => ElementType::U16,
            _ => continue,
        };
        for (to, from) in [(integer, ty), (ty, integer)] {
            let got = Compiled::new(Op::BitcastConvert, to, &[from]).run(&[&patterns]);
            assert_eq!(got, patterns, "bitcast-convert of {from} to {to}");
        }
    }
}

#[test]
fn rounding_to_the_small_formats_is_to_nearest_even() {
    let mut random = Numbers::new(4);
    // f8e8m0fnu, whose ties round up, has its own test.
    for ty in narrow_types().into_iter().filter(|&t| t != ElementType::F8E8M0Fnu) {
        let format = Format::of(ty).expect("a narrow format");
        let finite: Vec<f32> = (0..1u32 << ty.bit_width())
            .map(|b| format.decode_constant(b))
            .filter(|v| v.is_finite())
            .collect();
        let max = finite.iter().copied().fold(0.0f32, f32::max);
        let mut x: Vec<f32> = Vec::new();
        for &v in &finite {
            // Values around each value and around the middle between two values.
            for &w in &finite {
                if v.is_sign_negative() == w.is_sign_negative() && (v - w).abs() <= v.abs() {
                    let middle = ((f64::from(v) + f64::from(w)) / 2.0) as f32;
                    x.extend([middle, middle.next_up(), middle.next_down()]);
                }
            }
        }
        for _ in 0..500 {
            x.push(f32::from_bits(random.bits() as u32));
        }
        x.retain(|v| v.abs() <= max);
        x.dedup();
        x.truncate(6000);
        let got: Vec<u8> = Compiled::new(Op::Convert, ty, &[ElementType::F32]).on(&[&x]);
        for (&x, &bits) in x.iter().zip(&got) {
            let Some(want) = nearest(format, ty, x) else { continue };
            let (v, w) = (format.decode_constant(u32::from(bits)), format.decode_constant(want));
            assert_eq!(v, w, "{ty} of {x:e}: {bits:#x}, want {want:#x}");
        }
    }
}

#[test]
fn overflow_and_nan_follow_each_format() {
    let x = [f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e30, -1e30, -0.0];
    // The bit patterns that ml_dtypes produces.
    let wants: [(ElementType, [u8; 6]); 11] = [
        (ElementType::F8E5M2, [0x7c, 0xfc, 0x7e, 0x7c, 0xfc, 0x80]),
        (ElementType::F8E4M3, [0x78, 0xf8, 0x7c, 0x78, 0xf8, 0x80]),
        (ElementType::F8E3M4, [0x70, 0xf0, 0x78, 0x70, 0xf0, 0x80]),
        (ElementType::F8E4M3Fn, [0x7f, 0xff, 0x7f, 0x7f, 0xff, 0x80]),
        (ElementType::F8E4M3B11Fnuz, [0x80, 0x80, 0x80, 0x80, 0x80, 0x00]),
        (ElementType::F8E5M2Fnuz, [0x80, 0x80, 0x80, 0x80, 0x80, 0x00]),
        (ElementType::F8E4M3Fnuz, [0x80, 0x80, 0x80, 0x80, 0x80, 0x00]),
        (ElementType::F8E8M0Fnu, [0xff, 0xff, 0xff, 0xe3, 0xff, 0xff]),
        (ElementType::F4E2M1Fn, [0x07, 0x0f, 0x08, 0x07, 0x0f, 0x08]),
        (ElementType::F6E3M2Fn, [0x1f, 0x3f, 0x20, 0x1f, 0x3f, 0x20]),
        (ElementType::F6E2M3Fn, [0x1f, 0x3f, 0x20, 0x1f, 0x3f, 0x20]),
    ];
    for (ty, want) in wants {
        let got: Vec<u8> = Compiled::new(Op::Convert, ty, &[ElementType::F32]).on(&[&x]);
        assert_eq!(got, want, "{ty}");
    }
}

#[test]
fn bf16_and_f16_round_once() {
    let mut random = Numbers::new(5);
    let x: Vec<f64> = (0..200_000)
        .map(|i| match i % 3 {
            0 => f64::from_bits(random.bits()),
            1 => f64::from(f32::from_bits(random.bits() as u32)),
            // Values close to the middle between two numbers of f16 or bf16. Rounding twice would produce a
            // wrong result.
            _ => {
                let middle = f64::from(f32::from_bits((random.bits() as u32 & 0x3fff_0000) | 0x2000_8000));
                middle * (1.0 + 2f64.powi(-40) * ((random.bits() % 3) as f64 - 1.0))
            }
        })
        .collect();
    let bf16: Vec<u16> = Compiled::new(Op::Convert, ElementType::Bf16, &[ElementType::F64]).on(&[&x]);
    for (&x, &bits) in x.iter().zip(&bf16) {
        let got = f64::from(f32::from_bits(u32::from(bits) << 16));
        if x.is_nan() {
            assert!(got.is_nan());
            continue;
        }
        // Neither neighbor is closer.
        for other in [bits.wrapping_add(1), bits.wrapping_sub(1)] {
            let other = f64::from(f32::from_bits(u32::from(other) << 16));
            if got.is_finite() && other.is_finite() && (other < 0.0) == (got < 0.0) {
                assert!((got - x).abs() <= (other - x).abs(), "{x:e} -> {got:e}, {other:e} is nearer");
            }
        }
    }
    let f16: Vec<u16> = Compiled::new(Op::Convert, ElementType::F16, &[ElementType::F64]).on(&[&x]);
    let format = Format::of(ElementType::F16).expect("a narrow format");
    for (&x, &bits) in x.iter().zip(&f16) {
        let got = f64::from(format.decode_constant(u32::from(bits)));
        if x.is_nan() || got.is_infinite() {
            assert!(x.is_nan() == got.is_nan() && (x.is_nan() || x.abs() >= 65520.0), "{x:e}");
            continue;
        }
        for other in [bits.wrapping_add(1), bits.wrapping_sub(1)] {
            let other = f64::from(format.decode_constant(u32::from(other)));
            if other.is_finite() && (other < 0.0) == (got < 0.0) {
                assert!((got - x).abs() <= (other - x).abs(), "{x:e} -> {got:e}, {other:e} is nearer");
            }
        }
    }
}

#[test]
fn an_exponent_alone_takes_ties_upwards() {
    let x: Vec<f32> = [
        0x3fbf_ffff,
        0x3fc0_0000,
        0x403f_ffff,
        0x4040_0000,
        0x00bf_ffff,
        0x00c0_0000,
        0x0040_0000,
        0x0040_0001,
        1,
    ]
    .map(f32::from_bits)
    .to_vec();
    let got: Vec<u8> = Compiled::new(Op::Convert, ElementType::F8E8M0Fnu, &[ElementType::F32]).on(&[&x]);
    // The bytes that ml_dtypes produces.
    assert_eq!(got, [127, 128, 128, 129, 1, 2, 0, 1, 0]);
}
