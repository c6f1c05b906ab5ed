//! Tests that the functions that matter for speed are compiled to vector code without calls.

use super::code;
use hlo_codegen::jit::FileType;
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
fn functions_of_f32_vectorize_without_calls() {
    for op in functions() {
        for ty in [ElementType::F32, ElementType::Bf16] {
            let text = String::from_utf8(code(&op, ty, &[ty], FileType::Assembly)).expect("text");
            let vector = ["%ymm", "%zmm", "%xmm"].iter().any(|r| text.contains(r))
                && ["mulps", "fmadd213ps", "fmadd231ps", "mulpd", "divps"].iter().any(|m| text.contains(m));
            assert!(vector, "{} {ty} is not vectorized", op.name());
            assert!(!text.contains("call"), "{} {ty} calls a function", op.name());
        }
    }
}
