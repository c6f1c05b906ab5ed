//! Converts values between sums and summands.

use super::linear::{is_sum, is_zero, only_forwards_operand, summand_operands};
use super::{Annotation, Expansion, partition_of_summands};
use crate::partitioning::channels::{Groups, scattered};
use crate::partitioning::factors::{Factors, Kind};
use crate::partitioning::reshapes::reshaped;
use hlo_ir::attr::{Sharding, Summands, TileAssignment};
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, Dims, ElementType, InstrId, Literal, Op, Shape};

/// Maximum number of linear operations between a product and the sharding that requests its summands.
const MAX_INTERMEDIATE_OPERATIONS: usize = 16;

/// The partition of the combined factors among devices.
struct Cut {
    /// Number of parts of each combined factor.
    tiles: Vec<i64>,
    /// For each device, the number of its part along each combined factor.
    places: Vec<Vec<i64>>,
}

impl Expansion<'_> {
    /// Returns the sum of the devices' summands, in the sharding `to` if given, or on all of these devices.
    pub(super) fn summed(&mut self, id: InstrId, own: &Summands, to: Option<&TileAssignment>) -> InstrId {
        let key = (id, to.cloned());
        if let Some(&known) = self.sums.get(&key) {
            return known;
        }
        let Some(shape) = self.array_of(id) else { return id };
        let groups = own.groups();
        let op = if shape.element_type.is_pred() { Op::Or } else { Op::Add };
        let to_apply = self.combiners.get(self.module, &mut self.namer, &op, shape.element_type, self.to);
        let scattered = to.and_then(|to| Some((to, scattered_to(own, to, &groups, &shape)?)));
        let sum = match scattered {
            Some((to, (dim, groups))) => {
                let mut part = shape.dims.clone();
                part[dim] /= groups.first().map_or(1, Vec::len) as i64;
                let op = self.channels.reduce_scatter(dim, &groups, to_apply);
                let made = self.add_with_sharding(shape.with_sizes(&part), op, &[id], &own.own);
                self.call("SPMDShardToFullShape", shape, made, to)
            }
            None => {
                let op = self.channels.all_reduce(&groups, to_apply);
                let made = self.add_with_sharding(shape.clone(), op, &[id], &own.own);
                let sum = self.call("SPMDShardToFullShape", shape.clone(), made, &own.summed);
                match to {
                    Some(to) if *to != own.summed => self.call("Sharding", shape, sum, to),
                    _ => sum,
                }
            }
        };
        self.sums.insert(key, sum);
        sum
    }

    /// Returns summands of a value. For a product or a sum, each device computes a part. Otherwise one device
    /// of each group has the whole value.
    pub(super) fn summands(&mut self, id: InstrId, wanted: &Summands) -> InstrId {
        if let Some(made) = self.of_parts(id, wanted, 0) {
            return made;
        }
        if let Some(made) = self.pad_to_position(id, wanted) {
            return made;
        }
        let mut source = id;
        while let Some(before) = self.forwarded_value(source) {
            source = before;
        }
        let all = self.for_all(source, wanted);
        // Zeros on all devices already add up to zero.
        let of = match self.module[source].op {
            Op::Broadcast(_) => self.module[source].operands.first().copied().unwrap_or(source),
            _ => source,
        };
        if is_zero(self.module, of) { all } else { self.only_first(all, wanted) }
    }

    /// Returns the value that an instruction passes on unchanged.
    fn forwarded_value(&self, id: InstrId) -> Option<InstrId> {
        let &operand = self.module[id].operands.first()?;
        match (&self.module[id].op, &self.module[operand].op) {
            (Op::GetTupleElement(a), Op::Tuple) => {
                self.module[operand].operands.get(usize::try_from(a.index).ok()?).copied()
            }
            _ => only_forwards_operand(self.module, id).then_some(operand),
        }
    }

    /// Returns a value that all summands share, as an array of each device.
    pub(super) fn for_all(&mut self, id: InstrId, summands: &Summands) -> InstrId {
        let Some(shape) = self.array_of(id) else { return id };
        let there = self.call("Sharding", shape.clone(), id, &summands.summed);
        self.call("SPMDFullToShardShape", shape, there, &summands.own)
    }

    /// Adds an instruction with a sharding.
    fn add_with_sharding(
        &mut self,
        shape: impl Into<Shape>,
        op: Op,
        operands: &[InstrId],
        tiling: &TileAssignment,
    ) -> InstrId {
        let made = self.add(shape, op, operands);
        self.module.common_mut(made).sharding = Some(Sharding::single(tiling.to_kind()));
        made
    }

    /// Adds a custom call that specifies a sharding.
    fn call(&mut self, target: &str, shape: ArrayShape, id: InstrId, tiling: &TileAssignment) -> InstrId {
        self.add_with_sharding(shape, Op::custom_call(target), &[id], tiling)
    }

    /// Returns the value on the first device of each group, and zeros on the others.
    fn only_first(&mut self, id: InstrId, wanted: &Summands) -> InstrId {
        let Some(shape) = self.array_of(id) else { return id };
        let mut first = vec![0; self.devices];
        for group in wanted.groups() {
            if let Some(place) = group.first().and_then(|&device| first.get_mut(device)) {
                *place = 1;
            }
        }
        let scalar = wanted.own.whole(0);
        let number = self.of_device(&first, &scalar);
        let zero = self.add_with_sharding(
            Shape::scalar(ElementType::S32),
            Op::constant(Literal::r0(0i32)),
            &[],
            &scalar,
        );
        let differs = Op::compare(hlo_ir::attr::ComparisonDirection::Ne);
        let flag =
            self.add_with_sharding(Shape::scalar(ElementType::Pred), differs, &[number, zero], &scalar);
        let flags = shape.with_element_type(ElementType::Pred);
        let flags = self.add_with_sharding(flags, Op::broadcast([]), &[flag], &wanted.own);
        let Some(zeros) = self.zeros(&shape, &wanted.own) else { return id };
        self.add_with_sharding(shape, Op::Select, &[flags, id, zeros], &wanted.own)
    }

    fn zeros(&mut self, shape: &ArrayShape, tiling: &TileAssignment) -> Option<InstrId> {
        let zero = self.zero(shape.element_type)?;
        self.module.common_mut(zero).sharding = Some(Sharding::single(tiling.whole(0).to_kind()));
        Some(self.add_with_sharding(shape.clone(), Op::broadcast([]), &[zero], tiling))
    }

    /// Returns the element of `numbers` at the index of the device.
    fn of_device(&mut self, numbers: &[i64], scalar: &TileAssignment) -> InstrId {
        let narrow: Vec<i32> = numbers.iter().map(|&n| i32::try_from(n).unwrap_or(i32::MAX)).collect();
        let (one, table) = (scalar.whole(1), Literal::r1(&narrow));
        let table = self.add_with_sharding(table.shape().clone(), Op::constant(table), &[], &one);
        let device = self.add_with_sharding(Shape::scalar(ElementType::U32), Op::PartitionId, &[], scalar);
        let row = ArrayShape::new(ElementType::S32, [1]);
        let row = self.add_with_sharding(row, Op::dynamic_slice([1]), &[table, device], &one);
        self.add_with_sharding(Shape::scalar(ElementType::S32), Op::reshape(), &[row], scalar)
    }

    /// Returns the summands of a value that is split among the devices of each group: each device has its
    /// part at the right position, and zeros elsewhere.
    fn pad_to_position(&mut self, id: InstrId, wanted: &Summands) -> Option<InstrId> {
        let shape = self.array_of(id)?;
        let cut = self.leaf_tiling(id, 0, 0)?;
        let (dim, _) = scattered_to(wanted, &cut, &wanted.groups(), &shape)?;
        let mut dims = shape.dims.clone();
        dims[dim] /= cut.tiles()[dim];
        let there = self.call("Sharding", shape.clone(), id, &cut);
        let part = self.call("SPMDFullToShardShape", shape.with_sizes(&dims), there, &wanted.own);
        let scalar = wanted.own.whole(0);
        let starts: Vec<i64> = cut.places().iter().map(|p| p.tile[dim] * dims[dim]).collect();
        let start = self.of_device(&starts, &scalar);
        let zero = self.add_with_sharding(
            Shape::scalar(ElementType::S32),
            Op::constant(Literal::r0(0i32)),
            &[],
            &scalar,
        );
        let zeros = self.zeros(&shape, &wanted.own)?;
        let mut operands = vec![zeros, part];
        operands.extend((0..shape.rank()).map(|d| if d == dim { start } else { zero }));
        Some(self.add_with_sharding(shape, Op::DynamicUpdateSlice, &operands, &wanted.own))
    }

    /// Returns the sharding of a leaf, from its annotation or that of the values it is passed on from.
    fn leaf_tiling(&self, id: InstrId, leaf: usize, depth: usize) -> Option<TileAssignment> {
        if let Annotation::Plain(tiling) = self.flow.annotation(id, leaf) {
            return Some(tiling.clone());
        }
        let before = |id: InstrId, leaf: usize| self.leaf_tiling(id, leaf, depth + 1);
        let leaves = |id: InstrId| self.module[id].shape.leaf_count();
        if let Some(&argument) = self.arguments.get(&id).filter(|_| depth < MAX_INTERMEDIATE_OPERATIONS) {
            return before(argument, leaf);
        }
        let &first = self.module[id].operands.first().filter(|_| depth < MAX_INTERMEDIATE_OPERATIONS)?;
        match &self.module[id].op {
            Op::Tuple => {
                let mut at = leaf;
                for &o in &self.module[id].operands {
                    match at.checked_sub(leaves(o)) {
                        None => return before(o, at),
                        Some(rest) => at = rest,
                    }
                }
                None
            }
            Op::GetTupleElement(a) => {
                let parts = self.module[first].shape.as_tuple()?;
                let skipped = parts.get(..usize::try_from(a.index).ok()?)?;
                before(first, leaf + skipped.iter().map(Shape::leaf_count).sum::<usize>())
            }
            Op::Call(a) => before(self.module[a.to_apply].root(), leaf),
            Op::OptBarrier => before(first, leaf),
            _ if only_forwards_operand(self.module, id) => before(first, leaf),
            _ => None,
        }
    }

    /// Returns summands of a product or a sum, or of linear operations on one, if each device can compute a
    /// part.
    fn of_parts(&mut self, id: InstrId, wanted: &Summands, depth: usize) -> Option<InstrId> {
        if depth > MAX_INTERMEDIATE_OPERATIONS {
            return None;
        }
        if let Some(before) = self.forwarded_value(id) {
            return self.of_parts(before, wanted, depth + 1);
        }
        let &first = self.module[id].operands.first()?;
        match &self.module[id].op {
            Op::Dot(_) => self.partial(id, wanted),
            Op::Reduce(_) if is_sum(self.module, id) => self.partial(id, wanted),
            Op::Negate | Op::Convert | Op::Transpose(_) | Op::Reshape(_) => {
                summand_operands(self.module, id, |n| n == 0)?;
                let of = self.before(id, wanted)?;
                let operand = self.of_parts(first, &of, depth + 1)?;
                let (shape, op) = (self.shape_of(id), self.module[id].op.clone());
                Some(self.add_with_sharding(shape, op, &[operand], &wanted.own))
            }
            _ => None,
        }
    }

    /// Returns the summands of the single operand for which the result has the summands `wanted`.
    fn before(&self, id: InstrId, wanted: &Summands) -> Option<Summands> {
        let to = self.module[id].shape.as_array()?;
        let from = self.module[*self.module[id].operands.first()?].shape.as_array()?;
        if let Op::Reshape(_) = self.module[id].op {
            let back = |t| reshaped(t, &to.dims, &from.dims).map(|(_, before)| before);
            let (own, summed) = (back(&wanted.own)?, back(&wanted.summed)?);
            return Some(Summands { own, summed }.or_whole(from.rank()));
        }
        Some(self.of_operand(id, 0, wanted))
    }

    /// Emits a product or a sum in which each device combines its part of the operands.
    fn partial(&mut self, id: InstrId, wanted: &Summands) -> Option<InstrId> {
        let shape = self.array_of(id).filter(|a| !a.element_type.is_pred())?;
        let factors = Factors::of(self.module, id)?;
        let combined: Vec<usize> =
            (0..factors.factors.len()).filter(|&f| factors.factors[f].kind == Kind::Combined).collect();
        let cut = self.cut(id, &factors, &combined, &wanted.groups())?;
        let kept = partition_of_summands(&factors, &factors.result, wanted);
        let mut tiles: Dims = kept.summed.tiles().into();
        for (&f, &count) in combined.iter().zip(&cut.tiles) {
            tiles[f] = count;
        }
        let places = kept.summed.places().into_iter().zip(&cut.places).map(|(mut place, along)| {
            for (&f, &at) in combined.iter().zip(along) {
                place.tile[f] = at;
            }
            (place.tile, place.group)
        });
        let all = TileAssignment::of_places(&tiles, kept.summed.groups(), places)?;
        let mut operands = Vec::new();
        for (n, &o) in self.module[id].operands.clone().iter().enumerate() {
            let operand = self.array_of(o)?;
            let walk = &factors.operands[n];
            let size = |(d, &size): (usize, &i64)| match walk[d] {
                Some(f) if combined.contains(&f) => size / tiles[f],
                _ => size,
            };
            let local: Dims = operand.dims.iter().enumerate().map(size).collect();
            let there = self.call("Sharding", operand.clone(), o, &all.select(walk));
            let own = kept.own.select(walk);
            operands.push(self.call("SPMDFullToShardShape", operand.with_sizes(&local), there, &own));
        }
        let op = self.module[id].op.clone();
        Some(self.add_with_sharding(shape, op, &operands, &wanted.own))
    }

    /// Returns how to split the combined factors among each group of devices: as an operand is split, or
    /// along one factor.
    fn cut(&self, id: InstrId, factors: &Factors, combined: &[usize], groups: &Groups) -> Option<Cut> {
        let divides = |f: usize, count: i64| factors.factors[f].size % count == 0;
        for (&o, walk) in self.module[id].operands.iter().zip(&factors.operands) {
            let Annotation::Plain(tiling) = self.flow.annotation(o, 0) else { continue };
            let lifted = factors.lift(walk, tiling);
            let tiles: Vec<i64> = combined.iter().map(|&f| lifted.tiles()[f]).collect();
            let along = |p: &hlo_ir::attr::Place| combined.iter().map(|&f| p.tile[f]).collect();
            let places: Vec<Vec<i64>> = lifted.places().iter().map(along).collect();
            let all_differ = groups.iter().all(|group| {
                let mut parts: Vec<&Vec<i64>> = group.iter().map(|&device| &places[device]).collect();
                parts.sort_unstable();
                parts.dedup();
                parts.len() == group.len() && tiles.iter().product::<i64>() == group.len() as i64
            });
            if all_differ && combined.iter().zip(&tiles).all(|(&f, &count)| divides(f, count)) {
                return Some(Cut { tiles, places });
            }
        }
        let count = groups.first()?.len() as i64;
        let at = combined.iter().position(|&f| divides(f, count))?;
        let tiles = (0..combined.len()).map(|n| if n == at { count } else { 1 }).collect();
        let mut places = vec![vec![0; combined.len()]; self.devices];
        for group in groups {
            for (number, &device) in group.iter().enumerate() {
                places[device][at] = number as i64;
            }
        }
        Some(Cut { tiles, places })
    }
}

/// Returns the dimension along which a reduce-scatter produces the sharding `to`, and the groups in the order
/// of the parts.
fn scattered_to(
    own: &Summands,
    to: &TileAssignment,
    groups: &Groups,
    shape: &ArrayShape,
) -> Option<(usize, Groups)> {
    let (dim, groups) = scattered(&own.summed, groups, to, &shape.dims)?;
    let even = own.own.tiles()[dim] == 1 && shape.dims[dim] % to.tiles()[dim] == 0;
    even.then_some((dim, groups))
}
