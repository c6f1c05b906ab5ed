//! Selection of loops to tile: those in which an input is read across its rows while the result is written
//! along its rows.

use super::body::{Body, array};
use hlo_ir::access::Access;
use hlo_ir::{InstrId, Op};
use std::collections::HashSet;

/// Minimum size of a tiled dimension.
const MIN_SIZE: i64 = 16;

/// Maximum number of visits in the search for transposed inputs.
const MAX_VISITS: usize = 10_000;

/// For each dimension of an instruction's index, the dimension of the results' index that it equals (plus a
/// constant), or `None` if it does not have this form.
type Origin = Vec<Option<usize>>;

/// Searches for an input whose fastest varying dimension is not that of the results (`fastest`). Returns the
/// result dimension that runs along it. The loops over both dimensions are then tiled together, so that all
/// of each loaded cache line is used.
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

/// Adds the operands of which the instruction reads one element per result element, with their origins.
fn operands(body: &Body<'_>, id: InstrId, origin: &Origin, stack: &mut Vec<(InstrId, Origin)>) {
    let module = body.module;
    // The kernel of an update iterates over the update only.
    if matches!(module[id].op, Op::DynamicUpdateSlice) {
        return;
    }
    for (n, &operand) in module[id].operands.iter().enumerate() {
        match module.access(id, n) {
            access @ Access::Axes(_) if access.is_one_element() => {
                let axes = access.axes().unwrap_or_default().iter();
                let inner: Origin = axes.map(|axis| *origin.get(axis.dim()?)?).collect();
                if !inner.is_empty() {
                    stack.push((operand, inner));
                }
            }
            Access::SamePosition => {
                let (Ok(from), Ok(to)) = (array(module, operand), array(module, id)) else { continue };
                stack.extend(reshaped(origin, &from.dims, &to.dims).map(|inner| (operand, inner)));
            }
            Access::Axes(_) | Access::Any => {}
        }
    }
}

/// Returns the origin of the operand of a reshape that only adds or removes dimensions of size 1, which keeps
/// the order of the other dimensions.
fn reshaped(origin: &Origin, from: &[i64], to: &[i64]) -> Option<Origin> {
    let larger = |dims: &[i64]| (0..dims.len()).filter(|&d| dims[d] != 1).collect::<Vec<usize>>();
    let (kept, real) = (larger(from), larger(to));
    let same = real.iter().map(|&d| to[d]).eq(kept.iter().map(|&d| from[d]));
    let mut inner = vec![None; from.len()];
    for (&d, &e) in kept.iter().zip(&real) {
        inner[d] = origin[e];
    }
    same.then_some(inner)
}
