//! Where a loop is cut in pieces so that pads and concatenates need no test for each element.

use super::body::{Body, array};
use hlo_ir::{InstrId, Op};
use std::collections::{BTreeSet, HashSet};

/// The most pieces that a loop is cut into: each is a copy of the loop's body.
const MAX_PIECES: usize = 8;
/// The bound on the search for pieces.
const MAX_VISITS: usize = 10_000;
/// Loops shorter than this are not cut.
const MIN_SIZE: i64 = 16;

/// An index of an instruction in terms of the loop's variable: `variable + offset`, if it is of that form.
type Along = Option<i64>;

/// The ends of the pieces of a loop over dimension `d` of the results, the last one being `size`. A pad's edges and a
/// concatenate's seams fall between pieces.
pub fn of(body: &Body<'_>, d: usize, size: i64) -> Vec<i64> {
    if size < MIN_SIZE {
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
        // Shifts may add up to a different one on every path; without pieces each element is tested.
        if seen.len() > MAX_VISITS {
            return vec![size];
        }
        visit(body, id, &along, &mut cuts, &mut stack);
    }
    let mut ends: Vec<i64> = cuts.into_iter().filter(|&c| c > 0 && c < size).collect();
    ends.push(size);
    if ends.len() > MAX_PIECES { vec![size] } else { ends }
}

fn visit(
    body: &Body<'_>,
    id: InstrId,
    along: &[Along],
    cuts: &mut BTreeSet<i64>,
    stack: &mut Vec<(InstrId, Vec<Along>)>,
) {
    let module = body.module;
    let instr = &module[id];
    let Some(&first) = instr.operands.first() else { return };
    match &instr.op {
        Op::Broadcast(a) => stack.push((first, a.dimensions.iter().map(|&k| along[k as usize]).collect())),
        Op::Transpose(a) => {
            let mut inner = vec![None; along.len()];
            for (k, &from) in a.dimensions.iter().enumerate() {
                inner[from as usize] = along[k];
            }
            stack.push((first, inner));
        }
        Op::Slice(a) => {
            let shifted = |(x, s): (&Along, &hlo_ir::attr::SliceDim)| {
                x.filter(|_| s.stride == 1).map(|o| o.saturating_add(s.start))
            };
            stack.push((first, along.iter().zip(&a.slice).map(shifted).collect()));
        }
        Op::Pad(a) => {
            let Ok(from) = array(module, first) else { return };
            let mut inner = Vec::new();
            for ((x, p), &size) in along.iter().zip(&a.padding).zip(&from.dims) {
                let x = x.filter(|_| p.interior == 0);
                if let Some(offset) = x {
                    cuts.insert(p.low.saturating_sub(offset));
                    cuts.insert(p.low.saturating_add(size).saturating_sub(offset));
                }
                inner.push(x.map(|o| o.saturating_sub(p.low)));
            }
            stack.push((first, inner));
        }
        Op::Concatenate(a) => {
            let d = a.dimension() as usize;
            let mut start = 0i64;
            for &o in &instr.operands {
                let Ok(piece) = array(module, o) else { return };
                let mut inner = along.to_vec();
                if let Some(offset) = along[d] {
                    cuts.insert(start.saturating_sub(offset));
                    inner[d] = Some(offset.saturating_sub(start));
                }
                start = start.saturating_add(piece.dims[d]);
                stack.push((o, inner));
            }
        }
        op if op.opcode().is_pointwise() => {
            for &o in &instr.operands {
                if array(module, o).is_ok_and(|a| a.rank() == along.len()) {
                    stack.push((o, along.to_vec()));
                }
            }
        }
        _ => {}
    }
}
