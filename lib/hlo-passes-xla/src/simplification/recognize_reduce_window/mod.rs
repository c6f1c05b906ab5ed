//! `recognize-reduce-window`: replaces operations that combine shifted parts of an array by a
//! `reduce-window`.
//!
//! ```text
//! a = f32[6] slice(x), slice={[0:6]}       x = f32[10]
//! b = f32[6] slice(x), slice={[2:8]}       to_apply: add of two scalars
//! c = f32[6] slice(x), slice={[4:10]}
//! r = f32[6] add(add(a, b), c)         →   r = f32[6] reduce-window(x, -0), window={size=3 rhs_dilate=2}, to_apply=add
//! ```
//!
//! The parts are slices of one array, dynamic slices at constant starts, or pads of one array with the same
//! value. They are shifted along one dimension by the same step. The combining operation is `add`,
//! `multiply`, `maximum`, `minimum`, `and`, `or` or `xor`. The order of the parts does not matter if the
//! operation is exact in any order. Floating-point sums and products must be in the order of the window,
//! first to last. In types narrower than `f32`, which a window rounds once, they must have only two parts.
//! (XLA accepts any order.) An existing window grows by the parts that are combined with it.
//!
//! These stay unchanged: complex numbers and 8-bit floating-point numbers, strides, dynamic sizes, changes of
//! layout, the bodies of fusions, and instructions with control dependencies, a sharding or a
//! `backend_config`.
//!
//! The option `level` is XLA's. From level 2 on, sums and differences of arrays with constant factors become
//! products of all arrays, stacked, with the factors. Sums of two arrays without factors that are not parts
//! of one array stay. From level 3 on, factors may be arrays. The rewrite is exact for integers; sums of
//! `f32` and `f64` may be rounded elsewhere. A factor of a floating-point sum stays, because moving it would
//! change the rounding of that sum. Sums of other types stay too. (XLA rewrites these too.)

mod weighted;

use hlo_ir::attr::{PaddingDim, ReduceWindowAttrs, SliceDim, Window, WindowDim};
use hlo_ir::build::ComputationNamer;
use hlo_ir::diag::Diag;
use hlo_ir::{ArrayShape, Dims, InstrId, Literal, Module, Op, Opcode, Shape};
use hlo_passes::support::combiner::{Combiners, binary_combiner, identity, rounds_in_between};
use hlo_passes::support::constants::{scalar_integer, splat};
use hlo_passes::support::effects::{Effects, control_dependent, is_replaceable, remove_taken, take_unused};
use hlo_passes::support::fusions::fused_computations;
use hlo_passes::support::rewrite::same_layout;
use hlo_passes::{OptionInfo, OptionValue, PassInfo, Rewrites};
use std::collections::{BTreeSet, HashSet};

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "recognize-reduce-window",
    summary: "replace combinations of slices or pads of an array by a reduce-window",
    options: &[OptionInfo {
        name: "level",
        summary: "1: plain windows; 2: also sums with constant factors; 3: with any factors (2 and 3 may change the rounding of floats)",
        default: OptionValue::Count(1),
    }],
    example: "\
HloModule recognize_reduce_window

ENTRY e {
  x = f32[10] parameter(0)
  a = f32[6] slice(x), slice={[0:6]}
  b = f32[6] slice(x), slice={[2:8]}
  c = f32[6] slice(x), slice={[4:10]}
  ab = f32[6] add(a, b)
  ROOT r = f32[6] add(ab, c)
}
",
    build: |_, options| {
        let level = options.count("level");
        Box::new(move |module: &mut Module, rewrites: &mut Rewrites| run(module, level, rewrites))
    },
    ..PassInfo::PLAIN
};

/// Maximum size of a window, and so the maximum number of parts of an instruction.
const MAX_WINDOW: i64 = 64;

fn run(module: &mut Module, level: u64, rewrites: &mut Rewrites) -> Result<bool, Diag> {
    if level == 0 {
        return Ok(false);
    }
    let mut recognizer = Recognizer {
        pinned: control_dependent(module),
        namer: ComputationNamer::new(module),
        combiners: Combiners::default(),
    };
    let effects = Effects::of(module);
    let fused = fused_computations(module);
    let mut gone = BTreeSet::new();
    for c in module.computations().filter(|c| !fused.contains(c)).collect::<Vec<_>>() {
        // Visit users first, because their parts are removed with them.
        for id in module.post_order(c).into_iter().rev() {
            if !rewrites.allowed() {
                break;
            }
            let window =
                recognizer.find(module, id).and_then(|found| recognizer.reduce_window(module, id, &found));
            let (new, name) = match window {
                Some(new) => (new, "recognize"),
                None if level < 2 => continue,
                None => match weighted::product(&recognizer, module, id, level > 2) {
                    Some(new) => (new, "weighted-sum"),
                    None => continue,
                },
            };
            rewrites.made(name, &module[id].name);
            module.replace_all_uses_with(id, new);
            take_unused(module, &effects, &recognizer.pinned, id, &mut gone);
        }
    }
    Ok(remove_taken(module, gone))
}

/// One or several parts of an array that have the same size and are shifted by the same step.
#[derive(Clone)]
struct Parts {
    source: InstrId,
    /// The padding value, if parts extend beyond the array.
    padding: Option<InstrId>,
    /// The start of the first part.
    start: Dims,
    count: i64,
    /// The dimension along which the other parts are shifted, and the step.
    along: Option<(usize, i64)>,
}

/// Combined parts that form a window.
struct WindowedParts {
    parts: Parts,
    /// The dimension of the window, and its dilation.
    along: (usize, i64),
}

struct Recognizer {
    pinned: HashSet<InstrId>,
    namer: ComputationNamer,
    combiners: Combiners,
}

impl Recognizer {
    /// Returns the window whose elements an instruction combines.
    fn find(&self, module: &Module, id: InstrId) -> Option<WindowedParts> {
        let opcode = module[id].opcode();
        let ty = static_array(module, id)?.element_type;
        identity(opcode, ty)?;
        if !is_replaceable(module, &self.pinned, id) {
            return None;
        }
        let (mut all, is_chain) = self.parts(module, id)?;
        let any_order = !(ty.is_float() && matches!(opcode, Opcode::Add | Opcode::Multiply));
        let rank = module[id].shape.as_array()?.rank();
        let (first, rest) = all.split_first().filter(|_| all.iter().all(|p| p.start.len() == rank))?;
        let dimension = (0..rank).find(|&d| rest.iter().any(|p| p.start[d] != first.start[d]))?;
        let start = |p: &Parts| p.start[dimension];
        if any_order {
            all.sort_by_key(start);
        } else if start(&all[0]) > start(&all[1]) {
            // The first two terms of a sum may be exchanged.
            all.swap(0, 1);
        }
        let single = all.iter().skip(1).all(|p| p.count == 1);
        if !(any_order || is_chain && single) {
            return None;
        }
        let found = join(module, &all, dimension)?;
        let rounds = !any_order && rounds_in_between(opcode, ty) && found.parts.count > 2;
        (found.parts.count <= MAX_WINDOW && !rounds).then_some(found)
    }

    /// Returns whether `user` is the only user of the value.
    fn is_only_of(&self, module: &Module, id: InstrId, user: InstrId) -> bool {
        module.users(id) == [user] && !module.is_root(id) && is_replaceable(module, &self.pinned, id)
    }

    /// Returns the parts of an array that an instruction combines, including those of inner operations
    /// without other users. The second result is whether the operations form a chain, each of which combines
    /// the result of the previous ones with the next part.
    fn parts(&self, module: &Module, id: InstrId) -> Option<(Vec<Parts>, bool)> {
        let opcode = module[id].opcode();
        let (mut parts, mut count, mut is_chain) = (Vec::new(), 0i64, true);
        let mut work = vec![id];
        while let Some(node) = work.pop() {
            let &[a, b] = module[node].operands.as_slice() else { return None };
            let is_inner = |o: InstrId| module[o].opcode() == opcode && self.is_only_of(module, o, node);
            is_chain &= !(is_inner(a) && is_inner(b));
            for o in [b, a] {
                if is_inner(o) {
                    work.push(o);
                    continue;
                }
                let found = self.parts_of(module, o, node)?;
                count = count.checked_add(found.count).filter(|&n| n <= MAX_WINDOW)?;
                parts.push(found);
            }
        }
        parts.reverse();
        Some((parts, is_chain))
    }

    /// Returns the parts that an operand of `node` represents: a single part, or an existing window over
    /// parts.
    fn parts_of(&self, module: &Module, id: InstrId, node: InstrId) -> Option<Parts> {
        if let Some(part) = part_of(module, id) {
            return Some(part);
        }
        let Op::ReduceWindow(a) = &module[id].op else { return None };
        let &[of, init] = module[id].operands.as_slice() else { return None };
        let array = static_array(module, of)?;
        let opcode = module[node].opcode();
        let neutral = identity(opcode, array.element_type)?;
        let same = binary_combiner(module, a.to_apply) == Some(opcode)
            && splat(module, init).is_some_and(|(_, bytes)| bytes == neutral)
            && same_layout(&module[of].shape, &module[id].shape)
            && self.is_only_of(module, id, node);
        let window = &a.window.dims;
        let dimension = window.iter().position(|w| *w != WindowDim::default())?;
        let WindowDim { size, rhs_dilate, .. } = window[dimension];
        let plain = |d: usize, w: &WindowDim| {
            if d == dimension {
                *w == WindowDim { size, rhs_dilate, ..WindowDim::default() }
            } else {
                *w == WindowDim::default()
            }
        };
        if !same
            || size < 2
            || window.len() != array.rank()
            || !window.iter().enumerate().all(|(d, w)| plain(d, w))
        {
            return None;
        }
        let whole = Parts {
            source: of,
            padding: None,
            start: array.dims.iter().map(|_| 0).collect(),
            count: 1,
            along: None,
        };
        let base = part_of(module, of).unwrap_or(whole);
        Some(Parts { count: size, along: Some((dimension, rhs_dilate)), ..base })
    }

    /// Emits the windowed reduction that replaces `id`.
    fn reduce_window(&mut self, module: &mut Module, id: InstrId, found: &WindowedParts) -> Option<InstrId> {
        let WindowedParts { parts, along: (dimension, step) } = found;
        let result = static_array(module, id)?.clone();
        let source = static_array(module, parts.source)?.clone();
        let ty = result.element_type;
        let mut dims = result.dims.clone();
        let reach = parts.count.checked_sub(1)?.checked_mul(*step)?;
        dims[*dimension] = dims[*dimension].checked_add(reach)?;
        let literal = Literal::scalar_from_bytes(ty, &identity(module[id].opcode(), ty)?)?;

        let add = |module: &mut Module, shape: Shape, op: Op, operands: &[InstrId]| {
            module.add_like(id, shape, op, operands.iter().copied())
        };
        let base = ArrayShape { dims: dims.clone(), ..source.clone() };
        let from = match parts.padding {
            None if dims == source.dims => parts.source,
            None => add(module, base.into(), Op::slice(ranges(&parts.start, &dims)?), &[parts.source]),
            Some(value) => {
                let op = Op::pad(padding(&parts.start, &dims, &source.dims)?);
                add(module, base.into(), op, &[parts.source, value])
            }
        };
        let init = add(module, Shape::scalar(ty), Op::constant(literal), &[]);
        let op = module[id].op.clone();
        let to_apply = self.combiners.get(module, &mut self.namer, &op, ty, module[id].parent);
        let mut window = vec![WindowDim::default(); dims.len()];
        window[*dimension].size = parts.count;
        window[*dimension].rhs_dilate = *step;
        let attrs = ReduceWindowAttrs { window: Window { dims: window }, to_apply };
        Some(add(module, result.into(), Op::ReduceWindow(Box::new(attrs)), &[from, init]))
    }
}

/// Returns the shape of a static array other than a scalar.
fn static_array(module: &Module, id: InstrId) -> Option<&ArrayShape> {
    module[id].shape.as_array().filter(|a| a.is_static() && a.rank() > 0)
}

/// Returns the part that an instruction takes of an array, if it does nothing else.
fn part_of(module: &Module, id: InstrId) -> Option<Parts> {
    let source = *module[id].operands.first()?;
    let (array, part) = (static_array(module, source)?, static_array(module, id)?);
    let mut padding = None;
    let start: Dims = match &module[id].op {
        Op::Slice(a) if a.slice.iter().all(|s| s.stride == 1) => a.slice.iter().map(|s| s.start).collect(),
        Op::DynamicSlice(_) => {
            let places = module[id].operands.get(1..)?.iter().zip(array.dims.iter().zip(&part.dims));
            let start = |(&place, (&size, &taken)): (&InstrId, (&i64, &i64))| {
                // A start beyond the last valid position is clamped.
                let last = size.checked_sub(taken).filter(|&last| last >= 0)?;
                i64::try_from(scalar_integer(module, place)?.clamp(0, i128::from(last))).ok()
            };
            places.map(start).collect::<Option<_>>()?
        }
        Op::Pad(a) if a.padding.iter().all(|p| p.interior == 0) => {
            padding = Some(*module[id].operands.get(1)?);
            a.padding.iter().map(|p| p.low.checked_neg()).collect::<Option<_>>()?
        }
        _ => return None,
    };
    let fits = start.len() == array.rank()
        && part.rank() == array.rank()
        && same_layout(&module[id].shape, &module[source].shape);
    fits.then_some(Parts { source, padding, start, count: 1, along: None })
}

/// Combines parts, ordered along a dimension, into one window, if they are adjacent.
fn join(module: &Module, all: &[Parts], dimension: usize) -> Option<WindowedParts> {
    let (first, rest) = all.split_first()?;
    let step = match all.iter().find_map(|p| p.along) {
        Some((_, step)) => step,
        None => rest.first()?.start[dimension].checked_sub(first.start[dimension])?,
    };
    if step <= 0 {
        return None;
    }
    let (mut next, mut count) = (first.start[dimension], 0i64);
    for p in all {
        let others = p.start.iter().zip(&first.start).enumerate();
        let same = p.source == first.source
            && is_same_value(module, p.padding, first.padding)
            && others.filter(|&(d, _)| d != dimension).all(|(_, (a, b))| a == b)
            && p.along.is_none_or(|along| along == (dimension, step));
        if !same || p.start[dimension] != next {
            return None;
        }
        next = next.checked_add(p.count.checked_mul(step)?)?;
        count = count.checked_add(p.count)?;
    }
    let parts = Parts { count, ..first.clone() };
    Some(WindowedParts { parts, along: (dimension, step) })
}

/// Returns whether both values are equal, or constants with the same bits.
fn is_same_value(module: &Module, a: Option<InstrId>, b: Option<InstrId>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a == b || splat(module, a).is_some_and(|x| splat(module, b) == Some(x)),
        (None, None) => true,
        _ => false,
    }
}

/// Returns the ranges of a slice with this start and these sizes.
fn ranges(start: &[i64], sizes: &[i64]) -> Option<Vec<SliceDim>> {
    let range =
        |(&start, &size): (&i64, &i64)| Some(SliceDim { start, limit: start.checked_add(size)?, stride: 1 });
    start.iter().zip(sizes).map(range).collect()
}

/// Returns the padding of an array with sizes `source` that produces a result with this start and these
/// sizes.
fn padding(start: &[i64], sizes: &[i64], source: &[i64]) -> Option<Vec<PaddingDim>> {
    let pad = |((&start, &size), &source): ((&i64, &i64), &i64)| {
        let high = start.checked_add(size)?.checked_sub(source)?;
        Some(PaddingDim { low: start.checked_neg()?, high, interior: 0 })
    };
    start.iter().zip(sizes).zip(source).map(pad).collect()
}
