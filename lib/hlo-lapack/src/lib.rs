//! LAPACK's routines under the names that JAX calls them by: `lapack_sgetrf_ffi` and so on.
//!
//! Every routine works on a batch of matrices, each read into working memory, computed on by one thread and
//! written back, so that the bits are the same on any number of threads. Where LAPACK's result is unique, it is
//! this one, conventions included (signs of reflectors, pivots, `info`). Vectors that are unique up to a factor
//! of absolute value 1 are scaled so that their largest element is positive.

mod direct;
mod driver;
mod eigen;
mod factor;
mod householder;
mod reflectors;
mod schur;
mod svd;
mod tridiagonal;

use std::sync::Arc;

use num_complex::Complex;

use driver::{Data, Inner, Kind, Plan, Slot, elements, vector};

use hlo_custom_call::{Attributes, CallSite, Function, Target, Targets};
use hlo_runtime::Error;
use hlo_runtime::linalg::{Matrix, Scalar};

/// LAPACK's routines as targets of custom calls.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lapack;

impl Targets for Lapack {
    fn find(&self, site: &CallSite) -> Option<Result<Target, Error>> {
        target(&site.target).map(Ok)
    }

    fn names(&self) -> Vec<String> {
        names().chain(OTHERS.iter().map(|&name| name.into())).collect()
    }

    fn listed(&self) -> Vec<String> {
        OTHERS.iter().map(|&name| name.into()).chain([PATTERN.into()]).collect()
    }
}

/// What all names start with.
const PREFIX: &str = "lapack_";
/// The names, for a person.
const PATTERN: &str = "lapack_{s,d,c,z}{getrf,geqrf,geqp3,orgqr,ungqr,potrf,trsm,gesdd,gesvd,syevd,heevd,\
    geev,gees,gehrd,sytrd,hetrd,ormqr,unmqr,gtsv}_ffi";
/// The targets whose numbers are of the type of their operands.
const OTHERS: &[&str] = &[PERTURBED, "Qr", "ProductOfElementaryHouseholderReflectors", "Eigh"];
const PERTURBED: &str = "tridiagonal_solve_perturbed_ffi";

/// The routines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Routine {
    Getrf,
    Geqrf,
    Geqp3,
    Orgqr,
    Potrf,
    Ormqr,
    Trsm,
    Gesdd,
    Syevd,
    /// `Syevd` without `info`.
    Eigh,
    Geev,
    Gees,
    Gehrd,
    Sytrd,
    Gtsv,
    /// `Gtsv` of a system that may be singular; the solution alone.
    Perturbed,
}

/// The names of the routines for real and for complex numbers.
const ROUTINES: &[(Routine, &str, &str)] = &[
    (Routine::Getrf, "getrf", "getrf"),
    (Routine::Geqrf, "geqrf", "geqrf"),
    (Routine::Geqp3, "geqp3", "geqp3"),
    (Routine::Orgqr, "orgqr", "ungqr"),
    (Routine::Ormqr, "ormqr", "unmqr"),
    (Routine::Potrf, "potrf", "potrf"),
    (Routine::Trsm, "trsm", "trsm"),
    (Routine::Gesdd, "gesdd", "gesdd"),
    (Routine::Gesdd, "gesvd", "gesvd"),
    (Routine::Syevd, "syevd", "heevd"),
    (Routine::Geev, "geev", "geev"),
    (Routine::Gees, "gees", "gees"),
    (Routine::Gehrd, "gehrd", "gehrd"),
    (Routine::Sytrd, "sytrd", "hetrd"),
    (Routine::Gtsv, "gtsv", "gtsv"),
];

/// Every name.
fn names() -> impl Iterator<Item = String> {
    ROUTINES.iter().flat_map(|(_, real, complex)| {
        let named = |letter, name| format!("{PREFIX}{letter}{name}_ffi");
        [named('s', real), named('d', real), named('c', complex), named('z', complex)]
    })
}

/// The target of a name.
fn target(name: &str) -> Option<Target> {
    match name {
        PERTURBED => return Some(of_any_type(Routine::Perturbed)),
        "Qr" => return Some(of_any_type(Routine::Geqrf)),
        "ProductOfElementaryHouseholderReflectors" => return Some(of_any_type(Routine::Orgqr)),
        "Eigh" => return Some(of_any_type(Routine::Eigh)),
        _ => {}
    }
    let name = name.strip_prefix(PREFIX)?.strip_suffix("_ffi")?;
    let (letter, name) = name.split_at_checked(1)?;
    let find = |complex: bool| {
        let found = ROUTINES.iter().find(|(_, real, other)| name == if complex { *other } else { *real });
        found.map(|r| r.0)
    };
    match letter {
        "s" => find(false).map(target_of::<f32>),
        "d" => find(false).map(target_of::<f64>),
        "c" => find(true).map(target_of::<Complex<f32>>),
        "z" => find(true).map(target_of::<Complex<f64>>),
        _ => None,
    }
}

fn target_of<T: Scalar>(routine: Routine) -> Target {
    Target::new(move |site, attributes| function::<T>(routine, site, attributes))
}

/// A target that takes the type of its numbers from its first operand.
fn of_any_type(routine: Routine) -> Target {
    Target::new(move |site, attributes| {
        let attributes = match routine {
            Routine::Eigh => eigh_attributes(&site.config)?,
            _ => attributes.clone(),
        };
        match site.operand_arrays().first().map(|a| a.element.as_str()) {
            Some("f32") => function::<f32>(routine, site, &attributes),
            Some("f64") => function::<f64>(routine, site, &attributes),
            Some("c64") => function::<Complex<f32>>(routine, site, &attributes),
            Some("c128") => function::<Complex<f64>>(routine, site, &attributes),
            Some(other) => Err(Error(format!("takes f32, f64, c64 or c128, found {other}"))),
            None => Err(Error("takes an array".into())),
        }
    })
}

/// The attributes of `Eigh`, whose configuration is a list of numbers: the first one is 1 for the lower triangle and 0
/// for the upper one. The others are about an iteration that is not this one's.
fn eigh_attributes(config: &[u8]) -> Result<Attributes, Error> {
    let uplo = match config.split(|&c| c == b',').next().map(<[u8]>::trim_ascii) {
        Some(b"1") => 'L',
        Some(b"0") => 'U',
        _ => {
            return Err(Error(
                "has a configuration such as `1,1,100,1e-6`: the first number is 0 or 1".into(),
            ));
        }
    };
    Attributes::parse(format!("{{mode = 86 : ui8, uplo = {} : ui8}}", uplo as u32).as_bytes())
}

/// What computes a routine.
fn function<T: Scalar>(
    routine: Routine,
    site: &CallSite,
    attributes: &Attributes,
) -> Result<Arc<Function>, Error> {
    let plan = Plan::new::<T>(routine, site, attributes)?;
    let direct = direct::function::<T>(routine, &plan, attributes)?;
    let attributes = attributes.clone();
    Ok(Arc::new(move |call| match &direct {
        Some(direct) if direct::is_aligned::<T>(call) => direct(call),
        _ => plan.run(call, |operands| routine.run::<T>(&attributes, operands)),
    }))
}

/// Operands or results with so many dimensions behind those of the batch.
const fn slot(kind: Kind, inner: usize) -> Slot {
    Slot { kind, inner }
}

const MATRIX: Slot = slot(Kind::Element, 2);
const VECTOR: Slot = slot(Kind::Element, 1);
const REALS: Slot = slot(Kind::Part, 1);
const WIDE_MATRIX: Slot = slot(Kind::Wide, 2);
const WIDE_VECTOR: Slot = slot(Kind::Wide, 1);
const INTEGERS: Slot = slot(Kind::Integer, 1);
const INTEGER: Slot = slot(Kind::Integer, 0);

impl Routine {
    /// The operands.
    fn operands(self) -> &'static [Slot] {
        match self {
            Routine::Getrf | Routine::Geqrf | Routine::Potrf | Routine::Gesdd | Routine::Syevd => &[MATRIX],
            Routine::Eigh | Routine::Geev | Routine::Gees | Routine::Gehrd | Routine::Sytrd => &[MATRIX],
            Routine::Geqp3 => &[MATRIX, INTEGERS],
            Routine::Orgqr => &[MATRIX, VECTOR],
            Routine::Ormqr => &[MATRIX, VECTOR, MATRIX],
            Routine::Trsm => &[MATRIX, MATRIX],
            Routine::Gtsv | Routine::Perturbed => &[VECTOR, VECTOR, VECTOR, MATRIX],
        }
    }

    /// The results. Those of real matrices may be complex: then there are others for complex ones.
    fn results(self, complex: bool) -> &'static [Slot] {
        match self {
            Routine::Getrf => &[MATRIX, INTEGERS, INTEGER],
            Routine::Geqrf => &[MATRIX, VECTOR],
            Routine::Geqp3 => &[MATRIX, INTEGERS, VECTOR],
            Routine::Orgqr | Routine::Ormqr | Routine::Trsm | Routine::Perturbed => &[MATRIX],
            Routine::Potrf => &[MATRIX, INTEGER],
            Routine::Gesdd => &[MATRIX, REALS, MATRIX, MATRIX, INTEGER],
            Routine::Syevd => &[MATRIX, REALS, INTEGER],
            Routine::Eigh => &[MATRIX, REALS],
            Routine::Gees if complex => &[MATRIX, MATRIX, VECTOR, INTEGER, INTEGER],
            Routine::Gees => &[MATRIX, MATRIX, VECTOR, VECTOR, INTEGER, INTEGER],
            Routine::Geev if complex => &[WIDE_VECTOR, WIDE_MATRIX, WIDE_MATRIX, INTEGER],
            Routine::Geev => &[REALS, REALS, WIDE_MATRIX, WIDE_MATRIX, INTEGER],
            Routine::Gehrd => &[MATRIX, VECTOR, INTEGER],
            Routine::Sytrd => &[MATRIX, REALS, REALS, VECTOR, INTEGER],
            Routine::Gtsv => &[VECTOR, VECTOR, VECTOR, MATRIX, INTEGER],
        }
    }

    /// The sizes of the results behind those of the batch, by those of the operands. Where several are possible, `found`
    /// decides.
    fn sizes(
        self,
        operands: &[Inner],
        found: &[Inner],
        attributes: &Attributes,
        complex: bool,
    ) -> Result<Vec<Inner>, Error> {
        let a = &operands[0];
        let (m, n) = (a[0], a.get(1).copied().unwrap_or(1));
        let k = m.min(n);
        let square = |sizes: Vec<Inner>| match m == n {
            true => Ok(sizes),
            false => Err(Error(format!("takes square matrices, found {m} by {n}"))),
        };
        let matrix = || vec![m, n];
        match self {
            Routine::Getrf => Ok(vec![matrix(), vec![k], vec![]]),
            Routine::Geqrf => Ok(vec![matrix(), vec![k]]),
            Routine::Geqp3 if operands[1] == [n] => Ok(vec![matrix(), vec![n], vec![k]]),
            Routine::Geqp3 => Err(Error(format!("takes {n} column numbers, found {}", operands[1][0]))),
            Routine::Orgqr if m >= n && n >= operands[1][0] => Ok(vec![matrix()]),
            Routine::Orgqr => Err(Error(format!(
                "takes at most as many reflectors as columns, and columns as rows: found {} \
                    reflectors, {m} by {n}",
                operands[1][0]
            ))),
            Routine::Potrf => {
                attributes.letter("uplo", "LU")?;
                square(vec![matrix(), vec![]])
            }
            Routine::Ormqr => {
                let (k, c) = (operands[1][0], &operands[2]);
                let order = if attributes.flag("left")? { c[0] } else { c[1] };
                attributes.flag("transpose")?;
                if m != order || k > m.min(n) {
                    return Err(Error(format!(
                        "of {k} reflectors in {m} by {n} does not fit {} by {}",
                        c[0], c[1]
                    )));
                }
                Ok(vec![c.clone()])
            }
            Routine::Trsm => {
                let b = &operands[1];
                let side = attributes.letter("side", "LR")?;
                attributes.letter("uplo", "LU")?;
                attributes.letter("trans_x", "NTC")?;
                attributes.letter("diag", "NU")?;
                if b[usize::from(side == 'R')] != m {
                    return Err(Error(format!("of {m} by {n} does not fit {} by {}", b[0], b[1])));
                }
                square(vec![b.clone()])
            }
            Routine::Gesdd => Ok(match attributes.letter("mode", "ASN")? {
                'S' => vec![matrix(), vec![k], vec![m, k], vec![k, n], vec![]],
                // Room for vectors that are not computed, be it for all or for as many as values.
                'N' if found[2..4] == [vec![m, k], vec![k, n]] => {
                    vec![matrix(), vec![k], vec![m, k], vec![k, n], vec![]]
                }
                _ => vec![matrix(), vec![k], vec![m, m], vec![n, n], vec![]],
            }),
            Routine::Syevd => {
                attributes.letter("uplo", "LU")?;
                attributes.letter("mode", "NV")?;
                square(vec![matrix(), vec![n], vec![]])
            }
            Routine::Eigh => square(vec![matrix(), vec![n]]),
            Routine::Gees => {
                attributes.letter("mode", "NV")?;
                if attributes.letter("sort", "NS")? == 'S' {
                    return Err(Error("does not sort eigenvalues (`sort` must be 78)".into()));
                }
                let values = vec![vec![n]; if complex { 1 } else { 2 }];
                square([vec![matrix(), matrix()], values, vec![vec![], vec![]]].concat())
            }
            Routine::Geev => {
                attributes.letter("compute_left", "NV")?;
                attributes.letter("compute_right", "NV")?;
                let values = vec![vec![n]; if complex { 1 } else { 2 }];
                square([values, vec![matrix(), matrix(), vec![]]].concat())
            }
            Routine::Gehrd => {
                let (low, high) = (attributes.integer("low")?, attributes.integer("high")?);
                let fits =
                    if n == 0 { low == 1 && high == 0 } else { 1 <= low && low <= high && high <= n as i128 };
                if !fits {
                    return Err(Error(format!(
                        "works on the rows `low` to `high` of {n}, found {low} to {high}"
                    )));
                }
                square(vec![matrix(), vec![n.saturating_sub(1)], vec![]])
            }
            Routine::Sytrd => {
                attributes.letter("uplo", "LU")?;
                let off = n.saturating_sub(1);
                square(vec![matrix(), vec![n], vec![off], vec![off], vec![]])
            }
            Routine::Gtsv | Routine::Perturbed => {
                let b = &operands[3];
                if operands[..3].iter().any(|d| d != a) || b[0] != m {
                    return Err(Error("takes diagonals as long as the right-hand side has rows".into()));
                }
                Ok(match self {
                    Routine::Perturbed => vec![b.clone()],
                    _ => vec![vec![m], vec![m], vec![m], b.clone(), vec![]],
                })
            }
        }
    }

    /// Computes one matrix of the batch.
    fn run<T: Scalar>(self, attributes: &Attributes, operands: Vec<Data<T>>) -> Result<Vec<Data<T>>, Error> {
        let mut operands = operands.into_iter();
        let mut next = || operands.next().ok_or_else(|| Error("an operand is missing".into()));
        let mut a = elements(next()?)?;
        let k = a.rows().min(a.columns());
        Ok(match self {
            Routine::Getrf => {
                let mut pivots = vec![0; k];
                let size = (a.rows(), a.columns());
                let info = factor::getrf(a.values_mut(), size, &mut pivots);
                vec![Data::Elements(a), Data::Integers(pivots), Data::Integers(vec![info])]
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
            Routine::Gesdd => svd::gesdd(a, attributes.letter("mode", "ASN")?)?,
            Routine::Syevd | Routine::Eigh => {
                let vectors = attributes.letter("mode", "NV")? == 'V';
                let mut results = eigen::syevd(a, attributes.letter("uplo", "LU")? == 'L', vectors)?;
                if self == Routine::Eigh {
                    results.pop();
                }
                results
            }
            Routine::Geev => {
                let wanted = |name| Ok::<_, Error>(attributes.letter(name, "NV")? == 'V');
                eigen::geev(&a, wanted("compute_left")?, wanted("compute_right")?)?
            }
        })
    }
}

/// A column of NaN for each number: what is given where there is no result.
fn not_a_number<T: Scalar>(rows: usize, columns: usize) -> Result<Matrix<T>, Error> {
    let mut matrix = Matrix::zeros(rows, columns)?;
    let nan = <T::Part as num_traits::Float>::nan();
    matrix.fill(T::new(nan, nan));
    Ok(matrix)
}

/// The element of the largest absolute value, the first of equals.
fn largest<T: Scalar>(values: &[T]) -> Option<T> {
    let mut best: Option<T> = None;
    for &z in values {
        if best.is_none_or(|b| z.modulus() > b.modulus()) {
            best = Some(z);
        }
    }
    best
}
