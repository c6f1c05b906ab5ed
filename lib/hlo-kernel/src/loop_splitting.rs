//! Splitting of loops into pieces, so that pads and concatenates need no test per element.

use crate::Body;
use crate::walk::{Step, Walk, walk};
use hlo_ir::access::{self, Axis};
use hlo_ir::{InstrId, Op};
use hlo_plan::array;
use std::collections::BTreeSet;

/// Maximum number of pieces of a loop. Each piece is a copy of the loop's body.
const MAX_PIECES: usize = 8;
/// Minimum number of iterations of a loop that is split.
const MIN_SPLIT_ITERATIONS: i64 = 16;

/// The search for the indices at which operands begin and end.
struct Search {
    cuts: BTreeSet<i64>,
}

/// Returns the ends of the pieces of a loop over dimension `d` of the results. The last end is `size`. The
/// edges of pads and the seams of concatenates are at the ends of pieces.
pub fn of(body: &Body<'_>, d: usize, size: i64) -> Vec<i64> {
    let mut search = Search { cuts: BTreeSet::new() };
    // Each path may have another sum of shifts. Without pieces, each element is tested.
    if size < MIN_SPLIT_ITERATIONS || walk(body, &mut search, |k| (k == d).then_some(0)).is_none() {
        return vec![size];
    }
    let mut ends: Vec<i64> = search.cuts.into_iter().filter(|&c| c > 0 && c < size).collect();
    ends.push(size);
    if ends.len() > MAX_PIECES { vec![size] } else { ends }
}

impl Walk for Search {
    /// The offset of an index `variable + offset`, where `variable` is the loop's, or `None` if the index does
    /// not have this form.
    type Place = Option<i64>;

    fn visit(&mut self, _: &Body<'_>, _: InstrId, index: &[Option<i64>]) -> bool {
        index.iter().any(Option::is_some)
    }

    /// Splits the loop where the operand begins and ends.
    fn operand(&mut self, body: &Body<'_>, step: &Step<'_, Option<i64>>) -> Option<Vec<Option<i64>>> {
        let (module, Step { id, operand, access, index }) = (body.module, step);
        let result = array(module, *id).ok()?;
        let from = array(module, *operand).ok()?;
        // The kernel of an update iterates over the update only.
        let is_update = matches!(module[*id].op, Op::DynamicUpdateSlice);
        if is_update || !access.is_one_element() || from.rank() == 0 {
            return None;
        }
        let mut inner = Vec::with_capacity(from.rank());
        for (axis, &size) in access.axes()?.iter().zip(&from.dims) {
            let Axis::Along(access::Along { dim, stride: 1, offset, step: 1 }) = *axis else {
                inner.push(None);
                continue;
            };
            let moved = index[dim].map(|o| o.saturating_add(offset));
            if let Some(o) = moved {
                if offset < 0 {
                    self.cuts.insert(o.saturating_neg());
                }
                if result.dims[dim].saturating_add(offset) > size {
                    self.cuts.insert(size.saturating_sub(o));
                }
            }
            inner.push(moved);
        }
        // Nothing is found behind the operands of the kernel, or where the loop's index does not occur.
        let ends = body.sources.contains_key(operand) || inner.iter().all(Option::is_none);
        (!ends).then_some(inner)
    }
}
