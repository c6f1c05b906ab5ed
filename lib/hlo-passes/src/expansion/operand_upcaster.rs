//! `operand_upcaster`: converts products, convolutions, Cholesky factorizations and triangular solves to
//! element types that the runtime supports.
//!
//! ```text
//! x = f8e5m2[1,8,4] parameter(0)                   a = f32[1,8,4] convert(x)
//! k = f8e5m2[3,4,6] parameter(1)                   b = f32[3,4,6] convert(k)
//! r = f8e5m2[1,6,6] convolution(x, k), …        →  c = f32[1,6,6] convolution(a, b), …
//!                                                  r = f8e5m2[1,6,6] convert(c)
//! ```
//!
//! The sum is rounded or wrapped to the result's type only once. A sum of floats is converted to an integer
//! only at the end.
//!
//! Like XLA's pass, this pass converts the operands of products and convolutions to the type of the result if
//! it is wider. For example, `dot(x, y) : s32` of `s8` arrays becomes a product of `s32` arrays. Code
//! generation has kernels for such products, so the CPU pipeline does not change them (`products=false`).

use super::result_caster::CAST_SUM;
use crate::pass_info::{OptionInfo, OptionValue, PassInfo};
use crate::support::retype::represents_all_values;
use crate::support::rewrite::{Cx, Pattern, pattern_pass};
use hlo_ir::attr::DotAlgorithm;
use hlo_ir::{ElementType, InstrId, Op, Opcode};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "operand_upcaster",
    summary: "use a wider type where the runtime lacks the element type (convolutions, factorizations, f64 sums)",
    options: &[OptionInfo {
        name: "products",
        summary: "whether to widen the operands of products to the type of the result",
        default: OptionValue::Switch(true),
    }],
    example: "\
HloModule operand_upcaster

ENTRY e {
  x = f8e5m2[1,8,4] parameter(0)
  k = f8e5m2[3,4,6] parameter(1)
  ROOT r = f8e5m2[1,6,6] convolution(x, k), window={size=3}, dim_labels=b0f_0io->b0f
}
",
    patterns: ALL_PATTERNS,
    build: |_, options| {
        if options.switch("products") {
            pattern_pass(ALL_PATTERNS)
        } else {
            pattern_pass(PATTERNS_WITHOUT_PRODUCTS)
        }
    },
    ..PassInfo::PLAIN
};

static ALL_PATTERNS: &[&[Pattern]] = &[PATTERNS, PRODUCTS];
static PATTERNS_WITHOUT_PRODUCTS: &[&[Pattern]] = &[PATTERNS];

static PATTERNS: &[Pattern] = &[
    // This pattern comes first, because the others would convert the factors to the result's kind of type.
    CAST_SUM,
    Pattern::new(
        "upcast-convolution",
        "convolution(x, k) of narrow types → convert(convolution(convert(x), convert(k)))",
        &[Opcode::Convolution],
        upcast,
    ),
    Pattern::new(
        "upcast-narrow-product",
        "dot(x, y) of floats of fewer than 16 bits → dot(convert(x), convert(y)); convert(dot(x, y)) for such a result",
        &[Opcode::Dot],
        upcast_narrow_product,
    ),
    Pattern::new(
        "upcast-linear-algebra",
        "cholesky(a) of a narrow type → convert(cholesky(convert(a))); also triangular-solve",
        &[Opcode::Cholesky, Opcode::TriangularSolve],
        upcast_narrow,
    ),
    Pattern::new(
        "upcast-dot-algorithm",
        "dot(x, y) with algorithm=dot_f64_f64_f64 of narrower floats → convert(dot(convert(x), convert(y)))",
        &[Opcode::Dot],
        upcast_algorithm,
    ),
];

static PRODUCTS: &[Pattern] = &[Pattern::new(
    "upcast-product",
    "dot(x, y) of a wider type than x and y → dot(convert(x), convert(y)); also convolution",
    &[Opcode::Dot, Opcode::Convolution],
    upcast_product,
)];

/// Converts operands to the result's type, if it represents all their values. Sums in `f64` are not changed:
/// those of narrower operands have the range of `f32`.
fn upcast_product(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let result = cx.module[id].shape.as_array()?.element_type;
    let operands = cx.module[id].operands.to_vec();
    if operands.len() != 2 || result == ElementType::F64 {
        return None;
    }
    let types = operands.iter().map(|&o| cx.element_type(o)).collect::<Option<Vec<_>>>()?;
    if types.contains(&result) || !types.iter().all(|&t| represents_all_values(result, t)) {
        return None;
    }
    let converted = operands.into_iter().map(|o| cx.convert(o, result)).collect::<Option<Vec<_>>>()?;
    let op = cx.module[id].op.clone();
    Some(cx.add_same_shape(op, &converted))
}

/// Rewrites products with the algorithm `dot_f64_f64_f64`, whose sums are wider than the default for such
/// operands. The other algorithms specify no more than all products provide.
fn upcast_algorithm(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Dot(attrs) = &cx.module[id].op else { return None };
    let wanted = attrs.algorithm == DotAlgorithm::F64F64F64;
    let result = cx.element_type(id)?;
    let wide = if result.is_complex() { ElementType::C128 } else { ElementType::F64 };
    let types = [cx.element_type(cx.operand(id, 0)?)?, cx.element_type(cx.operand(id, 1)?)?, result];
    let inexact = types.iter().all(|t| t.is_float() || t.is_complex());
    if !wanted || !inexact || types.contains(&wide) {
        return None;
    }
    cx.computed_in(wide)
}

/// Converts float operands of fewer than 16 bits to the type of the other operand or to `bf16`, which
/// represent them exactly. Packing then reads half as much as it would in `f32`. The sum is computed in
/// `f32`.
fn upcast_narrow_product(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let result = cx.module[id].shape.as_array()?.clone();
    let operands = [cx.operand(id, 0)?, cx.operand(id, 1)?];
    let types = [cx.element_type(operands[0])?, cx.element_type(operands[1])?];
    let is_narrow = |t: ElementType| t.bit_width() < 16;
    let all = [types[0], types[1], result.element_type];
    if !all.iter().all(|t| t.is_float()) || !all.iter().any(|&t| is_narrow(t)) {
        return None;
    }
    let mut converted = Vec::new();
    for (operand, [own, other]) in operands.into_iter().zip([types, [types[1], types[0]]]) {
        converted.push(if is_narrow(own) { cx.convert(operand, wider(own, other))? } else { operand });
    }
    let op = cx.module[id].op.clone();
    if !is_narrow(result.element_type) {
        return Some(cx.add_same_shape(op, &converted));
    }
    let sum_type = if all.contains(&ElementType::F64) { ElementType::F64 } else { ElementType::F32 };
    let sum = cx.add(result.with_element_type(sum_type), op, &converted);
    Some(cx.add_same_shape(Op::Convert, &[sum]))
}

/// Returns the type for an operand of a narrow type if the other operand has type `other`.
fn wider(narrow: ElementType, other: ElementType) -> ElementType {
    match (narrow, other) {
        // Its smallest numbers are subnormal in `bf16`, and products treat subnormal operands as zero.
        (ElementType::F8E8M0Fnu, _) => ElementType::F32,
        (_, other) if other.bit_width() >= 16 && represents_all_values(other, narrow) => other,
        _ => ElementType::Bf16,
    }
}

/// Computes operations on floats of fewer than 16 bits in `f32`.
fn upcast_narrow(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let result = cx.element_type(id)?;
    if !result.is_float() || result.bit_width() >= 16 {
        return None;
    }
    cx.computed_in(ElementType::F32)
}

fn upcast(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Convolution(_) = &cx.module[id].op else { return None };
    let operands = [cx.operand(id, 0)?, cx.operand(id, 1)?];
    let types = [cx.element_type(operands[0])?, cx.element_type(operands[1])?, cx.element_type(id)?];
    if is_direct(types) {
        return None;
    }
    cx.computed_in(wide_type(types))
}

/// Checks whether the runtime has a convolution of the first two types whose result has the third.
fn is_direct(types: [ElementType; 3]) -> bool {
    let all = |of: fn(ElementType) -> bool| types.iter().all(|&t| of(t));
    all(ElementType::is_complex)
        || all(ElementType::is_pred)
        || all(|t| t.is_float() && t.bit_width() >= 16)
        || all(|t| t.is_integer() && t.bit_width() >= 8)
}

/// Returns a type for the operands and the sum that is wide enough for all of them.
fn wide_type(types: [ElementType; 3]) -> ElementType {
    let [_, _, result] = types;
    let any = |of: fn(ElementType) -> bool| types.iter().any(|&t| of(t));
    let in_f32 = |t: ElementType| match t.real_type() {
        t if t.is_float() => t.bit_width() <= 32,
        t => t.bit_width() <= 16,
    };
    let narrow = types.iter().all(|&t| in_f32(t));
    if any(ElementType::is_complex) {
        return if narrow { ElementType::C64 } else { ElementType::C128 };
    }
    match result {
        r if r.is_float() && narrow => ElementType::F32,
        r if r.is_float() => ElementType::F64,
        r if r.is_integer() && r.bit_width() <= 32 && !any(ElementType::is_float) => ElementType::S32,
        _ => ElementType::S64,
    }
}
