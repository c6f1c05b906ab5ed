//! What each routine takes and gives.

use super::plan::{Inner, Kind, Slot};
use crate::Attributes;
use hlo_runtime_core::Error;

/// The routines, by LAPACK's names for real numbers; those for complex numbers are the same ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Routine {
    /// LU factors with partial pivoting.
    Getrf,
    /// The same, with pivots from 0 and the permutation of the rows instead of `info`.
    Lu,
    /// QR factors as reflectors.
    Geqrf,
    /// The same with column pivoting.
    Geqp3,
    /// The first columns of the product of reflectors.
    Orgqr,
    /// The Cholesky factor.
    Potrf,
    /// A matrix times the product of reflectors.
    Ormqr,
    /// Triangular systems.
    Trsm,
    /// Singular values and vectors, `gesvd` too.
    Gesdd,
    /// Eigenvalues and eigenvectors of a Hermitian matrix.
    Syevd,
    /// `Syevd` without `info`.
    Eigh,
    /// Eigenvalues and eigenvectors of any matrix.
    Geev,
    /// Schur forms.
    Gees,
    /// The Hessenberg form.
    Gehrd,
    /// The tridiagonal form of a Hermitian matrix.
    Sytrd,
    /// Tridiagonal systems.
    Gtsv,
    /// `Gtsv` of a system that may be singular; the solution alone.
    Perturbed,
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

    /// The results. Those of real matrices may be complex: then there are others for complex ones.
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

    /// The sizes of the results behind those of the batch, by those of the operands. Where several are possible, `found`
    /// decides.
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
        let square = |sizes: Vec<Inner>| match m == n {
            true => Ok(sizes),
            false => Err(Error(format!("takes square matrices, found {m} by {n}"))),
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

/// The sizes of what `ormqr` multiplies by reflectors, which it has to fit.
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

/// Checks the rows that `gehrd` works on.
fn check_rows(n: usize, attributes: &Attributes) -> Result<(), Error> {
    let (low, high) = (attributes.integer("low")?, attributes.integer("high")?);
    let fits = if n == 0 { low == 1 && high == 0 } else { 1 <= low && low <= high && high <= n as i128 };
    match fits {
        true => Ok(()),
        false => Err(Error(format!("works on the rows `low` to `high` of {n}, found {low} to {high}"))),
    }
}
