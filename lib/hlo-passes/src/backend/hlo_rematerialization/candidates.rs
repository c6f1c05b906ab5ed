//! What can be computed again, and what that costs and frees.

use crate::support::effects::is_impure;
use hlo_analysis::{BufferKind, Liveness};
use hlo_ir::{Family, InstrId, Module, Op, Opcode, Work};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// A value that is computed again.
pub(super) struct Candidate {
    pub(super) instruction: InstrId,
    /// The users that get the new value, in order.
    pub(super) users: Vec<InstrId>,
}

/// What is preferred: the smaller cost, then what frees more, then what comes first.
type Preference = (u8, Reverse<u64>, usize);

/// The best values to be computed again so that they need not live at a position, until that frees `excess` bytes;
/// `fixed` says what must not be.
pub(super) fn best(
    module: &Module,
    here: &Liveness,
    position: usize,
    excess: u64,
    fixed: impl Fn(InstrId) -> bool,
) -> Vec<Candidate> {
    let at: HashMap<InstrId, usize> = here.order.iter().enumerate().map(|(n, &i)| (i, n)).collect();
    let mut found: Vec<(Preference, Candidate)> = Vec::new();
    for n in here.live_at(position) {
        let (buffer, life) = (&here.buffers.list()[n], here.lifetimes[n]);
        let id = buffer.instruction;
        let across = buffer.kind == BufferKind::Temporary && life.start < position && position < life.end;
        if !across || fixed(id) {
            continue;
        }
        let Some(cost) = cost(module, id) else { continue };
        let Some(users) = late_users(module, here, &at, id, n, position) else { continue };
        let Some(&first) = users.first().and_then(|u| at.get(u)) else { continue };
        let freed = buffer.bytes.saturating_sub(kept_longer(module, here, id, position, first));
        let key = (cost, Reverse(freed), life.start);
        if freed > 0 {
            found.push((key, Candidate { instruction: id, users }));
        }
    }
    found.sort_by_key(|&(key, _)| key);
    let (mut out, mut taken, mut sum) = (Vec::new(), HashSet::new(), 0u64);
    for ((_, Reverse(freed), _), candidate) in found {
        if sum >= excess {
            break;
        }
        // What another one is computed from lives until then.
        let id = candidate.instruction;
        let mut related = module[id].operands.iter().chain(module.users(id));
        if !related.any(|i| taken.contains(i)) {
            taken.insert(id);
            sum = sum.saturating_add(freed);
            out.push(candidate);
        }
    }
    out
}

/// How dear a value is to compute again: 0 for what is only moved or repeated, 1 for plain arithmetic, 2 for divisions
/// and functions. `None` for what is not computed again.
fn cost(module: &Module, id: InstrId) -> Option<u8> {
    let instr = &module[id];
    instr.shape.as_array()?;
    if is_impure(&instr.op) {
        return None;
    }
    match instr.opcode().elementwise() {
        Some(_) if instr.opcode() == Opcode::Convert => Some(0),
        Some(e) => Some(if e.work == Work::Simple { 1 } else { 2 }),
        None => (instr.opcode().family() == Family::DataMovement && instr.op != Op::Bitcast).then_some(0),
    }
}

/// The users of a value after a position; `None` if it is read there or then by another name, or is read at the
/// position itself.
fn late_users(
    module: &Module,
    here: &Liveness,
    at: &HashMap<InstrId, usize>,
    id: InstrId,
    buffer: usize,
    position: usize,
) -> Option<Vec<InstrId>> {
    let mut late = Vec::new();
    for &user in module.users(id) {
        let place = *at.get(&user)?;
        // A name that is given before and read after keeps the value alive.
        let names = here.buffers.leaves(user).contains(&buffer);
        if place == position || names && place < position {
            return None;
        }
        if place > position {
            late.push((place, user));
        }
    }
    late.sort_unstable();
    Some(late.into_iter().map(|(_, user)| user).collect())
}

/// The bytes that live at the position only because the value is computed again at `later`.
fn kept_longer(module: &Module, here: &Liveness, id: InstrId, position: usize, later: usize) -> u64 {
    let mut bytes = 0u64;
    let mut leaves: Vec<usize> =
        module[id].operands.iter().flat_map(|&o| here.buffers.leaves(o)).copied().collect();
    leaves.sort_unstable();
    leaves.dedup();
    for n in leaves {
        let (buffer, life) = (&here.buffers.list()[n], here.lifetimes[n]);
        if buffer.kind == BufferKind::Temporary && life.end < position && life.end < later {
            bytes = bytes.saturating_add(buffer.bytes);
        }
    }
    bytes
}
