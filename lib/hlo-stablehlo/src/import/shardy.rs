//! Conversion of Shardy's shardings, which refer to axes of a mesh, to HLO's tiles: `#sdy.sharding<@mesh,
//! [{"x"}, {}]>` becomes `{devices=[2,1,4]<=[8] last_tile_dim_replicate}`.

use super::importer::Importer;
use crate::tree::{Attribute, Attributes, Name};
use hlo_ir::Dims;
use hlo_ir::attr::{
    DeviceOrder, IotaOrder, MAX_SHARDED_DEVICES, Sharding, ShardingKind, Subgroup, TiledSharding,
};

/// Maximum number of axes of a mesh, counting the parts of split axes.
const MAX_AXES: usize = 64;

/// The axes of a mesh with their sizes, and its devices if they are not in ascending order.
struct Mesh<'t> {
    axes: Vec<(&'t str, i64)>,
    devices: Option<Vec<i64>>,
}

/// A part of an axis: the number of the axis, the product of the sizes of the parts before it, and its size.
#[derive(Clone, Copy, PartialEq)]
struct Part {
    axis: usize,
    before: i64,
    size: i64,
}

impl Importer<'_> {
    /// Converts a `sdy.sharding`. The result is manual along the axes that enclosing regions make manual.
    ///
    /// # Errors
    /// A message about the problem.
    pub fn shardy(&self, attribute: &Attribute) -> Result<Sharding, String> {
        self.shardy_within(attribute, &[])
    }

    /// Converts a `sdy.sharding` inside a further region with manual axes.
    ///
    /// # Errors
    /// The errors of [`Importer::shardy`].
    pub fn shardy_within(&self, attribute: &Attribute, more_manual: &[Name]) -> Result<Sharding, String> {
        let fields = attribute.fields("sdy.sharding").ok_or("it is no `sdy.sharding`")?;
        let mesh = self.mesh(fields)?;
        if let ([], Some([device])) = (&mesh.axes[..], mesh.devices.as_deref()) {
            return Ok(Sharding::single(ShardingKind::Maximal(*device)));
        }
        let manual: Vec<&Name> = self.manual_axes.iter().chain(more_manual).collect();
        let is_manual =
            |p: &Part| mesh.axes.get(p.axis).is_some_and(|(name, _)| manual.iter().any(|m| ***m == **name));
        let dimensions = fields.get("dim_shardings").and_then(Attribute::as_array).unwrap_or_default();
        let mut cuts: Vec<Vec<Part>> = Vec::with_capacity(dimensions.len());
        for dimension in dimensions {
            let axes = dimension.fields("sdy.dimension_sharding").and_then(|f| f.get("axes"));
            let mut parts = mesh.parts(axes)?;
            parts.retain(|p| !is_manual(p));
            cuts.push(parts);
        }
        let mut unreduced = mesh.parts(fields.get("unreduced_axes"))?;
        // Inside a manual region a summand is an ordinary array.
        unreduced.retain(|p| !is_manual(p));
        let manual: Vec<Part> = (0..mesh.axes.len()).map(|axis| mesh.whole(axis)).filter(is_manual).collect();
        Ok(Sharding::single(mesh.tiled(&cuts, &manual, &unreduced)?))
    }

    /// Returns the mesh of a sharding, which contains it or refers to it.
    fn mesh<'s>(&'s self, sharding: &'s Attributes) -> Result<Mesh<'s>, String> {
        let mesh = match sharding.get("mesh_or_ref") {
            Some(Attribute::Symbol(name)) => {
                let op = self.symbols.get(name.as_str()).filter(|op| op.name == "sdy.mesh");
                op.and_then(|op| op.attribute("mesh")).ok_or_else(|| format!("there is no mesh `{name}`"))?
            }
            Some(mesh) => mesh,
            None => return Err("it names no mesh".into()),
        };
        Mesh::read(mesh)
    }
}

impl<'t> Mesh<'t> {
    fn read(attribute: &'t Attribute) -> Result<Self, String> {
        let fields = attribute.fields("sdy.mesh").ok_or("the mesh is no `sdy.mesh`")?;
        let axis = |a: &'t Attribute| {
            let fields = a.fields("sdy.mesh_axis")?;
            let size = fields.get("size")?.as_int().filter(|&n| n > 0)?;
            Some((fields.get("name")?.as_str()?, size))
        };
        let axes = fields.get("axes").and_then(Attribute::as_array).unwrap_or_default();
        let axes: Vec<_> =
            axes.iter().map(axis).collect::<Option<_>>().ok_or("an axis of the mesh has no name or size")?;
        if axes.len() > MAX_AXES {
            return Err(format!("the mesh has {} axes, more than {MAX_AXES}", axes.len()));
        }
        let count = axes.iter().try_fold(1i64, |n, (_, size)| n.checked_mul(*size));
        let count = count.ok_or("the mesh has more devices than 63 bits count")?;
        let devices = fields.get("device_ids").and_then(Attribute::ints).filter(|ids| !ids.is_empty());
        match &devices {
            Some(ids) if i64::try_from(ids.len()) != Ok(count) => {
                Err(format!("the mesh lists {} devices, but its axes have {count}", ids.len()))
            }
            _ => Ok(Self { axes, devices }),
        }
    }

    fn whole(&self, axis: usize) -> Part {
        Part { axis, before: 1, size: self.axes.get(axis).map_or(1, |(_, size)| *size) }
    }

    /// Reads a list of `sdy.axis_ref`.
    fn parts(&self, list: Option<&Attribute>) -> Result<Vec<Part>, String> {
        list.and_then(Attribute::as_array).unwrap_or_default().iter().map(|a| self.part(a)).collect()
    }

    fn part(&self, attribute: &Attribute) -> Result<Part, String> {
        let fields = attribute.fields("sdy.axis_ref").ok_or("an axis is no `sdy.axis_ref`")?;
        let name = fields.get("name").and_then(Attribute::as_str).ok_or("an axis has no name")?;
        let axis = self.axes.iter().position(|(n, _)| *n == name);
        let whole = self.whole(axis.ok_or_else(|| format!("the mesh has no axis `{name}`"))?);
        let Some(sub) = fields.get("sub_axis_info").and_then(|a| a.fields("sdy.sub_axis_info")) else {
            return Ok(whole);
        };
        let number = |name: &str| sub.get(name).and_then(Attribute::as_int).filter(|&n| n > 0);
        let wrong = || format!("the part of axis `{name}` is none of its {} devices", whole.size);
        let (before, size) = number("pre_size").zip(number("size")).ok_or_else(wrong)?;
        let divides = before.checked_mul(size).is_some_and(|n| whole.size % n == 0);
        if divides { Ok(Part { before, size, ..whole }) } else { Err(wrong()) }
    }

    /// Returns the tiles of an array whose dimensions are split along axes.
    fn tiled(&self, cuts: &[Vec<Part>], manual: &[Part], unreduced: &[Part]) -> Result<ShardingKind, String> {
        let pieces = self.pieces(cuts.iter().flatten().chain(manual).chain(unreduced))?;
        let mut order: Vec<usize> = Vec::with_capacity(pieces.len());
        for part in cuts.iter().flatten().chain(manual).chain(unreduced) {
            for (at, piece) in pieces.iter().enumerate().filter(|(_, piece)| part.contains(piece)) {
                if order.contains(&at) {
                    let name = self.axes.get(piece.axis).map_or("", |(name, _)| name);
                    return Err(format!("axis `{name}` is used twice"));
                }
                order.push(at);
            }
        }
        let used = order.len();
        order.extend((0..pieces.len()).filter(|at| !order[..used].contains(at)).collect::<Vec<_>>());
        let size_of = |parts: &[Part]| parts.iter().map(|p| p.size).product::<i64>();
        let rest = order[used..].iter().map(|&at| pieces[at].size).product::<i64>();
        let further = [
            (Subgroup::Manual, size_of(manual)),
            (Subgroup::Unreduced, size_of(unreduced)),
            (Subgroup::Replicated, rest),
        ];
        let further: Vec<(Subgroup, i64)> = further.into_iter().filter(|&(_, size)| size > 1).collect();
        let tiles: Dims = cuts.iter().map(|parts| size_of(parts)).collect();
        if tiles.iter().all(|&n| n == 1) {
            match further[..] {
                [] | [(Subgroup::Replicated, _)] => return Ok(ShardingKind::Replicated),
                [(Subgroup::Manual, _)] => return Ok(ShardingKind::Manual),
                [(Subgroup::Unreduced, _)] => return Ok(ShardingKind::Unreduced),
                _ => {}
            }
        }
        Ok(ShardingKind::Tiled(TiledSharding {
            tiles: tiles.into_iter().chain(further.iter().map(|&(_, size)| size)).collect(),
            subgroups: further.into_iter().map(|(kind, _)| kind).collect(),
            devices: self.devices(&pieces, &order)?,
        }))
    }

    /// Returns the axes of the mesh, split at the borders of the given parts.
    fn pieces<'p>(&self, parts: impl Iterator<Item = &'p Part>) -> Result<Vec<Part>, String> {
        let mut borders: Vec<Vec<i64>> = self.axes.iter().map(|&(_, size)| vec![1, size]).collect();
        for part in parts {
            if let Some(borders) = borders.get_mut(part.axis) {
                borders.extend([part.before, part.before * part.size]);
            }
        }
        let mut pieces = Vec::new();
        for (axis, mut borders) in borders.into_iter().enumerate() {
            borders.sort_unstable();
            borders.dedup();
            for pair in borders.windows(2) {
                if pair[1] % pair[0] != 0 {
                    return Err("parts of an axis do not divide each other".into());
                }
                pieces.push(Part { axis, before: pair[0], size: pair[1] / pair[0] });
            }
        }
        if pieces.len() > MAX_AXES { Err("the axes are cut into too many parts".into()) } else { Ok(pieces) }
    }

    /// Returns the devices in the given order of pieces of the axes.
    fn devices(&self, pieces: &[Part], order: &[usize]) -> Result<DeviceOrder, String> {
        let reshape: Vec<i64> = pieces.iter().map(|p| p.size).collect();
        let transpose: Vec<i64> = order.iter().map(|&at| at as i64).collect();
        let iota = IotaOrder::new(&reshape, &transpose)?;
        let Some(ids) = &self.devices else { return Ok(DeviceOrder::Iota(iota)) };
        let id_at = |n: i64| usize::try_from(n).ok().and_then(|n| ids.get(n)).copied();
        let list: Option<Vec<i64>> = iota.expand(MAX_SHARDED_DEVICES)?.into_iter().map(id_at).collect();
        let list = list.ok_or("the mesh lists too few devices")?;
        Ok(IotaOrder::of_list(&list).map_or(DeviceOrder::List(list), DeviceOrder::Iota))
    }
}

impl Part {
    fn contains(&self, piece: &Part) -> bool {
        self.axis == piece.axis
            && piece.before >= self.before
            && piece.before.saturating_mul(piece.size) <= self.before.saturating_mul(self.size)
            && self.size > 1
    }
}
