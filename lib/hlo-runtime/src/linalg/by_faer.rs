//! Calls into faer.

/// Calls `compute`, which uses faer, and returns its result. faer's kernels leave the upper halves of vector
/// registers in use. Without clearing them, the thread's next 128-bit instructions, in this library or in the
/// caller, would take two to three times as long (Intel's optimization manual, "Mixing AVX code with SSE
/// code").
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
