//! `replica_groups=` of collectives: which devices exchange data with each other.
//!
//! There are three generations of notation: lists `{{0,1},{2,3}}`, an iota `[2,4]<=[4,2]T(1,0)`, and axes of
//! a mesh `mesh['x'=2,'y'=4] {'y'}`. No groups at all means one group of all devices.

use super::iota::{IotaOrder, checked_count, product, read_sizes};
use super::mesh::{AxisNames, AxisRef, Mesh};
use super::values::write_joined;
use super::{AttrError, AttrReader, AttrValue, ComputationNames};
use std::fmt;

/// Groups of devices.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ReplicaGroups {
    /// Listed. An empty list means one group of all devices.
    Lists(Vec<Vec<i64>>),
    /// Groups of equal size, cut from a described order of devices.
    Iota {
        /// Number of groups.
        groups: i64,
        /// Number of devices in each group.
        size: i64,
        /// The devices, group by group.
        order: IotaOrder,
    },
    /// Groups of devices that differ only in their position along these axes.
    Mesh {
        /// The mesh.
        mesh: Box<Mesh>,
        /// The axes, at least one.
        axes: Vec<AxisRef>,
    },
}

impl Default for ReplicaGroups {
    fn default() -> Self {
        ReplicaGroups::Lists(Vec::new())
    }
}

impl ReplicaGroups {
    /// Returns whether no group is written, which means one group of all devices.
    pub fn is_empty(&self) -> bool {
        matches!(self, ReplicaGroups::Lists(groups) if groups.is_empty())
    }

    /// Returns the number of groups written; `None` if it does not fit an `i64`.
    pub fn group_count(&self) -> Option<i64> {
        match self {
            ReplicaGroups::Lists(groups) => i64::try_from(groups.len()).ok(),
            ReplicaGroups::Iota { groups, .. } => Some(*groups),
            ReplicaGroups::Mesh { mesh, .. } => mesh.device_count()?.checked_div(self.group_size()?),
        }
    }

    /// Returns the number of devices in each group; `None` if no group is written or the sizes differ.
    pub fn group_size(&self) -> Option<i64> {
        match self {
            ReplicaGroups::Lists(groups) => {
                let first = groups.first()?.len();
                groups.iter().all(|g| g.len() == first).then(|| i64::try_from(first).ok())?
            }
            ReplicaGroups::Iota { size, .. } => Some(*size),
            ReplicaGroups::Mesh { mesh, axes } => {
                axes.iter().try_fold(1i64, |n, a| n.checked_mul(mesh.axis_size(a)))
            }
        }
    }

    /// Returns the number of devices in all groups; `None` if it does not fit an `i64`.
    pub fn device_count(&self) -> Option<i64> {
        match self {
            ReplicaGroups::Lists(groups) => i64::try_from(groups.iter().map(Vec::len).sum::<usize>()).ok(),
            ReplicaGroups::Iota { groups, size, .. } => product(&[*groups, *size]),
            ReplicaGroups::Mesh { mesh, .. } => mesh.device_count(),
        }
    }

    /// Returns the groups as lists, with at most `limit` devices.
    ///
    /// # Errors
    /// There are more than `limit` devices or groups, or the order has another number of devices or names a
    /// dimension twice. For axes of a mesh: an axis is used twice, or its parts do not divide each other.
    pub fn expand(&self, limit: usize) -> Result<Vec<Vec<i64>>, String> {
        match self {
            ReplicaGroups::Lists(groups) => {
                checked_count(self.device_count(), limit)?;
                Ok(groups.clone())
            }
            ReplicaGroups::Iota { groups, size, order } => {
                let count = checked_count(self.device_count(), limit)?;
                let group_count = checked_count(Some(*groups), limit)?;
                if order.count() != i64::try_from(count).ok() {
                    let listed = order.count().map_or("too many".into(), |n| n.to_string());
                    return Err(format!("{groups} groups of {size} devices are taken from {listed} devices"));
                }
                if count == 0 {
                    return Ok(vec![Vec::new(); group_count]);
                }
                // The size is not zero because the count is not.
                let size = usize::try_from(*size).unwrap_or(1).max(1);
                Ok(order.expand(limit)?.chunks(size).map(<[i64]>::to_vec).collect())
            }
            ReplicaGroups::Mesh { mesh, axes } => expand_mesh(mesh, axes, limit),
        }
    }
}

/// Returns the groups of a mesh: one for each position along the axes not in `axes`, in the mesh's order. A
/// group contains the devices along `axes`, the first axis outermost.
fn expand_mesh(mesh: &Mesh, axes: &[AxisRef], limit: usize) -> Result<Vec<Vec<i64>>, String> {
    let devices = mesh.devices(limit)?;
    // Each axis is cut at the boundaries of its parts. A piece has a size and a step in the mesh's order.
    struct Piece {
        size: i64,
        step: i64,
        axis: usize,
        before: i64,
    }
    let mut pieces: Vec<Piece> = Vec::new();
    let mut of_axis: Vec<std::ops::Range<usize>> = Vec::with_capacity(mesh.axes.len());
    let mut references: Vec<Vec<&AxisRef>> = vec![Vec::new(); mesh.axes.len()];
    for r in axes {
        if let Some(list) = references.get_mut(r.axis) {
            list.push(r);
        }
    }
    let mut step = i64::try_from(devices.len()).unwrap_or(i64::MAX);
    for (axis, (a, references)) in mesh.axes.iter().zip(&references).enumerate() {
        let first = pieces.len();
        let mut cuts = vec![1, a.size];
        for part in references.iter().filter_map(|r| r.part) {
            cuts.extend([part.before, part.before.saturating_mul(part.size)]);
        }
        cuts.sort_unstable();
        cuts.dedup();
        for pair in cuts.windows(2) {
            if pair[0] < 1 || pair[1] % pair[0] != 0 {
                return Err("the parts of an axis do not divide each other".into());
            }
            let size = pair[1] / pair[0];
            step /= size.max(1);
            pieces.push(Piece { size, step, axis, before: pair[0] });
        }
        of_axis.push(first..pieces.len());
    }
    // Whether a piece of the reference's axis is in the reference.
    let inside = |r: &AxisRef, p: &Piece| {
        r.part.is_none_or(|part| part.before <= p.before && p.before < part.before.saturating_mul(part.size))
    };
    let outer: Vec<&Piece> =
        pieces.iter().filter(|p| !references[p.axis].iter().any(|r| inside(r, p))).collect();
    let pieces_of = |r: &AxisRef| pieces.get(of_axis.get(r.axis)?.clone());
    let inner: Vec<&Piece> =
        axes.iter().flat_map(|r| pieces_of(r).unwrap_or_default().iter().filter(|p| inside(r, p))).collect();
    let places = |pieces: &[&Piece]| -> Vec<i64> {
        pieces
            .iter()
            .fold(vec![0], |at, p| at.iter().flat_map(|a| (0..p.size).map(move |i| a + i * p.step)).collect())
    };
    let (outer, inner) = (places(&outer), places(&inner));
    if outer.len().checked_mul(inner.len()) != Some(devices.len()) {
        return Err("an axis of the mesh is used twice".into());
    }
    outer
        .iter()
        .map(|o| {
            let device = |i: &i64| usize::try_from(o + i).ok().and_then(|at| devices.get(at)).copied();
            let group: Option<Vec<i64>> = inner.iter().map(device).collect();
            group.ok_or_else(|| "an axis of the mesh is used twice".into())
        })
        .collect()
}

impl AttrValue for ReplicaGroups {
    const RULE: &'static str = "replica_groups";

    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        let start = r.offset_of_next();
        match r.peek() {
            b'{' => Ok(ReplicaGroups::Lists(r.list("{", "}", |r| r.list("{", "}", AttrReader::integer))?)),
            b'[' => {
                let sizes = read_sizes(r)?;
                let [groups, size] = sizes[..] else {
                    let message = format!(
                        "expected the number of groups and their size, found {} numbers",
                        sizes.len()
                    );
                    return Err(r.error_since(start, message));
                };
                r.expect("<=")?;
                Ok(ReplicaGroups::Iota { groups, size, order: IotaOrder::read(r)? })
            }
            _ if r.eat("mesh") => {
                let (mesh, has_devices) = Mesh::read(r)?;
                if !has_devices {
                    r.eat(",");
                }
                let here = r.offset_of_next();
                let names = AxisNames::of(&mesh);
                let axes = r.list("{", "}", |r| names.read(r))?;
                if mesh.overlap(&axes.iter().collect::<Vec<_>>()).is_some() {
                    return Err(r.error_since(here, "an axis is named twice".into()));
                }
                let groups = ReplicaGroups::Mesh { mesh: Box::new(mesh), axes };
                match groups.group_size() {
                    Some(2..) => Ok(groups),
                    _ => Err(r.error_since(here, "a group along axes has more than one device".into())),
                }
            }
            _ => Err(r.expected("groups such as `{{0,1},{2,3}}`, `[2,4]<=[8]` or `mesh['x'=2,'y'=4] {'y'}`")),
        }
    }

    fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Display for ReplicaGroups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReplicaGroups::Lists(groups) => write_lists(f, groups),
            ReplicaGroups::Iota { groups, size, order } => write!(f, "[{groups},{size}]<={order}"),
            ReplicaGroups::Mesh { mesh, axes } => {
                write!(f, "{mesh} {{")?;
                for (i, axis) in axes.iter().enumerate() {
                    if i > 0 {
                        f.write_str(",")?;
                    }
                    mesh.write_axis(f, axis)?;
                }
                f.write_str("}")
            }
        }
    }
}

/// Prints `{{0,1},{2,3}}`.
pub fn write_lists(f: &mut dyn fmt::Write, lists: &[Vec<i64>]) -> fmt::Result {
    f.write_str("{")?;
    for (i, list) in lists.iter().enumerate() {
        f.write_str(if i > 0 { ",{" } else { "{" })?;
        write_joined(f, list, ",")?;
        f.write_str("}")?;
    }
    f.write_str("}")
}

/// `source_target_pairs={{0,1},{1,0}}`: pairs of a sending and a receiving device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SourceTargetPairs(pub Vec<(i64, i64)>);

impl AttrValue for SourceTargetPairs {
    const RULE: &'static str = "source_target_pairs";

    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        let pair = |r: &mut AttrReader<'_>| {
            let start = r.offset_of_next();
            let list = r.list("{", "}", AttrReader::integer)?;
            match list[..] {
                [source, target] => Ok((source, target)),
                _ => Err(r.error_since(
                    start,
                    format!("expected a pair `{{source,target}}`, found {} numbers", list.len()),
                )),
            }
        };
        r.list("{", "}", pair).map(SourceTargetPairs)
    }
    fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
        f.write_str("{")?;
        for (i, (source, target)) in self.0.iter().enumerate() {
            write!(f, "{}{{{source},{target}}}", if i > 0 { "," } else { "" })?;
        }
        f.write_str("}")
    }
}

/// `slice_sizes={{1,2},{3,4}}` of `collective-permute`: a list of sizes for each slice that is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SliceSizes(pub Vec<Vec<i64>>);

impl AttrValue for SliceSizes {
    const RULE: &'static str = "integer_lists";

    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        r.list("{", "}", |r| r.list("{", "}", AttrReader::integer)).map(SliceSizes)
    }
    fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
        write_lists(f, &self.0)
    }
}
