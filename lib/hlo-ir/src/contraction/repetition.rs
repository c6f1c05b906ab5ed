//! Whether elements of the output are given more than one value.

use super::{Affine, Nest, Strip};

/// Whether several valid indices give a value to one element of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repetition {
    /// None do.
    Never,
    /// These two do.
    At([Vec<i64>; 2]),
    /// It takes more steps to tell.
    Unknown,
}

impl Nest {
    /// Whether an element of the output is given more than one value, in about so many iterations of loops, mostly few.
    ///
    /// Two values for one element are two points of the nest that differ in an inner loop first. The pairs of such points
    /// are those of another nest, which mostly has none by its bounds, or one soon.
    pub fn repetition(&self, steps: usize) -> Repetition {
        for level in self.outer()..self.levels().len() {
            let most = self.trips(level).high;
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

    /// Two points that differ in a loop first, which runs so often at most: the second is after the first.
    fn pair(&self, level: usize, most: i64, steps: usize) -> Repetition {
        let loops = self.levels().len();
        let indices = 2 * loops - level;
        // The variables of the first point, then those of the second that may be others.
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

/// A strip of other variables, of which there are so many.
fn renamed(strip: &Strip, indices: usize, name: &dyn Fn(usize) -> usize) -> Strip {
    let mut index = Affine::constant(strip.index.constant, indices);
    for (variable, &c) in strip.index.coefficients.iter().enumerate().filter(|(_, c)| **c != 0) {
        index.coefficients[name(variable)] = c;
    }
    Strip { index, size: strip.size }
}
