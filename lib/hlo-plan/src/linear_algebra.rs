//! Fourier transforms, factorizations and triangular solves as runtime calls. The runtime requires row-major
//! arrays.

use crate::Refusal;
use crate::dot::code;
use crate::{BufId, RuntimeCall};
use hlo_ir::attr::{FftType, TransposeKind};
use hlo_ir::{ArrayShape, ElementType, InstrId, Module, Op};
use hlo_runtime_core::{FftKind, MAX_FFT_RANK};

/// Returns the runtime call of a transform, factorization or triangular solve, or the reason why there is
/// none.
pub(super) fn lower(
    module: &Module,
    id: InstrId,
    operands: Vec<BufId>,
    results: Vec<BufId>,
) -> Result<RuntimeCall<BufId>, Refusal> {
    let (symbol, words) = describe(module, id)?;
    Ok(RuntimeCall::with_descriptor(id, symbol, words, operands, results))
}

/// Returns a runtime function and the words of its descriptor.
fn describe(module: &Module, id: InstrId) -> Result<(&'static str, Vec<i64>), Refusal> {
    let instr = &module[id];
    let array = |n: usize| {
        let operand = instr.operands.get(n).and_then(|&o| module[o].shape.as_array());
        operand.ok_or_else(|| format!("`{}` of something else than arrays", instr.op.name()))
    };
    let element = |ty: ElementType| {
        let code = code(ty).filter(|_| ty.is_complex() || (ty.is_float() && ty.bit_width() >= 16));
        code.ok_or_else(|| {
            format!("`{}` of {ty}: the pass `operand_upcaster` has to run before", instr.op.name())
        })
    };
    match &instr.op {
        Op::Fft(attrs) => {
            let a = array(0)?;
            let complex = a.element_type.complex_type().unwrap_or(a.element_type);
            // The fields in the order of `FftDesc`.
            let kind = match attrs.fft_type {
                FftType::Fft => FftKind::Forward,
                FftType::Ifft => FftKind::Inverse,
                FftType::Rfft => FftKind::ForwardReal,
                FftType::Irfft => FftKind::InverseReal,
            };
            let rank = attrs.fft_length.len();
            let Some(outer) = a.rank().checked_sub(rank).filter(|_| (1..=MAX_FFT_RANK).contains(&rank))
            else {
                return Err(format!("transforms are of 1 to {MAX_FFT_RANK} dimensions, not {rank}").into());
            };
            let mut words =
                vec![kind as i64, element(complex)? as i64, product(&a.dims[..outer])?, rank as i64];
            words.extend(&attrs.fft_length);
            words.resize(4 + MAX_FFT_RANK, 0);
            Ok(("hlo_rt_fft", words))
        }
        Op::Cholesky(attrs) => {
            let a = array(0)?;
            let (batch, _, n) = matrices(a)?;
            // The fields in the order of `CholeskyDesc`.
            let words = vec![element(a.element_type)? as i64, batch, n, i64::from(attrs.lower)];
            Ok(("hlo_rt_cholesky", words))
        }
        Op::TriangularSolve(attrs) => {
            let b = array(1)?;
            let (batch, rows, columns) = matrices(b)?;
            // The fields in the order of `SolveDesc`.
            let words = vec![
                element(b.element_type)? as i64,
                batch,
                rows,
                columns,
                i64::from(attrs.left_side),
                i64::from(attrs.lower),
                i64::from(attrs.unit_diagonal),
                match attrs.transpose_a {
                    TransposeKind::Transpose => 1,
                    TransposeKind::Adjoint => 2,
                    TransposeKind::NoTranspose | TransposeKind::Invalid => 0,
                },
            ];
            Ok(("hlo_rt_triangular_solve", words))
        }
        other => Err(format!("`{}` is no function of matrices", other.name()).into()),
    }
}

/// Returns the number of matrices, their rows and their columns.
fn matrices(a: &ArrayShape) -> Result<(i64, i64, i64), Refusal> {
    match a.dims.as_slice() {
        [batch @ .., rows, columns] => Ok((product(batch)?, *rows, *columns)),
        _ => Err(format!("{a} holds no matrices").into()),
    }
}

fn product(dims: &[i64]) -> Result<i64, Refusal> {
    let all = dims.iter().try_fold(1i64, |n, &d| n.checked_mul(d));
    all.ok_or_else(|| "the arrays do not fit the address space".into())
}
