//! Rules for products (`dot`, `scaled-dot`, `ragged-dot`), and checks shared with convolutions.

use super::context::Context;
use super::dim::{Dim, array_of, dim, dims};
use super::violation::{Place, Rule, Violation};
use crate::attr::{DotAttrs, ProductNumbers, RaggedDotAttrs};
use crate::diag::Code;
use crate::opcode::Types;
use crate::rules::code;
use crate::{ArrayShape, ElementType, FloatFormat};

/// Returns a key that orders element types by what they can represent: complex before real, floats before
/// integers, more exponent bits before more mantissa bits, wider integers before signed ones.
fn precision(t: ElementType) -> (u8, u32, u32) {
    match FloatFormat::of(t) {
        _ if t.is_complex() => (3, t.bit_width(), 0),
        Some(f) => (2, f.exponent_bits, f.mantissa_bits),
        None if t.is_pred() => (0, 0, 0),
        None => (1, t.bit_width(), u32::from(t.is_signed_integer())),
    }
}

/// Returns the element type of a product. Operands of different types must both have types in `mixed`, and
/// the result has the wider one. The declared type may be any type that loses no bits of an integer product.
/// A real type for a complex product takes the real part.
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
    /// Returns the dimensions that are neither batch nor contracting dimensions.
    fn free(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.batch.len()).filter(|&d| !self.batch[d] && !self.contracting[d])
    }
}

/// Checks the dimension numbers of a product and the sizes that must match. Returns the roles of the
/// dimensions of both operands.
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
    // The numbers of each operand are checked even if those of the other are invalid.
    let (left, right) = match (of(0, lhs), of(1, rhs)) {
        (Ok(left), right) => (left, right?),
        (Err(left), right) => {
            cx.record_violation(right);
            return Err(left);
        }
    };
    let count = |code, names: [&'static str; 2], lists: [&[i64]; 2]| match lists.map(<[i64]>::len) {
        [l, r] if l == r => {}
        // The second attribute may be absent.
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

/// Checks that corresponding dimensions of two lists have the same sizes.
fn same_sizes(cx: &Context<'_>, code: Code, what: &str, lists: [&[i64]; 2]) -> Result<(), Violation> {
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

/// Returns the dimensions of the result: the batch dimensions, then the free ones of the left operand, then
/// those of the right one. The size of a batch dimension comes from the left operand.
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

/// Checks `dot`, which sums products over the contracting dimensions.
///
/// JAX emits products of a float and an integer matrix, so any two real types are accepted.
pub(super) fn dot(cx: &Context<'_>, attrs: &DotAttrs) -> Rule {
    let element_type = product_type(cx, Types::REAL)?;
    let numbers = attrs.numbers();
    let roles = roles(cx, &numbers)?;
    Ok(Some(array_of(element_type, product_dims(cx, &numbers, &roles)?).into()))
}

/// Checks `scaled-dot(lhs, rhs, lhs scale, rhs scale)`, a product of operands whose blocks have scales. A
/// scalar scale applies to all blocks.
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

/// Checks `ragged-dot(lhs, rhs, group sizes)`. The ragged dimension of the left operand consists of groups:
///
/// - If it is a free dimension, each group is multiplied by its own matrix of the right operand.
/// - If it is contracted, each group has a product of its own.
/// - If it is a batch dimension, the groups only tell which elements are padding.
pub(super) fn ragged_dot(cx: &Context<'_>, attrs: &RaggedDotAttrs) -> Rule {
    let element_type = product_type(cx, Types::REAL)?;
    let numbers = attrs.numbers();
    let (lhs, rhs) = (cx.array(0)?, cx.array(1)?);
    cx.record_violation(cx.array_of(2, Types::INTEGER));
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
        // The row of the left operand selects the matrix, so this dimension is not in the result.
        roles[1].batch[g] = true;
    }
    let mut result = product_dims(cx, &numbers, &roles)?;
    if roles[0].contracting[ragged] {
        result.insert(0, groups);
    }
    Ok(Some(array_of(element_type, result).into()))
}

/// Returns the number of groups. Their sizes are a vector, or one vector for each index of the dimensions
/// before the ragged one: the batch dimensions, then those with the same role.
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
