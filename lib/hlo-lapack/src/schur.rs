//! `gees`: Schur forms, by the QR algorithm on the Hessenberg form.

use num_complex::Complex;
use num_traits::Float;

use super::driver::{Data, vector};
use super::householder::{gehrd, orgqr, reflector};
use super::{not_a_number, scale, times};
use hlo_runtime::Error;
use hlo_runtime::Number;
use hlo_runtime::linalg::{Matrix, Scalar};

/// `a = q·t·qᴴ`: `t` is triangular, of a real matrix but for blocks of two by two on its diagonal with equal diagonal
/// elements, one for each pair of complex eigenvalues. Without `vectors`, `q` is not computed. What is not finite gives
/// NaN and an `info` of 1; an `info` of 1 or more says how many eigenvalues were not found.
pub(crate) fn gees<T: Scalar>(mut a: Matrix<T>, vectors: bool) -> Result<Vec<Data<T>>, Error> {
    let n = a.rows();
    let divisor = scale(&mut a);
    let finite = a.values().iter().all(|z| z.is_number());
    let found = if finite { schur(a, vectors)? } else { Err(1) };
    let info = found.as_ref().err().copied().unwrap_or(0);
    let of_vectors = if vectors { n } else { 0 };
    let [mut a, q] = match found {
        Ok(found) => found,
        Err(_) => [not_a_number(n, n)?, not_a_number(of_vectors, of_vectors)?],
    };
    a.values_mut().iter_mut().for_each(|z| *z = times(*z, divisor));
    let values = match T::COMPLEX {
        true => vec![eigenvalues(&a)],
        false => pairs(&a).to_vec(),
    };
    let mut results = vec![Data::Elements(a), if vectors { Data::Elements(q) } else { Data::Zeros }];
    for values in values {
        results.push(Data::Elements(vector(&values)?));
    }
    results.extend([Data::Integers(vec![0]), Data::Integers(vec![info])]);
    Ok(results)
}

/// The forms `t` and `q`, of no rows if it is not wanted; or how many eigenvalues were not found.
pub(crate) type Forms<T> = Result<[Matrix<T>; 2], i32>;

/// The Schur form of a finite matrix with numbers around 1.
pub(crate) fn schur<T: Scalar>(mut a: Matrix<T>, vectors: bool) -> Result<Forms<T>, Error> {
    let n = a.rows();
    let tau = gehrd(&mut a, 0, n);
    let mut q = if vectors { reflectors(&a, &tau)? } else { Matrix::zeros(0, 0)? };
    for j in 0..n {
        a.column_mut(j)[(j + 2).min(n)..].fill(T::ZERO);
    }
    let info = match T::COMPLEX {
        true => complex_schur(&mut a, &mut q),
        false => {
            let (mut h, mut z) = (real_parts(&a)?, real_parts(&q)?);
            let info = real_schur(&mut h, &mut z);
            for (to, from) in [(&mut a, &h), (&mut q, &z)] {
                to.values_mut().iter_mut().zip(from.values()).for_each(|(to, &re)| *to = T::real(re));
            }
            info
        }
    };
    Ok(if info == 0 { Ok([a, q]) } else { Err(info) })
}

/// The diagonal.
fn eigenvalues<T: Scalar>(t: &Matrix<T>) -> Vec<T> {
    (0..t.rows()).map(|i| t.get(i, i)).collect()
}

/// The real and imaginary parts of the eigenvalues of a real Schur form.
pub(crate) fn pairs<T: Scalar>(t: &Matrix<T>) -> [Vec<T>; 2] {
    let n = t.rows();
    let mut im = vec![T::ZERO; n];
    for i in 1..n {
        let below = t.get(i, i - 1).re();
        if below != <T::Part as Number>::ZERO {
            let size = Float::sqrt(Float::abs(t.get(i - 1, i).re())) * Float::sqrt(Float::abs(below));
            (im[i - 1], im[i]) = (T::real(size), T::real(-size));
        }
    }
    [eigenvalues(t), im]
}

fn real_parts<T: Scalar>(a: &Matrix<T>) -> Result<Matrix<T::Part>, Error> {
    let mut parts = Matrix::zeros(a.rows(), a.columns())?;
    parts.values_mut().iter_mut().zip(a.values()).for_each(|(to, from)| *to = from.re());
    Ok(parts)
}

/// `q` of the reflectors below the first subdiagonal.
fn reflectors<T: Scalar>(a: &Matrix<T>, tau: &[T]) -> Result<Matrix<T>, Error> {
    let n = a.rows();
    let mut q = Matrix::zeros(n, n)?;
    if n == 0 {
        return Ok(q);
    }
    let mut below = Matrix::zeros(n - 1, n - 1)?;
    for j in 0..n - 1 {
        below.column_mut(j).copy_from_slice(&a.column(j)[1..]);
    }
    let below = orgqr(&below, tau)?;
    q.set(0, 0, T::one_impl());
    for j in 0..n - 1 {
        q.column_mut(j + 1)[1..].copy_from_slice(below.column(j));
    }
    Ok(q)
}

/// How often the algorithm turns for one eigenvalue at most, for each row.
const TURNS: usize = 30;
/// After so many turns what rounding may have made of 0 in the whole matrix is taken for 0: blocks of multiple eigenvalues can
/// consist of rounding noise only.
const PATIENCE: usize = 20;

/// Where the last block of a Hessenberg matrix's first `end` rows begins that has no negligible element below its
/// diagonal, after so many turns; the one before it is set to 0.
fn block_start<T: Scalar>(h: &mut Matrix<T>, end: usize, norm: T::Part, turns: usize) -> usize {
    let epsilon = <T::Part as Float>::epsilon();
    let tiny = <T::Part as Float>::min_positive_value() / epsilon;
    for i in (1..end).rev() {
        let beside = h.get(i - 1, i - 1).size() + h.get(i, i).size();
        let scale = match turns > PATIENCE {
            true => norm * exact::<T::Part>(h.rows().max(10) as f64),
            false if beside == <T::Part as Number>::ZERO => norm,
            false => beside,
        };
        if h.get(i, i - 1).size() <= Float::max(epsilon * scale, tiny) {
            h.set(i, i - 1, T::ZERO);
            return i;
        }
    }
    0
}

pub(crate) fn largest_size<T: Scalar>(h: &Matrix<T>) -> T::Part {
    h.values().iter().fold(<T::Part as Number>::ZERO, |most, z| Float::max(most, z.size()))
}

/// The triangular form of a Hessenberg matrix, with single shifts; 0, or the number of eigenvalues that are not found.
fn complex_schur<T: Scalar>(h: &mut Matrix<T>, q: &mut Matrix<T>) -> i32 {
    let norm = largest_size(h);
    let (mut end, mut turns) = (h.rows(), 0);
    while end > 1 {
        let start = block_start(h, end, norm, turns);
        if start + 1 == end {
            (end, turns) = (end - 1, 0);
            continue;
        }
        turns += 1;
        if turns > TURNS * h.rows().max(10) {
            return end as i32;
        }
        let shift = match turns % 10 {
            // One that breaks a cycle.
            0 => h.get(end - 1, end - 1) + T::real(h.get(end - 1, end - 2).size()),
            _ => close_eigenvalue(h, end),
        };
        let (mut x, mut y) = (h.get(start, start) - shift, h.get(start + 1, start));
        for k in start..end - 1 {
            if k > start {
                (x, y) = (h.get(k, k - 1), h.get(k + 1, k - 1));
            }
            turn(h, q, (k, end), if k > start { k - 1 } else { k }, rotation(x, y));
            if k > start {
                h.set(k + 1, k - 1, T::ZERO);
            }
        }
    }
    0
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

/// The rotation `[c s; -sᴴ c]` that turns `(x, y)` to `(r, 0)`.
pub(crate) fn rotation<T: Scalar>(x: T, y: T) -> (T::Part, T) {
    let (a, b) = (x.modulus(), y.modulus());
    let zero = <T::Part as Number>::ZERO;
    if b == zero {
        return (<T::Part as num_traits::One>::one(), T::ZERO);
    }
    if a == zero {
        return (zero, T::new(y.re() / b, -y.im() / b));
    }
    let r = Float::hypot(a, b);
    let phase = T::new(x.re() / a, x.im() / a);
    (a / r, phase * T::new(y.re() / r, -y.im() / r))
}

/// Applies a rotation to the rows `k` and `k + 1` from column `from` on, and its inverse to these columns, of the rows
/// that the block up to `end` needs.
pub(crate) fn turn<T: Scalar>(
    h: &mut Matrix<T>,
    q: &mut Matrix<T>,
    (k, end): (usize, usize),
    from: usize,
    (c, s): (T::Part, T),
) {
    let c = T::real(c);
    for j in from..h.columns() {
        let (x, y) = (h.get(k, j), h.get(k + 1, j));
        h.set(k, j, c * x + s * y);
        h.set(k + 1, j, c * y - s.conj() * x);
    }
    for (matrix, rows) in [(&mut *h, (k + 3).min(end)), (&mut *q, usize::MAX)] {
        for i in 0..rows.min(matrix.rows()) {
            let (x, y) = (matrix.get(i, k), matrix.get(i, k + 1));
            matrix.set(i, k, c * x + s.conj() * y);
            matrix.set(i, k + 1, c * y - s * x);
        }
    }
}

/// A number that is exact in every precision.
pub(crate) fn exact<P: Float>(value: f64) -> P {
    <P as num_traits::NumCast>::from(value).unwrap_or_else(P::nan)
}

/// The quasi-triangular form of a real Hessenberg matrix, with double shifts; 0, or the number of eigenvalues that are
/// not found.
fn real_schur<P: Scalar<Part = P> + Float>(h: &mut Matrix<P>, q: &mut Matrix<P>) -> i32 {
    let norm = largest_size(h);
    let (mut end, mut turns) = (h.rows(), 0);
    while end > 0 {
        let start = block_start(h, end, norm, turns);
        if start + 1 == end {
            (end, turns) = (start, 0);
            continue;
        }
        if start + 2 == end {
            standardize(h, q, start);
            (end, turns) = (start, 0);
            continue;
        }
        turns += 1;
        if turns > TURNS * h.rows().max(10) {
            return end as i32;
        }
        let mut x = first_column(h, (start, end), turns);
        for k in start..end - 1 {
            let rows = (end - k).min(3);
            if k > start {
                (0..rows).for_each(|i| x[i] = h.get(k + i, k - 1));
            }
            let (first, rest) = x[..rows].split_at_mut(1);
            let (beta, tau) = reflector(first[0], rest);
            let v = [exact(1.0), x[1], if rows == 3 { x[2] } else { P::ZERO }];
            reflect(h, q, (k, end), &v[..rows], tau);
            if k > start {
                h.set(k, k - 1, beta);
                (1..rows).for_each(|i| h.set(k + i, k - 1, P::ZERO));
            }
        }
    }
    0
}

/// The first column of `(h - s₁)·(h - s₂)`, up to a factor, for the eigenvalues `s` of the last two rows and columns of
/// a block; other numbers break a cycle.
fn first_column<P: Scalar<Part = P> + Float>(
    h: &Matrix<P>,
    (start, end): (usize, usize),
    turns: usize,
) -> [P; 3] {
    let (i, j) = (end - 2, end - 1);
    let (a, b, c, d) = match turns % 10 {
        0 => {
            let s = Float::abs(h.get(j, i)) + Float::abs(h.get(i, i - 1));
            let a = exact::<P>(0.75) * s + h.get(j, j);
            (a, exact::<P>(-0.4375) * s, s, a)
        }
        _ => (h.get(i, i), h.get(i, j), h.get(j, i), h.get(j, j)),
    };
    let corner = |i: usize, j: usize| h.get(start + i, start + j);
    let all = [a, b, c, d, corner(0, 0), corner(0, 1), corner(1, 0), corner(1, 1), corner(2, 1)];
    let scale = all.iter().fold(P::ZERO, |sum, &z| sum + Float::abs(z));
    if scale == P::ZERO {
        return [P::ZERO; 3];
    }
    // Numbers around 1, whose products do not get lost.
    let [a, b, c, d, h00, h01, h10, h11, h21] = all.map(|z| z / scale);
    let half: P = (a + d) / exact::<P>(2.0);
    let square: P = (a - half) * (d - half) - b * c;
    let (mut sum, mut product) = (half + half, a * d - b * c);
    if square <= P::ZERO {
        // Of two real ones, the closer one twice.
        let root = Float::sqrt(-square);
        let (low, high) = (half - root, half + root);
        let shift = if Float::abs(low - d) < Float::abs(high - d) { low } else { high };
        (sum, product) = (shift + shift, shift * shift);
    }
    let x = [h00 * h00 + h01 * h10 - sum * h00 + product, h10 * (h00 + h11 - sum), h10 * h21];
    let size = x.iter().fold(P::ZERO, |sum, &z| sum + Float::abs(z));
    if size > P::ZERO && Float::is_finite(size) { x.map(|z| z / size) } else { x }
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
