//! Calls of faer.

/// What `compute` gives, which calls faer. Its kernels leave the upper halves of vector registers in use, and whatever the thread does
/// next with instructions of 128 bits, in this library or in that of the caller, would take two to three times as long (Intel's
/// optimization manual, "Mixing AVX code with SSE code").
pub fn by_faer<R>(compute: impl FnOnce() -> R) -> R {
    let result = compute();
    clear_upper_halves();
    result
}

#[cfg(target_arch = "x86_64")]
fn clear_upper_halves() {
    use std::arch::x86_64::_mm256_zeroupper;

    #[target_feature(enable = "avx")]
    fn clear() {
        _mm256_zeroupper();
    }

    if std::arch::is_x86_feature_detected!("avx") {
        // SAFETY: the processor has the instruction.
        unsafe { clear() }
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn clear_upper_halves() {}
