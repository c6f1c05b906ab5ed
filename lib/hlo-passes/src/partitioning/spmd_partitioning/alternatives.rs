//! Alternatives to an instruction of the whole program that may exchange less data.

use super::cutting::Cutting;
use super::partitioner::{INDEX_TYPE, Partitioner};
use super::value::{Part, Value};
use crate::partitioning::factors::Factors;
use hlo_ir::{ArrayShape, InstrId, Op, Shape};

impl Partitioner<'_> {
    /// Returns another operation, on other operands, with the same result as an instruction.
    pub(super) fn alternative(&mut self, id: InstrId, plain: &Cutting) -> Option<Cutting> {
        match &plain.op {
            Op::Slice(a) if a.slice.iter().all(|s| s.stride == 1) => {
                let starts: Vec<i64> = a.slice.iter().map(|s| s.start).collect();
                self.slice_at_indices(id, plain, &starts)
            }
            Op::Concatenate(_) | Op::Pad(_) => self.of_slices(id, plain),
            _ => None,
        }
    }

    /// Returns a slice as a dynamic slice at constant indices. Devices that hold none of it contribute zeros,
    /// and the results are added. For a small slice, this sends less than gathering the sliced array.
    fn slice_at_indices(&mut self, id: InstrId, plain: &Cutting, starts: &[i64]) -> Option<Cutting> {
        let [part] = &plain.parts[..] else { return None };
        let leaf = plain.leaves.first()?;
        let cut_off = |d: usize| part.tiling.tiles()[d] > 1 && leaf.dims[d] < part.shape.dims[d];
        if !(0..part.shape.rank()).any(cut_off) {
            return None;
        }
        let op = Op::dynamic_slice(leaf.dims.iter().copied());
        let scalar = ArrayShape::new(INDEX_TYPE, []);
        let mut parts = vec![part.clone()];
        for &start in starts {
            let start = self.index(start);
            parts.push(Part { id: start, shape: scalar.clone(), tiling: part.tiling.whole(0) });
        }
        let shapes: Vec<Shape> = parts.iter().map(|p| p.shape.clone().into()).collect();
        let factors = Factors::of_op(&op, &shapes.iter().collect::<Vec<_>>(), &leaf.clone().into())?;
        self.cutting_of(id, op, parts, factors, Vec::new())
    }

    /// Returns an operation on slices as an operation on the sliced arrays. Each device receives the elements
    /// that it needs, whichever tiles contain them.
    fn of_slices(&self, id: InstrId, plain: &Cutting) -> Option<Cutting> {
        let mut found = plain.clone();
        let mut any = false;
        for (n, &operand) in self.module[id].operands.iter().enumerate() {
            let dims: Vec<usize> = found.reaches.iter().filter(|r| r.operand == n).map(|r| r.from).collect();
            let sliced = dims.into_iter().find_map(|d| Some((d, self.sliced_along(operand, d)?)));
            let Some((dim, (part, start, end))) = sliced else { continue };
            let reach = found.reaches.iter_mut().find(|r| r.operand == n && r.from == dim);
            let (Some(reach), Some(own)) = (reach, found.parts.get_mut(n)) else { continue };
            reach.first += start;
            found.slices[n] = Some((dim, start, end));
            *own = part;
            any = true;
        }
        any.then_some(found)
    }

    /// Returns the array that an instruction slices along a single dimension, and the start and limit of the
    /// slice.
    fn sliced_along(&self, id: InstrId, dim: usize) -> Option<(Part, i64, i64)> {
        let Op::Slice(a) = &self.module[id].op else { return None };
        let Value::Array(part) = self.value(*self.module[id].operands.first()?) else { return None };
        let whole = |(d, size): (usize, &i64)| {
            let range = &a.slice[d];
            range.stride == 1 && (d == dim || (range.start == 0 && range.limit == *size))
        };
        part.shape
            .dims
            .iter()
            .enumerate()
            .all(whole)
            .then(|| (part.clone(), a.slice[dim].start, a.slice[dim].limit))
    }
}
