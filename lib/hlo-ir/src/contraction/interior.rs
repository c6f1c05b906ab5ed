//! The interior of a nest, where the inner loops are the same for neighboring elements of the output.

use super::nest::range;
use super::{Affine, Interval, Level, Nest, Strip};

impl Nest {
    /// Returns the part of the nest in which the bounds of the inner loops do not depend on the innermost
    /// variable of the output. For the values of that variable in this part, the inner loops have the same
    /// values as in the whole nest. Returns `None` if there is no such part, or no loop of the output.
    pub fn interior(&self) -> Option<Nest> {
        let innermost = self.outer().checked_sub(1)?;
        let (outside, inner) = self.levels().split_at(self.outer());
        let mut ranges: Vec<Interval> = outside.iter().map(Level::range).collect();
        let (mut kept, mut moved) = (Vec::new(), Vec::new());
        for (variable, level) in (self.outer()..).zip(inner) {
            let depends = |s: &&Strip| s.index.depends_on(innermost);
            let (dependent, free): (Vec<&Strip>, Vec<&Strip>) = level.strips().iter().partition(depends);
            let free: Vec<Strip> = free.into_iter().cloned().collect();
            let range = range(variable, &free, &ranges).ok()??;
            ranges.push(range);
            kept.push(Level::new(variable, free, range));
            moved.extend(dependent);
        }
        let mut strips = outside[innermost].strips().to_vec();
        for strip in moved {
            strips.push(for_all(strip, self.outer(), &ranges)?);
        }
        let range = range(innermost, &strips, &ranges[..innermost]).ok()??;
        let mut levels = outside[..innermost].to_vec();
        levels.push(Level::new(innermost, strips, range));
        levels.extend(kept);
        Some(self.with_levels(levels))
    }
}

/// Returns the strip of the output's variables in which `strip` contains all values of the inner variables in
/// their ranges.
fn for_all(strip: &Strip, outer: usize, ranges: &[Interval]) -> Option<Strip> {
    let mut inner = Affine { constant: 0, ..strip.index.clone() };
    inner.coefficients[..outer].fill(0);
    let (low, high) = inner.extremes(ranges)?;
    let mut index = strip.index.clone();
    index.coefficients[outer..].fill(0);
    index.constant = index.constant.checked_add(i64::try_from(low).ok()?)?;
    let size = i64::try_from(i128::from(strip.size) - (high - low)).ok().filter(|&size| size > 0)?;
    Some(Strip { index, size })
}
