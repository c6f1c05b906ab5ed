//! Factorizations, triangular solves and Fourier transforms. All are computed in pairs of `f64` and rounded
//! once.

use super::complex::{self, C};
use super::convert;
use super::pointwise::converted;
use super::support::{Result, array, result_array, take};
use crate::context::Context;
use crate::error::EvalError;
use crate::index::extent;
use crate::kernel::elements;
use hlo_ir::attr::{FftAttrs, FftType, TransposeKind, TriangularSolveAttrs};
use hlo_ir::{ElementType, Instruction, Literal};

/// Returns the elements of an array as complex numbers.
fn complex_elements(cx: &mut Context<'_>, value: Literal) -> Result<Vec<C>> {
    cx.charge(array(&value)?.element_count())?;
    let wide = converted(cx, value, ElementType::C128)?;
    let values = elements::<[f64; 2]>(wide.bytes())?.iter().map(|z| C::new(z[0], z[1])).collect();
    cx.release(wide);
    Ok(values)
}

/// Returns the result with the given elements, rounded to its type.
fn finish(cx: &mut Context<'_>, instr: &Instruction, values: &[C]) -> Result<Literal> {
    let shape = result_array(instr)?;
    if values.len() != shape.element_count() {
        return Err(EvalError::new(format!(
            "{} elements for a result of shape {}",
            values.len(),
            instr.shape
        )));
    }
    let mut result = cx.allocate(shape)?;
    let pairs: Vec<[f64; 2]> = values.iter().map(|z| [z.re, z.im]).collect();
    let round = convert::kernel(ElementType::C128, shape.element_type);
    round(&[bytemuck::cast_slice(&pairs)], result.bytes_mut())?;
    Ok(result)
}

/// Returns the sizes of the two minor dimensions.
fn matrix_size(value: &Literal) -> Result<(usize, usize)> {
    match array(value)?.dims.as_slice() {
        &[.., rows, columns] => Ok((extent(rows)?, extent(columns)?)),
        _ => Err(EvalError::new("a matrix was expected")),
    }
}

/// `cholesky` (semantics, "Cholesky"): computes `a = l·lᴴ` from the lower triangle, or `a = uᴴ·u` from the
/// upper one. The other triangle of the result is 0. A matrix that is not positive definite results in NaN.
pub(super) fn cholesky(
    cx: &mut Context<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    lower: bool,
) -> Result<Literal> {
    let [a] = take(operands)?;
    let (n, columns) = matrix_size(&a)?;
    if n != columns {
        return Err(EvalError::new("a square matrix was expected"));
    }
    let mut values = complex_elements(cx, a)?;
    cx.charge(values.len().saturating_mul(n))?;
    for matrix in values.chunks_exact_mut((n * n).max(1)) {
        // The lower factor. The upper one is its conjugate transpose.
        let mut l = vec![C::new(0.0, 0.0); n * n];
        for j in 0..n {
            for i in j..n {
                let mut sum = if lower { matrix[i * n + j] } else { matrix[j * n + i].conj() };
                for k in 0..j {
                    sum -= l[i * n + k] * l[j * n + k].conj();
                }
                l[i * n + j] = if i == j { C::new(sum.re.sqrt(), 0.0) } else { sum / l[j * n + j].re };
            }
        }
        let definite = (0..n).all(|i| l[i * n + i].re > 0.0);
        for i in 0..n {
            for j in 0..n {
                let (row, column) = if lower { (i, j) } else { (j, i) };
                let z = l[row * n + column];
                matrix[i * n + j] = match (definite, lower) {
                    (false, _) => C::new(f64::NAN, f64::NAN),
                    (true, true) => z,
                    (true, false) => z.conj(),
                };
            }
        }
    }
    finish(cx, instr, &values)
}

/// `triangular-solve` (semantics, "TriangularSolve"): `op(a)·x = b`, or `x·op(a) = b`.
pub(super) fn triangular_solve(
    cx: &mut Context<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &TriangularSolveAttrs,
) -> Result<Literal> {
    let [a, b] = take(operands)?;
    let ((n, columns), (rows, width)) = (matrix_size(&a)?, matrix_size(&b)?);
    if n != columns || n != if attrs.left_side { rows } else { width } {
        return Err(EvalError::new("the matrices do not fit each other"));
    }
    // For real numbers the imaginary part is set to 0, because an infinity times 0 would be NaN.
    let real = !array(&a)?.element_type.is_complex();
    let times = |x: C, y: C| if real { C::new(x.re * y.re, 0.0) } else { x * y };
    let over = |x: C, y: C| if real { C::new(x.re / y.re, 0.0) } else { complex::div(x, y) };
    let (a, mut b) = (complex_elements(cx, a)?, complex_elements(cx, b)?);
    cx.charge(b.len().saturating_mul(n))?;
    // Element (i, j) of op(a). If the unknown is on the left, it is that of the transpose, and rows of b are
    // solved.
    let transposed = matches!(attrs.transpose_a, TransposeKind::Transpose | TransposeKind::Adjoint);
    let flip = transposed == attrs.left_side;
    let at = |a: &[C], i: usize, j: usize| {
        let z = if flip { a[j * n + i] } else { a[i * n + j] };
        if attrs.transpose_a == TransposeKind::Adjoint { z.conj() } else { z }
    };
    let forward = attrs.lower != flip;
    let (step, lines, line_step) = if attrs.left_side { (width, width, 1) } else { (1, rows, width) };
    let one = C::new(1.0, 0.0);
    for (a, b) in a.chunks_exact((n * n).max(1)).zip(b.chunks_exact_mut((rows * width).max(1))) {
        for line in 0..lines {
            for solved in 0..n {
                let i = if forward { solved } else { n - 1 - solved };
                let mut sum = b[line * line_step + i * step];
                for before in 0..solved {
                    let j = if forward { before } else { n - 1 - before };
                    sum -= times(at(a, i, j), b[line * line_step + j * step]);
                }
                let pivot = if attrs.unit_diagonal { one } else { at(a, i, i) };
                b[line * line_step + i * step] = over(sum, pivot);
            }
        }
    }
    finish(cx, instr, &b)
}

/// `fft` (semantics, "Fft"): transforms the innermost dimensions, as many as `fft_length` has.
pub(super) fn fft(
    cx: &mut Context<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &FftAttrs,
) -> Result<Literal> {
    let [operand] = take(operands)?;
    let mut dims = array(&operand)?.dims.iter().map(|&d| extent(d)).collect::<Result<Vec<usize>>>()?;
    let lengths = attrs.fft_length.iter().map(|&d| extent(d)).collect::<Result<Vec<usize>>>()?;
    let (Some(first), Some(&last)) = (dims.len().checked_sub(lengths.len()), lengths.last()) else {
        return Err(EvalError::new("fft_length does not fit the operand"));
    };
    let mut values = complex_elements(cx, operand)?;
    cx.charge(values.len().saturating_mul(64))?;
    let innermost = dims.len() - 1;
    let inverse = matches!(attrs.fft_type, FftType::Ifft | FftType::Irfft);
    // A transform of real values starts with the innermost dimension. A transform to real values ends with
    // it.
    let order: Vec<usize> =
        if inverse { (first..dims.len()).collect() } else { (first..dims.len()).rev().collect() };
    for d in order {
        if attrs.fft_type == FftType::Irfft && d == innermost {
            values = mirror(&values, dims[d], last)?;
            dims[d] = last;
        }
        transform_dimension(&mut values, &dims, d, inverse);
        if attrs.fft_type == FftType::Rfft && d == innermost {
            let kept = last / 2 + 1;
            values = values
                .chunks_exact(dims[d].max(1))
                .flat_map(|line| line.iter().take(kept))
                .copied()
                .collect();
            dims[d] = kept;
        }
    }
    finish(cx, instr, &values)
}

/// Extends lines of `size` elements to `length` as the spectrum of real values: X[n-k] = conj(X[k]). The
/// first element is therefore real, and for an even length also the middle one. Their imaginary parts are
/// ignored.
fn mirror(values: &[C], size: usize, length: usize) -> Result<Vec<C>> {
    if length > 0 && size != length / 2 + 1 {
        return Err(EvalError::internal(format!("{size} elements of the spectrum of {length} real values")));
    }
    let element = |line: &[C], k: usize| -> C {
        if k == 0 || 2 * k == length {
            C::new(line[k].re, 0.0)
        } else if k <= length / 2 {
            line[k]
        } else {
            line[length - k].conj()
        }
    };
    let lines = values.chunks_exact(size.max(1));
    Ok(lines.flat_map(|line| (0..length).map(move |k| element(line, k))).collect())
}

/// Transforms every line along dimension `d`.
fn transform_dimension(values: &mut [C], dims: &[usize], d: usize, inverse: bool) {
    let (n, stride) = (dims[d], dims[d + 1..].iter().product::<usize>());
    if n == 0 || stride == 0 {
        return;
    }
    let mut line = vec![C::new(0.0, 0.0); n];
    for block in values.chunks_exact_mut(n * stride) {
        for offset in 0..stride {
            for (i, z) in line.iter_mut().enumerate() {
                *z = block[offset + i * stride];
            }
            let mut out = transform(&line, inverse);
            if inverse {
                out.iter_mut().for_each(|z| *z /= n as f64);
            }
            for (i, z) in out.into_iter().enumerate() {
                block[offset + i * stride] = z;
            }
        }
    }
}

/// Returns e^(±2πi·k/n). The sign is negative for the forward transform.
fn root(k: usize, n: usize, inverse: bool) -> C {
    let (sin, cos) = libm::sincos(2.0 * std::f64::consts::PI * (k % n) as f64 / n as f64);
    C::new(cos, if inverse { sin } else { -sin })
}

/// Returns the unscaled transform of one line: by halving for powers of two, otherwise by Bluestein's
/// algorithm, which writes it as a convolution. If the line contains an infinity or a NaN, all elements are
/// NaN. Other results would depend on the algorithm.
fn transform(x: &[C], inverse: bool) -> Vec<C> {
    let n = x.len();
    if !x.iter().all(|z| z.is_finite()) {
        return vec![C::new(f64::NAN, f64::NAN); n];
    }
    if n.is_power_of_two() {
        let mut out = x.to_vec();
        transform_power_of_two(&mut out, inverse);
        return out;
    }
    // jk = (j² + k² - (k - j)²) / 2. Squares modulo 2n keep the angles exact.
    let chirp = |k: usize| root((k as u128 * k as u128 % (2 * n) as u128) as usize, 2 * n, inverse);
    let size = (2 * n - 1).next_power_of_two();
    let (mut a, mut b) = (vec![C::new(0.0, 0.0); size], vec![C::new(0.0, 0.0); size]);
    for (k, &z) in x.iter().enumerate() {
        a[k] = z * chirp(k);
        b[k] = chirp(k).conj();
        b[(size - k) % size] = chirp(k).conj();
    }
    transform_power_of_two(&mut a, false);
    transform_power_of_two(&mut b, false);
    a.iter_mut().zip(&b).for_each(|(a, b)| *a *= b);
    transform_power_of_two(&mut a, true);
    (0..n).map(|k| a[k] * chirp(k) / size as f64).collect()
}

/// Computes the radix-2 transform in place.
fn transform_power_of_two(x: &mut [C], inverse: bool) {
    let n = x.len();
    if n < 2 {
        return;
    }
    let shift = usize::BITS - n.trailing_zeros();
    for i in 0..n {
        let j = i.reverse_bits() >> shift;
        if i < j {
            x.swap(i, j);
        }
    }
    let roots: Vec<C> = (0..n / 2).map(|k| root(k, n, inverse)).collect();
    let mut half = 1;
    while half < n {
        for block in x.chunks_exact_mut(2 * half) {
            let (low, high) = block.split_at_mut(half);
            for (k, (a, b)) in low.iter_mut().zip(high).enumerate() {
                let t = *b * roots[k * (n / (2 * half))];
                (*a, *b) = (*a + t, *a - t);
            }
        }
        half *= 2;
    }
}
