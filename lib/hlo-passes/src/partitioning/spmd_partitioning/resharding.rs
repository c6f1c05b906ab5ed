//! Converts a value from one sharding to another.

use super::collectives::groups_by;
use super::partitioner::{INDEX_TYPE, Partitioner, Rematerialization};
use super::plan::{Plan, Step, plan};
use super::value::Part;
use hlo_ir::attr::{ComparisonDirection, PaddingDim, SliceDim, TileAssignment};
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, Dims, InstrId, Op};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

impl Partitioner<'_> {
    /// Returns the value in another sharding.
    pub(super) fn reshard(&mut self, part: &Part, to: &TileAssignment) -> Part {
        if part.tiling == *to || part.tiling.rank() != to.rank() {
            return part.clone();
        }
        let origin = self.origin(part);
        if let Some(remake) = self.scope.remade.get(&origin).cloned() {
            return self.remade(part, to, &remake);
        }
        let mut at = self.nearest(part, to).0;
        for (step, next) in &self.plan(&at, to).steps {
            let key = (at.id, next.clone());
            let id = match self.scope.resharded.get(&key) {
                Some(&known) => known,
                None => {
                    let made = self.step(&at, step, next);
                    self.scope.resharded.insert(key, made);
                    self.scope.origins.insert(made, origin);
                    let version = Part { id: made, shape: at.shape.clone(), tiling: next.clone() };
                    self.scope.versions.entry(origin).or_insert_with(|| vec![part.clone()]).push(version);
                    made
                }
            };
            at = Part { id, shape: at.shape, tiling: next.clone() };
        }
        Part { tiling: to.clone(), ..at }
    }

    fn origin(&self, part: &Part) -> InstrId {
        self.scope.origins.get(&part.id).copied().unwrap_or(part.id)
    }

    /// Returns the available version of a value that is cheapest to convert to a sharding, and the number of
    /// elements that a device then receives.
    fn nearest(&self, part: &Part, to: &TileAssignment) -> (Part, f64) {
        let own = self.plan(part, to).cost;
        let mut best = (part.clone(), own);
        for version in self.scope.versions.get(&self.origin(part)).into_iter().flatten() {
            if best.1 <= 0.0 {
                break;
            }
            // A version with other groups may have another value, because manual regions define the values of
            // groups.
            if version.tiling.groups() == part.tiling.groups() {
                let cost = if version.tiling == *to { 0.0 } else { self.plan(version, to).cost };
                if cost < best.1 {
                    best = (version.clone(), cost);
                }
            }
        }
        best
    }

    /// Emits a value again, in another sharding.
    fn remade(&mut self, part: &Part, to: &TileAssignment, remake: &Rematerialization) -> Part {
        let key = (self.origin(part), to.clone());
        if let Some(&known) = self.scope.resharded.get(&key) {
            return Part { id: known, shape: part.shape.clone(), tiling: to.clone() };
        }
        let made = match remake {
            Rematerialization::Splat(scalar) => {
                let local = self.shard_shape(&part.shape, to);
                let id = self.add(local, Op::broadcast([]), &[*scalar]);
                self.made(id, &part.shape, to)
            }
            Rematerialization::Count(along) => self.counted(&part.shape, to, *along),
            Rematerialization::Broadcast(of, dims) => {
                let of = self.reshard(of, &before_broadcast(to, dims));
                let local = self.shard_shape(&part.shape, to);
                let id = self.add(local, Op::broadcast(dims.iter().copied()), &[of.id]);
                self.made(id, &part.shape, to)
            }
        };
        self.scope.origins.insert(made.id, key.0);
        self.scope.resharded.insert(key, made.id);
        made
    }

    fn plan(&self, part: &Part, to: &TileAssignment) -> Rc<Plan> {
        self.resharding_plan(&part.tiling, to, &part.shape.dims)
    }

    /// Returns the plan between two shardings of an array with these sizes.
    pub(super) fn resharding_plan(
        &self,
        from: &TileAssignment,
        to: &TileAssignment,
        dims: &Dims,
    ) -> Rc<Plan> {
        let way = (from.clone(), to.clone(), dims.clone());
        let mut plans = self.plans.borrow_mut();
        plans.entry(way).or_insert_with(|| Rc::new(plan(from, to, dims))).clone()
    }

    /// Returns the number of bytes that a device receives to convert the value to a sharding. It is 0 if this
    /// was done before.
    pub(super) fn reshard_cost(&self, part: &Part, to: &TileAssignment) -> f64 {
        if part.tiling == *to {
            return 0.0;
        }
        match self.scope.remade.get(&self.origin(part)) {
            Some(Rematerialization::Broadcast(of, dims)) => {
                return self.reshard_cost(of, &before_broadcast(to, dims));
            }
            Some(_) => return 0.0,
            None => {}
        }
        self.nearest(part, to).1 * part.shape.element_type.byte_size() as f64
    }

    fn step(&mut self, at: &Part, step: &Step, next: &TileAssignment) -> InstrId {
        match *step {
            Step::Slice => self.cut(at, next),
            Step::Gather { dim, count } => self.gather(at, dim, count),
            Step::Exchange { from, to, count } => self.exchange(at, from, to, count),
            Step::Permute => self.send_tiles(at, next),
        }
    }

    /// Slices each device's new tile from its larger current tile.
    fn cut(&mut self, at: &Part, next: &TileAssignment) -> InstrId {
        let (have, want) = (at.local_dims(), next.shard(&at.shape.dims));
        let (places, targets) = (at.tiling.places(), next.places());
        let mut filled = have.clone();
        let mut starts = Vec::with_capacity(have.len());
        for d in 0..have.len() {
            filled[d] = (next.tiles()[d] / at.tiling.tiles()[d]).max(1) * want[d];
            let start = places.iter().zip(&targets).map(|(p, t)| t.tile[d] * want[d] - p.tile[d] * have[d]);
            starts.push(start.collect::<Vec<i64>>());
        }
        let value = self.pad_end(at.id, &filled);
        let starts: Vec<InstrId> = starts.into_iter().map(|s| self.of_device(s)).collect();
        let shape = ArrayShape::new(at.shape.element_type, want.iter().copied());
        let operands: Vec<InstrId> = [value].into_iter().chain(starts).collect();
        self.add(shape, Op::dynamic_slice(want), &operands)
    }

    /// Gathers adjacent tiles along a dimension.
    fn gather(&mut self, at: &Part, dim: usize, count: i64) -> InstrId {
        let groups = groups_by(&at.tiling, |p| coarse(p.tile.clone(), dim, count), |p| p.tile[dim]);
        let gathered = self.all_gather(at.id, dim, &groups);
        self.shortened(gathered, dim, at, count)
    }

    /// Removes the padding behind the end of the array if the dimension is no longer split.
    fn shortened(&mut self, value: InstrId, dim: usize, at: &Part, count: i64) -> InstrId {
        let (size, tiles) = (at.shape.dims[dim], at.tiling.tiles()[dim]);
        match self.array_of(value) {
            Some(a) if tiles == count && a.dims[dim] > size => self.sliced(value, dim, 0, size),
            _ => value,
        }
    }

    /// Gathers tiles along one dimension, while each device keeps only a part along another.
    fn exchange(&mut self, at: &Part, from: usize, to: usize, count: i64) -> InstrId {
        let groups = groups_by(&at.tiling, |p| coarse(p.tile.clone(), from, count), |p| p.tile[from]);
        let local = at.local_dims();
        // Make the parts a dimension of their own. The all-to-all turns it into a dimension of source
        // devices.
        let size = at.shape.dims[to];
        let tiles = at.tiling.tiles()[to] * count;
        let part = size / tiles + i64::from(size % tiles != 0);
        let mut filled = local.clone();
        filled[to] = part * count;
        let value = self.pad_end(at.id, &filled);
        let mut apart: Vec<i64> = filled.to_vec();
        apart.splice(to..=to, [count, part]);
        let ty = at.shape.element_type;
        let value = self.add(ArrayShape::new(ty, apart.iter().copied()), Op::reshape(), &[value]);
        let sent = self.all_to_all(value, to, &groups);
        // The source device is more significant than the position in the tile.
        let mut order: Vec<usize> = (0..apart.len()).filter(|&d| d != to).collect();
        let place = from + usize::from(from > to);
        let at_place = order.iter().position(|&d| d == place).unwrap_or(0);
        order.insert(at_place, to);
        let turned = ArrayShape::new(ty, order.iter().map(|&d| apart[d]));
        let turned = self.add(turned, Op::transpose(order.iter().map(|&d| d as i64)), &[sent]);
        let mut joined = local;
        joined[to] = part;
        joined[from] *= count;
        let joined = self.add(ArrayShape::new(ty, joined), Op::reshape(), &[turned]);
        self.shortened(joined, from, at, count)
    }

    /// Sends tiles from devices that have them to devices that need them.
    fn send_tiles(&mut self, at: &Part, next: &TileAssignment) -> InstrId {
        let (places, targets) = (at.tiling.places(), next.places());
        let mut pairs = Vec::with_capacity(places.len());
        let mut owners: BTreeMap<(Vec<i64>, usize), VecDeque<usize>> = BTreeMap::new();
        for (device, (p, t)) in places.iter().zip(&targets).enumerate() {
            if p.tile == t.tile {
                pairs.push((device, device))
            } else {
                owners.entry((p.tile.to_vec(), p.group)).or_default().push_back(device)
            }
        }
        for (device, (p, t)) in places.iter().zip(&targets).enumerate() {
            let others = owners.get_mut(&(t.tile.to_vec(), t.group)).filter(|_| p.tile != t.tile);
            if let Some(owner) = others.and_then(VecDeque::pop_front) {
                pairs.push((owner, device));
            }
        }
        pairs.sort_unstable();
        self.permute(at.id, &pairs)
    }

    /// Pads the end of each dimension up to these sizes. The contents of the padding are unspecified.
    pub(super) fn pad_end(&mut self, value: InstrId, dims: &[i64]) -> InstrId {
        let Some(shape) = self.array_of(value) else { return value };
        if shape.dims[..] == *dims {
            return value;
        }
        let padding = shape
            .dims
            .iter()
            .zip(dims)
            .map(|(have, want)| PaddingDim { high: want - have, ..PaddingDim::default() });
        let padding = padding.collect();
        match self.zero(shape.element_type) {
            Some(zero) => {
                let shape = ArrayShape::new(shape.element_type, dims.iter().copied());
                self.add(shape, Op::pad(padding), &[value, zero])
            }
            None => value,
        }
    }

    /// Slices `size` elements from `start` along a dimension.
    pub(super) fn sliced(&mut self, value: InstrId, dim: usize, start: i64, size: i64) -> InstrId {
        let Some(shape) = self.array_of(value) else { return value };
        let whole = |(d, &size_of): (usize, &i64)| {
            if d == dim {
                SliceDim { start, limit: start + size, stride: 1 }
            } else {
                SliceDim { start: 0, limit: size_of, stride: 1 }
            }
        };
        let ranges: Vec<SliceDim> = shape.dims.iter().enumerate().map(whole).collect();
        let mut dims: Dims = shape.dims.clone();
        if start == 0 && dims[dim] == size {
            return value;
        }
        dims[dim] = size;
        self.add(ArrayShape::new(shape.element_type, dims), Op::slice(ranges), &[value])
    }

    /// Replaces the padding of tiles along some dimensions by a scalar.
    pub(super) fn masked(&mut self, part: &Part, dims: &[usize], fill: InstrId) -> InstrId {
        let local = part.local_dims();
        let mut value = part.id;
        for &d in dims.iter().filter(|&&d| part.is_filled_up(d)) {
            let start = self.tile_start(part, d);
            let index = self.global_index(&local, d, start);
            let inside = self.compared(index, ComparisonDirection::Lt, part.shape.dims[d], &local);
            value = self.select(inside, value, fill, &local);
        }
        value
    }

    /// Emits the index of each element of a tile in the whole array, along a dimension.
    pub(super) fn global_index(&mut self, local: &[i64], d: usize, start: InstrId) -> InstrId {
        let index = self.iota(INDEX_TYPE, local, d);
        let start = self.spread(start, local);
        self.same(Op::Add, &[index, start])
    }

    /// Compares indices with a number.
    pub(super) fn compared(
        &mut self,
        index: InstrId,
        direction: ComparisonDirection,
        number: i64,
        dims: &[i64],
    ) -> InstrId {
        let number = self.index(number);
        let number = self.spread(number, dims);
        let shape = ArrayShape::new(hlo_ir::ElementType::Pred, dims.iter().copied());
        self.add(shape, Op::compare(direction), &[index, number])
    }

    /// Selects elements of `value` where the condition is true, and a scalar elsewhere.
    pub(super) fn select(
        &mut self,
        condition: InstrId,
        value: InstrId,
        other: InstrId,
        dims: &[i64],
    ) -> InstrId {
        let other = self.spread(other, dims);
        let shape = self.shape_of(value);
        self.add(shape, Op::Select, &[condition, value, other])
    }
}

/// Returns the tile assignment of a broadcast's operand for a tile assignment of its result. `dims` maps the
/// dimensions.
fn before_broadcast(to: &TileAssignment, dims: &[i64]) -> TileAssignment {
    let from: Vec<Option<usize>> = dims.iter().map(|&d| usize::try_from(d).ok()).collect();
    to.select(&from)
}

/// Returns the place of a tile among tiles that are `count` times as large along a dimension.
fn coarse(mut tile: Dims, dim: usize, count: i64) -> Dims {
    tile[dim] /= count;
    tile
}
