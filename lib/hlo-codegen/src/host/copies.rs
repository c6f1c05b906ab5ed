//! Many small copies in a row, such as those of a loop with a thousand loop-carried values, and lists of many
//! addresses. Each becomes one runtime call with a table. As code, they would take LLVM quadratic time.
use hlo_plan::{BufferRef, Step};

use super::Host;
use crate::builder::V;
use hlo_runtime::CopyPlace;

/// `hlo_rt_copies(parameters, outputs, constants, arena, table, count)`.
pub(super) const COPIES_SYMBOL: &str = "hlo_rt_copies";

/// `hlo_rt_addresses(parameters, outputs, constants, arena, table, list, count)`.
pub(super) const ADDRESSES_SYMBOL: &str = "hlo_rt_addresses";

/// Minimum number of copies or addresses for a table. Fewer become code.
pub(super) const MIN_TABLE_ENTRIES: usize = 64;

/// Number of words of a `CopyEntry`.
const ENTRY_WORDS: usize = 5;

/// Splits the steps into runs of copies and runs of other steps.
pub(super) fn parts(steps: &[Step<BufferRef>]) -> impl Iterator<Item = &[Step<BufferRef>]> {
    let is_copy = |step: &Step<BufferRef>| matches!(step, Step::Copy { .. });
    steps.chunk_by(move |a, b| is_copy(a) == is_copy(b))
}

/// Returns whether one of the [`parts`] becomes a table.
pub(super) fn is_table(part: &[Step<BufferRef>]) -> bool {
    part.len() >= MIN_TABLE_ENTRIES && matches!(part.first(), Some(Step::Copy { .. }))
}

/// Returns the words of the table for one of the [`parts`], or `None` if it is not a run of copies or is too
/// short.
pub(super) fn table(part: &[Step<BufferRef>]) -> Option<Vec<i64>> {
    if !is_table(part) {
        return None;
    }
    let mut words = Vec::with_capacity(part.len() * ENTRY_WORDS);
    for step in part {
        let Step::Copy { from, to, bytes } = step else { return None };
        for buffer in [from, to] {
            words.extend(place(*buffer));
        }
        words.push(*bytes as i64);
    }
    Some(words)
}

/// Returns the words of a buffer's [`CopyPlace`].
fn place(buffer: BufferRef) -> [i64; 2] {
    let (place, at) = match buffer {
        BufferRef::Param(n) => (CopyPlace::Param, n as i64),
        BufferRef::Output(n) => (CopyPlace::Output, n as i64),
        BufferRef::Constant(n) => (CopyPlace::Constant, n as i64),
        BufferRef::Arena(offset) => (CopyPlace::Arena, offset as i64),
    };
    [place as i64, at]
}

/// Returns the words of the table for a list of addresses, or `None` if the list is short.
pub(super) fn addresses(buffers: impl ExactSizeIterator<Item = BufferRef>) -> Option<Vec<i64>> {
    (buffers.len() >= MIN_TABLE_ENTRIES).then(|| buffers.flat_map(place).collect())
}

/// Calls `found` for every table of copies in the steps.
pub(super) fn for_each_table(steps: &[Step<BufferRef>], found: &mut impl FnMut(Vec<i64>)) {
    for part in parts(steps) {
        if let Some(words) = table(part) {
            found(words);
            continue;
        }
        for step in part {
            match step {
                Step::Kernel(_) | Step::Copy { .. } | Step::Runtime(_) => {}
                Step::While { condition, body, .. } => {
                    for_each_table(condition, found);
                    for_each_table(body, found);
                }
                Step::Conditional { branches, .. } => {
                    branches.iter().for_each(|b| for_each_table(b, found));
                }
            }
        }
    }
}

/// Returns the number of copies that become code.
pub(crate) fn in_code(steps: &[Step<BufferRef>]) -> usize {
    let in_part = |part: &[Step<BufferRef>]| match part.first() {
        _ if is_table(part) => 0,
        Some(Step::Copy { .. }) => part.len(),
        _ => part.iter().map(copies_in_step).sum(),
    };
    parts(steps).map(in_part).sum()
}

fn copies_in_step(step: &Step<BufferRef>) -> usize {
    match step {
        Step::Kernel(_) | Step::Copy { .. } | Step::Runtime(_) => 0,
        Step::While { condition, body, .. } => in_code(condition) + in_code(body),
        Step::Conditional { branches, .. } => branches.iter().map(|b| in_code(b)).sum(),
    }
}

impl<'c> Host<'_, 'c> {
    /// Emits the runtime call for a table.
    pub(super) fn copies(&self, words: &[i64]) {
        let b = self.b;
        let table = self.program.descriptors.get(words).map_or_else(|| b.null(), |name| b.address_of(name));
        let [params, outputs, constants] = self.lists;
        let count = b.index((words.len() / ENTRY_WORDS) as i64);
        b.call(COPIES_SYMBOL, &[params, outputs, constants, self.arena, table, count], None);
    }

    /// Emits code that writes the addresses of buffers to a list.
    pub(super) fn list(&self, to: V<'c>, buffers: impl ExactSizeIterator<Item = BufferRef> + Clone) {
        let b = self.b;
        let Some(words) = addresses(buffers.clone()) else {
            for (i, buffer) in buffers.enumerate() {
                b.store(self.address(buffer), b.gep(to, b.index(i as i64), b.ptr()));
            }
            return;
        };
        let table = self.program.descriptors.get(&words).map_or_else(|| b.null(), |name| b.address_of(name));
        let [params, outputs, constants] = self.lists;
        let count = b.index(buffers.len() as i64);
        b.call(ADDRESSES_SYMBOL, &[params, outputs, constants, self.arena, table, to, count], None);
    }
}
