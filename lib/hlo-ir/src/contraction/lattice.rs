//! Exact arithmetic on integer lattices. Finds bases on which linear forms have few nonzero values, and
//! solves congruences.
//!
//! A linear form is a vector of coefficients. Its value at a vector is the dot product of both.

/// The error if an intermediate number does not fit into 128 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overflow;

type Result<T> = std::result::Result<T, Overflow>;

/// A basis of a lattice of integer vectors. The methods exchange vectors, negate them, and add multiples of
/// them to other vectors. These operations change the basis but not the lattice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Basis {
    vectors: Vec<Vec<i128>>,
}

impl Basis {
    /// Creates the basis of unit vectors, for the lattice of all integer vectors of this dimension.
    pub fn standard(dimension: usize) -> Self {
        let unit = |i| (0..dimension).map(|j| i128::from(i == j)).collect();
        Self { vectors: (0..dimension).map(unit).collect() }
    }

    /// Returns the vectors of the basis.
    pub fn vectors(&self) -> &[Vec<i128>] {
        &self.vectors
    }

    /// Returns the values of a linear form at the vectors of the basis.
    ///
    /// # Errors
    /// A value does not fit into 128 bits.
    pub fn values(&self, form: &[i128]) -> Result<Vec<i128>> {
        self.vectors.iter().map(|v| dot(form, v)).collect()
    }

    /// Changes the vectors from number `at` on, so that a linear form is non-negative at vector `at`, and
    /// zero at all vectors after it. Applies Euclid's algorithm to the values of the form. Returns the new
    /// value at vector `at`, which is the greatest common divisor of the values at the changed vectors, or 0
    /// if all of these values are 0.
    ///
    /// # Errors
    /// An intermediate number does not fit into 128 bits.
    pub fn eliminate(&mut self, form: &[i128], at: usize) -> Result<i128> {
        let mut values = self.values(form)?;
        loop {
            let rest = (at..values.len()).filter(|&i| values[i] != 0);
            let Some(least) = rest.min_by_key(|&i| values[i].unsigned_abs()) else { return Ok(0) };
            values.swap(at, least);
            self.vectors.swap(at, least);
            let pivot = values[at];
            for (i, value) in values.iter_mut().enumerate().skip(at + 1) {
                // The division overflows if the smallest number is divided by -1.
                let quotient = value.checked_div(pivot).ok_or(Overflow)?;
                self.subtract(i, quotient, at)?;
                *value %= pivot;
            }
            if values[at + 1..].iter().all(|&v| v == 0) {
                if pivot < 0 {
                    self.negate(at)?;
                }
                return pivot.checked_abs().ok_or(Overflow);
            }
        }
    }

    /// Changes the vectors before number `at`, so that the values of a linear form at them are non-negative
    /// and less than its value at vector `at`. The value at vector `at` must be positive.
    ///
    /// # Errors
    /// An intermediate number does not fit into 128 bits.
    pub fn reduce(&mut self, form: &[i128], at: usize) -> Result<()> {
        let values = self.values(form)?;
        for (i, value) in values[..at].iter().enumerate() {
            let quotient = value.checked_div_euclid(values[at]).ok_or(Overflow)?;
            self.subtract(i, quotient, at)?;
        }
        Ok(())
    }

    /// Negates a vector.
    ///
    /// # Errors
    /// A number does not fit into 128 bits.
    pub fn negate(&mut self, number: usize) -> Result<()> {
        for x in &mut self.vectors[number] {
            *x = x.checked_neg().ok_or(Overflow)?;
        }
        Ok(())
    }

    /// Subtracts `times` times vector `by` from vector `from`.
    fn subtract(&mut self, from: usize, times: i128, by: usize) -> Result<()> {
        if times == 0 {
            return Ok(());
        }
        for k in 0..self.vectors[from].len() {
            let product = self.vectors[by][k].checked_mul(times).ok_or(Overflow)?;
            self.vectors[from][k] = self.vectors[from][k].checked_sub(product).ok_or(Overflow)?;
        }
        Ok(())
    }
}

/// A shifted lattice: the points `origin + Σ basis[i] · y[i]` for all vectors `y` of integers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lattice {
    /// One of the points.
    pub origin: Vec<i128>,
    /// A basis of the differences between points.
    pub basis: Basis,
}

impl Lattice {
    /// Creates the lattice of all integer points of this dimension.
    pub fn all(dimension: usize) -> Self {
        Self { origin: vec![0; dimension], basis: Basis::standard(dimension) }
    }

    /// Keeps only the points at which a linear form plus a constant is divisible by the positive number
    /// `modulus`. Returns `false`, and does not change the lattice, if there is no such point.
    ///
    /// # Errors
    /// An intermediate number does not fit into 128 bits.
    pub fn keep_divisible(&mut self, form: &[i128], constant: i128, modulus: i128) -> Result<bool> {
        let at_origin = dot(form, &self.origin)?.checked_add(constant).ok_or(Overflow)?.rem_euclid(modulus);
        // After the elimination, the form changes by `step` along the first vector, and by 0 along the
        // others.
        let step = self.basis.eliminate(form, 0)?.rem_euclid(modulus);
        let (divisor, inverse) = gcd(step, modulus)?;
        if at_origin % divisor != 0 {
            return Ok(false);
        }
        if step == 0 {
            return Ok(true);
        }
        let period = modulus / divisor;
        // step · steps = -at_origin (mod modulus).
        let steps = inverse.checked_mul(at_origin / divisor).and_then(i128::checked_neg).ok_or(Overflow)?;
        let steps = steps.rem_euclid(period);
        for (x, step) in self.origin.iter_mut().zip(&mut self.basis.vectors[0]) {
            let moved = step.checked_mul(steps).and_then(|by| x.checked_add(by));
            *x = moved.ok_or(Overflow)?;
            *step = step.checked_mul(period).ok_or(Overflow)?;
        }
        Ok(true)
    }
}

/// Returns the greatest common divisor `d` of the non-negative `a` and the positive `b`, and a number `t`
/// with `a · t = d` modulo `b`.
fn gcd(a: i128, b: i128) -> Result<(i128, i128)> {
    let (mut r, mut t) = ((b, a), (0i128, 1i128));
    while r.1 != 0 {
        let quotient = r.0 / r.1;
        r = (r.1, r.0 % r.1);
        let next = quotient.checked_mul(t.1).and_then(|by| t.0.checked_sub(by)).ok_or(Overflow)?;
        t = (t.1, next);
    }
    Ok((r.0, t.0.rem_euclid(b)))
}

fn dot(form: &[i128], vector: &[i128]) -> Result<i128> {
    form.iter().zip(vector).try_fold(0i128, |sum, (&a, &x)| {
        a.checked_mul(x).and_then(|product| sum.checked_add(product)).ok_or(Overflow)
    })
}
