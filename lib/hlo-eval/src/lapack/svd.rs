//! `gesdd` and `gesvd`: singular values and vectors, by one-sided Jacobi (Golub & Van Loan, section 8.6.4).

use super::eigen::{SWEEPS, jacobi};
use super::matrix::{C, Matrix, Number, dot, exponent, length, make_positive, scaled};

/// The operand, its singular values in descending order, and by `mode` no vectors (`N`), as many as values (`S`) or all (`A`).
/// The `info` of a matrix that holds something that is not finite is -4, as LAPACK's is for NaN, and its results are NaN.
pub(super) fn gesdd<T: Number>(a: Matrix<T>, mode: char) -> Vec<Matrix<C>> {
    let (m, n) = (a.rows, a.columns);
    let k = m.min(n);
    let widths = if mode == 'A' { (m, n) } else { (k, k) };
    let computed = if a.is_finite() { decompose(&a, widths).ok_or(1.0) } else { Err(-4.0) };
    let (values, u, v, info) = match computed {
        Ok((values, u, v)) => (Matrix::vector(values), u.wide(), v.adjoint().wide(), 0.0),
        Err(info) => (Matrix::nan(k, 1), Matrix::nan(m, widths.0), Matrix::nan(widths.1, n), info),
    };
    let [u, v] = [u, v].map(|x| if mode == 'N' { Matrix::zeros(0, 0) } else { x });
    vec![a.wide(), values.wide(), u, v, Matrix::vector(vec![C::real(info)])]
}

/// Singular values, and left and right singular vectors.
type Svd<T> = (Vec<f64>, Matrix<T>, Matrix<T>);

/// `a = u·s·vᴴ` with so many columns of `u` and `v`; nothing if that does not end.
fn decompose<T: Number>(a: &Matrix<T>, (left, right): (usize, usize)) -> Option<Svd<T>> {
    if a.rows < a.columns {
        let (values, v, u) = decompose(&a.adjoint(), (right, left))?;
        return Some(normalized((values, u, v)));
    }
    let (m, n) = (a.rows, a.columns);
    // Numbers around 1, whose squares neither overflow nor get lost.
    let scale = exponent(a.values());
    let mut b = Matrix::new(m, n, |i, j| scaled(a[(i, j)], -scale));
    let mut v = Matrix::identity(n, n);
    if !make_orthogonal(&mut b, &mut v) {
        return None;
    }
    let lengths: Vec<f64> = (0..n).map(|j| length(b.column(j))).collect();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| lengths[j].total_cmp(&lengths[i]));
    let values = order.iter().map(|&j| libm::scalbn(lengths[j], scale)).collect();
    let unit = |&j: &usize| b.column(j).iter().map(|z| z.over(lengths[j])).collect::<Vec<T>>();
    let known: Vec<Vec<T>> = order.iter().filter(|&&j| lengths[j] > LOST).map(unit).collect();
    Some(normalized((values, completed(known, m, left), v.select(&order))))
}

/// The length of a column whose squares are lost: its direction is not one of the matrix's.
const LOST: f64 = 1e-150;

/// Makes columns orthogonal to each other by rotations of pairs; false if that does not end. `v` is multiplied by them.
fn make_orthogonal<T: Number>(b: &mut Matrix<T>, v: &mut Matrix<T>) -> bool {
    let n = b.columns;
    let negligible = f64::EPSILON * b.rows.max(4) as f64;
    for _ in 0..SWEEPS {
        let mut done = true;
        for (p, q) in (0..n).flat_map(|p| (p + 1..n).map(move |q| (p, q))) {
            let square = |j: usize| dot(b.column(j), b.column(j)).re();
            let (x, y, g) = (square(p), square(q), dot(b.column(p), b.column(q)));
            if x.min(y) <= LOST * LOST || g.abs() <= negligible * x.sqrt() * y.sqrt() {
                continue;
            }
            done = false;
            let rotation = jacobi((x, y), g);
            b.rotate_columns((p, q), rotation);
            v.rotate_columns((p, q), rotation);
        }
        if done {
            return true;
        }
    }
    false
}

/// Orthonormal columns of `rows` elements, continued to as many as wanted: each with the axis that is farthest from those
/// before, made orthogonal to them (Gram and Schmidt's method; twice, as once leaves rounding errors).
fn completed<T: Number>(mut columns: Vec<Vec<T>>, rows: usize, wanted: usize) -> Matrix<T> {
    while columns.len() < wanted {
        let near = |i: usize| columns.iter().map(|x| x[i].abs() * x[i].abs()).sum::<f64>();
        let axis = (1..rows).fold(0, |best, i| if near(i) < near(best) { i } else { best });
        let mut x = vec![T::ZERO; rows];
        x[axis] = T::ONE;
        for known in columns.iter().chain(&columns) {
            let part = dot(known, &x);
            x.iter_mut().zip(known).for_each(|(x, &z)| *x -= z * part);
        }
        let length = length(&x);
        columns.push(x.into_iter().map(|z| z.over(length)).collect());
    }
    Matrix::new(rows, wanted, |i, j| columns[j][i])
}

/// Scales vectors so that the largest element of each left one is positive; a right one goes with its left one. Those
/// without a partner go by themselves.
fn normalized<T: Number>((values, mut u, mut v): Svd<T>) -> Svd<T> {
    for j in 0..u.columns.max(v.columns) {
        let factor = (j < u.columns).then(|| make_positive(u.column_mut(j)));
        match factor {
            _ if j >= v.columns => {}
            Some(factor) if j < values.len() => v.column_mut(j).iter_mut().for_each(|z| *z *= factor),
            _ => _ = make_positive(v.column_mut(j)),
        }
    }
    (values, u, v)
}
