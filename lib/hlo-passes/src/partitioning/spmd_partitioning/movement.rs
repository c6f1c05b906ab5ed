//! Constants, iotas, broadcasts, reshapes and reversals.

use super::partitioner::{INDEX_TYPE, Partitioner, Rematerialization};
use super::value::{Part, Value};
use crate::partitioning::reshapes::reshaped;
use hlo_ir::attr::TileAssignment;
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, Dims, InstrId, Literal, Op};

impl Partitioner<'_> {
    /// Partitions a constant whose elements are all equal: emits a broadcast of a scalar. Returns `None` for
    /// other constants.
    pub(super) fn constant(&mut self, id: InstrId) -> Option<Value> {
        let Op::Constant(a) = &self.module[id].op else { return None };
        let (literal, elided) = (a.literal.clone(), a.is_elided());
        let shape = self.module[id].shape.as_array()?.clone();
        let wanted = self.required_shardings(id).into_iter().next()?;
        if wanted.is_whole() || elided {
            return None;
        }
        let size = shape.element_type.byte_size();
        let first = literal.bytes().get(..size)?.to_vec();
        if literal.bytes().chunks_exact(size).all(|c| c == first) {
            let scalar = Literal::scalar_from_bytes(shape.element_type, &first)?;
            let scalar = self.add(scalar.shape().clone(), Op::constant(scalar), &[]);
            return Some(Value::Array(self.splat(scalar, &shape, &wanted)));
        }
        None
    }

    /// Broadcasts a scalar to the tile of an array.
    fn splat(&mut self, scalar: InstrId, shape: &ArrayShape, tiling: &TileAssignment) -> Part {
        let local = self.shard_shape(shape, tiling);
        let made = self.add(local, Op::broadcast([]), &[scalar]);
        self.scope.remade.insert(made, Rematerialization::Splat(scalar));
        self.made(made, shape, tiling)
    }

    /// Partitions a broadcast. If another sharding is needed later, it is emitted again, because its operand
    /// is smaller.
    pub(super) fn broadcast_of(&mut self, id: InstrId, dims: &Dims) -> Option<Value> {
        let of = self.part(0).filter(|p| p.shape.is_static() && p.tiling.groups() == 1)?;
        let shape = self.module[id].shape.as_array().filter(|a| a.is_static() && a.rank() > 0)?.clone();
        let wanted = self.required_shardings(id).into_iter().next()?;
        if of.shape.rank() == 0 {
            return Some(Value::Array(self.splat(of.id, &shape, &wanted)));
        }
        let kept =
            |(&d, &size): (&i64, &i64)| usize::try_from(d).is_ok_and(|d| shape.dims.get(d) == Some(&size));
        if dims.len() != of.shape.rank() || !dims.iter().zip(&of.shape.dims).all(kept) {
            return None;
        }
        let Some(Value::Array(made)) = self.by_factors(id) else { return None };
        self.scope.remade.insert(made.id, Rematerialization::Broadcast(Box::new(of), dims.clone()));
        Some(Value::Array(made))
    }

    /// Partitions an iota.
    pub(super) fn count(&mut self, id: InstrId, along: i64) -> Option<Value> {
        let shape = self.module[id].shape.as_array().filter(|a| a.is_static())?.clone();
        let along = usize::try_from(along).ok().filter(|&d| d < shape.rank())?;
        let wanted = self.required_shardings(id).into_iter().next()?;
        let part = self.counted(&shape, &wanted, along);
        self.scope.remade.insert(part.id, Rematerialization::Count(along));
        Some(Value::Array(part))
    }

    /// Emits the global index along a dimension, for the device's own tile.
    pub(super) fn counted(&mut self, shape: &ArrayShape, tiling: &TileAssignment, along: usize) -> Part {
        let local = self.shard_shape(shape, tiling);
        let made = self.add(local.clone(), Op::iota(along as i64), &[]);
        let part = self.made(made, shape, tiling);
        if tiling.tiles()[along] == 1 {
            return part;
        }
        let start = self.tile_start(&part, along);
        let start = match shape.element_type {
            INDEX_TYPE => start,
            ty => self.add(ArrayShape::new(ty, []), Op::Convert, &[start]),
        };
        let start = self.spread(start, &local.dims);
        Part { id: self.same(Op::Add, &[made, start]), ..part }
    }

    /// Partitions a reshape by reshaping each device's tile, if the results are tiles too.
    pub(super) fn reshape(&mut self, id: InstrId) -> Option<Value> {
        let part = self.part(0).filter(|p| p.shape.is_static())?;
        let shape = self.module[id].shape.as_array().filter(|a| a.is_static())?.clone();
        let wanted = self.required_shardings(id).into_iter().next()?;
        let (from, to) = (&part.shape.dims, &shape.dims);
        let there = reshaped(&part.tiling, from, to);
        let back = reshaped(&wanted, to, from).map(|(kept, before)| (before, kept));
        let cost = |(before, after): &(TileAssignment, TileAssignment)| {
            self.resharding_plan(&part.tiling, before, from).cost
                + self.resharding_plan(after, &wanted, to).cost
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

    /// Partitions a reversal along split dimensions. Each device reverses its tile, which then is the tile of
    /// the device at the other end.
    pub(super) fn reversed(&mut self, id: InstrId, dims: &[i64]) -> Option<Value> {
        let part = self.part(0).filter(|p| p.shape.is_static())?;
        let wanted = self.required_shardings(id).into_iter().next()?;
        let turned = |d: usize| dims.contains(&(d as i64)) && part.tiling.tiles()[d] > 1;
        let cut: Vec<usize> = (0..part.shape.rank()).filter(|&d| turned(d)).collect();
        // Padding would come first after the reversal.
        if cut.is_empty() || cut.iter().any(|&d| part.is_filled_up(d)) {
            return None;
        }
        let places = part.tiling.places().into_iter().map(|mut p| {
            cut.iter().for_each(|&d| p.tile[d] = part.tiling.tiles()[d] - 1 - p.tile[d]);
            (p.tile, p.group)
        });
        let tiling = TileAssignment::of_places(part.tiling.tiles(), part.tiling.groups(), places)?;
        let local = self.shard_shape(self.module[id].shape.as_array()?, &tiling);
        let made = self.add(local, self.module[id].op.clone(), &[part.id]);
        let made = self.made(made, &part.shape, &tiling);
        Some(Value::Array(self.reshard(&made, &wanted)))
    }
}
