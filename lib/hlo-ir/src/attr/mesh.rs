//! Meshes of devices with named axes, and references to axes: `mesh['x'=2,'y'=4], device_ids=([4,2]T(1,0))`,
//! `'y'`, `'y':(2)2`.

use super::iota::{DeviceOrder, IotaOrder, product};
use super::string::HloString;
use super::{AttrError, AttrReader};
use std::collections::HashMap;
use std::fmt;

/// An axis of a mesh.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MeshAxis {
    /// The name of the axis.
    pub name: HloString,
    /// Number of devices along the axis.
    pub size: i64,
}

/// Devices arranged in an array with named axes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mesh {
    /// The axes, the first one outermost.
    pub axes: Vec<MeshAxis>,
    /// The devices in the array's order; `None` if they are in ascending order.
    pub device_ids: Option<DeviceOrder>,
}

/// An axis of a mesh, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AxisRef {
    /// The index of the axis in [`Mesh::axes`].
    pub axis: usize,
    /// The part, if not the whole axis.
    pub part: Option<AxisPart>,
}

/// A part of an axis: the middle dimension when the axis is reshaped to `before × size × rest` in row-major
/// order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AxisPart {
    /// The product of the sizes of the parts before it.
    pub before: i64,
    /// Number of devices along the part.
    pub size: i64,
}

impl Mesh {
    /// Returns the number of devices of the mesh; `None` if it does not fit an `i64`.
    pub fn device_count(&self) -> Option<i64> {
        self.axes.iter().try_fold(1i64, |n, axis| product(&[n, axis.size]))
    }

    /// Returns the devices in the mesh's order, at most `limit`.
    ///
    /// # Errors
    /// There are more than `limit` devices, or the transposition of their order names a dimension twice.
    pub fn devices(&self, limit: usize) -> Result<Vec<i64>, String> {
        let count = super::iota::checked_count(self.device_count(), limit)?;
        match &self.device_ids {
            Some(order) => order.expand(limit),
            None => Ok((0..count as i64).collect()),
        }
    }

    /// Returns the number of devices along an axis or a part of one.
    pub fn axis_size(&self, axis: &AxisRef) -> i64 {
        match (axis.part, self.axes.get(axis.axis)) {
            (Some(part), _) => part.size,
            (None, Some(axis)) => axis.size,
            (None, None) => 1,
        }
    }

    /// Reads the text after `mesh`: the axes and the optional devices. Also returns whether the text has
    /// devices, because an ascending order is not stored.
    pub(super) fn read(r: &mut AttrReader<'_>) -> Result<(Self, bool), AttrError> {
        let mut mesh = Mesh { axes: read_axes(r)?, device_ids: None };
        let start = r.offset_of_next();
        let here = r.offset();
        if !(r.eat(",") && r.eat("device_ids")) {
            r.rewind(here);
            return Ok((mesh, false));
        }
        r.expect("=")?;
        r.expect("(")?;
        let order = if r.peek() == b'[' {
            DeviceOrder::Iota(IotaOrder::read(r)?)
        } else {
            DeviceOrder::List(r.separated(AttrReader::integer)?)
        };
        r.expect(")")?;
        let (given, wanted) = (order.count(), mesh.device_count());
        let ascending = match &order {
            DeviceOrder::Iota(order) => order.is_ascending(),
            DeviceOrder::List(list) => list.iter().zip(0..).all(|(&device, n)| device == n),
        };
        // An ascending iota is dropped even if its size is wrong, as in XLA.
        if given != wanted && !(ascending && matches!(order, DeviceOrder::Iota(_))) {
            let number = |n: Option<i64>| n.map_or("too many".into(), |n| n.to_string());
            return Err(r.error_since(
                start,
                format!("{} devices are given for a mesh of {}", number(given), number(wanted)),
            ));
        }
        mesh.device_ids = (!ascending).then_some(order);
        Ok((mesh, true))
    }

    /// Prints a reference to an axis.
    pub(super) fn write_axis(&self, f: &mut dyn fmt::Write, axis: &AxisRef) -> fmt::Result {
        let Some(a) = self.axes.get(axis.axis) else { return Ok(()) };
        write_name(f, &a.name)?;
        match axis.part {
            Some(part) => write!(f, ":({}){}", part.before, part.size),
            None => Ok(()),
        }
    }

    /// Returns the positions of the first two references that overlap on an axis, if any do.
    pub(super) fn overlap(&self, axes: &[&AxisRef]) -> Option<(usize, usize)> {
        // Sorted by axis and position along it, so that only neighbors can overlap.
        let range = |a: &AxisRef| match a.part {
            Some(part) => (part.before, part.before.saturating_mul(part.size)),
            None => (1, self.axis_size(a)),
        };
        let mut order: Vec<usize> = (0..axes.len()).collect();
        order.sort_by_key(|&i| (axes[i].axis, range(axes[i])));
        order.windows(2).find_map(|pair| {
            let (a, b) = (axes[pair[0]], axes[pair[1]]);
            let clash = a.axis == b.axis && (range(b).0 < range(a).1 || a.part.is_none() || b.part.is_none());
            clash.then_some((pair[0], pair[1]))
        })
    }
}

/// The axes of a mesh by name, for reading references to them.
pub(super) struct AxisNames<'m> {
    mesh: &'m Mesh,
    indices: HashMap<&'m HloString, usize>,
}

impl<'m> AxisNames<'m> {
    /// Creates the map of the axes of `mesh`.
    pub(super) fn of(mesh: &'m Mesh) -> Self {
        Self { mesh, indices: mesh.axes.iter().enumerate().map(|(i, a)| (&a.name, i)).collect() }
    }

    /// Reads the name of an axis, or of a part of one.
    pub(super) fn read(&self, r: &mut AttrReader<'_>) -> Result<AxisRef, AttrError> {
        let start = r.offset_of_next();
        let name = r.string()?;
        let Some(&axis) = self.indices.get(&name) else {
            let names: Vec<String> = self.mesh.axes.iter().take(20).map(|a| quoted(&a.name)).collect();
            let message = format!("the mesh has no axis {}; it has {}", quoted(&name), names.join(", "));
            return Err(r.error_since(start, message));
        };
        if !r.eat(":") {
            return Ok(AxisRef { axis, part: None });
        }
        r.expect("(")?;
        let before = r.integer()?;
        r.expect(")")?;
        let part = AxisPart { before, size: r.integer()? };
        let whole = self.mesh.axes[axis].size;
        let fits = part.before > 0
            && part.size > 0
            && part.before.checked_mul(part.size).is_some_and(|n| whole % n == 0);
        if !fits {
            let message = format!("the product of the numbers must divide the size of the axis, {whole}");
            return Err(r.error_since(start, message));
        }
        Ok(AxisRef { axis, part: (part.size != whole).then_some(part) })
    }
}

/// Reads `['x'=2,'y'=4]`.
fn read_axes(r: &mut AttrReader<'_>) -> Result<Vec<MeshAxis>, AttrError> {
    let mut names = std::collections::HashSet::new();
    r.list("[", "]", |r| {
        let start = r.offset_of_next();
        let name = r.string()?;
        r.expect("=")?;
        let size = r.integer()?;
        if size < 0 {
            return Err(r.error_since(start, "the size of an axis is not negative".into()));
        }
        if !names.insert(name.clone()) {
            return Err(r.error_since(start, format!("the mesh has two axes {}", quoted(&name))));
        }
        Ok(MeshAxis { name, size })
    })
}

fn write_name(f: &mut dyn fmt::Write, name: &HloString) -> fmt::Result {
    f.write_str("'")?;
    // Double quotes need no backslash here.
    for (i, part) in name.as_bytes().split(|&b| b == b'"').enumerate() {
        f.write_str(if i > 0 { "\"" } else { "" })?;
        super::string::write_escaped(f, part)?;
    }
    f.write_str("'")
}

fn quoted(name: &HloString) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = write_name(&mut out, name);
    out
}

/// `mesh['x'=2,'y'=4], device_ids=(…)`.
impl fmt::Display for Mesh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("mesh[")?;
        for (i, axis) in self.axes.iter().enumerate() {
            if i > 0 {
                f.write_str(",")?;
            }
            write_name(f, &axis.name)?;
            write!(f, "={}", axis.size)?;
        }
        f.write_str("]")?;
        match &self.device_ids {
            None => Ok(()),
            Some(DeviceOrder::Iota(order)) => write!(f, ", device_ids=({order})"),
            Some(DeviceOrder::List(list)) => {
                f.write_str(", device_ids=(")?;
                super::values::write_joined(f, list, ",")?;
                f.write_str(")")
            }
        }
    }
}
