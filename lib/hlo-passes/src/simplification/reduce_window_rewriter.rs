//! `reduce-window-rewriter`: computes cumulative sums, products and extrema in blocks instead of with windows
//! as long as the array.
//!
//! ```text
//! x = f32[1000] parameter(0)
//! r = f32[1000] reduce-window(x, 0), window={size=1000 pad=999_0}, to_apply=add
//! →
//! p = f32[1008] pad(x, 0), padding=0_8
//! b = f32[63,16] reshape(p)
//! s = f32[63,16] reduce-window(b, 0), window={size=1x16 pad=0_0x15_0}, to_apply=add
//! e = f32[63] reshape(slice(s)), slice={[0:63], [15:16]}
//! t = f32[63] reduce-window(e, 0), window={size=63 pad=62_0}, to_apply=add
//! o = f32[63,16] broadcast(pad(t, 0)), padding=1_-1, dimensions={0}
//! r = f32[1000] slice(reshape(add(o, s))), slice={[0:1000]}
//! ```
//!
//! The sums of the blocks form such an array again and shrink in the same way. The work for `n` elements is
//! proportional to `16 n` instead of `n²`. Elements are not combined strictly in sequence, as in XLA, but in
//! an order that depends only on the shape. Sums of narrow floating-point types are rounded once, at the end.
//!
//! Compiled code carries totals from element to element, which is linear work for every computation too
//! (`hlo_kernel::cumulative`). The CPU pipeline therefore creates blocks only if there are few lines along the
//! dimension, because threads could not share them (`few-lines`).

use crate::pass_info::{OptionInfo, OptionValue, PassInfo, Preservation};
use crate::support::combiner::{binary_combiner, rounds_in_between};
use crate::support::constants::{is_splat_integer, splat};
use crate::support::rewrite::{Cx, Pattern, pattern_pass};
use hlo_ir::attr::{PaddingDim, ReduceWindowAttrs, SliceDim, Window, WindowDim};
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, ComputationId, Dims, ElementType, InstrId, Module, Op, Opcode};

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "reduce-window-rewriter",
    summary: "compute cumulative sums, products and extrema in blocks: linear work instead of quadratic",
    options: &[OptionInfo {
        name: "few-lines",
        summary: "whether to rewrite only reductions along fewer than 8 lines (compiled code does the others in linear time)",
        default: OptionValue::Switch(false),
    }],
    keeps: Preservation::Values,
    example: "\
HloModule reduce_window_rewriter

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

ENTRY e {
  x = f32[64] parameter(0)
  zero = f32[] constant(0)
  ROOT r = f32[64] reduce-window(x, zero), window={size=64 pad=63_0}, to_apply=add
}
",
    patterns: ALL_PATTERNS,
    build: |_, options| {
        if options.switch("few-lines") {
            pattern_pass(FEW_LINES_PATTERNS)
        } else {
            pattern_pass(ALL_PATTERNS)
        }
    },
    ..PassInfo::PLAIN
};

static ALL_PATTERNS: &[&[Pattern]] = &[&[pattern(|cx, id| rewrite(cx, id, i64::MAX))]];
static FEW_LINES_PATTERNS: &[&[Pattern]] = &[&[pattern(|cx, id| rewrite(cx, id, MIN_PARALLEL_LINES))]];

const fn pattern(apply: fn(&mut Cx<'_>, InstrId) -> Option<InstrId>) -> Pattern {
    Pattern::new(
        "rewrite-cumulative",
        "reduce-window(x, init) of all preceding elements → the same in blocks of 16, and over the totals of the blocks",
        &[Opcode::ReduceWindow],
        apply,
    )
}

/// Number of lines that threads can share.
const MIN_PARALLEL_LINES: i64 = 8;

/// The length of a block, which is also the longest window that stays. It is the same in XLA.
const BLOCK_LENGTH: i64 = 16;

/// A cumulative reduction.
#[derive(Clone)]
struct Cumulative {
    /// The dimension along which it runs.
    dimension: usize,
    /// Whether it starts at the last element.
    backwards: bool,
    /// The operation that combines two elements.
    op: Op,
    /// The computation that applies `op`.
    to_apply: ComputationId,
    /// The initial value.
    init: InstrId,
}

impl Cumulative {
    /// Returns the padding along its dimension: before the first element in its direction, and after the
    /// last.
    fn padding(&self, rank: usize, [first, last]: [i64; 2]) -> Op {
        let mut padding = vec![PaddingDim::default(); rank];
        let [low, high] = if self.backwards { [last, first] } else { [first, last] };
        padding[self.dimension] = PaddingDim { low, high, interior: 0 };
        Op::pad(padding)
    }

    /// Returns the cumulative reduction along dimension `at` of `size` elements.
    fn window(&self, rank: usize, at: usize, size: i64) -> Op {
        let mut dims = vec![WindowDim::default(); rank];
        let [pad_low, pad_high] = if self.backwards { [0, size - 1] } else { [size - 1, 0] };
        dims[at] = WindowDim { size, pad_low, pad_high, ..WindowDim::default() };
        Op::ReduceWindow(Box::new(ReduceWindowAttrs { window: Window { dims }, to_apply: self.to_apply }))
    }
}

/// Rewrites a cumulative reduction along fewer than `lines` lines.
fn rewrite(cx: &mut Cx<'_>, id: InstrId, lines: i64) -> Option<InstrId> {
    let cumulative = recognize(cx, id)?;
    let (x, shape) = (cx.operand(id, 0)?, cx.array(id)?);
    if shape.element_count() as i64 / shape.dims[cumulative.dimension] >= lines {
        return None;
    }
    if !rounds_in_between(cumulative.op.opcode(), shape.element_type) {
        return blocks(cx, x, &cumulative);
    }
    // Emit the reduction in f32, which is rewritten in turn.
    let scalar = ArrayShape::new(ElementType::F32, []);
    let init = cx.splat_integer(&scalar, i64::from(cumulative.op == Op::Multiply))?;
    let to_apply = cx.combiner(&cumulative.op, ElementType::F32);
    let wide = shape.with_element_type(ElementType::F32);
    let x = cx.convert(x, ElementType::F32)?;
    let (at, size) = (cumulative.dimension, shape.dims[cumulative.dimension]);
    let window = Cumulative { to_apply, ..cumulative }.window(shape.rank(), at, size);
    let sum = cx.add(wide, window, &[x, init]);
    Some(cx.add_same_shape(Op::Convert, &[sum]))
}

/// Emits the cumulative reduction of `x` by blocks.
fn blocks(cx: &mut Cx<'_>, x: InstrId, c: &Cumulative) -> Option<InstrId> {
    let shape = cx.array(x)?;
    let (rank, at, init) = (shape.rank(), c.dimension, c.init);
    let size = shape.dims[at];
    let count = size.checked_add(BLOCK_LENGTH - 1)? / BLOCK_LENGTH;
    let padded = count.checked_mul(BLOCK_LENGTH)?;
    let array = |dims: &Dims| ArrayShape::new(shape.element_type, dims.iter().copied());
    let with = |n: i64| {
        let mut dims = shape.dims.clone();
        dims[at] = n;
        dims
    };
    let mut split = with(count);
    split.insert(at + 1, BLOCK_LENGTH);

    let x = if padded == size {
        x
    } else {
        cx.add(array(&with(padded)), c.padding(rank, [0, padded - size]), &[x, init])
    };
    let x = cx.reshaped(x, &split)?;
    let inside = cx.add(array(&split), c.window(rank + 1, at + 1, BLOCK_LENGTH), &[x, init]);
    let last = if c.backwards { 0 } else { BLOCK_LENGTH - 1 };
    let mut ends = split.clone();
    ends[at + 1] = 1;
    let ends = cx.add(array(&ends), part(&split, at + 1, last, last + 1), &[inside]);
    let ends = cx.reshaped(ends, &with(count))?;
    let sums = cx.add(array(&with(count)), c.window(rank, at, count), &[ends, init]);
    // Add the total of the preceding blocks to each block.
    let before = cx.add(array(&with(count)), c.padding(rank, [1, -1]), &[sums, init]);
    let kept = (0..=rank as i64).filter(|&d| d != at as i64 + 1);
    let before = cx.add(array(&split), Op::broadcast(kept), &[before]);
    let all = cx.add(array(&split), c.op.clone(), &[before, inside]);
    if padded == size {
        return Some(cx.add_same_shape(Op::reshape(), &[all]));
    }
    let all = cx.reshaped(all, &with(padded))?;
    let first = if c.backwards { padded - size } else { 0 };
    Some(cx.add_same_shape(part(&with(padded), at, first, first + size), &[all]))
}

/// Returns the slice `start..limit` along one dimension of an array with these sizes.
fn part(dims: &[i64], at: usize, start: i64, limit: i64) -> Op {
    let mut slice: Vec<SliceDim> =
        dims.iter().map(|&limit| SliceDim { start: 0, limit, stride: 1 }).collect();
    slice[at] = SliceDim { start, limit, stride: 1 };
    Op::slice(slice)
}

/// Recognizes a long cumulative reduction whose elements may be combined in any grouping.
fn recognize(cx: &Cx<'_>, id: InstrId) -> Option<Cumulative> {
    let Op::ReduceWindow(attrs) = &cx.module[id].op else { return None };
    let [x, init] = cx.module[id].operands[..] else { return None };
    let shape = cx.array(x)?;
    let hlo_analysis::Cumulative { dimension, length, backwards } =
        hlo_analysis::cumulative(&attrs.window, &shape.dims)?;
    if length <= BLOCK_LENGTH {
        return None;
    }
    let combiner = binary_combiner(cx.module, attrs.to_apply)?;
    // The initial value is combined once per block.
    let fits = match combiner {
        Opcode::Maximum | Opcode::Minimum => !shape.element_type.is_complex(),
        Opcode::And | Opcode::Or => true,
        Opcode::Add | Opcode::Xor => is_zero(cx.module, init),
        Opcode::Multiply => is_splat_integer(cx.module, init, 1),
        _ => false,
    };
    let op = cx.module[cx.module[attrs.to_apply].root()].op.clone();
    fits.then_some(Cumulative { dimension, backwards, op, to_apply: attrs.to_apply, init })
}

/// Returns whether every bit of the constant is zero.
fn is_zero(module: &Module, id: InstrId) -> bool {
    splat(module, id).is_some_and(|(_, bytes)| bytes.iter().all(|&b| b == 0))
}
