//! `syevd`, `heevd` and `geev`: eigenvalues and eigenvectors.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{
    ComputeEigenvectors, evd_cplx, evd_real, evd_scratch, self_adjoint_evd, self_adjoint_evd_scratch,
};
use faer::{Par, diag::DiagMut};
use num_complex::Complex;

use super::driver::{Data, vector};
use super::eigenvectors;
use super::householder::length;
use super::numbers::{largest, not_a_number, scale, times};
use hlo_runtime::Error;
use hlo_runtime::Number;
use hlo_runtime::linalg::{Matrix, Scalar, by_faer};

/// Computes the eigenvalues of a Hermitian matrix in ascending order, from its lower or upper triangle, and
/// its eigenvectors in its place. A matrix with elements that are not finite results in NaN and an `info` of
/// 1.
pub(crate) fn syevd<T: Scalar>(a: Matrix<T>, lower: bool, vectors: bool) -> Result<Vec<Data<T>>, Error> {
    let n = a.rows();
    let mut l = Matrix::zeros(n, n)?;
    for j in 0..n {
        for i in j..n {
            let z = if lower { a.get(i, j) } else { a.get(j, i).conj() };
            l.set(i, j, if i == j { T::real(z.re()) } else { z });
        }
    }
    let mut values = vec![T::ZERO; n];
    let mut u = Matrix::zeros(n, n)?;
    let mut info = i32::from(!l.values().iter().all(|z| z.is_number()));
    if info == 0 && n > 0 {
        let compute = if vectors { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No };
        let stack = self_adjoint_evd_scratch::<T>(n, compute, Par::Seq, Default::default());
        let mut stack = MemBuffer::try_new(stack).map_err(|_| Error("out of memory".into()))?;
        let done = by_faer(|| {
            self_adjoint_evd(
                l.as_ref(),
                DiagMut::from_slice_mut(&mut values),
                vectors.then(|| u.as_mut()),
                Par::Seq,
                MemStack::new(&mut stack),
                Default::default(),
            )
        });
        info = i32::from(done.is_err());
    }
    if info != 0 {
        let values = not_a_number(n, 1)?;
        return Ok(vec![
            Data::Elements(not_a_number(n, n)?),
            Data::Parts(values),
            Data::Integers(vec![info]),
        ]);
    }
    for j in 0..n {
        let factor = largest(u.column(j)).map_or_else(T::one_impl, Scalar::unphase);
        u.column_mut(j).iter_mut().for_each(|z| *z *= factor);
    }
    let values: Vec<T::Part> = values.iter().map(|z| z.re()).collect();
    let a = if vectors { u } else { a };
    Ok(vec![Data::Elements(a), Data::Parts(vector(&values)?), Data::Integers(vec![0])])
}

/// Computes the eigenvalues of any matrix, and the requested left (`uᴴ·a = λ·uᴴ`) and right eigenvectors, of
/// length 1. Eigenvectors that were not requested are 0. A pair of complex eigenvalues of a real matrix is
/// adjacent, with the one of positive imaginary part first. A matrix with elements that are not finite
/// results in NaN and an `info` of 1.
pub(crate) fn geev<T: Scalar>(mut a: Matrix<T>, left: bool, right: bool) -> Result<Vec<Data<T>>, Error> {
    let n = a.rows();
    let divisor = scale(&mut a);
    let computed = if a.values().iter().all(|z| z.is_number()) { eigen(&a, left, right)? } else { None };
    let failed = computed.is_none();
    let (values, vectors) = match computed {
        Some((values, vectors)) => (values.into_iter().map(|z| times(z, divisor)).collect(), vectors),
        None => {
            let nan = not_a_number::<T::Wide>(n, 1)?.values().to_vec();
            (nan, [not_a_number(n, n)?, not_a_number(n, n)?])
        }
    };
    let parts = |part: fn(T::Wide) -> T::Part| -> Result<Data<T>, Error> {
        vector(&values.iter().map(|&z| part(z)).collect::<Vec<_>>()).map(Data::Parts)
    };
    let mut results = if T::COMPLEX {
        vec![Data::Wide(vector(&values)?)]
    } else {
        vec![parts(T::Wide::re)?, parts(T::Wide::im)?]
    };
    results.extend(vectors.map(Data::Wide));
    results.push(Data::Integers(vec![i32::from(failed)]));
    Ok(results)
}

/// Maximum number of rows for which eigenvalues are computed in LAPACK's order, which follows from its
/// algorithm. For larger matrices LAPACK uses another algorithm, and faer's is faster here.
const MAX_ORDERED_ROWS: usize = 75;

/// Eigenvalues, and left and right eigenvectors.
type Eigen<T> = (Vec<<T as Scalar>::Wide>, [Matrix<<T as Scalar>::Wide>; 2]);

fn eigen<T: Scalar>(a: &Matrix<T>, left: bool, right: bool) -> Result<Option<Eigen<T>>, Error> {
    let n = a.rows();
    if n == 0 {
        return Ok(Some((Vec::new(), [Matrix::zeros(0, 0)?, Matrix::zeros(0, 0)?])));
    }
    if n <= MAX_ORDERED_ROWS
        && let Some(found) = by_substitution(a, [left, right])?
    {
        return Ok(Some(found));
    }
    let computed = if T::COMPLEX {
        complex_eigen::<T>(a.values().iter().map(|z| Complex::new(z.re(), z.im())), n, [left, right])?
    } else {
        real_eigen::<T>(a.values().iter().map(|z| z.re()), n, [left, right])?
    };
    let Some((values, vectors)) = computed else { return Ok(None) };
    let wide = |z: &Complex<T::Part>| T::Wide::new(z.re, z.im);
    let values: Vec<T::Wide> = values.iter().map(wide).collect();
    let mut result = [Matrix::zeros(n, n)?, Matrix::zeros(n, n)?];
    for (to, from) in result.iter_mut().zip(&vectors).filter(|(_, from)| !from.is_empty()) {
        for (to, from) in to.values_mut().iter_mut().zip(from) {
            *to = wide(from);
        }
        (0..n).for_each(|j| normalize(to.column_mut(j)));
    }
    let hold = |side: usize| eigenvectors::are_eigenvectors(a, &values, &result[side], side == 0);
    if (!left || hold(0)) && (!right || hold(1)) {
        return Ok(Some((values, result)));
    }
    by_substitution(a, [left, right])
}

/// Computes the same by a Schur form. This works for all eigenvalues, and in the order in which LAPACK's
/// algorithm for small matrices finds them.
fn by_substitution<T: Scalar>(a: &Matrix<T>, wanted: [bool; 2]) -> Result<Option<Eigen<T>>, Error> {
    let n = a.rows();
    let mut copy = Matrix::zeros(n, n)?;
    copy.values_mut().copy_from_slice(a.values());
    let Some((values, vectors)) = eigenvectors::of_schur_form(copy, wanted)? else { return Ok(None) };
    let mut result = [Matrix::zeros(n, n)?, Matrix::zeros(n, n)?];
    for (to, from) in result.iter_mut().zip(vectors) {
        let Some(mut x) = from else { continue };
        for (j, value) in values.iter().enumerate() {
            normalize(x.column_mut(j));
            if !T::COMPLEX && value.im() == <T::Part as Number>::ZERO {
                // The real part of an eigenvector is an eigenvector too.
                x.column_mut(j).iter_mut().for_each(|z| *z = T::Wide::real(z.re()));
                normalize(x.column_mut(j));
            }
        }
        *to = x;
    }
    Ok(Some((values, result)))
}

/// Scales a vector to length 1, with a positive largest element.
fn normalize<T: Scalar>(x: &mut [T]) {
    let (length, factor) = (length(x), largest(x).map_or_else(T::one_impl, Scalar::unphase));
    if length > <T::Part as Number>::ZERO {
        let factor = T::new(factor.re() / length, factor.im() / length);
        x.iter_mut().for_each(|z| *z *= factor);
    }
}

/// Eigenvalues, and eigenvectors column by column. Eigenvectors that were not requested are empty.
type Columns<P> = (Vec<Complex<P>>, [Vec<Complex<P>>; 2]);

fn real_eigen<T: Scalar>(
    a: impl Iterator<Item = T::Part>,
    n: usize,
    wanted: [bool; 2],
) -> Result<Option<Columns<T::Part>>, Error> {
    let mut matrix = Matrix::<T::Part>::zeros(n, n)?;
    matrix.values_mut().iter_mut().zip(a).for_each(|(to, from)| *to = from);
    let (mut re, mut im) = (vec![<T::Part as Number>::ZERO; n], vec![<T::Part as Number>::ZERO; n]);
    let mut vectors = [Matrix::<T::Part>::zeros(n, n)?, Matrix::<T::Part>::zeros(n, n)?];
    let compute = wanted.map(|w| if w { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No });
    let stack = evd_scratch::<T::Part>(n, compute[0], compute[1], Par::Seq, Default::default());
    let mut stack = MemBuffer::try_new(stack).map_err(|_| Error("out of memory".into()))?;
    let [left, right] = &mut vectors;
    let done = by_faer(|| {
        evd_real(
            matrix.as_ref(),
            DiagMut::from_slice_mut(&mut re),
            DiagMut::from_slice_mut(&mut im),
            wanted[0].then(|| left.as_mut()),
            wanted[1].then(|| right.as_mut()),
            Par::Seq,
            MemStack::new(&mut stack),
            Default::default(),
        )
    });
    if done.is_err() {
        return Ok(None);
    }
    let values: Vec<Complex<T::Part>> = re.iter().zip(&im).map(|(&re, &im)| Complex { re, im }).collect();
    let columns = |side: usize| {
        let mut columns = vec![
            Complex { re: <T::Part as Number>::ZERO, im: <T::Part as Number>::ZERO };
            if wanted[side] { n * n } else { 0 }
        ];
        for (j, column) in columns.chunks_exact_mut(n).enumerate() {
            // For a pair, the first column contains the real parts, and the second one the imaginary parts.
            let second = j > 0 && im[j] < <T::Part as Number>::ZERO;
            let first = if second { j - 1 } else { j };
            for (i, z) in column.iter_mut().enumerate() {
                z.re = vectors[side].get(i, first);
                if im[j] != <T::Part as Number>::ZERO && first + 1 < n {
                    let part = vectors[side].get(i, first + 1);
                    z.im = if second { -part } else { part };
                }
            }
        }
        columns
    };
    Ok(Some((values, [columns(0), columns(1)])))
}

fn complex_eigen<T: Scalar>(
    a: impl Iterator<Item = Complex<T::Part>>,
    n: usize,
    wanted: [bool; 2],
) -> Result<Option<Columns<T::Part>>, Error> {
    let zero = Complex { re: <T::Part as Number>::ZERO, im: <T::Part as Number>::ZERO };
    let matrix: Vec<Complex<T::Part>> = a.collect();
    let mut values = vec![zero; n];
    let mut vectors = wanted.map(|w| vec![zero; if w { n * n } else { 0 }]);
    let compute = wanted.map(|w| if w { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No });
    let stack = evd_scratch::<Complex<T::Part>>(n, compute[0], compute[1], Par::Seq, Default::default());
    let mut stack = MemBuffer::try_new(stack).map_err(|_| Error("out of memory".into()))?;
    let [left, right] = &mut vectors;
    let view = |values| faer::MatMut::from_column_major_slice_mut(values, n, n);
    let done = by_faer(|| {
        evd_cplx(
            faer::MatRef::from_column_major_slice(&matrix, n, n),
            DiagMut::from_slice_mut(&mut values),
            wanted[0].then(|| view(left)),
            wanted[1].then(|| view(right)),
            Par::Seq,
            MemStack::new(&mut stack),
            Default::default(),
        )
    });
    Ok(done.is_ok().then_some((values, vectors)))
}
