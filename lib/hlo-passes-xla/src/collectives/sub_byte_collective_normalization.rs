//! `sub-byte-collective-normalization`: converts collectives of elements that are narrower than a byte to
//! collectives of whole bytes. The pass applies to collectives that only move data.
//!
//! ```text
//! g = s4[4,8]{1,0:E(4)} all-gather(x), …    →    b = s4[2,4,2]{2,1,0:E(4)} bitcast(x)
//!                                                c = s8[2,4] bitcast-convert(b)
//!                                                h = s8[4,4] all-gather(c), …
//!                                                d = s4[4,4,2]{2,1,0:E(4)} bitcast-convert(h)
//!                                                g = s4[4,8]{1,0:E(4)} bitcast(d)
//! ```
//!
//! The layout must pack the elements into bytes, and the size of the minor-most dimension must be a multiple
//! of the number of elements per byte. If an `all-to-all` splits a dimension, the size of each part must also
//! be a multiple of this number.

use hlo_ir::diag::Diag;
use hlo_ir::{ArrayShape, ElementType, InstrId, Layout, LayoutItems, Module, Op};
use hlo_passes::support::device_groups::{is_marked, participants};
use hlo_passes::support::effects::control_dependent;
use hlo_passes::support::expander::{Emitter, expand_all};
use hlo_passes::{PassInfo, Rewrites};

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "sub-byte-collective-normalization",
    summary: "make collectives of elements smaller than a byte move whole bytes",
    example: "\
HloModule sub_byte_collective_normalization, replica_count=2

ENTRY e {
  x = s4[2,8]{1,0:E(4)} parameter(0)
  ROOT g = s4[4,8]{1,0:E(4)} all-gather(x), replica_groups={}, dimensions={0}
}
",
    build: |_, _| Box::new(run),
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, rewrites: &mut Rewrites) -> Result<bool, Diag> {
    let pinned = control_dependent(module);
    let expand = |e: &mut Emitter<'_>, id: InstrId| {
        (!pinned.contains(&id) && !is_marked(e.module, id)).then(|| in_bytes(e, id))?
    };
    Ok(expand_all(module, "in-bytes", moves, expand, rewrites))
}

/// Checks whether an operation is a collective that only moves data.
fn moves(op: &Op) -> bool {
    match op {
        Op::AllGather(_) | Op::AllToAll(_) => true,
        Op::CollectiveBroadcast(a) => !a.has_dynamic_root,
        Op::CollectivePermute(a) => a.slice_sizes.0.is_empty(),
        _ => false,
    }
}

/// Returns the number of elements per byte and the minor-most dimension of an array. Returns `None` unless
/// the layout packs the elements, and each row along the minor-most dimension is a whole number of bytes.
fn packed(a: &ArrayShape) -> Option<(i64, usize)> {
    let bits = a.element_type.bit_width();
    let narrow = bits < 8 && (a.element_type.is_integer() || a.element_type.is_float()) && 8 % bits == 0;
    let layout = a.layout.as_ref()?;
    let fastest = a.minor_to_major().first().copied()?;
    let per_byte = i64::from(8 / bits.max(1));
    let fits = narrow
        && a.is_static()
        && *layout == packed_layout(a.minor_to_major().to_vec(), bits)
        && a.dims.get(fastest).is_some_and(|d| d % per_byte == 0);
    fits.then_some((per_byte, fastest))
}

/// Returns the layout with the minor-to-major order `order`, in which each element has `bits` bits.
fn packed_layout(order: Vec<usize>, bits: u32) -> Layout {
    let items = LayoutItems { element_size_bits: i64::from(bits), ..LayoutItems::default() };
    Layout::new(order.into_iter().map(|d| d as u32)).with_items(items)
}

fn in_bytes(e: &mut Emitter<'_>, id: InstrId) -> Option<InstrId> {
    let &[x] = e.module[id].operands.as_slice() else { return None };
    let (from, to) = (e.array(x)?, e.array(id)?);
    let (per_byte, _) = packed(&from)?;
    let op = e.module[id].op.clone();
    if let Op::AllToAll(a) = &op
        && let Some(&along) = a.dimensions.first()
    {
        let devices = participants(e.module, &a.replica_groups, a.channel_id, false)?;
        let size = *to.dims.get(usize::try_from(along).ok()?)?;
        if devices < 1 || size % devices.checked_mul(per_byte)? != 0 {
            return None;
        }
    }
    let elements = e.add(by_byte(&from)?, Op::Bitcast, &[x]);
    let sent = e.add(in_whole_bytes(&from)?, Op::BitcastConvert, &[elements]);
    let received = e.add(in_whole_bytes(&to)?, op, &[sent]);
    let elements = e.add(by_byte(&to)?, Op::BitcastConvert, &[received]);
    Some(e.add(to, Op::Bitcast, &[elements]))
}

/// Returns the shape of the array with an additional last dimension, which contains the elements of each
/// byte.
fn by_byte(a: &ArrayShape) -> Option<ArrayShape> {
    let (per_byte, fastest) = packed(a)?;
    let mut dims = a.dims.clone();
    dims[fastest] /= per_byte;
    dims.push(per_byte);
    let order = std::iter::once(a.rank()).chain(a.minor_to_major()).collect();
    let layout = packed_layout(order, a.element_type.bit_width());
    Some(ArrayShape::new(a.element_type, dims).with_layout(layout))
}

/// Returns the shape of the array if its bytes are the elements, as `s8`.
fn in_whole_bytes(a: &ArrayShape) -> Option<ArrayShape> {
    let (per_byte, fastest) = packed(a)?;
    let mut dims = a.dims.clone();
    dims[fastest] /= per_byte;
    let layout = Layout::new(a.minor_to_major().into_iter().map(|d| d as u32));
    Some(ArrayShape::new(ElementType::S8, dims).with_layout(layout))
}
