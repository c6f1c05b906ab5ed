//! Running through a nest.

use super::Nest;

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
    /// Runs the loops: calls `visit` for each iteration of each loop with the values of its variable and of those
    /// outside of it. Where there are as many as loops they are a valid index ([`Nest::indices`]). A nest without loops
    /// has one, of no variables.
    ///
    /// # Errors
    /// The first error of `visit`.
    pub fn walk<E>(&self, visit: &mut impl FnMut(&[i64]) -> Result<(), E>) -> Result<(), E> {
        if self.levels().is_empty() {
            return visit(&[]);
        }
        self.walk_inside(&mut Vec::with_capacity(self.levels().len()), visit)
    }

    fn walk_inside<E>(
        &self,
        variables: &mut Vec<i64>,
        visit: &mut impl FnMut(&[i64]) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(level) = self.levels().get(variables.len()) else { return Ok(()) };
        for value in level.at(variables) {
            variables.push(value);
            visit(variables)?;
            self.walk_inside(variables, visit)?;
            variables.pop();
        }
        Ok(())
    }

    /// Whether an element of the output is given more than one value, in no more than so many iterations of loops.
    pub fn repetition(&self, steps: usize) -> Repetition {
        if (self.outer()..self.levels().len()).all(|level| self.trips(level).high <= 1) {
            return Repetition::Never;
        }
        let (mut left, mut last) = (steps, None::<Vec<i64>>);
        let found = self.walk(&mut |variables| {
            left = left.checked_sub(1).ok_or(Repetition::Unknown)?;
            if variables.len() < self.levels().len() {
                return Ok(());
            }
            match &last {
                Some(before) if before[..self.outer()] == variables[..self.outer()] => {
                    Err(Repetition::At([self.indices(before), self.indices(variables)]))
                }
                _ => {
                    last = Some(variables.to_vec());
                    Ok(())
                }
            }
        });
        found.err().unwrap_or(Repetition::Never)
    }
}
