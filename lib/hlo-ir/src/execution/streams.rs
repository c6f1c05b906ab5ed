//! The streams of random numbers for `rng` and `rng-get-and-update-state`.
//!
//! XLA does not define their numbers. Here, each such instruction of a module has its own stream, and takes
//! one *draw* from it every time it runs. The numbers of a draw depend only on the seed, the stream, and how
//! often the instruction ran before in this execution. All engines therefore produce the same numbers, in any
//! order of independent instructions. A pass that copies or rewrites instructions must first record their
//! streams.

use crate::{InstrId, Module, Op};
use std::collections::BTreeMap;

/// The frontend attribute that records an instruction's stream.
const ATTRIBUTE: &str = "rng_stream";

/// Returns the stream of every instruction that has one. It is the recorded one, or else the next free
/// number. Numbers are assigned in the order in which the instructions were added to the module.
pub fn of(module: &Module) -> BTreeMap<InstrId, u64> {
    let draws = |&i: &InstrId| matches!(module[i].op, Op::Rng(_) | Op::RngGetAndUpdateState(_));
    let all = module.computations().flat_map(|c| module[c].instructions().iter().copied().filter(draws));
    let noted: BTreeMap<InstrId, Option<u64>> = all.map(|i| (i, noted(module, i))).collect();
    let mut next = noted.values().flatten().max().map_or(0, |&n| n.saturating_add(1));
    let stream = |(id, noted): (InstrId, Option<u64>)| {
        let stream = noted.unwrap_or(next);
        if noted.is_none() {
            next = next.saturating_add(1);
        }
        (id, stream)
    };
    noted.into_iter().map(stream).collect()
}

/// Returns the stream that is recorded for an instruction, if there is one.
pub fn noted(module: &Module, id: InstrId) -> Option<u64> {
    let attributes = &module[id].common.as_deref()?.frontend_attributes;
    attributes.get(ATTRIBUTE)?.as_str()?.parse().ok()
}

/// Records the stream of an instruction.
pub fn note(module: &mut Module, id: InstrId, stream: u64) {
    module.common_mut(id).frontend_attributes.set(ATTRIBUTE, stream.to_string().as_str().into());
}
