//! Which loops are worth tiling: where an input is read across its rows while the result is written along its own.

use super::body::{Body, array};
use hlo_ir::{InstrId, Op};
use std::collections::HashSet;

/// Dimensions shorter than this are not tiled.
const MIN_SIZE: i64 = 16;

/// The bound on the search for transposed inputs.
const MAX_VISITS: usize = 10_000;

/// For each dimension of an instruction's index the dimension of the results' index that it is (plus a constant),
/// if it is of that form.
type Origin = Vec<Option<usize>>;

/// If some input's fastest varying dimension is not the results' one (`fastest`), the result dimension that runs
/// along it: both loops are then tiled together, so that each cache line that is read is used whole.
pub fn transposed_dimension(body: &Body<'_>, fastest: usize) -> Option<usize> {
    let root = array(body.module, body.roots[0].id).ok()?;
    let mut seen = HashSet::new();
    let mut stack: Vec<(InstrId, Origin)> =
        body.roots.iter().map(|r| (r.id, (0..root.rank()).map(Some).collect())).collect();
    while let Some((id, origin)) = stack.pop() {
        if !seen.insert((id, origin.clone())) {
            continue;
        }
        if seen.len() > MAX_VISITS {
            return None;
        }
        if body.slot(id).is_some() {
            let shape = array(body.module, id).ok()?;
            let minor = shape.minor_to_major().into_iter().find(|&d| shape.dims[d] != 1);
            let along = minor.and_then(|d| origin.get(d).copied().flatten());
            let reads_fastest = origin.contains(&Some(fastest));
            if let Some(e) = along
                && e != fastest
                && reads_fastest
                && root.dims[e] >= MIN_SIZE
                && root.dims[fastest] >= MIN_SIZE
            {
                return Some(e);
            }
            continue;
        }
        operands(body, id, &origin, &mut stack);
    }
    None
}

fn operands(body: &Body<'_>, id: InstrId, origin: &Origin, stack: &mut Vec<(InstrId, Origin)>) {
    let module = body.module;
    let instr = &module[id];
    let Some(&first) = instr.operands.first() else { return };
    match &instr.op {
        Op::Broadcast(a) => stack.push((first, a.dimensions.iter().map(|&k| origin[k as usize]).collect())),
        Op::Transpose(a) => {
            let mut inner = vec![None; origin.len()];
            for (k, &from) in a.dimensions.iter().enumerate() {
                inner[from as usize] = origin[k];
            }
            stack.push((first, inner));
        }
        Op::Slice(_) | Op::Pad(_) | Op::Reverse(_) | Op::DynamicSlice(_) => {
            stack.push((first, origin.clone()));
        }
        Op::Concatenate(_) => stack.extend(instr.operands.iter().map(|&o| (o, origin.clone()))),
        Op::Reshape(_) => {
            // Only dimensions of size 1 come or go: the others keep their order.
            let (Ok(from), Ok(to)) = (array(module, first), array(module, id)) else { return };
            let real: Vec<usize> = (0..to.rank()).filter(|&d| to.dims[d] != 1).collect();
            let kept: Vec<usize> = (0..from.rank()).filter(|&d| from.dims[d] != 1).collect();
            if real.iter().map(|&d| to.dims[d]).eq(kept.iter().map(|&d| from.dims[d])) {
                let mut inner = vec![None; from.rank()];
                for (&d, &e) in kept.iter().zip(&real) {
                    inner[d] = origin[e];
                }
                stack.push((first, inner));
            }
        }
        op if op.opcode().is_pointwise() => {
            for &o in &instr.operands {
                if array(module, o).is_ok_and(|a| a.rank() == origin.len()) {
                    stack.push((o, origin.clone()));
                }
            }
        }
        _ => {}
    }
}
