//! Shardings by mesh axes: `mesh['x'=2,'y'=4], [{'x'}, {'y', ?}], replicated={'z'}`.

use super::mesh::{AxisNames, AxisRef, Mesh};
use super::metadata::{OpMetadata, read_one_or_list};
use super::words::{read_word, word_enum};
use super::{AttrError, AttrReader, AttrValue, BraceContents, ComputationNames};
use std::fmt;

word_enum! {
    /// The operation that combines the summands of the devices.
    UnreducedKind = "unreduced_kind" {
        /// Sum.
        #[default] Sum = "sum",
        /// Maximum.
        Max = "max",
        /// Minimum.
        Min = "min",
    }
}

/// The distribution of an array over a mesh.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum NamedSharding {
    /// One device has the whole array: `maximal_mesh[device_id=3]`.
    Maximal(i64),
    /// The same for all devices of the mesh.
    Whole(Box<Mesh>, WholeMesh),
    /// Sharded along axes.
    Axes(Box<AxesSharding>),
}

word_enum! {
    /// The part of an array on all devices of a mesh.
    WholeMesh = "whole_mesh" {
        /// Each device has the whole array.
        #[default] Replicated = "replicated",
        /// The program determines what each device has.
        Manual = "manual",
        /// Each device has a summand of the array.
        Unreduced = "unreduced",
    }
}

/// An array sharded along axes of a mesh.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct AxesSharding {
    /// The mesh.
    pub mesh: Mesh,
    /// The axes along which each dimension of the array is sharded.
    pub dimensions: Vec<DimensionAxes>,
    /// The axes along which the array is replicated and stays replicated.
    pub replicated: Vec<AxisRef>,
    /// The axes along which devices have summands of the array.
    pub unreduced: Vec<AxisRef>,
    /// The operation that combines the summands, if the text names one.
    pub unreduced_kind: Option<UnreducedKind>,
    /// The axes along which the program determines what each device has.
    pub manual: Vec<AxisRef>,
}

/// The axes along which a dimension is sharded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct DimensionAxes {
    /// The axes, the first one outermost.
    pub axes: Vec<AxisRef>,
    /// Whether sharding propagation may add further axes (`?`).
    pub open: bool,
}

/// The fields that may follow the axes of the dimensions.
const FIELDS: &[&str] = &["replicated", "unreduced", "manual", "metadata"];

impl NamedSharding {
    /// The words and fields that may follow the mesh.
    pub(super) const BRACE_CONTENTS: BraceContents = BraceContents {
        words: WholeMesh::WORDS,
        fields: FIELDS,
        parts: &[
            ("unreduced", BraceContents::word(UnreducedKind::WORDS)),
            ("metadata", OpMetadata::BRACE_CONTENTS),
        ],
        ..BraceContents::NO_NAMES
    };

    /// Returns the mesh; `None` if one device has the whole array.
    pub fn mesh(&self) -> Option<&Mesh> {
        match self {
            NamedSharding::Maximal(_) => None,
            NamedSharding::Whole(mesh, _) => Some(mesh),
            NamedSharding::Axes(axes) => Some(&axes.mesh),
        }
    }

    /// Returns the rank of the array; `None` if the sharding fits any rank.
    pub fn rank(&self) -> Option<usize> {
        match self {
            NamedSharding::Maximal(_) | NamedSharding::Whole(..) => None,
            // As in XLA, an empty list of dimensions shards no dimension.
            NamedSharding::Axes(axes) => Some(axes.dimensions.len()).filter(|&n| n > 0),
        }
    }

    /// Returns the number of devices of the mesh; `None` without a mesh or if it does not fit an `i64`.
    pub fn device_count(&self) -> Option<i64> {
        self.mesh()?.device_count()
    }

    /// Reads the text between the braces. The metadata is returned separately.
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
        let axes = r.list("{", "}", |r| {
            if open {
                Err(r.expected("`}`"))
            } else if r.eat("?") {
                open = true;
                Ok(None)
            } else {
                names.read(r).map(Some)
            }
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
