//! Groups: boxes for many instructions in graphs that are too large to draw every instruction.
//!
//! Instructions are ordered so that, as far as operands allow, those of a scope (`jit(step)/layer_3`, from
//! the metadata's `op_name`) are consecutive. A group is a piece of this order, so that no two groups depend
//! on each other. The scopes are as deep as possible without too many groups. If scopes do not help, groups
//! are pieces of equal length.

use hlo_ir::{InstrId, Module};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound::{Included, Unbounded};

/// A box: one instruction, or several with a common name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The instructions, operands first.
    pub members: Vec<InstrId>,
    /// The common scope of the instructions, or their number.
    pub name: String,
}

/// Divides instructions into at most `limit` (and at least two) boxes. `edges` are pairs of positions in
/// `instructions`, from an operand to its user.
pub fn groups(
    module: &Module,
    instructions: &[InstrId],
    edges: &[(usize, usize)],
    limit: usize,
) -> Vec<Group> {
    let limit = limit.max(2);
    let scopes: Vec<Vec<String>> = instructions.iter().map(|&i| scope(module, i)).collect();
    let order = order(&scopes, edges);
    let deepest = scopes.iter().map(Vec::len).max().unwrap_or(0);
    let prefix = |n: usize, depth: usize| &scopes[n][..depth.min(scopes[n].len())];
    let pieces = |depth: usize| -> Vec<Vec<usize>> {
        let mut out: Vec<Vec<usize>> = Vec::new();
        for &n in &order {
            match out
                .last_mut()
                .filter(|last| last.last().is_some_and(|&l| prefix(l, depth) == prefix(n, depth)))
            {
                Some(last) => last.push(n),
                None => out.push(vec![n]),
            }
        }
        out
    };
    // Starting with the deepest scopes, take the first depth with few enough pieces. Too few pieces show too
    // little.
    let fits = |depth: &usize| (limit.div_ceil(4).max(2)..=limit).contains(&pieces(*depth).len());
    let mut parts = match (1..=deepest).rev().find(fits) {
        Some(depth) => pieces(depth),
        None => merge_to_limit(pieces_or_all(pieces(deepest), &order), limit),
    };
    for part in &mut parts {
        part.sort_unstable();
    }
    parts.into_iter().map(|part| group(instructions, &scopes, &part)).collect()
}

/// Returns single instructions if there is only one piece.
fn pieces_or_all(pieces: Vec<Vec<usize>>, order: &[usize]) -> Vec<Vec<usize>> {
    if pieces.len() > 1 { pieces } else { order.iter().map(|&n| vec![n]).collect() }
}

/// Joins neighboring pieces so that at most `limit` remain. They have about the same size if the pieces are
/// small.
fn merge_to_limit(pieces: Vec<Vec<usize>>, limit: usize) -> Vec<Vec<usize>> {
    let total: usize = pieces.iter().map(Vec::len).sum();
    // The key is the index of the part, among `limit` equal parts, in which a piece begins.
    let mut parts: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut before = 0;
    for piece in pieces {
        let place = before * limit / total.max(1);
        before += piece.len();
        parts.entry(place).or_default().extend(piece);
    }
    parts.into_values().collect()
}

/// Returns the scope of an instruction: `op_name` without the operation.
fn scope(module: &Module, id: InstrId) -> Vec<String> {
    let Some(common) = module[id].common.as_deref() else { return Vec::new() };
    let name = common.metadata.op_name.to_text();
    let mut parts: Vec<String> = split(&name).map(str::to_owned).collect();
    parts.pop();
    parts
}

/// Splits a name at slashes that are not in brackets.
pub fn split(name: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0i32;
    name.split(move |c| {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        c == '/' && depth <= 0
    })
}

/// Returns an order with operands before users. It leaves a scope only if no instruction of the scope can
/// come next. It then continues in the scope with the longest common prefix.
fn order(scopes: &[Vec<String>], edges: &[(usize, usize)]) -> Vec<usize> {
    let mut after = vec![Vec::new(); scopes.len()];
    let mut missing = vec![0usize; scopes.len()];
    for &(from, to) in edges {
        after[from].push(to);
        missing[to] += 1;
    }
    let mut ready: BTreeMap<&[String], BTreeSet<usize>> = BTreeMap::new();
    for n in (0..scopes.len()).filter(|&n| missing[n] == 0) {
        ready.entry(&scopes[n]).or_default().insert(n);
    }
    let mut out = Vec::with_capacity(scopes.len());
    let mut here: &[String] = &[];
    while let Some(scope) = nearest(&ready, here) {
        let Some(set) = ready.get_mut(scope) else { break };
        let next = set.pop_first();
        if set.is_empty() {
            ready.remove(scope);
        }
        let Some(n) = next else { continue };
        here = &scopes[n];
        out.push(n);
        for &user in &after[n] {
            missing[user] -= 1;
            if missing[user] == 0 {
                ready.entry(&scopes[user]).or_default().insert(user);
            }
        }
    }
    out
}

/// Returns the ready scope that has the longest common prefix with `here`. It is a neighbor of `here` in the
/// order of scopes.
fn nearest<'s>(ready: &BTreeMap<&'s [String], BTreeSet<usize>>, here: &[String]) -> Option<&'s [String]> {
    let below = ready.range::<[String], _>((Unbounded, Included(here))).next_back().map(|(&s, _)| s);
    let above = ready.range::<[String], _>((Included(here), Unbounded)).next().map(|(&s, _)| s);
    let common = |s: &[String]| s.iter().zip(here).take_while(|(a, b)| a == b).count();
    match (below, above) {
        (Some(b), Some(a)) => Some(if common(a) > common(b) { a } else { b }),
        (b, a) => b.or(a),
    }
}

/// Creates a group named after the common scope of its members.
fn group(instructions: &[InstrId], scopes: &[Vec<String>], part: &[usize]) -> Group {
    let members: Vec<InstrId> = part.iter().map(|&n| instructions[n]).collect();
    let mut common: &[String] = part.first().map_or(&[], |&n| &scopes[n]);
    for &n in part {
        let same = common.iter().zip(&scopes[n]).take_while(|(a, b)| a == b).count();
        common = &common[..same];
    }
    let name = match common {
        [] => format!("{} instructions", members.len()),
        _ => common.join("/"),
    };
    Group { members, name }
}
