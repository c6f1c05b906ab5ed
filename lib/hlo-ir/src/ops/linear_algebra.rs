//! Rules for Fourier transforms and factorizations.

use super::context::Context;
use super::dim::{Dim, array_of, dim, dims};
use super::violation::{Place, Rule, Violation};
use crate::ArrayShape;
use crate::attr::{CholeskyAttrs, FftAttrs, FftType, TriangularSolveAttrs};
use crate::opcode::Types;
use crate::rules::code;

/// Checks `fft`, which transforms the last dimensions. An attribute contains their lengths.
pub(super) fn fft(cx: &Context<'_>, attrs: &FftAttrs) -> Rule {
    let a = cx.array(0)?;
    let lengths = &attrs.fft_length;
    let complex = match attrs.fft_type {
        FftType::Fft | FftType::Ifft | FftType::Irfft => a.element_type.is_complex(),
        FftType::Rfft => a.element_type.complex_type().is_some(),
    };
    if !complex {
        let expected = if attrs.fft_type == FftType::Rfft { "f32 or f64" } else { "c64 or c128" };
        cx.report(cx.operand_error(
            code::FFT_TYPE,
            0,
            format!("of type {} works on {expected}, found {a}", attrs.fft_type.text()),
        ));
    }
    let Some(first) = a.rank().checked_sub(lengths.len()).filter(|_| (1..=3).contains(&lengths.len())) else {
        return Err(cx
            .operand_error(
                code::FFT_RANK,
                0,
                format!(
                    "transforms 1 to 3 dimensions of its operand, {a}, but `fft_length` has {}",
                    lengths.len()
                ),
            )
            .of("fft_length"));
    };
    let last = a.rank() - 1;
    let half = |n: i64| n / 2 + i64::from(n != 0);
    let half_size = |i: usize| attrs.fft_type == FftType::Irfft && first + i == last;
    for (i, &n) in lengths.iter().enumerate() {
        let expected = if half_size(i) { half(n) } else { n };
        let found = dim(a, (first + i) as i64);
        // XLA also accepts one frequency, 0/2+1, for an inverse transform without numbers.
        let agrees = found.agrees(Dim::fixed(expected))
            || expected == 0 && half_size(i) && found.agrees(Dim::fixed(1));
        if n < 0 || !agrees {
            cx.report(cx.operand_error(
                code::FFT_LENGTH,
                0,
                format!(
                    "of type {} and length {n} needs size {expected} in dimension {}, found {}",
                    attrs.fft_type.text(),
                    first + i,
                    found.size
                ),
            ));
        }
    }
    let n = lengths.last().copied().unwrap_or(0);
    let size = dim(a, last as i64);
    // The attribute determines the length of the result, even if that of the operand is dynamic or unbounded.
    let of_length = |n: i64| Dim { size: n.max(0), dynamic: size.dynamic && !size.is_unbounded() };
    let (element_type, last_size) = match attrs.fft_type {
        FftType::Fft | FftType::Ifft => (a.element_type, size),
        FftType::Irfft => (a.element_type.real_type(), of_length(n)),
        FftType::Rfft => match a.element_type.complex_type() {
            Some(complex) => (complex, of_length(half(n))),
            None => return Ok(None),
        },
    };
    let result = dims(a).enumerate().map(|(i, d)| if i == last { last_size } else { d });
    let mut result = array_of(element_type, result);
    result.layout = a.layout.clone();
    Ok(Some(result.into()))
}

/// Checks that operand 0 is an array whose last two dimensions exist and have the same size. Returns its
/// shape.
fn square<'a>(cx: &Context<'a>) -> Result<&'a ArrayShape, Violation> {
    let a = cx.array_of(0, Types::INEXACT)?;
    let n = a.rank() as i64;
    if n < 2 || !dim(a, n - 1).agrees(dim(a, n - 2)) {
        return Err(cx.operand_error(
            code::SQUARE_MATRICES,
            0,
            format!("needs square matrices as operand 0, found {a}"),
        ));
    }
    Ok(a)
}

/// Checks `cholesky`. The result has the operand's shape.
pub(super) fn cholesky(cx: &Context<'_>, _: &CholeskyAttrs) -> Rule {
    Ok(Some(square(cx)?.clone().into()))
}

/// Checks `triangular-solve(a, b)`. The result has the shape of `b`.
pub(super) fn triangular_solve(cx: &Context<'_>, attrs: &TriangularSolveAttrs) -> Rule {
    let b = cx.array(1)?;
    let Some(a) = cx.record_violation(square(cx)) else { return Ok(Some(b.clone().into())) };
    cx.record_violation(cx.same_type(0, 1));
    let n = a.rank();
    let error = |code, message: String| {
        cx.operand_error(code, 1, message).with(Place::Operand(0), format!("this is {a}"))
    };
    if b.rank() != n {
        return Err(error(code::SOLVE_RANK, format!("needs operands of one rank, found {a} and {b}")));
    }
    if !dims(a).zip(dims(b)).take(n - 2).all(|(a, b)| a.agrees(b)) {
        cx.report(error(
            code::SOLVE_BATCH,
            format!("needs operands of the same batch dimensions, found {a} and {b}"),
        ));
    }
    let (side, which) = if attrs.left_side { (n - 2, "rows") } else { (n - 1, "columns") };
    if !dim(a, side as i64).agrees(dim(b, side as i64)) {
        cx.report(error(
            code::SOLVE_SIZE,
            format!(
                "needs as many {which} in operand 1 as the matrices of {a} have, {}, found {b}",
                dim(a, side as i64).size
            ),
        ));
    }
    Ok(Some(b.clone().into()))
}
