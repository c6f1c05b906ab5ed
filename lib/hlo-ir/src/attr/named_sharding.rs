//! Shardings by axes of a mesh: `mesh['x'=2,'y'=4], [{'x'}, {'y', ?}], replicated={'z'}`.

use super::mesh::{AxisNames, AxisRef, Mesh};
use super::metadata::{OpMetadata, read_one_or_list};
use super::words::{read_word, word_enum};
use super::{AttrError, AttrReader, AttrValue, ComputationNames, Inside};
use std::fmt;

word_enum! {
    /// How summands that devices have are put together.
    UnreducedKind {
        /// Added.
        #[default] Sum = "sum",
        /// The largest.
        Max = "max",
        /// The smallest.
        Min = "min",
    }
}

/// How an array lies on a mesh.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum NamedSharding {
    /// One device has all of it: `maximal_mesh[device_id=3]`.
    Maximal(i64),
    /// The same for all devices of the mesh.
    Whole(Box<Mesh>, WholeMesh),
    /// Cut along axes.
    Axes(Box<AxesSharding>),
}

word_enum! {
    /// What all devices of a mesh have in common.
    WholeMesh {
        /// Each has all of the array.
        #[default] Replicated = "replicated",
        /// The program says what each has.
        Manual = "manual",
        /// Each has a summand of the array.
        Unreduced = "unreduced",
    }
}

/// An array cut along axes of a mesh.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct AxesSharding {
    /// The mesh.
    pub mesh: Mesh,
    /// The axes that each dimension of the array is cut along.
    pub dimensions: Vec<DimensionAxes>,
    /// The axes along which the array is the same, and stays so.
    pub replicated: Vec<AxisRef>,
    /// The axes along which devices have summands of the array.
    pub unreduced: Vec<AxisRef>,
    /// How the summands are put together, if it is written.
    pub unreduced_kind: Option<UnreducedKind>,
    /// The axes along which the program says what each device has.
    pub manual: Vec<AxisRef>,
}

/// The axes that a dimension is cut along.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct DimensionAxes {
    /// The axes, the first one outermost.
    pub axes: Vec<AxisRef>,
    /// True if sharding propagation may add further axes (`?`).
    pub open: bool,
}

/// What may follow the axes of the dimensions.
const FIELDS: &[&str] = &["replicated", "unreduced", "manual", "metadata"];

impl NamedSharding {
    /// What may be written behind the mesh.
    pub(super) const INSIDE: Inside = Inside {
        words: WholeMesh::WORDS,
        fields: FIELDS,
        parts: &[("unreduced", Inside::word(UnreducedKind::WORDS)), ("metadata", OpMetadata::INSIDE)],
        ..Inside::NOTHING
    };

    /// The mesh; none if one device has all.
    pub fn mesh(&self) -> Option<&Mesh> {
        match self {
            NamedSharding::Maximal(_) => None,
            NamedSharding::Whole(mesh, _) => Some(mesh),
            NamedSharding::Axes(axes) => Some(&axes.mesh),
        }
    }

    /// The rank of the array; `None` if any.
    pub fn rank(&self) -> Option<usize> {
        match self {
            NamedSharding::Maximal(_) | NamedSharding::Whole(..) => None,
            // As in XLA, no dimensions at all cut none.
            NamedSharding::Axes(axes) => Some(axes.dimensions.len()).filter(|&n| n > 0),
        }
    }

    /// How many devices the mesh has; `None` without a mesh or if more than an `i64` counts.
    pub fn device_count(&self) -> Option<i64> {
        self.mesh()?.device_count()
    }

    /// Reads what stands between the braces; the metadata is not part of the sharding proper.
    pub(super) fn read(r: &mut AttrReader<'_>) -> Result<(Self, Vec<OpMetadata>), AttrError> {
        if r.eat("maximal_mesh") {
            r.expect("[")?;
            r.sub_attribute(&["device_id"])?;
            let device = r.integer()?;
            r.expect("]")?;
            let metadata = if r.eat(",") { read_metadata(r)? } else { Vec::new() };
            return Ok((NamedSharding::Maximal(device), metadata));
        }
        r.expect("mesh")?;
        let (mesh, _) = Mesh::read(r)?;
        r.eat(",");
        if r.peek() != b'[' {
            let start = r.offset();
            let Ok(word) = r.one_of(WholeMesh::WORDS) else {
                r.rewind(start);
                return Err(r.expected(
                    "the axes of each dimension such as `[{'x'}, {}]`, `replicated`, `manual` or `unreduced`",
                ));
            };
            let metadata = if r.eat(",") { read_metadata(r)? } else { Vec::new() };
            return Ok((NamedSharding::Whole(Box::new(mesh), WholeMesh::ALL[word]), metadata));
        }
        let names = AxisNames::of(&mesh);
        let mut out = AxesSharding::default();
        let start = r.offset_of_next();
        out.dimensions = read_dimensions(&names, r)?;
        let mut metadata = Vec::new();
        while r.eat(",") {
            match r.sub_attribute(FIELDS)? {
                0 => out.replicated.extend(read_axes(&names, r)?),
                1 => {
                    if r.peek() != b'{' {
                        out.unreduced_kind = Some(UnreducedKind::read(r)?);
                    }
                    out.unreduced.extend(read_axes(&names, r)?);
                }
                2 => out.manual.extend(read_axes(&names, r)?),
                _ => metadata = read_one_or_list(r)?,
            }
        }
        out.mesh = mesh;
        let used: Vec<&AxisRef> = out.dimensions.iter().flat_map(|d| &d.axes).collect();
        let used: Vec<&AxisRef> =
            used.into_iter().chain(&out.replicated).chain(&out.unreduced).chain(&out.manual).collect();
        if let Some((first, _)) = out.mesh.overlap(&used) {
            let mut axis = String::new();
            // Writing to a string does not fail.
            let _ = out.mesh.write_axis(&mut axis, used[first]);
            return Err(r.error_since(start, format!("the axis {axis} is used twice")));
        }
        Ok((NamedSharding::Axes(Box::new(out)), metadata))
    }

    pub(super) fn write(&self, f: &mut dyn fmt::Write) -> fmt::Result {
        let axes = match self {
            NamedSharding::Maximal(device) => return write!(f, "maximal_mesh[device_id={device}]"),
            NamedSharding::Whole(mesh, whole) => return write!(f, "{mesh}, {}", whole.text()),
            NamedSharding::Axes(axes) => axes,
        };
        write!(f, "{}, [", axes.mesh)?;
        for (i, dimension) in axes.dimensions.iter().enumerate() {
            f.write_str(if i > 0 { ", {" } else { "{" })?;
            write_axes(f, &axes.mesh, &dimension.axes)?;
            f.write_str(match (dimension.open, dimension.axes.is_empty()) {
                (false, _) => "}",
                (true, true) => "?}",
                (true, false) => ", ?}",
            })?;
        }
        f.write_str("]")?;
        let kind = axes.unreduced_kind.map_or("", UnreducedKind::text);
        for (name, kind, list) in [
            ("replicated", "", &axes.replicated),
            ("unreduced", kind, &axes.unreduced),
            ("manual", "", &axes.manual),
        ] {
            if !list.is_empty() {
                write!(f, ", {name}={kind}{{")?;
                write_axes(f, &axes.mesh, list)?;
                f.write_str("}")?;
            }
        }
        Ok(())
    }
}

fn read_metadata(r: &mut AttrReader<'_>) -> Result<Vec<OpMetadata>, AttrError> {
    r.sub_attribute(&["metadata"])?;
    read_one_or_list(r)
}

/// Reads `{'x', 'y':(1)2}`.
fn read_axes(names: &AxisNames<'_>, r: &mut AttrReader<'_>) -> Result<Vec<AxisRef>, AttrError> {
    r.list("{", "}", |r| names.read(r))
}

/// Reads `[{'x'}, {'y', ?}]`.
fn read_dimensions(names: &AxisNames<'_>, r: &mut AttrReader<'_>) -> Result<Vec<DimensionAxes>, AttrError> {
    r.list("[", "]", |r| {
        let mut open = false;
        let axes = r.list("{", "}", |r| match open {
            true => Err(r.expected("`}`")),
            false if r.eat("?") => {
                open = true;
                Ok(None)
            }
            false => names.read(r).map(Some),
        })?;
        Ok(DimensionAxes { axes: axes.into_iter().flatten().collect(), open })
    })
}

fn write_axes(f: &mut dyn fmt::Write, mesh: &Mesh, axes: &[AxisRef]) -> fmt::Result {
    for (i, axis) in axes.iter().enumerate() {
        f.write_str(if i > 0 { ", " } else { "" })?;
        mesh.write_axis(f, axis)?;
    }
    Ok(())
}
