//! Fusion by rows: reductions over the minor dimensions, whose results go back to the rows that they come from
//! (softmax, normalisations), with the elementwise work around them.
//!
//! The members of such a fusion have one of two shapes: `[rows…, cols…]`, or `[rows…]` for what is computed once
//! a row. The row stays in cache, and an expensive value that a reduction and the final result both need is
//! computed once.

use super::cluster::{Cluster, Kind};
use super::cost::{Role, is_scalar_constant};
use hlo_ir::{Dims, InstrId, Module, Op};
use std::collections::HashSet;

/// The largest row, in elements.
const MAX_ROW: i64 = 64 * 1024;

/// The sizes of the rows, if `id` reduces the minor dimensions of one array of which a row is small enough.
pub(super) fn row_reduction(module: &Module, id: InstrId) -> Option<Dims> {
    let Op::Reduce(a) = &module[id].op else { return None };
    let &[x, _] = module[id].operands.as_slice() else { return None };
    let from = module[x].shape.as_array()?;
    let rows = from.rank().checked_sub(a.dimensions.len())?;
    let minor = (rows..from.rank()).all(|d| a.dimensions.contains(&(d as i64)));
    let length = from.dims.get(rows..)?.iter().try_fold(1i64, |n, &d| n.checked_mul(d))?;
    (minor && (2..=MAX_ROW).contains(&length)).then(|| from.dims[..rows].into())
}

/// For each instruction that is a row reduction, or computed from such only: the sizes of the reduced array.
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

/// True if a broadcast puts its operand into the leading dimensions, in order.
fn is_row_broadcast(module: &Module, id: InstrId) -> bool {
    match &module[id].op {
        Op::Broadcast(a) => a.dimensions.iter().enumerate().all(|(n, &d)| n as i64 == d),
        _ => false,
    }
}

/// True if `id` can be a member of a fusion of `dims` by `rows`, as far as its own shape and operation go.
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

/// True if the members that are users of `id` need it at their own row (and column) only.
fn needed_at_own_row(module: &Module, users: &[InstrId], id: InstrId, dims: &Dims, rows: &Dims) -> bool {
    let Some(own) = module[id].shape.as_array().map(|a| &a.dims) else { return false };
    users.iter().all(|&user| match &module[user].op {
        // An element of a column vector is computed for every row: it is left to another kernel.
        Op::Broadcast(_) => own == rows && is_row_broadcast(module, user),
        Op::Reduce(_) => own == dims && module[user].operands.first() == Some(&id),
        _ => module[user].shape.as_array().is_some_and(|a| a.dims == *own),
    })
}

/// True if `id`, of whose users `users` are in the cluster, may join a cluster that already goes by rows.
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

/// Makes a loop go by rows, if `id`, all of whose users are in it, is computed from reductions of its rows that nothing
/// outside needs: the whole chain from the reductions to `id` can join then.
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

/// True if the values between the row reductions and `id` are needed in the cluster or by one another only.
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
