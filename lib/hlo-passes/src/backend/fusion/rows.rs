//! Fusion by rows: fuses reductions over the minor dimensions with the elementwise work before and after
//! them, for example in softmax and normalizations.
//!
//! The members of such a fusion have one of two shapes: `[rows…, cols…]`, or `[rows…]` for values computed
//! once per row. The row stays in the cache. An expensive value that both a reduction and the final result
//! need is computed once.

use super::cluster::{Cluster, Kind};
use super::cost::{Role, is_scalar_constant};
use hlo_ir::{Dims, InstrId, Module, Op};
use std::collections::HashSet;

/// Maximum number of elements of a row.
const MAX_ROW_ELEMENTS: i64 = 64 * 1024;

/// Returns the sizes of the row dimensions, if `id` reduces the minor dimensions of one array and its rows
/// are small enough.
pub(super) fn row_reduction(module: &Module, id: InstrId) -> Option<Dims> {
    let Op::Reduce(a) = &module[id].op else { return None };
    let &[x, _] = module[id].operands.as_slice() else { return None };
    let from = module[x].shape.as_array()?;
    let rows = from.rank().checked_sub(a.dimensions.len())?;
    let minor = (rows..from.rank()).all(|d| a.dimensions.contains(&(d as i64)));
    let length = from.dims.get(rows..)?.iter().try_fold(1i64, |n, &d| n.checked_mul(d))?;
    (minor && (2..=MAX_ROW_ELEMENTS).contains(&length)).then(|| from.dims[..rows].into())
}

/// Returns, for each row reduction and each instruction computed only from row reductions, the sizes of the
/// reduced array.
pub(super) fn row_values(
    module: &Module,
    roles: &[Role],
    order: &[InstrId],
) -> std::collections::HashMap<InstrId, Dims> {
    let mut out = std::collections::HashMap::new();
    for &i in order {
        if row_reduction(module, i).is_some() {
            if let Some(a) = module[i].operands.first().and_then(|&x| module[x].shape.as_array()) {
                out.insert(i, a.dims.clone());
            }
            continue;
        }
        if !matches!(roles[i.index()], Role::Elementwise(_)) {
            continue;
        }
        let mut found: Vec<&Dims> = module[i].operands.iter().filter_map(|o| out.get(o)).collect();
        found.dedup();
        if let [one] = found.as_slice() {
            let one = (*one).clone();
            out.insert(i, one);
        }
    }
    out
}

/// Checks whether a broadcast maps the dimensions of its operand to the leading dimensions, in order.
fn is_row_broadcast(module: &Module, id: InstrId) -> bool {
    match &module[id].op {
        Op::Broadcast(a) => a.dimensions.iter().enumerate().all(|(n, &d)| n as i64 == d),
        _ => false,
    }
}

/// Checks whether the shape and operation of `id` allow it in a fusion over `dims` by `rows`.
fn conforms(module: &Module, roles: &[Role], id: InstrId, dims: &Dims, rows: &Dims) -> bool {
    let Some(own) = module[id].shape.as_array().map(|a| &a.dims) else { return false };
    match (&module[id].op, roles[id.index()]) {
        (_, Role::Elementwise(_)) => {
            let same = |o: &InstrId| module[*o].shape.as_array().is_some_and(|a| a.dims == *own);
            (own == dims || own == rows) && module[id].operands.iter().all(same)
        }
        (Op::Broadcast(_) | Op::Iota(_), _) => own == dims || own == rows,
        (Op::Reduce(_), _) => {
            let reduces = module[id].operands.first().and_then(|&x| module[x].shape.as_array());
            row_reduction(module, id).as_ref() == Some(rows) && reduces.is_some_and(|a| a.dims == *dims)
        }
        _ => false,
    }
}

/// Checks whether the members that use `id` need it only at their own row (and column).
fn needed_at_own_row(module: &Module, users: &[InstrId], id: InstrId, dims: &Dims, rows: &Dims) -> bool {
    let Some(own) = module[id].shape.as_array().map(|a| &a.dims) else { return false };
    users.iter().all(|&user| match &module[user].op {
        // A column vector would be computed again for every row, so another kernel computes it.
        Op::Broadcast(_) => own == rows && is_row_broadcast(module, user),
        Op::Reduce(_) => own == dims && module[user].operands.first() == Some(&id),
        _ => module[user].shape.as_array().is_some_and(|a| a.dims == *own),
    })
}

/// Checks whether `id` may join a cluster by rows. `users` contains the users of `id` in the cluster.
pub(super) fn joins(
    module: &Module,
    roles: &[Role],
    cluster: &Cluster,
    id: InstrId,
    users: &[InstrId],
) -> bool {
    let Kind::Rows(rows) = &cluster.kind else { return false };
    conforms(module, roles, id, &cluster.dims, rows)
        && needed_at_own_row(module, users, id, &cluster.dims, rows)
}

/// Changes a loop to a loop over rows, if all users of `id` are in it and `id` is computed from row
/// reductions that nothing outside needs. The whole chain from the reductions to `id` can then join the
/// cluster. Returns whether it did.
pub(super) fn turn_to_rows(
    module: &Module,
    roles: &[Role],
    values: &std::collections::HashMap<InstrId, Dims>,
    cluster: &mut Cluster,
    id: InstrId,
    only_here: &dyn Fn(InstrId) -> bool,
) -> bool {
    let rows = match (&cluster.kind, module[id].shape.as_array()) {
        (Kind::Rows(rows), _) => rows.clone(),
        (Kind::Loop, Some(own)) => own.dims.clone(),
        _ => return false,
    };
    let members = |id: InstrId| -> Vec<InstrId> {
        module.users(id).iter().copied().filter(|&u| cluster.contains(u)).collect()
    };
    let fits = values.get(&id) == Some(&cluster.dims)
        && cluster.dims.starts_with(&rows)
        && cluster.roots.len() == 1
        && needed_at_own_row(module, module.users(id), id, &cluster.dims, &rows)
        && cluster.members.iter().all(|&m| {
            conforms(module, roles, m, &cluster.dims, &rows)
                && (m == cluster.roots[0] || needed_at_own_row(module, &members(m), m, &cluster.dims, &rows))
        });
    if !fits || !chain_closes(module, values, id, only_here, cluster) {
        return false;
    }
    cluster.kind = Kind::Rows(rows);
    true
}

/// Checks whether the values between the row reductions and `id` are used only by the cluster or by each
/// other.
fn chain_closes(
    module: &Module,
    values: &std::collections::HashMap<InstrId, Dims>,
    id: InstrId,
    only_here: &dyn Fn(InstrId) -> bool,
    cluster: &Cluster,
) -> bool {
    let mut chain = HashSet::from([id]);
    let mut stack = vec![id];
    let mut order = Vec::new();
    while let Some(i) = stack.pop() {
        order.push(i);
        if row_reduction(module, i).is_some() {
            continue;
        }
        for &o in &module[i].operands {
            if values.contains_key(&o) && !is_scalar_constant(module, o) && chain.insert(o) {
                stack.push(o);
            }
        }
    }
    order
        .iter()
        .all(|&i| only_here(i) && module.users(i).iter().all(|u| chain.contains(u) || cluster.contains(*u)))
}
