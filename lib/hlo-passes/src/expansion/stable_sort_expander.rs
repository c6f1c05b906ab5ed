//! `stable-sort-expander`: converts stable sorts to unstable ones that also compare the positions of the
//! elements.
//!
//! ```text
//! sort(x), is_stable=true, to_apply=less  →  sort(x, iota), to_apply=less_or_before
//! less_or_before(a, b, i, j)  =  i < j ? !less(b, a) : less(a, b)
//! ```
//!
//! If neither of two elements is less than the other, the one that came first stays first, so equal elements
//! keep their order. If an operand is already a suitable `iota`, the pass does not add another.

use crate::pass_info::PassInfo;
use crate::support::constants::integer_bytes;
use crate::support::expander::{Emitter, expansion_pass};
use hlo_ir::attr::{ComparisonDirection, SortAttrs};
use hlo_ir::build::Build;
use hlo_ir::{ComputationId, ElementType, InstrId, Op, Shape};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "stable-sort-expander",
    summary: "make sorts stable by comparing the positions of equal elements",
    example: "\
HloModule stable_sort_expander

less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT
}

ENTRY e {
  x = f32[8] parameter(0)
  ROOT s = f32[8] sort(x), dimensions={0}, is_stable=true, to_apply=less
}
",
    build: |_, _| expansion_pass("stable-sort", is_stable, expand),
    ..PassInfo::PLAIN
};

fn is_stable(op: &Op) -> bool {
    matches!(op, Op::Sort(a) if a.is_stable)
}

fn expand(e: &mut Emitter<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Sort(attrs) = e.module[id].op.clone() else { return None };
    let mut operands = e.module[id].operands.to_vec();
    let count = operands.len();
    let dims = e.array(*operands.first()?)?.dims;
    let &along = attrs.dimensions.first()?;
    let size = *dims.get(usize::try_from(along).ok()?)?;
    if !e.is_static(id) {
        return None;
    }
    let holds =
        |ty: ElementType| ty.is_integer() && integer_bytes(ty, size.saturating_sub(1).max(0)).is_some();
    let numbers = |e: &Emitter<'_>, o: InstrId| {
        let along = matches!(&e.module[o].op, Op::Iota(a) if a.iota_dimension == along);
        along && e.array(o).is_some_and(|a| holds(a.element_type))
    };
    let place = operands.iter().position(|&o| numbers(e, o));
    let place = match place {
        Some(place) => place,
        None => {
            let ty = if holds(ElementType::S32) { ElementType::S32 } else { ElementType::S64 };
            operands.push(e.iota(ty, &dims, along as usize));
            count
        }
    };
    let to_apply = comparator(e, attrs.to_apply, &operands, count, place)?;
    let shapes: Vec<Shape> = operands.iter().map(|&o| e.module[o].shape.clone()).collect();
    let shape = if let [one] = shapes.as_slice() { one.clone() } else { Shape::tuple(shapes) };
    let sorted = e.add(shape, Op::Sort(SortAttrs { is_stable: false, to_apply, ..attrs }), &operands);
    let results = e.elements(sorted)?;
    e.results(results.get(..count)?)
}

/// Returns a comparator for elements and their positions. `less` compares the first `count` operands, and
/// operand `place` contains the original positions.
fn comparator(
    e: &mut Emitter<'_>,
    less: ComputationId,
    operands: &[InstrId],
    count: usize,
    place: usize,
) -> Option<ComputationId> {
    let types = operands.iter().map(|&o| Some(e.array(o)?.element_type)).collect::<Option<Vec<_>>>()?;
    e.computation("less_or_before", |e| {
        let mut parameters = Vec::new();
        for (n, &ty) in types.iter().flat_map(|ty| [ty, ty]).enumerate() {
            parameters.push(e.parameter(n, Shape::scalar(ty)));
        }
        let arguments = parameters.get(..2 * count)?.to_vec();
        let swapped: Vec<InstrId> = arguments.chunks_exact(2).flat_map(|pair| [pair[1], pair[0]]).collect();
        let forward = *e.call(less, &arguments)?.first()?;
        let backward = *e.call(less, &swapped)?.first()?;
        let was_first = e.compare(parameters[2 * place], ComparisonDirection::Lt, parameters[2 * place + 1]);
        let not_less = e.same(Op::Not, &[backward]);
        Some(e.select(was_first, not_less, forward))
    })
}
