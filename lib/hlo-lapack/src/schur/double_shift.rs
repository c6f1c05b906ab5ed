//! The QR algorithm with double shifts, for real matrices.

use num_traits::Float;

use super::{
    EXCEPTIONAL_SHIFT_FACTOR, EXCEPTIONAL_SHIFT_PERIOD, MAX_ITERATIONS_PER_ROW, apply_rotation, block_start,
    columns, largest_size,
};
use crate::householder::reflector;
use crate::numbers::exact;
use hlo_runtime::linalg::{Matrix, Scalar};

/// The superdiagonal element of the block whose eigenvalues are the exceptional shifts, as a multiple of its
/// subdiagonal element.
const EXCEPTIONAL_SUPERDIAGONAL_FACTOR: f64 = -0.4375;

/// Computes the quasi-triangular form of a real Hessenberg matrix. Returns 0, or the number of eigenvalues
/// that were not found.
pub(super) fn triangularize<P: Scalar<Part = P> + Float>(h: &mut Matrix<P>, q: &mut Matrix<P>) -> i32 {
    let norm = largest_size(h);
    let (mut end, mut turns) = (h.rows(), 0);
    while end > 0 {
        let start = block_start(h, end, norm, turns);
        if start + 2 >= end {
            if start + 2 == end {
                standardize(h, q, start);
            }
            (end, turns) = (start, 0);
            continue;
        }
        turns += 1;
        if turns > MAX_ITERATIONS_PER_ROW * h.rows().max(10) {
            return end as i32;
        }
        let (first, mut x) = first_column(h, (start, end), shifts(h, (start, end), turns));
        for k in first..end - 1 {
            let rows = (end - k).min(3);
            if k > first {
                (0..rows).for_each(|i| x[i] = h.get(k + i, k - 1));
            }
            let (top, rest) = x[..rows].split_at_mut(1);
            let (beta, tau) = reflector(top[0], rest);
            let v = [exact(1.0), x[1], if rows == 3 { x[2] } else { P::ZERO }];
            reflect(h, q, (k, end), &v[..rows], tau);
            if k > first {
                h.set(k, k - 1, beta);
                (1..rows).for_each(|i| h.set(k + i, k - 1, P::ZERO));
            } else if k > start {
                let below = h.get(k, k - 1) * (exact::<P>(1.0) - tau);
                h.set(k, k - 1, below);
            }
        }
    }
    0
}

/// Returns two shifts: the eigenvalues of the last two rows and columns of a block if they are complex,
/// otherwise twice the one that is closer to the last diagonal element. The result is their real parts, and
/// the imaginary part of the first.
fn shifts<P: Scalar<Part = P> + Float>(
    h: &Matrix<P>,
    (start, end): (usize, usize),
    turns: usize,
) -> ([P; 2], P) {
    let (i, j) = (end - 2, end - 1);
    let exceptional = |at: usize, below: [usize; 2]| {
        let s = below.iter().fold(P::ZERO, |s, &k| s + Float::abs(h.get(k + 1, k)));
        let a = exact::<P>(EXCEPTIONAL_SHIFT_FACTOR) * s + h.get(at, at);
        [a, exact::<P>(EXCEPTIONAL_SUPERDIAGONAL_FACTOR) * s, s, a]
    };
    let block = match turns % (2 * EXCEPTIONAL_SHIFT_PERIOD) {
        0 => exceptional(j, [j - 1, j - 2]),
        EXCEPTIONAL_SHIFT_PERIOD => exceptional(start, [start, start + 1]),
        _ => [h.get(i, i), h.get(i, j), h.get(j, i), h.get(j, j)],
    };
    let scale = block.iter().fold(P::ZERO, |sum, &z| sum + Float::abs(z));
    if scale == P::ZERO {
        return ([P::ZERO; 2], P::ZERO);
    }
    // Numbers of the order of 1, whose products do not underflow.
    let [a, b, c, d] = block.map(|z| z / scale);
    let half = (a + d) / exact::<P>(2.0);
    let square: P = (a - half) * (d - half) - b * c;
    let root = Float::sqrt(Float::abs(square));
    if square >= P::ZERO {
        return ([half * scale; 2], root * scale);
    }
    let (high, low) = (half + root, half - root);
    let closer = if Float::abs(high - d) <= Float::abs(low - d) { high } else { low };
    ([closer * scale; 2], P::ZERO)
}

/// Returns the first column of `(h - s₁)·(h - s₂)`, up to a factor, and the row in which it begins. This is
/// the last row at which the steps may begin because the two subdiagonal elements next to it are sufficiently
/// small together.
fn first_column<P: Scalar<Part = P> + Float>(
    h: &Matrix<P>,
    (start, end): (usize, usize),
    ([re, second], im): ([P; 2], P),
) -> (usize, [P; 3]) {
    let ulp = <P as Float>::epsilon();
    let mut m = end - 3;
    loop {
        let (corner, next, below) = (h.get(m, m), h.get(m + 1, m + 1), h.get(m + 1, m));
        let s = Float::abs(corner - second) + Float::abs(im) + Float::abs(below);
        let scaled = below / s;
        let x = [
            scaled * h.get(m, m + 1) + (corner - re) * ((corner - second) / s) + im * (im / s),
            scaled * (corner + next - re - second),
            scaled * h.get(m + 2, m + 1),
        ];
        let size = x.iter().fold(P::ZERO, |sum, &z| sum + Float::abs(z));
        let x = if size > P::ZERO && Float::is_finite(size) { x.map(|z| z / size) } else { x };
        if m == start {
            return (m, x);
        }
        let around = Float::abs(h.get(m - 1, m - 1)) + Float::abs(corner) + Float::abs(next);
        let before = Float::abs(h.get(m, m - 1));
        if before * (Float::abs(x[1]) + Float::abs(x[2])) <= ulp * Float::abs(x[0]) * around {
            return (m, x);
        }
        m -= 1;
    }
}

/// Applies the reflector `1 - tau·v·vᵀ` to the rows and columns from `k` on.
fn reflect<P: Scalar<Part = P> + Float>(
    h: &mut Matrix<P>,
    q: &mut Matrix<P>,
    (k, end): (usize, usize),
    v: &[P],
    tau: P,
) {
    for j in k..h.columns() {
        let column = &mut h.column_mut(j)[k..][..v.len()];
        let sum = v.iter().zip(column.iter()).fold(P::ZERO, |sum, (&v, &z)| sum + v * z) * tau;
        column.iter_mut().zip(v).for_each(|(z, &v)| *z -= v * sum);
    }
    for (matrix, rows) in [(&mut *h, (k + 4).min(end)), (&mut *q, usize::MAX)] {
        let (rows, [x, y, z]) = (rows.min(matrix.rows()), columns(matrix, k));
        let xy = x[..rows].iter_mut().zip(&mut y[..rows]);
        match *v {
            [a, b, c] => xy.zip(&mut z[..rows]).for_each(|((x, y), z)| {
                let sum = (*x * a + *y * b + *z * c) * tau;
                (*x, *y, *z) = (*x - sum * a, *y - sum * b, *z - sum * c);
            }),
            [a, b] => xy.for_each(|(x, y)| {
                let sum = (*x * a + *y * b) * tau;
                (*x, *y) = (*x - sum * a, *y - sum * b);
            }),
            _ => {}
        }
    }
}

/// Rotates two rows and columns so that the block at `k` becomes triangular, or has equal diagonal elements
/// and off-diagonal elements of opposite signs.
fn standardize<P: Scalar<Part = P> + Float>(h: &mut Matrix<P>, q: &mut Matrix<P>, k: usize) {
    let block = [h.get(k, k), h.get(k, k + 1), h.get(k + 1, k), h.get(k + 1, k + 1)];
    let ([a, b, c, d], (cos, sin)) = standard_form(block);
    apply_rotation(h, q, (k, k + 2), k, (cos, sin));
    for (i, j, value) in [(0, 0, a), (0, 1, b), (1, 0, c), (1, 1, d)] {
        h.set(k + i, k + j, value);
    }
}

/// Returns the standard form of a block `[a b; c d]`, and the rotation that produces it.
fn standard_form<P: Scalar<Part = P> + Float>([a, b, c, d]: [P; 4]) -> ([P; 4], (P, P)) {
    let (zero, one, two) = (P::ZERO, exact::<P>(1.0), exact::<P>(2.0));
    let opposite = (b < zero) != (c < zero);
    if c == zero || (a == d && opposite && b != zero) {
        return ([a, b, c, d], (one, zero));
    }
    if b == zero {
        return ([d, -c, zero, a], (zero, one));
    }
    let p = (a - d) / two;
    let (high, low) = (Float::max(Float::abs(b), Float::abs(c)), Float::min(Float::abs(b), Float::abs(c)));
    let low = if opposite { -low } else { low };
    let scale = Float::max(Float::abs(p), high);
    let square = p / scale * p + high / scale * low;
    if square >= exact::<P>(4.0) * <P as Float>::epsilon() {
        // Two real eigenvalues.
        let root = Float::sqrt(scale) * Float::sqrt(square);
        let z = p + if p < zero { -root } else { root };
        let r = Float::hypot(c, z);
        return ([d + z, b - c, zero, d - high / z * low], (z / r, c / r));
    }
    // Complex eigenvalues, or close real ones: first make the diagonal elements equal.
    let sigma = b + c;
    let r = Float::hypot(sigma, a - d);
    let cos = Float::sqrt((one + Float::abs(sigma) / r) / two);
    let sin = -(p / (r * cos)) * if sigma < zero { -one } else { one };
    let (aa, bb, cc, dd) = (a * cos + b * sin, b * cos - a * sin, c * cos + d * sin, d * cos - c * sin);
    let (b, c) = (bb * cos + dd * sin, cc * cos - aa * sin);
    let middle = ((aa * cos + cc * sin) + (dd * cos - bb * sin)) / two;
    if c == zero || (b != zero && (b < zero) != (c < zero)) {
        return ([middle, b, c, middle], (cos, sin));
    }
    if b == zero {
        return ([middle, -c, zero, middle], (-sin, cos));
    }
    let (left, right) = (Float::sqrt(Float::abs(b)), Float::sqrt(Float::abs(c)));
    let p = if c < zero { -(left * right) } else { left * right };
    let r = Float::sqrt(Float::abs(b + c));
    let (c1, s1) = (left / r, right / r);
    ([middle + p, b - c, zero, middle - p], (cos * c1 - sin * s1, cos * s1 + sin * c1))
}
