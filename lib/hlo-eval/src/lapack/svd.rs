//! `gesdd` and `gesvd`: singular values and vectors, by one-sided Jacobi (Golub & Van Loan, section 8.6.4).

use super::eigen::{SWEEPS, jacobi};
use super::matrix::{C, Matrix, Number, dot, exponent, length, make_positive, scaled};

/// Returns the operand, its singular values in descending order, the vectors and `info`. `mode` selects no
/// vectors (`N`), as many as values (`S`) or all (`A`). For a matrix that is not finite, `info` is -4, as in
/// LAPACK for NaN, and the results are NaN.
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

/// Computes `a = u·s·vᴴ` with `left` columns of `u` and `right` columns of `v`. Returns `None` if the
/// iteration does not converge.
fn decompose<T: Number>(a: &Matrix<T>, (left, right): (usize, usize)) -> Option<Svd<T>> {
    if a.rows < a.columns {
        let (values, v, u) = decompose(&a.adjoint(), (right, left))?;
        return Some(normalized((values, u, v)));
    }
    let (m, n) = (a.rows, a.columns);
    // Scales the numbers to around 1, so that their squares neither overflow nor underflow.
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
    let known: Vec<Vec<T>> = order.iter().filter(|&&j| lengths[j] > MIN_COLUMN_LENGTH).map(unit).collect();
    Some(normalized((values, completed(known, m, left), v.select(&order))))
}

/// Length below which a column's squares underflow. Its direction then does not depend on the matrix.
const MIN_COLUMN_LENGTH: f64 = 1e-150;

/// Makes columns orthogonal to each other by rotations of pairs. Multiplies `v` by the rotations. Returns
/// false if the iteration does not converge.
fn make_orthogonal<T: Number>(b: &mut Matrix<T>, v: &mut Matrix<T>) -> bool {
    let n = b.columns;
    let negligible = f64::EPSILON * b.rows.max(4) as f64;
    for _ in 0..SWEEPS {
        let mut done = true;
        for (p, q) in (0..n).flat_map(|p| (p + 1..n).map(move |q| (p, q))) {
            let square = |j: usize| dot(b.column(j), b.column(j)).re();
            let (x, y, g) = (square(p), square(q), dot(b.column(p), b.column(q)));
            if x.min(y) <= MIN_COLUMN_LENGTH * MIN_COLUMN_LENGTH
                || g.abs() <= negligible * x.sqrt() * y.sqrt()
            {
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

/// Extends orthonormal columns of `rows` elements to the wanted number. Each new column starts as the axis
/// that is farthest from the existing columns and is made orthogonal to them (Gram-Schmidt, applied twice,
/// because one pass leaves rounding errors).
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

/// Scales vectors so that the largest element of each left vector is positive. A right vector is multiplied
/// by the same factor as its left vector. Vectors without a partner are scaled separately.
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
