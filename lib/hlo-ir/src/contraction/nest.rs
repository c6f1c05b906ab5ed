//! Loop nests that enumerate each valid index exactly once.
//!
//! The valid indices are the integer points at which some linear forms are within bounds. Unimodular column
//! operations (the Hermite form, [`super::lattice`]) express the forms in loop variables. Each form then
//! bounds its last variable in terms of the outer variables, so no point needs a test. The forms of the
//! output come first. The first variables therefore identify the output element. Points that aggregate to the
//! same element have the same values of these variables, and other points have different values.

use super::lattice::{Basis, Overflow};
use super::{Affine, Interval, Level, Strip, level};
use std::collections::HashMap;

/// Maximum number of indices of a nest.
pub const MAX_INDICES: usize = 32;

/// Numbers beyond this limit are too large. Sums and differences of two numbers within it fit 64 bits.
const LIMIT: i128 = 1 << 62;

/// An exact loop nest over the integer points of some strips.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nest {
    levels: Vec<Level>,
    outer: usize,
    /// Each index as a function of the loop variables.
    matrix: Vec<Affine>,
}

/// The reason why there is no nest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NestError {
    /// These indices are unbounded.
    Unbounded(Vec<usize>),
    /// There are more than [`MAX_INDICES`] indices, or a number is too large.
    TooLarge,
}

impl From<Overflow> for NestError {
    fn from(_: Overflow) -> Self {
        NestError::TooLarge
    }
}

/// The condition `low <= form · x <= high`, for a form whose coefficients have no common divisor.
struct Row {
    form: Vec<i128>,
    low: i128,
    high: i128,
    of_output: bool,
}

impl Nest {
    /// Creates the nest over the points that are in all strips; `None` if there are none. The first `outputs`
    /// strips are those of the output.
    ///
    /// The loops of the output are in the order of its strips. The other loops are in the order of the sizes
    /// of their strips, the smallest outermost.
    ///
    /// # Errors
    /// The strips do not bound all indices, or contain numbers that are too large.
    pub fn new(indices: usize, strips: &[Strip], outputs: usize) -> Result<Option<Nest>, NestError> {
        if indices > MAX_INDICES {
            return Err(NestError::TooLarge);
        }
        Self::unlimited(indices, strips, outputs)
    }

    /// As [`Nest::new`], for any number of indices.
    pub(super) fn unlimited(
        indices: usize,
        strips: &[Strip],
        outputs: usize,
    ) -> Result<Option<Nest>, NestError> {
        let mut rows = Rows::of(indices, strips, outputs)?;
        let width = |row: &Row| row.high.saturating_sub(row.low);
        rows.rows.sort_by_key(|row| (!row.of_output, if row.of_output { 0 } else { width(row) }));
        Self::of_rows(indices, rows)
    }

    /// As [`Nest::new`], with the inner loops also in the order of the strips: each strip that adds a loop
    /// variable becomes the next loop.
    ///
    /// # Errors
    /// The errors of [`Nest::new`].
    pub fn in_order(indices: usize, strips: &[Strip], outputs: usize) -> Result<Option<Nest>, NestError> {
        if indices > MAX_INDICES {
            return Err(NestError::TooLarge);
        }
        Self::of_rows(indices, Rows::of(indices, strips, outputs)?)
    }

    fn of_rows(indices: usize, Rows { rows, mut is_empty }: Rows) -> Result<Option<Nest>, NestError> {
        is_empty |= rows.iter().any(|row| row.low > row.high);

        let mut basis = Basis::standard(indices);
        let (mut found, mut outer) = (0, 0);
        for row in &rows {
            if basis.eliminate(&row.form, found)? != 0 {
                basis.reduce(&row.form, found)?;
                found += 1;
            }
            if row.of_output {
                outer = found;
            }
        }
        if found < indices {
            let free = &basis.vectors()[found..];
            let unbounded = (0..indices).filter(|&i| free.iter().any(|vector| vector[i] != 0));
            return Err(NestError::Unbounded(unbounded.collect()));
        }
        if is_empty {
            return Ok(None);
        }
        // Indices that are reduced over ascend.
        for variable in outer..indices {
            if basis.vectors()[variable].iter().find(|&&x| x != 0).is_some_and(|&x| x < 0) {
                basis.negate(variable)?;
            }
        }
        let Some(levels) = levels(&basis, &rows)? else { return Ok(None) };
        let row = |index: usize| {
            let coefficients = basis.vectors().iter().map(|v| fitting(v[index]));
            Ok(Affine { coefficients: coefficients.collect::<Result<_, NestError>>()?, constant: 0 })
        };
        let matrix = (0..indices).map(row).collect::<Result<_, NestError>>()?;
        Ok(Some(Nest { levels, outer, matrix }))
    }

    /// Returns the nest with other bounds.
    pub(super) fn with_levels(&self, levels: Vec<Level>) -> Nest {
        Nest { levels, ..self.clone() }
    }

    /// Returns the loops, the outermost first.
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// Returns the number of outer loops. They enumerate each element of the output once. The others are
    /// within one element.
    pub fn outer(&self) -> usize {
        self.outer
    }

    /// Returns the indices for these values of the loop variables.
    pub fn indices(&self, variables: &[i64]) -> Vec<i64> {
        self.matrix.iter().map(|index| index.at(variables)).collect()
    }

    /// Converts a function of the indices to a function of the loop variables. Values that fit 64 bits are
    /// equal.
    pub fn in_variables(&self, function: &Affine) -> Affine {
        let mut result = Affine::constant(function.constant, self.levels.len());
        for (&c, index) in function.coefficients.iter().zip(&self.matrix) {
            for (sum, &x) in result.coefficients.iter_mut().zip(&index.coefficients) {
                *sum = sum.wrapping_add(c.wrapping_mul(x));
            }
        }
        result
    }

    /// Returns an interval for each loop variable that contains all its values.
    pub fn ranges(&self) -> Vec<Interval> {
        self.levels.iter().map(Level::range).collect()
    }

    /// Returns lower and upper bounds for the trip count of a loop, by interval arithmetic. They need not be
    /// exact.
    pub fn trip_count_bounds(&self, level: usize) -> Interval {
        self.levels[level].trip_count_bounds(&self.ranges())
    }

    /// Returns an upper bound for the number of valid indices, by interval arithmetic. It is exact for a box.
    pub fn most_points(&self) -> u64 {
        let trips = (0..self.levels.len()).map(|level| self.trip_count_bounds(level).high.unsigned_abs());
        trips.fold(1, u64::saturating_mul)
    }

    /// Returns whether each of the output's `elements` elements is known to have a value.
    pub fn covers(&self, elements: usize) -> bool {
        let (outer, inner) = (0..self.outer, self.outer..self.levels.len());
        let points = outer.map(|level| self.trip_count_bounds(level).low).fold(1, i64::saturating_mul);
        points as u64 == elements as u64
            && inner.into_iter().all(|level| self.trip_count_bounds(level).low > 0)
    }

    /// Returns whether the bounds of all loops are constant.
    pub fn is_box(&self) -> bool {
        self.levels.iter().all(Level::is_constant)
    }
}

/// The strips as rows. Strips with equal forms share one row, and strips with constant forms have none.
struct Rows {
    rows: Vec<Row>,
    /// Whether a constant is outside its strip.
    is_empty: bool,
}

impl Rows {
    fn of(indices: usize, strips: &[Strip], outputs: usize) -> Result<Self, NestError> {
        let mut found = Self { rows: Vec::new(), is_empty: false };
        let mut known: HashMap<Vec<i128>, usize> = HashMap::new();
        for (number, strip) in strips.iter().enumerate() {
            let mut form: Vec<i128> = strip.index.coefficients.iter().map(|&c| c.into()).collect();
            form.resize(indices, 0);
            let (constant, size) = (i128::from(strip.index.constant), i128::from(strip.size));
            let divisor = form.iter().fold(0, |a, &b| gcd(a, b));
            if divisor == 0 {
                found.is_empty |= !(0..size).contains(&constant);
                continue;
            }
            form.iter_mut().for_each(|c| *c /= divisor);
            let low = -(constant.div_euclid(divisor));
            let high = (size - 1 - constant).div_euclid(divisor);
            let opposite: Vec<i128> = form.iter().map(|c| -c).collect();
            if let Some(row) = known.get(&form).map(|&n| &mut found.rows[n]) {
                (row.low, row.high) = (row.low.max(low), row.high.min(high));
            } else if let Some(row) = known.get(&opposite).map(|&n| &mut found.rows[n]) {
                (row.low, row.high) = (row.low.max(-high), row.high.min(-low));
            } else {
                known.insert(form.clone(), found.rows.len());
                found.rows.push(Row { form, low, high, of_output: number < outputs });
            }
        }
        Ok(found)
    }
}

/// Returns the levels of rows. In `basis`, the rows of a level have the same last vector. Returns `None` if
/// interval arithmetic shows that no point is in all rows.
fn levels(basis: &Basis, rows: &[Row]) -> Result<Option<Vec<Level>>, NestError> {
    let mut strips: Vec<Vec<Strip>> = basis.vectors().iter().map(|_| Vec::new()).collect();
    for row in rows {
        let coefficients = basis.values(&row.form)?.into_iter().map(fitting);
        let index = Affine {
            coefficients: coefficients.collect::<Result<_, _>>()?,
            constant: fitting(row.low).map(|low| -low)?,
        };
        let size = fitting(row.high - row.low + 1)?;
        if let Some(level) = index.last_index() {
            strips[level].push(Strip { index, size });
        }
    }
    let (mut levels, mut ranges) = (Vec::new(), Vec::new());
    for (variable, strips) in strips.into_iter().enumerate() {
        let strips = without_implied(variable, strips, &mut ranges)?;
        let Some(range) = range(variable, &strips, &ranges)? else { return Ok(None) };
        ranges.push(range);
        levels.push(Level::new(variable, strips, range));
    }
    Ok(Some(levels))
}

/// Returns the strips that bound a variable. Omits those implied by the strip with constant bounds and the
/// ranges of the outer variables.
fn without_implied(
    variable: usize,
    mut strips: Vec<Strip>,
    ranges: &mut Vec<Interval>,
) -> Result<Vec<Strip>, NestError> {
    let Some(constant) = strips.iter().position(|s| s.index.only_index().is_some()) else {
        return Ok(strips);
    };
    let Some(range) = range(variable, &strips[constant..=constant], ranges)? else { return Ok(strips) };
    ranges.push(range);
    let holds =
        |s: &Strip| s.index.extremes(ranges).is_some_and(|(low, high)| low >= 0 && high < i128::from(s.size));
    let mut number = 0..;
    strips.retain(|s| number.next() == Some(constant) || !holds(s));
    ranges.pop();
    Ok(strips)
}

/// Returns an interval that contains all values of a variable, computed from its bounds and the ranges of the
/// outer variables.
pub(super) fn range(
    variable: usize,
    strips: &[Strip],
    ranges: &[Interval],
) -> Result<Option<Interval>, NestError> {
    let mut range: Option<(i128, i128)> = None;
    for strip in strips {
        let [lower, upper] = level::bounds(strip, variable);
        let extremes = |numerator: &Affine| {
            let (low, high) = numerator.extremes(ranges).ok_or(NestError::TooLarge)?;
            fitting(low).and(fitting(high))?;
            Ok::<_, NestError>((low, high))
        };
        let (least, greatest) = (extremes(&lower.numerator)?.0, extremes(&upper.numerator)?.1);
        let low = -(-least).div_euclid(lower.divisor.into());
        let high = greatest.div_euclid(upper.divisor.into());
        range = Some(range.map_or((low, high), |(l, h)| (l.max(low), h.min(high))));
    }
    match range {
        Some((low, high)) if low <= high => Ok(Some(Interval { low: fitting(low)?, high: fitting(high)? })),
        _ => Ok(None),
    }
}

/// Converts a number whose sums and differences must fit 64 bits.
fn fitting(x: i128) -> Result<i64, NestError> {
    if (-LIMIT..=LIMIT).contains(&x) { Ok(x as i64) } else { Err(NestError::TooLarge) }
}

fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
