//! Tests of floating-point formats.

use hlo_ir::{ElementType, FloatFormat};

fn encode(ty: ElementType, v: f64) -> u64 {
    FloatFormat::of(ty).unwrap().encode(v)
}

#[test]
fn f16_and_bf16_agree_with_the_half_crate() {
    let mut x = 1e-9f64;
    while x < 1e6 {
        for v in [x, -x, x * 1.0001, (x as f32).into()] {
            assert_eq!(encode(ElementType::F16, v), half::f16::from_f64(v).to_bits().into(), "{v:e}");
            let single = v as f32;
            assert_eq!(
                encode(ElementType::Bf16, single.into()),
                half::bf16::from_f32(single).to_bits().into()
            );
        }
        x *= 1.37;
    }
    for bits in 0..=u16::MAX {
        let want = half::f16::from_bits(bits).to_f64();
        let got = FloatFormat::of(ElementType::F16).unwrap().decode(bits.into());
        assert!(got == want || got.is_nan() && want.is_nan());
    }
}

/// Every value of every narrow format survives decoding and encoding.
#[test]
fn decode_then_encode_is_the_identity() {
    for &ty in ElementType::ALL.iter().filter(|t| t.is_float() && t.bit_width() <= 8) {
        let format = FloatFormat::of(ty).unwrap();
        for bits in 0..1u64 << ty.bit_width() {
            let value = format.decode(bits);
            if !value.is_nan() {
                assert_eq!(format.encode(value), bits, "{ty} {bits:#x} {value}");
            }
        }
    }
}

/// A format has the values of another one if each of them survives encoding and decoding.
#[test]
fn has_values_of_says_what_all_values_say() {
    let formats: Vec<_> = ElementType::ALL.iter().filter_map(|&t| Some((t, FloatFormat::of(t)?))).collect();
    for (from_type, from) in formats.iter().filter(|(t, _)| t.bit_width() <= 16) {
        for (to_type, to) in &formats {
            let survives = |bits: u64| {
                let (value, other) = (from.decode(bits), to.decode(to.encode(from.decode(bits))));
                value.to_bits() == other.to_bits() || value.is_nan() && other.is_nan()
            };
            let all = (0..1u64 << from_type.bit_width()).all(survives);
            assert_eq!(to.has_values_of(from), all, "{from_type} to {to_type}");
        }
    }
    assert!(FloatFormat::F64.has_values_of(&FloatFormat::F32));
    assert!(!FloatFormat::F32.has_values_of(&FloatFormat::F64));
}

/// From ml_dtypes (NaN of types without NaN: from XLA): nan, -nan, inf, -inf, 1e9, -1e9, 0, -0, 1e-9,
/// -1e-9, 464, 465.
#[test]
fn special_values_are_those_of_ml_dtypes() {
    let values =
        [f64::NAN, -f64::NAN, f64::INFINITY, -f64::INFINITY, 1e9, -1e9, 0.0, -0.0, 1e-9, -1e-9, 464.0, 465.0];
    for (ty, want) in [
        (ElementType::F4E2M1Fn, [8, 8, 7, 15, 7, 15, 0, 8, 0, 8, 7, 7]),
        (ElementType::F6E3M2Fn, [0x20, 0x20, 0x1f, 0x3f, 0x1f, 0x3f, 0, 0x20, 0, 0x20, 0x1f, 0x1f]),
        (ElementType::F8E4M3Fn, [0x7f, 0xff, 0x7f, 0xff, 0x7f, 0xff, 0, 0x80, 0, 0x80, 0x7e, 0x7f]),
        (ElementType::F8E5M2, [0x7e, 0xfe, 0x7c, 0xfc, 0x7c, 0xfc, 0, 0x80, 0, 0x80, 0x5f, 0x5f]),
        (ElementType::F8E4M3Fnuz, [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0, 0, 0, 0, 0x80, 0x80]),
        (ElementType::F8E5M2Fnuz, [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0, 0, 0, 0, 0x63, 0x63]),
    ] {
        assert_eq!(values.map(|v| encode(ty, v)), want, "{ty}");
    }
    let powers = [1.0, 1.5, 3.0, 1.25, 0.0, -1.0, 2f64.powi(-127), 2f64.powi(-140), 2f64.powi(127) * 1.5];
    assert_eq!(powers.map(|v| encode(ElementType::F8E8M0Fnu, v)), [127, 128, 129, 127, 255, 255, 0, 0, 255]);
}
