//! The values that can be recomputed, with their costs and the memory that this frees.

use hlo_analysis::{BufferKind, Liveness};
use hlo_ir::{Family, InstrId, Module, Op, Opcode, Work};
use hlo_passes::support::effects::is_impure;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// A value to recompute.
pub(super) struct Candidate {
    pub(super) instruction: InstrId,
    /// The users that receive the recomputed value, in order.
    pub(super) users: Vec<InstrId>,
}

/// The sort key of candidates: lower cost first, then more freed bytes, then earlier position.
type Preference = (u8, Reverse<u64>, usize);

/// Returns the best values to recompute so that they need not be live at `position`. The list ends once it
/// frees `excess` bytes. `fixed` returns whether an instruction must not be recomputed.
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
        let freed = buffer.bytes.saturating_sub(additional_live_bytes(module, here, id, position, first));
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
        // The operands of a recomputed value must stay live until then.
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

/// Returns how expensive it is to recompute a value: 0 for data movement and conversions, 1 for simple
/// arithmetic, 2 for divisions and functions. Returns `None` for values that are never recomputed.
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

/// Returns the users of a value after `position`. Returns `None` if the value is read at `position`, or if an
/// earlier alias of it exists.
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
        // An alias made before the position and read after it keeps the value alive.
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

/// Returns the number of bytes that are live at the position only because the value is recomputed at `later`.
fn additional_live_bytes(
    module: &Module,
    here: &Liveness,
    id: InstrId,
    position: usize,
    later: usize,
) -> u64 {
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
