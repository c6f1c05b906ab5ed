//! Detects whether elements of the output have several values.

use super::{Affine, Nest, Strip};

/// Whether several valid indices have values for the same element of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repetition {
    /// No element has several values.
    Never,
    /// These two valid indices have values for the same element.
    At([Vec<i64>; 2]),
    /// The limit of steps was reached.
    Unknown,
}

impl Nest {
    /// Determines whether an element of the output has several values. Stops after about `steps` iterations
    /// of loops. Most nests need few.
    ///
    /// Two values for one element are two points of the nest whose first difference is in an inner loop. The
    /// pairs of such points are the points of another nest. Its bounds usually show that there are none, or
    /// its first points include one.
    pub fn repetition(&self, steps: usize) -> Repetition {
        for level in self.outer()..self.levels().len() {
            let most = self.trip_count_bounds(level).high;
            if most <= 1 {
                continue;
            }
            match self.pair(level, most, steps) {
                Repetition::Never => {}
                other => return other,
            }
        }
        Repetition::Never
    }

    /// Searches two points whose first difference is in this loop, the second after the first. `most` is the
    /// loop's maximum trip count.
    fn pair(&self, level: usize, most: i64, steps: usize) -> Repetition {
        let loops = self.levels().len();
        let indices = 2 * loops - level;
        // The variables of the first point, then the variables of the second point that may differ.
        let second = |variable: usize| if variable < level { variable } else { variable + loops - level };
        let mut strips = Vec::new();
        for strip in self.levels().iter().flat_map(|level| level.strips()) {
            strips.push(renamed(strip, indices, &|variable| variable));
            if strip.index.last_index() >= Some(level) {
                strips.push(renamed(strip, indices, &second));
            }
        }
        let mut later = Affine::constant(-1, indices);
        (later.coefficients[second(level)], later.coefficients[level]) = (1, -1);
        strips.push(Strip { index: later, size: most - 1 });
        let pairs = match Nest::unlimited(indices, &strips, 0) {
            Ok(Some(pairs)) => pairs,
            Ok(None) => return Repetition::Never,
            Err(_) => return Repetition::Unknown,
        };
        let mut left = steps;
        let found = pairs.walk(&mut |variables| {
            left = match left.checked_sub(1) {
                Some(left) => left,
                None => return Err(Repetition::Unknown),
            };
            if variables.len() < indices {
                return Ok(());
            }
            let pair = pairs.indices(variables);
            let points = [&|variable| variable, &second as &dyn Fn(usize) -> usize];
            let point = |name: &dyn Fn(usize) -> usize| -> Vec<i64> {
                self.indices(&(0..loops).map(|variable| pair[name(variable)]).collect::<Vec<_>>())
            };
            Err(Repetition::At(points.map(point)))
        });
        found.err().unwrap_or(Repetition::Never)
    }
}

/// Returns the strip with renamed variables, out of `indices` variables.
fn renamed(strip: &Strip, indices: usize, name: &dyn Fn(usize) -> usize) -> Strip {
    let mut index = Affine::constant(strip.index.constant, indices);
    for (variable, &c) in strip.index.coefficients.iter().enumerate().filter(|(_, c)| **c != 0) {
        index.coefficients[name(variable)] = c;
    }
    Strip { index, size: strip.size }
}
