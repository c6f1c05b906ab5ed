//! Selection of loops to tile: those in which an input is read across its rows while the result is written
//! along its rows.

use crate::walk::{Step, Walk, walk};
use crate::{Body, reshape};
use hlo_ir::access::Access;
use hlo_ir::{Dims, InstrId, Op};
use hlo_plan::array;

/// Minimum size of a tiled dimension.
const MIN_SIZE: i64 = 16;

/// The search for an input whose fastest varying dimension is not that of the results.
struct Search<'a> {
    /// The fastest varying dimension of the results.
    fastest: usize,
    /// The sizes of the results.
    sizes: &'a Dims,
    /// The dimension of the results that runs along the input that was found.
    found: Option<usize>,
}

/// Searches for an input whose fastest varying dimension is not that of the results (`fastest`). Returns the
/// result dimension that runs along it. The loops over both dimensions are then tiled together, so that all
/// of each loaded cache line is used.
pub fn transposed_dimension(body: &Body<'_>, fastest: usize) -> Option<usize> {
    let sizes = &array(body.module, body.roots[0].id).ok()?.dims;
    let mut search = Search { fastest, sizes, found: None };
    // After too many visits, the result is what was found before.
    walk(body, &mut search, Some);
    search.found
}

impl Walk for Search<'_> {
    /// The dimension of the results' index that the index equals (plus a constant), or `None` if it does not
    /// have this form.
    type Place = Option<usize>;

    fn visit(&mut self, body: &Body<'_>, id: InstrId, index: &[Option<usize>]) -> bool {
        if self.found.is_some() {
            return false;
        }
        if body.slot(id).is_none() {
            return true;
        }
        let Ok(shape) = array(body.module, id) else { return false };
        let minor = shape.minor_to_major().into_iter().find(|&d| shape.dims[d] != 1);
        let along = minor.and_then(|d| index.get(d).copied().flatten()).filter(|&e| e != self.fastest);
        let is_large = |d: usize| self.sizes.get(d).is_some_and(|&size| size >= MIN_SIZE);
        if index.contains(&Some(self.fastest)) && is_large(self.fastest) {
            self.found = along.filter(|&e| is_large(e));
        }
        false
    }

    fn operand(&mut self, body: &Body<'_>, step: &Step<'_, Option<usize>>) -> Option<Vec<Option<usize>>> {
        let (module, Step { id, operand, access, index }) = (body.module, step);
        match (&module[*id].op, access) {
            // The kernel of an update iterates over the update only.
            (Op::DynamicUpdateSlice, _) => None,
            (_, Access::Axes(axes)) if access.is_one_element() && !axes.is_empty() => {
                Some(axes.iter().map(|axis| index.get(axis.dim()?).copied().flatten()).collect())
            }
            (_, Access::SamePosition) => {
                let (from, to) = (array(module, *operand), array(module, *id));
                reshape::same_order(&from.ok()?.dims, &to.ok()?.dims, index, None)
            }
            _ => None,
        }
    }
}
