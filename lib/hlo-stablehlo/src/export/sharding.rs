//! Shardings. Shardings on named meshes become Shardy's attributes. Others become HLO text, as in JAX and
//! XLA.

use super::attributes::as_text;
use super::exporter::Exporter;
use super::value::leaf_shapes;
use crate::tree::{Attribute, Name};
use hlo_ir::Shape;
use hlo_ir::attr::{
    AxesSharding, AxisRef, DeviceOrder, Mesh, NamedSharding, Sharding, ShardingKind, SingleSharding,
    UnreducedKind, WholeMesh,
};
use std::sync::Arc;

/// Returns the attribute that contains the HLO text of a sharding.
fn text_of(sharding: &Sharding) -> Attribute {
    let bare = |one: &Arc<SingleSharding>| {
        if one.metadata.is_empty() {
            Arc::clone(one)
        } else {
            Arc::new(SingleSharding { metadata: Vec::new(), ..(**one).clone() })
        }
    };
    let sharding = match sharding {
        Sharding::Single(one) => Sharding::Single(bare(one)),
        Sharding::Tuple(leaves) => Sharding::Tuple(leaves.iter().map(bare).collect()),
    };
    as_text(&sharding)
}

fn axis(mesh: &Mesh, axis: &AxisRef) -> Attribute {
    let name = mesh.axes.get(axis.axis).map_or(&[][..], |a| a.name.as_bytes());
    let part = axis.part.map(|part| {
        let fields = [("pre_size", Attribute::i64(part.before)), ("size", Attribute::i64(part.size))];
        ("sub_axis_info", Attribute::of_fields("sdy.sub_axis_info", fields))
    });
    Attribute::of_fields("sdy.axis_ref", [("name", Attribute::String(name.into()))].into_iter().chain(part))
}

fn axes(mesh: &Mesh, axes: &[AxisRef]) -> Attribute {
    Attribute::Array(axes.iter().map(|a| axis(mesh, a)).collect())
}

fn dimension(axes: Attribute, is_open: bool) -> Attribute {
    Attribute::of_fields("sdy.dimension_sharding", [("axes", axes), ("is_closed", Attribute::Bool(!is_open))])
}

fn of_mesh(mesh: Name, dimensions: Vec<Attribute>, replicated: Attribute, unreduced: Attribute) -> Attribute {
    Attribute::of_fields(
        "sdy.sharding",
        [
            ("mesh_or_ref", Attribute::Symbol(mesh)),
            ("dim_shardings", Attribute::Array(dimensions.into())),
            ("replicated_axes", replicated),
            ("unreduced_axes", unreduced),
        ],
    )
}

impl Exporter<'_> {
    /// Returns the name and attribute for the sharding of an operation whose value has the given shape.
    pub(super) fn sharding_of_operation(
        &mut self,
        sharding: &Sharding,
        shape: &Shape,
    ) -> (&'static str, Attribute) {
        let shapes = leaf_shapes(shape).unwrap_or_default();
        match self.named(sharding, &shapes) {
            Some(shardings) => {
                let shardings = Attribute::Array(shardings.into());
                let of_values = Attribute::of_fields("sdy.sharding_per_value", [("shardings", shardings)]);
                ("sdy.sharding", of_values)
            }
            None => ("mhlo.sharding", text_of(sharding)),
        }
    }

    /// Returns the name and attribute for the sharding of an argument or a result.
    pub(super) fn sharding_of_value(
        &mut self,
        sharding: &Sharding,
        shape: &Shape,
    ) -> (&'static str, Attribute) {
        match self.named(sharding, &[shape]).as_deref() {
            Some([one]) => ("sdy.sharding", one.clone()),
            _ => ("mhlo.sharding", text_of(sharding)),
        }
    }

    /// Returns the shardings of values as Shardy's attributes, or `None` if Shardy cannot express one of
    /// them.
    fn named(&mut self, sharding: &Sharding, shapes: &[&Shape]) -> Option<Vec<Attribute>> {
        let leaves = sharding.leaves();
        let of = |i: usize| leaves.get(i).or(leaves.first().filter(|_| leaves.len() == 1));
        let named = |i: usize| match of(i)? {
            one if one.group.is_some() => None,
            one => match &one.kind {
                ShardingKind::Named(named) => Some(named),
                _ => None,
            },
        };
        let all: Option<Vec<&NamedSharding>> = (0..shapes.len()).map(named).collect();
        let all = all.filter(|all| !all.is_empty() && leaves.len() <= all.len())?;
        all.into_iter().zip(shapes).map(|(named, shape)| self.one_named(named, shape)).collect()
    }

    fn one_named(&mut self, sharding: &NamedSharding, shape: &Shape) -> Option<Attribute> {
        let none = || Attribute::Array([].into());
        let rank = shape.as_array().map_or(0, hlo_ir::ArrayShape::rank);
        match sharding {
            NamedSharding::Maximal(device) => {
                let order = Some(DeviceOrder::List(vec![*device]));
                let mesh = self.mesh(&Mesh { axes: Vec::new(), device_ids: order })?;
                Some(of_mesh(mesh, Vec::new(), none(), none()))
            }
            NamedSharding::Whole(_, WholeMesh::Manual) => None,
            NamedSharding::Whole(mesh, whole) => {
                let all: Vec<AxisRef> =
                    (0..mesh.axes.len()).map(|axis| AxisRef { axis, part: None }).collect();
                let listed = axes(mesh, &all);
                let (replicated, unreduced) = match whole {
                    WholeMesh::Unreduced => (none(), listed),
                    _ => (listed, none()),
                };
                let dimensions = (0..rank).map(|_| dimension(none(), false)).collect();
                Some(of_mesh(self.mesh(mesh)?, dimensions, replicated, unreduced))
            }
            NamedSharding::Axes(cut) => self.cut(cut),
        }
    }

    fn cut(&mut self, cut: &AxesSharding) -> Option<Attribute> {
        let sums = matches!(cut.unreduced_kind, None | Some(UnreducedKind::Sum));
        if !cut.manual.is_empty() || !sums {
            return None;
        }
        let mesh = &cut.mesh;
        let dimensions = cut.dimensions.iter().map(|d| dimension(axes(mesh, &d.axes), d.open)).collect();
        let name = self.mesh(mesh)?;
        Some(of_mesh(name, dimensions, axes(mesh, &cut.replicated), axes(mesh, &cut.unreduced)))
    }

    fn mesh(&mut self, mesh: &Mesh) -> Option<Name> {
        self.meshes.name_of(mesh, &mut self.functions)
    }
}
