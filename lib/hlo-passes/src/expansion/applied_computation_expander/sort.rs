//! Expansion of `sort` to a merge sort: merges runs of 1, 2, 4, … elements from one set of arrays into
//! another.

use super::{count, read_all, write_all};
use crate::support::expander::Emitter;
use hlo_ir::attr::{ComparisonDirection, SortAttrs};
use hlo_ir::{ComputationId, InstrId, Op};

/// The comparator and sizes of a sort.
struct Sort {
    comparator: ComputationId,
    /// The sizes of the dimensions, with the sorted dimension moved to the end.
    sizes: Vec<i64>,
    along: usize,
    operands: usize,
}

/// Expands a `sort` (XLA's operation semantics, "Sort"). The sort is always stable.
pub(super) fn sort(e: &mut Emitter<'_>, id: InstrId, attrs: &SortAttrs) -> Option<InstrId> {
    let arrays = e.module[id].operands.to_vec();
    let dims = e.array(*arrays.first()?)?.dims;
    let along = attrs.dimensions.first().copied().unwrap_or(dims.len() as i64 - 1);
    let along = usize::try_from(along).ok().filter(|&d| d < dims.len())?;
    let size = dims[along];
    let mut sizes = dims.to_vec();
    sizes.remove(along);
    sizes.push(size);
    let steps = count(&sizes)?;
    if steps == 0 || size == 1 {
        return e.results(&arrays);
    }
    let s = Sort { comparator: attrs.to_apply, sizes, along, operands: arrays.len() };
    let passes = i64::from((size - 1).ilog2()) + 1;
    // The state of the outer loop: the length of a run, the arrays, and other arrays of their shapes.
    let mut state = vec![e.index(1)?];
    state.extend(arrays.iter().chain(&arrays));
    let sorted = e.counted_loop("sort", passes, &state, |e, _, state| {
        let (&run, both) = state.split_first()?;
        let (from, to) = both.split_at(s.operands);
        let zero = e.index(0)?;
        let inner = [&[run, zero, zero], from, to].concat();
        let merged = e.counted_loop("merge", steps, &inner, |e, i, state| s.merge_one(e, i, state))?;
        let next = e.same(Op::Add, &[run, run]);
        let (from, to) = merged.get(3..)?.split_at(s.operands);
        Some([&[next], to, from].concat())
    })?;
    e.results(sorted.get(1..1 + s.operands)?)
}

impl Sort {
    /// Writes the next element of two runs that are being merged. The state contains the length of a run, the
    /// positions of the next elements of both runs, the source arrays and the destination arrays.
    fn merge_one(&self, e: &mut Emitter<'_>, i: InstrId, state: &[InstrId]) -> Option<Vec<InstrId>> {
        let (pointers, arrays) = state.split_at_checked(3)?;
        let &[run, left, right] = pointers else { return None };
        let (from, to) = arrays.split_at_checked(self.operands)?;
        let outer = e.unravel(i, &self.sizes)?;
        let (&position, outer) = outer.split_last()?;
        let size = e.index(*self.sizes.last()?)?;
        let at = |place: InstrId| {
            let mut index = outer.to_vec();
            index.insert(self.along, place);
            index
        };
        let both = e.same(Op::Add, &[run, run]);
        let within = e.same(Op::Remainder, &[position, both]);
        let start = e.same(Op::Subtract, &[position, within]);
        let middle = e.same(Op::Add, &[start, run]);
        let middle = e.same(Op::Minimum, &[middle, size]);
        let end = e.same(Op::Add, &[start, both]);
        let end = e.same(Op::Minimum, &[end, size]);
        let first = e.compare(position, ComparisonDirection::Eq, start);
        let left = e.select(first, start, left);
        let right = e.select(first, middle, right);

        let (lefts, rights) = (read_all(e, from, &at(left))?, read_all(e, from, &at(right))?);
        // Of two equal elements, the left one comes first.
        let arguments: Vec<InstrId> = rights.iter().zip(&lefts).flat_map(|(&r, &l)| [r, l]).collect();
        let before = *e.call(self.comparator, &arguments)?.first()?;
        let no_left = e.compare(left, ComparisonDirection::Ge, middle);
        let some_right = e.compare(right, ComparisonDirection::Lt, end);
        let rather = e.same(Op::Or, &[no_left, before]);
        let takes_right = e.same(Op::And, &[some_right, rather]);
        let values: Vec<InstrId> =
            rights.iter().zip(&lefts).map(|(&r, &l)| e.select(takes_right, r, l)).collect();
        let to = write_all(e, to, &at(position), &values)?;

        let one = e.index(1)?;
        let (next_left, next_right) = (e.same(Op::Add, &[left, one]), e.same(Op::Add, &[right, one]));
        let left = e.select(takes_right, left, next_left);
        let right = e.select(takes_right, next_right, right);
        Some([&[run, left, right], from, &to].concat())
    }
}
