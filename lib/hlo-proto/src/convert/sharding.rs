//! Shardings.

use super::Result;
use super::devices::{narrowed, read_axes, read_iota, read_mesh, write_axes, write_iota, write_mesh};
use super::metadata::{Payloads, write_metadata};
use crate::messages::{
    DimensionSharding, NamedShardingProto, OpMetadataProto, OpSharding, ShardGroupType, ShardingType,
};
use hlo_ir::attr::{
    AxesSharding, AxisRef, DeviceOrder, DimensionAxes, Mesh, NamedSharding, OpMetadata, ShardGroup, Sharding,
    ShardingKind, SingleSharding, Subgroup, TiledSharding, UnreducedKind, WholeMesh,
};
use std::sync::Arc;

/// Reads a sharding.
///
/// # Errors
/// A message if the devices, tiles or axes do not fit together.
pub fn read_sharding(proto: &OpSharding, payloads: Payloads<'_>) -> Result<Sharding> {
    if proto.r#type == ShardingType::TUPLE {
        let leaf = |proto: &OpSharding| read_single(proto, payloads).map(Arc::new);
        return proto.tuple_shardings.iter().map(leaf).collect::<Result<_>>().map(Sharding::Tuple);
    }
    read_single(proto, payloads).map(|one| Sharding::Single(Arc::new(one)))
}

fn read_single(proto: &OpSharding, payloads: Payloads<'_>) -> Result<SingleSharding> {
    let metadata =
        |list: &[OpMetadataProto]| list.iter().map(|m| payloads.metadata(m)).collect::<Result<Vec<_>>>();
    if let Some(named) = &proto.named_sharding {
        let kind = ShardingKind::Named(read_named(named)?);
        return Ok(SingleSharding { kind, group: None, metadata: metadata(&named.metadata)? });
    }
    let kind = match proto.r#type {
        ShardingType::REPLICATED => ShardingKind::Replicated,
        ShardingType::MANUAL => ShardingKind::Manual,
        ShardingType::UNKNOWN => ShardingKind::Unknown,
        ShardingType::UNREDUCED => ShardingKind::Unreduced,
        ShardingType::MAXIMAL => match proto.tile_assignment_devices[..] {
            [device] => ShardingKind::Maximal(device),
            _ => return Err("a maximal sharding names one device".into()),
        },
        ShardingType::OTHER => ShardingKind::Tiled(read_tiled(proto)?),
        ShardingType::TUPLE => return Err("the sharding of a tuple is within that of another one".into()),
        other => return Err(format!("{other} is no type of sharding")),
    };
    let same = proto.shard_group_type == ShardGroupType::AS;
    let group = proto.is_shard_group.then_some(ShardGroup { id: proto.shard_group_id, same });
    Ok(SingleSharding { kind, group, metadata: metadata(&proto.metadata)? })
}

fn read_tiled(proto: &OpSharding) -> Result<TiledSharding> {
    let tiles = super::dims(&proto.tile_assignment_dimensions);
    let devices = match &proto.iota_reshape_dims[..] {
        [] => DeviceOrder::List(proto.tile_assignment_devices.clone()),
        reshape => {
            let transpose = proto.iota_transpose_perm.iter().map(|&d| d.into());
            DeviceOrder::Iota(read_iota(reshape, transpose)?)
        }
    };
    let subgroup = |&number: &i32| match number {
        ShardingType::REPLICATED => Ok(Subgroup::Replicated),
        ShardingType::MANUAL => Ok(Subgroup::Manual),
        ShardingType::UNREDUCED => Ok(Subgroup::Unreduced),
        ShardingType::MAXIMAL => Ok(Subgroup::Maximal),
        other => Err(format!("{other} is no type of the last dimensions of tiles")),
    };
    let subgroups = if proto.replicate_on_last_tile_dim {
        vec![Subgroup::Replicated]
    } else {
        proto.last_tile_dims.iter().map(subgroup).collect::<Result<_>>()?
    };
    let sharding = TiledSharding { tiles, subgroups, devices };
    if sharding.tiles.iter().any(|&n| n < 0) || sharding.subgroups.len() > sharding.tiles.len() {
        return Err(format!("{:?} are no numbers of tiles", &sharding.tiles[..]));
    }
    if sharding.device_count().is_none() || sharding.device_count() != sharding.devices.count() {
        return Err(format!("{:?} tiles do not lie on as many devices", &sharding.tiles[..]));
    }
    Ok(sharding)
}

fn read_named(proto: &NamedShardingProto) -> Result<NamedSharding> {
    let Some(mesh_proto) = &proto.mesh else { return Err("a sharding along axes has no mesh".into()) };
    if let ([], [device]) = (&mesh_proto.axes[..], &mesh_proto.device_ids[..]) {
        return Ok(NamedSharding::Maximal(*device));
    }
    let mesh = read_mesh(mesh_proto)?;
    let dimension =
        |d: &DimensionSharding| Ok(DimensionAxes { axes: read_axes(&d.axes, &mesh)?, open: !d.is_closed });
    let axes = AxesSharding {
        dimensions: proto.dim_shardings.iter().map(dimension).collect::<Result<_>>()?,
        replicated: read_axes(&proto.replicated_axes, &mesh)?,
        unreduced: read_axes(&proto.unreduced_axes, &mesh)?,
        unreduced_kind: read_kind(&proto.unreduced_kind)?,
        manual: read_axes(&proto.manual_axes, &mesh)?,
        mesh,
    };
    Ok(match whole_mesh(&axes) {
        Some(whole) => NamedSharding::Whole(Box::new(axes.mesh), whole),
        None => NamedSharding::Axes(Box::new(axes)),
    })
}

/// Reads the reduction kind of unreduced values. XLA's message has no field for it; the project adds its own.
fn read_kind(word: &str) -> Result<Option<UnreducedKind>> {
    if word.is_empty() {
        return Ok(None);
    }
    let known = UnreducedKind::ALL.iter().copied().find(|k| k.text() == word);
    known.map(Some).ok_or_else(|| {
        format!("summands are put together by {}, not by `{word}`", UnreducedKind::WORDS.join(", "))
    })
}

/// Returns the state that all devices share, if the sharding contains nothing else.
fn whole_mesh(axes: &AxesSharding) -> Option<WholeMesh> {
    let all = whole_axes(&axes.mesh);
    let lists = (&axes.replicated[..], &axes.unreduced[..], &axes.manual[..]);
    match lists {
        _ if !axes.dimensions.is_empty() => None,
        ([], [], []) => Some(WholeMesh::Replicated),
        ([], unreduced, []) if unreduced == all => Some(WholeMesh::Unreduced),
        ([], [], manual) if manual == all => Some(WholeMesh::Manual),
        _ => None,
    }
}

/// Returns references to all axes of a mesh.
fn whole_axes(mesh: &Mesh) -> Vec<AxisRef> {
    (0..mesh.axes.len()).map(|axis| AxisRef { axis, part: None }).collect()
}

/// Writes a sharding. Appends the byte strings that its metadata refers to to `payloads`.
pub fn write_sharding(sharding: &Sharding, payloads: &mut Vec<Vec<u8>>) -> OpSharding {
    match sharding {
        Sharding::Single(one) => write_single(one, payloads),
        Sharding::Tuple(leaves) => OpSharding {
            r#type: ShardingType::TUPLE,
            tuple_shardings: leaves.iter().map(|leaf| write_single(leaf, payloads)).collect(),
            ..OpSharding::default()
        },
    }
}

fn write_single(sharding: &SingleSharding, payloads: &mut Vec<Vec<u8>>) -> OpSharding {
    let mut proto = OpSharding::default();
    let mut metadata = |list: &[OpMetadata]| list.iter().map(|m| write_metadata(m, payloads)).collect();
    match &sharding.kind {
        ShardingKind::Replicated => proto.r#type = ShardingType::REPLICATED,
        ShardingKind::Manual => proto.r#type = ShardingType::MANUAL,
        ShardingKind::Unknown => proto.r#type = ShardingType::UNKNOWN,
        ShardingKind::Unreduced => proto.r#type = ShardingType::UNREDUCED,
        ShardingKind::Maximal(device) => {
            proto.r#type = ShardingType::MAXIMAL;
            proto.tile_assignment_devices = vec![*device];
        }
        ShardingKind::Tiled(tiled) => write_tiled(tiled, &mut proto),
        ShardingKind::Named(named) => {
            let metadata = metadata(&sharding.metadata);
            proto.named_sharding = Some(Box::new(NamedShardingProto { metadata, ..write_named(named) }));
            return proto;
        }
    }
    if let Some(group) = sharding.group {
        proto.is_shard_group = true;
        proto.shard_group_id = group.id;
        proto.shard_group_type = if group.same { ShardGroupType::AS } else { ShardGroupType::LIKE };
    }
    proto.metadata = metadata(&sharding.metadata);
    proto
}

fn write_tiled(tiled: &TiledSharding, proto: &mut OpSharding) {
    proto.r#type = ShardingType::OTHER;
    proto.tile_assignment_dimensions = tiled.tiles.to_vec();
    match &tiled.devices {
        DeviceOrder::List(list) => proto.tile_assignment_devices = list.clone(),
        DeviceOrder::Iota(order) => {
            let (reshape, transpose) = write_iota(order);
            proto.iota_reshape_dims = reshape;
            proto.iota_transpose_perm = narrowed(&transpose);
        }
    }
    match &tiled.subgroups[..] {
        [Subgroup::Replicated] => proto.replicate_on_last_tile_dim = true,
        subgroups => {
            let number = |kind: &Subgroup| match kind {
                Subgroup::Maximal => ShardingType::MAXIMAL,
                Subgroup::Manual => ShardingType::MANUAL,
                Subgroup::Unreduced => ShardingType::UNREDUCED,
                Subgroup::Replicated => ShardingType::REPLICATED,
            };
            proto.last_tile_dims = subgroups.iter().map(number).collect();
        }
    }
}

fn write_named(named: &NamedSharding) -> NamedShardingProto {
    let of = |mesh: &Mesh| NamedShardingProto {
        mesh: Some(Box::new(write_mesh(mesh))),
        ..NamedShardingProto::default()
    };
    match named {
        NamedSharding::Maximal(device) => {
            let devices = DeviceOrder::List(vec![*device]);
            of(&Mesh { axes: Vec::new(), device_ids: Some(devices) })
        }
        NamedSharding::Whole(mesh, whole) => {
            let all = write_axes(&whole_axes(mesh));
            match whole {
                WholeMesh::Replicated => of(mesh),
                WholeMesh::Manual => NamedShardingProto { manual_axes: all, ..of(mesh) },
                WholeMesh::Unreduced => NamedShardingProto { unreduced_axes: all, ..of(mesh) },
            }
        }
        NamedSharding::Axes(axes) => {
            let dimension =
                |d: &DimensionAxes| DimensionSharding { axes: write_axes(&d.axes), is_closed: !d.open };
            NamedShardingProto {
                dim_shardings: axes.dimensions.iter().map(dimension).collect(),
                replicated_axes: write_axes(&axes.replicated),
                unreduced_axes: write_axes(&axes.unreduced),
                unreduced_kind: axes.unreduced_kind.map_or("", UnreducedKind::text).to_owned(),
                manual_axes: write_axes(&axes.manual),
                ..of(&axes.mesh)
            }
        }
    }
}
