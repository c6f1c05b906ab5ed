//! `reshape-decomposer`: converts every reshape to a bitcast, with copies if the layouts are not row-major.
//!
//! ```text
//! reshape(x) : f32[6], x of f32[2,3]{0,1}  →  bitcast(copy(x) : f32[2,3]{1,0}) : f32[6]
//! ```
//!
//! A reshape keeps the row-major order of the elements. So does a bitcast between row-major arrays, which
//! moves no data. Layouts with tiles or other properties are not changed.

use crate::pass_info::PassInfo;
use crate::support::expander::{Emitter, expansion_pass};
use hlo_ir::{ArrayShape, InstrId, Op};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "reshape-decomposer",
    summary: "replace reshapes by bitcasts, with copies of arrays that are not row-major",
    example: "\
HloModule reshape_decomposer

ENTRY e {
  x = f32[2,3]{0,1} parameter(0)
  ROOT r = f32[6] reshape(x)
}
",
    build: |_, _| expansion_pass("reshape", |op| matches!(op, Op::Reshape(_)), expand),
    ..PassInfo::PLAIN
};

fn expand(e: &mut Emitter<'_>, id: InstrId) -> Option<InstrId> {
    let x = e.operand(0)?;
    let (from, shape) = (e.array(x)?, e.shape());
    let to = shape.as_array()?.clone();
    let is_plain = |a: &ArrayShape| a.layout_items().is_none();
    if !e.is_static(id) || !is_plain(&from) || !is_plain(&to) {
        return None;
    }
    let row_major = |a: &ArrayShape| ArrayShape::new(a.element_type, a.dims.iter().copied());
    let x = if from.is_row_major() { x } else { e.add(row_major(&from), Op::Copy, &[x]) };
    if to.is_row_major() {
        return Some(e.add(shape, Op::Bitcast, &[x]));
    }
    let cast = e.add(row_major(&to), Op::Bitcast, &[x]);
    Some(e.add(shape, Op::Copy, &[cast]))
}
