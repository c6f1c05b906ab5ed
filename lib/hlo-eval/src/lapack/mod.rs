//! LAPACK's routines as custom-call targets, implemented by textbook algorithms as a reference for other
//! implementations.
//!
//! All computations are in `f64`, or in pairs of `f64` for complex matrices, and are rounded once. Where
//! LAPACK's result is unique, the result is the same, including conventions (signs of reflectors, pivots,
//! `info`). Vectors that are unique up to a factor of absolute value 1 are scaled so that their largest
//! element, the first of equal ones, is positive.
//!
//! Golub & Van Loan is *Matrix Computations*, 4th edition. Names of five or six letters are LAPACK routines.
//! LAPACK's documentation describes their results.

mod eigen;
mod matrix;
mod reflectors;
mod schur;
mod solve;
mod svd;

use hlo_custom_call::lapack::{Array, Plan, Routine, Routines};
use hlo_custom_call::{Call, Error, Function};
use hlo_ir::ElementType;
use matrix::{C, Matrix, Number, places, precision};
use schur::Triangularize;
use std::sync::Arc;

/// LAPACK's routines as custom-call targets.
pub const LAPACK: Routines = Routines(function);

/// Returns the function that computes a call.
fn function(plan: Plan) -> Result<Arc<Function>, Error> {
    Ok(if plan.element.is_complex() {
        Arc::new(move |call| run::<C>(&plan, call))
    } else {
        Arc::new(move |call| run::<f64>(&plan, call))
    })
}

/// Computes every matrix of the batch.
fn run<T: Triangularize>(plan: &Plan, call: &mut Call<'_>) -> Result<(), Error> {
    // Fails here, where it is an error, if there is too little memory. The computation needs a small multiple
    // of the matrices.
    let sizes = plan.operands.iter().chain(&plan.results).map(|a| a.rows.saturating_mul(a.columns));
    let elements = sizes.fold(0, usize::saturating_add);
    let memory = Vec::<C>::new().try_reserve_exact(elements.saturating_mul(8));
    memory.map_err(|_| Error("takes more memory than there is".into()))?;
    for b in 0..plan.batch {
        let mut operands = Vec::new();
        for (i, array) in plan.operands.iter().enumerate() {
            let element = array.kind.element(plan.element);
            operands.push(read::<T>(array, element, b, call.operand_bytes(i)?)?);
        }
        let computed = compute(plan, operands)?;
        if computed.len() != plan.results.len() {
            return Err(Error("internal error: another number of results".into()));
        }
        for (i, (array, matrix)) in plan.results.iter().zip(&computed).enumerate() {
            let element = array.kind.element(plan.element);
            write(array, element, b, matrix, call.result_bytes(i)?)?;
        }
    }
    Ok(())
}

/// Reads matrix number `b` of an operand.
fn read<T: Number>(array: &Array, element: ElementType, b: usize, bytes: &[u8]) -> Result<Matrix<T>, Error> {
    let start = array.start(b);
    let mut whole = true;
    let matrix = Matrix::new(array.rows, array.columns, |i, j| {
        let z = bytes.get(start + array.offset(i, j)..).and_then(|bytes| load(element, bytes));
        whole &= z.is_some();
        z.map_or(T::ZERO, |z| T::new(z.re, z.im))
    });
    if whole { Ok(matrix) } else { Err(Error("internal error: an operand is too short".into())) }
}

/// Reads the number at the start of `bytes`.
fn load(element: ElementType, bytes: &[u8]) -> Option<C> {
    let single = |at: usize| bytes.get(at..)?.first_chunk().map(|b| f64::from(f32::from_ne_bytes(*b)));
    let double = |at: usize| bytes.get(at..)?.first_chunk().map(|b| f64::from_ne_bytes(*b));
    Some(match element {
        ElementType::S32 => C::real(bytes.first_chunk().map(|b| f64::from(i32::from_ne_bytes(*b)))?),
        ElementType::F32 => C::real(single(0)?),
        ElementType::F64 => C::real(double(0)?),
        ElementType::C64 => C::new(single(0)?, single(4)?),
        _ => C::new(double(0)?, double(8)?),
    })
}

/// Writes matrix number `b` of a result, rounded to its type. A matrix without elements is a result that was
/// not requested. It is written as zeros of any size.
fn write(
    array: &Array,
    element: ElementType,
    b: usize,
    matrix: &Matrix<C>,
    bytes: &mut [u8],
) -> Result<(), Error> {
    let given = (matrix.rows, matrix.columns);
    if given != (array.rows, array.columns) && given != (0, 0) {
        return Err(Error("internal error: a result of another size".into()));
    }
    let start = array.start(b);
    for (i, j) in places(array.rows, array.columns) {
        let z = if given == (0, 0) { C::ZERO } else { matrix[(i, j)] };
        let to = bytes.get_mut(start + array.offset(i, j)..).and_then(|b| b.get_mut(..array.element_bytes));
        store(element, z, to.ok_or_else(|| Error("internal error: a result is too short".into()))?);
    }
    Ok(())
}

/// Rounds a number to its type and writes the bytes.
fn store(element: ElementType, z: C, to: &mut [u8]) {
    let (re, im) = ((z.re as f32).to_ne_bytes(), (z.im as f32).to_ne_bytes());
    let (wide_re, wide_im) = (z.re.to_ne_bytes(), z.im.to_ne_bytes());
    match element {
        ElementType::S32 => to.copy_from_slice(&(z.re as i32).to_ne_bytes()),
        ElementType::F32 => to.copy_from_slice(&re),
        ElementType::F64 => to.copy_from_slice(&wide_re),
        ElementType::C64 => to.copy_from_slice(&[re, im].concat()),
        _ => to.copy_from_slice(&[wide_re, wide_im].concat()),
    }
}

/// Returns the eigenvalues as the routine does: for real matrices, the real and imaginary parts separately.
fn parts<T: Number>(values: Vec<C>) -> Vec<Matrix<C>> {
    let part = |part: fn(&C) -> f64| Matrix::vector(values.iter().map(|z| C::real(part(z))).collect());
    if T::COMPLEX { vec![Matrix::vector(values)] } else { vec![part(|z| z.re), part(|z| z.im)] }
}

/// Computes one matrix of the batch.
fn compute<T: Triangularize>(plan: &Plan, operands: Vec<Matrix<T>>) -> Result<Vec<Matrix<C>>, Error> {
    let attributes = &plan.attributes;
    let (epsilon, tiny) = precision(plan.element);
    let letter = |name, of, yes: char| Ok::<bool, Error>(attributes.letter(name, of)? == yes);
    let mut operands = operands.into_iter();
    let mut next = || operands.next().ok_or_else(|| Error("internal error: an operand is missing".into()));
    let mut a = next()?;
    Ok(match plan.routine {
        Routine::Getrf => {
            let (pivots, info) = solve::getrf(&mut a);
            vec![a.wide(), Matrix::vector(pivots).wide(), Matrix::integer(info)]
        }
        Routine::Lu => {
            let (pivots, _) = solve::getrf(&mut a);
            let [pivots, rows] = solve::permutation(&pivots, a.rows);
            vec![a.wide(), Matrix::vector(pivots).wide(), Matrix::vector(rows).wide()]
        }
        Routine::Potrf => {
            let info = solve::potrf(&mut a, letter("uplo", "LU", 'L')?);
            vec![a.wide(), Matrix::integer(info)]
        }
        Routine::Trsm => {
            let mut b = next()?;
            solve::trsm(&a, &mut b, attributes)?;
            vec![b.wide()]
        }
        Routine::Gtsv => {
            let (mut d, mut above, mut b) = (next()?, next()?, next()?);
            let info = solve::gtsv(&mut a, &mut d, &mut above, &mut b);
            vec![a.wide(), d.wide(), above.wide(), b.wide(), Matrix::integer(info)]
        }
        Routine::Perturbed => {
            let (d, above, mut b) = (next()?, next()?, next()?);
            solve::perturbed([&a, &d, &above], &mut b, (epsilon, tiny));
            vec![b.wide()]
        }
        Routine::Geqrf => {
            let tau = reflectors::geqrf(&mut a);
            vec![a.wide(), tau.wide()]
        }
        Routine::Geqp3 => {
            let mut columns = next()?;
            let tau = reflectors::geqp3(&mut a, &mut columns);
            vec![a.wide(), columns.wide(), tau.wide()]
        }
        Routine::Orgqr => vec![reflectors::orgqr(&a, &next()?).wide()],
        Routine::Ormqr => {
            let side = (attributes.flag("left")?, attributes.flag("transpose")?);
            let (tau, c) = (next()?, next()?);
            vec![reflectors::ormqr(&a, &tau, c, side).wide()]
        }
        Routine::Gehrd => {
            let bound = |name| Ok::<_, Error>(usize::try_from(attributes.integer(name)?).unwrap_or(0));
            let tau = reflectors::gehrd(&mut a, bound("low")?.saturating_sub(1), bound("high")?);
            vec![a.wide(), tau.wide(), Matrix::integer(0)]
        }
        Routine::Sytrd => {
            let [d, beside, tau] = reflectors::sytrd(&mut a, letter("uplo", "LU", 'L')?);
            vec![a.wide(), d.wide(), beside.wide(), tau.wide(), Matrix::integer(0)]
        }
        Routine::Gesdd => svd::gesdd(a, attributes.letter("mode", "ASN")?),
        Routine::Syevd => eigen::syevd(a, letter("uplo", "LU", 'L')?, letter("mode", "NV", 'V')?),
        Routine::Eigh => {
            let mut results = eigen::syevd(a, letter("uplo", "LU", 'L')?, true);
            results.pop();
            results
        }
        Routine::Geev => {
            let wanted = [letter("compute_left", "NV", 'V')?, letter("compute_right", "NV", 'V')?];
            eigen::geev(a, wanted, epsilon)
        }
        Routine::Gees => schur::gees(a, letter("mode", "NV", 'V')?, epsilon),
    })
}
