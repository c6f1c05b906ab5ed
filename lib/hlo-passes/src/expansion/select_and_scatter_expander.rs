//! `select_and_scatter_expander`: finds the selected positions by a `reduce-window` over elements and their
//! indices, and scatters the source to these positions.
//!
//! ```text
//! select-and-scatter(x, source, init)  →  (v, i) = reduce-window(x, iota), to_apply=selected
//!                                         scatter(broadcast(init), i, source)
//! ```
//!
//! The index of a window without elements is -1, at which nothing is written.

use crate::pass_info::PassInfo;
use crate::support::expander::{Emitter, expansion_pass};
use hlo_ir::attr::{ComparisonDirection, ReduceWindowAttrs, ScatterAttrs, SelectAndScatterAttrs};
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, ComputationId, ElementType, InstrId, Op, Shape};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "select_and_scatter_expander",
    summary: "replace select-and-scatter by a reduce-window of indices and a scatter",
    example: "\
HloModule select_and_scatter_expander

ge {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=GE
}

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

ENTRY e {
  x = f32[6] parameter(0)
  source = f32[3] parameter(1)
  init = f32[] constant(0)
  ROOT r = f32[6] select-and-scatter(x, source, init), window={size=2 stride=2}, select=ge, scatter=add
}
",
    build: |_, _| {
        let wanted = |op: &Op| matches!(op, Op::SelectAndScatter(_));
        expansion_pass("select-and-scatter", wanted, expand)
    },
    ..PassInfo::PLAIN
};

fn expand(e: &mut Emitter<'_>, id: InstrId) -> Option<InstrId> {
    let Op::SelectAndScatter(attrs) = e.module[id].op.clone() else { return None };
    let (x, source, init) = (e.operand(0)?, e.operand(1)?, e.operand(2)?);
    let (shape, places) = (e.array(x)?, e.array(source)?.dims);
    let rank = shape.rank();
    if !e.is_static(id) || rank == 0 {
        return None;
    }
    let index = if shape.dims.iter().all(|&d| i32::try_from(d).is_ok()) {
        ElementType::S32
    } else {
        ElementType::S64
    };
    let mut operands = vec![x];
    operands.extend((0..rank).map(|d| e.iota(index, &shape.dims, d)));
    operands.push(init);
    for _ in 0..rank {
        operands.push(e.number(index, -1.0)?);
    }
    let to_apply = selected(e, &attrs, shape.element_type, index, rank)?;
    let types = std::iter::once(shape.element_type).chain(std::iter::repeat_n(index, rank));
    let result = Shape::Tuple(types.map(|ty| Shape::array(ty, places.iter().copied())).collect());
    let window = ReduceWindowAttrs { window: attrs.window.clone(), to_apply };
    let found = e.add(result, Op::ReduceWindow(Box::new(window)), &operands);

    let mut column = places.to_vec();
    column.push(1);
    let mut columns = Vec::new();
    for d in 0..rank {
        let indices = e.element(found, d + 1)?;
        columns.push(e.reshaped(indices, &column)?);
    }
    let indices = e.joined(&columns, places.len())?;
    let made = e.filled(&shape, init);
    let scatter = ScatterAttrs {
        inserted_window_dims: (0..rank as i64).collect(),
        scatter_dims_to_operand_dims: (0..rank as i64).collect(),
        index_vector_dim: rank as i64,
        to_apply: attrs.scatter,
        ..ScatterAttrs::default()
    };
    let shape = ArrayShape::new(shape.element_type, shape.dims);
    let result = e.add(shape, Op::Scatter(Box::new(scatter)), &[made, indices, source]);
    e.results(&[result])
}

/// Returns a computation that selects one of two elements with their indices. A negative index means that
/// there is no element.
fn selected(
    e: &mut Emitter<'_>,
    attrs: &SelectAndScatterAttrs,
    ty: ElementType,
    index: ElementType,
    rank: usize,
) -> Option<ComputationId> {
    e.computation("selected", |e| {
        let mut side = |first: usize| -> Vec<InstrId> {
            let types = std::iter::once(ty).chain(std::iter::repeat_n(index, rank));
            types.enumerate().map(|(n, ty)| e.parameter(first + n, Shape::scalar(ty))).collect()
        };
        let (a, b) = (side(0), side(rank + 1));
        let zero = e.zero(index)?;
        let preferred = *e.call(attrs.select, &[a[0], b[0]])?.first()?;
        let (is_a, is_b) =
            (e.compare(a[1], ComparisonDirection::Ge, zero), e.compare(b[1], ComparisonDirection::Ge, zero));
        let no_b = e.same(Op::Not, &[is_b]);
        let rather = e.same(Op::Or, &[preferred, no_b]);
        let stays = e.same(Op::And, &[is_a, rather]);
        let values: Vec<InstrId> = a.iter().zip(&b).map(|(&a, &b)| e.select(stays, a, b)).collect();
        Some(e.tuple(&values))
    })
}
