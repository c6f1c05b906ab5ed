//! The functions that matter for speed become vector code without calls.

use super::{Compiled, code};
use crate::jit::FileType;
use hlo_ir::{ElementType, Op};

fn functions() -> Vec<Op> {
    vec![
        Op::Exponential,
        Op::ExponentialMinusOne,
        Op::Log,
        Op::LogPlusOne,
        Op::Tanh,
        Op::Logistic,
        Op::Erf,
        Op::Sine,
        Op::Cosine,
        Op::Rsqrt,
        Op::Cbrt,
    ]
}

#[test]
#[cfg(target_arch = "x86_64")]
fn functions_of_f32_vectorise_without_calls() {
    for op in functions() {
        for ty in [ElementType::F32, ElementType::Bf16] {
            let text = String::from_utf8(code(&op, ty, &[ty], FileType::Assembly)).expect("text");
            let vector = ["%ymm", "%zmm", "%xmm"].iter().any(|r| text.contains(r))
                && ["mulps", "fmadd213ps", "fmadd231ps", "mulpd", "divps"].iter().any(|m| text.contains(m));
            assert!(vector, "{} {ty} is not vectorised", op.name());
            assert!(!text.contains("call"), "{} {ty} calls a function", op.name());
        }
    }
}

/// `cargo test --release … -- --ignored --nocapture nanoseconds` prints the table.
#[test]
#[ignore = "a measurement"]
fn nanoseconds_per_element() {
    for ty in [ElementType::F32, ElementType::F64] {
        for op in functions() {
            let n = 4096;
            let compiled = Compiled::new(op.clone(), ty, &[ty]);
            let bytes: Vec<u8> = match ty {
                ElementType::F64 => {
                    (0..n).flat_map(|i| (0.001 + f64::from(i) * 0.0005).to_le_bytes()).collect()
                }
                _ => (0..n).flat_map(|i| (0.001 + i as f32 * 0.0005).to_le_bytes()).collect(),
            };
            let mut out = vec![0u8; bytes.len()];
            let mut best = f64::INFINITY;
            for _ in 0..50 {
                let start = std::time::Instant::now();
                // SAFETY: the buffers hold n elements.
                unsafe {
                    (compiled.function)(
                        out.as_mut_ptr(),
                        bytes.as_ptr(),
                        bytes.as_ptr(),
                        bytes.as_ptr(),
                        i64::from(n),
                    );
                }
                best = best.min(start.elapsed().as_secs_f64() / f64::from(n) * 1e9);
            }
            println!("{ty} {:<24} {best:.3} ns", op.name());
        }
    }
}
