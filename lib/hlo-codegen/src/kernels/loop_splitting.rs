//! Splitting of loops into pieces, so that pads and concatenates need no test per element.

use super::body::{Body, array};
use hlo_ir::access::{self, Axis};
use hlo_ir::{InstrId, Op};
use std::collections::{BTreeSet, HashSet};

/// Maximum number of pieces of a loop. Each piece is a copy of the loop's body.
const MAX_PIECES: usize = 8;
/// Maximum number of visits in the search for pieces.
const MAX_VISITS: usize = 10_000;
/// Minimum number of iterations of a loop that is split.
const MIN_SPLIT_ITERATIONS: i64 = 16;

/// An index of an instruction as `variable + offset`, where `variable` is the loop's. The value is `offset`,
/// or `None` if the index does not have this form.
type Along = Option<i64>;

/// Returns the ends of the pieces of a loop over dimension `d` of the results. The last end is `size`. The
/// edges of pads and the seams of concatenates are at the ends of pieces.
pub fn of(body: &Body<'_>, d: usize, size: i64) -> Vec<i64> {
    if size < MIN_SPLIT_ITERATIONS {
        return vec![size];
    }
    let mut cuts = BTreeSet::new();
    let mut seen = HashSet::new();
    let mut stack: Vec<(InstrId, Vec<Along>)> = Vec::new();
    for root in body.roots.iter().map(|r| r.id) {
        if let Ok(a) = array(body.module, root) {
            stack.push((root, (0..a.rank()).map(|k| (k == d).then_some(0)).collect()));
        }
    }
    while let Some((id, along)) = stack.pop() {
        if body.sources.contains_key(&id)
            || along.iter().all(Option::is_none)
            || !seen.insert((id, along.clone()))
        {
            continue;
        }
        // Each path may have another sum of shifts. Without pieces, each element is tested.
        if seen.len() > MAX_VISITS {
            return vec![size];
        }
        visit(body, id, &along, &mut cuts, &mut stack);
    }
    let mut ends: Vec<i64> = cuts.into_iter().filter(|&c| c > 0 && c < size).collect();
    ends.push(size);
    if ends.len() > MAX_PIECES { vec![size] } else { ends }
}

/// Splits the loop where an operand of an instruction begins and ends. Then continues with the operands of
/// which the instruction reads one element per result element.
fn visit(
    body: &Body<'_>,
    id: InstrId,
    along: &[Along],
    cuts: &mut BTreeSet<i64>,
    stack: &mut Vec<(InstrId, Vec<Along>)>,
) {
    let module = body.module;
    let Ok(result) = array(module, id) else { return };
    // The kernel of an update iterates over the update only.
    if matches!(module[id].op, Op::DynamicUpdateSlice) {
        return;
    }
    for (n, &operand) in module[id].operands.iter().enumerate() {
        let access = module.access(id, n);
        let Ok(from) = array(module, operand) else { continue };
        if !access.is_one_element() || from.rank() == 0 {
            continue;
        }
        let mut inner = Vec::with_capacity(from.rank());
        for (axis, &size) in access.axes().unwrap_or_default().iter().zip(&from.dims) {
            let Axis::Along(access::Along { dim, stride: 1, offset, step: 1 }) = *axis else {
                inner.push(None);
                continue;
            };
            let moved = along[dim].map(|o| o.saturating_add(offset));
            if let Some(o) = moved {
                if offset < 0 {
                    cuts.insert(o.saturating_neg());
                }
                if result.dims[dim].saturating_add(offset) > size {
                    cuts.insert(size.saturating_sub(o));
                }
            }
            inner.push(moved);
        }
        stack.push((operand, inner));
    }
}
