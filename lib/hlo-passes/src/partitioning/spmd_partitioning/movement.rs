//! Constants, counts and reshapes.

use super::partitioner::{INDEX, Partitioner};
use super::plan::plan;
use super::value::{Part, Value};
use crate::partitioning::reshapes::reshaped;
use hlo_ir::attr::TileAssignment;
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, InstrId, Literal, Op};

impl Partitioner<'_> {
    /// A constant: a small one where all elements are alike, else each device's tile of it.
    pub(super) fn constant(&mut self, id: InstrId) -> Option<Value> {
        let Op::Constant(a) = &self.module[id].op else { return None };
        let (literal, elided) = (a.literal.clone(), a.is_elided());
        let shape = self.module[id].shape.as_array()?.clone();
        let wanted = self.wanted(id).into_iter().next()?;
        if wanted.is_whole() || elided {
            return None;
        }
        let size = shape.element_type.byte_size();
        let first = literal.bytes().get(..size)?.to_vec();
        if literal.bytes().chunks_exact(size).all(|c| c == first) {
            let scalar = Literal::scalar_from_bytes(shape.element_type, &first)?;
            let scalar = self.add(scalar.shape().clone(), Op::constant(scalar), &[]);
            let local = self.shard_shape(&shape, &wanted);
            let made = self.add(local, Op::broadcast([]), &[scalar]);
            return Some(Value::Array(self.made(made, &shape, &wanted)));
        }
        None
    }

    /// A count, of each device's own tile.
    pub(super) fn count(&mut self, id: InstrId, along: i64) -> Option<Value> {
        let shape = self.module[id].shape.as_array().filter(|a| a.is_static())?.clone();
        let wanted = self.wanted(id).into_iter().next()?;
        let local = self.shard_shape(&shape, &wanted);
        let made = self.add(local.clone(), Op::iota(along), &[]);
        let part = self.made(made, &shape, &wanted);
        let d = usize::try_from(along).ok()?;
        if wanted.tiles().get(d).is_none_or(|&n| n == 1) {
            return Some(Value::Array(part));
        }
        let start = self.tile_start(&part, d);
        let start = match shape.element_type {
            INDEX => start,
            ty => self.add(ArrayShape::new(ty, []), Op::Convert, &[start]),
        };
        let start = self.spread(start, &local.dims);
        Some(Value::Array(Part { id: self.same(Op::Add, &[made, start]), ..part }))
    }

    /// A reshape of each device's tile, where the tiles stay such.
    pub(super) fn reshape(&mut self, id: InstrId) -> Option<Value> {
        let part = self.part(0).filter(|p| p.shape.is_static())?;
        let shape = self.module[id].shape.as_array().filter(|a| a.is_static())?.clone();
        let wanted = self.wanted(id).into_iter().next()?;
        let (from, to) = (&part.shape.dims, &shape.dims);
        let there = reshaped(&part.tiling, from, to);
        let back = reshaped(&wanted, to, from).map(|(kept, before)| (before, kept));
        let cost = |(before, after): &(TileAssignment, TileAssignment)| {
            plan(&part.tiling, before, from).cost + plan(after, &wanted, to).cost
        };
        let (before, after) = match (back, there) {
            (Some(back), Some(there)) if cost(&there) < cost(&back) => there,
            (Some(back), _) => back,
            (None, Some(there)) => there,
            (None, None) => return None,
        };
        let part = self.reshard(&part, &before);
        let local = self.shard_shape(&shape, &after);
        let made = self.add(local, Op::reshape(), &[part.id]);
        let made = self.made(made, &shape, &after);
        Some(Value::Array(self.reshard(&made, &wanted)))
    }
}
