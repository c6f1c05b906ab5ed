//! Execution of the loops of a nest.

use super::Nest;

impl Nest {
    /// Runs the loops. Calls `visit` in each iteration of each loop with the values of its variable and the
    /// outer variables. If there is a value for each loop, they are a valid index ([`Nest::indices`]). A nest
    /// without loops has one valid index without variables.
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
}
