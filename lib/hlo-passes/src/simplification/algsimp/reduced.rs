//! Patterns on reduce of a value that was moved, repeated or padded.

use super::reduce::reduce_parts;
use crate::support::combiner::{binary_combiner, is_neutral};
use crate::support::constants::{Number, float_bytes, is_splat_float, wide_integer_bytes};
use crate::support::rewrite::{Cx, Pattern, index};
use hlo_ir::attr::ReduceAttrs;
use hlo_ir::{ArrayShape, Dims, ElementType, InstrId, Op, Opcode};

const REDUCE: &[Opcode] = &[Opcode::Reduce];

pub(super) static PATTERNS: &[Pattern] = &[
    Pattern::new("reduce-nothing", "reduce(x, init) of an empty x → broadcast(init)", REDUCE, reduce_nothing),
    Pattern::new(
        "reduce-reshape",
        "reduce(reshape(x)) → reduce(x), if the reshape does not mix reduced dimensions with others",
        REDUCE,
        reduce_reshape,
    ),
    Pattern::new(
        "reduce-transpose",
        "reduce(transpose(x)) → reduce(x), transposed if necessary (if the order of the elements matters, it is kept)",
        REDUCE,
        reduce_transpose,
    ),
    Pattern::new(
        "reduce-broadcast",
        "reduce(broadcast(x)) over repeated dimensions → reduce(x) by maximum, minimum, and, or; by add, x times the repeat count (integers)",
        REDUCE,
        reduce_broadcast,
    ),
    Pattern::new(
        "reduce-constant",
        "reduce(c, 0) by add of equal numbers → c times their count, if every partial sum is exact (floats)",
        REDUCE,
        reduce_constant,
    ),
    Pattern::new(
        "reduce-concatenate",
        "reduce(concatenate(x, y)) along its dimension → op(reduce(x), reduce(y)) (if the grouping does not matter)",
        REDUCE,
        reduce_concatenate,
    ),
    Pattern::new(
        "reduce-pad",
        "reduce(pad(x, v)) along padded dimensions → reduce(x) for a neutral v (if the grouping does not matter)",
        REDUCE,
        reduce_pad,
    ),
    Pattern::new(
        "reduce-negate",
        "reduce(negate(x), 0) by add → negate(reduce(x, 0)) (integers)",
        REDUCE,
        reduce_negate,
    ),
];

/// Negates the sums instead of the elements, because there are fewer sums.
fn reduce_negate(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (negative, init, a) = reduce_parts(cx, id)?;
    let shape = cx.array(id).filter(|s| s.element_type.is_integer())?;
    let x = cx.operand(negative, 0)?;
    let sums =
        binary_combiner(cx.module, a.to_apply)? == Opcode::Add && is_neutral(cx.module, Opcode::Add, init)?;
    if !sums || cx.opcode(negative) != Opcode::Negate || !cx.used_only_by(negative, id) {
        return None;
    }
    let sum = cx.add(shape, Op::Reduce(a), &[x, init]);
    Some(cx.add_same_shape(Op::Negate, &[sum]))
}

/// Rewrites a reduction of no elements: the result is the initial value.
fn reduce_nothing(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Reduce(a) = cx.module[id].op.clone() else { return None };
    let operands = cx.module[id].operands.to_vec();
    let n = operands.len() / 2;
    let sizes = cx.array(*operands.first()?)?.dims;
    let empty = a.dimensions.iter().any(|&d| index(d).and_then(|d| sizes.get(d)) == Some(&0));
    let inits = operands.get(n..).filter(|_| empty)?;
    let Some(parts) = cx.module[id].shape.as_tuple().map(<[_]>::to_vec) else {
        cx.array(id)?;
        return Some(cx.add_same_shape(Op::broadcast([]), inits));
    };
    let mut results = Vec::with_capacity(n);
    for (&init, part) in inits.iter().zip(parts) {
        part.as_array().filter(|p| p.is_static())?;
        results.push(cx.add(part, Op::broadcast([]), &[init]));
    }
    Some(cx.add_same_shape(Op::Tuple, &results))
}

/// Returns the dimensions of `from` that contain the same elements as the reduced dimensions of `to`. Returns
/// `None` if reduced and other dimensions share elements.
fn before_reshape(from: &[i64], to: &[i64], reduced: &[i64]) -> Option<Dims> {
    let (mut f, mut t) = (0, 0);
    let mut dims = Dims::new();
    while f < from.len() && t < to.len() {
        // A group of dimensions with equally many elements on both sides.
        let (first_f, first_t) = (f, t);
        let (mut n, mut m) = (*from.get(f)?, *to.get(t)?);
        (f, t) = (f + 1, t + 1);
        while n != m {
            let (side, at, sizes) = if n < m { (&mut n, &mut f, from) } else { (&mut m, &mut t, to) };
            *side = side.checked_mul(*sizes.get(*at)?)?;
            *at += 1;
        }
        let count = (first_t..t).filter(|&d| reduced.contains(&(d as i64))).count();
        if count == t - first_t {
            dims.extend((first_f..f).map(|d| d as i64));
        } else if count > 0 {
            return None;
        }
    }
    (f == from.len() && t == to.len()).then_some(dims)
}

/// Moves a reduce before a reshape, with the same elements in the same order.
fn reduce_reshape(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (reshape, init, a) = reduce_parts(cx, id)?;
    if cx.opcode(reshape) != Opcode::Reshape || !cx.used_only_by(reshape, id) {
        return None;
    }
    let x = cx.operand(reshape, 0)?;
    let (from, to) = (cx.array(x)?, cx.array(reshape)?.dims);
    // Dimensions of size 1 belong to no group. `reduce-degenerate` removes them.
    if from.dims.iter().chain(&to).any(|&size| size < 2) {
        return None;
    }
    let dimensions = before_reshape(&from.dims, &to, &a.dimensions)?;
    let kept = (0..from.rank()).filter(|&d| !dimensions.contains(&(d as i64)));
    let shape = ArrayShape::new(from.element_type, kept.map(|d| from.dims[d]));
    if shape.dims == cx.array(id)?.dims {
        return Some(cx.add_same_shape(Op::Reduce(ReduceAttrs { dimensions, ..a }), &[x, init]));
    }
    let reduced = cx.add(shape, Op::Reduce(ReduceAttrs { dimensions, ..a }), &[x, init]);
    Some(cx.add_same_shape(Op::reshape(), &[reduced]))
}

/// Moves a reduce before a transpose. The order of the elements must stay the same, unless it does not affect
/// the result.
fn reduce_transpose(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (transpose, init, a) = reduce_parts(cx, id)?;
    let Op::Transpose(t) = cx.module[transpose].op.clone() else { return None };
    let x = cx.operand(transpose, 0)?;
    let from = cx.array(x)?;
    let before = |d: i64| t.dimensions.get(index(d)?).copied();
    let mut in_order = a.dimensions.clone();
    in_order.sort_unstable();
    let mut dimensions: Dims = in_order.iter().map(|&d| before(d)).collect::<Option<_>>()?;
    if !dimensions.is_sorted() && !any_order(cx, &a, init)? {
        return None;
    }
    dimensions.sort_unstable();
    let kept: Vec<i64> = (0..t.dimensions.len() as i64)
        .filter(|d| !a.dimensions.contains(d))
        .map(before)
        .collect::<Option<_>>()?;
    if kept.is_sorted() {
        return Some(cx.add_same_shape(Op::Reduce(ReduceAttrs { dimensions, ..a }), &[x, init]));
    }
    if !cx.used_only_by(transpose, id) {
        return None;
    }
    let mut sorted = kept.clone();
    sorted.sort_unstable();
    let sizes: Dims = sorted.iter().map(|&d| from.dims.get(index(d)?).copied()).collect::<Option<_>>()?;
    let order: Dims =
        kept.iter().map(|d| sorted.iter().position(|s| s == d).map(|p| p as i64)).collect::<Option<_>>()?;
    let shape = ArrayShape::new(from.element_type, sizes);
    let reduced = cx.add(shape, Op::Reduce(ReduceAttrs { dimensions, ..a }), &[x, init]);
    Some(cx.add_same_shape(Op::transpose(order), &[reduced]))
}

/// Returns whether elements can be combined in any order with exactly the same result.
fn any_order(cx: &Cx<'_>, a: &ReduceAttrs, value: InstrId) -> Option<bool> {
    let ty = cx.element_type(value)?;
    let op = binary_combiner(cx.module, a.to_apply)?;
    Some(match op {
        Opcode::Maximum | Opcode::Minimum => !ty.is_complex(),
        Opcode::Add | Opcode::Multiply | Opcode::And | Opcode::Or | Opcode::Xor => {
            ty.is_integer() || ty.is_pred()
        }
        _ => false,
    })
}

/// Rewrites a reduction of repeated elements: counts each once, or multiplies.
fn reduce_broadcast(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (broadcast, init, a) = reduce_parts(cx, id)?;
    let Op::Broadcast(b) = cx.module[broadcast].op.clone() else { return None };
    let mut x = cx.operand(broadcast, 0)?;
    let (from, whole) = (cx.array(x)?, cx.array(broadcast)?);
    let gone = |d: i64| a.dimensions.contains(&d) && !b.dimensions.contains(&d);
    let sizes = (0..whole.rank()).filter(|&d| gone(d as i64)).map(|d| whole.dims[d]);
    let copies = sizes.clone().try_fold(1i64, |n, size| n.checked_mul(size))?;
    if sizes.count() == 0 || copies < 1 {
        return None;
    }
    let ty = whole.element_type;
    match binary_combiner(cx.module, a.to_apply)? {
        Opcode::And | Opcode::Or => {}
        Opcode::Maximum | Opcode::Minimum if !ty.is_complex() => {}
        Opcode::Add if ty.is_integer() => {
            let times = cx.splat(&from, &wide_integer_bytes(ty, copies.into())?)?;
            x = cx.add(from, Op::Multiply, &[x, times]);
        }
        _ => return None,
    }
    // The remaining dimensions and their new positions.
    let left: Vec<i64> = (0..whole.rank() as i64).filter(|&d| !gone(d)).collect();
    let place = |d: i64| left.iter().position(|&l| l == d).map(|p| p as i64);
    let dims: Dims = left.iter().map(|&d| whole.dims.get(index(d)?).copied()).collect::<Option<_>>()?;
    let map: Dims = b.dimensions.iter().map(|&d| place(d)).collect::<Option<_>>()?;
    let dimensions: Dims = a.dimensions.iter().filter_map(|&d| place(d)).collect();
    let narrow = cx.broadcast(x, &dims, &map)?;
    Some(cx.add_same_shape(Op::Reduce(ReduceAttrs { dimensions, ..a }), &[narrow, init]))
}

/// Rewrites the sum of equal numbers with few significant bits, whose multiples are exact in any order of
/// addition.
fn reduce_constant(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (x, init, a) = reduce_parts(cx, id)?;
    let (from, to) = (cx.array(x)?, cx.array(id)?);
    let ty = from.element_type;
    let mantissa = match ty {
        ElementType::F16 => 11,
        ElementType::Bf16 => 8,
        ElementType::F32 => 24,
        ElementType::F64 => 53,
        _ => return None,
    };
    let Number::Float(c) = Number::splat(cx.module, x)? else { return None };
    let adds = binary_combiner(cx.module, a.to_apply)? == Opcode::Add;
    if !adds || !is_splat_float(cx.module, init, 0.0) || !c.is_normal() {
        return None;
    }
    let sizes: Vec<i64> =
        a.dimensions.iter().map(|&d| from.dims.get(index(d)?).copied()).collect::<Option<_>>()?;
    let count =
        sizes.iter().try_fold(1i64, |n, &s| n.checked_mul(s)).filter(|n| (1..1 << mantissa).contains(n))?;
    // The significant bits of `c` without trailing zeros. The sum has `count` times this value.
    let bits = c.to_bits() & ((1 << 52) - 1) | 1 << 52;
    let steps = bits >> bits.trailing_zeros();
    if u128::from(steps) * u128::from(count.unsigned_abs()) > 1 << mantissa {
        return None;
    }
    // `None` if the sum is too large.
    let bytes = float_bytes(ty, c * count as f64)?;
    cx.splat(&to, &bytes)
}

/// Maximum number of operands of a concatenation that are reduced separately.
const MAX_PARTS: usize = 4;

/// Reduces the operands of a concatenation separately.
fn reduce_concatenate(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (concatenate, init, a) = reduce_parts(cx, id)?;
    let Op::Concatenate(c) = cx.module[concatenate].op.clone() else { return None };
    let op = binary_combiner(cx.module, a.to_apply)?;
    let parts = cx.module[concatenate].operands.to_vec();
    let fits = a.dimensions.contains(&c.dimension())
        && (2..=MAX_PARTS).contains(&parts.len())
        && cx.used_only_by(concatenate, id);
    if !fits || !is_neutral(cx.module, op, init)? {
        return None;
    }
    let shape = cx.array(id)?;
    let mut result: Option<InstrId> = None;
    for (n, &part) in parts.iter().enumerate() {
        let reduced = cx.add(shape.clone(), Op::Reduce(a.clone()), &[part, init]);
        result = Some(match result {
            None => reduced,
            Some(r) if n + 1 == parts.len() => cx.add_same_shape(op.default_op(), &[r, reduced]),
            Some(r) => cx.add(shape.clone(), op.default_op(), &[r, reduced]),
        });
    }
    result
}

/// Removes padding that does not affect the result.
fn reduce_pad(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (pad, init, a) = reduce_parts(cx, id)?;
    let Op::Pad(p) = cx.module[pad].op.clone() else { return None };
    let (x, value) = (cx.operand(pad, 0)?, cx.operand(pad, 1)?);
    let op = binary_combiner(cx.module, a.to_apply)?;
    if !is_neutral(cx.module, op, value)? {
        return None;
    }
    for (d, p) in p.padding.iter().enumerate() {
        let nothing = p.low == 0 && p.high == 0 && p.interior == 0;
        let only_adds = p.low >= 0 && p.high >= 0 && p.interior >= 0;
        if !(nothing || only_adds && a.dimensions.contains(&(d as i64))) {
            return None;
        }
    }
    cx.array(x)?;
    Some(cx.add_same_shape(Op::Reduce(a), &[x, init]))
}
