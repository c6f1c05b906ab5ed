//! Meshes, axes, device orders that are iota transforms, and groups of devices.

use super::{Result, index};
use crate::messages::{
    AxisRefProto, CollectiveDeviceListProto, HloInstructionProto, IotaReplicaGroupListProto, IotaTransform,
    MeshAxesReplicaGroupListProto, MeshAxisProto, MeshProto, ReplicaGroup, SubAxis,
};
use hlo_ir::attr::{AxisPart, AxisRef, DeviceOrder, HloString, IotaOrder, Mesh, MeshAxis, ReplicaGroups};

/// Returns the device order that the two lists of an iota transform describe.
pub fn read_iota(reshape: &[i64], transpose: impl Iterator<Item = i64>) -> Result<IotaOrder> {
    if let Some(size) = reshape.iter().find(|&&size| size < 0) {
        return Err(format!("a number of devices is not negative, found {size}"));
    }
    IotaOrder::new(reshape, &transpose.collect::<Vec<_>>())
}

/// Returns the two lists of an iota transform: the dimensions and their permutation.
pub fn write_iota(order: &IotaOrder) -> (Vec<i64>, Vec<i64>) {
    let ascending = order.is_ascending();
    let transpose =
        if ascending { (0..order.reshape().len() as i64).collect() } else { order.transpose().to_vec() };
    (order.reshape().to_vec(), transpose)
}

/// Reads a mesh.
pub fn read_mesh(proto: &MeshProto) -> Result<Mesh> {
    let mut names = std::collections::HashSet::new();
    let mut axes = Vec::with_capacity(proto.axes.len());
    for axis in &proto.axes {
        let name = HloString::from_bytes(&axis.name[..]);
        if axis.size < 0 || !names.insert(&axis.name) {
            let name = name.to_text();
            return Err(format!(
                "axes of a mesh have names of their own and sizes from 0 on, found {name}={}",
                axis.size
            ));
        }
        axes.push(MeshAxis { name, size: axis.size });
    }
    let order = match (&proto.iota_transform, &proto.device_ids[..]) {
        (Some(iota), _) => {
            Some(DeviceOrder::Iota(read_iota(&iota.reshape_dims, iota.transpose_perm.iter().copied())?))
        }
        (None, []) => None,
        (None, list) => Some(DeviceOrder::List(list.to_vec())),
    };
    let mesh = Mesh { axes, device_ids: None };
    let ascending = match &order {
        None => true,
        Some(DeviceOrder::Iota(order)) => order.is_ascending(),
        Some(DeviceOrder::List(list)) => list.iter().zip(0..).all(|(&device, n)| device == n),
    };
    match order {
        Some(order) if order.count() != mesh.device_count() && !ascending => {
            Err(format!("a mesh has the devices {order:?}, which are not as many as its axes say"))
        }
        order => Ok(Mesh { device_ids: order.filter(|_| !ascending), ..mesh }),
    }
}

/// Writes a mesh.
pub fn write_mesh(mesh: &Mesh) -> MeshProto {
    let axis = |axis: &MeshAxis| MeshAxisProto { name: axis.name.as_bytes().to_vec(), size: axis.size };
    let mut proto = MeshProto { axes: mesh.axes.iter().map(axis).collect(), ..MeshProto::default() };
    match &mesh.device_ids {
        None => {}
        Some(DeviceOrder::Iota(order)) => {
            let (reshape_dims, transpose_perm) = write_iota(order);
            proto.iota_transform = Some(Box::new(IotaTransform { reshape_dims, transpose_perm }));
        }
        Some(DeviceOrder::List(list)) => proto.device_ids = list.clone(),
    }
    proto
}

/// Reads references to axes of a mesh.
pub fn read_axes(protos: &[AxisRefProto], mesh: &Mesh) -> Result<Vec<AxisRef>> {
    protos.iter().map(|proto| read_axis(proto, mesh)).collect()
}

fn read_axis(proto: &AxisRefProto, mesh: &Mesh) -> Result<AxisRef> {
    let axis = index(proto.mesh_axis_index, "the number of an axis")?;
    let Some(whole) = mesh.axes.get(axis).map(|a| a.size) else {
        return Err(format!("axis {axis} of a mesh of {} axes is named", mesh.axes.len()));
    };
    let Some(part) = &proto.sub_axis_info else { return Ok(AxisRef { axis, part: None }) };
    let part = AxisPart { before: part.pre_size, size: part.size };
    let product = part.before.checked_mul(part.size).filter(|_| part.before > 0 && part.size > 0);
    if product.is_none_or(|n| whole % n != 0) {
        return Err(format!("{part:?} is no part of an axis of {whole} devices"));
    }
    Ok(AxisRef { axis, part: (part.size != whole).then_some(part) })
}

/// Writes references to axes.
pub fn write_axes(axes: &[AxisRef]) -> Vec<AxisRefProto> {
    let part = |part: AxisPart| Box::new(SubAxis { pre_size: part.before, size: part.size });
    let axis = |a: &AxisRef| AxisRefProto {
        mesh_axis_index: i64::try_from(a.axis).unwrap_or(i64::MAX),
        sub_axis_info: a.part.map(part),
    };
    axes.iter().map(axis).collect()
}

/// Reads the device groups of a collective, in the current form or any older one.
pub fn read_groups(proto: &HloInstructionProto) -> Result<ReplicaGroups> {
    if let Some(groups) = &proto.mesh_axes_replica_group_list {
        let Some(mesh) = &groups.mesh else { return Err("groups along axes have no mesh".into()) };
        let mesh = read_mesh(mesh)?;
        let axes = read_axes(&groups.axes, &mesh)?;
        return Ok(ReplicaGroups::Mesh { mesh: Box::new(mesh), axes });
    }
    if let Some(groups) = &proto.iota_collective_device_list {
        let transpose = groups.iota_transpose_perm.iter().map(|&d| d.into());
        let order = read_iota(&groups.iota_reshape_dims, transpose)?;
        let (groups, size) = (groups.num_replica_groups, groups.num_devices_per_group);
        if groups < 0 || size < 0 {
            return Err(format!("there are no {groups} groups of {size} devices"));
        }
        return Ok(ReplicaGroups::Iota { groups, size, order });
    }
    let lists = match &proto.collective_device_list {
        Some(list) => &list.replica_groups,
        None => &proto.replica_groups,
    };
    Ok(ReplicaGroups::Lists(lists.iter().map(|g| g.replica_ids.clone()).collect()))
}

/// Writes the device groups of a collective.
pub fn write_groups(groups: &ReplicaGroups, proto: &mut HloInstructionProto) {
    match groups {
        ReplicaGroups::Lists(lists) => {
            let replica_groups =
                lists.iter().map(|list| ReplicaGroup { replica_ids: list.clone() }).collect();
            proto.collective_device_list = Some(Box::new(CollectiveDeviceListProto { replica_groups }));
        }
        ReplicaGroups::Iota { groups, size, order } => {
            let (iota_reshape_dims, transpose) = write_iota(order);
            proto.iota_collective_device_list = Some(Box::new(IotaReplicaGroupListProto {
                num_replica_groups: *groups,
                num_devices_per_group: *size,
                iota_reshape_dims,
                iota_transpose_perm: narrowed(&transpose),
            }));
        }
        ReplicaGroups::Mesh { mesh, axes } => {
            proto.mesh_axes_replica_group_list = Some(Box::new(MeshAxesReplicaGroupListProto {
                mesh: Some(Box::new(write_mesh(mesh))),
                axes: write_axes(axes),
            }));
        }
    }
}

/// Converts the dimension numbers of a permutation. They are less than its rank, so they fit.
pub fn narrowed(transpose: &[i64]) -> Vec<i32> {
    transpose.iter().map(|&d| i32::try_from(d).unwrap_or(i32::MAX)).collect()
}
