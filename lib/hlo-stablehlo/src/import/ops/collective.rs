//! Collectives.

use crate::import::failure::Result;
use crate::import::importer::Importer;
use crate::import::regions::block_of;
use crate::tree::{Attribute, Operation};
use hlo_ir::attr::{
    AllGatherAttrs, AllReduceAttrs, AllToAllAttrs, AsyncDoneAttrs, AsyncStartAttrs, AxisPart, AxisRef,
    CollectiveBroadcastAttrs, CollectivePermuteAttrs, DeviceOrder, HloString, IotaOrder, Mesh, MeshAxis,
    ReduceScatterAttrs, ReplicaGroups, SliceSizes, SourceTargetPairs,
};
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, Dims, InstrId, Op, Shape};

impl<'t> Importer<'t> {
    pub(super) fn all_gather(&mut self, op: &Operation) -> Result<()> {
        let operands = self.operands(op)?;
        self.set_results_op(op, Op::AllGather(Box::new(all_gather_attrs(op)?)), &operands)
    }

    pub(super) fn all_reduce(&mut self, op: &'t Operation) -> Result<()> {
        let attrs = self.all_reduce_attrs(op)?;
        let operands = self.operands(op)?;
        self.set_results_op(op, Op::AllReduce(Box::new(attrs)), &operands)
    }

    fn all_reduce_attrs(&mut self, op: &'t Operation) -> Result<AllReduceAttrs> {
        Ok(AllReduceAttrs {
            channel_id: channel(op)?,
            replica_groups: self.groups(op)?,
            use_global_device_ids: op.flag("use_global_device_ids")?,
            to_apply: self.applied(op, 0)?,
            ..AllReduceAttrs::default()
        })
    }

    /// Translates the sum over replicas of early versions.
    pub(super) fn cross_replica_sum(&mut self, op: &Operation) -> Result<()> {
        let operands = self.operands(op)?;
        let ty = operands.first().and_then(|&o| self.array_of(o)).map(|a| a.element_type);
        let ty = ty.ok_or_else(|| op.failure("its operand is no array"))?;
        let to_apply = self.sum_of_two(ty);
        let attrs =
            AllReduceAttrs { replica_groups: self.groups(op)?, to_apply, ..AllReduceAttrs::default() };
        self.set_result_op(op, Op::AllReduce(Box::new(attrs)), &operands)
    }

    /// Creates a computation that adds two scalars.
    pub(super) fn sum_of_two(&mut self, ty: hlo_ir::ElementType) -> hlo_ir::ComputationId {
        let name = self.names.fresh("sum");
        let computation = self.module.add_computation(&name);
        let around = std::mem::replace(&mut self.site, crate::import::importer::Site::new(computation));
        let scalar = Shape::scalar(ty);
        let both = [0, 1].map(|n| self.add(scalar.clone(), Op::parameter(n), &[]));
        let sum = self.add(scalar, Op::Add, &both);
        self.site = around;
        self.module.set_root(computation, sum);
        computation
    }

    pub(super) fn reduce_scatter(&mut self, op: &'t Operation) -> Result<()> {
        let to_apply = self.applied(op, 0)?;
        let operands = self.operands(op)?;
        let attrs = ReduceScatterAttrs {
            channel_id: channel(op)?,
            replica_groups: self.groups(op)?,
            use_global_device_ids: op.flag("use_global_device_ids")?,
            dimensions: Dims::from_slice(&[op.int("scatter_dimension")?]),
            to_apply,
            ..ReduceScatterAttrs::default()
        };
        self.set_results_op(op, Op::ReduceScatter(Box::new(attrs)), &operands)
    }

    /// Translates `all_to_all`. HLO's operation concatenates the parts along the dimension that it splits. If
    /// the operation concatenates along another dimension, the parts are moved there.
    pub(super) fn all_to_all(&mut self, op: &Operation) -> Result<()> {
        let operands = self.operands(op)?;
        let split = op.int("split_dimension")?;
        let attrs = AllToAllAttrs {
            channel_id: channel(op)?,
            replica_groups: self.groups(op)?,
            dimensions: Dims::from_slice(&[split]),
            ..AllToAllAttrs::default()
        };
        let [operand] = operands[..] else {
            // Each operand is a part, so the operation does not split them.
            let attrs = AllToAllAttrs { dimensions: Dims::new(), ..attrs };
            return self.set_results_op(op, Op::AllToAll(Box::new(attrs)), &operands);
        };
        let shape = self.shape_of(operand);
        let exchanged = self.add(shape, Op::AllToAll(Box::new(attrs)), &[operand]);
        let concat = op.int("concat_dimension")?;
        let moved = if split == concat { exchanged } else { self.move_parts(op, exchanged, split, concat)? };
        self.set_result(op, moved)
    }

    /// Moves the parts of an array from one dimension, which becomes smaller, to another, which becomes
    /// larger.
    fn move_parts(&mut self, op: &Operation, id: InstrId, split: i64, concat: i64) -> Result<InstrId> {
        let array = self.array(op, id)?;
        let count = op.int("split_count")?;
        let rank = array.rank();
        let dim = |d: i64| usize::try_from(d).ok().filter(|&d| d < rank);
        let (Some(from), Some(to)) = (dim(split), dim(concat)) else {
            return op.fail(format!("{split} and {concat} are no dimensions of {array}"));
        };
        if count < 1 || array.dims[from] % count != 0 {
            return op.fail(format!("dimension {split} of {array} is not cut into {count} parts"));
        }
        let ty = array.element_type;
        let mut parts = array.dims.clone();
        parts[from] /= count;
        let mut joined = parts.clone();
        parts.insert(from, count);
        joined[to] = joined[to].saturating_mul(count);
        let apart = self.add(ArrayShape::new(ty, parts.iter().copied()), Op::reshape(), &[id]);
        // The dimension of the parts is moved right before the one along which they are concatenated.
        let mut order: Vec<usize> = (0..=rank).filter(|&d| d != from).collect();
        order.insert(to, from);
        let moved = ArrayShape::new(ty, order.iter().map(|&d| parts[d]));
        let moved = self.add(moved, Op::transpose(order.iter().map(|&d| d as i64)), &[apart]);
        Ok(self.add(ArrayShape::new(ty, joined), Op::reshape(), &[moved]))
    }

    pub(super) fn collective_broadcast(&mut self, op: &Operation) -> Result<()> {
        let operands = self.operands(op)?;
        let attrs = CollectiveBroadcastAttrs {
            channel_id: channel(op)?,
            replica_groups: self.groups(op)?,
            has_dynamic_root: op.flag("has_dynamic_root")?,
        };
        self.set_results_op(op, Op::CollectiveBroadcast(Box::new(attrs)), &operands)
    }

    pub(super) fn collective_permute(&mut self, op: &Operation) -> Result<()> {
        let operands = self.operands(op)?;
        self.set_result_op(op, Op::CollectivePermute(Box::new(permute_attrs(op)?)), &operands)
    }

    /// Translates `async_start`: starts the collective in its region.
    pub(super) fn async_start(&mut self, op: &'t Operation) -> Result<()> {
        let operands = self.operands(op)?;
        let block = block_of(op, 0)?;
        let [collective, _] = &block.operations[..] else {
            return op.fail("its region is one collective and a `return`");
        };
        let hlo = match &*collective.name {
            "stablehlo.all_gather" => Op::AllGatherStart(Box::new(all_gather_attrs(collective)?)),
            "stablehlo.all_reduce" => Op::AllReduceStart(Box::new(self.all_reduce_attrs(collective)?)),
            "stablehlo.collective_permute" => {
                Op::CollectivePermuteStart(Box::new(permute_attrs(collective)?))
            }
            "stablehlo.all_to_all" | "stablehlo.collective_broadcast" | "stablehlo.reduce_scatter" => {
                return self.generic_start(op, &operands);
            }
            other => return op.fail(format!("`{other}` does not run asynchronously")),
        };
        let shape = match &hlo {
            // Only the type contains the shape of the result.
            Op::AllGatherStart(_) | Op::CollectivePermuteStart(_) => {
                let mut inputs: Vec<Shape> = operands.iter().map(|&o| self.shape_of(o)).collect();
                let inputs = if inputs.len() == 1 { inputs.remove(0) } else { Shape::tuple(inputs) };
                Shape::tuple(vec![inputs, self.declared(op, 0)?])
            }
            _ => self.inferred(op, &hlo, &operands)?,
        };
        let id = self.add(shape, hlo, &operands);
        self.set_result(op, id)
    }

    fn generic_start(&mut self, op: &'t Operation, operands: &[InstrId]) -> Result<()> {
        let calls = self.applied(op, 0)?;
        let inputs = operands.iter().map(|&o| self.shape_of(o)).collect::<Vec<_>>();
        let result = self.shape_of(self.module[calls].root());
        let shape = Shape::tuple(vec![Shape::tuple(inputs), result]);
        let attrs = AsyncStartAttrs { calls: Some(calls), ..AsyncStartAttrs::default() };
        let id = self.add(shape, Op::AsyncStart(attrs), operands);
        self.set_result(op, id)
    }

    pub(super) fn async_done(&mut self, op: &Operation) -> Result<()> {
        let start = self.operand(op, 0)?;
        let hlo = match &self.module[start].op {
            Op::AllGatherStart(_) => Op::AllGatherDone,
            Op::AllReduceStart(_) => Op::AllReduceDone,
            Op::CollectivePermuteStart(_) => Op::CollectivePermuteDone,
            Op::AsyncStart(_) => Op::AsyncDone(AsyncDoneAttrs::default()),
            _ => return op.fail("its operand is not what `stablehlo.async_start` gives"),
        };
        let shape = self.declared_results(op)?;
        let id = self.add(shape, hlo, &[start]);
        self.set_result_or_elements(op, id)
    }

    /// Reads the groups of devices.
    fn groups(&self, op: &Operation) -> Result<ReplicaGroups> {
        match op.attribute("replica_groups") {
            Some(attribute) => groups_of(op, attribute),
            None => Ok(ReplicaGroups::default()),
        }
    }
}

fn all_gather_attrs(op: &Operation) -> Result<AllGatherAttrs> {
    Ok(AllGatherAttrs {
        channel_id: channel(op)?,
        replica_groups: op
            .attribute("replica_groups")
            .map_or(Ok(ReplicaGroups::default()), |g| groups_of(op, g))?,
        dimensions: Dims::from_slice(&[op.int("all_gather_dim")?]),
        use_global_device_ids: op.flag("use_global_device_ids")?,
        ..AllGatherAttrs::default()
    })
}

fn permute_attrs(op: &Operation) -> Result<CollectivePermuteAttrs> {
    let pairs = op.rows("source_target_pairs")?;
    let pair = |p: &Vec<i64>| match p[..] {
        [from, to] => Ok((from, to)),
        _ => op.fail("the attribute `source_target_pairs` is no list of pairs"),
    };
    Ok(CollectivePermuteAttrs {
        channel_id: channel(op)?,
        source_target_pairs: SourceTargetPairs(pairs.iter().map(pair).collect::<Result<_>>()?),
        slice_sizes: SliceSizes::default(),
    })
}

/// Reads the channel of a collective. Returns `None` if its number is not positive.
fn channel(op: &Operation) -> Result<Option<i64>> {
    match op.structure_if_any("channel_handle", "stablehlo.channel_handle")? {
        Some(handle) => Ok(Some(handle.int("handle")?).filter(|&id| id > 0)),
        None => Ok(None),
    }
}

/// Reads groups of devices: the rows of a matrix, in which -1 fills up shorter rows, or axes of a mesh.
pub fn groups_of(op: &Operation, attribute: &Attribute) -> Result<ReplicaGroups> {
    if let Some(fields) = attribute.fields("stablehlo.replica_group_mesh_axes") {
        let groups = mesh_groups(fields.get("mesh"), fields.get("axes"));
        return groups.map_err(|why| op.failure(format!("the attribute `replica_groups`: {why}")));
    }
    let Attribute::Elements(elements) = attribute else {
        return op.fail("the attribute `replica_groups` is no matrix of devices");
    };
    let (sizes, ids) = (elements.ty.as_tensor().map(|t| &t.dims[..]), elements.ints());
    let (Some(&[count, size]), Some(ids)) = (sizes, ids) else {
        return op.fail("the attribute `replica_groups` is no matrix of devices");
    };
    let size = usize::try_from(size).unwrap_or(0);
    if size == 0 || count == 0 {
        return Ok(ReplicaGroups::default());
    }
    let group = |row: &[i64]| row.iter().copied().filter(|&id| id != -1).collect();
    Ok(ReplicaGroups::Lists(ids.chunks(size).map(group).collect()))
}

/// Returns groups of the devices that differ only along the given axes of a mesh.
fn mesh_groups(
    mesh: Option<&Attribute>,
    axes: Option<&Attribute>,
) -> std::result::Result<ReplicaGroups, String> {
    let mesh = mesh.and_then(|m| m.fields("stablehlo.mesh")).ok_or("its mesh is no `stablehlo.mesh`")?;
    let axis = |a: &Attribute| {
        let fields = a.fields("stablehlo.mesh_axis")?;
        Some(MeshAxis {
            name: HloString::from(fields.get("name")?.as_str()?),
            size: fields.get("size")?.as_int()?,
        })
    };
    let list = mesh.get("axes").and_then(Attribute::as_array).unwrap_or_default();
    let mesh_axes: Option<Vec<MeshAxis>> = list.iter().map(axis).collect();
    let ids = mesh.get("device_ids").and_then(Attribute::ints).filter(|ids| !ids.is_empty());
    let order = |ids: Vec<i64>| IotaOrder::of_list(&ids).map_or(DeviceOrder::List(ids), DeviceOrder::Iota);
    let mesh = Mesh {
        axes: mesh_axes.ok_or("an axis of its mesh has no name or size")?,
        device_ids: ids.map(order),
    };
    let part = |a: &Attribute| {
        let fields = a.fields("stablehlo.axis_ref")?;
        let name = fields.get("name")?.as_str()?;
        let axis = mesh.axes.iter().position(|m| m.name == name)?;
        let part = match fields.get("sub_axis_info").and_then(|s| s.fields("stablehlo.sub_axis_info")) {
            Some(sub) => {
                Some(AxisPart { before: sub.get("pre_size")?.as_int()?, size: sub.get("size")?.as_int()? })
            }
            None => None,
        };
        Some(AxisRef { axis, part })
    };
    let axes: Option<Vec<AxisRef>> =
        axes.and_then(Attribute::as_array).unwrap_or_default().iter().map(part).collect();
    let axes = axes.ok_or("an axis is none of its mesh")?;
    Ok(ReplicaGroups::Mesh { mesh: Box::new(mesh), axes })
}
