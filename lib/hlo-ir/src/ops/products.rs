//! Rules of products: `dot`, `scaled-dot`, `ragged-dot`, and what they share with convolutions.

use super::context::Context;
use super::dim::{Dim, array_of, dim, dims};
use super::violation::{Place, Rule, Violation};
use crate::attr::{DotAttrs, ProductNumbers, RaggedDotAttrs};
use crate::opcode::Types;
use crate::rules::code;
use crate::{ArrayShape, ElementType, FloatFormat};

/// Orders element types by how much they can hold: complex before real, floats before integers, more exponent
/// bits before more mantissa bits, wider integers before signed ones.
fn precision(t: ElementType) -> (u8, u32, u32) {
    match FloatFormat::of(t) {
        _ if t.is_complex() => (3, t.bit_width(), 0),
        Some(f) => (2, f.exponent_bits, f.mantissa_bits),
        None if t.is_pred() => (0, 0, 0),
        None => (1, t.bit_width(), u32::from(t.is_signed_integer())),
    }
}

/// The element type of a product of operands whose types, if they differ, are both in `mixed`: the one that
/// holds more. A written type may be any other one as long as it loses no bits of integers: of complex numbers a real type
/// takes the real part.
pub(super) fn product_type(cx: &Context<'_>, mixed: Types) -> Result<ElementType, Violation> {
    let (lhs, rhs) = (cx.array(0)?, cx.array(1)?);
    let (a, b) = (lhs.element_type, rhs.element_type);
    if a != b && !(mixed.contains(a) && mixed.contains(b)) {
        cx.report(
            cx.operand_error(
                code::PRODUCT_TYPES,
                1,
                format!("needs operands of one element type, or two of {mixed}, found {a} and {b}"),
            )
            .with(Place::Operand(0), format!("this is {lhs}")),
        );
    }
    let wider = if precision(b) > precision(a) { b } else { a };
    let Some(w) = cx.written_array()? else { return Ok(wider) };
    let t = w.element_type;
    let exact = !wider.is_float() && !wider.is_complex();
    if exact && t.bit_width() < wider.bit_width() {
        cx.report(cx.error(
            code::PRODUCT_RESULT_TYPE,
            format!("of {wider} does not give {t}: it gives that type, or one that holds at least as much"),
        ));
    }
    Ok(t)
}

/// The roles of an operand's dimensions.
struct Roles {
    batch: Vec<bool>,
    contracting: Vec<bool>,
}

impl Roles {
    /// The dimensions that are neither.
    fn free(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.batch.len()).filter(|&d| !self.batch[d] && !self.contracting[d])
    }
}

/// Checks the dimension numbers of a product and the sizes that they relate, and gives the roles of both
/// operands' dimensions.
fn roles(cx: &Context<'_>, numbers: &ProductNumbers<'_>) -> Result<[Roles; 2], Violation> {
    const BATCH: [&str; 2] = ["lhs_batch_dims", "rhs_batch_dims"];
    const CONTRACTING: [&str; 2] = ["lhs_contracting_dims", "rhs_contracting_dims"];
    let (lhs, rhs) = (cx.array(0)?, cx.array(1)?);
    let of = |i: usize, operand: &ArrayShape| {
        let batch = cx.check_dims(BATCH[i], numbers.batch[i], operand.rank())?;
        let contracting = cx.check_dims(CONTRACTING[i], numbers.contracting[i], operand.rank())?;
        cx.check_disjoint((BATCH[i], &batch), (CONTRACTING[i], &contracting))?;
        Ok(Roles { batch, contracting })
    };
    // Either operand's numbers may be wrong, whatever the other's are.
    let (left, right) = match (of(0, lhs), of(1, rhs)) {
        (Ok(left), right) => (left, right?),
        (Err(left), right) => {
            cx.also(right);
            return Err(left);
        }
    };
    let count = |code, names: [&'static str; 2], lists: [&[i64]; 2]| match lists.map(<[i64]>::len) {
        [l, r] if l == r => {}
        // The second may be left out.
        [l, r] => cx.report(
            cx.error(
                code,
                format!("needs as many entries in `{}` as in `{}`, found {r} and {l}", names[1], names[0]),
            )
            .of(if r > 0 { names[1] } else { names[0] }),
        ),
    };
    count(code::BATCH_COUNT, BATCH, numbers.batch);
    count(code::CONTRACTING_COUNT, CONTRACTING, numbers.contracting);
    same_sizes(cx, code::BATCH_SIZES, "batch", numbers.batch)?;
    same_sizes(cx, code::CONTRACTING_SIZES, "contracting", numbers.contracting)?;
    Ok([left, right])
}

/// Checks that the dimensions of two lists have the same sizes in pairs.
fn same_sizes(cx: &Context<'_>, code: &'static str, what: &str, lists: [&[i64]; 2]) -> Result<(), Violation> {
    let (lhs, rhs) = (cx.array(0)?, cx.array(1)?);
    for (&a, &b) in lists[0].iter().zip(lists[1]) {
        let (m, n) = (dim(lhs, a), dim(rhs, b));
        if !m.agrees(n) {
            cx.report(
                cx.error(
                    code,
                    format!(
                        "needs one size for the {what} dimensions, found {} in dimension {a} of operand 0 and {} in \
                         dimension {b} of operand 1",
                        m.size, n.size
                    ),
                )
                .with(Place::Operand(0), format!("this is {lhs}"))
                .with(Place::Operand(1), format!("this is {rhs}")),
            );
        }
    }
    Ok(())
}

/// The result's dimensions: batch, then the left, then the right operand's free ones. A batch dimension is
/// the left operand's.
fn product_dims(
    cx: &Context<'_>,
    numbers: &ProductNumbers<'_>,
    roles: &[Roles; 2],
) -> Result<Vec<Dim>, Violation> {
    let (lhs, rhs) = (cx.array(0)?, cx.array(1)?);
    let batch = numbers.batch[0].iter().map(|&d| dim(lhs, d));
    let left = roles[0].free().map(|d| dim(lhs, d as i64));
    let right = roles[1].free().map(|d| dim(rhs, d as i64));
    Ok(batch.chain(left).chain(right).collect())
}

/// `dot`: the products' sums over the contracting dimensions.
///
/// JAX writes products of a float and an integer matrix, so any two real types go together.
pub(super) fn dot(cx: &Context<'_>, attrs: &DotAttrs) -> Rule {
    let element_type = product_type(cx, Types::REAL)?;
    let numbers = attrs.numbers();
    let roles = roles(cx, &numbers)?;
    Ok(Some(array_of(element_type, product_dims(cx, &numbers, &roles)?).into()))
}

/// `scaled-dot(lhs, rhs, lhs scale, rhs scale)`: a product of operands whose blocks have scales. A scale that
/// is a scalar stands for all blocks.
pub(super) fn scaled_dot(cx: &Context<'_>, attrs: &DotAttrs) -> Rule {
    let element_type = product_type(cx, Types::FLOAT)?;
    let numbers = attrs.numbers();
    let roles = roles(cx, &numbers)?;
    if cx.array(2)?.rank() == 0 && cx.array(3)?.rank() == 0 {
        cx.report(cx.operand_error(
            code::SCALE_RANK,
            2,
            "needs a scale that is no scalar, found two scalars",
        ));
    }
    for i in 0..2 {
        let (operand, scale) = (cx.array(i)?, cx.array_of(i + 2, Types::FLOAT)?);
        if scale.rank() == 0 {
            continue;
        }
        if scale.rank() != operand.rank() {
            cx.report(
                cx.operand_error(
                    code::SCALE_RANK,
                    i + 2,
                    format!("needs a scale of rank 0 or {}, found {scale}", operand.rank()),
                )
                .with(Place::Operand(i), format!("this is {operand}")),
            );
            continue;
        }
        for (d, (size, blocks)) in dims(operand).zip(dims(scale)).enumerate() {
            let fits = match (size.known(), blocks.known()) {
                (Some(n), Some(b)) => (b > 0 && n % b == 0) || n == b,
                _ => size.agrees(blocks),
            };
            if !fits {
                cx.report(
                    cx.operand_error(
                        code::SCALE_SIZES,
                        i + 2,
                        format!(
                            "needs a scale for each element or for blocks of one size, found {} for {} in dimension {d} of \
                             operand {i}",
                            blocks.size, size.size
                        ),
                    )
                    .with(Place::Operand(i), format!("this is {operand}")),
                );
            }
        }
    }
    Ok(Some(array_of(element_type, product_dims(cx, &numbers, &roles)?).into()))
}

/// `ragged-dot(lhs, rhs, group sizes)`: the left operand's ragged dimension consists of groups. If it is a free
/// one, each group is multiplied with its own matrix of the right operand; if it is contracted, each group
/// gives a product of its own; if it is a batch dimension, groups only say what is padding.
pub(super) fn ragged_dot(cx: &Context<'_>, attrs: &RaggedDotAttrs) -> Rule {
    let element_type = product_type(cx, Types::REAL)?;
    let numbers = attrs.numbers();
    let (lhs, rhs) = (cx.array(0)?, cx.array(1)?);
    cx.also(cx.array_of(2, Types::INTEGER));
    let mut roles = roles(cx, &numbers)?;
    let ragged = cx.one_dim("lhs_ragged_dims", &attrs.lhs_ragged_dims, lhs.rank())?;
    let group_dims = cx.check_dims("rhs_group_dims", &attrs.rhs_group_dims, rhs.rank())?;
    let free = !roles[0].batch[ragged] && !roles[0].contracting[ragged];
    let expected = usize::from(free);
    if attrs.rhs_group_dims.len() != expected {
        let what = if free { "free" } else { "batch or contracting" };
        return Err(cx
            .error(
                code::GROUP_DIMENSIONS,
                format!(
                    "of a {what} ragged dimension needs {expected} entries in `rhs_group_dims`, found {}",
                    attrs.rhs_group_dims.len()
                ),
            )
            .of("rhs_group_dims"));
    }
    let groups = group_count(cx, &numbers, &roles[0], ragged)?;
    if let Some(g) = group_dims.iter().position(|&g| g) {
        if roles[1].batch[g] || roles[1].contracting[g] {
            return Err(cx
                .operand_error(
                    code::GROUP_DIMENSION_FREE,
                    1,
                    format!(
                        "names dimension {g} in `rhs_group_dims`, which is a batch or contracting dimension"
                    ),
                )
                .of("rhs_group_dims"));
        }
        if !dim(rhs, g as i64).agrees(groups) {
            cx.report(
                cx.operand_error(
                    code::GROUP_COUNT,
                    1,
                    format!(
                        "of {} groups needs as many matrices, found {} in dimension {g} of operand 1",
                        groups.size,
                        dim(rhs, g as i64).size
                    ),
                )
                .with(Place::Operand(2), "the group sizes"),
            );
        }
        // Which matrix it is follows from the left operand's row.
        roles[1].batch[g] = true;
    }
    let mut result = product_dims(cx, &numbers, &roles)?;
    if roles[0].contracting[ragged] {
        result.insert(0, groups);
    }
    Ok(Some(array_of(element_type, result).into()))
}

/// The number of groups. Their sizes are a vector, or one vector for each index of the dimensions before the
/// ragged one: batch dimensions, then those of its kind.
fn group_count(
    cx: &Context<'_>,
    numbers: &ProductNumbers<'_>,
    roles: &Roles,
    ragged: usize,
) -> Result<Dim, Violation> {
    let (lhs, sizes) = (cx.array(0)?, cx.array(2)?);
    let until = |list: &[i64]| list.iter().copied().take_while(|&d| d != ragged as i64).collect::<Vec<_>>();
    let mut before = until(numbers.batch[0]);
    if roles.contracting[ragged] {
        before.extend(until(numbers.contracting[0]));
    } else if !roles.batch[ragged] {
        before.extend(roles.free().take_while(|&d| d != ragged).map(|d| d as i64));
    }
    let error = |expected: String| {
        cx.operand_error(code::GROUP_SIZES, 2, format!("needs group sizes of {expected}, found {sizes}"))
            .with(Place::Operand(0), format!("this is {lhs}"))
    };
    let Some(last) = sizes.rank().checked_sub(1) else {
        return Err(error("rank 1".to_string()));
    };
    if last > 0 {
        let prefix = before.iter().map(|&d| dim(lhs, d));
        let fits = before.len() == last && prefix.clone().zip(dims(sizes)).all(|(a, b)| a.agrees(b));
        if !fits {
            let sizes: Vec<String> = prefix.map(|d| d.size.to_string()).collect();
            return Err(error(format!("rank 1, or [{}] and the number of groups", sizes.join(","))));
        }
    }
    Ok(dim(sizes, last as i64))
}
