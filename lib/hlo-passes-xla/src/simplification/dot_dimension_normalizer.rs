//! `dot_dimension_normalizer`: merges the contracting dimensions of dots into one.
//!
//! ```text
//! d = f32[12,44] dot(x, y), lhs_contracting_dims={0,2}, …          x = f32[2,12,4], y = f32[2,4,44]
//! →
//! d = f32[12,44] dot(reshape(transpose(x)), reshape(y)), lhs_contracting_dims={1}, rhs_contracting_dims={0}
//! ```
//!
//! Dimensions that are not consecutive move to the end, in a layout in which the transpose moves no elements.
//! With `free-dimensions`, free dimensions are merged too, and the result is reshaped. A reshape of a reshape
//! is replaced by a single reshape, or by the original array.

use hlo_ir::attr::DotAttrs;
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, Dims, InstrId, Layout, Op, Opcode};
use hlo_passes::support::rewrite::{Cx, Pattern, pattern_pass};
use hlo_passes::{OptionInfo, OptionValue, PassInfo};

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "dot_dimension_normalizer",
    summary: "merge the contracting dimensions of each dot into one",
    options: &[OptionInfo {
        name: "free-dimensions",
        summary: "whether to merge the free dimensions of each operand too",
        default: OptionValue::Switch(false),
    }],
    example: "\
HloModule dot_dimension_normalizer

ENTRY e {
  x = f32[2,12,4] parameter(0)
  y = f32[2,4,44] parameter(1)
  ROOT d = f32[12,44] dot(x, y), lhs_contracting_dims={0,2}, rhs_contracting_dims={0,1}
}
",
    patterns: CONTRACTING,
    build: |_, options| {
        if options.switch("free-dimensions") { pattern_pass(ALL) } else { pattern_pass(CONTRACTING) }
    },
    ..PassInfo::PLAIN
};

static ALL: &[&[Pattern]] = &[CONTRACTED, FREE];
static CONTRACTING: &[&[Pattern]] = &[CONTRACTED];

static CONTRACTED: &[Pattern] = &[Pattern::new(
    "one-contracting",
    "dot that sums over several dimensions → dot that sums over one",
    &[Opcode::Dot],
    one_contracting,
)];

static FREE: &[Pattern] = &[Pattern::new(
    "one-free",
    "dot of operands with several free dimensions → dot of operands with one free dimension, reshaped",
    &[Opcode::Dot],
    one_free,
)];

/// An operand, and its dimensions by kind.
struct Side {
    value: InstrId,
    batch: Dims,
    free: Dims,
    contracting: Dims,
}

/// A kind of dimensions to merge.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Free,
    Contracting,
}

impl Side {
    fn new(cx: &Cx<'_>, value: InstrId, batch: &Dims, contracting: &Dims) -> Option<Self> {
        let rank = cx.array(value)?.rank() as i64;
        let free = (0..rank).filter(|d| !batch.contains(d) && !contracting.contains(d)).collect();
        Some(Self { value, batch: batch.clone(), free, contracting: contracting.clone() })
    }

    fn of(&mut self, kind: Kind) -> &mut Dims {
        match kind {
            Kind::Free => &mut self.free,
            Kind::Contracting => &mut self.contracting,
        }
    }

    /// Renumbers all dimensions.
    fn renumber(&mut self, number: impl Fn(i64) -> i64) {
        for list in [&mut self.batch, &mut self.free, &mut self.contracting] {
            list.iter_mut().for_each(|d| *d = number(*d));
        }
    }

    /// Merges the dimensions of a kind.
    fn merge(&mut self, cx: &mut Cx<'_>, kind: Kind) -> Option<()> {
        let dims = self.of(kind).clone();
        let Some(&first) = dims.first().filter(|_| dims.len() > 1) else { return Some(()) };
        if !dims.iter().copied().eq(first..first + dims.len() as i64) {
            let rank = cx.array(self.value)?.rank() as i64;
            let order: Dims = (0..rank).filter(|d| !dims.contains(d)).chain(dims.iter().copied()).collect();
            self.value = transposed(cx, self.value, &order)?;
            self.renumber(|d| order.iter().position(|&o| o == d).unwrap_or_default() as i64);
            return self.merge(cx, kind);
        }
        let shape = cx.array(self.value)?;
        let (start, end) = (usize::try_from(first).ok()?, usize::try_from(first).ok()? + dims.len());
        let one = shape.dims.get(start..end)?.iter().try_fold(1i64, |n, &d| n.checked_mul(d))?;
        let sizes: Dims =
            shape.dims[..start].iter().chain([&one]).chain(&shape.dims[end..]).copied().collect();
        self.value = reshaped(cx, self.value, &sizes)?;
        let gone = dims.len() as i64 - 1;
        self.renumber(|d| if d > first { (d - gone).max(first) } else { d });
        self.of(kind).truncate(1);
        Some(())
    }

    /// Returns the sizes of some dimensions.
    fn sizes(&self, cx: &Cx<'_>, dims: &Dims) -> Option<Dims> {
        let all = cx.array(self.value)?.dims;
        dims.iter().map(|&d| usize::try_from(d).ok().and_then(|d| all.get(d).copied())).collect()
    }
}

/// Transposes an array, in a layout that keeps its elements in place.
fn transposed(cx: &mut Cx<'_>, x: InstrId, order: &Dims) -> Option<InstrId> {
    let from = cx.array(x)?;
    let dims = order.iter().map(|&d| from.dims.get(usize::try_from(d).ok()?).copied());
    let to = ArrayShape::new(from.element_type, dims.collect::<Option<Dims>>()?);
    let place = |d: usize| order.iter().position(|&o| o == d as i64).map(|p| p as u32);
    let layout = from.minor_to_major().into_iter().map(place).collect::<Option<Vec<u32>>>()?;
    let to = if from.layout_items().is_some() { to } else { to.with_layout(Layout::new(layout)) };
    Some(cx.add(to, Op::transpose(order.iter().copied()), &[x]))
}

/// Reshapes an array. If it is itself a reshape, returns the original array if that has these sizes.
fn reshaped(cx: &mut Cx<'_>, x: InstrId, sizes: &Dims) -> Option<InstrId> {
    let mut from = x;
    while cx.array(from)?.dims != *sizes {
        match cx.module[from].op {
            Op::Reshape(_) if cx.array(cx.operand(from, 0)?).is_some() => from = cx.operand(from, 0)?,
            _ => return cx.reshaped(from, sizes),
        }
    }
    Some(from)
}

fn one_contracting(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Dot(a) = &cx.module[id].op else { return None };
    (a.lhs_contracting_dims.len() > 1).then(|| normalized(cx, id, &[Kind::Contracting]))?
}

fn one_free(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    normalized(cx, id, &[Kind::Free])
}

/// Emits the dot with the dimensions of these kinds merged. Returns `None` if there is nothing to merge.
fn normalized(cx: &mut Cx<'_>, id: InstrId, kinds: &[Kind]) -> Option<InstrId> {
    let Op::Dot(a) = cx.module[id].op.clone() else { return None };
    let (lhs, rhs, to) = (cx.operand(id, 0)?, cx.operand(id, 1)?, cx.array(id)?);
    let mut left = Side::new(cx, lhs, &a.lhs_batch_dims, &a.lhs_contracting_dims)?;
    let mut right = Side::new(cx, rhs, &a.rhs_batch_dims, &a.rhs_contracting_dims)?;
    for &kind in kinds {
        left.merge(cx, kind)?;
        right.merge(cx, kind)?;
    }
    if (left.value, right.value) == (lhs, rhs) {
        return None;
    }
    let mut sizes = left.sizes(cx, &left.batch)?;
    sizes.extend(left.sizes(cx, &left.free)?);
    sizes.extend(right.sizes(cx, &right.free)?);
    let attrs = DotAttrs {
        lhs_batch_dims: left.batch,
        lhs_contracting_dims: left.contracting,
        rhs_batch_dims: right.batch,
        rhs_contracting_dims: right.contracting,
        ..*a
    };
    let (op, operands) = (Op::Dot(Box::new(attrs)), [left.value, right.value]);
    if sizes == to.dims {
        return Some(cx.add_same_shape(op, &operands));
    }
    let product = cx.add(ArrayShape::new(to.element_type, sizes), op, &operands);
    Some(cx.add_same_shape(Op::reshape(), &[product]))
}
