//! Which elements of a window cover which elements of an array.

use super::WindowDim;

/// The pairs of a window element and the array element that it covers, along one dimension and at one
/// position of the window.
///
/// The indices of both form arithmetic progressions. Iterating over the pairs therefore takes no time for
/// padding or for the gaps of the base dilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Covered {
    /// The number of pairs.
    pub count: i64,
    /// The index into the window of the first pair.
    pub tap: i64,
    /// The distance from one index into the window to the next.
    pub tap_step: i64,
    /// The index into the array of the first pair.
    pub element: i64,
    /// The distance from one index into the array to the next.
    pub element_step: i64,
}

impl WindowDim {
    /// Returns the elements of the window that cover elements of a base area of `size` elements when the
    /// window is at `position`.
    pub fn covered(&self, position: i64, size: i64) -> Covered {
        let start = i128::from(position) * i128::from(self.stride) - i128::from(self.pad_low);
        Covered::new(start, [self.size, self.rhs_dilate], [size, self.lhs_dilate])
    }

    /// Returns an upper bound for the number of elements of the window that cover elements of a base area of
    /// `size` elements, at any position.
    pub fn most_covered(&self, size: i64) -> i64 {
        self.size.min(size)
    }
}

impl Covered {
    /// Returns the pairs at which two lattices coincide: `start + i * tap_distance` for `i` below `taps`, and
    /// `j * element_distance` for `j` below `elements`. Distances below 1 count as 1.
    pub fn new(
        start: i128,
        [taps, tap_distance]: [i64; 2],
        [elements, element_distance]: [i64; 2],
    ) -> Covered {
        let (distance, dilation) = (i128::from(tap_distance.max(1)), i128::from(element_distance.max(1)));
        let (common, inverse) = inverse(distance, dilation);
        let (tap_step, element_step) = (dilation / common, distance / common);
        // The range of taps between the first and the last element.
        let low = ceiling(-start, distance).max(0);
        let last = i128::from(elements).saturating_sub(1) * dilation;
        let high = (last - start).div_euclid(distance).min(i128::from(taps) - 1);
        // Within this range, the taps that hit an element are equal modulo `tap_step`.
        let residue = (-start).div_euclid(common).rem_euclid(tap_step) * inverse % tap_step;
        let tap = low + (residue - low).rem_euclid(tap_step);
        let none = elements <= 0 || start % common != 0 || tap > high;
        let count = if none { 0 } else { (high - tap) / tap_step + 1 };
        let element = if none { 0 } else { (start + tap * distance) / dilation };
        // If there are pairs, these values are below `taps` or `elements`. Only a step beyond the last pair
        // can be larger.
        let narrow = |n: i128| i64::try_from(n).unwrap_or(i64::MAX);
        Covered {
            count: narrow(count),
            tap: if none { 0 } else { narrow(tap) },
            tap_step: narrow(tap_step),
            element: narrow(element),
            element_step: narrow(element_step),
        }
    }

    /// Returns the `n`th pair, of `0..count`: the index into the array and the index into the window.
    pub fn pair(&self, n: i64) -> (i64, i64) {
        (self.element + n * self.element_step, self.tap + n * self.tap_step)
    }

    /// Returns the pairs in ascending order: the index into the array and the index into the window.
    pub fn pairs(self) -> impl Iterator<Item = (i64, i64)> {
        (0..self.count).map(move |n| self.pair(n))
    }
}

/// Returns `a / b` rounded up, for a positive `b`.
fn ceiling(a: i128, b: i128) -> i128 {
    -(-a).div_euclid(b)
}

/// Returns the greatest common divisor of two positive numbers, and the inverse of `a` modulo `modulus` after
/// both are divided by it.
fn inverse(a: i128, modulus: i128) -> (i128, i128) {
    let (mut r, mut next_r, mut t, mut next_t) = (modulus, a, 0i128, 1i128);
    while next_r != 0 {
        let q = r / next_r;
        (r, next_r) = (next_r, r - q * next_r);
        (t, next_t) = (next_t, t - q * next_t);
    }
    (r, t.rem_euclid(modulus / r))
}
