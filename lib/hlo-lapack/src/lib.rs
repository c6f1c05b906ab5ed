//! LAPACK's routines for compiled code, under the names that JAX uses: `lapack_sgetrf_ffi` and so on.
//! `hlo_custom_call::lapack` defines their operands and results.
//!
//! Every routine works on a batch of matrices. One thread reads each matrix into working memory, computes,
//! and writes the result back, so that the number of threads does not affect the bits. Where LAPACK's result
//! is unique, these routines compute the same result, with the same conventions (signs of reflectors, pivots,
//! `info`). Vectors that are unique up to a factor of absolute value 1 are scaled so that their largest
//! element is positive.
//!
//! # Example
//! The Cholesky factor of a matrix of `f64`:
//!
//! ```
//! use hlo_custom_call::{ApiVersion, ArrayType, CallSite, Registry, ValueType};
//!
//! let array = |element: &str, element_bytes, dims: &[usize]| ArrayType {
//!     element: element.into(),
//!     element_bytes,
//!     dims: dims.into(),
//!     minor_to_major: (0..dims.len()).rev().collect(),
//! };
//! let matrix = ValueType::Array(array("f64", 8, &[2, 2]));
//! let info = ValueType::Array(array("s32", 4, &[]));
//! let site = CallSite {
//!     target: "lapack_dpotrf_ffi".into(),
//!     api: ApiVersion::TypedFfi,
//!     config: b"{uplo = 76 : ui8}".into(),
//!     operands: vec![matrix.clone()],
//!     result: ValueType::Tuple(vec![matrix, info]),
//!     aliases: Vec::new(),
//! };
//! let mut registry = Registry::new();
//! registry.add(hlo_lapack::LAPACK);
//! let call = registry.plan(site).expect("a routine that is known");
//!
//! let a = [4.0f64, 2.0, 2.0, 5.0].map(f64::to_ne_bytes);
//! let (mut factor, mut info) = ([[0; 8]; 4], [1; 4]);
//! call.call_here(&[a.as_flattened()], &mut [factor.as_flattened_mut(), &mut info]).expect("they fit");
//! // The lower triangle contains the factor: [2 0; 1 2] times its transpose is the matrix.
//! let [l00, _, l10, l11] = factor.map(f64::from_ne_bytes);
//! assert_eq!(([l00, l10, l11], info), ([2.0, 1.0, 2.0], [0; 4]));
//! ```

mod balance;
mod direct;
mod double_precision;
mod driver;
mod eigen;
mod eigenvectors;
mod factor;
mod householder;
mod numbers;
mod reflectors;
mod schur;
mod svd;
mod tridiagonal;

use std::sync::Arc;

use num_complex::Complex;

use double_precision::Rounded;
use driver::{Data, elements, vector};

use hlo_custom_call::Function;
use hlo_custom_call::lapack::{Plan, Routine, Routines};
use hlo_ir::ElementType;
use hlo_runtime::Error;

/// LAPACK's routines as targets of custom calls.
pub const LAPACK: Routines = Routines(function);

/// Returns the function that performs a call.
fn function(plan: Plan) -> Result<Arc<Function>, Error> {
    match plan.element {
        ElementType::F32 => function_of::<f32>(plan),
        ElementType::F64 => function_of::<f64>(plan),
        ElementType::C64 => function_of::<Complex<f32>>(plan),
        _ => function_of::<Complex<f64>>(plan),
    }
}

fn function_of<T: Rounded>(plan: Plan) -> Result<Arc<Function>, Error> {
    let direct = direct::function::<T>(&plan)?;
    Ok(Arc::new(move |call| match &direct {
        Some(direct) if direct::is_aligned::<T>(call) => direct(call),
        _ => driver::run(&plan, call, |operands| compute::<T>(&plan, operands)),
    }))
}

/// Computes one matrix of the batch.
fn compute<T: Rounded>(plan: &Plan, operands: Vec<Data<T>>) -> Result<Vec<Data<T>>, Error> {
    let attributes = &plan.attributes;
    let mut operands = operands.into_iter();
    let mut next = || operands.next().ok_or_else(|| Error("an operand is missing".into()));
    let mut a = elements(next()?)?;
    let k = a.rows().min(a.columns());
    Ok(match plan.routine {
        Routine::Getrf => {
            let mut pivots = vec![0; k];
            let size = (a.rows(), a.columns());
            let info = factor::getrf(a.values_mut(), size, &mut pivots);
            vec![Data::Elements(a), Data::Integers(pivots), Data::Integers(vec![info])]
        }
        Routine::Lu => {
            let mut pivots = vec![0; k];
            let size = (a.rows(), a.columns());
            factor::getrf(a.values_mut(), size, &mut pivots);
            let order = factor::permutation(&mut pivots, size.0);
            vec![Data::Elements(a), Data::Integers(pivots), Data::Integers(order)]
        }
        Routine::Potrf => {
            let info = factor::potrf(&mut a, attributes.letter("uplo", "LU")? == 'L')?;
            vec![Data::Elements(a), Data::Integers(vec![info])]
        }
        Routine::Trsm => vec![Data::Elements(factor::trsm(&a, elements(next()?)?, attributes)?)],
        Routine::Geqrf => {
            let tau = householder::geqrf(&mut a)?;
            vec![Data::Elements(a), Data::Elements(vector(&tau)?)]
        }
        Routine::Geqp3 => {
            let Data::Integers(mut columns) = next()? else {
                return Err(Error("no column numbers".into()));
            };
            let tau = householder::geqp3(&mut a, &mut columns);
            vec![Data::Elements(a), Data::Integers(columns), Data::Elements(vector(&tau)?)]
        }
        Routine::Orgqr => {
            let tau = elements(next()?)?;
            vec![Data::Elements(householder::orgqr(&a, tau.values())?)]
        }
        Routine::Ormqr => {
            let (tau, c) = (elements(next()?)?, elements(next()?)?);
            let (left, inverse) = (attributes.flag("left")?, attributes.flag("transpose")?);
            vec![Data::Elements(householder::ormqr(&a, tau.values(), c, (left, inverse))?)]
        }
        Routine::Gees => schur::gees(a, attributes.letter("mode", "NV")? == 'V')?,
        Routine::Perturbed => {
            let (d, upper, mut b) = (elements(next()?)?, elements(next()?)?, elements(next()?)?);
            tridiagonal::solve_perturbed(a.values(), d.values(), upper.values(), &mut b)?;
            vec![Data::Elements(b)]
        }
        Routine::Gehrd => {
            let bound = |name| Ok(usize::try_from(attributes.integer(name)?).unwrap_or(0));
            let tau = householder::gehrd(&mut a, bound("low")?.saturating_sub(1), bound("high")?);
            vec![Data::Elements(a), Data::Elements(vector(&tau)?), Data::Integers(vec![0])]
        }
        Routine::Sytrd => {
            let (d, e, tau) = tridiagonal::sytrd(&mut a, attributes.letter("uplo", "LU")? == 'L')?;
            let (d, e, tau) = (vector(&d)?, vector(&e)?, vector(&tau)?);
            vec![
                Data::Elements(a),
                Data::Parts(d),
                Data::Parts(e),
                Data::Elements(tau),
                Data::Integers(vec![0]),
            ]
        }
        Routine::Gtsv => {
            let (mut d, mut upper, mut b) = (elements(next()?)?, elements(next()?)?, elements(next()?)?);
            let info = tridiagonal::gtsv(a.values_mut(), d.values_mut(), upper.values_mut(), &mut b);
            let diagonals = [a, d, upper, b].map(Data::Elements);
            diagonals.into_iter().chain([Data::Integers(vec![info])]).collect()
        }
        Routine::Gesdd => {
            let mode = attributes.letter("mode", "ASN")?;
            double_precision::in_doubles(&a, |a| svd::gesdd(a, mode))?
        }
        Routine::Syevd | Routine::Eigh => {
            let vectors = attributes.letter("mode", "NV")? == 'V';
            let lower = attributes.letter("uplo", "LU")? == 'L';
            let mut results = double_precision::in_doubles(&a, |a| eigen::syevd(a, lower, vectors))?;
            if plan.routine == Routine::Eigh {
                results.pop();
            }
            results
        }
        Routine::Geev => {
            let wanted = |name| Ok::<_, Error>(attributes.letter(name, "NV")? == 'V');
            eigen::geev(a, wanted("compute_left")?, wanted("compute_right")?)?
        }
    })
}
