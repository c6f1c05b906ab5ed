//! `bitcast_dtypes_expander`: expands `bitcast-convert` between element types of different widths to shifts.
//!
//! ```text
//! bitcast-convert(x) : u32[4] → u8[4,4]  →  convert(x[i] >> 8·j)
//! bitcast-convert(x) : u8[4,4] → u32[4]  →  Σ convert(x[i,j]) << 8·j
//! ```
//!
//! Bitcasts between types of equal width are not changed, because they cost nothing.

use crate::pass_info::PassInfo;
use crate::support::arrays::unsigned;
use crate::support::expander::{Emitter, expansion_pass};
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, InstrId, Op};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "bitcast_dtypes_expander",
    summary: "replace bitcast-converts between types of different widths by shifts",
    example: "\
HloModule bitcast_dtypes_expander

ENTRY e {
  x = u32[4] parameter(0)
  ROOT y = u8[4,4] bitcast-convert(x)
}
",
    build: |_, _| expansion_pass("bitcast-convert", |op| matches!(op, Op::BitcastConvert), expand),
    ..PassInfo::PLAIN
};

fn expand(e: &mut Emitter<'_>, id: InstrId) -> Option<InstrId> {
    let x = e.operand(0)?;
    let shape = e.shape();
    let (from, to) = (e.array(x)?, shape.as_array()?.clone());
    let (wide, narrow) = (from.element_type.bit_width(), to.element_type.bit_width());
    if from.element_type.is_complex() || to.element_type.is_complex() || !e.is_static(id) {
        return None;
    }
    let bits = if wide > narrow && wide % narrow == 0 && to.rank() == from.rank() + 1 {
        let (wide_bits, narrow_bits) = (unsigned(wide)?, unsigned(narrow)?);
        let parts = ArrayShape::new(wide_bits, to.dims.iter().copied());
        let bits = e.reinterpret(x, wide_bits)?;
        let spread = e.broadcast(bits, &parts, &(0..from.rank() as i64).collect::<Vec<_>>());
        let shifts = shifts(e, &parts, narrow)?;
        let shifted = e.same(Op::ShiftRightLogical, &[spread, shifts]);
        e.convert(shifted, narrow_bits)?
    } else if wide < narrow && narrow % wide == 0 && from.rank() == to.rank() + 1 {
        let (part_bits, whole_bits) = (unsigned(wide)?, unsigned(narrow)?);
        let parts = ArrayShape::new(whole_bits, from.dims.iter().copied());
        let bits = e.reinterpret(x, part_bits)?;
        let bits = e.convert(bits, whole_bits)?;
        let shifts = shifts(e, &parts, wide)?;
        let shifted = e.same(Op::ShiftLeft, &[bits, shifts]);
        e.sum(shifted, &[to.rank() as i64])?
    } else {
        return None;
    };
    let result = e.reinterpret(bits, to.element_type)?;
    e.finish(result, &shape)
}

/// Returns the bit offset of each element in its word: its index along the last dimension multiplied by the
/// width of a part.
fn shifts(e: &mut Emitter<'_>, parts: &ArrayShape, width: u32) -> Option<InstrId> {
    let places = e.iota(parts.element_type, &parts.dims, parts.rank().checked_sub(1)?);
    let width = e.splat(places, parts.element_type, f64::from(width))?;
    Some(e.same(Op::Multiply, &[places, width]))
}
