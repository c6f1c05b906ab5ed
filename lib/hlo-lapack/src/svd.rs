//! `gesdd` and `gesvd`: singular values and vectors.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::{Par, diag::DiagMut};

use super::driver::{Data, vector};
use super::numbers::{largest, not_a_number, scale};
use hlo_runtime::Error;
use hlo_runtime::linalg::{Matrix, Scalar, by_faer};

/// Computes singular values and vectors. `mode` selects no vectors (`N`), as many vectors as values (`S`) or
/// all vectors (`A`). If the matrix contains an element that is not finite, `info` is -4, which LAPACK
/// returns for NaN, and the results are NaN.
pub(crate) fn gesdd<T: Scalar>(a: Matrix<T>, mode: char) -> Result<Vec<Data<T>>, Error> {
    let (m, n) = (a.rows(), a.columns());
    let k = m.min(n);
    let (compute, width) = match mode {
        'S' => (ComputeSvdVectors::Thin, (k, k)),
        'A' => (ComputeSvdVectors::Full, (m, n)),
        _ => (ComputeSvdVectors::No, (0, 0)),
    };
    let none = mode == 'N';
    let (mut u, mut v) = (Matrix::zeros(m, width.0)?, Matrix::zeros(n, width.1)?);
    let mut values = vec![T::ZERO; k];
    let mut near = Matrix::zeros(m, n)?;
    near.values_mut().copy_from_slice(a.values());
    let divisor = scale(&mut near);
    let finite = a.values().iter().all(|z| z.is_number());
    let mut info = if finite { 0 } else { -4 };
    if finite && k == 0 {
        // The vectors are not determined: use the unit vectors.
        for matrix in [&mut u, &mut v] {
            (0..matrix.rows().min(matrix.columns())).for_each(|i| matrix.set(i, i, T::one_impl()));
        }
    } else if finite {
        let stack = svd_scratch::<T>(m, n, compute, compute, Par::Seq, Default::default());
        let mut stack = MemBuffer::try_new(stack).map_err(|_| Error("out of memory".into()))?;
        let done = by_faer(|| {
            svd(
                near.as_ref(),
                DiagMut::from_slice_mut(&mut values),
                (!none).then(|| u.as_mut()),
                (!none).then(|| v.as_mut()),
                Par::Seq,
                MemStack::new(&mut stack),
                Default::default(),
            )
        });
        info = i32::from(done.is_err());
    }
    if info != 0 {
        let parts = not_a_number(k, 1)?;
        let [u, vt] = if none {
            [Data::Zeros, Data::Zeros]
        } else {
            [Data::Elements(not_a_number(m, width.0)?), Data::Elements(not_a_number(width.1, n)?)]
        };
        return Ok(vec![Data::Elements(a), Data::Parts(parts), u, vt, Data::Integers(vec![info])]);
    }
    let values: Vec<T::Part> = values.iter().map(|z| z.re() * divisor).collect();
    let values = Data::Parts(vector(&values)?);
    if none {
        return Ok(vec![Data::Elements(a), values, Data::Zeros, Data::Zeros, Data::Integers(vec![0])]);
    }
    normalize(&mut u, &mut v, k);
    let mut vt = Matrix::zeros(width.1, n)?;
    for i in 0..n {
        for j in 0..width.1 {
            vt.set(j, i, v.get(i, j).conj());
        }
    }
    Ok(vec![Data::Elements(a), values, Data::Elements(u), Data::Elements(vt), Data::Integers(vec![0])])
}

/// Scales vectors so that the largest element of each left vector is positive. The right vector gets the same
/// factor as its left vector. Vectors without a partner are scaled separately.
fn normalize<T: Scalar>(u: &mut Matrix<T>, v: &mut Matrix<T>, k: usize) {
    for j in 0..u.columns().max(v.columns()) {
        let own = |matrix: &Matrix<T>| {
            let column = (j < matrix.columns()).then(|| matrix.column(j));
            column.and_then(largest).map_or_else(T::one_impl, Scalar::unphase)
        };
        let left = own(u);
        let right = if j < k { left } else { own(v) };
        for (matrix, factor) in [(&mut *u, left), (&mut *v, right)] {
            if j < matrix.columns() && factor != T::ZERO {
                matrix.column_mut(j).iter_mut().for_each(|z| *z *= factor);
            }
        }
    }
}
