//! The operands and results of each routine.

use super::plan::{Inner, Kind, Slot};
use crate::Attributes;
use hlo_runtime_core::Error;

/// LAPACK's routines, by their names for real numbers. Each variant also stands for the routine for complex
/// numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Routine {
    /// LU factorization with partial pivoting.
    Getrf,
    /// As `Getrf`, with 0-based pivots and with the permutation of the rows instead of `info`.
    Lu,
    /// QR factorization, with the factor `Q` as reflectors.
    Geqrf,
    /// As `Geqrf`, with column pivoting.
    Geqp3,
    /// The first columns of a product of reflectors.
    Orgqr,
    /// Cholesky factorization.
    Potrf,
    /// The product of a matrix and a product of reflectors.
    Ormqr,
    /// Solution of triangular systems.
    Trsm,
    /// Singular values and vectors, also for `gesvd`.
    Gesdd,
    /// Eigenvalues and eigenvectors of a Hermitian matrix.
    Syevd,
    /// As `Syevd`, without `info`.
    Eigh,
    /// Eigenvalues and eigenvectors of a general matrix.
    Geev,
    /// Schur decomposition.
    Gees,
    /// Reduction to Hessenberg form.
    Gehrd,
    /// Reduction of a Hermitian matrix to tridiagonal form.
    Sytrd,
    /// Solution of tridiagonal systems.
    Gtsv,
    /// As `Gtsv`, for systems that may be singular; returns only the solution.
    Perturbed,
}

/// Returns a slot with `inner` dimensions after the batch dimensions.
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
    /// Returns the operands of the routine.
    pub(super) fn operands(self) -> &'static [Slot] {
        match self {
            Routine::Getrf | Routine::Lu | Routine::Geqrf | Routine::Potrf | Routine::Gesdd => &[MATRIX],
            Routine::Syevd | Routine::Eigh | Routine::Geev | Routine::Gees => &[MATRIX],
            Routine::Gehrd | Routine::Sytrd => &[MATRIX],
            Routine::Geqp3 => &[MATRIX, INTEGERS],
            Routine::Orgqr => &[MATRIX, VECTOR],
            Routine::Ormqr => &[MATRIX, VECTOR, MATRIX],
            Routine::Trsm => &[MATRIX, MATRIX],
            Routine::Gtsv | Routine::Perturbed => &[VECTOR, VECTOR, VECTOR, MATRIX],
        }
    }

    /// Returns the results of the routine. Some routines have different results for complex matrices.
    pub(super) fn results(self, complex: bool) -> &'static [Slot] {
        match self {
            Routine::Getrf => &[MATRIX, INTEGERS, INTEGER],
            Routine::Lu => &[MATRIX, INTEGERS, INTEGERS],
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

    /// Returns the sizes of the results after the batch dimensions, computed from those of the operands. If
    /// several sizes are possible, `found` decides.
    pub(super) fn sizes(
        self,
        operands: &[Inner],
        found: &[Inner],
        attributes: &Attributes,
        complex: bool,
    ) -> Result<Vec<Inner>, Error> {
        let a = &operands[0];
        let (m, n) = (a[0], a.get(1).copied().unwrap_or(1));
        let k = m.min(n);
        let square = |sizes: Vec<Inner>| {
            if m == n { Ok(sizes) } else { Err(Error(format!("takes square matrices, found {m} by {n}"))) }
        };
        let matrix = || vec![m, n];
        match self {
            Routine::Getrf => Ok(vec![matrix(), vec![k], vec![]]),
            Routine::Lu => Ok(vec![matrix(), vec![k], vec![m]]),
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
            Routine::Ormqr => Ok(vec![reflected(operands, attributes)?]),
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
                // The unused results for vectors may have the sizes of the full or of the reduced factors.
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
                check_rows(n, attributes)?;
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
}

/// Checks the sizes of the matrix that `ormqr` multiplies by reflectors, and returns them.
fn reflected(operands: &[Inner], attributes: &Attributes) -> Result<Inner, Error> {
    let (m, n) = (operands[0][0], operands[0][1]);
    let (k, c) = (operands[1][0], &operands[2]);
    let order = if attributes.flag("left")? { c[0] } else { c[1] };
    attributes.flag("transpose")?;
    if m != order || k > m.min(n) {
        return Err(Error(format!("of {k} reflectors in {m} by {n} does not fit {} by {}", c[0], c[1])));
    }
    Ok(c.clone())
}

/// Checks the range of rows that `gehrd` reduces.
fn check_rows(n: usize, attributes: &Attributes) -> Result<(), Error> {
    let (low, high) = (attributes.integer("low")?, attributes.integer("high")?);
    let fits = if n == 0 { low == 1 && high == 0 } else { 1 <= low && low <= high && high <= n as i128 };
    if fits {
        Ok(())
    } else {
        Err(Error(format!("works on the rows `low` to `high` of {n}, found {low} to {high}")))
    }
}
