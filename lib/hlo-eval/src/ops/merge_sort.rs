//! The order of comparisons of `sort`.

use super::sort::Comparator;
use super::support::Result;
use crate::context::Context;

impl Comparator<'_> {
    /// Sorts positions. The sort is stable, and returns a permutation whatever the comparator returns. (The
    /// standard library's sort may panic on an inconsistent comparator.) The permutation is defined
    /// (docs/numerics.md, "Order"): the comparisons are those of `std::stable_sort` in GNU's C++ library,
    /// with which XLA's CPU backend is built.
    pub(super) fn sort(&mut self, cx: &mut Context<'_>, order: &mut [usize]) -> Result<()> {
        let longer = order.len() - order.len() / 2;
        let (first, second) = order.split_at_mut(longer);
        self.sort_half(cx, first)?;
        self.sort_half(cx, second)?;
        if first.len() == second.len() {
            self.merge(cx, order, longer)
        } else {
            self.merge_back(cx, order, longer)
        }
    }

    /// Sorts runs of seven elements by insertion, then merges the runs in pairs until one is left.
    fn sort_half(&mut self, cx: &mut Context<'_>, half: &mut [usize]) -> Result<()> {
        let mut length = 7;
        for run in half.chunks_mut(length) {
            for end in 1..run.len() {
                // An element that comes before the first one moves to the front. Otherwise the search ends at
                // the first one.
                let mut place = 0;
                if !self.is_before(cx, run[end], run[0])? {
                    place = end;
                    while place > 1 && self.is_before(cx, run[end], run[place - 1])? {
                        place -= 1;
                    }
                }
                run[place..=end].rotate_right(1);
            }
        }
        while length < half.len() {
            for pair in half.chunks_mut(2 * length) {
                if pair.len() > length {
                    self.merge(cx, pair, length)?;
                }
            }
            length *= 2;
        }
        Ok(())
    }

    /// Merges the elements before `middle` with the rest. The next element is the smaller of the two first
    /// elements, or the left one if they are equal.
    fn merge(&mut self, cx: &mut Context<'_>, order: &mut [usize], middle: usize) -> Result<()> {
        let (mut left, mut right) = order.split_at(middle);
        let mut merged = std::mem::take(&mut self.merged);
        merged.clear();
        while let (Some((&l, left_rest)), Some((&r, right_rest))) = (left.split_first(), right.split_first())
        {
            if self.is_before(cx, r, l)? {
                merged.push(r);
                right = right_rest;
            } else {
                merged.push(l);
                left = left_rest;
            }
        }
        merged.extend_from_slice(left);
        merged.extend_from_slice(right);
        order.copy_from_slice(&merged);
        self.merged = merged;
        Ok(())
    }

    /// Merges from the other end: the last element is the greater of the two last elements, or the right one
    /// if they are equal.
    fn merge_back(&mut self, cx: &mut Context<'_>, order: &mut [usize], middle: usize) -> Result<()> {
        let (mut left, mut right) = order.split_at(middle);
        let mut merged = std::mem::take(&mut self.merged);
        merged.clear();
        while let (Some((&l, left_rest)), Some((&r, right_rest))) = (left.split_last(), right.split_last()) {
            if self.is_before(cx, r, l)? {
                merged.push(l);
                left = left_rest;
            } else {
                merged.push(r);
                right = right_rest;
            }
        }
        merged.extend(left.iter().rev());
        merged.extend(right.iter().rev());
        merged.reverse();
        order.copy_from_slice(&merged);
        self.merged = merged;
        Ok(())
    }
}
