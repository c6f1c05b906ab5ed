//! Row kernels: reductions along the last dimensions together with the elementwise work around them (softmax,
//! layer normalization). Rows are processed one after the other, so that each row is read from memory once
//! and stays in cache.

use crate::Body;
use hlo_ir::{InstrId, Op, Work};
use hlo_plan::array;
use std::collections::HashSet;

/// Maximum number of elements of a row that a kernel keeps on the stack.
const MAX_ROW_ELEMENTS: i64 = 1 << 16;
/// Maximum stack size for the rows of one kernel, in bytes.
const MAX_STACK_BYTES: i64 = 1 << 19;

/// The plan of a row kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowPlan {
    /// The number of rows: the product of the leading dimensions.
    pub rows: i64,
    /// The leading dimensions.
    pub leading: Vec<i64>,
    /// The dimensions of a row.
    pub trailing: Vec<i64>,
    /// Reductions, and values that are constant along a row, operands first.
    pub per_row: Vec<InstrId>,
    /// Operands of reductions that are kept in a row buffer, because they are expensive and used again.
    /// Operands first.
    pub kept: Vec<InstrId>,
}

/// Plans a kernel that works row by row. All roots have the dimensions of the reduced operands. All
/// reductions are over the same trailing dimensions. The result of some reduction is used again for every
/// element of its row.
pub(crate) fn plan(body: &Body<'_>) -> Option<RowPlan> {
    let module = body.module;
    let reductions: Vec<InstrId> =
        body.computed.iter().copied().filter(|&i| matches!(module[i].op, Op::Reduce(_))).collect();
    let &first = reductions.first()?;
    let dims = array(module, module[first].operands[0]).ok()?.dims.clone();
    let Op::Reduce(attrs) = &module[first].op else { return None };
    let count = attrs.dimensions.len();
    let split = dims.len().checked_sub(count)?;
    let trailing = |a: &hlo_ir::attr::ReduceAttrs| {
        a.dimensions.len() == count && (split..dims.len()).all(|d| a.dimensions.contains(&(d as i64)))
    };
    let fits = reductions.iter().all(|&r| {
        let Op::Reduce(a) = &module[r].op else { return false };
        trailing(a)
            && module[r].operands.len() == 2
            && array(module, module[r].operands[0]).is_ok_and(|o| o.dims == dims)
    });
    let full_roots = body.roots.iter().all(|r| array(module, r.id).is_ok_and(|a| a.dims == dims));
    let row: i64 = dims[split..].iter().product();
    let row_major = body
        .computed
        .iter()
        .chain(body.sources.keys())
        .all(|&i| module[i].shape.as_array().is_none_or(|a| a.is_row_major()));
    if !fits || !full_roots || !row_major || row > MAX_ROW_ELEMENTS || dims.contains(&0) {
        return None;
    }
    let leading = dims[..split].to_vec();
    let per_row = per_row_values(body, &leading, &dims)?;
    let mut stack = 0;
    let mut kept = HashSet::new();
    for &r in &reductions {
        let operand = module[r].operands[0];
        let bytes = row * array(module, operand).ok()?.element_type.byte_size() as i64;
        let reused = module.users(operand).len() > 1 || body.roots.iter().any(|r| r.id == operand);
        if reused && is_expensive_to_recompute(body, operand) && stack + bytes <= MAX_STACK_BYTES {
            stack += bytes;
            kept.insert(operand);
        }
    }
    let kept = body.computed.iter().copied().filter(|id| kept.contains(id)).collect();
    Some(RowPlan { rows: leading.iter().product(), leading, trailing: dims[split..].to_vec(), per_row, kept })
}

/// Returns whether recomputing the value for each use costs more than storing it.
fn is_expensive_to_recompute(body: &Body<'_>, id: InstrId) -> bool {
    let mut seen = HashSet::new();
    let mut stack = vec![id];
    while let Some(i) = stack.pop() {
        if !seen.insert(i) || body.sources.contains_key(&i) {
            continue;
        }
        match &body.module[i].op {
            op if op.opcode().work() > Work::Simple => return true,
            Op::Reduce(_) => {}
            _ => stack.extend(&body.module[i].operands),
        }
    }
    false
}

/// Returns the reductions and the values computed from them per row, in order. Returns `None` if the kernel
/// contains another kind of instruction. Permitted are values of full size, values with one element per row,
/// and values that do not depend on the reductions.
fn per_row_values(body: &Body<'_>, leading: &[i64], dims: &[i64]) -> Option<Vec<InstrId>> {
    let module = body.module;
    // Instructions that depend on a reduction.
    let mut after = HashSet::new();
    let mut out = Vec::new();
    let is_per_row = |i: InstrId| {
        array(module, i).is_ok_and(|a| {
            a.dims.len() >= leading.len()
                && a.dims[..leading.len()] == *leading
                && a.dims[leading.len()..].iter().all(|&d| d == 1)
        })
    };
    for &i in &body.computed {
        let reduction = matches!(module[i].op, Op::Reduce(_));
        let depends = reduction || module[i].operands.iter().any(|o| after.contains(o));
        if !depends {
            continue;
        }
        after.insert(i);
        if is_per_row(i) {
            out.push(i);
        } else if !matches!(module[i].op, Op::Tuple) && array(module, i).ok()?.dims.as_slice() != dims {
            return None;
        } else if module[i].operands.iter().any(|&o| after.contains(&o) && is_per_row(o)) {
            // The operand has one value per row. The result must use each row's value in the same row.
            let spread = match &module[i].op {
                Op::Broadcast(a) => {
                    a.dimensions.iter().take(leading.len()).enumerate().all(|(k, &d)| d == k as i64)
                }
                op => op.opcode().is_pointwise(),
            };
            if !spread {
                return None;
            }
        }
    }
    // If not, each row is independent anyway, and loops are equally fast.
    let used_again =
        out.iter().any(|&i| module.users(i).iter().any(|u| after.contains(u) && !out.contains(u)));
    used_again.then_some(out)
}
