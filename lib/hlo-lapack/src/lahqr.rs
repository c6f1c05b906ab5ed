//! The QR algorithm on Hessenberg matrices, with the choices of LAPACK's `lahqr`: what is negligible, where a step begins, and
//! which shifts it has. They decide in which order eigenvalues are found, and of a real matrix how vectors are signed.
//!
//! Sources: Golub & Van Loan, *Matrix Computations*, 4th edition, sections 7.5.4 to 7.5.6; Ahues and Tisseur, "A new deflation
//! criterion for the QR algorithm", LAPACK Working Note 122, 1997.

use num_complex::Complex;
use num_traits::Float;

use super::householder::reflector;
use super::schur::{exact, largest_size, rotation, turn};
use hlo_runtime::Number;
use hlo_runtime::linalg::{Matrix, Scalar};

/// How often the algorithm turns for one eigenvalue at most, for each row.
const TURNS: usize = 30;
/// After so many turns what rounding may have made of 0 in the whole matrix is taken for 0: blocks of multiple eigenvalues can
/// consist of rounding noise only.
const PATIENCE: usize = 20;

/// Where the last block of a Hessenberg matrix's first `end` rows begins that has no negligible element below its
/// diagonal, after so many turns; the one before it is set to 0.
fn block_start<T: Scalar>(h: &mut Matrix<T>, end: usize, norm: T::Part, turns: usize) -> usize {
    let noise = norm * exact::<T::Part>(h.rows().max(10) as f64) * <T::Part as Float>::epsilon();
    for i in (1..end).rev() {
        let is_noise = turns > PATIENCE && h.get(i, i - 1).size() <= noise;
        if is_noise || is_negligible(h, i) {
            h.set(i, i - 1, T::ZERO);
            return i;
        }
    }
    0
}

/// Whether the element below the diagonal in row `i` changes the eigenvalues of what is around it no more than rounding.
fn is_negligible<T: Scalar>(h: &Matrix<T>, i: usize) -> bool {
    let epsilon = <T::Part as Float>::epsilon();
    let tiny = <T::Part as Float>::min_positive_value() * (exact::<T::Part>(h.rows() as f64) / epsilon);
    let (below, above) = (h.get(i, i - 1).size(), h.get(i - 1, i).size());
    if below <= tiny {
        return true;
    }
    let mut beside = h.get(i - 1, i - 1).size() + h.get(i, i).size();
    if beside == <T::Part as Number>::ZERO {
        let before = if i > 1 { h.get(i - 1, i - 2) } else { T::ZERO };
        let after = if i + 1 < h.rows() { h.get(i + 1, i) } else { T::ZERO };
        beside = before.size() + after.size();
    }
    if below > epsilon * beside {
        return false;
    }
    let ordered = |x, y| (Float::max(x, y), Float::min(x, y));
    let (high, low) = ordered(below, above);
    let d = h.get(i, i);
    let (more, less) = ordered(d.size(), (h.get(i - 1, i - 1) - d).size());
    let sum = more + high;
    low * (high / sum) <= Float::max(tiny, epsilon * (less * (more / sum)))
}

/// The triangular form of a Hessenberg matrix, with single shifts; 0, or the number of eigenvalues that are not found.
pub(crate) fn complex_schur<T: Scalar>(h: &mut Matrix<T>, q: &mut Matrix<T>) -> i32 {
    let norm = largest_size(h);
    let (mut end, mut turns) = (h.rows(), 0);
    while end > 1 {
        let start = block_start(h, end, norm, turns);
        if start + 1 == end {
            (end, turns) = (start, 0);
            continue;
        }
        turns += 1;
        if turns > TURNS * h.rows().max(10) {
            return end as i32;
        }
        let (first, [mut x, mut y]) = single_start(h, (start, end), single_shift(h, (start, end), turns));
        for k in first..end - 1 {
            if k > first {
                [x, y] = [h.get(k, k - 1), h.get(k + 1, k - 1)];
            }
            let rotation = rotation(x, y);
            turn(h, q, (k, end), if k > first { k - 1 } else { k }, rotation);
            if k > first {
                h.set(k + 1, k - 1, T::ZERO);
            } else if first > start {
                // What would stand below it is negligible.
                h.set(k, k - 1, h.get(k, k - 1) * T::real(rotation.0));
            }
        }
    }
    0
}

/// The shift for a block: the eigenvalue of its last two rows and columns that is closer to the last diagonal element; other
/// numbers break a cycle.
fn single_shift<T: Scalar>(h: &Matrix<T>, (start, end): (usize, usize), turns: usize) -> T {
    let beside = |i: usize, j: usize| T::real(exact::<T::Part>(0.75) * h.get(i, j).modulus());
    match turns {
        n if n.is_multiple_of(20) => h.get(end - 1, end - 1) + beside(end - 1, end - 2),
        n if n.is_multiple_of(10) => h.get(start, start) + beside(start + 1, start),
        _ => close_eigenvalue(h, end),
    }
}

/// The row of a block in which a step begins, and the first column there of `h - shift`: the last row before which
/// the elements below the diagonal are so small that the step may leave them aside.
fn single_start<T: Scalar>(h: &Matrix<T>, (start, end): (usize, usize), shift: T) -> (usize, [T; 2]) {
    let epsilon = <T::Part as Float>::epsilon();
    let begins = |m: &usize| {
        let (x, y) = (h.get(*m, *m) - shift, h.get(m + 1, *m));
        let diagonal = h.get(*m, *m).size() + h.get(m + 1, m + 1).size();
        let sum = x.size() + y.modulus();
        let before = h.get(*m, m - 1).modulus() * (y.modulus() / sum);
        before <= epsilon * (x.size() / sum * diagonal)
    };
    let first = (start + 1..end - 1).rev().find(begins).unwrap_or(start);
    (first, [h.get(first, first) - shift, h.get(first + 1, first)])
}

/// The eigenvalue of the last two rows and columns that is closer to the last diagonal element.
fn close_eigenvalue<T: Scalar>(h: &Matrix<T>, end: usize) -> T {
    let (i, j) = (end - 2, end - 1);
    let block = [h.get(i, i), h.get(i, j), h.get(j, i), h.get(j, j)];
    let scale = block.iter().fold(<T::Part as Number>::ZERO, |sum, z| sum + z.size());
    if scale == <T::Part as Number>::ZERO {
        return T::ZERO;
    }
    // Numbers around 1, whose products do not get lost.
    let [a, b, c, d] = block.map(|z| T::new(z.re() / scale, z.im() / scale));
    let half = T::one_impl() / (T::one_impl() + T::one_impl());
    let (p, product) = ((a - d) * half, b * c);
    let square = p * p + product;
    let root = Complex::new(square.re(), square.im()).sqrt();
    let root = T::new(root.re, root.im);
    let divisor = if (p + root).size() >= (p - root).size() { p + root } else { p - root };
    let near = if divisor == T::ZERO { d } else { d - product / divisor };
    T::new(near.re() * scale, near.im() * scale)
}

/// The quasi-triangular form of a real Hessenberg matrix, with double shifts; 0, or the number of eigenvalues that are
/// not found.
pub(crate) fn real_schur<P: Scalar<Part = P> + Float>(h: &mut Matrix<P>, q: &mut Matrix<P>) -> i32 {
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
        if turns > TURNS * h.rows().max(10) {
            return end as i32;
        }
        let (first, mut x) = double_start(h, (start, end), double_shift(h, (start, end), turns));
        for k in first..end - 1 {
            let rows = (end - k).min(3);
            if k > first {
                (0..rows).for_each(|i| x[i] = h.get(k + i, k - 1));
            }
            let (head, rest) = x[..rows].split_at_mut(1);
            let (beta, tau) = reflector(head[0], rest);
            if k > first {
                h.set(k, k - 1, beta);
                (1..rows).for_each(|i| h.set(k + i, k - 1, P::ZERO));
            } else if first > start {
                h.set(k, k - 1, h.get(k, k - 1) * (exact::<P>(1.0) - tau));
            }
            let v = [exact(1.0), x[1], if rows == 3 { x[2] } else { P::ZERO }];
            reflect(h, q, (k, end), &v[..rows], tau);
        }
    }
    0
}

/// Two shifts: their real parts, and the imaginary part of the first one, whose opposite the other one's is.
type Shifts<P> = (P, P, P);

/// The shifts for a block: the eigenvalues of its last two rows and columns, of two real ones the one that is closer to the last
/// diagonal element twice; other numbers break a cycle.
fn double_shift<P: Scalar<Part = P> + Float>(
    h: &Matrix<P>,
    (start, end): (usize, usize),
    turns: usize,
) -> Shifts<P> {
    let (i, j) = (end - 2, end - 1);
    let unusual = |sum: P, d: P| {
        let a = exact::<P>(0.75) * sum + d;
        [a, exact::<P>(-0.4375) * sum, sum, a]
    };
    let size = |i: usize, j: usize| Float::abs(h.get(i, j));
    let block = match turns {
        n if n.is_multiple_of(20) => unusual(size(j, i) + size(i, i - 1), h.get(j, j)),
        n if n.is_multiple_of(10) => {
            unusual(size(start + 1, start) + size(start + 2, start + 1), h.get(start, start))
        }
        _ => [h.get(i, i), h.get(i, j), h.get(j, i), h.get(j, j)],
    };
    let scale = block.iter().fold(P::ZERO, |sum, &z| sum + Float::abs(z));
    if scale == P::ZERO {
        return (P::ZERO, P::ZERO, P::ZERO);
    }
    // Numbers around 1, whose products do not get lost.
    let [a, b, c, d] = block.map(|z| z / scale);
    let middle: P = (a + d) / exact::<P>(2.0);
    let square: P = (a - middle) * (d - middle) - b * c;
    let root = Float::sqrt(Float::abs(square));
    if square >= P::ZERO {
        return (middle * scale, middle * scale, root * scale);
    }
    let (high, low) = (middle + root, middle - root);
    let near = if Float::abs(high - d) <= Float::abs(low - d) { high } else { low };
    (near * scale, near * scale, P::ZERO)
}

/// The row of a block in which a step begins, and the first column there of `(h - s₁)·(h - s₂)`, up to a factor: the last row
/// before which the elements below the diagonal are so small that the step may leave them aside.
fn double_start<P: Scalar<Part = P> + Float>(
    h: &Matrix<P>,
    (start, end): (usize, usize),
    (s, t, im): Shifts<P>,
) -> (usize, [P; 3]) {
    let column = |m: usize| {
        let (d, below) = (h.get(m, m), h.get(m + 1, m));
        let scale = Float::abs(d - t) + Float::abs(im) + Float::abs(below);
        let below = below / scale;
        let x: [P; 3] = [
            below * h.get(m, m + 1) + (d - s) * ((d - t) / scale) + im * (im / scale),
            below * (d + h.get(m + 1, m + 1) - s - t),
            below * h.get(m + 2, m + 1),
        ];
        let sum = x.iter().fold(P::ZERO, |sum, &z| sum + Float::abs(z));
        x.map(|z| z / sum)
    };
    let begins = |m: &usize| {
        let [x, y, z] = column(*m).map(Float::abs);
        let diagonal = (m - 1..m + 2).fold(P::ZERO, |sum, i| sum + Float::abs(h.get(i, i)));
        Float::abs(h.get(*m, m - 1)) * (y + z) <= <P as Float>::epsilon() * x * diagonal
    };
    let first = (start + 1..end - 2).rev().find(begins).unwrap_or(start);
    (first, column(first))
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
        for i in 0..rows.min(matrix.rows()) {
            let mut sum = P::ZERO;
            for (m, &v) in v.iter().enumerate() {
                sum += matrix.get(i, k + m) * v;
            }
            sum *= tau;
            for (m, &v) in v.iter().enumerate() {
                let z = matrix.get(i, k + m) - sum * v;
                matrix.set(i, k + m, z);
            }
        }
    }
}

/// Turns two rows and columns so that the block at `k` is triangular or has equal diagonal elements and others of opposite
/// signs.
fn standardize<P: Scalar<Part = P> + Float>(h: &mut Matrix<P>, q: &mut Matrix<P>, k: usize) {
    let block = [h.get(k, k), h.get(k, k + 1), h.get(k + 1, k), h.get(k + 1, k + 1)];
    let ([a, b, c, d], (cos, sin)) = standard_form(block);
    turn(h, q, (k, k + 2), k, (cos, sin));
    for (i, j, value) in [(0, 0, a), (0, 1, b), (1, 0, c), (1, 1, d)] {
        h.set(k + i, k + j, value);
    }
}

/// The standard form of a block `[a b; c d]`, and the rotation to it.
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
    // Complex ones, or real ones that are close: first make the diagonal elements equal.
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
