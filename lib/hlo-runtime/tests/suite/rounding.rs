//! Tests rounding to half precision.

use half::bf16;
use hlo_runtime::ElementCode;
use hlo_runtime::internals::round;

#[test]
fn numbers_round_to_bf16_as_one_by_one() {
    let special = [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, -0.0, 1e-40];
    let ties = [0x3f80_8000, 0x3f81_8000, 0x3f81_8001, 0x3f80_7fff, 0x7f7f_8000].map(f32::from_bits);
    let numbers: Vec<f32> = special.into_iter().chain(ties).cycle().take(37).collect();
    let mut bytes = [0u8; 2 * 37];
    // SAFETY: the buffers have the size of the numbers.
    unsafe { round(ElementCode::Bf16, numbers.as_ptr(), numbers.len(), bytes.as_mut_ptr()) };
    for (x, bytes) in numbers.iter().zip(bytes.as_chunks().0) {
        let (got, want) = (bf16::from_ne_bytes(*bytes), bf16::from_f32(*x));
        assert!(got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(), "{x}: {got}");
    }
}
